"""Phrases, looked up in words."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from dowbench.model import EMPTY
from dowbench.prose import Hit
from dowbench.words import split

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MAX_GAP = 6
"""How many words ``...`` in a phrase may stand for."""
MAX_GAPS = 2
"""How many gaps a phrase may have: each multiplies what there is to try."""
_LETTERS = re.compile("[A-Za-z]+")
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

    def begin(self, word: str) -> bool:
        """Whether one of the phrases begins with a word."""
        if not self._read:
            self._once_read()
        return word in self._single or word in self._longer

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
            following = elements[i + 1]
            for start in range(at, min(at + MAX_GAP + 1, len(words))):
                if words[start] == following or (isinstance(following, Phrases) and following.begin(words[start])):
                    end = _end(words, start, elements, i + 1, present)
                    if end is not None:
                        return end
            return None
        if at >= len(words):
            return None
        if isinstance(element, Phrases):
            if not element.begin(words[at]):
                return None
            ends = element._ends(words, at, present)
            for middle in sorted(ends, reverse=True) if len(ends) > 1 else ends:
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
