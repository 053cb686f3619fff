"""How reports call a path, what kind of file it leads to, and the one way to open it.

Settings may be a stranger's, as tools are.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from dowbench.errors import UsageError

if TYPE_CHECKING:
    from typing import BinaryIO

LARGEST = 64 * 1024 * 1024
"""Bytes of a file of settings."""


def working_directory() -> Path:
    """The working directory. Raises ``UsageError`` where it has been removed."""
    try:
        return Path.cwd()
    except OSError as error:
        raise UsageError(f"the working directory cannot be entered: {error.strerror}") from None


def shown(file: str) -> str:
    """``file`` as reports call it: relative to the working directory, with forward slashes."""
    return relative(file, os.curdir)


def relative(file: str, folder: str) -> str:
    """``file`` as seen from ``folder``, with forward slashes; absolute where it lies on another drive."""
    try:
        path = os.path.relpath(file, folder)
    except ValueError:
        path = str(Path(file).absolute())
    return path.replace(os.sep, "/")


def is_readable(file: str, mode: int) -> bool:
    """Whether ``file`` can be read to its end: a regular one, or a pipe that a shell has opened for the command."""
    return stat.S_ISREG(mode) or (stat.S_ISFIFO(mode) and file.startswith(("/dev/fd/", "/proc/")))


def kind(mode: int) -> str:
    """What kind of file it is, in words."""
    if stat.S_ISFIFO(mode):
        return "a pipe"
    if stat.S_ISSOCK(mode):
        return "a socket"
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a device" if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) else "a special file"


def open_regular(file: str | Path) -> BinaryIO:
    """Open what can be read to its end. Raises ``OSError``, also for a folder, a pipe, a device or what is no path."""
    path = os.fspath(file)
    try:
        _check(path, os.stat(path).st_mode)  # noqa: PTH116
    except ValueError as error:  # a NUL
        raise OSError(errno.EINVAL, str(error), path) from None
    opened = open(path, "rb", opener=_without_waiting)  # noqa: SIM115
    try:
        _check(path, os.fstat(opened.fileno()).st_mode)
        if _NONBLOCK:
            os.set_blocking(opened.fileno(), True)
    except OSError:
        opened.close()
        raise
    return opened


_NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)


def _without_waiting(path: str, flags: int) -> int:
    # Between the look at it and the opening, a file may have become a pipe that nobody writes to.
    return os.open(path, flags | _NONBLOCK)


def _check(path: str, mode: int) -> None:
    if not is_readable(path, mode):
        raise OSError(errno.EINVAL, f"{kind(mode)}, not a regular file", path)


def read_settings(path: Path, name: str) -> bytes:
    """The bytes of a configuration or a baseline, called ``name`` in messages. ``os.devnull`` is an empty one.

    Raises ``OSError``, also for what is no regular file, and ``UsageError`` for what is too large.
    """
    if str(path) == os.devnull:
        return b""
    with open_regular(path) as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise UsageError(f"cannot be read: it has more than {LARGEST:,} bytes", path=name)
    return data
