"""The parts of a declared output that nothing bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from dowbench.model import NO_CHILDREN
from dowbench.result.bounds import choices
from dowbench.result.caps import SENTINELS
from dowbench.words import split

if TYPE_CHECKING:
    from dowbench.model import Schema
    from dowbench.result.vocabulary import Vocabulary

_DEPTH = 3
"""How deep below the top an array or text is still the payload, inside envelopes."""
_UNIONS = 3
"""How many unions may stand around it."""
_MOST = 500
"""So many parts are looked for: more are no use to anybody."""


_Visit = tuple[int, int, int]
"""A schema, by its identity, and how many properties and unions stand around it."""


class OpenPart(NamedTuple):
    """A part of a declared output that nothing bounds."""

    schema: Schema
    kind: Literal["list", "text"]
    path: tuple[str, ...]
    """Names of the properties that lead to it; empty at the top."""


def unbounded(output: Schema | None, v: Vocabulary) -> tuple[OpenPart, ...]:
    """Arrays without ``maxItems`` and free text without ``maxLength`` at the top or in an envelope around the payload.

    What lies inside the items of an array is the array's affair, and not looked at.
    """
    found: list[OpenPart] = []
    if output is not None:
        _collect(output, (), v, found, 0, set())
    return tuple(found)


def unfinished(output: Schema | None) -> bool:
    """Whether the declared output is a thing whose ``status`` may be one of work that goes on, and one of work done."""
    if output is None:
        return False
    for name in ("status", "state", "phase"):
        schema = output.properties.get(name)
        if schema is not None:
            values = [value for branch in (schema, *schema.alternatives) for value in choices(branch)]
            words = {" ".join(split(str(value))) for value in values}
            return not (_GOING_ON.isdisjoint(words) or _DONE.isdisjoint(words))
    return False


_GOING_ON = frozenset({"pending", "queued", "running", "processing", "in progress", "started", "building", "waiting"})
_DONE = frozenset({"completed", "complete", "succeeded", "success", "done", "finished", "failed", "error", "ready"})


def _collect(
    schema: Schema, path: tuple[str, ...], v: Vocabulary, found: list[OpenPart], unions: int, closed: set[_Visit]
) -> None:
    """Add the open parts to ``found``; ``closed`` are visits that need not be made again.

    They found nothing, or what leads back to a schema around them, which is looked at itself.
    """
    visit = schema.identity, len(path), unions
    if len(path) > _DEPTH or unions > _UNIONS or schema.circular or visit in closed or len(found) >= _MOST:
        return
    before = len(found)
    if branches := schema.alternatives:
        for branch in branches:
            _collect(branch, path, v, found, unions + 1, closed)
    elif "array" in schema.types or schema.items is not None:
        if not _stated(schema, "maxItems"):
            found.append(OpenPart(schema, "list", path))
    elif "string" in schema.types:
        short = _stated(schema, "maxLength") or any(schema.get(k) is not None for k in ("enum", "const", "format"))
        if not short and path and not v["free_text_names"].isdisjoint(split(path[-1])):
            found.append(OpenPart(schema, "text", path))
    else:
        fails = any(name.startswith("error") for name in schema.properties)
        for child_name, child in schema.properties.items():
            if not (fails and child_name == "message"):  # what went wrong, in a sentence
                _collect(child, (*path, child_name), v, found, unions, closed)
    if schema.identity and schema.children is not NO_CHILDREN and len(found) == before:
        closed.add(visit)


def _stated(schema: Schema, keyword: str) -> bool:
    value = schema.get(keyword)
    return isinstance(value, (int, float)) and value < SENTINELS
