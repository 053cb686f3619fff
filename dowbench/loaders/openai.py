"""OpenAI: chat completions, responses, realtime, the older functions, and what copies their shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dowbench.loaders import build
from dowbench.loaders.definitions import ListLoader
from dowbench.loaders.entries import Definition, is_named
from dowbench.model import Location, Parameter, Schema, Tool
from dowbench.pointer import join

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dowbench.loaders.context import Context

HOSTED = (
    *("web_search", "file_search", "computer", "code_interpreter", "image_generation", "mcp"),
    *("local_shell", "shell", "apply_patch", "tool_search"),
)
"""Beginnings of ``type`` of the tools that the provider runs; the rest is a version."""


PARAMETER = frozenset(("type", "description", "anyOf", "oneOf", "allOf", "$ref", "enum"))
"""What a schema has at least one of, where ``parameters`` holds one a name."""


HAS_MORE = frozenset(("tools", "methods", "resources", "schemas"))
"""Keys of an agent or of an interface, whose ``parameters`` are not those of one function."""


def matches(entry: Mapping[str, Any]) -> bool:
    kind = entry.get("type")
    if kind == "function" and "function" in entry:
        # a tool call, which a conversation holds, has arguments in place of parameters
        return is_named(entry["function"]) and "arguments" not in entry["function"]
    if kind == "custom" and "custom" in entry:
        return is_named(entry["custom"])
    if isinstance(entry.get("json_schema"), dict):
        return matches(entry["json_schema"])
    if not is_named(entry):
        return False
    if kind == "namespace":
        return isinstance(entry.get("tools"), list)
    if kind == "custom" and "input_schema" not in entry:
        return isinstance(entry.get("format"), dict)
    if kind == "function" and "inputSchema" not in entry and "input_schema" not in entry:
        return "parameters" in entry or "description" in entry
    return "parameters" in entry and is_function(entry)


def resembles(entry: Mapping[str, Any]) -> bool:
    """Whether it names a tool that the provider defines, or a function that takes nothing."""
    kind = entry.get("type")
    if isinstance(kind, str) and "name" not in entry:
        return kind.startswith(HOSTED) and kind != "mcp_toolset"
    return is_named(entry) and "parameters" in entry and entry["parameters"] in (None, {}, [])


def is_function(entry: Mapping[str, Any]) -> bool:
    """Whether ``parameters`` beside a name are those of a function, not of an agent, a documentation or a pipeline."""
    parameters = entry["parameters"]
    if not isinstance(parameters, dict) or not parameters or not HAS_MORE.isdisjoint(entry):
        return False
    if "properties" in parameters or parameters.get("type") in ("object", "dict"):
        return str(parameters.get("type", "object")).islower()
    members = parameters.values()
    return "description" in entry and all(isinstance(p, dict) and not PARAMETER.isdisjoint(p) for p in members)


def read(definition: Definition, context: Context) -> Iterator[Tool]:
    entry, pointer = definition.value, definition.pointer
    kind = entry.get("type")
    if "function" in entry:
        yield _function(context, entry, pointer, "function")
    elif isinstance(entry.get("json_schema"), dict):
        yield _function(context, entry, pointer, "json_schema")
    elif kind == "custom":
        yield _custom(context, entry, pointer)
    elif kind == "namespace":
        for index, inner in enumerate(entry["tools"]):
            place = join(pointer, "tools", index)
            if not isinstance(inner, dict) or not matches(inner):
                context.expected(LOADER.expects, inner, place)
            yield from read(Definition(inner, place), context)
    elif kind not in (None, "function") and "parameters" not in entry:
        build.hosted(context, str(kind), pointer)
    else:
        yield _function(context, entry, pointer)


def _function(context: Context, entry: Mapping[str, Any], pointer: str, *key: str) -> Tool:
    """The function that an entry is, or that it holds under a key."""
    function, below = (entry[key[0]], join(pointer, *key)) if key else (entry, pointer)
    if not isinstance(function, dict):
        context.expected("a function, an object with a name and parameters", function, below)
    made = build.tool(context, function, below, schema="parameters", output="response", place=pointer, definition=entry)
    return made._replace(strict=any(part.get("strict") is True for part in (function, entry)))


def _custom(context: Context, entry: Mapping[str, Any], pointer: str) -> Tool:
    """A tool that takes one text in place of arguments."""
    inner = build.mapping(context, entry, pointer, "custom") or entry
    below = pointer if inner is entry else join(pointer, "custom")
    location = Location(below)
    text = Parameter("input", ("input",), Schema(location, ("string",), {}), True, "", location=location)
    made = build.tool(context, inner, below, schema=None, place=pointer, definition=entry)
    return Tool(
        name=made.name,
        location=made.location,
        description=made.description,
        parameters=(text,),
        definition=entry,
        description_location=made.description_location,
    )


LOADER = ListLoader(
    "openai",
    matches,
    read,
    "an OpenAI tool (type function with a function, or an object with name and parameters)",
    resembles,
)
