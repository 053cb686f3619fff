"""From the parts that every format has, name, description and schemas, to a ``Tool``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dowbench.loaders.context import Context, quote
from dowbench.loaders.keywords import reference
from dowbench.loaders.parameters import flatten
from dowbench.loaders.schema import Resolver
from dowbench.loaders.spelling import misspelt, stray_schema
from dowbench.model import EMPTY, Location, Parameter, Schema, Tool
from dowbench.pointer import join

if TYPE_CHECKING:
    from collections.abc import Mapping

REQUIRED = frozenset(("inputSchema", "input_schema"))
"""Keys of input schemas that a tool has to have, also if it takes nothing."""
APPLICATORS = frozenset(
    (
        *("properties", "patternProperties", "additionalProperties", "propertyNames", "dependentSchemas", "$defs"),
        *("definitions", "items", "not", "if", "then", "else", "default", "example"),
    )
)
"""Keywords of a schema whose values are objects."""


def tool(
    context: Context,
    entry: Mapping[str, Any],
    pointer: str,
    *,
    schema: str | tuple[str, ...] | None,
    output: str | None = None,
    flat: bool = False,
    place: str | None = None,
    definition: Any = None,
    hints: Mapping[str, Any] = EMPTY,
    meta: Mapping[str, Any] = EMPTY,
) -> Tool:
    """The tool that ``entry`` at ``pointer`` defines.

    ``schema`` is the key (or path of keys) of its input schema, ``None`` where it has none, ``output`` that of its
    output schema; ``flat`` input schemas are the properties alone. ``place`` is the pointer of the entry of the list,
    ``definition`` its value, where ``entry`` is only a part of it.

    Raises:
        SourceError: for a name or description that is no text, a schema that is no schema or under a misspelt key.
    """
    path = (schema,) if isinstance(schema, str) else schema or ()
    below, raw = join(pointer, *path), entry_at(context, entry, pointer, path) if path else None
    if raw is None and path:
        refuse_misspelt(context, entry, pointer, path[0])
        if path[0] in REQUIRED:
            context.note(f'a tool without "{path[0]}" is read as one that takes nothing', pointer)
    text, text_key = description(context, entry, pointer)
    parameters = () if raw is None else inputs(context, raw, below, flat)
    return Tool(
        name=name(context, entry, pointer),
        location=Location(pointer if place is None else place),
        description=text,
        parameters=parameters,
        output=output_schema(context, entry, pointer, output) if output else None,
        hints=hints,
        meta=meta,
        definition=entry if definition is None else definition,
        description_location=Location(join(pointer, text_key)) if text else None,
        unread=not parameters and isinstance(raw, dict) and reference(raw) is not None,
    )


def name(context: Context, entry: Mapping[str, Any], pointer: str) -> str:
    """The name of a tool, which has to be there."""
    value = entry.get("name")
    if not isinstance(value, str) or not value.strip():
        if "name" not in entry:
            context.expected('a tool with a "name"', entry, pointer)
        context.expected("the name of a tool, a text", value, join(pointer, "name"))
    return value


def description(context: Context, entry: Mapping[str, Any], pointer: str) -> tuple[str, str]:
    """What the model reads of a tool, and the key it is under: the title stands in where there is no description."""
    for key in ("description", "title"):
        value = entry.get(key)
        if value is not None and not isinstance(value, str):
            context.expected(f"the {key} of a tool, a text", value, join(pointer, key))
        if value:
            return value, key
    if "description" not in entry and (found := misspelt(entry, "description", str)) is not None:
        context.note(f'the unknown key "{quote(found)}" is not read; was "description" meant?', join(pointer, found))
    return "", "description"


def refuse_misspelt(context: Context, entry: Mapping[str, Any], pointer: str, schema: str) -> None:
    """Raise ``SourceError`` if an entry without the key ``schema`` has one that was probably meant to be it."""
    if schema not in entry and (key := stray_schema(entry, schema)) is not None:
        raise context.error(f'expected "{schema}", found the unknown key "{quote(key)}"', join(pointer, key))


def mapping(context: Context, entry: Mapping[str, Any], pointer: str, key: str) -> Mapping[str, Any]:
    """The object under ``key``; an empty one if there is none."""
    value = entry.get(key)
    if value is None:
        return EMPTY
    if not isinstance(value, dict):
        context.expected(f"{key} to be an object", value, join(pointer, key))
    return value


def entry_at(context: Context, entry: Mapping[str, Any], pointer: str, path: tuple[str, ...]) -> Any:
    """The value below ``entry`` that the keys lead to, ``None`` where one is missing."""
    value: Any = entry
    for key in path:
        if value is None:
            return None
        if not isinstance(value, dict):
            context.expected("an object", value, pointer)
        value, pointer = value.get(key), join(pointer, key)
    return value


def inputs(context: Context, raw: Any, pointer: str, flat: bool = False) -> tuple[Parameter, ...]:
    """The parameters of an input schema, which is a JSON Schema, or just its properties."""
    if raw == []:  # as PHP writes an empty object
        context.note("the input schema is an empty list, which is read as an empty object", pointer)
        return ()
    if not isinstance(raw, dict):
        context.expected("an input schema, an object", raw, pointer)
    if "properties" not in raw and (found := misspelt(raw, "properties", dict)) is not None:
        raise context.error(f'expected "properties", found the unknown key "{quote(found)}"', join(pointer, found))
    resolver = Resolver(context, raw, pointer)
    if flat or is_flat(raw):
        return tuple(flatten(resolver.properties(raw, pointer), context))
    schema = resolver.schema(raw, pointer)
    if schema.types and "object" not in schema.types:
        context.expected('an input schema of type "object"', raw.get("type"), join(pointer, "type"))
    return tuple(flatten(schema, context))


def is_flat(raw: Mapping[str, Any]) -> bool:
    """Whether an object holds a schema a name without being a schema itself."""
    if "properties" in raw or APPLICATORS.issuperset(raw):
        return False
    return all(isinstance(value, dict) and value for value in raw.values())


def output_schema(context: Context, entry: Mapping[str, Any], pointer: str, key: str) -> Schema | None:
    """The output schema under ``key``, which a tool need not have."""
    raw = entry.get(key)
    if raw is None:
        return None
    below = join(pointer, key)
    if not isinstance(raw, dict):
        context.expected("an output schema, an object", raw, below)
    return Resolver(context, raw, below).schema(raw, below)


def hosted(context: Context, what: str, pointer: str) -> None:
    """Note a tool that the provider defines and runs, of which the document only holds the name."""
    context.note(f"{quote(what)} is defined by the provider, so there is nothing to look at", pointer)


def must_be_list(context: Context, value: Any, pointer: str, what: str) -> list[Any]:
    """``value``, which has to be a list."""
    if not isinstance(value, list):
        context.expected(f"a list of {what}", value, pointer)
    return value
