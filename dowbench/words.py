"""Names as lower-case words: rules compare whole words, never parts of one."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# Matched against the shape of a name: A is an upper-case letter, s the letter s, a another letter, 0 a digit.
_WORD = re.compile(
    r"""
      A{2,}s(?![as])     # a plural acronym: URLs
    | A+(?=A[as])        # an acronym before a capitalised word: HTTP in HTTPServer
    | A?[as]+
    | A+
    | 0+
    """,
    re.VERBOSE,
)


_LOWER = re.compile("[a-z]+|[0-9]+")
"""The words where nothing is in upper case."""


def _shape_of(character: str) -> str:
    if character == "s":
        return "s"
    if character.isupper():
        return "A"
    return "a" if character.isalpha() else "0" if character.isdecimal() else " "


_ASCII = {code: _shape_of(chr(code)) for code in range(128)}


def _shape(name: str) -> str:
    return name.translate(_ASCII) if name.isascii() else "".join(map(_shape_of, name))


def _plain(name: str) -> str:
    """Compatibility characters as what they look like, and nothing that cannot be seen."""
    folded = unicodedata.normalize("NFKC", name)
    return "".join(character for character in folded if unicodedata.category(character) not in ("Cf", "Mn"))


@lru_cache(maxsize=1 << 16)
def split(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case.

    ``getURLs`` is get, urls; ``HTTPServer2`` is http, server, 2; ``list-open_ticketsByUser`` is list, open, tickets,
    by, user. Digits are words of their own, everything that is neither letter nor digit separates words.
    """
    if not name.isascii():
        name = _plain(name)
    elif name.islower():
        return tuple(_LOWER.findall(name))
    return tuple(name[slice(*match.span())].lower() for match in _WORD.finditer(_shape(name)))


def find(words: Sequence[str], sequence: Sequence[str]) -> int | None:
    """Where ``sequence`` first stands in ``words``, word by word; ``None`` where it does not, or is empty."""
    length = len(sequence)
    if not length:
        return None
    first, wanted = sequence[0], tuple(sequence)
    for start in range(len(words) - length + 1):
        if words[start] == first and tuple(words[start : start + length]) == wanted:
            return start
    return None
