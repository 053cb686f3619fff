"""The hash of a line by which code scanning recognises a result again after lines above it have moved.

GitHub's upload action computes it for reports that carry none (``fingerprints.ts`` in github/codeql-action). A report
that carries another value under the same key makes every result look new once, so this one is equal to the bit.
"""

from __future__ import annotations

import sys
from array import array
from operator import mul
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_WINDOW = 100
_MASK = (1 << 64) - 1
_POWERS = tuple(pow(37, _WINDOW - 1 - i, 1 << 64) for i in range(_WINDOW))
_END_OF_FILE = 0xFFFF
_LINE_FEED = 0x0A
_UTF16 = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"


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
    found: dict[int, str] = {}
    seen: dict[int, int] = {}
    start, line = 0, 1
    while line <= last:
        value = sum(map(mul, units[start : start + _WINDOW], _POWERS)) & _MASK
        seen[value] = seen.get(value, 0) + 1
        if line in wanted:
            found[line] = f"{value:x}:{seen[value]}"
        try:
            start = units.index(_LINE_FEED, start) + 1
        except ValueError:
            break
        line += 1
    return found
