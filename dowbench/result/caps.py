"""Upper bounds that stand in prose.

Most bounds of real definitions are stated in words only ("max 100", "between 1 and 50", "truncated to 2,000
characters"), and most numbers in them are no bounds ("default 10", "the last 24 hours", "files up to 10 MB"). Text is
read clause by clause, with its numbers taken out first; what is no bound by the words around it is dropped.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from dowbench.result.english import word_set

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
        return any(word in text for word in ("max", "up to", "most", "more than", "cap", "limit", "exceed", "trunc"))


_SCALE = {
    "k": 1_000, "thousand": 1_000, "million": 1_000_000, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000,
    "kib": 1_024, "mib": 1_048_576, "gib": 1_073_741_824, "kilobytes": 1_000, "megabytes": 1_000_000,
}  # fmt: skip
_BYTES = ("kb", "mb", "gb", "kib", "mib", "gib", "kilobytes", "megabytes")
_WORDS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12,
    "fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50, "hundred": 100, "thousand": 1_000,
}  # fmt: skip

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
    "trace span alert incident metric name value entity"
)
_GIVEN = word_set("url file image id name key link")
"""Units that are as often counted on the way in as on the way out."""
_IRREGULAR = {
    "entries": "entry", "matches": "match", "queries": "query", "bytes": "byte", "char": "character",
    "chars": "character", "series": "series", "replies": "reply", "branches": "branch", "batches": "batch",
    "searches": "search", "people": "person", "retries": "retry",
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
    return any(stem in text for stem in _HELD) and _patterns().held.search(text) is not None


_HELD = ("apped", "lamped", "xceed", "imited")


@lru_cache(maxsize=2048)
def on_result(text: str, things: frozenset[str] = frozenset()) -> Cap | None:
    """The cap that the description of a tool states on what a call returns; one without a number has no value.

    ``things`` are the nouns, in the singular, for what the tool returns: a number of them is one of results. Numbers on
    inputs, times, depths and defaults are no caps on the result.
    """
    if not _numbered(text) and not _has(_CUT, text):
        return None
    best: Cap | None = None
    patterns = _patterns()
    for clause in _clauses(text):
        for cap, start in _found(clause, of_parameter=False):
            before = clause.plain[:start]
            if patterns.input.search(before) and not patterns.yields.search(before[-40:]):
                continue
            given = patterns.yields.search(before[-_NEAR:]) is not None
            after = clause.plain[start + len(cap.text) :]
            given = given or patterns.returned.match(after) is not None
            each = patterns.each.match(after) is not None
            told = given or (not cap.unit and (each or patterns.yields.search(before[-_REACH:]) is not None))
            if cap.unit not in _OUTPUT and cap.unit not in things and not told:
                continue
            if cap.unit in _GIVEN and not patterns.yields.search(before[-30:]):
                continue
            if best is None or best.value is None or (cap.value or 0) > best.value:
                best = cap
        if best is None and _has(_CUT, clause.plain):
            cut = patterns.truncates.search(clause.plain)
            if cut and not patterns.negated.search(clause.plain[: cut.start()]):
                best = Cap(None, "", " ".join(cut[0].split()))
    return best


_CUT = (
    "trunc", "trim", "clip", "shorten", "cut off", "capped", "bounded", "limit", "large", "more than", "few", "handful",
    "budget",
)  # fmt: skip


_DIGIT = re.compile(r"\d")


def _numbered(text: str) -> bool:
    return _DIGIT.search(text) is not None or not _WORDS.keys().isdisjoint(text.lower().split())


def _has(stems: tuple[str, ...], text: str) -> bool:
    return any(map(text.lower().__contains__, stems))


class _Clause(NamedTuple):
    plain: str
    marked: str
    """With every number as ``⟦n⟧``, n its index in ``numbers``."""
    numbers: tuple[str, ...]


class _Patterns(NamedTuple):
    number: re.Pattern[str]
    clause: re.Pattern[str]
    bounds: tuple[re.Pattern[str], ...]
    bare_range: re.Pattern[str]
    hint: re.Pattern[str]
    unit: re.Pattern[str]
    no_bound: re.Pattern[str]
    example: re.Pattern[str]
    call: re.Pattern[str]
    advice: re.Pattern[str]
    input: re.Pattern[str]
    yields: re.Pattern[str]
    each: re.Pattern[str]
    returned: re.Pattern[str]
    truncates: re.Pattern[str]
    negated: re.Pattern[str]
    held: re.Pattern[str]


_N = "⟦(?P<n>\\d+)⟧"
_LOW = "⟦(?P<low>\\d+)⟧"
_LEAD = r"(?:the |a |an |only |about |around |roughly |approximately |exactly |[~=:(] ?)*"

_MOST = r"max(?:imum)?|at (?:the )?most|maximum of|most recent|first|last|top|latest"
_THAN = r"(?:more|greater|larger|longer|higher|bigger) than"
_WHOLE = (
    r"the|its|this|these|all|any|each|returned|individual|total|very|long|large|hard|soft|number|of|results?|outputs?|"
    r"responses?|replies|items?|entries|rows|text|contents?|body|bodies|it|them|values?|lines|fields|messages?|lists?|"
    r"sets?|pages?|files?|per"
)
_SIZED = (
    r"values?|numbers?|allowed|limit|sizes?|counts?|length|is|of|for|this|results?|items?|entries|rows|records|lines|"
    r"pages?|per|request|call|possible|supported|permitted|allowable|total|set|at|to|are|can|be|currently|output|the"
)
_CUTS = (
    r"cap(?:s|ped|ping)?|limit(?:s|ed|ing)?|truncat(?:es?|ed|ing|ion)|clamp(?:s|ed)?|trim(?:s|med)?|cuts?(?: off)?|"
    r"shorten(?:s|ed)?|restrict(?:s|ed)?|bound(?:ed)?|clip(?:s|ped)?|stop(?:s|ped)?"
)
_BOUNDS = (
    # between 1 and 100; a value from 1 to 100; range: 1-100; 1 <= n <= 100
    rf"\bbetween {_LOW}(?: \w+)? ?(?:and|to|&|[-–—]) ?{_N}",
    rf"\b(?:ranges?|values?|numbers?|integers?)\b[^.;⟦]{{0,24}}?[ :(\[]{_LOW} ?(?:[-–—,…]|\.\.\.?|to|and) ?{_N}",
    rf"\b(?:from|within|in) [\[(]?{_LOW} ?(?:to|[-–—]|\.\.\.?) ?{_N}",
    rf"{_LOW} ?(?:<=?|≤) ?\w+ ?(?:<=?|≤) ?{_N}",
    # max 100; maximum of 50; maximum value is 1000; Maximum: 100; max results 50; max_length=100; 100 max; 50 or fewer
    rf"\bmax(?:imum|\.)?(?:[ _-](?:{_SIZED}))* ?[:=]? ?{_LEAD}{_N}",
    rf"{_N} ?(?:\w+ )?\(?(?:(?:is|as) )?(?:the )?(?:max(?:imum)?\b|at (?:the )?most\b|upper limit|tops\b)",
    rf"{_N} ?(?:\w+ )?or (?:fewer|less|below)\b",
    # up to 50; at most 50; no more than 50; must not exceed 50; <= 50; less than 50
    rf"\bup ?-?to (?:(?:a )?(?:maximum|max|limit|total) (?:of )?|the (?:first|last|top) )?{_LEAD}{_N}",
    rf"(?:\bat (?:the )?most|\bno {_THAN}|\bno over|<=?|≤|\blte\b|\bupper (?:bound|limit)(?: (?:of|is))?) ?{_LEAD}{_N}",
    (
        r"(?:\b(?:not|never|cannot)|n['’]t) (?:(?:be|return|have|contain) )?"
        rf"(?:exceed(?:ing)?|above|over|{_THAN}) {_LEAD}{_N}"
    ),
    rf"\b(?:less|fewer|lower|smaller|shorter) than (?:or equal to )?{_LEAD}{_N}",
    # capped at 50; limited to 50; limit of 50; cap: 50; truncated to the first 2,000 characters
    (
        rf"\b(?:{_CUTS})\b(?: (?!default|min|offset)(?:(?:{_WHOLE}) )*(?:at|to|after|of|is|by|beyond|past|"
        rf"around|above))?"
        rf"(?: (?:the )?(?:{_MOST}))? ?[:=]? ?{_LEAD}{_N}"
    ),
    # the first 20 results; the 20 most recent messages; top 5
    rf"\b(?:first|last|top|latest|newest|oldest|most recent|best|closest|nearest)[ -]{_N}(?! ?[-:/] ?⟦)",
    (
        rf"{_N} (?:most (?:recent|relevant|similar|popular|active)|best|closest|nearest|newest|latest|top|"
        rf"largest|highest)\b"
    ),
    # 20-result limit; returns 10 results; 10 results per page; a page size of 10
    rf"{_N}[ -]\w+[ -](?:limit|cap|maximum|ceiling)\b",
    (
        r"\b(?:returns?|shows?|displays?|lists?|gives?|retrieves?|fetch(?:es)?|gets?|yields?|"
        r"(?:results?|responses?|outputs?|answers?|pages?|lists?) (?:contains?|holds?)) "
        rf"(?:exactly |only )*{_N} (?!or more|more)"
    ),
    rf"\b(?:page|batch|chunk) size (?:of|is) {_LEAD}{_N}",
    rf"{_N} \w+ (?:per|a|each) (?:page|call|request|query|response|batch)\b",
    # output longer than 2000 lines is cut; files larger than 50 MB are not returned
    (
        rf"\b(?:exceed(?:s|ing)?|{_THAN}|over|above|beyond) {_LEAD}{_N}"
        r"(?=[^.;]{0,60}\b(?:truncat|cut|trim|clip|skip|omit|not|never|error|reject|refus|drop|split|shorten|fail|"
        r"instead))"
    ),
    (
        rf"\b(?:truncat\w*|cut|trim\w*|clip\w*|skip\w*|omit\w*|reject\w*|drop\w*|refus\w*|fails?)\b[^.;⟦]{{0,50}}?\b"
        rf"(?:exceed(?:s|ing)?|{_THAN}|over|above|beyond) {_LEAD}{_N}"
    ),
)


@cache
def _patterns() -> _Patterns:
    """Compiled when the first text with a number in it is read: most tools of a scan have none."""

    def compiled(pattern: str) -> re.Pattern[str]:
        return re.compile(pattern, re.IGNORECASE)

    return _Patterns(
        number=compiled(
            r"(?:\b\d{1,3}(?:[,_\u00a0\u202f\u2009]\d{3})+|\b\d+(?:\.\d+)?)"
            r"(?:\s?(?:k|thousand|million|[kmg]i?b|kilobytes|megabytes)\b)?(?!\w|\.\d)"
            r"|\b(?:a |one )?(?:" + "|".join(_WORDS) + r")\b"
        ),
        clause=re.compile(
            r"(?<=[.!?;])\s+(?=[A-Z\"'(\[~-]|\d+\.)|\n\s*\n\s*|(?<=[.!?:;])\n"
            r"|\n(?=\s*(?:[-*•+]|\d+[.)]\s|[A-Z][a-z]|[\"'(\[]|\w+\s*(?:\([^)\n]*\))?\s*:))|;\s"
            r"|(?<=[a-z)])(?<!max)(?<!min)(?<!prox)(?<!\.g)(?<!\.e)\.\s"
        ),
        bounds=tuple(compiled(pattern) for pattern in _BOUNDS),
        bare_range=compiled(rf"(?:^|[ (\[:]){_LOW} ?(?:[-–—]|\.\.\.?|to) ?{_N}(?! ?[-–/:] ?⟦)"),
        hint=compiled(
            r"max|up ?-?to|most|than|exceed|cap|limit|truncat|clamp|trim|cut|bound|clip|stop|restrict|between|range|"
            r"within|from|value|number|integer|first|last|top|latest|newest|oldest|recent|best|closest|nearest|[<≤]|"
            r"⟧ ?(?:-|–|—|\.\.|to) ?⟦|per |size|returns?|shows?|displays?|lists?|gives?|retriev|fetch|gets?|yields?|"
            r"contain|holds?|over|above|beyond|fewer|or less|upper|lte"
        ),
        unit=compiled(
            r"[ )]*(?:of )?(?:(?:the|its|unique|individual|total|matching|recent|raw|most|relevant|similar|new|"
            r"latest) )*"
            r"(?P<unit>[a-z%°]+)"
        ),
        no_bound=compiled(
            r"\b(?:default(?:s|ing|ed)?(?: (?:is|of|to|value|limit))*|e\.?g\.?,?|such as|example:?|like|i\.e\.?,?|"
            r"recommended|suggest(?:ed|ion)?|typical(?:ly)?|ideally|usually|consider|prefer(?:ably|red)?|at least|"
            r"minimum(?: (?:of|is|value))*|min|starts? (?:at|from|with)|greater than)[ :=(\"']*$"
        ),
        example=compiled(r"\b(?:for (?:example|instance)|example ?:|if you (?:want|need|would))\b"),
        call=re.compile(r"\w\("),
        advice=compiled(
            r"\b(?:recommend\w*|suggest\w*|typical(?:ly)?|ideally|usually|(?:higher|larger|lower) values?|sensible|"
            r"good (?:value|default|range)|reasonable|advis\w+|consider|prefer\w*|best practice)\b"
        ),
        input=compiled(
            r"\b(?:accepts?|uploads?|supply|supplies|provide[sd]?|pass(?:es|ed)?|specify|specified|inputs?|"
            r"supports?|send|"
            r"sending|attach\w*|creat(?:es?|ing)|updat(?:es?|ing)|inserts?|deletes?|adds?|adding|processes|takes?|"
            r"must be|"
            r"query (?:text|string)|prompt|request body|your (?:query|message|file)|handles?|compare|batch)\b"
        ),
        yields=compiled(
            r"\b(?:return(?:s|ed|ing)?|results?|outputs?|respon(?:ses?|ds?|ded)|shows?|shown|display(?:s|ed)?|"
            r"list(?:s|ed)?|"
            r"retriev(?:e|es|ed|ing)|fetch(?:es|ed)?|gets?|gives?|read(?:s|ing)?|truncat\w*|inline|capp?ed|cap|"
            r"matches|hits|"
            r"include[sd]?|yield(?:s|ed)?|search(?:es)?|find(?:s|ing)?|most recent|latest|downloaded)\b"
        ),
        each=compiled(r" ?(?:\w+ )?(?:(?:per|a|each) (?:page|call|request|query|response)\b|each\b)"),
        returned=compiled(
            r"[^,(]{0,40}?\b(?:is|are|be|get|gets) (?:returned|listed|shown|displayed|fetched|retrieved|included)\b"
            r"| ?(?:\w+ ){1,2}(?:returned|listed|shown|displayed|fetched|retrieved|included)\b"
        ),
        truncates=compiled(
            r"\b(?:(?:is|are|be|gets?|been|was|were|being|automatically|may|will|can) (?:(?!never|not)\w+ )?"
            r"(?:truncated|trimmed|clipped|"
            r"shortened|cut off)|(?:will|may|automatically|to) truncate|truncates? (?:(?:the|its|long|large|"
            r"very) )*(?:output|"
            r"results?|responses?|text|contents?|logs?|bod)|(?:outputs?|results?|responses?|contents?|logs?|"
            r"text) truncation|"
            r"truncated (?:output|results?|response|content|text|version|preview|logs?|to\b)|"
            r"truncation ?(?:warning|marker|"
            r"notice|handling)|\w+truncationwarning|(?:capped|bounded|limited) (?:\w+ )?(?:outputs?|responses?|results?"
            r"|prefix|excerpts?|snippets?|previews?|window|slice|subset|page|view|summar(?:y|ies))\b"
            r"|sav(?:es?|ed) (?:to|in|as) (?:a |the )?(?:file|disk) (?:for|when|if) (?:\w+ )?(?:large|big|long)"
            r"|(?:large|long|big)[\w ]{0,30} (?:is|are|get|be) (?:automatically )?(?:saved|written|stored) (?:to|in|as)"
            r"|(?:results?|size|rows?|token|character|output|response) (?:limit|cap|budget)s? (?:\w+ ){0,2}"
            r"(?:reached|exceeded|hit)"
            r"|limited (?:number|set|amount|list|sample|selection) of|(?:only a|the first|the top) (?:few|handful)"
            r"|more than [A-Z]+_[A-Z_]+ (?:rows|items|results|characters|bytes|lines|tokens))"
        ),
        held=compiled(
            r"\b(?:(?:is|are|be|will be|gets?|silently|server-?side) (?:capped|clamped|limited) (?:at|to|by)\b"
            r"|(?:cannot|must not|may not|can not) (?:be exceeded|exceed)\b)"
        ),
        negated=compiled(r"(?:\b(?:no|not|never|without|isn['’]t)|n['’]t)\b[ \w]{0,20}$"),
    )


def _clauses(text: str) -> list[_Clause]:
    patterns = _patterns()
    clauses = []
    for part in patterns.clause.split(text.translate(_MARKUP)):
        if not part:
            continue
        whole = " ".join(part.split())
        for start in range(0, len(whole), LONGEST_CLAUSE):
            plain = whole[start : start + LONGEST_CLAUSE]
            numbers: list[str] = []

            def mark(match: re.Match[str], numbers: list[str] = numbers) -> str:
                numbers.append(match[0])
                return f"⟦{len(numbers) - 1}⟧"

            clauses.append(_Clause(plain, patterns.number.sub(mark, plain), tuple(numbers)))
    return clauses


LONGEST_CLAUSE = 800
"""Longer clauses are cut, in characters: no statement of a cap is that long, and time would grow with its square."""
_MARKUP = str.maketrans("`*⟦⟧", "    ")


def _found(clause: _Clause, *, of_parameter: bool) -> list[tuple[Cap, int]]:
    """Every cap in one clause, and where in ``plain`` its statement begins."""
    patterns = _patterns()
    marked = clause.marked
    if not clause.numbers or not patterns.hint.search(marked) or (of_parameter and patterns.advice.search(marked)):
        return []
    found: list[tuple[Cap, int]] = []
    for pattern in (*patterns.bounds, patterns.bare_range) if of_parameter else patterns.bounds:
        for match in pattern.finditer(marked):
            before = marked[: match.start()]
            if patterns.no_bound.search(before[-_REACH:]) or patterns.example.search(before):
                continue
            if "=" in match[0] and patterns.call.search(before):
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
    found = _patterns().unit.match(after)
    if not found:
        return ""
    word = found["unit"].lower()
    return _IRREGULAR.get(word) or (word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" else word)


def _value(text: str) -> float:
    text = re.sub(r"[,_\u00a0\u202f\u2009]", "", text.lower())
    match = re.match(r"(\d+(?:\.\d+)?)\s?([a-z]*)", text)
    if match is None:
        return _WORDS[text.split()[-1]]
    value = float(match[1]) * _SCALE.get(match[2], 1)
    return int(value) if value.is_integer() else value
