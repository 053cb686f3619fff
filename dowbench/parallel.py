"""Many files on several cores, where that is quicker than starting the processes takes."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

from dowbench.forked import may_fork
from dowbench.scanfile import scan_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dowbench.plan import Plan
    from dowbench.scanfile import FileOutcome, Job

WORTH_IT = 400_000
"""Bytes of input, counting a file as at least 500, below which one process is quicker (``tests/perf`` measures it)."""
SWEEP_AFTER = 4_000_000
"""Bytes of input after which the garbage of their scans is collected, where the collector does not run by itself."""
_MOST = 8
_swept = 0
_plan: Plan | None = None


def scan_all(jobs: Sequence[Job], plan: Plan) -> list[FileOutcome]:
    """``scan_file`` of every job, in their order.

    Several processes only where they can be forked: started anew, they would run a script that calls the library once
    more.
    """
    workers = min(_cores(), _MOST, len(jobs))
    if workers < 2 or sum(max(job.target.size, 500) for job in jobs) < WORTH_IT or not may_fork():
        return [_scan_and_sweep(job, plan) for job in jobs]
    return in_processes(jobs, plan, workers, forks=True)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_processes(jobs: Sequence[Job], plan: Plan, workers: int, *, forks: bool) -> list[FileOutcome]:
    """``scan_file`` of every job in so many processes.

    Rules are compiled into closures, which cannot be sent: a forked process has them, another one compiles its own.
    """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    pool = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("fork" if forks else "spawn"),
        initializer=_begin,
        initargs=(plan,) if forks else (plan.config, plan.validate),
    )
    try:
        chunk = max(1, min(50, len(jobs) // (workers * 4)))
        return list(pool.map(_scan, jobs, chunksize=chunk))
    except KeyboardInterrupt:
        for process in multiprocessing.active_children():
            process.kill()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _begin(plan_or_config: object, validate: bool = False) -> None:
    import signal

    from dowbench.plan import Plan, make_plan

    global _plan
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent answers it for all
    _plan = plan_or_config if isinstance(plan_or_config, Plan) else make_plan(plan_or_config, validate=validate)  # type: ignore[arg-type]


def _scan(job: Job) -> FileOutcome:
    assert _plan is not None
    return _scan_and_sweep(job, _plan)


def _scan_and_sweep(job: Job, plan: Plan) -> FileOutcome:
    """``scan_file`` with the collector run before it once enough was scanned: what a file leaves behind has cycles."""
    global _swept
    if _swept > SWEEP_AFTER:
        gc.collect()
        _swept = 0
    _swept += max(job.target.size, 500)
    return scan_file(job, plan)
