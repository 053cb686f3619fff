"""Files of a run that are torn, lost, changed or cannot be written: said in one line, and nothing recorded is lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from dowbench_benchmark import lock
from hostile import LOGS, dowbench, one_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths, signals, limits and devices of POSIX")


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


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("rest", [b'{"half', b"\x00\x00"])
def test_a_torn_last_line_is_put_aside_and_said(plan: Path, whole: Path, out: Path, log: str, rest: bytes) -> None:
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
def test_a_last_line_that_says_nothing_is_located_and_nothing_is_touched(plan: Path, out: Path, log: str) -> None:
    with (out / log).open("ab") as file:
        file.write(b"{}")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    number = before[log].count(b"\n") + 1
    assert f"error: out/{log}:{number}: the key " in one_error(dowbench(plan, "run", "plan.yaml", "--out", "out"), 2)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize("log", LOGS)
def test_a_broken_line_in_the_middle_is_located_and_nothing_is_touched(plan: Path, out: Path, log: str) -> None:
    rows = (out / log).read_bytes().splitlines(keepends=True)
    broken = b"".join([*rows[:2], b'{"half\n', *rows[2:]])
    (out / log).write_bytes(broken)
    line = one_error(dowbench(plan, "run", "plan.yaml", "--out", "out"), 2)
    assert f"{log}:3: " in line
    assert (out / log).read_bytes() == broken
    assert not (out / "run.lock").exists()


@pytest.mark.parametrize("log", LOGS)
def test_a_torn_line_of_a_finished_run_is_said_by_every_command(here: Callable[..., Any], out: Path, log: str) -> None:
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
    here: Callable[..., Any], whole: Path, out: Path, log: str
) -> None:
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
def test_a_row_that_a_finished_run_has_lost_is_said(here: Callable[..., Any], out: Path, log: str) -> None:
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
    here: Callable[..., Any], whole: Path, out: Path, name: str
) -> None:
    (out / name).unlink()
    assert f"out/{name}: is missing" in one_error(here("replay", "out"), 2)
    audit = here("audit", "out")
    assert (audit.returncode, f"different: out/{name}: is missing\n" in audit.stderr) == (1, True)
    assert here("run", "plan.yaml", "--out", "out").returncode == 0
    assert (out / name).read_bytes() == (whole / name).read_bytes()
    assert here("audit", "out").returncode == 0


@pytest.mark.parametrize("change", [lambda data: data[:-100], lambda data: data.replace(b"0.", b"1.", 1)])
def test_statistics_that_were_changed_are_said(
    here: Callable[..., Any], out: Path, change: Callable[[bytes], bytes]
) -> None:
    data = (out / "stats.json").read_bytes()
    assert change(data) != data
    (out / "stats.json").write_bytes(change(data))
    said = "out/stats.json: is not as the run left it when it was done"
    assert said in one_error(here("replay", "out"), 2)
    audit = here("audit", "out")
    assert (audit.returncode, f"different: {said}\n" in audit.stderr) == (1, True)


@pytest.mark.parametrize("log", ["cassette.jsonl", "requests.jsonl"])
def test_a_run_does_not_hide_what_was_lost(here: Callable[..., Any], out: Path, log: str) -> None:
    (out / log).unlink()
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert f"error: out/{log}: is missing, and the run was done" in one_error(
        here("run", "plan.yaml", "--out", "out"), 2
    )
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert here("audit", "out").returncode == 1


def test_a_run_that_was_stopped_does_not_hide_a_lost_recording(here: Callable[..., Any], out: Path) -> None:
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


def test_changed_calls_stay_a_difference_when_the_run_is_gone_over(here: Callable[..., Any], out: Path) -> None:
    data = (out / "calls.jsonl").read_bytes()
    (out / "calls.jsonl").write_bytes(data.replace(b'"latency_s":0.', b'"latency_s":9.', 1))
    assert here("run", "plan.yaml", "--out", "out").returncode == 0
    said = "different: out/calls.jsonl: is not as the run left it when it was done\n"
    assert said in here("audit", "out").stderr


def test_a_finished_run_that_noted_no_digests(here: Callable[..., Any], out: Path) -> None:
    """As runs did before there were any: nobody makes them up later, and the commands say what cannot be seen."""
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


def test_reading_needs_no_lock_and_touches_nothing(here: Callable[..., Any], out: Path) -> None:
    with lock.held(out):
        before = {path.name: path.read_bytes() for path in out.iterdir()}
        for command in ("audit out", "replay out", "report out", "estimate plan.yaml --out out"):
            assert here(*command.split()).returncode == 0, command
        assert {path.name: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize("log", LOGS)
def test_a_log_that_a_finished_run_has_lost_is_said(here: Callable[..., Any], out: Path, log: str) -> None:
    (out / log).unlink()
    assert log in one_error(here("replay", "out"), 2)
    audit = here("audit", "out")
    # Without its episodes nothing can be recomputed; the rest of a run is compared with what is left.
    code, said = (2, "has no episodes") if log == "episodes.jsonl" else (1, "is missing")
    assert (audit.returncode, f"out/{log}: {said}\n" in audit.stderr) == (code, True), audit.stderr


def test_a_run_whose_episodes_were_cut_is_no_success(here: Callable[..., Any], out: Path) -> None:
    """The summary is kept, and the run says that it is complete or does not."""
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


def test_a_replay_in_part_leaves_no_summary_of_a_whole_one(here: Callable[..., Any], plan: Path, out: Path) -> None:
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
def test_a_broken_run_file_is_named(plan: Path, out: Path, content: bytes) -> None:
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
