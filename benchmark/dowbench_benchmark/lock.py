"""One run a directory: ``run.lock`` names who holds it, and the system's lock on that file says whether it still does.

The system's lock ends with the process, however that ends, so a file that a killed run left behind keeps nobody out on
the machine where it ran. Another machine may not see such locks (network file systems), so there a person has to say.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import stat
import sys
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from dowbench.errors import DowbenchError, UsageError
from dowbench_benchmark import recorded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "run.lock"
_LONGEST = 4096


class Holder(NamedTuple):
    """Who wrote the file."""

    pid: int
    host: str
    start: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host} since {self.start}"


@contextmanager
def held(directory: Path, *, takeover: bool = False) -> Iterator[Holder | None]:
    """Hold the directory's lock; gives whose it was, where a run that is gone has left it.

    ``takeover``: also where only a person can know that it is gone. Raises ``UsageError`` naming the holder and what to
    do, or why the file cannot be written.
    """
    path = directory / NAME
    descriptor, alone = _opened(path)
    try:
        text = os.read(descriptor, _LONGEST)
        before = _holder(text, path)
        if text and not takeover:
            if before is None:
                raise UsageError(f"{path} cannot be read as a lock; if no run is going on, use --break-lock")
            if before.host != platform.node():
                raise UsageError(f"another run holds {path}: {before}; if it is gone there, use --break-lock here")
            if not alone:
                raise UsageError(
                    f"another run holds {path}: {before}; this file system cannot tell whether it is gone; if it is, "
                    "use --break-lock"
                )
        holder = Holder(os.getpid(), platform.node(), datetime.now(UTC).isoformat(timespec="seconds"))
        try:
            try:
                os.ftruncate(descriptor, 0)
                os.lseek(descriptor, 0, os.SEEK_SET)
                os.write(descriptor, json.dumps(holder._asdict()).encode() + b"\n")
            except OSError as error:
                raise UsageError(f"cannot be written: {error.strerror}", path=str(path)) from None
            yield before
        finally:
            if os.name != "nt":  # where an open file cannot be removed, and a locked one not be taken
                _remove(path)
    finally:
        os.close(descriptor)
    if os.name == "nt":
        _remove(path)


def _opened(path: Path) -> tuple[int, bool]:
    """The file, locked, and whether the system could tell that nobody else holds it. Raises ``UsageError``."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    while True:
        try:
            descriptor = os.open(path, flags, 0o644)
        except OSError as error:
            raise UsageError(f"cannot be written: {error.strerror}", path=str(path)) from None
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UsageError("is no regular file", path=str(path))
            alone = _lock(descriptor)
            if alone is False:
                who = _holder(os.read(descriptor, _LONGEST), path) or "its name cannot be read"
                raise UsageError(f"another run holds {path}: {who}, which is going on")
            # Its holder may have removed it in the meantime, and somebody else made and locked a new one.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), path.stat()):
                    return descriptor, alone is True
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> bool | None:
        """Lock a byte beyond the text, which others must be able to read."""
        os.lseek(descriptor, 2**30, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def _lock(descriptor: int) -> bool | None:
        """True: locked; False: somebody else has it; None: this file system has no locks."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            return False if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES) else None
        return True


def _holder(text: bytes, path: Path) -> Holder | None:
    try:
        row = recorded.parse(text, path)
        return Holder(row.at("pid").count(), row.at("host").text(blank=True), row.at("start").text())
    except DowbenchError:
        return None


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
