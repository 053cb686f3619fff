"""One run a directory: ``run.lock`` names who holds it. It is never broken automatically."""

from __future__ import annotations

import json
import os
import platform
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from dowbench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "run.lock"


@contextmanager
def held(directory: Path) -> Iterator[None]:
    """Hold the directory's lock. Raises ``UsageError`` naming the holder, or why the lock cannot be written."""
    path = directory / NAME
    holder = {
        "pid": os.getpid(),
        "host": platform.node(),
        "start": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
    except FileExistsError:
        raise UsageError(f"another run holds {path}: {_named(path)}") from None
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", path=str(path)) from None
    try:
        try:
            os.write(descriptor, json.dumps(holder).encode() + b"\n")
        except OSError as error:
            raise UsageError(f"cannot be written: {error.strerror}", path=str(path)) from None
        finally:
            os.close(descriptor)
        yield
    finally:
        with suppress(OSError):
            path.unlink()


def break_dead(directory: Path) -> str | None:
    """Remove a lock whose holder ran on this host and is gone; says whose it was, ``None`` where there is no lock.

    Raises ``UsageError`` where the holder lives, or may live on another host.
    """
    path = directory / NAME
    if not path.exists():
        return None
    who = _named(path)
    try:
        holder = json.loads(path.read_text(encoding="utf-8"))
        pid, host = int(holder["pid"]), str(holder["host"])
    except (OSError, ValueError, KeyError, TypeError):
        pid, host = 0, platform.node()
    if host != platform.node():
        raise UsageError(f"{path} is held on another host ({who}); look there, then remove the file by hand")
    if pid > 0 and _alive(pid):
        raise UsageError(f"{path} is held by a process that is running ({who})")
    path.unlink(missing_ok=True)
    return who


def _named(path: Path) -> str:
    try:
        holder = json.loads(path.read_text(encoding="utf-8"))
        who = f"process {holder['pid']} on {holder['host']} since {holder['start']}"
        gone = holder["host"] == platform.node() and not _alive(int(holder["pid"]))
    except (OSError, ValueError, KeyError, TypeError):
        return "unreadable; if no run is going on, use --break-lock"
    return f"{who}, which is gone: use --break-lock to go on" if gone else who


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
