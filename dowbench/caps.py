"""Upper bounds that stand in prose.

Most bounds of real definitions are stated in words only ("max 100", "between 1 and 50", "truncated to 2,000
characters"), and most numbers in them are no bounds ("default 10", "the last 24 hours", "files up to 10 MB"). Text is
read clause by clause; what is no bound by its words around it is dropped.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple


class Cap(NamedTuple):
    """A bound that a text states."""

    value: float | None
    """The number; ``None`` where the text says that there is an end and not where."""
    unit: str
    """The word after the number, in the singular where it is a known unit; empty when there is none."""
    text: str
    """The words that state it."""


_SCALE = {
    "k": 1_000, "thousand": 1_000, "million": 1_000_000, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000,
    "kib": 1_024, "mib": 1_048_576, "gib": 1_073_741_824, "kilobytes": 1_000, "megabytes": 1_000_000,
}  # fmt: skip
_WORD_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50, "hundred": 100, "thousand": 1_000,
}  # fmt: skip
_BYTES = frozenset({"kb", "mb", "gb", "kib", "mib", "gib", "kilobytes", "megabytes"})

_N = (
    r"(?:\d{1,3}(?:[,_\u00a0\u202f\u2009]\d{3})+|\d+(?:\.\d+)?)"
    r"(?:\s?(?:k|thousand|million|[kmg]i?b|kilobytes|megabytes)\b)?(?!\w|\.\d)"
    r"|\b(?:a\s+|one\s+)?(?:" + "|".join(_WORD_NUMBERS) + r")\b"
)
_LEAD = r"(?:the\s+|a\s+|an\s+|its\s+|your\s+|only\s+|about\s+|around\s+|roughly\s+|approximately\s+|~\s*|=\s*|:\s*|\(\s*)*"
_NUMBER = rf"{_LEAD}(?P<n>{_N})"
_SEP = r"\s*(?:-|–|—|\.{2,3}|…|,|to|and|through|thru)\s*"

_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # between 1 and 100; from 1 to 100; in the range 1-100; 1 ≤ n ≤ 100
        rf"\bbetween\s+(?P<low>{_N})(?:\s*\w+)?\s*(?:and|to|&|-|–|—)\s*(?P<n>{_N})",
        rf"\b(?:ranges?|values?|numbers?|integers?)\b[^.;]{{0,24}}?[\s:(\[]+(?P<low>{_N}){_SEP}(?P<n>{_N})",
        rf"\b(?:from|within|in)\s+[\[(]?(?P<low>{_N})\s*(?:to|-|–|—|\.\.\.?)\s*(?P<n>{_N})",
        rf"(?P<low>{_N})\s*(?:<=?|≤)\s*\w+\s*(?:<=?|≤)\s*(?P<n>{_N})",
        # max 100; maximum of 50; maximum value is 1000; Maximum: 100; max results 50; max_length=100
        r"\bmax(?:imum|\.)?(?:[\s_-]+(?:values?|numbers?|allowed|limit|sizes?|counts?|length|is|of|for|the|this|"
        r"results?|items?|entries|rows|records|lines|pages?|per|request|call|possible|supported|permitted|allowable|"
        rf"total|set|at|to|are|can|be|currently|allowed|output))*\s*[:=]?\s*{_NUMBER}",
        rf"(?P<n>{_N})\s*(?:\w+\s*)?\(?\s*(?:(?:is|as)\s+)?(?:the\s+)?(?:max(?:imum)?\b|at\s+(?:the\s+)?most\b|upper\s+limit|"
        r"or\s+(?:fewer|less|below)|tops\b)",
        # up to 50; at most 50; no more than 50; must not exceed 50; <= 50; less than 50
        rf"\bup\s?-?to\s+(?:(?:a\s+)?(?:maximum|max|limit|total)\s+(?:of\s+)?|the\s+(?:first|last|top)\s+)?{_NUMBER}",
        r"(?:\bat\s+(?:the\s+)?most|\bno\s+(?:more|greater|larger|longer|higher)\s+than|\bno\s+over|"
        r"\b(?:not|never|cannot|n['’]t)\s+(?:(?:be|return|exceed|have|contain)\s+)?"
        r"(?:exceed(?:ing)?|above|over|(?:more|greater|larger|longer|higher)\s+than|exceed)|"
        r"\b(?:less|fewer|lower|smaller|shorter)\s+than(?:\s+or\s+equal\s+to)?|\bupper\s+(?:bound|limit)(?:\s+(?:of|is))?|"
        rf"<=?|≤|\blte\b)\s*{_NUMBER}",
        # capped at 50; limited to 50; limit of 50; cap: 50; truncated to the first 2,000 characters
        r"\b(?:cap(?:s|ped|ping)?|limit(?:s|ed|ing)?|truncat(?:es?|ed|ing|ion)|clamp(?:s|ed)?|trim(?:s|med)?|"
        r"cut(?:s)?(?:\s+off)?|shorten(?:s|ed)?|restrict(?:s|ed)?|bound(?:ed)?|clip(?:s|ped)?|stop(?:s|ped)?)\b"
        r"(?:\s+(?!(?:default|minimum|min|offset)\b)(?:(?:the|its|this|these|all|any|each|returned|individual|total|very|"
        r"long|large|hard|soft|number|of|results?|outputs?|responses?|replies|items?|entries|rows|text|content|contents|"
        r"bod(?:y|ies)|it|them|values?|lines|fields|messages?|list|lists|set|sets|page|pages|file|files|per)\s+)*"
        r"(?:at|to|after|of|is|by|beyond|past|around|above))?"
        rf"(?:\s+(?:the\s+)?(?:first|last|top|latest|most\s+recent|maximum\s+of|max(?:imum)?|at\s+most))?\s*[:=]?\s*{_NUMBER}",
        # the first 20 results; the 20 most recent messages; top 5
        rf"\b(?:first|last|top|latest|newest|oldest|most\s+recent|best|closest|nearest)[\s-]+(?P<n>{_N})(?!\s*[-:/]\s*\d)",
        rf"(?P<n>{_N})\s+(?:most\s+(?:recent|relevant|similar|popular|active)|best|closest|nearest|newest|latest|"
        r"top|largest|highest)\b",
        # 20-result limit; a 25,000 token cap
        rf"(?P<n>{_N})[\s-]+\w+[\s-]+(?:limit|cap|maximum|ceiling)\b",
        # returns 10 results per page
        rf"\b(?:returns?|shows?|displays?|lists?|gives?|retrieves?|fetch(?:es)?|gets?|yields?|contains?|holds?)\s+"
        rf"(?:exactly\s+|only\s+)*(?P<n>{_N})\s+(?!or\s+more|more)",
        rf"\b(?:page|batch|chunk)\s+size\s+(?:of|is)\s+{_NUMBER}",
        rf"(?P<n>{_N})\s+\w+\s+(?:per|a|each)\s+(?:page|call|request|query|response|batch)\b",
        # output longer than 2000 lines is cut; files larger than 50 MB are not returned
        rf"\b(?:exceed(?:s|ing)?|(?:larger|longer|bigger|more|greater|higher)\s+than|over|above|beyond)\s+{_NUMBER}"
        r"(?=[^.;]{0,60}\b(?:truncat|cut|trim|clip|skip|omit|not|never|error|reject|refus|drop|split|shorten|fail|instead))",
        rf"\b(?:truncat\w*|cut|trim\w*|clip\w*|skip\w*|omit\w*|reject\w*|drop\w*|refus\w*)\b[^.;]{{0,50}}?\b"
        rf"(?:exceed(?:s|ing)?|(?:larger|longer|bigger|more|greater|higher)\s+than|over|above|beyond)\s+{_NUMBER}",
    )
)
_BARE_RANGE = re.compile(rf"(?:^|[\s(\[:])(?P<low>{_N})\s*(?:-|–|—|\.\.\.?|to)\s*(?P<n>{_N})(?!\s*[-–/:]\s*\d)", re.IGNORECASE)
_HINT = re.compile(
    r"max|up\s?-?to|most|more than|exceed|less than|fewer|lower|small|short|cap|limit|truncat|clamp|trim|cut|bound|"
    r"clip|stop|restrict|between|range|within|from|first|last|top|latest|newest|oldest|recent|best|closest|nearest|"
    r"[<≤\[(]|\d\s*(?:-|–|—|\.\.|to)\s*\d|per page|page size|return|show|display|list|give|retriev|fetch|get|yield|"
    r"contain|hold|larger|longer|bigger|over|above|beyond|or less|upper|lte",
    re.IGNORECASE,
)
_AFTER = re.compile(r"[\s)*]*(?:of\s+)?(?:the\s+|its\s+|unique\s+|individual\s+|total\s+|matching\s+|recent\s+|raw\s+|"
                    r"most\s+|relevant\s+|similar\s+|new\s+|latest\s+)*(?P<unit>[A-Za-z%°]+)")  # fmt: skip
_NOT_A_BOUND = re.compile(
    r"\b(?:default(?:s|ing|ed)?(?:\s+(?:is|of|to|value|limit))*|e\.?g\.?,?|for\s+example,?|for\s+instance,?|such\s+as|"
    r"example:?|like|i\.e\.?,?|recommended|suggest(?:ed|ion)?|typical(?:ly)?|ideally|usually|consider|prefer(?:ably|red)?|"
    r"at\s+least|minimum(?:\s+(?:of|is|value))*|min|starts?\s+(?:at|from|with)|greater\s+than|more\s+than\s+or)"
    r"[\s:=(\"'`]*$",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"\b(?:recommend\w*|suggest\w*|typical(?:ly)?|ideally|usually|higher\s+values?|larger\s+values?|lower\s+values?|"
    r"good\s+(?:value|default|range)|sensible|reasonable|advis\w+|consider|prefer\w*|best\s+practice)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?<=[.!?;])\s+(?=[A-Z\"'`(\[*_~-]|\d+\.)|\n+|;\s|(?<=[a-z)])\.\s")
_MARKUP = re.compile(r"[`*]+")

_TIME = frozenset(
    "second minute hour day week month year ms millisecond s sec min hr h d quarter decade am pm utc century".split()
)
_NEVER = frozenset(
    "level hop depth layer generation px pixel percent % ° degree decimal digit place dimension degrees km mile meter "
    "metre kilometer kilometre mi m cm mm inch usd dollar cent eur time attempt retry retries try thread worker "
    "concurrent parallel agent core gpu cpu node star point word_length currency person people guest adult child "
    "passenger step phase stage version http https st nd rd th x of a an and or the is in on for to as with".split()
)
_IRREGULAR = {"entries": "entry", "matches": "match", "queries": "query", "bytes": "byte", "chars": "character",
              "characters": "character", "series": "series", "replies": "reply", "branches": "branch",
              "batches": "batch", "searches": "search", "people": "person"}  # fmt: skip


def _unit(text: str, number: str) -> str:
    tail = number.rstrip().lower()
    for suffix in _BYTES:
        if tail.endswith(suffix):
            return "byte"
    found = _AFTER.match(text)
    if not found:
        return ""
    word = found["unit"].lower()
    return _IRREGULAR.get(word) or (word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" else word)


def _value(text: str) -> float:
    text = re.sub(r"[,_\u00a0\u202f\u2009]", "", text.lower()).strip()
    match = re.match(r"(\d+(?:\.\d+)?)\s?([a-z]*)", text)
    if match:
        value = float(match[1]) * _SCALE.get(match[2], 1)
        return int(value) if value == int(value) else value
    return _WORD_NUMBERS[text.split()[-1]]


def _clauses(text: str) -> list[str]:
    return [clause for clause in _CLAUSE.split(_MARKUP.sub("", text)) if clause and clause.strip()]


def _in(clause: str, bare_ranges: bool) -> list[tuple[Cap, int]]:
    """Every cap in one clause, and where its statement begins."""
    if not _HINT.search(clause) or (bare_ranges and _ADVICE.search(clause)):
        return []
    found: list[tuple[Cap, int]] = []
    patterns = (*_PATTERNS, _BARE_RANGE) if bare_ranges else _PATTERNS
    for pattern in patterns:
        for match in pattern.finditer(clause):
            if _NOT_A_BOUND.search(clause[: match.start()]):
                continue
            value = _value(match["n"])
            low = match.groupdict().get("low")
            if low is not None and _value(low) >= value:
                continue
            unit = _unit(clause[match.end("n") :], match["n"])
            if unit in _TIME or unit in _NEVER:
                if bare_ranges and unit in {"day", "of", "a", "an", "and", "or", "the", "is", "in", "on", "for", "to",
                                            "as", "with"}:  # fmt: skip
                    unit = "day" if unit == "day" else ""
                else:
                    continue
            found.append((Cap(value, unit, " ".join(match[0].split()).strip(" (:")), match.start()))
    return found


@lru_cache(maxsize=2048)
def in_parameter(text: str) -> Cap | None:
    """The cap that the description of a limit-like parameter states on its own value, the largest of several."""
    caps = [cap for clause in _clauses(text) for cap, _ in _in(clause, True)]
    return max(caps, key=lambda cap: cap.value or 0, default=None)


_OUTPUT = frozenset(
    "result item entry record row line character token byte word match hit message post comment event document page "
    "article section sentence paragraph chunk snippet object element response output reply log sample point cell column "
    "candidate suggestion recommendation option video photo track song episode issue ticket commit release branch tag "
    "transaction order product listing review job task user member contact email thread conversation note card file "
    "paper citation reference neighbor neighbour passage excerpt highlight story headline tweet question answer series "
    "datapoint bar candle candlestick trade quote flight hotel place location city route bucket key link url folder "
    "repository project run trace span alert incident metric name value entity node_id".split()
)
_INPUT = re.compile(
    r"\b(?:accepts?|uploads?|supply|supplies|provide[sd]?|pass(?:es|ed)?|specify|specified|input|inputs|supports?|"
    r"send|sending|attach\w*|creates?|creating|updates?|updating|inserts?|deletes?|adds?|adding|processes|takes?|"
    r"must\s+be|query\s+(?:text|string)|prompt|request\s+body|your\s+(?:query|message|file)|handles?|compare|batch)\b",
    re.IGNORECASE,
)
_YIELDS = re.compile(
    r"\b(?:return(?:s|ed|ing)?|results?|outputs?|responses?|respond(?:s|ed)?|shows?|shown|display(?:s|ed)?|list(?:s|ed)?|"
    r"retriev(?:e|es|ed|ing)|fetch(?:es|ed)?|gets?|gives?|read(?:s|ing)?|truncat\w*|inline|capp?ed|cap|matches|hits|include[sd]?|"
    r"yield(?:s|ed)?|search(?:es)?|find(?:s|ing)?|most\s+recent|latest|downloaded)\b",
    re.IGNORECASE,
)
_TRUNCATES = re.compile(
    r"\b(?:(?:is|are|be|get|gets|been|was|were|being|automatically|may|will|can)\s+(?:\w+\s+)?(?:truncated|trimmed|clipped|shortened|cut\s+off)|"
    r"(?:will|may|automatically|to)\s+truncate|truncates?\s+(?:the\s+|its\s+|long\s+|large\s+|very\s+)*(?:output|result|response|text|content|log|bod)|"
    r"(?:output|result|response|content|log|text)s?\s+truncation|truncated\s+(?:output|result|response|content|text|version|preview|log|to\b)|"
    r"truncation\s*(?:warning|marker|notice|handling)|\w+truncationwarning|(?:capped|bounded|limited)\s+(?:output|response|results?))",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(?:no|not|never|without|n['’]t|isn['’]t|un)\b[\s\w]{0,20}$", re.IGNORECASE)


@lru_cache(maxsize=2048)
def on_result(text: str) -> Cap | None:
    """The cap that the description of a tool states on what a call returns; a truncation without a number has no value.

    Numbers about inputs, time, depth and defaults of other things are not caps on the result.
    """
    best: Cap | None = None
    for clause in _clauses(text):
        for cap, start in _in(clause, False):
            if _INPUT.search(clause[:start]) and not _YIELDS.search(clause[max(0, start - 40) : start]):
                continue
            if cap.unit in _OUTPUT or (not cap.unit and _YIELDS.search(clause)):
                if cap.unit in {"url", "file", "image", "id", "name", "key"} and not _YIELDS.search(clause[max(0, start - 30) : start]):
                    continue
                if best is None or best.value is None or (cap.value or 0) > best.value:
                    best = cap
        if best is None:
            truncated = _TRUNCATES.search(clause)
            if truncated and not _NEGATED.search(clause[: truncated.start()]):
                best = Cap(None, "", " ".join(truncated[0].split()))
    return best
