"""What a run directory lacks: lines cut short, files and rows that a finished run has and this one does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowbench_benchmark import ledger, store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from dowbench_benchmark.model import Episode
    from dowbench_benchmark.recording import Recording
    from dowbench_benchmark.runfile import Run


def finished(directory: Path, run: Run) -> bool:
    """Whether the run was done: then whatever is missing is lost. 0.1.0 wrote a summary only then."""
    return bool(run.complete) or store.exists(directory / store.SUMMARY)


def torn(directory: Path) -> Iterator[str]:
    """A statement for each log whose last line has no end. Raises ``StoreError``."""
    for name in store.LOGS:
        tail, size = store.unended(directory / name), store.torn(directory / name)
        if tail:
            what = f"its {size} bytes are left out" if size else "it is a whole row"
            yield f"{directory / name}: the last line has no end; {what}"


def lost(directory: Path, run: Run, episodes: Sequence[Episode], recording: Recording | None = None) -> Iterator[str]:
    """A statement for whatever a finished run must have and this one lacks. Raises a located error.

    ``recording`` is what was read of the directory, where that was done already.
    """
    if run.planned is not None and len(episodes) < run.planned:
        has = f"has {len(episodes)} of {run.planned} planned episodes"
        yield f"{directory / store.EPISODES}: {has}, and the run was done"
    if not run.ours:
        return
    recorded = (store.CALLS,) if run.replayed else (store.REQUESTS, store.CASSETTE, store.CALLS)
    for name in (*recorded, store.SUMMARY, store.STATS):
        if not store.exists(directory / name):
            yield f"{directory / name}: is missing"
    if run.replayed:
        return
    if recording is not None:
        sent, calls = recording.sent, recording.calls
    else:
        sent = tuple(ledger.sent_from(row) for row in store.rows(directory / store.REQUESTS))
        calls = tuple(ledger.call_from(row) for row in store.rows(directory / store.CALLS))
    known = {request.key for request in sent}
    for call in calls:
        if call.key not in known:
            yield f"{directory / store.REQUESTS}: lacks call {call.call} of attempt {call.attempt}"
    spent = ledger.spent(calls, sent, {}).tokens
    if run.spent_tokens != spent:
        said = f"{run.spent_tokens} by {store.RUN}"
        yield f"{directory / store.CALLS}: with {store.REQUESTS} {spent} tokens were spent, {said}"


def changed(directory: Path, run: Run) -> Iterator[str]:
    """A statement for each file of a finished run that is there and not as the run left it. Raises ``StoreError``."""
    now = store.digests(directory)
    for name, digest in run.files.items():
        if now.get(name, digest) != digest:
            yield f"{directory / name}: is not as the run left it when it was done"


def unsealed(directory: Path, run: Run) -> Iterator[str]:
    """That nobody knows what the files of a run were when it was done: it was recorded before they were noted."""
    if run.ours and run.complete and not run.files:
        yield (
            f"{directory / store.RUN}: says no sha256 of the run's files, so what was changed in them since shows only "
            "where it changes a figure"
        )


def beyond_repair(directory: Path, run: Run, recording: Recording) -> Iterator[str]:
    """A statement for whatever was recorded, is lost and cannot be made good: a run that went on would hide it.

    Rows of ``calls.jsonl`` and ``episodes.jsonl`` can, from the cassette. Raises ``StoreError``.
    """
    if finished(directory, run):
        for name in store.LOGS:
            size = store.torn(directory / name)
            if size:
                yield f"{directory / name}: the last line has no end and is no row ({size} bytes), and the run was done"
        now = store.digests(directory)
        for name in (store.REQUESTS, store.CASSETTE):
            if not store.exists(directory / name):
                yield f"{directory / name}: is missing, and the run was done"
            elif run.files.get(name, now[name]) != now[name]:
                yield f"{directory / name}: is not as the run left it when it was done"
    events = {} if recording.cassette is None else recording.cassette.events
    answered = {(attempt, event.call) for attempt, found in events.items() for event in found if event.response}
    done = {episode.attempt for episode in recording.episodes.values()}
    for call in recording.calls:
        if call.attempt in done and call.error is None and call.key not in answered:
            yield f"{directory / store.CASSETTE}: lacks the answer to call {call.call} of attempt {call.attempt}"
