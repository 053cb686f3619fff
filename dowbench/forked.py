"""The rules over one large tool set, half of its tools in a second process where the system can fork one."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from dowbench import engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dowbench.model import ToolSet
    from dowbench.rulepack import RulePack

WORTH_IT = 800
"""Tools below which one process is quicker (``tests/perf`` measures it)."""


def run(pack: RulePack, toolset: ToolSet, seconds: float) -> engine.Run:
    """``engine.run``; what the second process does not give for any reason, this one works out itself."""
    if len(toolset.tools) < WORTH_IT or not may_fork():
        return engine.run(pack, toolset, seconds)
    middle = len(toolset.tools) // 2
    rest = slice(middle, None)
    child = begin(lambda: iter([_rest(pack, toolset, seconds, rest)]))
    try:
        first = engine.run(pack, toolset, seconds, slice(0, middle))
    finally:
        received = end(child)
    second = received[0] if received else engine.run(pack, toolset, seconds, rest)
    of_tools = [finding for finding in first.findings if finding.tool is not None]
    of_set = [finding for finding in first.findings if finding.tool is None]
    return engine.Run([*of_tools, *second.findings, *of_set], [*first.errors, *second.errors], second.notes)


def _rest(pack: RulePack, toolset: ToolSet, seconds: float, rest: slice) -> engine.Run:
    result = engine.run(pack, toolset, seconds, rest)
    return result._replace(notes=toolset.notes)


class Child(NamedTuple):
    """A process that works things out."""

    process: int
    pipe: int
    """They can be read here, pickled one after the other."""


def begin(work: Callable[[], Iterator[Any]]) -> Child:
    """Let a forked process work out what an iterator gives."""
    pipe, writer = os.pipe()
    process = os.fork()
    if not process:
        os.close(pipe)  # or it would wait for itself, should this process end before it
        _work(work, writer)
    os.close(writer)
    return Child(process, pipe)


def end(child: Child) -> list[Any]:
    """All that the process has worked out before it ended, failed or was killed."""
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


def may_fork() -> bool:
    """Linux with a second core, outside a daemon or a program of several threads, in which a fork can hang."""
    if sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2:
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
