"""What a finished run is boiled down to: ``summary.json`` and ``stats.json``."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dowbench_benchmark import metrics, stats, store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from dowbench_benchmark.metrics import Measure
    from dowbench_benchmark.model import Episode
    from dowbench_benchmark.plan import Plan


@dataclass(frozen=True, slots=True)
class Written:
    """The summary and its sha256."""

    summary: Mapping[str, Any]
    sha256: str
    at_most: frozenset[str]
    """Attack episodes whose A is an upper bound (``metrics.at_most``)."""


def measure(unpriced: bool) -> Measure:
    """What a run is measured in."""
    return "tokens" if unpriced else "usd"


def summary(
    plan: Plan, episodes: Sequence[Episode], *, simulated: bool, threshold: float | None = None
) -> dict[str, Any]:
    """The content of ``summary.json``."""
    return metrics.summarize(
        episodes,
        run_name=plan.config.run_name,
        simulated=simulated,
        threshold=plan.config.success_threshold if threshold is None else threshold,
        baseline=plan.config.baseline,
        measure=measure(plan.config.unpriced),
    )


def statistics(plan: Plan, episodes: Sequence[Episode], *, simulated: bool) -> dict[str, Any]:
    """The content of ``stats.json``."""
    return stats.compute(
        episodes,
        run_name=plan.config.run_name,
        simulated=simulated,
        threshold=plan.config.success_threshold,
        seed=plan.config.seed,
        baseline=plan.config.baseline,
        measure=measure(plan.config.unpriced),
    )


def write(plan: Plan, directory: Path, episodes: Sequence[Episode], *, simulated: bool) -> Written:
    """Write both files for ``episodes``, all of the plan in its order. Raises ``StoreError``."""
    content = summary(plan, episodes, simulated=simulated)
    data = metrics.to_bytes(content)
    store.replace(directory / store.SUMMARY, data, durable=not simulated)
    store.replace(
        directory / store.STATS,
        metrics.to_bytes(statistics(plan, episodes, simulated=simulated)),
        durable=not simulated,
    )
    bounded = metrics.at_most(episodes, plan.config.baseline, measure(plan.config.unpriced))
    return Written(content, hashlib.sha256(data).hexdigest(), bounded)


def recorded_sha256(directory: Path) -> str | None:
    """sha256 of the recorded ``summary.json``, ``None`` where there is none. Raises ``StoreError``."""
    path = directory / store.SUMMARY
    return hashlib.sha256(store.read_bytes(path)).hexdigest() if store.exists(path) else None
