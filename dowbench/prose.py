"""Descriptions as sentences and words, and phrases looked up in them.

A word is a whole word in lower case: ``web_search``, ``nextCursor`` and ``base64`` are two, ``don't`` is ``do not``,
``2,000`` is ``2000``, ``&`` is ``and``; capitalised names (``GitHub``) stay one. No word is joined across a space and
none is cut.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from dowbench.model import EMPTY
from dowbench.words import split

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_THIS_TOOL = ("this", "tool")
MAX_GAP = 6
"""How many words ``...`` in a phrase may stand for."""
MAX_GAPS = 2
"""How many gaps a phrase may have: each multiplies what there is to try."""
NEGATION_REACH = 5
"""How many words before a phrase, in its own clause, a negation may stand and still be about it."""

_TOKEN = re.compile(
    r"(?P<plain>[^\W\d_]+)(?![\w.'’])"
    r"|(?P<joined>(?<=\s)&(?=\s))"
    r"|(?P<short>\b(?:e\.g|i\.e|etc|vs|approx|incl|cf|max|min)\.(?!\s*$))"
    r"|(?P<word>\d[\d,_]*\d(?!\w)|\w+(?:['’](?:t|s|re|ll|ve|d|m)\b)?)"
    r"|(?P<stop>[.!?…](?=[\s\"')\]]|$)|\n\s*(?:\n|[-*•]\s|\d+[.)]\s)|\n)"
    r"|(?P<clause>[,;:()\[\]—–]|\s[-|]\s)"
)
_LETTERS = re.compile("[A-Za-z]+")
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


_SPELT_OTHERWISE = frozenset({"not", "will", "shall", "this", "tool", "eg", "ie"})
"""Words that ``sentences`` makes of something else, such as "won't"."""
_TELLING = 5
"""Letters from which on a word is rare in texts."""


class PhraseError(ValueError):
    """A text that is no phrase. ``index`` is its place in the list, ``name`` that of a list that does not exist."""

    def __init__(self, index: int, message: str, name: str | None = None) -> None:
        super().__init__(message)
        self.index = index
        self.name = name


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

    def end() -> None:
        nonlocal clause
        if words:
            found.append(Sentence(text, tuple(words), tuple(places), tuple(clauses)))
        words.clear()
        places.clear()
        clauses.clear()
        clause = 0

    for token in _TOKEN.finditer(text):
        if token.lastgroup == "plain" and (word := token[0]) != own and (word.islower() or not word[0].islower()):
            word = word.lower()
            if word in _CLAUSE_WORDS:
                clause = len(words)
            words.append(word)
            places.append(token.span())
            clauses.append(clause)
        elif token.lastgroup == "stop":
            if token[0] not in {"\n", "."} or not _goes_on(text, token.end()):
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


@lru_cache(maxsize=1 << 14)
def _words_within(text: str) -> frozenset[str]:
    """Every word of letters that ``sentences`` makes of a text in ASCII, and a few more."""
    found: set[str] = set()
    for letters in set(_LETTERS.findall(text)):
        found.add(letters.lower())
        if not letters.islower() and not letters.istitle():
            found.update(split(letters))
    if "'t" in text:
        found.update([word[:-1] for word in found if word.endswith("n")])
    return frozenset(found)


def _goes_on(text: str, position: int) -> bool:
    """Whether a full stop or a line break ends nothing, since what follows is in lower case."""
    return text[position : position + 2].lstrip(" ")[:1].islower()


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


class Phrases:
    """A set of phrases, found by their first word.

    An element is a word, ``...`` (none to ``MAX_GAP`` words) or other phrases (one of them).
    """

    __slots__ = ("_every", "_lists", "_longer", "_marks", "_needed", "_read", "_single", "_texts")

    def __init__(self, texts: Sequence[str], lists: Mapping[str, Phrases] = EMPTY) -> None:
        """Phrases from their texts; ``$name`` in a text stands for one of the phrases of ``lists[name]``.

        They are read when they are first looked for. ``compile`` reads them at once.
        """
        self._texts = texts
        self._lists = lists
        self._read = False
        self._every: tuple[str, ...] = ()
        self._single: set[str] = set()
        self._longer: dict[str, list[_Phrase]] = {}
        self._marks: frozenset[str] | None = None
        self._needed: frozenset[str] | None = None

    @classmethod
    def compile(cls, texts: Sequence[str], lists: Mapping[str, Phrases] = EMPTY) -> Phrases:
        """Phrases that were read.

        Raises ``PhraseError`` on an unknown list, a phrase that begins or ends with a gap, and on what can never be a
        word.
        """
        return cls(texts, lists)._once_read()

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts, those of a list that is an entry of its own among them."""
        return self._once_read()._every

    @property
    def firsts(self) -> frozenset[str]:
        """The words that a phrase begins with."""
        self._once_read()
        return frozenset((*self._single, *self._longer))

    @property
    def marks(self) -> frozenset[str]:
        """For each phrase a word of it, as it must stand in a text that has the phrase; empty where nothing tells."""
        if self._marks is None:
            self._once_read()
            needs = [phrase.needs for phrases in self._longer.values() for phrase in phrases]
            told = self._single.isdisjoint(_SPELT_OTHERWISE) and all(needs)
            self._marks = frozenset(self._single.union(*needs)) if told else frozenset()
        return self._marks

    @property
    def needed(self) -> frozenset[str]:
        """Words of which one stands wherever one of the phrases does."""
        if self._needed is None:
            self._needed = self.marks or self.firsts
        return self._needed

    def may_be_in(self, text: str) -> bool:
        """Whether a text is worth reading for them: most have not one of their words, which is told much sooner."""
        if not self.marks or not text.isascii():
            return True
        return not self.marks.isdisjoint(_words_within(text))

    def _once_read(self) -> Phrases:
        if self._read:
            return self
        self._read = True
        single, longer = self._single, self._longer
        every: list[str] = []
        for index, text in enumerate(self._texts):
            if text.isalpha() and text.islower():  # one word, by far the most
                single.add(text)
                every.append(text)
                continue
            parts = text.split()
            if "".join(parts).isalpha() and text.islower():
                elements: tuple[object, ...] = tuple(parts)
            else:
                elements = tuple(element for part in parts for element in _elements(part, self._lists, index))
            first = elements[0] if elements else "..."
            if len(elements) == 1 and isinstance(first, Phrases):
                every += first.texts
                single |= first._single
                for word, phrases in first._longer.items():
                    longer.setdefault(word, []).extend(phrases)
                continue
            if first == "..." or elements[-1] == "...":
                raise PhraseError(index, f"`{text}` is no phrase: it must begin and end with a word")
            if elements.count("...") > MAX_GAPS:
                raise PhraseError(index, f"`{text}` has more than {MAX_GAPS} gaps")
            phrase = _Phrase(elements)
            for word in first.firsts if isinstance(first, Phrases) else (str(first),):
                longer.setdefault(word, []).append(phrase)
            every.append(text)
        self._every = tuple(every)
        return self

    def find(self, words: Sequence[str], start: int = 0) -> Hit | None:
        """The first hit at or after ``start``, the longest of those that begin there."""
        if self.needed.isdisjoint(words):  # nearly always, and far quicker than to go through them
            return None
        return next(self.all(words, start), None)

    def all(self, words: Sequence[str], start: int = 0) -> Iterator[Hit]:
        """Every place where a phrase begins, with its longest hit there."""
        if self.needed.isdisjoint(words):
            return
        single, longer, present = self._single, self._longer, frozenset(words)
        for i in range(start, len(words)):
            if words[i] in longer:
                if ends := self._ends(words, i, present):
                    yield Hit(i, max(ends))
            elif words[i] in single:
                yield Hit(i, i + 1)

    def end_at(self, words: Sequence[str], start: int) -> int | None:
        """Where the longest phrase that begins at ``start`` ends, ``None`` when none does."""
        return max(self._once_read()._ends(words, start, frozenset(words)), default=None)

    def _ends(self, words: Sequence[str], start: int, present: frozenset[str]) -> set[int]:
        """Where the phrases that begin at ``start`` end; ``present`` are all the words there are."""
        word = words[start]
        ends = {start + 1} if word in self._single else set[int]()
        for phrase in self._longer.get(word, ()):
            if not (phrase.needs and phrase.needs.isdisjoint(present)):
                end = _end(words, start, phrase.elements, 0, present)
                if end is not None:
                    ends.add(end)
        return ends


