"""Every format in every shape: names, places and parameters, not counts alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dowbench.errors import SourceError, UsageError
from dowbench.loaders import LOADERS, load
from dowbench.loaders.parameters import MOST_NESTED

if TYPE_CHECKING:
    from dowbench.model import ToolSet

SCHEMA = {
    "type": "object",
    "properties": {"query": {"type": "string", "description": "Words."}, "limit": {"type": "integer", "maximum": 20}},
    "required": ["query"],
}
UPPER = {"type": "OBJECT", "properties": {"query": {"type": "STRING"}, "limit": {"type": "INTEGER", "maxItems": "3"}}}
NAMED = {"name": "find", "description": "Finds."}

CHAT = {"type": "function", "function": {**NAMED, "parameters": SCHEMA}}
RESPONSES = {"type": "function", **NAMED, "parameters": SCHEMA, "strict": False}
BARE = {**NAMED, "parameters": SCHEMA}
BFCL = {
    **NAMED,
    "parameters": {"type": "dict", "properties": {"query": {"type": "string"}, "limit": {"type": "float"}}},
}
ANTHROPIC = {**NAMED, "input_schema": SCHEMA}
MCP = {**NAMED, "inputSchema": SCHEMA}
GEMINI = {**NAMED, "parameters": UPPER}
SPEC = {"toolSpec": {**NAMED, "inputSchema": {"json": SCHEMA}}}
ARGS = {**NAMED, "args": SCHEMA["properties"]}
ARGS_SCHEMA = {**NAMED, "args_schema": SCHEMA}
CREWAI = {**NAMED, "humanized_name": "Find", "run_params_schema": SCHEMA, "init_params_schema": {"type": "object"}}
DOCKER = {
    **NAMED,
    "arguments": [{"name": "query", "type": "string", "desc": "Words."}, {"name": "limit", "type": "int"}],
}

# (document, format, pointer of the tool, pointer of its first parameter)
SHAPES: dict[str, tuple[Any, str, str, str]] = {
    "openai chat": ([CHAT], "openai", "/0", "/0/function/parameters/properties/query"),
    "openai chat in a request": (
        {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": [CHAT]},
        *("openai", "/tools/0", "/tools/0/function/parameters/properties/query"),
    ),
    "openai single": (CHAT, "openai", "", "/function/parameters/properties/query"),
    "openai responses": ({"tools": [RESPONSES]}, "openai", "/tools/0", "/tools/0/parameters/properties/query"),
    "openai bare": ([BARE], "openai", "/0", "/0/parameters/properties/query"),
    "openai functions": ({"functions": [BARE]}, "openai", "/functions/0", "/functions/0/parameters/properties/query"),
    "openai by name": (
        {"find": {"description": "Finds.", "parameters": SCHEMA}},
        *("openai", "/find", "/find/parameters/properties/query"),
    ),
    "openai realtime": (
        {"type": "session.update", "session": {"tools": [RESPONSES]}},
        *("openai", "/session/tools/0", "/session/tools/0/parameters/properties/query"),
    ),
    "openai batch": (
        [{"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {"tools": [CHAT]}}],
        *("openai", "/0/body/tools/0", "/0/body/tools/0/function/parameters/properties/query"),
    ),
    "openai namespace": (
        [{"type": "namespace", "name": "crm", "description": "Customers.", "tools": [RESPONSES]}],
        *("openai", "/0/tools/0", "/0/tools/0/parameters/properties/query"),
    ),
    "openai, python types": ([BFCL], "openai", "/0", "/0/parameters/properties/query"),
    "openai in an agent file": (
        {"tools": [{"id": "tool-1", "json_schema": BARE}]},
        *("openai", "/tools/0", "/tools/0/json_schema/parameters/properties/query"),
    ),
    "anthropic": ([ANTHROPIC], "anthropic", "/0", "/0/input_schema/properties/query"),
    "anthropic in a request": (
        {"model": "m", "max_tokens": 5, "tools": [ANTHROPIC]},
        *("anthropic", "/tools/0", "/tools/0/input_schema/properties/query"),
    ),
    "anthropic by name": (
        {"find": {"name": "find", "description": "Finds.", "input_schema": SCHEMA}},
        *("anthropic", "/find", "/find/input_schema/properties/query"),
    ),
    "anthropic custom": ([{"type": "custom", **ANTHROPIC}], "anthropic", "/0", "/0/input_schema/properties/query"),
    "mcp result": ({"tools": [MCP]}, "mcp", "/tools/0", "/tools/0/inputSchema/properties/query"),
    "mcp envelope": (
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP]}},
        *("mcp", "/result/tools/0", "/result/tools/0/inputSchema/properties/query"),
    ),
    "mcp list": ([MCP], "mcp", "/0", "/0/inputSchema/properties/query"),
    "mcp single": (MCP, "mcp", "", "/inputSchema/properties/query"),
    "mcp, a capture of pages": (
        [{"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP]}}],
        *("mcp", "/0/result/tools/0", "/0/result/tools/0/inputSchema/properties/query"),
    ),
    "mcp, several servers": (
        {"servers": [{"url": "x", "tools": [MCP]}]},
        *("mcp", "/servers/0/tools/0", "/servers/0/tools/0/inputSchema/properties/query"),
    ),
    "docker registry": ([DOCKER], "mcp", "/0", "/0/arguments/0"),
    "gemini": (
        {"functionDeclarations": [GEMINI]},
        *("gemini", "/functionDeclarations/0", "/functionDeclarations/0/parameters/properties/query"),
    ),
    "gemini in a request": (
        {"contents": [], "tools": [{"function_declarations": [BARE]}]},
        *("gemini", "/tools/0/function_declarations/0", "/tools/0/function_declarations/0/parameters/properties/query"),
    ),
    "gemini, json schema": (
        [{"functionDeclarations": [{**NAMED, "parametersJsonSchema": SCHEMA}]}],
        *("gemini", "/0/functionDeclarations/0", "/0/functionDeclarations/0/parametersJsonSchema/properties/query"),
    ),
    "gemini, one object": (
        {"setup": {"tools": {"functionDeclarations": [GEMINI]}}},
        "gemini",
        "/setup/tools/functionDeclarations/0",
        "/setup/tools/functionDeclarations/0/parameters/properties/query",
    ),
    "gemini bare": ([GEMINI], "gemini", "/0", "/0/parameters/properties/query"),
    "bedrock": (
        {"toolConfig": {"tools": [SPEC]}},
        *("bedrock", "/toolConfig/tools/0", "/toolConfig/tools/0/toolSpec/inputSchema/json/properties/query"),
    ),
    "bedrock list": ([SPEC], "bedrock", "/0", "/0/toolSpec/inputSchema/json/properties/query"),
    "bedrock spec": (SPEC["toolSpec"], "bedrock", "", "/inputSchema/json/properties/query"),
    "bedrock action group": (
        {"functionSchema": {"functions": [{**NAMED, "parameters": SCHEMA["properties"]}]}},
        *("bedrock", "/functionSchema/functions/0", "/functionSchema/functions/0/parameters/query"),
    ),
    "langchain args": ([ARGS], "langchain", "/0", "/0/args/query"),
    "langchain schema": ({"tools": [ARGS_SCHEMA]}, "langchain", "/tools/0", "/tools/0/args_schema/properties/query"),
    "langchain serialised": (
        {"lc": 1, "type": "constructor", "id": ["langchain", "tools", "StructuredTool"], "kwargs": ARGS_SCHEMA},
        *("langchain", "", "/kwargs/args_schema/properties/query"),
    ),
    "crewai": ({"tools": [CREWAI]}, "crewai", "/tools/0", "/tools/0/run_params_schema/properties/query"),
}


ALSO_OPENAI = {"gemini in a request", "gemini bare", "bedrock action group"}
"""What the loader of OpenAI reads, too, when it is named: their functions have the same keys."""


def read(value: Any, **more: Any) -> ToolSet:
    return load(value, path="tools.json", **more)


@pytest.mark.parametrize("shape", SHAPES)
def test_shape_is_recognised_and_read(shape: str) -> None:
    value, format, pointer, parameter = SHAPES[shape]
    found = read(value)
    assert found.format == format
    (tool,) = found.tools
    assert (tool.name, tool.description, tool.location.pointer) == ("find", "Finds.", pointer)
    assert [p.name for p in tool.inputs] == ["query", "limit"]
    assert tool.inputs[0].location.pointer == parameter
    assert tool.inputs[0].schema.types == ("string",)
    assert tool.inputs[1].schema.types in (("integer",), ("number",))
    assert not found.notes


@pytest.mark.parametrize("shape", SHAPES)
def test_named_format_reads_the_same(shape: str) -> None:
    value, format, pointer, _ = SHAPES[shape]
    assert [t.location.pointer for t in read(value, format=format).tools] == [pointer]


@pytest.mark.parametrize("shape", SHAPES)
def test_only_its_own_loader_is_sure(shape: str) -> None:
    value, format, _, _ = SHAPES[shape]
    sure = {name for name, loader in LOADERS.items() if loader.confidence(value)}
    assert sure == {format} or (shape in ALSO_OPENAI and sure == {format, "openai"})


@pytest.mark.parametrize("shape", SHAPES)
def test_another_format_refuses_it(shape: str) -> None:
    value, format, _, _ = SHAPES[shape]
    for other in LOADERS:
        if other != format and not (other == "openai" and shape in ALSO_OPENAI):
            with pytest.raises(SourceError, match="expected a"):
                read(value, format=other)


def test_unknown_format_names_the_known() -> None:
    with pytest.raises(UsageError, match=r"anthropic.*bedrock.*crewai.*gemini.*langchain.*mcp.*openai.*openapi"):
        read([CHAT], format="claude")


def test_required_maximum_and_description() -> None:
    (tool,) = read([CHAT]).tools
    assert [(p.required, p.schema.get("maximum"), p.description) for p in tool.inputs] == [
        (True, None, "Words."),
        (False, 20, ""),
    ]
    (tool,) = read([DOCKER | {"arguments": [{"name": "q", "type": "string", "desc": "D.", "optional": True}]}]).tools
    assert [(p.name, p.required, p.description) for p in tool.inputs] == [("q", False, "D.")]
    (tool,) = read({"functionDeclarations": [GEMINI]}).tools
    assert tool.inputs[1].schema.get("maxItems") == 3


def test_mcp_facts_beside_the_schema() -> None:
    entry = {
        **MCP,
        "title": "Finder",
        "outputSchema": {"type": "object", "properties": {"hits": {"type": "array", "items": {"type": "string"}}}},
        "annotations": {"readOnlyHint": True},
        "_meta": {"anthropic/maxResultSizeChars": 500},
        "execution": {"taskSupport": "optional"},
        "icons": [],
    }
    (tool,) = read({"tools": [entry]}).tools
    assert tool.hints == {"readOnlyHint": True}
    assert tool.meta == {"anthropic/maxResultSizeChars": 500}
    assert tool.output is not None
    assert tool.output.properties["hits"].location.pointer == "/tools/0/outputSchema/properties/hits"
    assert tool.definition is entry
    assert tool.description_location is not None
    assert tool.description_location.pointer == "/tools/0/description"


def test_title_stands_in_for_a_missing_description() -> None:
    (tool,) = read([{"name": "find", "title": "Finder", "inputSchema": SCHEMA}]).tools
    assert tool.description == "Finder"
    assert tool.description_location is not None
    assert tool.description_location.pointer == "/0/title"


@pytest.mark.parametrize("key", ["response", "responseJsonSchema"])
def test_gemini_response_is_the_output(key: str) -> None:
    (tool,) = read({"functionDeclarations": [{**GEMINI, key: {"type": "ARRAY", "items": {"type": "STRING"}}}]}).tools
    assert tool.output is not None
    assert (tool.output.types, tool.output.location.pointer) == (("array",), f"/functionDeclarations/0/{key}")


def test_custom_tool_takes_one_text() -> None:
    for entry in (
        {"type": "custom", "custom": {"name": "run", "description": "Runs.", "format": {"type": "text"}}},
        {"type": "custom", "name": "run", "description": "Runs.", "format": {"type": "text"}},
    ):
        (tool,) = read({"tools": [entry]}).tools
        assert (tool.name, [(p.name, p.schema.types) for p in tool.inputs]) == ("run", [("input", ("string",))])


def test_tools_without_a_schema_among_others_are_tools() -> None:
    found = read({"tools": [MCP, {"name": "ping", "description": "Pings."}]})
    assert [(t.name, t.parameters) for t in found.tools][1] == ("ping", ())


@pytest.mark.parametrize(
    ("value", "format", "hosted", "pointer"),
    [
        ({"tools": [CHAT, {"type": "web_search"}]}, "openai", "web_search", "/tools/1"),
        ({"tools": [{"type": "file_search", "vector_store_ids": []}]}, "openai", "file_search", "/tools/0"),
        (
            {"tools": [ANTHROPIC, {"type": "web_search_20250305", "name": "web_search"}]},
            *("anthropic", "web_search_20250305", "/tools/1"),
        ),
        (
            {"tools": [{"type": "bash_20250124", "name": "bash"}]},
            *("anthropic", "bash_20250124", "/tools/0"),
        ),
        (
            {"tools": [{"functionDeclarations": [GEMINI]}, {"googleSearch": {}}]},
            *("gemini", "googleSearch", "/tools/1/googleSearch"),
        ),
        ({"tools": [{"googleSearch": {}}]}, "gemini", "googleSearch", "/tools/0/googleSearch"),
        (
            {"toolConfig": {"tools": [SPEC, {"systemTool": {"name": "nova_grounding"}}]}},
            "bedrock",
            "nova_grounding",
            None,
        ),
    ],
)
def test_tools_of_the_provider_are_named_not_dropped(value: Any, format: str, hosted: str, pointer: str | None) -> None:
    found = read(value)
    assert found.format == format
    assert hosted not in [t.name for t in found.tools]
    (note,) = [note for note in found.notes if "defined by the provider" in note.message]
    assert hosted in note.message
    assert pointer in (None, note.pointer)


def test_cache_points_are_no_tools() -> None:
    found = read({"toolConfig": {"tools": [SPEC, {"cachePoint": {"type": "default"}}]}})
    assert [t.name for t in found.tools] == ["find"]


def test_a_page_of_more_is_said() -> None:
    (note,) = read({"tools": [MCP], "nextCursor": "abc"}).notes
    assert "nextCursor" in note.message


def test_document_number_and_path_are_kept() -> None:
    found = read([MCP], document=3)
    assert (found.path, found.document, found.location.pointer) == ("tools.json", 3, "")


def test_every_format_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    assert [name for name in LOADERS if f"| `{name}` |" not in page] == []
    assert f"more than {MOST_NESTED} nested parameters" in " ".join(page.split())


def test_a_bedrock_schema_without_its_wrapper_is_read_and_told():
    schema = {"type": "object", "properties": {"limit": {"type": "integer"}}}
    found = read([{"toolSpec": {"name": "list_tickets", "description": "Lists tickets.", "inputSchema": schema}}])
    assert [parameter.name for parameter in found.tools[0].parameters] == ["limit"]
    assert [(note.pointer, note.message) for note in found.notes] == [
        ("/0/toolSpec/inputSchema", 'inputSchema is a schema; Bedrock expects it under "json"')
    ]
