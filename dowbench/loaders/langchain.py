"""LangChain: tools as ``name``, ``description`` and ``args`` or ``args_schema``, and its serialised objects."""

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


def matches(entry: Mapping[str, Any]) -> bool:
    if "lc" in entry and isinstance(entry.get("id"), list):
        return True
    return is_named(entry) and ("args_schema" in entry or is_arguments(entry))


def is_arguments(entry: Mapping[str, Any]) -> bool:
    """Whether ``args`` holds a schema a name, as a described tool's does, and not values for a command."""
    args = entry.get("args")
    return isinstance(args, dict) and "description" in entry and all(isinstance(value, dict) for value in args.values())


def read(definition: Definition, context: Context) -> Iterator[Tool]:
    entry, pointer = definition.value, definition.pointer
    place, whole = pointer, entry
    if "lc" in entry:
        if entry.get("type") != "constructor" or not isinstance(entry.get("kwargs"), dict):
            raise context.error(
                "LangChain wrote this object without its definition; export name, description and args_schema", pointer
            )
        entry, pointer = entry["kwargs"], join(pointer, "kwargs")
    key = next((key for key in ("args_schema", "args") if entry.get(key) is not None), "args_schema")
    yield build.tool(context, entry, pointer, schema=key, flat=key == "args", place=place, definition=whole)


LOADER = ListLoader("langchain", matches, read, "a LangChain tool (an object with name and args or args_schema)")
