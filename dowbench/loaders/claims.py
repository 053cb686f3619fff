"""Documents of which no entry can be read as a tool definition, though something in them says that it is one.

A document without such a claim is no tool definition and may be passed over; one with a claim is broken, and an error
wherever it was found. What claims to be a tool, where tools may be:

- an object that has a key which only tool definitions have, and a name or a description;
- an object with ``type: function`` and a ``function``, or a schema of parameters;
- a named and described object whose ``parameters`` are a text or a number, or which has a schema under a misspelt key;
- under ``tools`` or ``functions``, an object that has a key which only tool definitions have; under ``tools``, one that
  has such a key misspelt, or ``type: function``, or a name and ``parameters`` or the like, or a name and the schema of
  an object under whatever key;
- what a server answers to ``tools/list``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dowbench.loaders import anthropic, bedrock, crewai, gemini, langchain, mcp, openai
from dowbench.loaders.definitions import Definition, Listing, ListLoader, find
from dowbench.loaders.spelling import is_object_schema, misspelt, stray_schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dowbench.errors import SourceError
    from dowbench.loaders.context import Context

OWN: Mapping[str, ListLoader] = {
    "inputSchema": mcp.LOADER,
    "input_schema": anthropic.LOADER,
    **dict.fromkeys((*gemini.HOLDERS, *gemini.PARAMETERS[1:]), gemini.LOADER),
    **dict.fromkeys(("toolSpec", "tool_spec"), bedrock.LOADER),
    "args_schema": langchain.LOADER,
    "run_params_schema": crewai.LOADER,
}
"""Keys that only tool definitions have, and the format that has them."""
SHARED: Mapping[str, ListLoader] = {"parameters": openai.LOADER, "args": langchain.LOADER, "arguments": mcp.LOADER}
"""Keys of inputs that other things than tools have, too."""


def broken(value: Any, listing: Listing | None, context: Context) -> SourceError | None:
    """What is wrong with the first object of a document that claims to be a tool; ``None`` if none does.

    ``listing`` is the list of tools that the document has by its keys, if it has one.
    """
    if listing is not None and listing.holder is not None:
        answer = isinstance(value, dict) and "jsonrpc" in value and listing.pointer == "/result/tools"
        for definition in listing.definitions:
            loader = held(definition.value, listing.holder) or (mcp.LOADER if answer else None)
            if loader is not None:
                return fault(definition, loader, context)
    found = find(value, lambda entry: claimant(entry) is not None)
    for definition in found.definitions if found else ():
        if (loader := claimant(definition.value)) is not None:
            return fault(definition, loader, context)
    return None


def fault(definition: Definition, loader: ListLoader, context: Context) -> SourceError:
    """Why a loader cannot read a definition."""
    from dowbench.errors import SourceError

    try:
        if isinstance(definition.value, dict):
            list(loader.read(definition, context))
        context.expected(loader.expects, definition.value, definition.pointer)
    except SourceError as error:
        return error


def claimant(entry: Any) -> ListLoader | None:
    """The format that an object claims to be of, wherever it stands."""
    if not isinstance(entry, dict):
        return None
    named = entry.get("name") is not None and not isinstance(entry["name"], dict)
    described = isinstance(entry.get("description"), str)
    if entry.get("type") == "function":
        function = entry.get("function")
        if isinstance(function, dict) and "arguments" not in function:
            return openai.LOADER
        if is_object_schema(entry.get("parameters")):
            return openai.LOADER
    if not named and not described:
        return None
    own = next((loader for key, loader in OWN.items() if key in entry), None)
    if own is not None:
        return own
    if named and described and isinstance(entry.get("parameters"), str | int | float):
        return openai.LOADER
    return next((loader for key, loader in {**OWN, **SHARED}.items() if misspelt_schema(entry, key)), None)


def misspelt_schema(entry: Mapping[str, Any], wanted: str) -> bool:
    """Whether an object has the schema of an object under a key that is nearly ``wanted``."""
    return any(is_object_schema(value) for value in entry.values()) and misspelt(entry, wanted, dict) is not None


def held(entry: Any, holder: str) -> ListLoader | None:
    """The format that an object claims to be of, standing under ``tools`` or ``functions``."""
    if not isinstance(entry, dict):
        return None
    if (claimed := claimant(entry)) is not None:
        return claimed
    if (own := next((loader for key, loader in OWN.items() if key in entry), None)) is not None:
        return own
    if holder != "tools":
        return None
    if entry.get("type") == "function":
        return openai.LOADER
    near = (loader for key, loader in OWN.items() if misspelt(entry, key, dict) or misspelt(entry, key, list))
    if not isinstance(entry.get("name"), str):
        return next(near, None)
    if stray_schema(entry, "inputSchema") is not None:
        return mcp.LOADER
    return next((loader for key, loader in SHARED.items() if entry.get(key) is not None), None)
