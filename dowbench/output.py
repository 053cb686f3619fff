"""Where a command writes: standard output, standard error, files. Each may be full, closed or somebody else's."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from dowbench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

WIDEST = 120
NARROWEST = 40
PLAIN = 80
"""Columns of a report that goes to no terminal."""
_STREAMS = ("/dev/std", "/dev/fd/", "/dev/null", "/dev/full", "/proc/self/fd/")


class StandardError:
    """Standard error that loses what nobody takes, and nothing else: no report and no exit code depends on it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write ``text``, or drop it."""
        try:
            return self._stream.write(text)
        except OSError:
            forget(self._stream)
            return len(text)

    def flush(self) -> None:
        """Flush, or drop what there was."""
        try:
            self._stream.flush()
        except OSError:
            forget(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def open_standard_streams() -> None:
    """See to it that no file which is opened later becomes standard input, output or error, and that messages go on."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    stream = sys.stderr if sys.stderr is not None else open(os.devnull, "w")  # noqa: PTH123, SIM115
    sys.stderr = cast("TextIO", StandardError(stream))


def forget(stream: TextIO) -> None:
    """Send what ``stream`` still holds, and all that comes, nowhere: it would be tried once more at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def colour() -> bool:
    """Whether standard output is a terminal that shows colours, and nobody objects (https://no-color.org)."""
    stream = sys.stdout
    if stream is None or not stream.isatty():
        return False
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width() -> int:
    """Columns of a report on standard output."""
    stream = sys.stdout
    if stream is None or not stream.isatty():
        return PLAIN
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return min(max(columns, NARROWEST), WIDEST) if columns else PLAIN


def write_out(text: str) -> None:
    """Write to standard output, as UTF-8 whatever the locale: reports hold names from anywhere. Raises ``UsageError``.

    A reader that has had enough and went away is no error.
    """
    stream = sys.stdout
    if stream is None:
        raise UsageError("the report cannot be written: standard output is closed")
    buffer = getattr(stream, "buffer", None)
    try:
        if buffer is None:
            stream.write(text)
        else:
            stream.flush()
            buffer.write(text.encode("utf-8", errors="backslashreplace"))
        stream.flush()
    except BrokenPipeError:
        forget(stream)
    except OSError as error:
        forget(stream)
        raise UsageError(f"the report cannot be written to standard output: {error.strerror}") from None


def write_file(path: Path, text: str, inputs: Iterable[str], ours: Callable[[Path], bool] | None = None) -> None:
    """Put ``text`` into ``path`` in one step: the file is the old one or the whole new one. Raises ``UsageError``.

    What must not be replaced is not (``check_replaceable``).
    """
    data = text.encode("utf-8", errors="backslashreplace")
    try:
        if path.as_posix().startswith(_STREAMS):
            path.write_bytes(data)
            return
        check_replaceable(path, inputs, ours)
        replace_file(path, data, _status(path))
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", path=path.as_posix()) from None


def check_replaceable(path: Path, inputs: Iterable[str], ours: Callable[[Path], bool] | None = None) -> None:
    """Raise ``UsageError`` where there is something at ``path`` that a report must not replace.

    That is a link, what is no regular file, one of ``inputs``, which were read, and a file that is not ``ours``: nobody
    means a project's own file. Raises ``OSError``.
    """
    old = _status(path)
    if old is None:
        return
    reason = None
    if stat.S_ISLNK(old.st_mode):
        reason = "cannot be written: a symbolic link; name the file that it leads to"
    elif not stat.S_ISREG(old.st_mode):
        reason = "cannot be written: not a regular file"
    elif is_one_of(path, inputs):
        reason = "not written: it is one of the files that were read"
    elif ours is not None and not ours(path):
        reason = "not written: there is a file that dowbench did not write; remove it, or name another"
    if reason:
        raise UsageError(reason, path=path.as_posix())


def is_one_of(path: Path, files: Iterable[str]) -> bool:
    """Whether there is something at ``path``, and it is what one of ``files`` leads to, by whatever name."""
    here = _status(path)
    return here is not None and any(
        (there := _status(Path(file), follow=True)) and os.path.samestat(here, there) for file in files
    )


def replace_file(
    path: Path, data: bytes, old: os.stat_result | None, finish: Callable[[Path], None] = lambda path: None
) -> None:
    """Put ``data`` where ``old`` may be, in one step, with its permissions. Raises ``OSError``.

    ``finish`` is called with the new file before it gets its name.
    """
    # Not a name made from that of ``path``, which may be as long as a name may be.
    temporary = path.with_name(f".dowbench-{os.urandom(8).hex()}.tmp")
    # Not through a name that somebody laid out beforehand.
    with open(temporary, "xb") as file:  # noqa: PTH123
        try:
            file.write(data)
            file.close()
            if old is not None:
                temporary.chmod(stat.S_IMODE(old.st_mode))
            finish(temporary)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def _status(path: Path, *, follow: bool = False) -> os.stat_result | None:
    try:
        return path.stat(follow_symlinks=follow)
    except (FileNotFoundError, NotADirectoryError):
        return None
