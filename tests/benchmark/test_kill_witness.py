"""A run that is killed for real, again and again, and gone on with: the same summary, and nothing spent unseen.

The provider is a witness: it notes every answer that it gives in a file of its own, which no run can reach.
``DOWBENCH_KILLS`` sets the number of kills, which fall at random instants of the run's writing.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

import pytest
from dowbench_benchmark import ledger, recording

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is of POSIX")
KILLS = int(os.environ.get("DOWBENCH_KILLS", "5"))
SEED = int(os.environ.get("DOWBENCH_KILL_SEED", "20260501"))
LOGS = ("requests.jsonl", "cassette.jsonl", "calls.jsonl", "episodes.jsonl")
WITNESS = """\
import json, os
from dowbench_benchmark.providers.mock import MockProvider

class Witness(MockProvider):
    name = "witness"
    simulated = False

    @classmethod
    def create(cls, options):
        made = cls(latency_s=0.002)
        made.log = os.open(os.environ["WITNESS_LOG"], os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        return made

    def complete(self, request):
        response = super().complete(request)
        os.write(self.log, (json.dumps(response.raw_usage) + "\\n").encode())
        return response
"""
ENTRY_POINTS = """\
[dowbench.providers]
witness = witness:Witness
[dowbench.mappers]
witness = dowbench_benchmark.mappers:counters
"""
CONFIG = """\
run_name: killed
provider: witness
models: [mock-susceptible]
attacks: [stale-copy-01, halves-01, locker-puzzle-01]
defenses: [none, loop_detect]
"""
PRICES = """\
prices:
  - provider: witness
    model: mock-susceptible
    input_per_mtok: 1.0
    output_per_mtok: 5.0
    cache_read_per_mtok: 0.1
    cache_write_per_mtok: 1.25
    max_prompt_tokens: 1000000
    source: https://example.invalid/prices
    retrieved: 2026-11-30
"""


class Bench(NamedTuple):
    """A directory with the witness installed beside dowbench, and a configuration."""

    root: Path

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "dowbench", *arguments]

    def environment(self, name: str) -> dict[str, str]:
        site, log = str(self.root / "site"), str(self.root / f"{name}.log")
        return {**os.environ, "PYTHONPATH": site, "WITNESS_LOG": log, "NO_COLOR": "1"}

    def configure(self, name: str) -> tuple[str, ...]:
        """The ``run`` command line for a run directory ``name``."""
        (self.root / "plan.yaml").write_text(CONFIG, encoding="utf-8")
        prices = self.root / "prices.yaml"
        prices.write_text(PRICES, encoding="utf-8")
        return ("run", "plan.yaml", "--out", name, "--budget-usd", "100", "--prices", str(prices), "-q")

    def call(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            cwd=self.root,
            env=self.environment(name),
            capture_output=True,
            text=True,
            check=False,
        )

    def written(self, name: str) -> int:
        """Bytes in the logs of a run."""
        return sum(path.stat().st_size for log in LOGS if (path := self.root / name / log).exists())

    def billed(self, name: str) -> list[int]:
        """Tokens of each answer that the witness gave."""
        path = self.root / f"{name}.log"
        return [sum(json.loads(line).values()) for line in path.read_text().splitlines()] if path.exists() else []

    def kill(self, arguments: tuple[str, ...], name: str, size: int) -> bool:
        """Start a run and kill it as soon as its logs hold ``size`` bytes; False when it ended before."""
        process = subprocess.Popen(
            self.command(*arguments),
            cwd=self.root,
            env=self.environment(name),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        while process.poll() is None:
            if (self.root / name / "run.lock").exists() and self.written(name) >= size:
                process.send_signal(signal.SIGKILL)
                break
            time.sleep(0.0005)
        _, errors = process.communicate()
        assert process.returncode in (-signal.SIGKILL, 0), errors.decode()
        return process.returncode != 0


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    root = tmp_path_factory.mktemp("bench")
    info = root / "site" / "witness-1.0.dist-info"
    info.mkdir(parents=True)
    (root / "site" / "witness.py").write_text(WITNESS, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: witness\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    return Bench(root)


@pytest.fixture(scope="module")
def whole(bench: Bench) -> str:
    """The name of a run that nobody interrupts."""
    done = bench.call("whole", *bench.configure("whole"))
    assert done.returncode == 0, done.stderr
    return "whole"


@pytest.mark.parametrize("concurrency", [1, 4])
def test_kill_and_go_on(bench: Bench, whole: str, concurrency: int) -> None:
    name = f"killed-{concurrency}"
    arguments = (*bench.configure(name), "--concurrency", str(concurrency))
    chance = random.Random(SEED + concurrency)
    total = bench.written(whole)
    kills = 0
    for attempt in range(KILLS):
        left = total - bench.written(name)
        size = 0 if attempt == 0 else bench.written(name) + int(chance.random() * 2 * left / (KILLS - attempt + 1))
        if not bench.kill(arguments, name, size):
            break
        kills += 1
        assert not (bench.root / name / "summary.json").exists() or attempt == KILLS - 1
    assert kills >= KILLS // 2

    done = bench.call(name, *arguments)
    assert done.returncode == 0, done.stderr
    summary = (bench.root / name / "summary.json").read_bytes()
    assert summary == (bench.root / whole / "summary.json").read_bytes()

    recorded = json.loads((bench.root / name / "run.json").read_text())
    billed = bench.billed(name)
    assert recorded["complete"] is True
    assert recorded["spent_tokens"] >= sum(billed)
    assert len(billed) <= len(bench.billed(whole)) + kills * concurrency

    for command in ("audit", "replay"):
        again = bench.call(name, command, name)
        assert again.returncode == 0, again.stderr
        assert "equal" in again.stdout


def test_the_lock_of_a_killed_run_is_taken_over_and_said(bench: Bench, whole: str) -> None:
    arguments = bench.configure("locked")
    assert bench.kill(arguments, "locked", bench.written(whole) // 3)
    pid = json.loads((bench.root / "locked" / "run.lock").read_text())["pid"]
    done = bench.call("locked", *arguments)
    assert done.returncode == 0, done.stderr
    assert f"note: locked/run.lock: taken over from process {pid} on " in done.stderr
    assert not (bench.root / "locked" / "run.lock").exists()


def test_spend_is_counted_while_a_call_is_in_flight(bench: Bench, whole: str) -> None:
    """After each kill, before anything goes on: what the witness billed is covered by what the files say."""
    arguments = bench.configure("flight")
    chance = random.Random(SEED)
    for _ in range(3):
        size = bench.written("flight") + int(chance.random() * bench.written(whole) / 4)
        if not bench.kill(arguments, "flight", size):
            break
        earlier = recording.read(bench.root / "flight", {})
        spent = ledger.spent([*earlier.calls, *earlier.unbilled], earlier.sent, {})
        assert spent.tokens >= sum(bench.billed("flight"))
