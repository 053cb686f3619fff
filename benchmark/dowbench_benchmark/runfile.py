"""``run.json``: what was planned, with everything needed to replay and audit it after the catalogue has grown."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import dowbench
from dowbench.errors import UsageError
from dowbench_benchmark import codec, mask, store
from dowbench_benchmark import config as configuration
from dowbench_benchmark import prices as pricing
from dowbench_benchmark.located import Node
from dowbench_benchmark.model import UNDEFENDED
from dowbench_benchmark.recorded import MOST, Recorded, optional

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dowbench_benchmark.ledger import Call, Spend
    from dowbench_benchmark.plan import Plan

RUNS = Path("runs")
"""Where runs go that nobody gives another place."""
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
    files: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """The content of ``run.json``. ``served`` holds the model versions that answered, by model; ``files`` the sha256 of
    what a finished run has written."""
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
        "scenario": {
            "id": plan.scenario.id,
            "digest": plan.scenario.digest,
            **({} if plan.scenario.content is None else {"content": plan.scenario.content}),
        },
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
        "files": dict(files),
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


@dataclass(frozen=True, slots=True)
class Run:
    """``run.json``, read: ours or that of 0.1.0, which has less. ``None`` is what it does not say."""

    path: Path
    format: int
    name: str
    provider: str
    models: tuple[str, ...]
    simulated: bool
    replayed: bool
    complete: bool | None
    planned: int | None
    """How many episodes; as many as ``plan`` has, where there is one."""
    plan: tuple[str, ...] | None
    """Their ids, in order."""
    attacks: tuple[str, ...] | None
    """The configured ones; ``None``: all there were."""
    benign_tasks: tuple[str, ...]
    """Those configured besides the attacks'."""
    defenses: tuple[str, ...]
    """Labels."""
    baseline: str
    """Label of the undefended agent."""
    threshold: float
    unpriced: bool
    repeats: int
    paraphrases: int
    seed: int
    agent: str | None
    scenario: str | None
    ceiling: Mapping[str, int]
    prices: pricing.Table | None
    families: Mapping[str, str]
    """Attack to family."""
    served: Mapping[str, tuple[str, ...]]
    """The versions that answered, by model."""
    spent_tokens: int | None
    spent_usd: float | None
    version: str | None
    commit: str | None
    files: Mapping[str, str]
    """File to the sha256 that it had when the run was done."""
    row: Recorded
    """All of it."""

    @property
    def ours(self) -> bool:
        """Whether it is of our format, not that of 0.1.0."""
        return self.format == FORMAT

    def settings(self) -> tuple[configuration.Config, pricing.Table]:
        """Configuration and prices of a run of our own format. Raises a located error."""
        config = configuration.parse(self.row.at("config"))
        return config, pricing.table(self.row.at("prices"))


def read(directory: Path) -> Run:
    """``run.json`` of a run directory. Raises a located error, also for a directory that is none."""
    path = directory / store.RUN
    if not store.exists(path):
        meant = RUNS / directory
        hint = f"; {meant} is one" if not directory.is_absolute() and store.exists(meant / store.RUN) else ""
        raise UsageError(f"no run directory: it has no {store.RUN}{hint}", path=str(directory))
    row = store.read_json(path)
    number = optional(row, "format", Node.integer, 1)
    if number not in (1, FORMAT):
        row.at("format").fail(f"has the format {number}; this version reads 1 and {FORMAT}")
    # What our own runs always have, and those of 0.1.0 never.
    part = row.at if number == FORMAT else row.get
    plan, prices, attacks, scenario = part("plan"), part("prices"), part("attacks"), part("scenario")
    config, complete = row.at("config"), part("complete")
    labels = _labels(config.at("defenses"))
    planned = optional(row, "episodes_planned", Recorded.count, None)
    return Run(
        path=path,
        format=number,
        name=row.at("run_name").text(),
        provider=config.at("provider").text(),
        models=config.at("models").texts(at_least=1),
        simulated=row.at("simulated").boolean(),
        replayed=optional(row, "replayed", Node.boolean, False),
        complete=None if complete is None else complete.boolean(),
        planned=planned if plan is None else len(plan.items()),
        plan=None if plan is None else tuple(item.at("episode_id").text() for item in plan.items()),
        attacks=optional(config, "attacks", lambda node: None if node.value == "all" else node.texts(), None),
        benign_tasks=optional(config, "benign_tasks", Node.texts, ()),
        defenses=tuple(labels),
        baseline=next(label for label, undefended in labels.items() if undefended),
        threshold=optional(config, "success_threshold", lambda node: node.number(above=1), 5.0),
        unpriced=optional(config, "unpriced", Node.boolean, False),
        repeats=optional(config, "repeats", Recorded.count, 1),
        paraphrases=optional(config, "paraphrases", Recorded.count, 1),
        seed=optional(config, "seed", lambda node: node.integer(minimum=-MOST, maximum=MOST), 0),
        agent=optional(config, "agent", Node.text, None),
        scenario=None if scenario is None else scenario.at("id").text(),
        ceiling=optional(
            config, "ceiling", lambda node: {key: value.count() for key, value in node.entries().items()}, {}
        ),
        prices=None if prices is None else pricing.table(prices),
        families={} if attacks is None else {a.at("id").text(): a.at("family").text() for a in attacks.items()},
        served=optional(row, "served_model_versions", _served, {}),
        spent_tokens=optional(row, "spent_tokens", Recorded.count, None),
        spent_usd=optional(row, "spent_usd", lambda node: node.number(minimum=0, maximum=codec.MOST_USD), None),
        version=optional(row, "dowbench_version", Node.text, None),
        commit=optional(row, "git_commit", Node.text, None),
        files=optional(row, "files", lambda node: {name: value.text() for name, value in node.entries().items()}, {}),
        row=row,
    )


