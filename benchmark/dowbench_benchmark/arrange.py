"""Puts the logs of a finished run into plan order, so that their bytes do not depend on how it was run.

Each file is replaced as a whole. Rows of episodes that are no longer planned go to the end: they were paid for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowbench_benchmark import codec, recorded, store
from dowbench_benchmark.cassette import Cassette

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from dowbench_benchmark.cassette import Event
    from dowbench_benchmark.plan import Plan


def arrange(directory: Path, plan: Plan, *, durable: bool) -> None:
    """Rewrite the logs of ``directory`` in plan order. Raises a located error."""
    index = {spec.id: spec.index for spec in plan.episodes}

    def place(episode_id: str, attempt: str) -> tuple[int, str, int]:
        return index.get(episode_id, len(index)), episode_id, codec.attempt_number(attempt)

    for name in (store.REQUESTS, store.CALLS, store.EPISODES):
        path = directory / name
        rows = []
        for number, text in enumerate(store.lines(path), 1):
            if text.strip():
                row = recorded.parse(text, path, number)
                rows.append((place(row.at("episode_id").text(), row.at("attempt").text()), number, text))
        _replace(path, (text for _, _, text in sorted(rows)), durable)
    cassette = Cassette(directory / store.CASSETTE)
    events = [event for events in cassette.events.values() for event in events]
    events.sort(key=lambda event: place(event.episode_id, event.attempt))
    _replace(cassette.path, _with_parts(cassette, events), durable)


def _replace(path: Path, lines: Iterable[bytes], durable: bool) -> None:
    data = b"".join(line + b"\n" for line in lines)
    if not store.exists(path) or store.read_bytes(path) != data:
        store.replace(path, data, durable=durable)


def _with_parts(cassette: Cassette, events: Iterable[Event]) -> Iterator[bytes]:
    """Each event after the parts that it is the first to need."""
    written: set[str] = set()
    for event in events:
        for digest in cassette.needs(event.digest):
            if digest not in written and digest in cassette.parts:
                written.add(digest)
                yield cassette.parts[digest]
        yield event.text
