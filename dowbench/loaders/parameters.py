"""Flattens the schema of a tool's input into the parameters that rules look at."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from dowbench.model import Parameter, Schema

if TYPE_CHECKING:
    from collections.abc import Iterator

ITEM = "[]"
"""Path element for the items of an array."""
VALUE = "*"
"""Path element for the values of a map (``additionalProperties``)."""


def flatten(schema: Schema, path: tuple[str, ...] = (), place: str | None = None) -> Iterator[Parameter]:
    """The parameters below ``schema``, which ``path`` leads to: those nearest to the top first, in source order.

    Objects, array items, map values and all alternatives of a union are gone through. What a definition holds is listed
    under the first of its uses only, so a schema costs no more than its text, however it refers to itself.
    """
    todo, seen = deque([(schema, path)]), {0}
    while todo:
        holder, path = todo.popleft()
        if holder.circular or (holder.identity in seen and holder.identity):
            continue
        seen.add(holder.identity)
        for name, child in holder.properties.items():
            below = (*path, name)
            yield Parameter(
                name=name,
                path=below,
                schema=child,
                required=name in holder.required,
                description=child.description,
                place=place,
                location=child.location,
            )
            todo.append((child, below))
        if (items := holder.items) is not None:
            todo.append((items, (*path, ITEM)))
        if (values := holder.additional) is not None:
            todo.append((values, (*path, VALUE)))
        todo.extendleft((alternative, path) for alternative in reversed(holder.alternatives))
