"""The rules over one large tool set, divided among processes where the system can fork them."""

from __future__ import annotations

import os
import sys
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from dowbench import engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dowbench.model import ToolSet
    from dowbench.rulepack import RulePack

WORTH_IT = 120
"""Tools for each process; for fewer than two processes would have, none is forked."""
MOST = 8
"""Processes."""


def run(pack: RulePack, toolset: ToolSet, seconds: float) -> engine.Run:
    """``engine.run``; what another process does not give for any reason, this one works out itself."""
    count = min(cores(), MOST, len(toolset.tools) // WORTH_IT)
    if count < 2 or not may_fork():
        return engine.run(pack, toolset, seconds)
    ends = [len(toolset.tools) * number // count for number in range(count + 1)]
    own, *others = (slice(start, end) for start, end in pairwise(ends))
    children = [begin(partial(_elsewhere, pack, toolset, seconds, part)) for part in others]
    try:
        first = engine.run(pack, toolset, seconds, own)
    finally:
        received = [end(child) for child in children]
    rest = [
        found[0] if found else engine.run(pack, toolset, seconds, part)
        for part, found in zip(others, received, strict=True)
    ]
    return engine.joined([first, *rest])


def _elsewhere(pack: RulePack, toolset: ToolSet, seconds: float, part: slice) -> Iterator[engine.Run]:
    yield engine.run(pack, toolset, seconds, part)._replace(notes=toolset.notes)


class Child(NamedTuple):
    """A process that works things out."""

    process: int
    pipe: int
    """They can be read here, pickled one after the other."""


def begin(work: Callable[[], Iterator[Any]]) -> Child | None:
    """Let a forked process work out what an iterator gives; ``None`` where the system has no room for one."""
    try:
        pipe, writer = os.pipe()
    except OSError:
        return None
    try:
        process = os.fork()
    except OSError:
        os.close(pipe)
        os.close(writer)
        return None
    if not process:
        os.close(pipe)  # or it would wait for itself, should this process end before it
        _work(work, writer)
    os.close(writer)
    return Child(process, pipe)


def end(child: Child | None) -> list[Any]:
    """All that the process has worked out before it ended, failed or was killed; nothing, where there is none."""
    if child is None:
        return []
    from pickle import UnpicklingError, load

    received = []
    try:
        with open(child.pipe, "rb") as file:  # noqa: PTH123
            while True:
                received.append(load(file))
    except (EOFError, UnpicklingError):
        return received
    finally:
        os.waitpid(child.process, 0)


def cores() -> int:
    """How many of them this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def may_fork() -> bool:
    """Linux with a second core, outside a daemon or a program of several threads, in which a fork can hang."""
    if sys.platform != "linux" or cores() < 2:
        return False
    threading = sys.modules.get("threading")
    processes = sys.modules.get("multiprocessing.process")
    return (threading is None or threading.active_count() == 1) and (
        processes is None or processes.parent_process() is None
    )


def _work(work: Callable[[], Iterator[Any]], writer: int) -> NoReturn:
    """What the other process does."""
    from pickle import dump

    try:
        with open(writer, "wb") as file:
            for found in work():
                dump(found, file)
                file.flush()
    finally:
        os._exit(0)
