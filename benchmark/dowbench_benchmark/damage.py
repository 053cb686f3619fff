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

LOGS = (store.REQUESTS, store.CASSETTE, store.CALLS, store.EPISODES)


def finished(directory: Path, run: Run) -> bool:
    """Whether the run was done: then whatever is missing is lost. 0.1.0 wrote a summary only then."""
    return bool(run.complete) or store.exists(directory / store.SUMMARY)


def torn(directory: Path) -> Iterator[str]:
    """A statement for each log whose last line has no end. Raises ``StoreError``."""
    for name in LOGS:
        size = store.torn(directory / name)
        if size:
            yield f"{directory / name}: the last line has no end; its {size} bytes are left out"


def lost(directory: Path, run: Run, episodes: Sequence[Episode], recording: Recording | None = None) -> Iterator[str]:
    """A statement for whatever a finished run must have and this one lacks. Raises a located error.

    ``recording`` is what was read of the directory, where that was done already.
    """
    planned = run.planned if run.plan is None else len(run.plan)
    if planned is not None and len(episodes) < planned:
        yield f"{directory / store.EPISODES}: has {len(episodes)} of {planned} planned episodes, and the run was done"
    if not run.ours:
        return
    for name in (store.CALLS,) if run.replayed else (store.REQUESTS, store.CASSETTE, store.CALLS):
        if not store.exists(directory / name):
            yield f"{directory / name}: is missing"
    if run.replayed:
        return
    if recording is not None:
        sent, calls = recording.sent, recording.calls
    else:
        sent = tuple(ledger.sent_from(row) for row in store.rows(directory / store.REQUESTS))
        calls = tuple(ledger.call_from(row) for row in store.rows(directory / store.CALLS))
    known = {(request.attempt, request.call) for request in sent}
    for call in calls:
        if (call.attempt, call.call) not in known:
            yield f"{directory / store.REQUESTS}: lacks call {call.call} of attempt {call.attempt}"
    prices = {model: price for (_, model), price in (run.prices or {}).items()}
    spent = ledger.spent(calls, sent, prices).tokens
    if run.spent_tokens != spent:
        said = f"{run.spent_tokens} by {store.RUN}"
        yield f"{directory / store.CALLS}: with {store.REQUESTS} {spent} tokens were spent, {said}"
