"""Tests of what is shipped. They install tools and start an engine, so they run only when ``run`` asks for them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import engine as engines
import kit
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_SAID: list[str] = []

collect_ignore_glob = [] if os.environ.get("DOWBENCH_SHIPPING") else ["test_*.py"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What the tests measured, and what could not be tested, whether or not all passed."""
    for line in _SAID:
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def say() -> Callable[[str], None]:
    """Add a line to the end of the output: a figure that decides no test."""
    return _SAID.append


@pytest.fixture(scope="session")
def tools() -> Path:
    """Folder of the programs that ``requirements.txt`` names."""
    try:
        return kit.python_tools()
    except kit.UnavailableError as error:
        pytest.skip(f"the tools cannot be installed: {error}")


@pytest.fixture(scope="session")
def multitool() -> Path:
    """The SARIF multitool."""
    try:
        return kit.multitool()
    except kit.UnavailableError as error:
        pytest.skip(f"the SARIF multitool cannot be installed: {error}")


@pytest.fixture(scope="session")
def strace() -> tuple[str, ...]:
    """The command that writes down the system calls of another."""
    try:
        return kit.strace()
    except kit.UnavailableError as error:
        _SAID.append(f"NOT TESTED: system calls of a scan, as strace cannot be used: {error}")
        pytest.skip(f"strace cannot be used: {error}")


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh clone of the repository."""
    return kit.fresh_tree(tmp_path_factory.mktemp("clone") / "dowbench")


@pytest.fixture(scope="session")
def engine() -> Iterator[engines.Engine]:
    """A Docker engine with the base image in it."""
    try:
        with engines.running() as found:
            origin = engines.base(found)
            where = "started from Debian's packages" if found.own else "that was running"
            _SAID.append(f"Docker engine {where}; base image {engines.base_name()}: {origin}")
            yield found
    except kit.UnavailableError as error:
        _SAID.append(f"NOT TESTED: image, Action and workflow runs, as no Docker engine could be had: {error}")
        pytest.skip(f"no Docker engine could be had: {error}")


@pytest.fixture(scope="session")
def image(engine: engines.Engine, tree: Path) -> str:
    """The image, built from a fresh clone."""
    tag = "dowbench-shipping:test"
    engine("build", *(("--network", "host") if engine.own else ()), "--tag", tag, tree)
    return tag
