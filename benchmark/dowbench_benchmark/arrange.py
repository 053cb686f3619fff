"""Puts the logs of a finished run into plan order, so that their bytes do not depend on how it was run.

Each file is replaced as a whole. Rows of episodes that are no longer planned go to the end: they were paid for.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dowbench_benchmark import codec, store
from dowbench_benchmark.cassette import Cassette

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dowbench_benchmark.plan import Plan


def arrange(directory: Path, plan: Plan, *, durable: bool) -> None:
    """Rewrite the logs of ``directory`` in plan order. Raises ``StoreError``."""
    index = {spec.id: spec.index for spec in plan.episodes}

    def place(row: dict[str, Any]) -> tuple[int, str, int]:
        attempt = row["attempt"]
        number = attempt.rpartition("-")[2]
        planned = index.get(row["episode_id"], len(index))
        return planned, row["episode_id"], int(number) if number.isdigit() else 0

    for name in (store.REQUESTS, store.CALLS, store.EPISODES):
        _replace(directory / name, sorted(_lines(directory / name), key=lambda item: place(item[1])), durable)
    _replace(directory / store.CASSETTE, _cassette(directory / store.CASSETTE, place), durable)


def _lines(path: Path) -> list[tuple[bytes, dict[str, Any]]]:
    return [(line, json.loads(line)) for line in store.lines(path)]


def _replace(path: Path, rows: Any, durable: bool) -> None:
    data = b"".join(line + b"\n" for line, _ in rows)
    if not path.exists() or path.read_bytes() != data:
        store.replace(path, data, durable=durable)


def _cassette(path: Path, place: Any) -> Iterator[tuple[bytes, None]]:
    """Events in plan order, each after the parts that it is the first to need."""
    cassette = Cassette(path)
    written: set[str] = set()
    events = sorted((place(event), number, event) for number, event in _numbered(cassette))
    for _, _, event in events:
        for digest in _needed(cassette, event["digest"]):
            if digest not in written and digest in cassette.parts:
                written.add(digest)
                yield cassette.parts[digest], None
        yield codec.line(event)[:-1], None


def _numbered(cassette: Cassette) -> Iterator[tuple[int, dict[str, Any]]]:
    number = 0
    for events in cassette.events.values():
        for event in events:
            number += 1
            yield number, event


def _needed(cassette: Cassette, digest: str) -> Iterator[str]:
    frame = cassette.part(digest)
    if frame is not None:
        yield frame["tools"]
        yield from frame["messages"]
    yield digest
