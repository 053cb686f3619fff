"""A run as a process: a second one, signals, terminals, outputs that take nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hostile import CONFIG, dowbench, one_error, start
from plans import Wrapped, make_plan, run_plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dowbench_benchmark.model import Request

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths, signals, limits and devices of POSIX")


def test_a_second_run_is_refused_with_the_holder_s_name(plan: Path) -> None:
    """The first waits in a call for as long as the others take."""
    refused: list[str] = []
    command = ("run", "plan.yaml", "--out", "out")

    def others(number: int, request: Request) -> None:
        if number == 1:
            refused.extend(one_error(dowbench(plan, *command, *more), 2) for more in ((), ("--break-lock",)))

    made = make_plan(**yaml.safe_load(CONFIG))
    assert run_plan(made, plan / "out", Wrapped(others)).code == 0
    assert len(refused) == 2
    for line in refused:
        assert line.startswith(f"error: another run holds out/run.lock: process {os.getpid()} on ")
        assert line.endswith("which is going on")
    assert not (plan / "out" / "run.lock").exists()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_saves_what_was_done(plan: Path, whole: Path, name: str) -> None:
    process = start(plan, "run", "slow.yaml", "--out", "out", "-q")
    calls = plan / "out" / "calls.jsonl"
    while process.poll() is None and not (calls.exists() and calls.read_bytes().count(b"\n") >= 5):
        time.sleep(0.005)
    process.send_signal(signal.Signals[name])
    _, errors = process.communicate()
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert not (plan / "out" / "run.lock").exists()
    recorded = json.loads((plan / "out" / "run.json").read_text())
    assert recorded["complete"] is False
    assert recorded["spent_tokens"] > 0
    done = dowbench(plan, "run", "slow.yaml", "--out", "out", "-q", "--concurrency", "32")
    assert done.returncode == 0, done.stderr
    calls_made = (plan / "out" / "calls.jsonl").read_bytes().count(b"\n")
    assert calls_made == (whole / "calls.jsonl").read_bytes().count(b"\n")


def test_a_terminal_that_is_closed_saves_what_was_done(plan: Path) -> None:
    """The hang-up comes as a signal, and from then on nothing can be printed."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "dowbench", "run", "slow.yaml", "--out", "out"],
        cwd=plan,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=_take_terminal,
    )
    os.close(theirs)
    calls = plan / "out" / "calls.jsonl"
    while process.poll() is None and not (calls.exists() and calls.read_bytes().count(b"\n") >= 5):
        time.sleep(0.005)
    os.close(ours)
    assert process.wait() == 130
    assert not (plan / "out" / "run.lock").exists()
    recorded = json.loads((plan / "out" / "run.json").read_text())
    assert recorded["spent_tokens"] > 0
    done = dowbench(plan, "run", "slow.yaml", "--out", "out", "-q", "--concurrency", "32")
    assert done.returncode == 0, done.stderr


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_nohup_outlives_the_hang_up(plan: Path, whole: Path) -> None:
    process = subprocess.Popen(
        ["nohup", sys.executable, "-m", "dowbench", "run", "slow.yaml", "--out", "out", "-q", "--concurrency", "32"],
        cwd=plan,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while process.poll() is None and not (plan / "out" / "run.json").exists():
        time.sleep(0.005)
    process.send_signal(signal.SIGHUP)
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    assert (plan / "out" / "episodes.jsonl").read_bytes().count(b"\n") == (whole / "episodes.jsonl").read_bytes().count(
        b"\n"
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="/dev/full is not here")  # noqa: PTH110
@pytest.mark.parametrize("command", [("list",), ("estimate", "plan.yaml"), ("audit", "out"), ("report", "out")])
def test_standard_output_that_takes_nothing_is_said(plan: Path, whole: Path, command: tuple[str, ...]) -> None:
    shutil.copytree(whole, plan / "out")
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "dowbench", *command], cwd=plan, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert done.stderr.endswith("error: the report cannot be written to standard output: No space left on device\n")


@pytest.mark.parametrize("command", ["audit", "report"])
@pytest.mark.parametrize("name", ["run.json", "calls.jsonl"])
def test_what_was_read_is_not_written_over(
    here: Callable[..., Any], plan: Path, whole: Path, command: str, name: str
) -> None:
    shutil.copytree(whole, plan / "out")
    line = one_error(here(command, "out", "-o", f"out/{name}"), 2)
    assert f"out/{name}: not written: it is one of the files that were read" in line
    assert (plan / "out" / name).read_bytes() == (whole / name).read_bytes()


def test_a_reader_that_has_had_enough_is_no_error(plan: Path, whole: Path) -> None:
    process = start(plan, "report", str(whole))
    assert process.stdout is not None
    process.stdout.close()
    process.wait()
    assert process.stderr is not None
    assert (process.returncode, process.stderr.read()) == (0, "")
    process.stderr.close()


def test_no_resume_refuses_a_used_directory(plan: Path, whole: Path) -> None:
    shutil.copytree(whole, plan / "out")
    line = one_error(dowbench(plan, "run", "plan.yaml", "--out", "out", "--no-resume"), 2)
    assert "holds a run already" in line
