"""What a report is made of, read from a run directory: ours, a replay's, or that of dowbench 0.1.0."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from dowbench.errors import UsageError
from dowbench_benchmark import audit, damage, metrics, results, runfile, stats, store
from dowbench_benchmark.model import KINDS, Episode, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from dowbench_benchmark.metrics import Measure
    from dowbench_benchmark.runfile import Run


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
    run: Run
    simulated: bool
    models: Sequence[str]
    measure: Measure
    stats: Mapping[str, Any]
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
        undefended = {row["attack_id"]: row["attack"]["median"] for row in self._attacks(model, self.run.baseline)}
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
    episodes = audit.in_plan(run, audit.recorded_episodes(directory), notices)
    if not episodes:
        raise UsageError(f"has no episodes of the plan in {store.RUN}", path=str(directory / store.EPISODES))
    notices += damage.torn(directory)
    if damage.finished(directory, run):
        notices += damage.lost(directory, run, episodes)
    how = audit.settings(run, episodes)
    summary = metrics.to_bytes(metrics.summarize(episodes, **how))
    return Report(
        directory=directory,
        run=run,
        simulated=run.simulated or any(episode.simulated for episode in episodes),
        models=[*dict.fromkeys([*run.models, *(episode.model for episode in episodes)])],
        measure=how["measure"],
        stats=stats.compute(episodes, seed=run.seed, **how),
        turns=_turns(directory, episodes, run.baseline),
        sha256=hashlib.sha256(summary).hexdigest(),
        recorded_sha256=results.recorded_sha256(directory),
        episodes=len(episodes),
        errored=sum(episode.status == "errored" for episode in episodes),
        notices=notices,
    )


def _turns(directory: Path, episodes: Sequence[Episode], baseline: str) -> dict[tuple[str, Kind], list[Turn]]:
    undefended = [episode for episode in episodes if episode.defense == baseline]
    by_attempt: dict[str, list[int]] = {episode.attempt: [] for episode in undefended}
    for call in audit.billed_calls(directory, episodes):
        if call.attempt in by_attempt and call.recorded is not None:
            by_attempt[call.attempt].append(call.recorded.total)
    found = {}
    for model in dict.fromkeys(episode.model for episode in undefended):
        for kind in KINDS:
            rows = [by_attempt[e.attempt] for e in undefended if (e.model, e.kind) == (model, kind)]
            turns = []
            for number in range(max(map(len, rows), default=0)):
                tokens = [row[number] for row in rows if number < len(row)]
                turns.append(Turn(number + 1, len(tokens), median(tokens), min(tokens), max(tokens)))
            if turns:
                found[model, kind] = turns
    return found
