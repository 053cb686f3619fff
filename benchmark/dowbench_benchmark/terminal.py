"""What the commands print: names in it come from strangers, and whoever reads may be gone."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

from dowbench.errors import UsageError
from dowbench.report.escape import inert, visible

if TYPE_CHECKING:
    from collections.abc import Iterable


def say(*lines: str) -> None:
    """Lines to standard output, hidden characters escaped. Raises ``UsageError`` where it takes nothing.

    A reader that has had enough is no error: the exit code still tells the outcome.
    """
    write(inert("\n".join(visible(part) for line in lines for part in line.split("\n"))) + "\n")


def note(lines: Iterable[str]) -> None:
    """Notes to standard error, each on its line."""
    for line in lines:
        warn(f"note: {line}")


def warn(line: str) -> None:
    """A line to standard error, if anybody takes it: nothing that was done depends on it."""
    try:
        print(inert(visible(line)), file=sys.stderr, flush=True)  # noqa: T201
    except (OSError, ValueError):
        _forget(sys.stderr)


def write(text: str) -> None:
    """Text to standard output as it is, in UTF-8 whatever the locale. Raises as ``say`` does."""
    stream = sys.stdout
    if stream is None:
        raise UsageError("standard output is closed")
    buffer = getattr(stream, "buffer", None)
    try:
        if buffer is None:
            stream.write(text)
        else:
            stream.flush()
            buffer.write(text.encode(errors="backslashreplace"))
        stream.flush()
    except BrokenPipeError:
        _forget(stream)
    except OSError as error:
        _forget(stream)
        raise UsageError(f"standard output cannot be written: {error.strerror}") from None


def _forget(stream: TextIO | None) -> None:
    """Send what a stream still holds nowhere: it would be tried once more at exit."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
