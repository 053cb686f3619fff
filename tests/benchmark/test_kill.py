"""Kill −9 at any instant. ``python tests/benchmark/test_kill.py 30`` tries more of them than the suite does."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from dowbench_benchmark import recording, runner, store
from plans import Wrapped, files, make_plan, run_plan

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is of POSIX")
LATENCY_S = 0.004
CONFIG = f"""run_name: killed
provider: mock
provider_options: {{latency_s: {LATENCY_S}}}
models: [mock-susceptible]
attacks: [stale-copy-01, open-cursor-01]
defenses: [none, turn_limit]
"""
CHANGES = {"run_name": "killed", "provider_options": {"latency_s": LATENCY_S}}


def start(directory: Path, concurrency: int) -> subprocess.Popen[bytes]:
    config = directory.parent / "killed.yaml"
    config.write_text(CONFIG)
    program = "import sys; from dowbench.cli import main; main(sys.argv[1:])"
    arguments = ["run", str(config), "--out", str(directory), "--concurrency", str(concurrency), "-q"]
    return subprocess.Popen([sys.executable, "-c", program, *arguments], stdout=subprocess.DEVNULL)


def check_kill(folder: Path, whole: Path, instant: int | float, concurrency: int) -> str:
    """Kill a run after ``instant`` recorded calls, or seconds since its first file; resume it, and compare."""
    directory = folder / "run"
    process = start(directory, concurrency)
    if isinstance(instant, int):
        while process.poll() is None and len(store.lines(directory / store.CALLS)) < instant:
            time.sleep(0.001)
    else:
        while process.poll() is None and not (directory / store.RUN).exists():
            time.sleep(0.001)
        time.sleep(instant)
    process.send_signal(signal.SIGKILL)
    process.wait()
    made = make_plan(**CHANGES)
    directory.mkdir(exist_ok=True)
    before = recording.read(directory, made.prices)
    answered = {call.key for call in before.every_call}
    in_flight = [sent for sent in before.sent if sent.key not in answered]
    known = runner.spent_before(made, before).tokens
    recorded = sum(call.usage.total for call in before.every_call if call.usage)
    assert len(in_flight) <= concurrency
    # What may have been billed without a trace is counted with the most it can be.
    assert known == recorded + sum(sent.counted + sent.max_tokens for sent in in_flight)
    provider = Wrapped(latency_s=LATENCY_S)
    result = run_plan(made, directory, provider)
    assert result.code == 0
    assert files(directory)["summary.json"] == files(whole)["summary.json"]
    assert files(directory)["calls.jsonl"].count(b"\n") == files(whole)["calls.jsonl"].count(b"\n")
    # Nothing that was answered is asked again: only the calls in flight are.
    assert provider.calls == len(store.lines(whole / store.CALLS)) - len(answered)
    if not in_flight:
        assert files(directory) == files(whole)
    assert process.returncode in (0, -signal.SIGKILL)
    return f"{len(answered)} answered, {len(in_flight)} in flight, {len(before.episodes)} episodes"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("whole")
    run_plan(make_plan(**CHANGES), directory, Wrapped(latency_s=LATENCY_S))
    return directory


@pytest.mark.parametrize(("instant", "concurrency"), [(0, 1), (1, 1), (7, 1), (30, 4), (51, 1)])
def test_a_killed_run_goes_on_as_if_nothing_had_happened(
    tmp_path: Path, whole: Path, instant: int, concurrency: int
) -> None:
    check_kill(tmp_path, whole, instant, concurrency)


def main(times: int) -> None:
    """Kill at random instants over the length of a run."""
    chance = random.Random(os.environ.get("SEED"))
    with tempfile.TemporaryDirectory() as folder:
        reference = Path(folder) / "whole"
        run_plan(make_plan(**CHANGES), reference, Wrapped(latency_s=LATENCY_S))
        for number in range(times):
            place = Path(folder) / str(number)
            place.mkdir()
            concurrency = chance.choice([1, 1, 4])
            instant = chance.uniform(0, 0.3)
            said = check_kill(place, reference, instant, concurrency)
            print(f"{number + 1}: killed after {instant:.3f} s, concurrency {concurrency}: {said}; equal")  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
