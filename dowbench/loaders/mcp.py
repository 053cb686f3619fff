"""Model Context Protocol: what a server answers to ``tools/list``, and lists of its tools in registries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dowbench.loaders import build
from dowbench.loaders.bedrock import is_bedrock_schema
from dowbench.loaders.definitions import ListLoader
from dowbench.loaders.entries import Definition, is_named
from dowbench.loaders.parameters import flatten
from dowbench.loaders.schema import Resolver
from dowbench.pointer import join

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dowbench.loaders.context import Context
    from dowbench.model import Tool

HINTS = frozenset(("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"))


def matches(entry: Mapping[str, Any]) -> bool:
    if not is_named(entry):
        return False
    if "inputSchema" in entry:
        return not is_bedrock_schema(entry["inputSchema"])
    annotations = entry.get("annotations")
    hinted = isinstance(annotations, dict) and not HINTS.isdisjoint(annotations)
    return hinted or (resembles(entry) and bool(entry["arguments"]))


def resembles(entry: Mapping[str, Any]) -> bool:
    """Whether it is a tool as the registry of Docker lists it: ``arguments: [{name, type, desc}]``."""
    arguments = entry.get("arguments")
    if not isinstance(arguments, list) or not is_named(entry) or "description" not in entry:
        return False
    return all(isinstance(a, dict) and "name" in a and ("desc" in a or "type" in a) for a in arguments)


def read(definition: Definition, context: Context) -> Iterator[Tool]:
    entry, pointer = definition.value, definition.pointer
    listed = "inputSchema" not in entry and resembles(entry)
    made = build.tool(
        context,
        entry,
        pointer,
        schema=None if listed else "inputSchema",
        output="outputSchema",
        hints=build.mapping(context, entry, pointer, "annotations"),
        meta=build.mapping(context, entry, pointer, "_meta"),
    )
    if listed:
        made = _with_arguments(context, made, entry["arguments"], join(pointer, "arguments"))
    yield made


def _with_arguments(context: Context, made: Tool, arguments: list[Any], pointer: str) -> Tool:
    members: dict[str, Any] = {}
    places: dict[str, str] = {}
    for index, argument in enumerate(arguments):
        place = join(pointer, index)
        name = argument["name"]
        if not isinstance(name, str):
            context.expected("the name of an argument, a text", name, join(place, "name"))
        stated = {key: value for key, value in argument.items() if key not in ("name", "desc", "optional")}
        stated.setdefault("description", argument.get("desc"))
        stated["required"] = argument.get("optional") is not True
        members[name], places[name] = stated, place
    schema = Resolver(context, {}, pointer).properties(members, pointer, places)
    return made._replace(parameters=tuple(flatten(schema, context)), listed=True)


LOADER = ListLoader("mcp", matches, read, "an MCP tool (an object with name and inputSchema)", resembles)
