"""A run directory, read: ours and that of dowbench 0.1.0."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dowbench_benchmark import codec, ledger, store
from dowbench_benchmark.cassette import Cassette
from dowbench_benchmark.store import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from dowbench_benchmark.ledger import Call, Sent
    from dowbench_benchmark.model import Episode, EpisodeSpec
    from dowbench_benchmark.prices import Price


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
        return {(call.attempt, call.call): call for call in (*self.calls, *self.unbilled)}

    @property
    def used(self) -> bool:
        """Whether anything was sent from here."""
        return bool(self.sent or self.calls or self.episodes)

    def attempt(self, spec: EpisodeSpec) -> int:
        """Number of the last attempt at an episode, 0 for none."""
        return self.attempts.get(spec.id, 0)


def read(directory: Path, prices: Mapping[str, Price]) -> Recording:
    """Everything recorded in ``directory``. Raises a located ``StoreError`` for what cannot be understood."""
    episodes = {episode.episode_id: episode for episode in _parsed(directory / store.EPISODES, codec.episode_from)}
    calls = _parsed(directory / store.CALLS, ledger.call_from)
    sent = _parsed(directory / store.REQUESTS, ledger.sent_from)
    cassette = Cassette(directory / store.CASSETTE) if (directory / store.CASSETTE).exists() else None
    attempts: dict[str, int] = {}
    for name in {*(request.attempt for request in sent), *(cassette.events if cassette else ())}:
        episode, _, number = name.rpartition("-")
        if number.isdigit():
            attempts[episode] = max(attempts.get(episode, 0), int(number))
    unbilled = _unbilled(calls, sent, cassette, prices)
    billed = {call.attempt for call in (*calls, *unbilled)}
    for episode in episodes.values():
        if episode.usage.total and episode.attempt not in billed:
            raise StoreError(
                f"lacks the calls of episode {episode.episode_id}, which {store.EPISODES} has: the spend is unknown",
                path=str(directory / store.CALLS),
            )
    return Recording(episodes, tuple(calls), tuple(sent), cassette, unbilled, attempts)


def _parsed(path: Path, read_row: Callable[[Mapping[str, Any]], Any]) -> list[Any]:
    found = []
    for number, row in enumerate(store.rows(path), 1):
        try:
            found.append(read_row(row))
        except (KeyError, TypeError) as error:
            raise StoreError(f"is no row of this file: {error}", path=str(path), line=number) from None
    return found


def _unbilled(
    calls: list[Call], sent: list[Sent], cassette: Cassette | None, prices: Mapping[str, Price]
) -> tuple[Call, ...]:
    if cassette is None:
        return ()
    have = {(call.attempt, call.call) for call in calls}
    requests = {(request.attempt, request.call): request for request in sent}
    missing = []
    for attempt, events in cassette.events.items():
        for event in events:
            key = (attempt, event.get("call", 0))
            if event["kind"] == "complete" and key not in have and key in requests:
                request = requests[key]
                missing.append(ledger.from_event(event, request, prices.get(request.model)))
    return tuple(missing)
