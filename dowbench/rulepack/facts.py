"""What witnesses tell a message: numbers, parameters, kinds of results, quotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowbench.rulepack.parameters import said_of
from dowbench.rulepack.view import ToolView, Witness

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dowbench.model import Parameter
    from dowbench.result import OpenPart
    from dowbench.rulepack.matching import Mention, Search

QUOTATION = ("phrase", "quote", "sentence")
"""The placeholders of a sentence that was found."""
PARAMETER_FACTS = ("parameter", "maximum", "default", "unit", "enough")
"""The placeholders of a parameter."""
KIND_WORDS: Mapping[str, str] = {
    "list": "a list",
    "text": "text",
    "document": "text",
    "record": "a record",
    "ack": "an acknowledgement",
    "scalar": "a value",
    "media": "media",
    "generation": "what a model wrote",
    "unknown": "data of unknown size",
}
"""How a message names a kind of result."""


def figure(value: float | None) -> str:
    """A number as messages print it."""
    if value is None:
        return "not stated"
    if abs(value) >= _COUNTABLE:
        return f"{'-' if value < 0 else ''}{_COUNTABLE:,} or more"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,}"


_COUNTABLE = 2**53
"""From here on a ``float`` does not hold every whole number."""


def parameter_witness(view: ToolView, parameter: Parameter, group: int = 0) -> Witness:
    """A parameter as a witness, with what its schema states."""
    path = ".".join(parameter.path)
    limit = view.bound(parameter)
    default = parameter.schema.get("default")
    facts = {
        "parameter": path,
        "maximum": figure(limit.maximum),
        "default": figure(default) if isinstance(default, (int, float)) else str(default),
        "unit": limit.unit,
        "enough": _ENOUGH.get(limit.unit, _ENOUGH["items"]),
    }
    return Witness(parameter.location, f"parameter `{path}`", view.tool, parameter, facts, "parameter", group)


def quoting(witness: Witness, view: ToolView, quoted: Sequence[Search]) -> Witness:
    """A parameter with the words for which it was found, where it was found for words."""
    assert witness.parameter is not None
    for search in quoted:
        mention = said_of(search, view, witness.parameter)
        if mention is not None:
            return witness._replace(facts={**witness.facts, **quotation(mention)})
    return witness


def quotation(mention: Mention) -> Mapping[str, str]:
    """What a message tells of a place where a description says something."""
    return dict(zip(QUOTATION, (mention.text, mention.context, mention.whole), strict=True))


_ENOUGH = {
    "items": "50",
    "rows": "50",
    "lines": "500 lines",
    "characters": "20,000 characters",
    "bytes": "20,000 bytes",
    "words": "3,000 words",
    "tokens": "5,000 tokens",
    "time": "7",
    "work": "10",
}
"""What a fix names as an example of a maximum, by unit."""


_SHOWN = 3
"""Names that a message tells."""
MOST_NAMED = 8
"""Names that a fix tells one by one."""


def open_parts(parts: Sequence[OpenPart]) -> str:
    """How a message names the open parts of the declared output: those of the kind of the first."""
    if not parts:
        return "nothing"
    kind = parts[0].kind
    names = _names(parts)
    return f"the {kind}{'s' if len(names) > 1 else ''} {listed(names)}" if names else f"a {kind}"


def each_open_part(parts: Sequence[OpenPart]) -> str:
    """How a fix names the same parts: all of them, or what they have in common."""
    names = _names(parts)
    if len(names) <= MOST_NAMED:
        return open_parts(parts) if len(names) <= _SHOWN else f"the {parts[0].kind}s {listed(names, MOST_NAMED)}"
    return f"each of the {figure(len(names))} {parts[0].kind}s that have none"


def _names(parts: Sequence[OpenPart]) -> list[str]:
    """The paths of the open parts that are of the kind of the first."""
    return list(dict.fromkeys(".".join(part.path) for part in parts if part.kind == parts[0].kind and part.path))


def listed(names: list[str], most: int = _SHOWN) -> str:
    """The first ``most`` of ``names``, and how many more there are."""
    shown = ", ".join(f"`{name}`" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {figure(len(names) - most)} more"
