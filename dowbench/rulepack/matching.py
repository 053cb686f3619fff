"""Conditions on words: of a name, and of the sentences of a description."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from dowbench.phrases import PhraseError, Phrases
from dowbench.prose import Hit, sentences
from dowbench.rulepack.reading import FaultError, Path, choice, mapping, near, number, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dowbench.prose import Sentence
    from dowbench.rulepack.view import Env

NAME_KEYS = ("words", "starts", "ends", "without")
NAMES = 1 << 14
"""Names of which a condition remembers what it said: those of a large interface, and not of all files there are."""
AROUND = 30
"""Most words that a quotation has before a phrase, and after it."""
_CONDITIONS = frozenset(
    {"if", "when", "whenever", "where", "while", "until", "unless", "once", "after", "before", "for"}
)
"""First words of a clause without which the one beside it does not hold."""
_LAST_OF_A_LIST = frozenset({"and", "or", "then"})
_MEMBER = 4
"""Most words of a member of an enumeration that is not its last."""
_MARKS = ("**", "*", "`", '"')
"""What opens and closes emphasis, code and quotations."""
DESCRIPTION_KEYS = ("phrases", "also", "without", "within", "first")


def phrases(value: Any, at: Path, env: Env) -> Phrases:
    """The phrases of a list, in which ``$name`` stands for a word list."""
    entries = texts(value, at)
    if env.checked:
        return Phrases(entries, env.lists)
    try:
        return Phrases.compile(entries, env.lists)
    except PhraseError as error:
        place = (*at, error.index) if isinstance(value, list) else at
        hint = near(error.name, env.lists) if error.name is not None else ""
        raise FaultError(f"{error}{hint}", place) from None


def name(value: Any, at: Path, env: Env) -> Callable[[Sequence[str]], bool]:
    """A test of the words of a name. All keys that are given must hold."""
    keys = mapping(value, at, NAME_KEYS)
    words, starts, ends, without = (
        phrases(keys[k], (*at, k), env) if k in keys else None for k in ("words", "starts", "ends", "without")
    )

    @lru_cache(maxsize=NAMES)
    def test(name: Sequence[str]) -> bool:
        return bool(name) and (
            (words is None or words.find(name) is not None)
            and (starts is None or starts.end_at(name, 0) is not None)
            and (ends is None or any(hit.end == len(name) for hit in ends.all(name)))
            and (without is None or without.find(name) is None)
        )

    return test


class Mention(NamedTuple):
    """Where a description says something."""

    sentence: Sentence
    hit: Hit

    @property
    def text(self) -> str:
        """The words as they were written."""
        return self.sentence.quote(self.hit)

    @property
    def context(self) -> str:
        """The same with the clause around them, the condition under which it holds, and what ends a repetition."""
        begin, end = self._begin(), self._end()
        start, stop = self._near(begin, end)
        before, behind = "… " if start > begin else "", " …" if stop < end else ""
        return f"{before}{self._whole(start, stop)}{behind}"

    @property
    def whole(self) -> str:
        """The sentence, or as much of it as a quotation has."""
        words = len(self.sentence.words)
        start, stop = self._near(0, words)
        return f"{'… ' if start else ''}{self._whole(start, stop)}{' …' if stop < words else ''}"

    @property
    def quoted(self) -> Hit:
        """The words of ``context``."""
        return self._near(self._begin(), self._end())

    def _near(self, begin: int, end: int) -> Hit:
        """Of the words ``begin`` up to, not including, ``end`` those that a quotation has."""
        return Hit(max(begin, self.hit.start - AROUND), min(end, self.hit.end + AROUND))

    def _begin(self) -> int:
        """Where the clause starts; where its sentence does, if it is the end of a list; or the condition before it."""
        words, clauses, listed = self.sentence.words, self.sentence.clauses, False
        start, farthest = clauses[self.hit.start], self.hit.start - AROUND - 1
        while start > max(farthest, 0):
            if ")" in self._between(start):
                opened = next((i for i in range(start - 1, max(farthest, 0), -1) if "(" in self._between(i)), None)
                if opened is None:
                    break
                start = clauses[opened - 1]
                continue
            listed = listed or words[start] in _LAST_OF_A_LIST
            if not listed and words[clauses[start - 1]] not in _CONDITIONS:
                break
            start = clauses[start - 1]
        return start

    def _end(self) -> int:
        """Where the clause ends, or the condition behind it, as in "until …, or …", also behind a parenthesis."""
        words, clauses, condition = self.sentence.words, self.sentence.clauses, ""
        end, farthest = self.hit.end, min(len(words), self.hit.end + AROUND + 1)
        while end < farthest:
            if clauses[end] != clauses[end - 1]:
                inside = end
                if "(" in self._between(end):
                    end = next((i for i in range(end + 1, farthest) if ")" in self._between(i)), end)
                    if end > inside and self._between(end) != ")":
                        return end
                if words[end] in _CONDITIONS:
                    condition = words[end]
                elif end == inside and (last := self._last_of_list(end)):
                    end = last
                elif end == inside and (condition, words[end]) != ("until", "or"):
                    return inside
            end += 1
        return end

    def _last_of_list(self, i: int) -> int:
        """The last word of an enumeration whose second member begins at word ``i``; 0 where there is none."""
        words, clauses, start = self.sentence.words, self.sentence.clauses, i
        while start < min(len(words), i + AROUND) and self._between(start) == ",":
            end = next((j for j in range(start, len(words)) if clauses[j] != start), len(words))
            if words[start] in _LAST_OF_A_LIST:
                return end - 1 if start > i else 0
            if not _LAST_OF_A_LIST.isdisjoint(words[start : min(start + _MEMBER, end)]):
                return end - 1
            if words[start] in _CONDITIONS or end - start > _MEMBER:
                return 0
            start = end
        return 0

    def _between(self, i: int) -> str:
        """What stands between a word and the one before it, without white space and quotation marks."""
        places = self.sentence.places
        return self.sentence.text[places[i - 1][1] : places[i][0]].strip(" \n\t'\"`")

    def _whole(self, start: int, stop: int) -> str:
        """Words ``start`` up to, not including, ``stop``, with the mark that closes what opens among them."""
        text, places = self.sentence.text, self.sentence.places
        first, after = places[start][0], places[stop - 1][1]
        for mark in _MARKS:
            if text.count(mark, first, after) % 2:
                if text.startswith(mark, after):
                    after += len(mark)
                elif text.endswith(mark, 0, first):
                    first -= len(mark)
        if text.count("(", first, after) > text.count(")", first, after) and text.startswith(")", after):
            after += 1
        return " ".join(text[first:after].split())


class Search:
    """A search in sentences: one that has a phrase which is not negated, all of ``also``, and none of ``without``."""

    def __init__(
        self, wanted: Phrases | None, also: Sequence[Phrases], without: Phrases | None, opening: slice, *, whole: bool
    ) -> None:
        self._wanted = wanted
        self._also = also
        self._without = without
        self._opening = opening
        self._whole = whole

    def __call__(self, text: Sequence[Sentence]) -> Mention | None:
        """The first mention."""
        wanted = self._wanted
        if wanted is None:
            return None
        needed = wanted.needed
        for sentence in text[self._opening]:
            if needed.isdisjoint(sentence.words):
                continue
            fitting: frozenset[int] | None = None
            for hit in wanted.all(sentence.words):
                if sentence.negated(hit) or sentence.is_identifier(hit):
                    continue
                if fitting is None:
                    fitting = self._fitting(sentence)
                if sentence.clauses[hit.start] in fitting:
                    return Mention(sentence, hit)
        return None

    def in_text(self, text: str) -> Mention | None:
        """The first mention in a text of which nobody has asked for the sentences yet."""
        if self._wanted is None or not self._wanted.may_be_in(text):
            return None
        return self(sentences(text))

    def _fitting(self, sentence: Sentence) -> frozenset[int]:
        """The clauses near which all of ``also`` stand, and none of ``without``."""
        fitting = frozenset(sentence.clauses)
        for group in self._also:
            fitting &= self._clauses(group, sentence)
        return fitting - self._clauses(self._without, sentence) if self._without and fitting else fitting

    def _clauses(self, group: Phrases, sentence: Sentence) -> frozenset[int]:
        """The clauses that have one of the phrases; with ``whole`` all of them where one has."""
        if self._whole:
            return frozenset(sentence.clauses if group.find(sentence.words) else ())
        return frozenset(sentence.clauses[hit.start] for hit in group.all(sentence.words))


def description(value: Any, at: Path, env: Env) -> Search:
    """The search that a condition on a description stands for.

    ``first`` is the number of sentences, from the beginning, that are looked at.
    """
    keys = mapping(value, at, DESCRIPTION_KEYS)
    wanted = phrases(keys["phrases"], (*at, "phrases"), env) if "phrases" in keys else None
    also = [phrases(item, (*at, "also", i), env) for i, item in enumerate(_groups(keys.get("also", []), (*at, "also")))]
    without = phrases(keys["without"], (*at, "without"), env) if "without" in keys else None
    first = None
    if "first" in keys:
        first = number(keys["first"], (*at, "first"))
        if first < 1 or first != int(first):
            raise FaultError(f"expected a whole number of 1 or more, found {first}", (*at, "first"))
    opening = slice(None if first is None else int(first))
    whole = choice(keys.get("within", "sentence"), (*at, "within"), ("sentence", "clause")) == "sentence"
    return Search(wanted, also, without, opening, whole=whole)


def _groups(value: Any, at: Path) -> list[Any]:
    if not isinstance(value, list) or not all(isinstance(group, (list, str)) for group in value):
        raise FaultError("expected a list of phrase lists, one of each of which must stand in the same place", at)
    return value
