"""Files, the lock, and what a crash may leave behind."""

from __future__ import annotations

import json
import os
import platform
import resource
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from dowbench_benchmark import lock, store

if TYPE_CHECKING:
    from pathlib import Path

from dowbench.errors import DowbenchError, UsageError


def test_rows_come_back(tmp_path: Path) -> None:
    files = store.Store(tmp_path, durable=True)
    files.append("a.jsonl", b'{"n":1}\n{"n":2}\n')
    files.append("a.jsonl", b'{"n":3}\n')
    files.close()
    assert store.rows(tmp_path / "a.jsonl") == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert store.rows(tmp_path / "missing.jsonl") == []


@pytest.mark.parametrize("tail", [b'{"n":', b"x" * 200_000, b'{"n":9}'])
def test_a_torn_last_line_is_left_out_and_cut(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"n":1}\n' + tail)
    assert store.rows(path) == [{"n": 1}]
    assert store.torn(path) == len(tail)
    files = store.Store(tmp_path, durable=False)
    files.append("a.jsonl", b'{"n":2}\n')
    files.close()
    assert path.read_bytes() == b'{"n":1}\n{"n":2}\n'
    assert files.notices == [f"{path}: cut a torn last line of {len(tail)} bytes"]


def test_a_file_of_one_torn_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"n":')
    assert store.rows(tmp_path / "a.jsonl") == []
    files = store.Store(tmp_path, durable=False)
    files.append("a.jsonl", b"{}\n")
    assert (tmp_path / "a.jsonl").read_bytes() == b"{}\n"


@pytest.mark.parametrize("bad", [b"{]\n", b"[]\n", b"\xff\n"])
def test_a_damaged_row_before_the_end_is_placed(tmp_path: Path, bad: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}\n" + bad + b"{}\n")
    with pytest.raises(store.StoreError, match=r"a\.jsonl:2: "):
        store.rows(path)


def test_a_write_that_does_not_fit_leaves_no_half_row(tmp_path: Path) -> None:
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
    assert store.rows(tmp_path / "a.jsonl") == [{}, {"n": 1}]


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
    assert store.read_json(path) == {"n": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]
    with pytest.raises(store.StoreError, match="cannot be written"):
        store.replace(tmp_path / "none" / "a.json", b"")


def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "device.jsonl").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    for name in ("device.jsonl", "pipe.jsonl", "folder.jsonl"):
        with pytest.raises(store.StoreError, match=f"{name}: is no regular file"):
            store.rows(tmp_path / name)
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


def test_the_lock_of_a_killed_process_is_kept_until_somebody_breaks_it(tmp_path: Path) -> None:
    pid = _left_behind(tmp_path)
    with pytest.raises(UsageError, match=f"process {pid} .* which is gone: use --break-lock"), lock.held(tmp_path):
        pass
    assert f"process {pid}" in (lock.break_dead(tmp_path) or "")
    assert lock.break_dead(tmp_path) is None
    with lock.held(tmp_path):
        pass


@pytest.mark.parametrize(
    ("holder", "message"),
    [
        ({"pid": os.getpid(), "host": platform.node(), "start": "now"}, "that is running"),
        ({"pid": 1, "host": "elsewhere", "start": "now"}, "on another host"),
    ],
)
def test_a_lock_that_may_be_alive_is_not_broken(tmp_path: Path, holder: dict[str, object], message: str) -> None:
    (tmp_path / "run.lock").write_text(json.dumps(holder))
    with pytest.raises(UsageError, match=message):
        lock.break_dead(tmp_path)
    assert (tmp_path / "run.lock").exists()


def test_an_empty_lock_can_be_broken(tmp_path: Path) -> None:
    (tmp_path / "run.lock").write_text("")
    with pytest.raises(UsageError, match="unreadable"), lock.held(tmp_path):
        pass
    assert lock.break_dead(tmp_path)


def test_a_directory_that_takes_no_lock(tmp_path: Path) -> None:
    with pytest.raises(DowbenchError, match=r"run\.lock: cannot be written"), lock.held(tmp_path / "missing"):
        pass
