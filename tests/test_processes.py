"""Files scanned by several processes, and what becomes of one that dies."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest
from workbench import PROBE, tool, write

from dowbench import parallel, scanfile
from dowbench.config import Config
from dowbench.discover import discover
from dowbench.globs import Globs
from dowbench.plan import make_plan
from dowbench.scanfile import Job, scan_file

if TYPE_CHECKING:
    from pathlib import Path

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX files")


def many(folder: Path) -> None:
    for n in range(30):
        write(folder / "many" / f"{n}.json", tool(f"probe_{n}", knob=bool(n % 2)))
    (folder / "many" / "broken.json").write_text('[{"input_schema"', encoding="utf-8")
    (folder / "many" / "other.json").write_text("{}", encoding="utf-8")
    write(folder / "many" / "ignored.json", tool(**{"x-dowbench-ignore": ["all", "probe-set"]}))


def test_several_processes_say_the_same_as_one(folder, probe, monkeypatch):
    many(folder)
    one = probe("many")
    assert (one.code, len(one.found)) == (2, 45)
    used = []

    def in_processes(*arguments, **options):
        used.append(arguments[2])
        return real(*arguments, **options)

    real = parallel.in_processes
    monkeypatch.setattr(parallel, "in_processes", in_processes)
    monkeypatch.setattr(parallel, "WORTH_IT", 0)
    monkeypatch.setattr(parallel, "cores", lambda: 3)
    monkeypatch.setattr(parallel, "may_fork", lambda: True)
    assert probe("many") == one
    assert used == [3]


@pytest.mark.parametrize("forks", [pytest.param(True, marks=posix), False])
def test_processes_of_every_kind(folder, forks):
    many(folder)
    plan = make_plan(Config(rule_packs=(str(PROBE),), select=("probe-tool",)))
    jobs = [Job(target) for target in discover(["many"], exclude=Globs((), folder)).targets]
    assert parallel.in_processes(jobs, plan, 2, forks=forks) == [scan_file(job, plan) for job in jobs]


@posix
def test_a_process_that_is_killed_loses_the_file_that_it_had_in_hand_and_no_other(folder, probe, monkeypatch):
    many(folder)
    alone = probe("many")
    deadly = alone.json["files"][7]["path"]

    def scan(job, plan):
        return os.kill(os.getpid(), signal.SIGKILL) if job.target.path == deadly else scan_file(job, plan)

    monkeypatch.setattr(parallel, "WORTH_IT", 0)
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    monkeypatch.setattr(parallel, "may_fork", lambda: True)
    monkeypatch.setattr(parallel, "scan_file", scan)
    run = probe("many")
    assert run.code == 2
    message = "the process that scanned it was killed; did it take too much memory?"
    assert (deadly, message) in [(error["path"], error["message"]) for error in run.json["errors"]]
    assert [f for f in alone.found if not f[1].startswith(f"{deadly}:")] == run.found
    assert len(run.json["files"]) == len(alone.json["files"]) - 1


def test_a_file_for_which_the_memory_is_not_enough(folder, probe, monkeypatch):
    write(folder / "a.json", tool("probe_a"))
    write(folder / "b.json", tool("probe_b"))
    real = scanfile.source.read

    def read(path, *arguments, **options):
        if path == "a.json":
            raise MemoryError
        return real(path, *arguments, **options)

    monkeypatch.setattr(scanfile.source, "read", read)
    run = probe("a.json", "b.json")
    assert (run.code, run.err) == (2, "error: a.json: there is not enough memory to scan it\n")
    assert [found[2] for found in run.found] == ["probe_b"]
