"""The hash of a line by which code scanning recognises a result again after lines above it have moved.

GitHub's upload action computes it for reports that carry none (``fingerprints.ts`` in github/codeql-action). A report
that carries another value under the same key makes every result look new once, so this one is equal to the bit.
"""

from __future__ import annotations

import sys
from array import array
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_WINDOW = 100
_BASE = 37
_MASK = (1 << 64) - 1
_LEAVING = pow(_BASE, _WINDOW, 1 << 64)
_END_OF_FILE = 0xFFFF
_LINE_FEED = 0x0A
_UTF16 = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"
_CHUNK = 1 << 16
"""UTF-16 units whose running sums are held at a time."""


def line_hashes(data: bytes, lines: Iterable[int]) -> dict[int, str]:
    """The hash of each wanted line (1-based) of a file; a line that does not exist is absent.

    Spaces and tabs are dropped, CR and CRLF count as LF. A line's hash is a polynomial of base 37, modulo 2**64, over
    the 100 UTF-16 units that start there, the end of the file being 0xFFFF and then zeros: hexadecimal without
    padding, then ``:n`` for the n-th line of the file with that hash.
    """
    wanted = set(lines)
    last = max(wanted, default=0)
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").translate({0x20: None, 0x09: None})
    units = array("H", text.encode(_UTF16, "surrogatepass"))
    units.append(_END_OF_FILE)
    units.extend([0] * (_WINDOW - 1))
    found: dict[int, str] = {}
    seen: dict[int, int] = {}
    for line, value in enumerate(_windows(units), 1):
        if line > last:
            break
        seen[value] = seen.get(value, 0) + 1
        if line in wanted:
            found[line] = f"{value:x}:{seen[value]}"
    return found


def _windows(units: array[int]) -> Iterator[int]:
    """The polynomial of the window that begins at each line, from differences of running sums."""
    start, chunk, sums = 0, -1, [0]
    while True:
        if start // _CHUNK != chunk:
            chunk = start // _CHUNK
            part = units[chunk * _CHUNK : (chunk + 1) * _CHUNK + _WINDOW]
            sums = list(accumulate(part, lambda total, unit: (total * _BASE + unit) & _MASK, initial=0))
        at = start - chunk * _CHUNK
        yield (sums[at + _WINDOW] - sums[at] * _LEAVING) & _MASK
        try:
            start = units.index(_LINE_FEED, start) + 1
        except ValueError:
            return
