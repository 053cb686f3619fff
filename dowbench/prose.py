"""Descriptions as sentences, clauses and words.

A word is a whole word in lower case: ``web_search``, ``nextCursor`` and ``base64`` are two, ``don't`` is ``do not``,
``2,000`` is ``2000``, ``&`` is ``and``; capitalised names (``GitHub``) stay one. No word is joined across a space and
none is cut.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from dowbench.patterns import Patterns
from dowbench.words import split

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_THIS_TOOL = ("this", "tool")
NEGATION_REACH = 5
"""How many words before a phrase, in its own clause, a negation may stand and still be about it."""

_TOKEN = re.compile(
    r"(?P<plain>[^\W\d_]+)(?![\w.'’])"
    r"|(?P<joined>(?<=\s)&(?=\s))"
    r"|(?P<short>\b(?:e\.g|i\.e|etc(?!\.\s+[A-Z])|vs|approx|incl|cf|max|min)\.(?!\s*$))"
    r"|(?P<word>\d[\d,_]*\d(?!\w)|\w+(?:['’](?:t|s|re|ll|ve|d|m)\b)?)"
    r"|(?P<stop>[.!?…](?=[\s\"')\]]|$)|\n\s*(?:\n|[-*•]\s|\d+[.)]\s)|\n)"
    r"|(?P<clause>[,;:()\[\]—–]|\s[-|]\s)"
)
_MARKUP = Patterns(tag=r"</?([A-Za-z][\w-]*)(?:\s[^<>]*)?/?>")
_INLINE = frozenset(("a", "abbr", "b", "code", "em", "i", "kbd", "mark", "samp", "small", "span", "strong", "tt", "u"))
"""Elements of HTML that stand inside a sentence."""
_QUOTES = frozenset("`'\"‘“")
_NEGATORS = frozenset(
    {
        "not",
        "never",
        "no",
        "cannot",
        "without",
        "neither",
        "nor",
        "avoid",
        "avoids",
        "avoiding",
        "unable",
        "nothing",
        "none",
        "unnecessary",
    }
)
_NOT_NEGATING = frozenset(
    {"only", "just", "merely", "more", "less", "fewer", "longer", "later", "matter", "problem", "doubt"}
)
"""After a negator, these make it something else: "not only", "no more than", "no matter"."""
_IN_PLACE_OF = {("instead", "of"), ("rather", "than")}
_CLAUSE_WORDS = frozenset(
    {
        "but",
        "however",
        "otherwise",
        "instead",
        "because",
        "since",
        "so",
        "therefore",
        "although",
        "though",
        "while",
        "until",
    }
)

_OPEN_WORDS = frozenset({"a", "an", "the", "of", "to", "with", "by", "from", "as", "and", "or", "if", "when", "until"})
"""What no sentence ends with: a line that does goes on."""


class Hit(NamedTuple):
    """Where a phrase stands: words ``start`` up to, not including, ``end``."""

    start: int
    end: int


class Sentence(NamedTuple):
    """One sentence of a text."""

    text: str
    """The whole text, so that a hit can be quoted as it was written."""
    words: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    """Start and end of each word in ``text``, in code points."""
    clauses: tuple[int, ...]
    """For each word, the index of the first word of its clause."""

    def quote(self, hit: Hit) -> str:
        """The hit as it stands in the text, white space folded."""
        return " ".join(self.text[self.places[hit.start][0] : self.places[hit.end - 1][1]].split())

    def negated(self, hit: Hit) -> bool:
        """Whether a negation before the hit, in the same clause, is about it."""
        first = max(self.clauses[hit.start], hit.start - NEGATION_REACH)
        return any(
            (self.words[i] in _NEGATORS and self.words[i + 1] not in _NOT_NEGATING)
            or self.words[i : i + 2] in _IN_PLACE_OF
            for i in range(first, hit.start)
        )

    def is_identifier(self, hit: Hit) -> bool:
        """Whether the hit is part of one identifier, ``include_full_text``, which is a name and says nothing."""
        start, end = place = self.places[hit.start]
        return hit.end - hit.start > 1 and place == self.places[hit.end - 1] and "_" in self.text[start:end]


class Mentions:
    """The identifiers that sentences mention: as they are spelt, and quoted where they are plain words."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self._sentences = sentences
        self._bare: dict[str, dict[int, None]] = {}
        self._quoted: dict[str, dict[int, None]] = {}
        for number, (text, _, places, _) in enumerate(sentences):
            for start, end in places:
                word = text[start:end]
                self._bare.setdefault(word, {})[number] = None
                if text[start - 1 : start] in _QUOTES:
                    self._quoted.setdefault(word, {})[number] = None

    def of(self, name: str) -> list[Sentence]:
        """The sentences that mention an identifier."""
        known = self._quoted if len(split(name)) < 2 else self._bare
        return [self._sentences[number] for number in known.get(name, ())]