def _served(row: Recorded) -> dict[str, tuple[str, ...]]:
    return {model: tuple(v.characters() for v in versions.items()) for model, versions in row.entries().items()}


def _labels(defenses: Recorded) -> dict[str, bool]:
    """The labels of either format, and whether each is the undefended agent's. Raises a located error without one."""
    found = {}
    for spec in defenses.items():
        name, label = spec.get("name"), spec.get("label")
        undefended = name.text() == UNDEFENDED if name else not spec.at("stack").items()
        found[label.text() if label and label.value != "" else spec.at("name").text()] = undefended
    if not any(found.values()):
        defenses.fail(f"expected the undefended agent, {UNDEFENDED!r}, among them")
    return found


def resumed(plan: Plan, directory: Path, price_file: Path | None = None) -> tuple[Plan, list[str]]:
    """``plan`` with the prices that an earlier run in ``directory`` recorded, and what is worth saying about it.

    Raises ``UsageError``, saying what differs, for a directory that holds anything but a run of this plan, and for
    prices of a ``price_file`` that are not the recorded ones.
    """
    if not store.exists(directory / store.RUN):
        return plan, []
    run = read(directory)
    holds = "a run of dowbench 0.1.0" if not run.ours else "a replay" if run.replayed else None
    if holds is None:
        config, table = run.settings()
        differences = _differences(plan, run, config)
        holds = f"another run: {'; '.join(differences)}" if differences else None
    if holds is not None:
        raise UsageError(f"holds {holds}; choose another directory with --out", path=str(directory))
    notices = []
    kept = dict(plan.prices)
    for model, price in plan.prices.items():
        before = table.get((plan.config.provider, model))
        if before is not None:
            kept[model] = before
            if before.rates != price.rates and price_file is not None:
                raise UsageError(
                    f"holds a run with other prices than {price_file} has: {_rates(before, price)}; leave out --prices "
                    "to go on with those it recorded, or choose another directory with --out",
                    path=str(directory),
                )
            if before.rates != price.rates:
                notices.append(f"the price of {model} has changed; this run goes on with the one it recorded")
    return replace(plan, prices=kept), notices


def _rates(before: pricing.Price, now: pricing.Price) -> str:
    was, given = before.record(), now.record()
    differences = [
        f"{rate} of {now.model} is {given[rate]:g}, recorded {was[rate]:g}"
        for rate in pricing.RATES
        if given[rate] != was[rate]
    ]
    return "; ".join(differences)


_MOST = 3
"""Differences that are named."""
_HOW = ("attacks", "rate_limit", "retry", "concurrency")
"""Of a configuration: what does not shape a result, and the attacks, which are compared one by one."""


def _differences(plan: Plan, run: Run, recorded: configuration.Config) -> list[str]:
    before, now = recorded.record(), plan.config.record()
    found = [
        f"{key} is {_short(now[key])}, recorded {_short(before[key])}"
        for key in now
        if key not in _HOW and now[key] != before[key]
    ]
    found += [f"attack {name} is new" for name in plan.attacks if name not in run.families]
    found += [f"attack {name} is gone" for name in run.families if name not in plan.attacks]
    if not found and run.plan != tuple(spec.id for spec in plan.episodes):
        found.append("the same configuration plans other episodes by now, for its scenario or an attack has changed")
    return found if len(found) <= _MOST else [*found[:_MOST], f"{len(found) - _MOST} more"]


def _short(value: Any) -> str:
    text = codec.canonical(value)
    return text if len(text) <= 60 else text[:57] + "…"


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
    except (OSError, ValueError):
        return None
    return None