class _Phrase:
    """A phrase of more than one plain word."""

    __slots__ = ("_needs", "elements")

    def __init__(self, elements: tuple[object, ...]) -> None:
        self.elements = elements
        self._needs: frozenset[str] | None = None

    @property
    def needs(self) -> frozenset[str]:
        """Words of which one stands, spelt like this, in every text that has the phrase; empty where none is known."""
        if self._needs is None:
            words = {element for element in self.elements if isinstance(element, str) and element.isalpha()}
            longest = max(words - _SPELT_OTHERWISE, key=len, default="")
            nested = [element.marks for element in self.elements if isinstance(element, Phrases) and element.marks]
            if nested and len(longest) < _TELLING:
                self._needs = min(nested, key=len)
            else:
                self._needs = frozenset({longest} if longest else ())
        return self._needs


def _end(words: Sequence[str], at: int, elements: tuple[object, ...], k: int, present: frozenset[str]) -> int | None:
    """Where ``elements`` from ``k`` on end when they begin at ``at``."""
    for i in range(k, len(elements)):
        element = elements[i]
        if element == "...":
            for skip in range(min(MAX_GAP, len(words) - at - 1) + 1):
                end = _end(words, at + skip, elements, i + 1, present)
                if end is not None:
                    return end
            return None
        if at >= len(words):
            return None
        if isinstance(element, Phrases):
            for middle in sorted(element._once_read()._ends(words, at, present), reverse=True):
                end = _end(words, middle, elements, i + 1, present)
                if end is not None:
                    return end
            return None
        if words[at] != element:
            return None
        at += 1
    return at


def _elements(part: str, lists: Mapping[str, Phrases], index: int) -> tuple[object, ...]:
    if part == "...":
        return (part,)
    if part.startswith("$"):
        if part[1:] not in lists:
            raise PhraseError(index, f"unknown word list `{part}`", part[1:])
        return (lists[part[1:]],)
    if not part.isalnum() or part != part.lower():
        raise PhraseError(index, f"`{part}` is no word: words are whole, in lower case, without punctuation")
    return (part,) if part.isalpha() else split(part)
