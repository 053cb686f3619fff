"""Upper bounds that stand in prose.

Most bounds of real definitions are stated in words only ("max 100", "between 1 and 50", "truncated to 2,000
characters"), and most numbers in them are no bounds ("default 10", "the last 24 hours", "files up to 10 MB"). Text is
read clause by clause, with its numbers taken out first; what is no bound by the words around it is dropped.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from dowbench.patterns import Patterns
from dowbench.result.cap_forms import NUMBER_WORDS, PATTERNS, forms_in
from dowbench.result.english import singular, word_set

SENTINELS = 2**31 - 1
"""From here on a maximum is a generator's default (2^31-1, 2^53-1 …) or says "any", and bounds nothing."""


class Cap(NamedTuple):
    """A bound that a text states."""

    value: float | None
    """The number; ``None`` where the text says that there is an end and not where."""
    unit: str
    """What is counted, in the singular: the word after the number; empty when there is none."""
    text: str
    """The words that state it, as they stand."""

    @property
    def is_maximum(self) -> bool:
        """Whether it holds whatever the caller asks for: "max 100", not "the first 20" or "returns 10"."""
        text = self.text.lower()
        return any(word in text for word in _HOLDING)


_HOLDING = ("max", "up to", "most", "more than", "cap", "limit", "exceed", "trunc", "最", "不超过", "上限")
_SCALE = {
    "k": 1_000, "thousand": 1_000, "million": 1_000_000, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000,
    "kib": 1_024, "mib": 1_048_576, "gib": 1_073_741_824, "kilobytes": 1_000, "megabytes": 1_000_000,
}  # fmt: skip
_BYTES = ("kb", "mb", "gb", "kib", "mib", "gib", "kilobytes", "megabytes")

_TIME = word_set(
    "second minute hour day week month year ms millisecond s sec min hr h d quarter decade am pm utc century"
)
_NEVER = word_set(
    "level hop depth layer generation px pixel percent % ° degree decimal digit place dimension km mile meter metre "
    "kilometer kilometre mi m cm mm inch usd dollar cent eur time attempt retry try thread worker concurrent parallel "
    "agent core gpu cpu node star point person guest adult child passenger step phase stage version http https st nd "
    "rd th x"
)
"""Units of what is no amount of output."""
_FILLER = word_set("a an and or each the is are in on for to as with of per will can may max maximum at")
_OUTPUT = word_set(
    "result item entry record row line character token byte word match hit message post comment event document page "
    "article section sentence paragraph chunk snippet object element response output reply log sample cell column "
    "candidate suggestion recommendation option video photo track song episode issue ticket commit release branch tag "
    "transaction order product listing review job task user member contact email conversation note card file paper "
    "citation reference neighbor neighbour passage excerpt highlight story headline tweet question answer series bar "
    "candle candlestick trade quote flight hotel location city route bucket key link url folder repository project run "
    "trace span alert incident metric name value entity path state"
)
_GIVEN = word_set("url file image id name key link")
"""Units that are as often counted on the way in as on the way out."""
_IRREGULAR = {
    "entries": "entry", "matches": "match", "queries": "query", "bytes": "byte", "char": "character",
    "chars": "character", "series": "series", "replies": "reply", "branches": "branch", "batches": "batch",
    "searches": "search", "people": "person", "retries": "retry",
    **dict.fromkeys("件条項项個个篇", "item"),
}  # fmt: skip


@lru_cache(maxsize=2048)
def in_parameter(text: str) -> Cap | None:
    """The cap that the description of a parameter states on its value, the largest of several."""
    if not _numbered(text):
        return None
    found = [cap for clause in _clauses(text) for cap, _ in _found(clause, of_parameter=True)]
    return max(found, key=lambda cap: cap.value or 0, default=None)


def capped(text: str) -> bool:
    """Whether the description of a parameter says that its value is cut, and not where."""
    return any(stem in text for stem in _HELD) and PATTERNS.held.search(text) is not None


_HELD = ("apped", "lamped", "xceed", "imited")


@lru_cache(maxsize=2048)
def counted_out(text: str) -> Cap | None:
    """The number of entries where a text names them all: "currently configured: A (first), B, C"."""
    found = _NAMED.all.search(text)
    return None if found is None else Cap(float(found[1].count(",") + 1), "item", found[0])


_NAMED = Patterns(
    0,
    all=r"(?i:\bcurrently (?:configured|connected|available|registered|enabled))(?: \w+)?: *"
    r"((?:[A-Z*][\w.+-]*(?: \([^()]{1,60}\))?(?:, (?:and )?| and (?=[A-Z])|(?=[.\n]|$))){2,})(?:[.\n]|$)",
)


