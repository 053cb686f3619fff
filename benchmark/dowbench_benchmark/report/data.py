"""What a report is made of, read from a run directory: ours, a replay's, or that of dowbench 0.1.0."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from dowbench.errors import UsageError
from dowbench_benchmark import audit, metrics, results, runfile, stats, store
from dowbench_benchmark.model import KINDS, Episode, Kind
from dowbench_benchmark.store import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from dowbench_benchmark.metrics import Measure


class Turn(NamedTuple):
    """Billed tokens of one turn, over the episodes that had it."""

    number: int
    episodes: int
    median: float
    lowest: int
    highest: int


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that a report says."""

    directory: Path
    run: Mapping[str, Any]
    """``run.json``."""
    name: str
    simulated: bool
    replayed: bool
    provider: str
    models: Sequence[str]
    baseline: str
    threshold: float
    measure: Measure
    stats: Mapping[str, Any]
    families: Mapping[str, str]
    """Attack → family, where the run recorded it."""
    turns: Mapping[tuple[str, Kind], Sequence[Turn]]
    """By model and kind of episode, without a defense."""
    sha256: str
    """Of the summary that these episodes give."""
    recorded_sha256: str | None
    episodes: int
    errored: int
    notices: Sequence[str]

    def cells(self, model: str) -> list[Mapping[str, Any]]:
        """The cells of a model, the undefended first."""
        return [cell for cell in self.stats["cells"] if cell["model"] == model]

    def attacks(self, model: str, defense: str) -> list[Mapping[str, Any]]:
        """The attacks of a cell, those first that cost most without a defense."""
        undefended = {row["attack_id"]: row["attack"]["median"] for row in self._attacks(model, self.baseline)}
        return sorted(
            self._attacks(model, defense), key=lambda row: (-(undefended.get(row["attack_id"]) or 0), row["attack_id"])
        )

    def comparisons(self, model: str) -> list[Mapping[str, Any]]:
        """The defenses of a model against none."""
        return [row for row in self.stats["comparisons"] if row["model"] == model]

    def _attacks(self, model: str, defense: str) -> list[Mapping[str, Any]]:
        return [row for row in self.stats["attacks"] if row["model"] == model and row["defense"] == defense]


def read(directory: Path) -> Report:
    """Read and compute. Raises a located ``UsageError`` or ``StoreError`` for what is missing or broken."""
    run = runfile.read(directory)
    notices: list[str] = []
    recorded = audit.recorded_episodes(directory)
    try:
        settings = audit.settings_of(run)
        episodes = audit.in_plan(run, recorded, notices)
        config = run["config"]
        name, seed, models = str(run["run_name"]), int(config["seed"]), [str(model) for model in config["models"]]
        simulated = bool(run["simulated"]) or any(episode.simulated for episode in episodes)
        families = {str(attack["id"]): str(attack["family"]) for attack in run.get("attacks", ())}
    except (KeyError, TypeError, ValueError, AttributeError, StopIteration) as error:
        raise UsageError(f"is no run of a known format: {error!r}", path=str(directory / store.RUN)) from None
    if not episodes:
        raise UsageError("has no episodes of the plan in run.json", path=str(directory / store.EPISODES))
    how: dict[str, Any] = {
        "run_name": name,
        "simulated": simulated,
        "threshold": settings.threshold,
        "baseline": settings.baseline,
        "measure": settings.measure,
    }
    summary = metrics.to_bytes(metrics.summarize(episodes, **how))
    return Report(
        directory=directory,
        run=run,
        name=name,
        simulated=simulated,
        replayed=bool(run.get("replayed")),
        provider=str(settings.provider),
        models=[*dict.fromkeys([*models, *(episode.model for episode in episodes)])],
        baseline=settings.baseline,
        threshold=settings.threshold,
        measure=settings.measure,
        stats=stats.compute(episodes, seed=seed, **how),
        families=families,
        turns=_turns(directory, [episode for episode in episodes if episode.defense == settings.baseline]),
        sha256=hashlib.sha256(summary).hexdigest(),
        recorded_sha256=results.recorded_sha256(directory),
        episodes=len(episodes),
        errored=sum(episode.status == "errored" for episode in episodes),
        notices=notices,
    )


def _turns(directory: Path, episodes: Sequence[Episode]) -> dict[tuple[str, Kind], list[Turn]]:
    by_attempt: dict[str, list[int]] = {episode.attempt: [] for episode in episodes}
    for call in audit.billed_calls(directory, {episode.attempt: episode.model for episode in episodes}):
        if call.attempt in by_attempt and call.mapped is not None:
            try:
                by_attempt[call.attempt].append(sum(call.mapped.values()))
            except (TypeError, AttributeError):
                raise StoreError("has no usage by counter", path=call.place[0], line=call.place[1]) from None
    found = {}
    for model in dict.fromkeys(episode.model for episode in episodes):
        for kind in KINDS:
            rows = [by_attempt[e.attempt] for e in episodes if (e.model, e.kind) == (model, kind)]
            turns = []
            for number in range(max(map(len, rows), default=0)):
                tokens = [row[number] for row in rows if number < len(row)]
                turns.append(Turn(number + 1, len(tokens), median(tokens), min(tokens), max(tokens)))
            if turns:
                found[model, kind] = turns
    return found
