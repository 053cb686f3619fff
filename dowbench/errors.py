"""Expected errors. Each knows where it happened and prints as one line; ``cli`` catches them once, at the top."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class DowbenchError(Exception):
    """An error that is the input's, not ours.

    ``message`` says what was expected. ``path``, ``line`` and ``column`` (1-based, code points) say where; ``None``
    where there is no such place. ``pointer`` (a JSON pointer into document number ``document``) is where a value that
    has no line yet is at fault; who holds the source turns it into a line.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        line: int | None = None,
        column: int | None = None,
        pointer: str | None = None,
        document: int = 0,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line
        self.column = column
        self.pointer = pointer
        self.document = document

    def __str__(self) -> str:
        path = self.path
        if path is not None and self.line is None and self.pointer:  # as a URI fragment (RFC 6901, section 6)
            path = f"{path}#{''.join(c if c.isprintable() else ascii(c)[1:-1] for c in self.pointer)}"
        place = ":".join(str(part) for part in (path, self.line, self.column) if part is not None)
        return f"{place}: {self.message}" if place else self.message


class UsageError(DowbenchError):
    """The command or the configuration asks for something that does not exist."""


class SourceError(DowbenchError):
    """A file could not be read as tool definitions."""


class UnrecognizedError(SourceError):
    """A file was read, and holds no tool definitions of any known format.

    ``doubtful``: something in it may well have been meant to be some.
    """

    def __init__(self, message: str, *, doubtful: bool = False, **place: Any) -> None:
        super().__init__(message, **place)
        self.doubtful = doubtful


class RuleError(DowbenchError):
    """A rule pack is wrong."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """What was probably meant by ``word``, else what there is: the end of a message about an unknown name."""
    names = list(known)
    meant = closest(word, names)
    if meant is not None:
        return f"did you mean {meant!r}?"
    return f"known are {', '.join(names)}" if names else "there is none"


def closest(word: str, names: Sequence[str]) -> str | None:
    """The one of ``names`` that was probably meant by ``word``."""
    import difflib

    return next(iter(difflib.get_close_matches(word, names, 1)), None)
