"""A small run that goes well, what damages it, and the command line that is to say so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dowbench import cli

if TYPE_CHECKING:
    from collections.abc import Callable


CONFIG = """\
run_name: hostile
provider: mock
models: [mock-susceptible]
attacks: [stale-copy-01, locker-puzzle-01]
defenses: [none, turn_limit]
"""

SLOW = CONFIG + "provider_options: {latency_s: 0.2}\n"
"""A run of some ten seconds, which is never waited for."""

LOGS = ("requests.jsonl", "cassette.jsonl", "calls.jsonl", "episodes.jsonl")


def start(cwd: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "dowbench", *arguments],
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def dowbench(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    process = start(cwd, *arguments)
    out, errors = process.communicate()
    return subprocess.CompletedProcess(arguments, process.returncode, out, errors)


def one_error(done: subprocess.CompletedProcess[str], code: int) -> str:
    """The single line of an expected error."""
    assert done.returncode == code, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    found = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(found) == 1, done.stderr
    return found[0]


@pytest.fixture
def here(plan: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """The command line in this process, for what ends before a run begins."""
    monkeypatch.chdir(plan)

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main(arguments)
        out, errors = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, int(ended.value.code or 0), out, errors)

    return call


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    (tmp_path / "plan.yaml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "slow.yaml").write_text(SLOW, encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a run that went well."""
    root = tmp_path_factory.mktemp("whole")
    (root / "plan.yaml").write_text(CONFIG, encoding="utf-8")
    done = dowbench(root, "run", "plan.yaml", "--out", "out")
    assert done.returncode == 0, done.stderr
    return root / "out"


@pytest.fixture
def out(plan: Path, whole: Path) -> Path:
    """A copy of that directory, to be damaged."""
    return Path(shutil.copytree(whole, plan / "out"))
