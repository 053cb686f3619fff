"""Flattens the schema of a tool's input into the parameters that rules look at."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from dowbench.model import NO_CHILDREN, Parameter

if TYPE_CHECKING:
    from dowbench.loaders.context import Context
    from dowbench.model import Schema

ITEM = "[]"
"""Path element for the items of an array."""
VALUE = "*"
"""Path element for the values of a map (``additionalProperties``)."""


MOST_NESTED = 400
"""Nested parameters of one input that are looked at. The bodies of some APIs hold most of their types."""


def flatten(schema: Schema, context: Context, path: tuple[str, ...] = (), place: str | None = None) -> list[Parameter]:
    """The parameters below ``schema``, which ``path`` leads to: those nearest to the top first, in source order.

    Objects, array items, map values and all alternatives of a union are gone through. What a definition holds is listed
    under the first of its uses only, so a schema costs no more than its text, however it refers to itself.
    """
    found: list[Parameter] = []
    if schema.children is NO_CHILDREN:
        return found
    todo, seen, nested = deque([(schema, path)]), set[int](), 0
    while todo:
        holder, path = todo.popleft()
        if holder.circular or holder.identity in seen:
            continue
        seen.add(holder.identity)
        properties = holder.properties
        if path:
            nested += len(properties)
        if nested > MOST_NESTED:
            context.note(
                f"of inputs with more than {MOST_NESTED} nested parameters, the deepest are not looked at",
                holder.location.pointer,
            )
            break
        for name, child in properties.items():
            below = (*path, name)
            required = name in holder.required
            found.append(Parameter(name, below, child, required, child.description, place, child.location))
            if child.children is not NO_CHILDREN:
                todo.append((child, below))
        if (items := holder.items) is not None:
            todo.append((items, (*path, ITEM)))
        if (values := holder.additional) is not None:
            todo.append((values, (*path, VALUE)))
        todo.extendleft((alternative, path) for alternative in reversed(holder.alternatives))
    return found
