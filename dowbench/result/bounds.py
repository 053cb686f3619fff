"""Parameters that bound a result, parameters that continue one, and by how much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from dowbench.patterns import Patterns
from dowbench.prose import sentences
from dowbench.result import caps
from dowbench.result.caps import SENTINELS
from dowbench.result.english import plural, word_set
from dowbench.words import split

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dowbench.model import Parameter, Schema, Tool
    from dowbench.result.vocabulary import Vocabulary

LimitSource = Literal["schema", "documented", "none"]

RANGE, WORK, TIME = "range", "work", "time"
"""Units of a limit that picks a part (lines 1 to 50), of one on what is done (turns, agents), not on the result, and of
one in days or hours, which says nothing of how much there is for each."""


class Limit(NamedTuple):
    """The upper bound of one parameter, as far as the definition states one."""

    parameter: Parameter
    maximum: float | None
    """The largest value that can be passed; ``None``: any."""
    source: LimitSource
    """Where ``maximum`` is stated: in the schema, in prose, or nowhere."""
    default: float | str | None
    """The value used when the model passes none, where it is stated."""
    required: bool
    unit: str
    """What is counted: ``items``, ``characters``, ``lines`` …, ``range`` or ``work``."""


def upper_bound(parameter: Parameter, text: str | None = None) -> Limit:
    """The bound on ``parameter``'s own value: number, length of a string, number of an array's items.

    ``text`` replaces the parameter's description, where the tool's own text describes it.
    """
    schema = parameter.schema
    text = parameter.description if text is None else text
    unit = "characters" if "string" in schema.types and schema.get("maxLength") is not None else "items"
    default = _default(schema, text)
    maximum = _schema_maximum(schema)
    if maximum is not None:
        return Limit(parameter, maximum, "schema", default, parameter.required, unit)
    cap = caps.in_parameter(text)
    if cap is not None and cap.value is not None:
        return Limit(parameter, cap.value, "documented", default, parameter.required, unit)
    if caps.capped(text):
        return Limit(parameter, None, "documented", default, parameter.required, unit)
    return Limit(parameter, None, "none", default, parameter.required, unit)


def _schema_maximum(schema: Schema) -> float | None:
    enum = choices(schema)
    if enum and "boolean" not in schema.types:
        numbers = [number for value in enum if (number := _number(value)) is not None]
        largest = max(numbers) if numbers else max(len(str(value)) for value in enum)
        return largest if largest < SENTINELS else None
    constant = schema.get("const")
    if constant is not None:
        number = _number(constant)
        return len(str(constant)) if number is None else number if number < SENTINELS else None
    stated: list[float] = []
    for keyword in ("maximum", "exclusiveMaximum", "maxItems", "maxLength"):
        value = schema.get(keyword)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value < SENTINELS:
            stated.append(value - 1 if keyword == "exclusiveMaximum" and isinstance(value, int) else value)
    if stated:
        return min(stated)
    branches = [_schema_maximum(branch) for branch in schema.alternatives]
    bounded = [branch for branch in branches if branch is not None]
    return max(bounded) if branches and len(bounded) == len(branches) else None


def choices(schema: Schema) -> tuple[object, ...]:
    """The values of an ``enum``, none where there is none or it is no list."""
    enum = schema.get("enum")
    return tuple(enum) if isinstance(enum, list) else ()


def _number(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return None


_PATTERNS = Patterns(
    default=r"\bdefault(?:s|ing)?\b(?:\s+(?:is|to|of|value|limit))*\s*[:=]?\s*`?(\d[\d,_]*)\b(?!\s*%)",
    argument=(
        r"[ \t]*(?:[-*•+][ \t]+)?[`*\"']*(?P<name>[A-Za-z_][\w.]*)[`*\"']*[ \t]*"
        r"(?:\([^)]{0,80}\)|\[[^\]]{0,80}\])?[ \t]*(?::|–|—|[ \t]-[ \t])[ \t]*(?P<text>\S.*)?$"
    ),
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
    ordinal=r"^\W*(?:optional\W+)?(?:the |a )?(?:[\w-]+ )?(?:number|no\.?) of (?:the|a|an|this|that) ",
    something_else=(
        r"\b(?:people|persons?|guests?|adults?|passengers?|rooms?|workers?|agents?|copies|pixels?|px|shares|"
        r"quantity|floor|seats?|tickets?\s+to\s+(?:buy|book)|retries|attempts|seconds|minutes|hours|temperature)\b"
    ),
    filter=(
        r"\b(?:date|time|timestamp|iso[\s-]?8601|rfc[\s-]?3339|yyyy|day|epoch|unix|created|updated|modified|"
        r"submitted|bearer|auth\w*|oauth|jwt|csrf|credentials?|secret|password|log-?in|"
        r"(?:api|access|session|security|personal|your)\s+(?:key|token)|location|city|address|sender|currency|origin|departure|branch|commit|sha|version)\b"
    ),
    conversation=(r"(?s)^(?!.*\b(?:pag(?:e|ing)|cursor|next|results)).*\b(?:conversation|multi-?turn|dialog|thread)"),
    continues=(
        r"\b(?:pagina\w*|paging|next\s+(?:page|set|batch|token)|page|cursor|previous\s+(?:response|call|request|"
        r"result|page)|continu\w*|offset|skip\w*|starting\s+(?:index|point|position|record|row|item|number|result)|"
        r"start\s+index|(?:zero|0|1)-based|from\s+which\s+to|where\s+to\s+(?:start|resume|continue)|subsequent|"
        r"more\s+(?:results|content|items)|returned\s+(?:by|in|from)|last\s+(?:item|id|\w+\s+id)|"
        r"after\s+th(?:is|e)\s+(?:id|cursor|item|\w+\s+id)|strictly\s+after|objects?\s+after)\b"
    ),
)


def _default(schema: Schema, text: str) -> float | str | None:
    value = schema.get("default")
    if isinstance(value, (int, float, str)) and not isinstance(value, bool):
        return value
    match = _PATTERNS.default.search(text) if "efault" in text else None
    return int(match[1].replace(",", "").replace("_", "")) if match else None


def argument_texts(description: str) -> Mapping[str, str]:
    """What a docstring says of its arguments ("limit (int): Maximum results (1-50)"), by name."""
    if "\n" not in description or ":" not in description:
        return {}
    pattern = _PATTERNS.argument
    found: dict[str, str] = {}
    name, depth = "", 0
    for line in description.splitlines():
        match = pattern.match(line)
        indent = len(line) - len(line.lstrip())
        if match and match["name"] not in found:
            name, depth = match["name"], indent
            found[name] = match["text"] or ""
        elif match:
            name = ""
        elif name and line.strip() and indent > depth:
            found[name] = f"{found[name]} {line.strip()}".strip()
        else:
            name = ""
    return found


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
    for parameter in tool.parameters:
        named = v.known(_limit_name, parameter.name)
        text = parameter.description or texts.get(parameter.name, "")
        if named is None and reading and _says_number(parameter, text, v):
            named = _LimitName("count", "items")
        if named is not None and _is_limit(parameter, named.form, named.unit, reading, text, series):
            unit = _told_unit(text) if named.unit == "items" else named.unit
            found.append(upper_bound(parameter, text)._replace(unit=unit))
    if not found:
        return ()
    wrapped = len(tool.inputs) == 1
    own = frozenset(split(tool.name)) | v["general_options"]
    found = [limit for limit in found if not _of_part(limit.parameter, own)]
    top = min((_depth(limit.parameter) for limit in found), default=0)
    return tuple(limit for limit in found if _depth(limit.parameter) == top <= _DEEPEST + wrapped)


def _told_unit(text: str) -> str:
    """What a text says is counted, by the first noun in the plural: "Max chars of output", "How many lines to read"."""
    for sentence in sentences(text)[:1]:
        counted = next((word for word in sentence.words if word in _UNITS or plural(word)), "")
        return TIME if counted in _TIMES else _UNITS.get(counted, "items")
    return "items"


def names_limit(name: str, v: Vocabulary) -> bool:
    """Whether a parameter of this name may be a limit."""
    return v.known(_limit_name, name) is not None


def _says_number(parameter: Parameter, text: str, v: Vocabulary) -> bool:
    """Whether a number is described as that of the results, whatever its name."""
    if not text or _numeric(parameter.schema) is not True or v.known(_continuation_name, parameter.name) is not None:
        return False
    words = split(parameter.name)
    return v["not_limits"].isdisjoint(words) and _PATTERNS.number_of.match(text) is not None


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
    if name in v["limit_names"] or ends or limited or (words[0] == "limit" and len(words) <= 2):
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
    numeric = _numeric(schema)
    if numeric is False and ("string" not in schema.types or any(schema.get(k) for k in ("enum", "format", "pattern"))):
        return False
    if form == "range":
        return reading and (numeric is not False or parameter.name.lower() != "stop")
    if form == "period":
        return reading and series and numeric is not False
    returned = bool(text) and _PATTERNS.returned.search(text) is not None
    written = not reading and parameter.nested
    if form == "limit":
        return returned or not written
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


_NUMERIC = frozenset({"integer", "number"})


def _numeric(schema: Schema) -> bool | None:
    """Whether a schema takes numbers: yes, no, or (``None``) it does not say."""
    types = set(schema.types)
    if alternatives := schema.alternatives:
        types = types.union(*(branch.types for branch in alternatives))
    if not _NUMERIC.isdisjoint(types):
        return True
    enum = choices(schema)
    if enum and all(_number(value) is not None for value in enum):
        return True
    return False if types else None


_STARTS = frozenset({"start", "from", "begin"})
_ENDS = frozenset({"stop", "end", "to", "until"})


def continuations(
    tool: Tool, v: Vocabulary, reading: bool, texts: Mapping[str, str], limited: bool
) -> tuple[Parameter, ...]:
    """The parameters that ask for more of the same result: cursors, page numbers, offsets.

    ``limited``: the tool has a limit-like parameter, which tells a bare ``after`` beside it from a filter. A declared
    output that says whether there is more tells it, too.
    """
    more = _says_more(tool.output)
    found = []
    for parameter in tool.parameters:
        form = v.known(_continuation_name, parameter.name)
        if form is not None and not (parameter.name.lower() in _STARTS and _has_end(tool)):
            text = parameter.description or texts.get(parameter.name, "")
            if _continues(parameter, form, reading, text, limited, more):
                found.append(parameter)
    return tuple(found)


def _says_more(output: Schema | None, depth: int = 0) -> bool:
    """Whether a declared output has a field for what comes next: ``has_more``, ``nextPage``."""
    if output is None or output.circular or depth > 1:
        return False
    for name, schema in output.properties.items():
        words = split(name)
        if words in _MORE or (words[:1] == ("next",) and not _PAGED.isdisjoint(words)) or words == ("next",):
            return True
        if "object" in schema.types and _says_more(schema, depth + 1):
            return True
    return False


_MORE = {
    ("has", "more"),
    ("more",),
    ("has", "next"),
    ("has", "next", "page"),
    ("is", "truncated"),
    ("last", "evaluated", "key"),
}
_PAGED = word_set("page cursor token link url offset marker key id before after since")


def _has_end(tool: Tool) -> bool:
    return any(parameter.name.lower() in _ENDS for parameter in tool.parameters)


def _continuation_name(name: str, v: Vocabulary) -> str | None:
    words = v.words(name)
    name = " ".join(words)
    known = next((form for form in ("cursor", "page", "offset", "anchor") if name in v[f"{form}_names"]), None)
    if known is not None or not words:
        return known
    if words[-1] == "cursor" or (words[0] == "cursor" and len(words) == 2):
        return "cursor"
    if words[-1] == "token" and not _ONWARD.isdisjoint(words):
        return "cursor"
    if words[0] in _BESIDE and words[-1] == "id":
        return "anchor"
    return "offset" if words[-1] == "offset" and v["not_offsets"].isdisjoint(words) else None


_ONWARD = frozenset({"page", "next", "continuation", "pagination", "paging", "continue", "resume"})


def _continues(parameter: Parameter, form: str, reading: bool, text: str, limited: bool, more: bool) -> bool:
    schema = parameter.schema
    if {"boolean", "object", "array"}.intersection(schema.types) or (parameter.nested and not reading):
        return False
    if form == "cursor":
        return not text or _PATTERNS.conversation.search(text) is None
    if not reading and (form == "offset" or (form == "page" and _numeric(schema) is False)):
        return False
    said = bool(text) and _PATTERNS.continues.search(text) is not None
    numeric = _numeric(schema)
    if form != "anchor":
        return said or (reading and not (form == "page" and numeric is False))
    if not reading:
        return False
    if more and not parameter.nested and parameter.name.lower() in _BESIDE:
        return True
    if text:
        return said and ("cursor" in text or _PATTERNS.filter.search(text) is None)
    dated = str(schema.get("format") or "").startswith(("date", "time"))
    return limited and (bool(numeric) or (parameter.name.lower() in {"after", "before"} and not dated))


_BESIDE = frozenset({"after", "before", "since"})
"""Names that continue where the output says that there is more, whatever their values are."""
