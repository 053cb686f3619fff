"""Tests of what is shipped. They install tools and start an engine, so they run only when ``run`` asks for them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import engine as engines
import kit
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

collect_ignore_glob = [] if os.environ.get("DOWBENCH_SHIPPING") else ["test_*.py"]


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
            print(f"\nDocker engine {where}; base image {engines.base_name()}: {origin}", file=sys.__stderr__)
            yield found
    except kit.UnavailableError as error:
        message = f"NOT TESTED, no Docker engine could be had: {error}"
        print(f"\n{message}", file=sys.__stderr__)
        pytest.skip(message)


@pytest.fixture(scope="session")
def image(engine: engines.Engine, tree: Path) -> str:
    """The image, built from a fresh clone."""
    tag = "dowbench-shipping:test"
    engine("build", *(("--network", "host") if engine.own else ()), "--tag", tag, tree)
    return tag
