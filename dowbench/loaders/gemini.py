"""Google Gemini: ``functionDeclarations``, with OpenAPI schemas in upper case or JSON Schema."""

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

HOLDERS = ("functionDeclarations", "function_declarations")
PARAMETERS = ("parameters", "parametersJsonSchema", "parameters_json_schema")
PARAMETERS_SET = frozenset(PARAMETERS)
RESPONSES = ("response", "responseJsonSchema", "response_json_schema")
HOSTED = frozenset(
    (
        *("googleSearch", "googleSearchRetrieval", "codeExecution", "urlContext", "googleMaps", "fileSearch"),
        *("computerUse", "enterpriseWebSearch", "retrieval"),
        *("google_search", "google_search_retrieval", "code_execution", "url_context", "google_maps", "file_search"),
        *("computer_use", "enterprise_web_search"),
    )
)
"""Tools that the provider runs."""


def matches(entry: Mapping[str, Any]) -> bool:
    if any(isinstance(entry.get(holder), list) or is_declaration(entry.get(holder)) for holder in HOLDERS):
        return True
    if not is_named(entry):
        return False
    parameters = entry.get("parameters")
    upper = isinstance(parameters, dict) and isinstance(parameters.get("type"), str) and parameters["type"].isupper()
    return upper or "parametersJsonSchema" in entry or "parameters_json_schema" in entry


def is_declaration(value: Any) -> bool:
    """Whether one declaration, or some by their names, stand where a list of them should."""
    declarations = [value] if is_named(value) else list(value.values()) if isinstance(value, dict) else []
    return bool(declarations) and all(isinstance(d, dict) and not PARAMETERS_SET.isdisjoint(d) for d in declarations)


def resembles(entry: Mapping[str, Any]) -> bool:
    """Whether it names tools that the provider defines."""
    return bool(entry) and HOSTED.issuperset(entry)


def read(definition: Definition, context: Context) -> Iterator[Tool]:
    entry, pointer = definition.value, definition.pointer
    holders = [key for key in HOLDERS if key in entry]
    for key in holders:
        below = join(pointer, key)
        for index, function in enumerate(build.must_be_list(context, entry[key], below, "function declarations")):
            place = join(below, index)
            if not isinstance(function, dict):
                context.expected("a function declaration, an object", function, place)
            yield _function(context, function, place)
    hosted = [key for key in entry if key in HOSTED]
    for key in hosted:
        build.hosted(context, key, join(pointer, key))
    if not holders and not hosted:
        yield _function(context, entry, pointer)


def _function(context: Context, function: Mapping[str, Any], pointer: str) -> Tool:
    return build.tool(
        context,
        function,
        pointer,
        schema=next((key for key in PARAMETERS if function.get(key) is not None), PARAMETERS[0]),
        output=next((key for key in RESPONSES if function.get(key) is not None), None),
    )


LOADER = ListLoader(
    "gemini", matches, read, "a Gemini tool (functionDeclarations, or an object with name and parameters)", resembles
)