def sentences(text: str, own: str = "") -> tuple[Sentence, ...]:
    """The sentences of ``text``. List items and lines of their own are sentences; ``e.g.`` ends none.

    ``own`` is the name of the tool that the text is about: where it is more than a plain word, it reads as ``this
    tool``.
    """
    return _sentences(text, own if own in text and len(split(own)) > 1 else "")


@lru_cache(maxsize=4096)
def _sentences(text: str, own: str) -> tuple[Sentence, ...]:
    found: list[Sentence] = []
    words: list[str] = []
    places: list[tuple[int, int]] = []
    clauses: list[int] = []
    clause = 0

    indent = _indent(text) if "\n " in text else 0

    def end() -> None:
        nonlocal clause
        if words:
            found.append(Sentence(text, tuple(words), tuple(places), tuple(clauses)))
        words.clear()
        places.clear()
        clauses.clear()
        clause = 0

    for token in _TOKEN.finditer(_unmarked(text) if "</" in text else text):
        if token.lastgroup == "plain" and (word := token[0]) != own and (word.islower() or not word[0].islower()):
            word = word.lower()
            if word in _CLAUSE_WORDS:
                clause = len(words)
            words.append(word)
            places.append(token.span())
            clauses.append(clause)
        elif token.lastgroup == "stop":
            broken = token[0] == "\n" and words and words[-1] in _OPEN_WORDS
            room = {".": 0, "\n": indent}.get(token[0])
            if not broken and (room is None or not _goes_on(text, token.end(), room)):
                end()
        elif token.lastgroup == "clause":
            clause = len(words)
        elif token.lastgroup == "joined":
            words.append("and")
            places.append(token.span())
            clauses.append(clause)
        else:
            written = token[0].rstrip(".") if token.lastgroup == "short" else token[0]
            for word in _THIS_TOOL if written == own else _words(written):
                if word in _CLAUSE_WORDS:
                    clause = len(words)
                words.append(word)
                places.append(token.span())
                clauses.append(clause)
    end()
    return tuple(found)


def _unmarked(text: str) -> str:
    """A text of the same length with blanks for the tags of its elements; those of XML also end a sentence.

    A docstring's ``<returns>`` becomes the heading that it is.
    """
    elements = {tag[1] for tag in _MARKUP.tag.finditer(text) if tag[0][1] == "/"}

    def blank(tag: re.Match[str]) -> str:
        name, room = tag[1], len(tag[0]) - 2
        if name not in elements:
            return tag[0]
        if name.lower() in _INLINE:
            return " " * len(tag[0])
        heading = f"{name}:" if name == "returns" and len(name) == room else ""
        return f"\n{heading}" if heading else f"\n{' ' * room}\n"

    return _MARKUP.tag.sub(blank, text)


def _goes_on(text: str, position: int, indent: int) -> bool:
    """Whether a full stop or a line break ends nothing, since what follows is in lower case.

    Lines that are indented more than the text is are entries of their own.
    """
    return text[position : position + indent + 2].lstrip(" ")[:1].islower()


def _indent(text: str) -> int:
    """How far all lines but the first are indented, as those of a docstring are."""
    return min((len(line) - len(line.lstrip(" ")) for line in text.split("\n")[1:] if line.strip()), default=0)


def _words(token: str) -> Iterator[str]:
    if "." in token:
        yield token.replace(".", "").lower()
        return
    if not token.isalnum() and not token.strip("0123456789,_"):
        yield from split(token.replace(",", "").replace("_", ""))
        return
    stem, apostrophe, tail = token.replace("’", "'").partition("'")
    if apostrophe and tail == "t":
        stem = stem.lower()
        yield {"can": "can", "won": "will", "shan": "shall"}.get(stem, stem.removesuffix("n"))
        yield "not"
        return
    if stem.isalpha() and (not stem[:1].islower() or stem.islower()):
        yield stem.lower()
    else:
        yield from split(stem)
