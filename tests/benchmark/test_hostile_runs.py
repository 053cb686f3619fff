"""What goes wrong around a run ends in one line and the documented exit code, and loses nothing that was recorded."""

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
from dowbench_benchmark import lock
from plans import Wrapped, make_plan, run_plan

from dowbench import cli

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from dowbench_benchmark.model import Request

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths, signals, limits and devices of POSIX")

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


def one_error(done: subprocess.CompletedProcess[str], code: int) -> str:
    """The single line of an expected error."""
    assert done.returncode == code, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    found = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(found) == 1, done.stderr
    return found[0]


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    (tmp_path / "plan.yaml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "slow.yaml").write_text(SLOW, encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a run that went well."""
    root = tmp_path_factory.mktemp("whole")
    (root / "plan.yaml").write_text(CONFIG, encoding="utf-8")
    done = dowbench(root, "run", "plan.yaml", "--out", "out")
    assert done.returncode == 0, done.stderr
    return root / "out"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 KiB, a real one where the tests may mount it."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    options = ["-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if not mount or subprocess.run([mount, *options], capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


# --------------------------------------------------------------------------------------------------- files


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("rest", [b'{"half', b"\x00\x00"])
def test_a_torn_last_line_is_put_aside_and_said(plan: Path, whole: Path, log: str, rest: bytes) -> None:
    out = plan / "out"
    shutil.copytree(whole, out)
    (out / "summary.json").unlink()
    run = json.loads((out / "run.json").read_text())
    (out / "run.json").write_text(json.dumps({**run, "complete": False, "files": {}}))
    rows = (out / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    (out / "episodes.jsonl").write_bytes(b"".join(rows[:-2]))
    with (out / log).open("ab") as file:
        file.write(rest)
    done = dowbench(plan, "run", "plan.yaml", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert (out / "summary.json").read_bytes() == (whole / "summary.json").read_bytes()
    assert not (out / log).read_bytes().endswith(rest)
    said = f"note: out/{log}: cut a torn last line of {len(rest)} bytes, which out/{log}.torn keeps"
    assert said in done.stderr
    assert (out / f"{log}.torn").read_bytes() == rest + b"\n"


@pytest.mark.parametrize("log", LOGS)
def test_a_last_line_that_says_nothing_is_located_and_nothing_is_touched(plan: Path, whole: Path, log: str) -> None:
    out = plan / "out"
    shutil.copytree(whole, out)
    with (out / log).open("ab") as file:
        file.write(b"{}")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    number = before[log].count(b"\n") + 1
    assert f"error: out/{log}:{number}: the key " in one_error(dowbench(plan, "run", "plan.yaml", "--out", "out"), 2)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize("log", LOGS)
def test_a_broken_line_in_the_middle_is_located_and_nothing_is_touched(plan: Path, whole: Path, log: str) -> None:
    out = plan / "out"
    shutil.copytree(whole, out)
    rows = (out / log).read_bytes().splitlines(keepends=True)
    broken = b"".join([*rows[:2], b'{"half\n', *rows[2:]])
    (out / log).write_bytes(broken)
    line = one_error(dowbench(plan, "run", "plan.yaml", "--out", "out"), 2)
    assert f"{log}:3: " in line
    assert (out / log).read_bytes() == broken
    assert not (out / "run.lock").exists()


@pytest.mark.parametrize("log", LOGS)
def test_a_torn_line_of_a_finished_run_is_said_by_every_command(
    here: Callable[..., Any], plan: Path, whole: Path, log: str
) -> None:
    out = plan / "out"
    shutil.copytree(whole, out)
    (out / log).write_bytes((out / log).read_bytes()[:-20])
    torn = f"out/{log}: the last line has no end"
    assert torn in one_error(here("replay", "out"), 2)
    audit = here("audit", "out")
    assert (audit.returncode, torn in audit.stderr) == (1, True)
    assert torn.capitalize() in here("report", "out").stdout.replace("\\", "")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    said = one_error(here("run", "plan.yaml", "--out", "out"), 2)
    assert said.startswith(f"error: out/{log}: the last line has no end and is no row ("), said
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize("log", LOGS)
def test_a_whole_last_row_of_a_finished_run_gets_its_end_back(
    here: Callable[..., Any], plan: Path, whole: Path, log: str
) -> None:
    out = plan / "out"
    shutil.copytree(whole, out)
    (out / log).write_bytes((out / log).read_bytes()[:-1])
    audit = here("audit", "out")
    assert audit.returncode == 1
    assert f"different: out/{log}: the last line has no end; it is a whole row\n" in audit.stderr
    done = here("run", "plan.yaml", "--out", "out")
    assert done.returncode == 0
    assert f"note: out/{log}: the last line had no end; it is a whole row and has one now" in done.stderr
    assert {path.name: path.read_bytes() for path in out.iterdir()} == {
        path.name: path.read_bytes() for path in whole.iterdir()
    }
    assert here("replay", "out").returncode == 0


@pytest.mark.parametrize("log", LOGS)
def test_a_row_that_a_finished_run_has_lost_is_said(
    here: Callable[..., Any], plan: Path, whole: Path, log: str
) -> None:
    out = plan / "out"
    shutil.copytree(whole, out)
    rows = (out / log).read_bytes().splitlines(keepends=True)
    (out / log).write_bytes(b"".join(rows[:-1]))
    assert f"out/{log}" in one_error(here("replay", "out"), 2)
    audit = here("audit", "out")
    assert audit.returncode == 1
    assert f"different: out/{log}: " in audit.stderr


def test_no_row_of_a_recording_is_lost_unnoticed(here: Callable[..., Any], plan: Path, whole: Path) -> None:
    """Messages, tool lists, requests, counts and answers; and no row is one too many or another one."""
    rows = (whole / "cassette.jsonl").read_bytes().splitlines(keepends=True)
    kinds: dict[Any, int] = {}
    for number, row in enumerate(rows):
        value = json.loads(row)
        kinds.setdefault((value["kind"], len(value["digest"]), isinstance(value.get("value"), list)), number)
    assert len(kinds) == 5
    for number in kinds.values():
        for name, left in (("lost", b""), ("twice", rows[number] * 2)):
            out = plan / f"{name}{number}"
            shutil.copytree(whole, out)
            (out / "cassette.jsonl").write_bytes(b"".join([*rows[:number], left, *rows[number + 1 :]]))
            audit = here("audit", out.name)
            said = f"{out.name}/cassette.jsonl: is not as the run left it when it was done"
            assert (audit.returncode, f"different: {said}\n" in audit.stderr) == (1, True)
            assert "cassette.jsonl" in one_error(here("replay", out.name, "--out", "again"), 2)
            assert said in one_error(here("run", "plan.yaml", "--out", out.name), 2)


@pytest.mark.parametrize("name", ["summary.json", "stats.json"])
def test_results_that_a_finished_run_has_lost_are_said(
    here: Callable[..., Any], plan: Path, whole: Path, name: str
) -> None:
    out = plan / "out"
    shutil.copytree(whole, out)
    (out / name).unlink()
    assert f"out/{name}: is missing" in one_error(here("replay", "out"), 2)
    audit = here("audit", "out")
    assert (audit.returncode, f"different: out/{name}: is missing\n" in audit.stderr) == (1, True)
    assert here("run", "plan.yaml", "--out", "out").returncode == 0
    assert (out / name).read_bytes() == (whole / name).read_bytes()
    assert here("audit", "out").returncode == 0


@pytest.mark.parametrize("change", [lambda data: data[:-100], lambda data: data.replace(b"0.", b"1.", 1)])
def test_statistics_that_were_changed_are_said(
    here: Callable[..., Any], plan: Path, whole: Path, change: Callable[[bytes], bytes]
) -> None:
    out = plan / "out"
    shutil.copytree(whole, out)
    data = (out / "stats.json").read_bytes()
    assert change(data) != data
    (out / "stats.json").write_bytes(change(data))
    said = "out/stats.json: is not as the run left it when it was done"
    assert said in one_error(here("replay", "out"), 2)
    audit = here("audit", "out")
    assert (audit.returncode, f"different: {said}\n" in audit.stderr) == (1, True)


@pytest.mark.parametrize("log", ["cassette.jsonl", "requests.jsonl"])
def test_a_run_does_not_hide_what_was_lost(here: Callable[..., Any], plan: Path, whole: Path, log: str) -> None:
    out = plan / "out"
    shutil.copytree(whole, out)
    (out / log).unlink()
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert f"error: out/{log}: is missing, and the run was done" in one_error(
        here("run", "plan.yaml", "--out", "out"), 2
    )
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert here("audit", "out").returncode == 1


def test_a_run_that_was_stopped_does_not_hide_a_lost_recording(
    here: Callable[..., Any], plan: Path, whole: Path
) -> None:
    out = plan / "out"
    shutil.copytree(whole, out)
    (out / "summary.json").unlink()
    run = json.loads((out / "run.json").read_text())
    (out / "run.json").write_text(json.dumps({**run, "complete": False, "files": {}}))
    rows = (out / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    (out / "episodes.jsonl").write_bytes(b"".join(rows[:-2]))
    (out / "cassette.jsonl").unlink()
    attempt = json.loads(rows[0])["attempt"]
    said = f"error: out/cassette.jsonl: lacks the answer to call 1 of attempt {attempt}"
    assert said in one_error(here("run", "plan.yaml", "--out", "out"), 2)
    assert not (out / "cassette.jsonl").exists()


def test_changed_calls_stay_a_difference_when_the_run_is_gone_over(
    here: Callable[..., Any], plan: Path, whole: Path
) -> None:
    out = plan / "out"
    shutil.copytree(whole, out)
    data = (out / "calls.jsonl").read_bytes()
    (out / "calls.jsonl").write_bytes(data.replace(b'"latency_s":0.', b'"latency_s":9.', 1))
    assert here("run", "plan.yaml", "--out", "out").returncode == 0
    said = "different: out/calls.jsonl: is not as the run left it when it was done\n"
    assert said in here("audit", "out").stderr


def test_a_finished_run_that_noted_no_digests(here: Callable[..., Any], plan: Path, whole: Path) -> None:
    """As runs did before there were any: nobody makes them up later, and the commands say what cannot be seen."""
    out = plan / "out"
    shutil.copytree(whole, out)
    run = json.loads((out / "run.json").read_text())
    del run["files"]
    (out / "run.json").write_text(json.dumps(run))
    said = "note: out/run.json: says no sha256 of the run's files, so what was changed in them since shows only where"
    for _ in range(2):
        for command in ("audit", "replay"):
            done = here(command, "out")
            assert (done.returncode, done.stderr.count(said)) == (0, 1), done.stderr
        assert here("run", "plan.yaml", "--out", "out").returncode == 0
        assert json.loads((out / "run.json").read_text())["files"] == {}


def test_reading_needs_no_lock_and_touches_nothing(here: Callable[..., Any], plan: Path, whole: Path) -> None:
    out = plan / "out"
    shutil.copytree(whole, out)
    with lock.held(out):
        before = {path.name: path.read_bytes() for path in out.iterdir()}
        for command in ("audit out", "replay out", "report out", "estimate plan.yaml --out out"):
            assert here(*command.split()).returncode == 0, command
        assert {path.name: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize("log", LOGS)
def test_a_log_that_a_finished_run_has_lost_is_said(
    here: Callable[..., Any], plan: Path, whole: Path, log: str
) -> None:
    out = plan / "out"
    shutil.copytree(whole, out)
    (out / log).unlink()
    assert log in one_error(here("replay", "out"), 2)
    audit = here("audit", "out")
    # Without its episodes nothing can be recomputed; the rest of a run is compared with what is left.
    code, said = (2, "has no episodes") if log == "episodes.jsonl" else (1, "is missing")
    assert (audit.returncode, f"out/{log}: {said}\n" in audit.stderr) == (code, True), audit.stderr


def test_a_run_whose_episodes_were_cut_is_no_success(here: Callable[..., Any], plan: Path, whole: Path) -> None:
    """The summary is kept, and the run says that it is complete or does not."""
    out = plan / "out"
    shutil.copytree(whole, out)
    rows = (out / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    (out / "episodes.jsonl").write_bytes(b"".join(rows[:-3]))
    for complete in (True, False):
        run = json.loads((out / "run.json").read_text())
        (out / "run.json").write_text(json.dumps({**run, "complete": complete}))
        said = f"out/episodes.jsonl: has {len(rows) - 3} of {len(rows)} planned episodes, and the run was done"
        assert said in one_error(here("replay", "out"), 2)
        audit = here("audit", "out")
        assert (audit.returncode, said in audit.stderr) == (1, True)
    (out / "summary.json").unlink()
    replayed = here("replay", "out")
    assert replayed.returncode == 0
    assert f"{len(rows) - 3} episodes replayed without a difference; 3 are not recorded yet" in replayed.stdout


def test_a_replay_in_part_leaves_no_summary_of_a_whole_one(here: Callable[..., Any], plan: Path, whole: Path) -> None:
    out = plan / "out"
    shutil.copytree(whole, out)
    assert here("replay", "out", "--out", "again").returncode == 0
    rows = (out / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    (out / "episodes.jsonl").write_bytes(b"".join(rows[:-3]))
    run = json.loads((out / "run.json").read_text())
    (out / "run.json").write_text(json.dumps({**run, "complete": False}))
    (out / "summary.json").unlink()
    assert here("replay", "out", "--out", "again").returncode == 0
    assert not (plan / "again" / "summary.json").exists()
    assert not (plan / "again" / "stats.json").exists()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"format": 2}', b"\xff"])
def test_a_broken_run_file_is_named(plan: Path, whole: Path, content: bytes) -> None:
    out = plan / "out"
    shutil.copytree(whole, out)
    (out / "run.json").write_bytes(content)
    for command in ("replay", "audit"):
        assert "run.json" in one_error(dowbench(plan, command, "out"), 2)


def test_a_full_disk_loses_nothing(plan: Path, small_disk: Path, whole: Path) -> None:
    out = small_disk / "out"
    line = one_error(dowbench(plan, "run", "plan.yaml", "--out", str(out)), 2)
    assert "cannot be written: No space left on device; what was recorded is safe" in line
    assert not (out / "run.lock").exists()
    for log in LOGS:
        if (out / log).exists():
            assert (out / log).read_bytes()[-1:] in (b"", b"\n")
    subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True)
    done = dowbench(plan, "run", "plan.yaml", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert (out / "summary.json").read_bytes() == (whole / "summary.json").read_bytes()


def test_a_log_that_may_not_grow_stops_the_run(plan: Path, whole: Path) -> None:
    """As a full disk, where none can be mounted: the system refuses to make any file longer than 20,000 bytes."""
    limited = "import resource, runpy; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)); "
    limited += "runpy.run_module('dowbench', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", limited, "run", "plan.yaml", "--out", "out"],
        cwd=plan,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "cannot be written: File too large; what was recorded is safe" in one_error(done, 2)
    assert not (plan / "out" / "run.lock").exists()
    done = dowbench(plan, "run", "plan.yaml", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert (plan / "out" / "summary.json").read_bytes() == (whole / "summary.json").read_bytes()


def test_a_read_only_directory(plan: Path) -> None:
    place = plan / "readonly"
    place.mkdir()
    if os.geteuid() == 0:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(place)], capture_output=True, check=False
        )
        if mounted.returncode:
            pytest.skip("root can write everywhere, and no file system can be mounted here")
    else:
        place.chmod(0o555)
    try:
        for out in (place, place / "new"):
            line = one_error(dowbench(plan, "run", "plan.yaml", "--out", str(out)), 2)
            assert str(place) in line
            assert "Read-only file system" in line or "Permission denied" in line
    finally:
        if os.geteuid() == 0:
            subprocess.run(["umount", str(place)], check=True)


def test_a_directory_that_cannot_be_made(plan: Path) -> None:
    assert "plan.yaml: is no directory" in one_error(dowbench(plan, "run", "plan.yaml", "--out", "plan.yaml"), 2)
    line = one_error(dowbench(plan, "run", "plan.yaml", "--out", "plan.yaml/out"), 2)
    assert "plan.yaml/out: cannot be made: Not a directory" in line


def test_a_run_directory_is_not_replayed_onto_itself_or_another(plan: Path, whole: Path) -> None:
    before = {path.name: path.read_bytes() for path in whole.iterdir()}
    one_error(dowbench(plan, "replay", str(whole), "--out", str(whole)), 2)
    assert {path.name: path.read_bytes() for path in whole.iterdir()} == before


# ------------------------------------------------------------------------------------------------- two runs


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


# --------------------------------------------------------------------------------------------- configurations


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "stale-copy-01",
            "stale-copy-1",
            ":4:11: unknown attack 'stale-copy-1'; did you mean 'stale-copy-01'? known",
        ),
        (
            "turn_limit",
            "turn_limits",
            ":5:18: unknown defense 'turn_limits'; did you mean 'turn_limit'? known",
        ),
        ("[none, ", "[", ":5:1: defenses: 'none' is missing"),
        ("none, turn_limit", "none, none", ":5:18: defenses[1]: two defenses have the label 'none'"),
        ("mock-susceptible", "gpt-9", ":3:10: "),
        ("provider: mock", "provider: mocks", ":2:1: "),
        ("run_name: hostile\n", "", ":1:1: the key 'run_name' is missing"),
        ("run_name:", "runname:", ":1:1: runname: unknown key; did you mean 'run_name'? known here: run_name"),
        ("[stale-copy-01", "[stale-copy-01, [", ": broken YAML: "),
        ("attacks:", "benign_tasks: [nothing]\nattacks:", ":4:16: unknown task 'nothing'; known: returns-window"),
        ("attacks:", "success_threshold: 1.0\nattacks:", ":4:1: success_threshold: expected a finite number above 1"),
        ("attacks:", "success_threshold: .nan\nattacks:", ":4:1: success_threshold: expected a finite number"),
        ("attacks:", "scenario: moon\nattacks:", ":4:1: unknown scenario 'moon'; known: parts-desk"),
        ("attacks:", "paraphrases: 4\nattacks:", ":4:1: "),
        ("attacks:", "repeats: 0\nattacks:", ":4:1: repeats: expected a whole number from 1 to "),
        ("attacks:", "concurrency: 0\nattacks:", ":4:1: concurrency: expected a whole number"),
        ("attacks:", "ceiling: {max_turns: 0}\nattacks:", ":4:11: ceiling.max_turns: expected a whole number"),
        ("turn_limit", "{name: turn_limit, params: {max_turns: 0}}", ": defense 'turn_limit': max_turns: expected"),
        ("turn_limit", "{name: turn_limit, params: {turns: 3}}", ": defense 'turn_limit' has no parameter 'turns'"),
    ],
)
def test_a_wrong_configuration_is_located(here: Callable[..., Any], plan: Path, old: str, new: str, said: str) -> None:
    assert old in CONFIG
    (plan / "plan.yaml").write_text(CONFIG.replace(old, new), encoding="utf-8")
    for command in ("run", "estimate"):
        line = one_error(here(command, "plan.yaml", "--out", "out"), 2)
        assert "plan.yaml:" in line
        assert said in line
    assert not (plan / "out").exists()


@pytest.mark.parametrize("budget", ["nan", "-1", "inf", "-0.01", "1e999", "many"])
@pytest.mark.parametrize("option", ["--budget-usd", "--budget-tokens"])
def test_a_budget_that_is_no_number_is_refused(here: Callable[..., Any], plan: Path, option: str, budget: str) -> None:
    done = here("run", "plan.yaml", "--out", "out", option, budget)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert not (plan / "out" / "calls.jsonl").exists()


def test_a_budget_that_does_not_cover_the_worst_case_is_refused_before_anything_is_sent(plan: Path) -> None:
    line = one_error(dowbench(plan, "run", "plan.yaml", "--out", "out", "--budget-usd", "0.01"), 2)
    assert "does not cover" in line
    assert not (plan / "out" / "calls.jsonl").exists()
    stopped = dowbench(plan, "run", "plan.yaml", "--out", "out", "--budget-usd", "0.01", "--partial")
    assert stopped.returncode == 3, stopped.stderr
    assert json.loads((plan / "out" / "run.json").read_text())["spent_usd"] <= 0.01
    assert dowbench(plan, "run", "plan.yaml", "--out", "out", "--budget-usd", "10").returncode == 0


def test_a_folder_does_not_hide_a_shipped_configuration(here: Callable[..., Any], plan: Path) -> None:
    (plan / "smoke").mkdir()
    assert here("estimate", "smoke").returncode == 0
    (plan / "mine").mkdir()
    for name in ("./smoke", "mine"):
        assert f"{name}: is a folder, and no configuration of that name" in one_error(here("run", name), 2)


def test_a_run_that_was_meant_is_named(here: Callable[..., Any], plan: Path, whole: Path) -> None:
    shutil.copytree(whole, plan / "runs" / "mine")
    for command in ("replay", "audit", "report"):
        assert "mine: no run directory: it has no run.json; runs/mine is one" in one_error(here(command, "mine"), 2)


def test_names_that_are_too_long(here: Callable[..., Any], plan: Path) -> None:
    name = "x" * 300
    (plan / "long.yaml").write_text(CONFIG.replace("hostile", name), encoding="utf-8")
    for command in ("run", "estimate"):
        assert "long.yaml:1:1: run_name: expected up to 100 letters" in one_error(here(command, "long.yaml"), 2)
        line = one_error(here(command, "plan.yaml", "--out", name), 2)
        assert "File name too long" in line
    for arguments in (
        ("run", name),
        ("audit", name),
        ("replay", name),
        ("report", name),
        ("run", "smoke", "--prices", name),
    ):
        assert "File name too long" in one_error(here(*arguments), 2)


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "plan.yaml", "--out", ""),
        ("estimate", "plan.yaml", "--prices", ""),
        ("replay", ""),
        ("audit", "out", "-o", ""),
    ],
)
def test_an_empty_value_is_a_mistake(here: Callable[..., Any], plan: Path, arguments: tuple[str, ...]) -> None:
    before = sorted(path.name for path in plan.iterdir())
    done = here(*arguments)
    assert done.returncode == 2
    assert "the value is empty" in done.stderr
    assert sorted(path.name for path in plan.iterdir()) == before


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("repeats: 9999999", ":4:1: repeats: expected a whole number from 1 to 100000"),
        ("repeats: 100000", ":4:1: repeats: 1,000,000 episodes are planned, expected 1 to 100,000"),
        ("ceiling: {max_total_tokens: " + "9" * 300 + "}", ":4:11: ceiling.max_total_tokens: expected a whole number"),
        ("retry: {max_delay_s: 1e300}", ":4:9: retry.max_delay_s: expected a finite number from 0 to 3600.0"),
        ("retry: {base_delay_s: .nan}", ":4:9: retry.base_delay_s: expected a finite number"),
        ("retry: {base_delay_s: -1}", ":4:9: retry.base_delay_s: expected a finite number"),
        ("rate_limit: {rpm: -1}", ":4:14: rate_limit.rpm: expected a whole number"),
        ("rate_limit: {tpm: .inf}", ":4:14: rate_limit.tpm: expected a whole number"),
        ("options: {temperature: .nan}", ":4:11: options.temperature: expected a finite number"),
        ("options: {a: [1, -.inf]}", ":4:18: options.a[1]: expected a finite number"),
        ("success_threshold: .inf", ":4:1: success_threshold: expected a finite number above 1"),
        ("seed: -1", ":4:1: seed: expected a whole number from 0 to 2147483647"),
        ("concurrency: 65", ":4:1: concurrency: expected a whole number from 1 to 64"),
        ("provider_options: {latency_s: .inf}", "provider_options.latency_s: expected a finite number"),
    ],
)
def test_numbers_are_finite_and_bounded(here: Callable[..., Any], plan: Path, written: str, said: str) -> None:
    (plan / "plan.yaml").write_text(CONFIG.replace("attacks:", f"{written}\nattacks:"), encoding="utf-8")
    assert said in one_error(here("run", "plan.yaml", "--out", "out"), 2)
    assert not (plan / "out").exists()


def test_a_plan_of_nothing_is_refused(here: Callable[..., Any], plan: Path) -> None:
    text = CONFIG.replace("[stale-copy-01, locker-puzzle-01]", "[]")
    (plan / "plan.yaml").write_text(text, encoding="utf-8")
    assert ":4:1: attacks: 0 episodes are planned" in one_error(here("run", "plan.yaml", "--out", "out"), 2)


def test_names_that_are_nowhere(here: Callable[..., Any]) -> None:
    assert "shipped: " in one_error(here("run", "nothing"), 2)
    for command in ("replay", "audit"):
        assert "no run directory" in one_error(here(command, "nothing"), 2)
    assert "prices" in one_error(here("run", "plan.yaml", "--out", "out", "--prices", "no-prices.yaml"), 2)
