"""What a parameter bounds, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from dowbench.model import Parameter

LimitSource = Literal["schema", "documented", "none"]


@dataclass(frozen=True, slots=True)
class Limit:
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
    """What is counted: ``items``, ``characters``, ``bytes`` …"""


def upper_bound(parameter: Parameter) -> Limit:
    """The bound on ``parameter``'s own value: number, length of a string, number of an array's items."""
    schema = parameter.schema
    for keyword, unit in (("maximum", "items"), ("maxItems", "items"), ("maxLength", "characters")):
        value = schema.get(keyword)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 2**31 - 1:
            return Limit(parameter, value, "schema", schema.get("default"), parameter.required, unit)
    return Limit(parameter, None, "none", schema.get("default"), parameter.required, "items")
