"""The rules over one large tool set, half of its tools in a second process where the system can fork one."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from dowbench import engine

if TYPE_CHECKING:
    from dowbench.model import ToolSet
    from dowbench.rulepack import RulePack

WORTH_IT = 800
"""Tools below which one process is quicker (``tests/perf`` measures it)."""


def run(pack: RulePack, toolset: ToolSet, seconds: float) -> engine.Run:
    """``engine.run``; what the second process does not give for any reason, this one works out itself."""
    if len(toolset.tools) < WORTH_IT or not may_fork():
        return engine.run(pack, toolset, seconds)
    middle = len(toolset.tools) // 2
    pipe, writer = os.pipe()
    child = os.fork()
    if not child:
        _work(pack, toolset, seconds, middle, writer)
    os.close(writer)
    try:
        with open(pipe, "rb") as file:  # noqa: PTH123
            first = engine.run(pack, toolset, seconds, slice(0, middle))
            received = file.read()
    finally:
        _, status = os.waitpid(child, 0)
    from pickle import loads

    rest = slice(middle, None)
    second = engine.run(pack, toolset, seconds, rest) if status else engine.Run(*loads(received))
    of_tools = [finding for finding in first.findings if finding.tool is not None]
    of_set = [finding for finding in first.findings if finding.tool is None]
    return engine.Run([*of_tools, *second.findings, *of_set], [*first.errors, *second.errors], second.notes)


def may_fork() -> bool:
    """Linux with a second core, outside a daemon or a program of several threads, in which a fork can hang."""
    if sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2:
        return False
    threading = sys.modules.get("threading")
    processes = sys.modules.get("multiprocessing.process")
    return (threading is None or threading.active_count() == 1) and (
        processes is None or processes.parent_process() is None
    )


def _work(pack: RulePack, toolset: ToolSet, seconds: float, middle: int, writer: int) -> None:
    """What the second process does; it never returns."""
    from pickle import dumps

    status = 1
    try:
        result = engine.run(pack, toolset, seconds, slice(middle, None))
        data = dumps((result.findings, result.errors, toolset.notes))
        with open(writer, "wb") as file:
            file.write(data)
        status = 0
    finally:
        os._exit(status)
