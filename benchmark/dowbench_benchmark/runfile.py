"""``run.json``: what was planned, with everything needed to replay and audit it after the catalogue has grown."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dowbench
from dowbench.errors import UsageError
from dowbench_benchmark import config as configuration
from dowbench_benchmark import mask, store
from dowbench_benchmark import prices as pricing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dowbench_benchmark.ledger import Call, Spend
    from dowbench_benchmark.plan import Plan

FORMAT = 2
"""Of run directories. 0.1.0 wrote none, which is 1."""


def record(
    plan: Plan,
    *,
    simulated: bool,
    replayed: bool,
    complete: bool,
    served: Mapping[str, Iterable[str]],
    spent: Spend,
) -> dict[str, Any]:
    """The content of ``run.json``. ``served`` holds the model versions that answered, by model."""
    return {
        "format": FORMAT,
        "run_name": plan.config.run_name,
        "dowbench_version": dowbench.__version__,
        "git_commit": commit(),
        "provider": plan.config.provider,
        "simulated": simulated,
        "replayed": replayed,
        "complete": complete,
        "episodes_planned": len(plan.episodes),
        "config": plan.config.record(),
        "scenario": {"id": plan.scenario.id, "digest": plan.scenario.digest},
        "attacks": [attack.record() for attack in plan.attacks.values()],
        "plan": [
            {
                "episode_id": spec.id,
                "model": spec.model,
                "defense": spec.defense.label,
                "kind": spec.kind,
                "item_id": spec.item_id,
                "benign_task_id": spec.task_id,
                "wording": spec.wording,
                "repeat": spec.repeat,
                "seed": spec.seed,
            }
            for spec in plan.episodes
        ],
        "prices": [price.record() for price in plan.prices.values()],
        "served_model_versions": {
            model: sorted(served.get(model, ())) for model in sorted({*plan.config.models, *served})
        },
        "spent_tokens": spent.tokens,
        "spent_usd": None if plan.config.unpriced else spent.usd,
    }


def served(calls: Iterable[Call]) -> dict[str, set[str]]:
    """The model versions that answered, by model."""
    found: dict[str, set[str]] = {}
    for call in calls:
        if call.served_model is not None:
            found.setdefault(call.model, set()).add(call.served_model)
    return found


def write(directory: Path, content: Mapping[str, Any], *, durable: bool) -> None:
    """Replace ``run.json``. Raises ``StoreError``."""
    text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    store.replace(directory / store.RUN, mask.data(text.encode(errors="backslashreplace")), durable=durable)


def read(directory: Path) -> dict[str, Any]:
    """``run.json`` of a run directory. Raises ``UsageError`` for a directory that is none."""
    path = directory / store.RUN
    if not path.is_file():
        raise UsageError(f"no run directory: it has no {store.RUN}", path=str(directory))
    run = store.read_json(path)
    if run.get("format", 1) not in (1, FORMAT):
        raise UsageError(f"has the format {run['format']!r}; this version reads 1 and {FORMAT}", path=str(path))
    return run


def settings(directory: Path, run: Mapping[str, Any]) -> tuple[configuration.Config, pricing.Table]:
    """Configuration and prices that a run of our own format recorded. Raises ``UsageError``."""
    try:
        return configuration.from_record(run["config"]), pricing.from_records(run["prices"])
    except (KeyError, TypeError) as error:
        raise UsageError(f"is damaged: {error}", path=str(directory / store.RUN)) from None


def keep_prices(plan: Plan, directory: Path) -> tuple[Plan, list[str]]:
    """``plan`` with the prices that an earlier run in ``directory`` recorded, and what is worth saying about it.

    Raises ``UsageError`` for a directory of another format.
    """
    if not (directory / store.RUN).is_file():
        return plan, []
    run = read(directory)
    if run.get("format") != FORMAT:
        raise UsageError("holds a run of dowbench 0.1.0; choose another directory with --out", path=str(directory))
    _, recorded = settings(directory, run)
    notices = []
    kept = dict(plan.prices)
    for model, price in plan.prices.items():
        before = recorded.get((plan.config.provider, model))
        if before is not None:
            kept[model] = before
            if before.rates != price.rates:
                notices.append(f"the price of {model} has changed; this run goes on with the one it recorded")
    return dataclasses.replace(plan, prices=kept), notices


def commit() -> str | None:
    """The commit of the checkout that this package runs from, ``None`` outside one. Read from git's files."""
    root = Path(__file__).resolve().parents[2] / ".git"
    try:
        if root.is_file():
            root = (root.parent / root.read_text().removeprefix("gitdir:").strip()).resolve()
        head = (root / "HEAD").read_text().strip()
        if not head.startswith("ref: "):
            return head
        name = head.removeprefix("ref: ")
        common = root / "commondir"
        shared = (root / common.read_text().strip()).resolve() if common.is_file() else root
        if (shared / name).is_file():
            return (shared / name).read_text().strip()
        for line in (shared / "packed-refs").read_text().splitlines():
            if line.endswith(" " + name):
                return line.split()[0]
    except OSError:
        return None
    return None
