"""Entries of lists of tool definitions, and what they say of themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dowbench.pointer import join

HOLDERS = ("tools", "functions")
"""Keys whose value is a list of definitions, or an object of them by name."""
SCHEMA_KEYS = frozenset(
    (
        *("parameters", "parametersJsonSchema", "parameters_json_schema", "input_schema", "inputSchema", "arguments"),
        *("args", "args_schema", "run_params_schema", "function", "custom", "toolSpec", "functionSchema"),
        *("functionDeclarations", "function_declarations", "json_schema", "lc", *HOLDERS),
    )
)
"""Where one format or another keeps what a tool takes."""
NO_NAMES = frozenset(("function", "toolSpec", "tool_spec", "functionDeclarations", "function_declarations"))
"""Keys above definitions that do not name them."""
MARKS = SCHEMA_KEYS | {"annotations"}

Matches = Callable[[Mapping[str, Any]], bool]


class Definition(NamedTuple):
    """One entry of a list of definitions. In an object of definitions by name, ``value`` has been given its name."""

    value: Any
    pointer: str


class Listing(NamedTuple):
    """A list of definitions."""

    pointer: str
    definitions: tuple[Definition, ...]
    holder: str | None = None
    """The key it was found under, where a key says that it holds tools."""
    usual: bool = True
    """It lies where lists of tools do, so that it is one even if no entry can tell."""


def is_named(entry: Any) -> bool:
    """Whether it is an object with a name that is a text, which tells a definition from a schema of definitions."""
    return isinstance(entry, dict) and isinstance(entry.get("name"), str)


def is_weak(entry: Any) -> bool:
    """Whether an entry names a tool and nothing says of which format it is."""
    if not isinstance(entry, dict) or not SCHEMA_KEYS.isdisjoint(entry):
        return False
    return is_named(entry) or isinstance(entry.get("type"), str)


def is_marked(entry: Mapping[str, Any]) -> bool:
    """Whether an object can be a definition that says of which format it is, or hold a list of tools."""
    return not MARKS.isdisjoint(entry) or entry.get("type") in ("function", "custom")


def has_match(listing: Listing, matches: Matches) -> bool:
    return any(isinstance(d.value, dict) and matches(d.value) for d in listing.definitions)


def has_names(listing: Listing) -> bool:
    """Whether it is a list of names, which define nothing."""
    return bool(listing.definitions) and all(isinstance(d.value, str) for d in listing.definitions)


def has_objects(listing: Listing) -> bool:
    return any(isinstance(d.value, dict) for d in listing.definitions)


def by_name(value: Mapping[str, Any], pointer: str) -> tuple[Definition, ...]:
    return tuple(
        Definition(named(entry, key) if isinstance(entry, dict) else entry, join(pointer, key))
        for key, entry in value.items()
    )


def named(entry: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return entry if has_own_name(entry) else {"name": key, **entry}


def is_keyed(entry: Any, key: str, matches: Matches) -> bool:
    """Whether an object is a definition that the key above it names, or has a name beside that key."""
    if not isinstance(entry, dict) or key in NO_NAMES or not is_marked(entry):
        return False
    return (has_own_name(entry) or needs_no_name(entry)) and matches(named(entry, key))


def has_own_name(entry: Mapping[str, Any]) -> bool:
    """Whether an object of definitions by name does not have to give this one its name."""
    return "name" in entry or "function" in entry or "toolSpec" in entry


def needs_no_name(entry: Mapping[str, Any]) -> bool:
    """Whether an object says enough to be a tool that the key above it names: a description and a whole schema.

    Schemas of other things and descriptions of interfaces have objects under ``parameters``, too.
    """
    inputs = (entry[key] for key in ("parameters", "args") if key in entry)
    return isinstance(entry.get("description"), str) and all(is_whole(schema) for schema in inputs)


def is_whole(schema: Any) -> bool:
    """Whether a schema says itself that it is one, and is not just an object of some."""
    return isinstance(schema, dict) and (isinstance(schema.get("type"), str) or "properties" in schema)
