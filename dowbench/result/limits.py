"""The parameters that say how much a tool returns or does, at most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from dowbench.patterns import Patterns
from dowbench.prose import sentences
from dowbench.result.bounds import RANGE, TIME, WORK, Limit, takes_numbers, upper_bound
from dowbench.result.continuations import continuation_name
from dowbench.result.english import plural, word_set
from dowbench.words import split

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dowbench.model import Parameter, Tool
    from dowbench.result.vocabulary import Vocabulary

_PATTERNS = Patterns(
    returned=(
        r"\b(?:return\w*|results?|retriev\w*|fetch\w*|to\s+(?:get|show|find|list|include|read|display|load|scan|"
        r"process|consider|analy[sz]e|generate|extract|collect|output|pull|preview|request)|per\s+page|page\s+size|"
        r"(?:in|of)\s+(?:each|one|a|the)\s+(?:page|response|list)|attempt\s+to\s+find|limit\w*|items?|entries|records|"
        r"hits|matches|nearest|similar|most\s+recent|latest|output|response)\b"
    ),
    number_of=(
        r"^\W*(?:optional\W+)?(?:(?:the|a|limits?|specif(?:y|ies)|sets?|controls?|desired|total|"
        r"max(?:imum)?|upper) )*"
        r"(?:number|amount|quantity|count|limit|how many)\b[^.;:]{0,40}?\b"
        r"(?:(?:to|should be|will be|are|is|be) (?:return|retriev|fetch|get|show|list|includ|display)|returned|"
        r"per (?:page|request|call)|in (?:the |each |a )?(?:response|results?|output|page)\b|results?\b)"
        r"|^\W*(?:the )?(?:page|result) size\b"
    ),
    last_n=r"^\W*(?:only )?(?:returns?|shows?|keeps?|includes?) (?:the )?(?:last|first|top) n\b",
    pixels=r"\b(?:pixels?|px)\b",
    ordinal=r"^\W*(?:optional\W+)?(?:the |a )?(?:[\w-]+ )?(?:number|no\.?) of (?:the|a|an|this|that) ",
    something_else=(
        r"\b(?:people|persons?|guests?|adults?|passengers?|rooms?|workers?|agents?|copies|pixels?|px|shares|"
        r"quantity|floor|seats?|tickets?\s+to\s+(?:buy|book)|retries|attempts|seconds|minutes|hours|temperature)\b"
    ),
)
_UNITS = {
    "char": "characters", "chars": "characters", "character": "characters", "characters": "characters",
    "length": "characters", "token": "tokens", "tokens": "tokens", "byte": "bytes", "bytes": "bytes", "kb": "bytes",
    "word": "words", "words": "words", "line": "lines", "lines": "lines", "row": "rows", "rows": "rows",
}  # fmt: skip
_TIMES = word_set("seconds minutes hours days weeks months quarters years periods")
_MAX_HEADS = word_set(
    "length size count number chars content output response result text data value token line row item context"
)
"""What "max …" may be followed by in the singular."""


def limits(tool: Tool, v: Vocabulary, reading: bool, texts: Mapping[str, str]) -> tuple[Limit, ...]:
    """The limit-like parameters of a tool: those that say how much it returns or does, at most.

    ``reading``: the tool is called for what it returns, so that a bare ``count`` or ``first`` is one. ``texts`` are
    descriptions of parameters from the tool's own text. A limit of a nested option bounds a part, and is none
    beside one further up.
    """
    series = not v["period_series"].isdisjoint(split(tool.name))
    found = []
    trades = not _TRADES.isdisjoint(split(tool.name))
    own_words = frozenset(split(tool.name))
    for parameter in tool.parameters:
        named = v.known(_limit_name, parameter.name)
        text = parameter.description or texts.get(parameter.name, "")
        if named is None and _says_number(parameter, text, v, reading=reading):
            named = _LimitName("count", "items")
        if not reading and not _LIMITED.isdisjoint(own_words.intersection(split(parameter.name))):
            continue  # what the tool is for: set_rate_limit
        if not reading and parameter.name.lower() == "limit" and trades and not _says_of_results(text):
            continue  # of a price, of guests
        if named is not None and _is_limit(parameter, named.form, named.unit, reading, text, series):
            unit = _told_unit(text) if named.unit == "items" else named.unit
            found.append(upper_bound(parameter, text)._replace(unit=unit))
    if not found:
        return ()
    wrapped = len(tool.inputs) == 1
    own = own_words | v["general_options"]
    found = [limit for limit in found if not _of_part(limit.parameter, own)]
    top = min((_depth(limit.parameter) for limit in found), default=0)
    return tuple(limit for limit in found if _depth(limit.parameter) == top <= _DEEPEST + wrapped)


_TRADES = word_set(
    "buy sell book reserve order place purchase trade hire withdraw deposit pay transfer set create update configure"
)
"""Acts that may have a limit of their own: on a price, a sum, a number of guests."""


def _says_of_results(text: str) -> bool:
    """Whether a text has a word for what is returned or worked on."""
    return bool(text) and _PATTERNS.returned.search(text) is not None


def _told_unit(text: str) -> str:
    """What a text says is counted, by the first noun in the plural: "Max chars of output", "How many lines to read"."""
    for sentence in sentences(text)[:1]:
        counted = next((word for word in sentence.words if word in _UNITS or plural(word)), "")
        return TIME if counted in _TIMES else _UNITS.get(counted, "items")
    return "items"


def names_limit(name: str, v: Vocabulary) -> bool:
    """Whether a parameter of this name may be a limit."""
    return v.known(_limit_name, name) is not None


def _says_number(parameter: Parameter, text: str, v: Vocabulary, *, reading: bool) -> bool:
    """Whether a number is described as that of the results, whatever its name."""
    if not text or not takes_numbers(parameter.schema) or v.known(continuation_name, parameter.name) is not None:
        return False
    if not v["not_limits"].isdisjoint(split(parameter.name)):
        return False
    return (reading and _PATTERNS.number_of.match(text) is not None) or _PATTERNS.last_n.match(text) is not None


_DEEPEST = 2
"""How deep below the input (1: its own properties) an option can still be about the whole result."""


def _depth(parameter: Parameter) -> int:
    return len([name for name in parameter.path if name != "[]"])


def _of_part(parameter: Parameter, own: frozenset[str]) -> bool:
    """Whether it lies in the options of something else than the tool: ``pdfOptions`` of a scraper."""
    for name in parameter.path[:-1]:
        words = split(name)
        if len(words) > 1 and words[-1] in _OPTIONS and own.isdisjoint(words[:-1]):
            return True
    return False


_OPTIONS = frozenset({"options", "opts", "settings", "config"})


class _LimitName(NamedTuple):
    form: Literal["limit", "max", "count", "period", "range"]
    unit: str


def _limit_name(name: str, v: Vocabulary) -> _LimitName | None:
    """What kind of limit a name alone may be; ``None``: none."""
    words = v.words(name)
    if not words:
        return None
    name = " ".join(words)
    if name in v["period_names"]:
        return _LimitName("period", "items")
    if name not in v["limit_names"] and not v["not_limits"].isdisjoint(words):
        return None
    unit = next((_UNITS[word] for word in words if word in _UNITS), "items")
    if not v["work_units"].isdisjoint(words):
        unit = WORK
    ends = words[-1] == "limit" and len(words) <= 3
    limited = not _LIMITED.isdisjoint(words) and words[-1] in _NUMBERS
    ends = ends or words[-2:] == ("per", "page")
    if (
        name in v["limit_names"]
        or ends
        or limited
        or words[:2] == ("limit", "per")
        or (words[0] == "limit" and len(words) <= 2)
    ):
        return _LimitName("limit", unit)
    several = any(plural(word) for word in words)
    if words[0] in {"max", "maximum"} and len(words) > 1:
        return _LimitName("max", unit) if several or words[-1] in _MAX_HEADS else None
    if words[-1] in {"max", "maximum"} and several:
        return _LimitName("limit", unit)
    numbered = words[0] in {"num", "n", "number", "no", "how"} and plural(words[-1])
    counted = words[-1] == "count" and len(words) == 2 and words[0] not in {"min", "minimum"}
    if name in v["count_names"] or numbered or counted:
        return _LimitName("count", unit)
    return _LimitName("range", RANGE) if name == "stop" or name in v["range_names"] else None


_LIMITED = frozenset({"limit", "limited", "max", "maximum"})
_NUMBERS = frozenset({"num", "number", "count", "n"})


def _is_limit(parameter: Parameter, form: str, unit: str, reading: bool, text: str, series: bool) -> bool:
    """Whether a parameter of such a name is a limit where it stands, by its type, its text and its tool."""
    schema = parameter.schema
    numeric = takes_numbers(schema)
    if numeric is False and ("string" not in schema.types or any(schema.get(k) for k in ("enum", "format", "pattern"))):
        return False
    if form == "range":
        return reading and (numeric is not False or parameter.name.lower() != "stop")
    if form == "period":
        return reading and series and numeric is not False
    returned = _says_of_results(text)
    written = not reading and parameter.nested
    if form == "limit":
        return returned or not written
    if text and _PATTERNS.pixels.search(text) is not None:
        return False
    if form == "max":
        return (numeric is not False or bool(text)) and (reading or unit == WORK or returned)
    if numeric is False:
        return False
    if returned and not written:
        return True
    if parameter.required and not text and parameter.name.lower() in {"number", "num", "n"}:
        return False
    if text and _PATTERNS.ordinal.match(text) is not None:
        return False
    return reading and not (text and _PATTERNS.something_else.search(text))
