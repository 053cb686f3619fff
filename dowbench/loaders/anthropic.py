"""Anthropic: ``name``, ``description``, ``input_schema``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dowbench.loaders import build
from dowbench.loaders.definitions import ListLoader
from dowbench.loaders.entries import Definition, is_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dowbench.loaders.context import Context
    from dowbench.model import Tool


def matches(entry: Mapping[str, Any]) -> bool:
    return "input_schema" in entry and is_named(entry)


def resembles(entry: Mapping[str, Any]) -> bool:
    """Whether it names a tool whose schema is the provider's: ``web_search_20250305``."""
    kind = entry.get("type")
    if not isinstance(kind, str):
        return False
    version = kind.rpartition("_")[2]
    return kind == "mcp_toolset" or ("name" in entry and len(version) == 8 and version.isdigit())


def read(definition: Definition, context: Context) -> Iterator[Tool]:
    entry, pointer = definition.value, definition.pointer
    if "input_schema" not in entry and isinstance(entry.get("type"), str) and entry["type"] != "custom":
        build.hosted(context, entry["type"], pointer)
    else:
        yield build.tool(context, entry, pointer, schema="input_schema")


LOADER = ListLoader("anthropic", matches, read, "an Anthropic tool (an object with name and input_schema)", resembles)
