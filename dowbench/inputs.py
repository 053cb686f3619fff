"""What kind of file a path leads to, and reading settings from one. Settings may be a stranger's, as tools are."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from dowbench.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

LARGEST = 64 * 1024 * 1024
"""Bytes of a file of settings."""


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


def read_settings(path: Path, name: str) -> bytes:
    """The bytes of a configuration or a baseline, called ``name`` in messages. ``os.devnull`` is an empty one.

    Raises ``OSError``, and ``UsageError`` for what is no regular file or too large.
    """
    mode = path.stat().st_mode
    if str(path) == os.devnull:
        return b""
    if not is_readable(str(path), mode):
        raise UsageError(f"cannot be read: {kind(mode)}, not a regular file", path=name)
    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise UsageError(f"cannot be read: it has more than {LARGEST:,} bytes", path=name)
    return data
