"""Documents of which no entry can be read as a tool definition, though something in them says that it is one.

A document without such a claim is no tool definition and may be passed over; one with a claim is broken, and an error
wherever it was found. What claims to be a tool, where tools may be:

- an object that has a key which only tool definitions have, and a name or a description;
- an object with ``type: function`` and a ``function``, or a schema of parameters; one whose ``function``, or what is
  nearly spelt like it, is named and has such a schema;
- an object whose ``toolSpec`` or ``functionDeclarations``, misspelt, are named and have a schema; one whose
  ``toolSpec`` or ``function`` is described, has a schema, and no name;
- a named and described object whose ``parameters`` are a text or a number, or whose name is no text and whose
  ``parameters`` are a schema, or which has a schema under a misspelt key;
- under ``tools`` or ``functions``, an object that has a key which only tool definitions have; under ``tools``, one that
  has such a key misspelt, or ``type: function``, or a name and ``parameters`` or the like, or a name and the schema of
  an object under whatever key, or a name while it is such a schema itself; a list of what claims to be a tool;
- what a server answers to ``tools/list``.

What may be tools, or an index of tools, or hammers, is ``doubtful``, passed over, and a warning says so: objects under
``tools`` with names, descriptions and no schema; a schema under a key that only tool definitions have, without name and
description; paths with operations that do not say of which OpenAPI they are.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dowbench.loaders import anthropic, bedrock, crewai, gemini, langchain, mcp, openai, openapi
from dowbench.loaders.definitions import ListLoader, find
from dowbench.loaders.entries import HOLDERS, NO_NAMES, Definition, Listing, is_named
from dowbench.loaders.spelling import alike, is_object_schema, misspelt, stray_schema

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
WRAPPERS: Mapping[str, ListLoader] = {"functionDeclarations": gemini.LOADER, "toolSpec": bedrock.LOADER}
"""Keys that have definitions under them."""
SHARED: Mapping[str, ListLoader] = {"parameters": openai.LOADER, "args": langchain.LOADER, "arguments": mcp.LOADER}
"""Keys of inputs that other things than tools have, too."""
INPUTS: Mapping[str, ListLoader] = {**OWN, **SHARED}


def broken(value: Any, listing: Listing | None, context: Context) -> SourceError | None:
    """What is wrong with the first object of a document that claims to be a tool; ``None`` if none does.

    ``listing`` is the list of tools that the document has by its keys, if it has one.
    """
    answer = answered(value)
    if answer is not None and not isinstance(answer["tools"], list):
        context.expected("a list of tools", answer["tools"], "/result/tools")
    if listing is not None and listing.holder is not None:
        for definition in listing.definitions:
            loader = held(definition.value, listing.holder) or (mcp.LOADER if answer is not None else None)
            if loader is not None:
                return fault(definition, loader, context)
    found = find(value, lambda entry: claimant(entry) is not None, context)
    for definition in found.definitions if found else ():
        if (loader := claimant(definition.value)) is not None:
            return fault(definition, loader, context)
    return None


def doubtful(value: Any, listing: Listing | None) -> str | None:
    """Why a document that claims nothing may have been meant to define tools; ``None`` where it was not."""
    if listing is not None and listing.holder == "tools" and listing.definitions:
        entries = [definition.value for definition in listing.definitions]
        if all(is_named(entry) for entry in entries) and any(is_described(entry) for entry in entries):
            return "what is listed here has names and descriptions and no schema of what it takes"
    entries = value if isinstance(value, list) else [value]
    for entry in entries:
        if (key := next((key for key in OWN if isinstance(entry, dict) and may_define(entry, key)), None)) is not None:
            return f'there is "{key}" here, and no tool that has it'
    paths = value.get("paths") if isinstance(value, dict) else None
    if isinstance(paths, dict) and any(operates(item) for item in paths.values()):
        return 'there are operations here, and no "openapi" that says how to read them'
    return None


def may_define(entry: Mapping[str, Any], key: str) -> bool:
    """Whether an object has, under a key that only tool definitions have, a schema or what cannot be one."""
    inner = entry.get(key)
    if key in NO_NAMES:
        return inner is not None and not isinstance(inner, dict)
    return is_object_schema(inner)


def operates(item: Any) -> bool:
    """Whether a path has an operation."""
    operations = [item[method] for method in openapi.METHODS if method in item] if isinstance(item, dict) else []
    return any(isinstance(o, dict) and ("responses" in o or "operationId" in o) for o in operations)


def answered(value: Any) -> Mapping[str, Any] | None:
    """What a server answered to ``tools/list``, ``None`` where it is no such answer."""
    result = value.get("result") if isinstance(value, dict) and "jsonrpc" in value else None
    return result if isinstance(result, dict) and "tools" in result else None


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
    if is_function(entry):
        return openai.LOADER
    near = any(map(is_near, entry))
    if near and (wrapped := next((loader for key, loader in WRAPPERS.items() if wraps(entry, key)), None)) is not None:
        return wrapped
    if any(isinstance(spec := entry.get(key), dict) and is_nameless(spec) for key in ("toolSpec", "tool_spec")):
        return bedrock.LOADER
    named, described = entry.get("name") is not None and not isinstance(entry["name"], dict), is_described(entry)
    if not named and not described:
        return None
    own = next((loader for key, loader in OWN.items() if key in entry), None)
    if own is not None:
        return own
    if named and described:
        parameters = entry.get("parameters")
        if isinstance(parameters, str | int | float):
            return openai.LOADER
        if is_object_schema(parameters) and not isinstance(entry["name"], str):
            return openai.LOADER
        if (
            near
            and (own := next((loader for key, loader in OWN.items() if misspelt(entry, key, dict)), None)) is not None
        ):
            return own
    return next((loader for key, loader in INPUTS.items() if misspelt_schema(entry, key)), None) if near else None


@lru_cache(maxsize=4096)
def is_near(key: str) -> bool:
    """Whether a key is one of a definition, or nearly."""
    return any(alike(key, wanted) for wanted in ("function", *WRAPPERS, *INPUTS))


def is_function(entry: Mapping[str, Any]) -> bool:
    """Whether an object has a function as the chat interfaces do, or was meant to."""
    if entry.get("type") == "function":
        function = entry.get("function")
        if isinstance(function, dict) and "arguments" not in function:
            return True
        if isinstance(function, list) and any(is_named(inner) for inner in function):
            return True
        if is_object_schema(entry.get("parameters")):
            return True
    function = entry.get("function")
    if has_schema(function) or is_nameless(function):
        return True
    return any(map(is_near, entry)) and wraps(entry, "function")


def is_nameless(entry: Any) -> bool:
    """Whether it is a described object with a schema, and no name."""
    if not is_described(entry) or "name" in entry:
        return False
    schema = entry.get("inputSchema")
    inner = schema.get("json") if isinstance(schema, dict) else None
    return any(is_object_schema(value) for value in (schema, inner, entry.get("parameters")))


def wraps(entry: Mapping[str, Any], wanted: str) -> bool:
    """Whether an object has a definition, or a list of some, under a key that is nearly ``wanted``."""
    key = misspelt(entry, wanted, dict) or misspelt(entry, wanted, list)
    if key is None or key == wanted or key in HOLDERS:
        return False
    inner = entry[key] if isinstance(entry[key], list) else [entry[key]]
    return bool(inner) and all(has_schema(definition) for definition in inner)


def has_schema(value: Any) -> bool:
    """Whether it is a named object with the schema of an object."""
    return is_named(value) and any(is_object_schema(inner) for inner in value.values())


def is_described(entry: Any) -> bool:
    """Whether it is an object with a description that is a text."""
    return isinstance(entry, dict) and isinstance(entry.get("description"), str)


def misspelt_schema(entry: Mapping[str, Any], wanted: str) -> bool:
    """Whether an object has the schema of an object under a key that is nearly ``wanted``."""
    return any(is_object_schema(value) for value in entry.values()) and misspelt(entry, wanted, dict) is not None


def held(entry: Any, holder: str) -> ListLoader | None:
    """The format that an object claims to be of, standing under ``tools`` or ``functions``."""
    if isinstance(entry, list):
        return next((loader for inner in entry if (loader := held(inner, holder)) is not None), None)
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
        shared = (loader for key, loader in SHARED.items() if is_object_schema(entry.get(key)))
        return next(near, None) or next(shared, None)
    if is_object_schema(entry):
        return mcp.LOADER
    if stray_schema(entry, "inputSchema") is not None:
        return mcp.LOADER
    return next((loader for key, loader in SHARED.items() if entry.get(key) is not None), None)
