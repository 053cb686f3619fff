"""The upper bound of one parameter, by its schema and by its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from dowbench.patterns import Patterns
from dowbench.result import caps
from dowbench.result.caps import SENTINELS

if TYPE_CHECKING:
    from dowbench.model import Parameter, Schema

LimitSource = Literal["schema", "documented", "none", "unknown"]

RANGE, WORK, TIME = "range", "work", "time"
"""Units of a limit that picks a part (lines 1 to 50), of one on what is done (turns, agents), not on the result, and of
one in days or hours, which says nothing of how much there is for each."""


class Limit(NamedTuple):
    """The upper bound of one parameter, as far as the definition states one."""

    parameter: Parameter
    maximum: float | None
    """The largest value that can be passed; ``None``: any."""
    source: LimitSource
    """Where ``maximum`` is stated: in the schema, in prose, nowhere; ``unknown`` behind a reference that leads out."""
    default: float | str | None
    """The value used when the model passes none, where it is stated."""
    required: bool
    unit: str
    """What is counted: ``items``, ``characters``, ``lines`` …, ``range``, ``work`` or ``time``."""


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
    return Limit(parameter, None, "unknown" if schema.unread else "none", default, parameter.required, unit)


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


def _default(schema: Schema, text: str) -> float | str | None:
    value = schema.get("default")
    if isinstance(value, (int, float, str)) and not isinstance(value, bool):
        return value
    match = _PATTERNS.default.search(text) if "efault" in text else None
    digits = match[1].replace(",", "").replace("_", "") if match else ""
    return int(digits) if 0 < len(digits) <= _MOST_DIGITS else None


_PATTERNS = Patterns(
    default=r"\bdefault(?:s|ing)?\b(?:\s+(?:is|to|of|value|limit))*\s*[:=]?\s*`?(\d[\d,_]*)\b(?!\s*%)",
)


_MOST_DIGITS = 15
"""Of a default in a text; what has more is no number of anything."""
_NUMERIC = frozenset({"integer", "number"})


def takes_numbers(schema: Schema) -> bool | None:
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
