"""Amazon Bedrock: ``toolSpec`` of the Converse API, and the functions of an agent's action group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dowbench.loaders import build
from dowbench.loaders.definitions import ListLoader
from dowbench.loaders.entries import Definition, is_named
from dowbench.pointer import join

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dowbench.loaders.context import Context
    from dowbench.model import Tool


OF_SCHEMAS = frozenset(("type", "properties", "$ref", "required"))
"""Keywords that no wrapping around a schema has."""


def matches(entry: Mapping[str, Any]) -> bool:
    if is_named(entry.get("toolSpec")) or is_named(entry.get("tool_spec")):
        return True
    group = entry.get("functionSchema")
    if isinstance(group, dict):
        return isinstance(group.get("functions"), list)
    return is_named(entry) and is_bedrock_schema(entry.get("inputSchema"))


def resembles(entry: Mapping[str, Any]) -> bool:
    """Whether it is an entry of the list that defines no tool."""
    return "systemTool" in entry or "cachePoint" in entry


def is_bedrock_schema(schema: Any) -> bool:
    """Whether a schema is wrapped as Bedrock does it."""
    return isinstance(schema, dict) and isinstance(schema.get("json"), dict) and OF_SCHEMAS.isdisjoint(schema)


def read(definition: Definition, context: Context) -> Iterator[Tool]:
    entry, pointer = definition.value, definition.pointer
    if "functionSchema" in entry:
        group = build.mapping(context, entry, pointer, "functionSchema")
        below = join(pointer, "functionSchema", "functions")
        for index, function in enumerate(build.must_be_list(context, group.get("functions"), below, "functions")):
            place = join(below, index)
            if not isinstance(function, dict):
                context.expected("a function of an action group, an object", function, place)
            yield build.tool(context, function, place, schema="parameters", flat=True)
        return
    if "systemTool" in entry:
        build.hosted(context, str(build.mapping(context, entry, pointer, "systemTool").get("name")), pointer)
        return
    if "cachePoint" in entry:
        return
    key = next((key for key in ("toolSpec", "tool_spec") if key in entry), None)
    spec, below = (entry, pointer) if key is None else (entry[key], join(pointer, key))
    if not isinstance(spec, dict):
        context.expected("an object with name and inputSchema", spec, below)
    schema: str | tuple[str, str] = ("inputSchema", "json")
    wrapped = spec.get("inputSchema")
    if isinstance(wrapped, dict) and "json" not in wrapped:
        if OF_SCHEMAS.isdisjoint(wrapped):
            context.expected('an inputSchema with the schema under "json"', wrapped, join(below, "inputSchema"))
        # Frameworks accept what the service does not.
        context.note('inputSchema is a schema; Bedrock expects it under "json"', join(below, "inputSchema"))
        schema = "inputSchema"
    yield build.tool(context, spec, below, schema=schema, place=pointer, definition=entry)


LOADER = ListLoader("bedrock", matches, read, "a Bedrock tool (an object with toolSpec)", resembles)
