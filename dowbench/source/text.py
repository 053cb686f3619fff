"""Bytes to text, and offsets in the text to lines and columns."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from itertools import accumulate, count
from operator import add
from typing import TYPE_CHECKING, NamedTuple

from dowbench.errors import SourceError
from dowbench.model import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# The longer marks first: the UTF-16 one is the beginning of the UTF-32 one.
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_BLOCK = 1 << 20
"""Characters whose lines are told at a time: each is an object meanwhile."""
_BREAK = re.compile(r"\r\n|\n|\r")


class Position(NamedTuple):
    """A place in a text, both parts 1-based, the column in code points."""

    line: int
    column: int


class Lines:
    """Where the lines of a text begin. A line ends with LF, CRLF or CR, as in JSON and YAML 1.2."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: array[int] | None = None

    def _line_starts(self) -> array[int]:
        text, starts = self._text, array("I", [0])
        if "\r" in text:
            starts.extend(match.end() for match in _BREAK.finditer(text))
            return starts
        for block in range(0, len(text), _BLOCK):
            # The length of each line and of the break before it, summed up.
            ends = accumulate(map(len, text[block : block + _BLOCK].split("\n")[:-1]))
            starts.extend(map(add, ends, count(block + 1)))
        return starts

    def position(self, offset: int) -> Position:
        """Line and column of the character at ``offset``, which may be the end of the text."""
        if self._starts is None:
            self._starts = self._line_starts()
        line = bisect_right(self._starts, offset)
        return Position(line, offset - self._starts[line - 1] + 1)

    def positions(self, offsets: Iterable[int]) -> Mapping[int, Position]:
        """Lines and columns of many characters at once."""
        if "\r" in self._text or self._starts is not None:
            return {offset: self.position(offset) for offset in offsets}
        found: dict[int, Position] = {}
        line = 1
        start = before = 0
        for offset in sorted(offsets):
            if breaks := self._text.count("\n", before, offset):
                line += breaks
                start = self._text.rindex("\n", before, offset) + 1
            found[offset] = Position(line, offset - start + 1)
            before = offset
        return found

    def span(self, start: int, end: int) -> Span:
        """The span of ``text[start:end]``."""
        return Span(*self.position(start), *self.position(end))


def _encoding(data: bytes) -> tuple[str, int]:
    """Name of the encoding, and the length of the byte order mark.

    Without a mark the first character tells, which is ASCII in JSON and YAML: https://yaml.org/spec/1.2.2/#52-character-encodings
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding, len(mark)
    match tuple(byte == 0 for byte in data[:4]):
        case (True, True, True, False):
            return "utf-32-be", 0
        case (False, True, True, True):
            return "utf-32-le", 0
        case (True, False, *_):
            return "utf-16-be", 0
        case (False, True, *_):
            return "utf-16-le", 0
    return "utf-8", 0


def decode(path: str, data: bytes) -> str:
    """The text of a file in UTF-8, UTF-16 or UTF-32, without its byte order mark.

    Raises ``SourceError`` with line and column where the bytes are not text.
    """
    encoding, mark = _encoding(data)
    name = encoding[:6].rstrip("-").upper()
    try:
        text = data[mark:].decode(encoding) if mark else data.decode(encoding)
    except UnicodeDecodeError as error:
        offset = mark + error.start
        before = data[mark:offset].decode(encoding, "replace")
        line, column = Lines(before).position(len(before))
        message = f"invalid {name} at byte offset {offset}; expected text in UTF-8, UTF-16 or UTF-32"
        raise SourceError(message, path=path, line=line, column=column) from None
    null = text.find("\0")
    if null >= 0:
        line, column = Lines(text).position(null)
        raise SourceError("NUL character; expected text, is this a binary file?", path=path, line=line, column=column)
    return text