def on_result(text: str, things: frozenset[str] = frozenset()) -> Cap | None:
    """The cap that the description of a tool states on what a call returns; one without a number has no value.

    ``things`` are the nouns, in the singular, for what the tool returns: a number of them is one of results. Numbers on
    inputs, times, depths and defaults are no caps on the result.
    """
    if not _numbered(text) and not _has(_CUT, text):
        return None
    best: Cap | None = None
    for clause in _clauses(text):
        for cap, start in _found(clause, of_parameter=False):
            before = clause.plain[:start]
            if PATTERNS.input.search(before) and not PATTERNS.yields.search(before[-40:]):
                continue
            given = PATTERNS.yields.search(before[-_NEAR:]) is not None
            after = clause.plain[start + len(cap.text) :]
            given = given or PATTERNS.returned.match(after) is not None
            each = PATTERNS.each.match(after) is not None
            given = given or PATTERNS.page_size.search(before[-_REACH:]) is not None
            told = given or (not cap.unit and (each or PATTERNS.yields.search(before[-_REACH:]) is not None))
            counted = not _OUTPUT.union(things).isdisjoint((cap.unit, *_nouns(after)))
            if not counted and not told:
                continue
            if cap.unit in _GIVEN and not PATTERNS.yields.search(before[-30:]):
                continue
            if best is None or best.value is None or (cap.value or 0) > best.value:
                best = cap
        if best is None and _has(_CUT, clause.plain):
            cut = PATTERNS.truncates.search(clause.plain)
            if cut and not PATTERNS.negated.search(clause.plain[: cut.start()]):
                best = Cap(None, "", " ".join(cut[0].split()))
    return best


def _nouns(text: str) -> list[str]:
    """The words of the noun phrase that a text begins with, in the singular: "recent delivery states"."""
    words = []
    for word in _WORD.findall(text[:_REACH].lower())[:3]:
        if word in _FILLER:
            break
        words.append(singular((word,))[0])
    return words


_WORD = re.compile("[a-z]+")


_CUT = (
    "trunc", "trim", "clip", "shorten", "cut", "elid", "abbreviat", "abridg",
    "capped", "bounded", "limit", "large", "more than", "few", "handful",
    "budget",
)  # fmt: skip


_DIGIT = re.compile(r"\d")


def _numbered(text: str) -> bool:
    return _DIGIT.search(text) is not None or not NUMBER_WORDS.keys().isdisjoint(text.lower().split())


def _has(stems: tuple[str, ...], text: str) -> bool:
    return any(map(text.lower().__contains__, stems))


class _Clause(NamedTuple):
    plain: str
    marked: str
    """With every number as ``⟦n⟧``, n its index in ``numbers``."""
    numbers: tuple[str, ...]


def _clauses(text: str) -> list[_Clause]:
    clauses = []
    for part in PATTERNS.clause.split(text.translate(_MARKUP)):
        if not part:
            continue
        whole = " ".join(part.split())
        for start in range(0, len(whole), LONGEST_CLAUSE):
            plain = whole[start : start + LONGEST_CLAUSE]
            numbers: list[str] = []

            def mark(match: re.Match[str], numbers: list[str] = numbers) -> str:
                numbers.append(match[0])
                return f"⟦{len(numbers) - 1}⟧"

            clauses.append(_Clause(plain, PATTERNS.number.sub(mark, plain), tuple(numbers)))
    return clauses


LONGEST_CLAUSE = 800
"""Longer clauses are cut, in characters: no statement of a cap is that long, and time would grow with its square."""
_MARKUP = str.maketrans("`*⟦⟧", "    ")


def _found(clause: _Clause, *, of_parameter: bool) -> list[tuple[Cap, int]]:
    """Every cap in one clause, and where in ``plain`` its statement begins."""
    marked = clause.marked
    if not clause.numbers:
        return []
    stated = forms_in(marked)
    if of_parameter:
        stated.append(PATTERNS.bare_range)
        if PATTERNS.advice.search(marked):
            return []
    found: list[tuple[Cap, int]] = []
    for pattern in stated:
        for match in pattern.finditer(marked):
            before = marked[: match.start()]
            if PATTERNS.no_bound.search(before[-_REACH:]) or PATTERNS.example.search(before):
                continue
            if "=" in match[0] and PATTERNS.call.search(before):
                continue
            number = clause.numbers[int(match["n"])]
            value = _value(number)
            if value >= SENTINELS:
                continue
            low = match.groupdict().get("low")
            if low is not None and _value(clause.numbers[int(low)]) >= value:
                continue
            unit = _unit(marked[match.end("n") + 1 : match.end("n") + _REACH], number)
            if unit in _NEVER or (unit in _TIME and not (of_parameter and unit == "day")):
                continue
            if unit in _FILLER:
                unit = ""
            start = len(_plain(before, clause.numbers))
            found.append((Cap(value, unit, _plain(match[0], clause.numbers).strip(" (:")), start))
            if len(found) >= _ENOUGH:
                return found
    return found


_NEAR = 20
"""How close before a cap "returns" stands where what is counted needs no further look, in characters."""
_REACH = 60
"""How far around a number the words that decide on it are looked for, in characters."""
_ENOUGH = 50
"""A clause with more caps than that is none that a person wrote."""
_MARK = re.compile("⟦(\\d+)⟧")


def _plain(marked: str, numbers: tuple[str, ...]) -> str:
    return _MARK.sub(lambda match: numbers[int(match[1])], marked)


def _unit(after: str, number: str) -> str:
    if number.lower().endswith(_BYTES):
        return "byte"
    found = PATTERNS.unit.match(after)
    if not found:
        return ""
    word = found["unit"].lower()
    return _IRREGULAR.get(word) or (word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" else word)


def _value(text: str) -> float:
    text = re.sub(r"[,_\u00a0\u202f\u2009]", "", text.lower())
    match = re.match(r"(\d+(?:\.\d+)?)\s?([a-z]*)", text)
    if match is None:
        return NUMBER_WORDS[text.split()[-1]]
    value = float(match[1]) * _SCALE.get(match[2], 1)
    return int(value) if value.is_integer() else value
