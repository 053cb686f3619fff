"""Runs the agent loop again from a recording: no provider, no network, and every difference is an error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dowbench.errors import UsageError
from dowbench_benchmark import codec, damage, ledger, plan, recording, results, runfile, store
from dowbench_benchmark import prices as pricing
from dowbench_benchmark.cassette import Digests, DriftError, Replayed, first_difference
from dowbench_benchmark.episode import perform
from dowbench_benchmark.loop import Halt
from dowbench_benchmark.model import TransientError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from dowbench_benchmark.model import Episode, EpisodeSpec
    from dowbench_benchmark.plan import Plan
    from dowbench_benchmark.recording import Recording
    from dowbench_benchmark.runfile import Run


@dataclass(frozen=True, slots=True)
class Replay:
    """A replay that met no difference."""

    plan: Plan
    episodes: tuple[Episode, ...]
    missing: int
    """Planned episodes that the recording does not have."""
    simulated: bool
    summary: results.Written | None
    """``None`` where episodes are missing."""
    recorded_sha256: str | None
    notices: tuple[str, ...]


def replay(directory: Path, out: Path, watch: Callable[[int, int], None] = lambda done, planned: None) -> Replay:
    """Replay the run in ``directory`` and write its results to ``out``.

    Raises ``DriftError`` at the first difference, ``UsageError`` for what cannot be replayed, ``StoreError``.
    """
    run = runfile.read(directory)
    if not run.ours:
        raise UsageError(
            "was recorded by dowbench 0.1.0, whose agent loop this is not; 'dowbench audit' recomputes its figures",
            path=str(directory),
        )
    planned = plan.from_run(run)
    _same_plan(run, planned)
    recorded = recording.read(directory, planned.prices)
    if recorded.cassette is None:
        raise UsageError(f"has no {store.CASSETTE}", path=str(directory))
    rows = [recorded.episodes[spec.id] for spec in planned.episodes if spec.id in recorded.episodes]
    notices = list(damage.torn(directory))
    if damage.finished(directory, run):
        for what in (*notices, *damage.lost(directory, run, rows, recorded)):
            raise DriftError(what)
    _prepare(run, out)
    episodes = []
    for spec in planned.episodes:
        row = recorded.episodes.get(spec.id)
        if row is not None:
            episodes.append(_episode(planned, spec, row, recorded, run.simulated))
            watch(len(episodes), len(planned.episodes))
    if damage.finished(directory, run):
        for what in damage.changed(directory, run):
            raise DriftError(what)
    missing = len(planned.episodes) - len(episodes)
    calls = recorded.every_call
    _write_logs(out, episodes, calls, durable=not run.simulated)
    summary = None
    if missing:
        for name in (store.SUMMARY, store.STATS):
            store.remove(out / name)
    else:
        summary = results.write(planned, out, episodes, simulated=run.simulated)
    content = runfile.record(
        planned,
        simulated=run.simulated,
        replayed=True,
        complete=not missing,
        served=runfile.served(calls),
        spent=ledger.spent(calls, recorded.sent, planned.prices),
        files={} if missing else store.digests(out),
    )
    runfile.write(out, content, durable=not run.simulated)
    notices += damage.unsealed(directory, run)
    notices += pricing.changes(planned.prices.values(), pricing.load())
    return Replay(
        planned, tuple(episodes), missing, run.simulated, summary, results.recorded_sha256(directory), tuple(notices)
    )


def _same_plan(run: Run, planned: Plan) -> None:
    before = run.plan or ()
    now = tuple(spec.id for spec in planned.episodes)
    if before != now:
        place = next(
            (i for i, (a, b) in enumerate(zip(before, now, strict=False)) if a != b), min(len(before), len(now))
        )
        raise DriftError(
            f"the plan differs from episode {place + 1} on: this version of dowbench makes other episodes of it",
            path=str(run.path),
        )


def _episode(planned: Plan, spec: EpisodeSpec, row: Episode, recorded: Recording, simulated: bool) -> Episode:
    assert recorded.cassette is not None
    meter = Replayed(spec, recorded.cassette, row.attempt, Digests())
    try:
        episode = perform(planned, spec, row.attempt, meter, simulated=simulated)
    except (Halt, TransientError) as error:
        raise DriftError(f"episode {spec.id} stops where it did not: {error}") from None
    meter.finish()
    if episode != row:
        difference = first_difference(codec.episode_json(row), codec.episode_json(episode))
        raise DriftError(f"episode {spec.id} ends otherwise: {difference}", path=str(recorded.cassette.path))
    _same_usage(recorded, row.attempt)
    return episode


def _same_usage(recorded: Recording, attempt: str) -> None:
    """Hold the usage that the cassette has against that of the billed calls, which an audit recomputes from."""
    assert recorded.cassette is not None
    for event in recorded.cassette.events.get(attempt, ()):
        if event.response is None:
            continue
        call = recorded.by_call.get((attempt, event.call))
        told = {"raw_usage": event.response.raw_usage, "usage": event.response.usage.counters()}
        billed = {
            "raw_usage": call.raw_usage if call else None,
            "usage": call.usage.counters() if call and call.usage else None,
        }
        if told != billed:
            raise DriftError(
                f"attempt {attempt}, call {event.call}: {store.CALLS} and the cassette differ in "
                + first_difference(billed, told),
                path=str(recorded.cassette.path),
            )


def _prepare(run: Run, out: Path) -> None:
    if out.resolve() == run.path.parent.resolve():
        raise UsageError("a replay cannot be written over its recording", path=str(out))
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot be made: {error.strerror}", path=str(out)) from None
    if store.exists(out / store.RUN):
        there = runfile.read(out)
        if not there.replayed or there.plan != run.plan:
            what = "a replay of another run" if there.replayed else "a recorded run"
            raise UsageError(f"holds {what}; choose another directory with --out", path=str(out))


def _write_logs(out: Path, episodes: list[Episode], calls: Sequence[ledger.Call], *, durable: bool) -> None:
    for name, lines in (
        (store.EPISODES, [codec.line(codec.episode_json(episode)) for episode in episodes]),
        (store.CALLS, [codec.line(ledger.call_json(call)) for call in calls]),
    ):
        store.replace(out / name, b"".join(lines), durable=durable)
