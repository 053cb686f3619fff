"""Many files on several cores, where that is quicker than starting the processes takes."""

from __future__ import annotations

import gc
from functools import partial
from typing import TYPE_CHECKING

from dowbench import forked
from dowbench.forked import MOST, cores, may_fork
from dowbench.model import Note
from dowbench.scanfile import FileOutcome, scan_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dowbench.plan import Plan
    from dowbench.scanfile import Job

WORTH_IT = 400_000
"""Bytes of input, counting a file as at least 500, below which one process is quicker (``tests/perf`` measures it)."""
SWEEP_AFTER = 4_000_000
"""Bytes of input after which the garbage of their scans is collected, where the collector does not run by itself."""
_swept = 0
_plan: Plan | None = None


def scan_all(jobs: Sequence[Job], plan: Plan) -> list[FileOutcome]:
    """``scan_file`` of every job, in their order.

    Several processes only where they can be forked: started anew, they would run a script that calls the library once
    more.
    """
    workers = min(cores(), MOST, len(jobs))
    if workers < 2 or sum(max(job.target.size, 500) for job in jobs) < WORTH_IT or not may_fork():
        return [_scan_and_sweep(job, plan) for job in jobs]
    return in_processes(jobs, plan, workers, forks=True)


def in_processes(jobs: Sequence[Job], plan: Plan, workers: int, *, forks: bool) -> list[FileOutcome]:
    """``scan_file`` of every job in so many processes.

    Rules are compiled into closures, which cannot be sent: a forked process has them, another one compiles its own.
    Where a process is killed, as the system does with one that takes too much memory, what it had in hand is scanned
    once more in another, to find out which file that was.
    """
    size = max(1, min(50, len(jobs) // (workers * 4)))
    chunks = [jobs[at : at + size] for at in range(0, len(jobs), size)]
    outcomes = _run(chunks, plan, workers, forks=forks)
    lost = [job for chunk, done in zip(chunks, outcomes, strict=True) if done is None for job in chunk]
    again = _again(lost, plan)
    return [
        outcome
        for chunk, done in zip(chunks, outcomes, strict=True)
        for outcome in (done if done is not None else [next(again) for _ in chunk])
    ]


def _run(chunks: Sequence[Sequence[Job]], plan: Plan, workers: int, *, forks: bool) -> list[list[FileOutcome] | None]:
    """What came of each chunk; ``None`` for those that were lost with a process."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    pool = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("fork" if forks else "spawn"),
        initializer=_begin,
        initargs=(plan,) if forks else (plan.config, plan.validate),
    )
    outcomes: list[list[FileOutcome] | None] = []
    try:
        futures = [pool.submit(_scan, chunk) for chunk in chunks]
        for future in futures:
            try:
                outcomes.append(future.result())
            except BrokenProcessPool:
                outcomes.append(None)
    except BrokenProcessPool:  # while there was more to submit
        outcomes = [None] * len(chunks)
    except KeyboardInterrupt:
        for process in multiprocessing.active_children():
            process.kill()
        raise
    finally:
        # Its threads must be gone before anything else is forked; nothing is, as long as all went well.
        pool.shutdown(wait=None in outcomes, cancel_futures=True)
    return outcomes


def _again(jobs: Sequence[Job], plan: Plan) -> Iterator[FileOutcome]:
    """``scan_file`` of each job, one after the other in another process; one with which it is killed is an error."""
    while jobs:
        done = forked.end(forked.begin(partial(_outcomes, jobs, plan)))
        yield from done
        if len(done) < len(jobs):
            message = "the process that scanned it was killed; did it take too much memory?"
            yield FileOutcome(errors=(Note(jobs[len(done)].target.path, message),))
        jobs = jobs[len(done) + 1 :]


def _outcomes(jobs: Sequence[Job], plan: Plan) -> Iterator[FileOutcome]:
    return (_scan_and_sweep(job, plan) for job in jobs)


def _begin(plan_or_config: object, validate: bool = False) -> None:
    import signal

    from dowbench.plan import Plan, make_plan

    global _plan
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent answers it for all
    _plan = plan_or_config if isinstance(plan_or_config, Plan) else make_plan(plan_or_config, validate=validate)  # type: ignore[arg-type]


def _scan(jobs: Sequence[Job]) -> list[FileOutcome]:
    assert _plan is not None
    return [_scan_and_sweep(job, _plan) for job in jobs]


def _scan_and_sweep(job: Job, plan: Plan) -> FileOutcome:
    """``scan_file`` with the collector run before it once enough was scanned: what a file leaves behind has cycles."""
    global _swept
    if _swept > SWEEP_AFTER:
        gc.collect()
        _swept = 0
    _swept += max(job.target.size, 500)
    return scan_file(job, plan)
