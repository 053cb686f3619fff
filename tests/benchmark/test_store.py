"""Files, the lock, and what a crash may leave behind."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from dowbench_benchmark import lock, store

if TYPE_CHECKING:
    from pathlib import Path

from dowbench.errors import DowbenchError, UsageError

posix = pytest.mark.skipif(sys.platform == "win32", reason="limits, signals and special files of POSIX")


def rows(path: Path) -> list[Any]:
    return [row.value for row in store.rows(path)]


def test_rows_come_back(tmp_path: Path) -> None:
    files = store.Store(tmp_path, durable=True)
    files.append("a.jsonl", b'{"n":1}\n{"n":2}\n')
    files.append("a.jsonl", b'{"n":3}\n')
    files.close()
    assert rows(tmp_path / "a.jsonl") == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert rows(tmp_path / "missing.jsonl") == []


@pytest.mark.parametrize("tail", [b'{"n":', b"x" * 200_000, b"\0\0", b"7"])
def test_a_torn_last_line_is_left_out_and_put_aside(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"n":1}\n' + tail)
    assert rows(path) == [{"n": 1}]
    assert store.torn(path) == len(tail)
    files = store.Store(tmp_path, durable=False)
    files.append("a.jsonl", b'{"n":2}\n')
    files.close()
    assert path.read_bytes() == b'{"n":1}\n{"n":2}\n'
    aside = tmp_path / "a.jsonl.torn"
    assert files.notices == [f"{path}: cut a torn last line of {len(tail)} bytes, which {aside} keeps"]
    assert aside.read_bytes() == tail + b"\n"


def test_what_was_put_aside_before_is_kept(tmp_path: Path) -> None:
    for tail in (b'{"n":1', b'{"n":2'):
        (tmp_path / "a.jsonl").write_bytes(tail)
        store.Store(tmp_path, durable=False).mend(["a.jsonl"])
    assert (tmp_path / "a.jsonl").read_bytes() == b""
    assert (tmp_path / "a.jsonl.torn").read_bytes() == b'{"n":1\n{"n":2\n'


@pytest.mark.parametrize("size", [0, 65_530, 200_000])
def test_a_whole_last_row_without_its_end_is_kept(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.jsonl"
    row = b'{"n":"%s"}' % (b"x" * size)
    path.write_bytes(b'{"n":1}\n' + row)
    assert rows(path) == [{"n": 1}, {"n": "x" * size}]
    assert (store.torn(path), store.unended(path)) == (0, row)
    files = store.Store(tmp_path, durable=False)
    files.append("a.jsonl", b'{"n":2}\n')
    assert path.read_bytes() == b'{"n":1}\n' + row + b'\n{"n":2}\n'
    assert files.notices == [f"{path}: the last line had no end; it is a whole row and has one now"]
    assert [file.name for file in tmp_path.iterdir()] == ["a.jsonl"]


def test_a_file_of_one_torn_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"n":')
    assert rows(tmp_path / "a.jsonl") == []
    files = store.Store(tmp_path, durable=False)
    files.append("a.jsonl", b"{}\n")
    assert (tmp_path / "a.jsonl").read_bytes() == b"{}\n"


@pytest.mark.parametrize("bad", [b"{]\n", b"[]\n", b"\xff\n"])
def test_a_damaged_row_before_the_end_is_placed(tmp_path: Path, bad: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}\n" + bad + b"{}\n")
    with pytest.raises(DowbenchError, match=r"a\.jsonl:2: "):
        rows(path)


@posix
def test_a_write_that_does_not_fit_leaves_no_half_row(tmp_path: Path) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    files = store.Store(tmp_path, durable=True)
    try:
        files.append("a.jsonl", b"{}\n")
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
        with pytest.raises(
            store.StoreError, match=r"a\.jsonl: cannot be written: File too large; what was recorded is"
        ):
            files.append("a.jsonl", b'{"n":"far too long"}\n')
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert (tmp_path / "a.jsonl").read_bytes() == b"{}\n"
    files.append("a.jsonl", b'{"n":1}\n')
    assert rows(tmp_path / "a.jsonl") == [{}, {"n": 1}]


def test_a_durable_row_is_synced_before_append_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_size)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    files = store.Store(tmp_path, durable=True)
    files.append("a.jsonl", b"{}\n")
    files.append("a.jsonl", b"{}\n")
    assert synced == [3, 6]
    grouped = store.Store(tmp_path, durable=False)
    grouped.append("b.jsonl", b"{}\n")
    grouped.append("c.jsonl", b"{}\n")
    assert synced == [3, 6]
    grouped.sync()
    assert synced == [3, 6, 3, 3]


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    store.replace(path, b"{}\n")
    store.replace(path, b'{"n":1}\n')
    assert store.read_json(path).value == {"n": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]
    with pytest.raises(store.StoreError, match="cannot be written"):
        store.replace(tmp_path / "none" / "a.json", b"")


@posix
def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "device.jsonl").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    for name in ("device.jsonl", "pipe.jsonl", "folder.jsonl"):
        with pytest.raises(store.StoreError, match=f"{name}: is no regular file"):
            rows(tmp_path / name)
        with pytest.raises(store.StoreError, match=f"{name}: is no regular file"):
            store.Store(tmp_path, durable=False).append(name, b"{}\n")
        with pytest.raises(store.StoreError, match=f"{name}: is no regular file"):
            store.read_json(tmp_path / name)


# ---- the lock


def test_the_lock_names_its_holder_and_goes_away(tmp_path: Path) -> None:
    with lock.held(tmp_path):
        holder = json.loads((tmp_path / "run.lock").read_text())
        assert (holder["pid"], holder["host"]) == (os.getpid(), platform.node())
        with (
            pytest.raises(
                UsageError, match=f"another run holds .*: process {os.getpid()} on .* since {holder['start'][:10]}"
            ),
            lock.held(tmp_path),
        ):
            pass
        assert (tmp_path / "run.lock").exists()
    assert not (tmp_path / "run.lock").exists()


def test_the_lock_goes_away_on_errors(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), lock.held(tmp_path):
        raise ZeroDivisionError
    assert not (tmp_path / "run.lock").exists()


def _left_behind(directory: Path) -> int:
    """The lock of a process that was killed."""
    program = (
        "import os, pathlib, signal, sys; from dowbench_benchmark import lock\n"
        "with lock.held(pathlib.Path(sys.argv[1])): os.kill(os.getpid(), signal.SIGKILL)"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(directory)])
    process.wait()
    return process.pid


@posix
def test_the_lock_of_a_killed_process_keeps_nobody_out(tmp_path: Path) -> None:
    pid = _left_behind(tmp_path)
    assert (tmp_path / "run.lock").exists()
    with lock.held(tmp_path) as before:
        assert before is not None
        assert (before.pid, before.host) == (pid, platform.node())
    assert not (tmp_path / "run.lock").exists()


def test_a_lock_is_its_process_and_no_number(tmp_path: Path) -> None:
    """The file of a run that is gone, with the number of a process that lives: numbers are given out again."""
    holder = {"pid": os.getpid(), "host": platform.node(), "start": "2026-01-01T00:00:00+00:00"}
    (tmp_path / "run.lock").write_text(json.dumps(holder))
    with lock.held(tmp_path) as before:
        assert before == lock.Holder(**holder)


def test_the_lock_of_another_host_is_a_person_s_to_break(tmp_path: Path) -> None:
    text = json.dumps({"pid": 1, "host": "elsewhere", "start": "2026-01-01T00:00:00+00:00"})
    (tmp_path / "run.lock").write_text(text)
    with (
        pytest.raises(UsageError, match=r"process 1 on elsewhere since .*; if it is gone there, use --break-lock here"),
        lock.held(tmp_path),
    ):
        pass
    assert (tmp_path / "run.lock").read_text() == text
    with lock.held(tmp_path, takeover=True) as before:
        assert before is not None
        assert before.host == "elsewhere"


@pytest.mark.parametrize("text", ["{", "[]", '{"pid": "1"}', "\x00", "somebody's notes"])
def test_a_lock_that_cannot_be_read_is_a_person_s_to_break(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.lock").write_text(text)
    with pytest.raises(UsageError, match=r"cannot be read as a lock; .* --break-lock"), lock.held(tmp_path):
        pass
    assert (tmp_path / "run.lock").read_text() == text
    with lock.held(tmp_path, takeover=True):
        pass


def test_an_empty_lock_is_nobody_s(tmp_path: Path) -> None:
    """Its process was killed between making the file and writing its name."""
    (tmp_path / "run.lock").write_text("")
    with lock.held(tmp_path) as before:
        assert before is None


@posix
def test_what_is_no_file_of_ours_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "run.lock").symlink_to(tmp_path / "notes")
    (tmp_path / "b" / "run.lock").mkdir(parents=True)
    (tmp_path / "c").mkdir()
    os.mkfifo(tmp_path / "c" / "run.lock")
    for name in ("a", "b", "c"):
        with (
            pytest.raises(UsageError, match=r"run\.lock: (cannot be written|is no regular file)"),
            lock.held(tmp_path / name, takeover=True),
        ):
            pass
    assert (tmp_path / "notes").read_text() == "mine"


def test_one_of_many_gets_the_lock(tmp_path: Path) -> None:
    """Also while holders come and go: no two are ever inside."""
    program = (
        "import os, pathlib, sys; from dowbench.errors import UsageError; from dowbench_benchmark import lock\n"
        "place, got = pathlib.Path(sys.argv[1]), 0\n"
        "while got < 25:\n"
        "    try:\n"
        "        with lock.held(place):\n"
        "            os.close(os.open(place / 'inside', os.O_CREAT | os.O_EXCL))\n"
        "            (place / 'inside').unlink()\n"
        "            got += 1\n"
        "    except UsageError:\n"
        "        pass\n"
    )
    processes = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path)]) for _ in range(4)]
    assert [process.wait() for process in processes] == [0, 0, 0, 0]


def test_a_directory_that_takes_no_lock(tmp_path: Path) -> None:
    with pytest.raises(DowbenchError, match=r"run\.lock: cannot be written"), lock.held(tmp_path / "missing"):
        pass
