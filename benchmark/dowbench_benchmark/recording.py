"""A run directory, read: ours and that of dowbench 0.1.0."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from dowbench_benchmark import codec, ledger, store
from dowbench_benchmark.cassette import Cassette
from dowbench_benchmark.store import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dowbench_benchmark.ledger import Call, Sent
    from dowbench_benchmark.model import Episode, EpisodeSpec
    from dowbench_benchmark.plan import Plan
    from dowbench_benchmark.prices import Price
    from dowbench_benchmark.recorded import Recorded

    Item = TypeVar("Item", Call, Sent)


@dataclass(frozen=True)
class Recording:
    """What earlier runs left in a directory."""

    episodes: Mapping[str, Episode]
    """By id, in the order of the file."""
    calls: tuple[Call, ...]
    sent: tuple[Sent, ...]
    cassette: Cassette | None
    unbilled: tuple[Call, ...]
    """Calls that the cassette has and ``calls.jsonl`` lacks, since the run was killed between the two."""
    attempts: Mapping[str, int]
    """Episode id to the number of its last attempt."""

    @cached_property
    def by_call(self) -> Mapping[tuple[str, int], Call]:
        """Every call by attempt and number."""
        return {call.key: call for call in self.every_call}

    @property
    def every_call(self) -> tuple[Call, ...]:
        """All that were answered or failed."""
        return (*self.calls, *self.unbilled)

    @property
    def used(self) -> bool:
        """Whether anything was sent from here."""
        return bool(self.sent or self.calls or self.episodes)

    def pending(self, plan: Plan) -> list[EpisodeSpec]:
        """Planned episodes that have no row."""
        return [spec for spec in plan.episodes if spec.id not in self.episodes]

    def attempt(self, spec: EpisodeSpec) -> int:
        """Number of the last attempt at an episode, 0 for none."""
        return self.attempts.get(spec.id, 0)


def read(directory: Path, prices: Mapping[str, Price]) -> Recording:
    """Everything recorded in ``directory``. Raises a located error for what cannot be understood.

    ``prices`` are those of the run by model; none in an unpriced run.
    """
    rows = [codec.episode_from(row) for row in store.rows(directory / store.EPISODES)]
    calls = [_priced(row, ledger.call_from(row), prices) for row in store.rows(directory / store.CALLS)]
    sent = [_priced(row, ledger.sent_from(row), prices) for row in store.rows(directory / store.REQUESTS)]
    cassette = Cassette(directory / store.CASSETTE) if store.exists(directory / store.CASSETTE) else None
    episodes = {episode.episode_id: episode for episode in rows}
    attempts: dict[str, int] = {}
    for name in {*(request.attempt for request in sent), *(cassette.events if cassette else ())}:
        episode_id = name.rpartition("-")[0]
        attempts[episode_id] = max(attempts.get(episode_id, 0), codec.attempt_number(name))
    unbilled = _unbilled(calls, sent, cassette, prices)
    billed = {call.attempt for call in (*calls, *unbilled)}
    for episode in episodes.values():
        if episode.usage.total and episode.attempt not in billed:
            raise StoreError(
                f"lacks the calls of episode {episode.episode_id}, which {store.EPISODES} has: the spend is unknown",
                path=str(directory / store.CALLS),
            )
    return Recording(episodes, tuple(calls), tuple(sent), cassette, unbilled, attempts)


def _priced(row: Recorded, item: Item, prices: Mapping[str, Price]) -> Item:
    """``item``, once it is sure that what it cost is known."""
    if prices and item.model not in prices:
        row.at("model").fail(f"expected a model that {store.RUN} has a price for, found {item.model!r}")
    return item


def _unbilled(
    calls: list[Call], sent: list[Sent], cassette: Cassette | None, prices: Mapping[str, Price]
) -> tuple[Call, ...]:
    if cassette is None:
        return ()
    have = {call.key for call in calls}
    requests = {request.key: request for request in sent}
    missing = []
    for attempt, events in cassette.events.items():
        for event in events:
            if event.kind == "complete" and (attempt, event.call) not in have:
                request = requests.get((attempt, event.call))
                if request is None:
                    raise StoreError(
                        f"has call {event.call} of attempt {attempt}, which neither {store.CALLS} nor {store.REQUESTS} "
                        "has: the spend is unknown",
                        path=str(cassette.path),
                    )
                missing.append(ledger.from_event(event, request, prices.get(request.model)))
    return tuple(missing)
