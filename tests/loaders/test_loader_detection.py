"""What is no tool definition is refused in one line that says what was found, and nothing is dropped on the way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from test_loader_formats import ANTHROPIC, BARE, CHAT, GEMINI, MCP, SHAPES, SPEC

from dowbench.errors import SourceError, UnrecognizedError
from dowbench.loaders import LOADERS, load
from dowbench.loaders.sniff import looks_like

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"


def refused(value: Any, **more: Any) -> SourceError:
    with pytest.raises(SourceError) as caught:
        load(value, path="some.json", **more)
    error = caught.value
    assert str(error).startswith(("some.json: ", "some.json#/"))
    assert "\n" not in str(error)
    return error


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (None, "found null"),
        (5, "found a number"),
        ("tools", 'found the text "tools"'),
        (True, "found true"),
        ({}, "found an empty object"),
        ({"a": 1, "b": 2, "c": 3}, "found an object with keys a, b, c"),
        ({str(n): n for n in range(9)}, "found an object with keys 0, 1, 2, 3, 4 and 4 more"),
        ([1, 2], "found a list of 2, whose first entry is a number"),
        (
            [{"name": "lodash", "description": "x"}],
            "found a list of 1, whose first entry is an object with keys name, desc",
        ),
        ({"tools": ["bash", "web"]}, 'found /tools whose first entry is the text "bash"'),
        (
            {"tools": [{"name": "hammer", "description": "Hits."}]},
            "what is listed here has names and descriptions and no schema",
        ),
        ({"mcpServers": {"a": {"command": "npx", "args": ["x"]}}}, "it names servers, not tools"),
        (
            {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}},
            "a server answered with an error",
        ),
        ({"openapi": {"info": 1}}, "found an object with key openapi"),
    ],
)
def test_unrecognized_says_what_was_found(value: Any, found: str) -> None:
    error = refused(value)
    assert isinstance(error, UnrecognizedError)
    assert found in str(error)


@pytest.mark.parametrize(
    "value",
    [
        {"name": "pkg", "version": "1", "description": "d", "scripts": {"test": "x"}, "dependencies": {"a": "1"}},
        {"version": "2.0.0", "tasks": [{"type": "shell", "label": "x", "command": "make"}]},
        {"compilerOptions": {"types": ["node"]}, "files": []},
        {"functions": {"source": "functions"}, "hosting": {"public": "dist"}},
        {"type": "object", "properties": {"name": {"type": "string"}, "parameters": {"type": "object"}}},
        {"openapi-generator": {"name": "x"}},
        [{"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{}"}}]}],
        {"tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"prompts": [{"name": "summarise", "description": "d", "arguments": [{"name": "a", "required": True}]}]},
        {"prompts": [{"name": "summarise", "description": "d", "arguments": []}]},
        [{"name": "parse", "description": "Parses.", "parameters": [{"name": "text", "type": "string"}]}],
        {"$schema": "x", "parameters": {"env": {"type": "string"}}, "resources": [{"name": "a", "type": "b"}]},
        {"name": "deploy", "parameters": {"region": "eu"}, "steps": []},
        {"agents": [{"name": "a", "tools": ["x"]}]},
        {"name": "preset", "description": "d", "parameters": {"temperature": 0.7}},
        [{"name": "agent", "description": "d", "parameters": {"model": {"type": "x"}}, "tools": ["a"]}],
        [{"type": "function", "name": "transfer", "inputs": [{"name": "to", "type": "address"}], "outputs": []}],
        {"Tool": {"properties": {"name": {"type": "string"}, "inputSchema": {"type": "object"}}, "type": "object"}},
        {"properties": {"toolSpec": {"type": "object"}, "functionDeclarations": {"type": "array"}}},
        {"a": {"b": {"c": {"tools": []}}}},
    ],
)
def test_what_looks_a_little_like_tools_is_not_taken(value: Any) -> None:
    assert isinstance(refused(value), UnrecognizedError)
    assert not any(loader.confidence(value) >= 1 for loader in LOADERS.values())


@pytest.mark.parametrize("value", [[], {"tools": []}, {"functions": []}, {"tools": {}}, {"result": {"tools": []}}])
def test_an_empty_list_has_no_tools_and_says_so(value: Any) -> None:
    found = load(value, path="some.json")
    assert (found.format, found.tools) == ("unknown", ())
    assert [note.message for note in found.notes] == ["the document holds no tools"]


@pytest.mark.parametrize(
    ("value", "format"),
    [
        ({"functionDeclarations": []}, "gemini"),
        ({"toolConfig": {"tools": []}}, "unknown"),
        ({"openapi": "3.1.0", "paths": {}}, "openapi"),
        ({"openapi": "3.1.0", "webhooks": {"new": {"post": {"operationId": "hook"}}}}, "openapi"),
    ],
)
def test_empty_sets_of_a_format(value: Any, format: str) -> None:
    found = load(value, path="some.json")
    assert (found.format, found.tools) == (format, ())
    assert found.notes


@pytest.mark.parametrize(
    ("value", "message", "pointer"),
    [
        ([CHAT, CHAT, ANTHROPIC], "mixes formats: 2 of openai (first at /0), 1 of anthropic (first at /2)", "/2"),
        ([MCP, SPEC], "mixes formats: 1 of mcp (first at /0), 1 of bedrock (first at /1)", "/1"),
        (
            {"tools": [MCP, ANTHROPIC, MCP]},
            "2 of mcp (first at /tools/0), 1 of anthropic (first at /tools/1)",
            "/tools/1",
        ),
        ({"tools": [{"functionDeclarations": [GEMINI]}, CHAT]}, "mixes formats: 1 of gemini", "/tools/1"),
    ],
)
def test_a_mixed_list_names_what_was_found(value: Any, message: str, pointer: str) -> None:
    error = refused(value)
    assert not isinstance(error, UnrecognizedError)
    assert message in str(error)
    assert error.pointer == pointer


@pytest.mark.parametrize("bad", [5, "text", None, [], {}, {"foo": 1}, {"description": "nameless"}, {"name": 7}])
@pytest.mark.parametrize("good", [CHAT, ANTHROPIC, MCP, SPEC, BARE])
@pytest.mark.parametrize("first", [True, False])
def test_a_bad_entry_among_good_ones_is_named(good: Any, bad: Any, first: bool) -> None:
    error = refused([bad, good, good] if first else [good, good, bad])
    assert not isinstance(error, UnrecognizedError)
    assert error.pointer == ("/0" if first else "/2")
    assert "expected" in str(error)


def test_a_bad_function_among_good_ones() -> None:
    error = refused({"functionDeclarations": [GEMINI, "bad"]})
    assert (error.pointer, 'found the text "bad"' in str(error)) == ("/functionDeclarations/1", True)
    error = refused([{"type": "namespace", "name": "n", "tools": [BARE, 5]}])
    assert error.pointer == "/0/tools/1"


def test_chat_responses_and_bare_are_one_format() -> None:
    responses = {"type": "function", "name": "b", "parameters": {"type": "object"}}
    assert [t.name for t in load([CHAT, responses, BARE], path="x").tools] == ["find", "b", "find"]


def test_tools_and_functions_of_one_request_are_one_set() -> None:
    found = load({"tools": [CHAT], "functions": [BARE]}, path="x")
    assert [t.location.pointer for t in found.tools] == ["/tools/0", "/functions/0"]


def test_the_tools_of_several_servers_are_one_set_and_none_is_dropped() -> None:
    servers = {"servers": [{"url": "a", "tools": [MCP]}, {"url": "b", "tools": [{**MCP, "name": "other"}]}]}
    assert [t.name for t in load(servers, path="x").tools] == ["find", "other"]
    error = refused({"servers": [{"url": "a", "tools": [MCP]}, {"url": "b", "tools": ["see the manual"]}]})
    assert error.pointer == "/servers/1/tools/0"
    error = refused({"servers": [{"url": "a", "tools": [MCP]}, {"url": "b"}]})
    assert error.pointer == "/servers/1"


def test_a_list_of_tools_elsewhere_in_the_document_is_not_dropped() -> None:
    agents = {"first": {"tools": [MCP]}, "second": {"tools": [{"name": "other", "title": "Other"}]}}
    assert [t.name for t in load(agents, path="x").tools] == ["find", "other"]
    assert refused({**agents, "third": {"tools": [{"inputSchema": {}}]}}).pointer == "/third/tools/0"
    named = {"first": {"tools": [MCP]}, "allowed": {"tools": ["find"]}, "enabled": {"tools": {"find": True}}}
    assert [t.name for t in load(named, path="x").tools] == ["find"]


def test_functions_without_parameters() -> None:
    found = load({"functions": [{"name": "now", "description": "The time."}]}, path="x")
    assert [(t.name, t.description) for t in found.tools] == [("now", "The time.")]
    for value in ({"tools": [{"name": "now", "parameters": {}}]}, [{"name": "now", "parameters": None}]):
        assert [(t.name, t.parameters) for t in load(value, path="x").tools] == [("now", ())]


def test_the_name_of_a_file_decides_nothing() -> None:
    assert load([ANTHROPIC], path="openapi.yaml").format == "anthropic"


@pytest.mark.skipif(not CORPUS.exists(), reason="the labelled corpus is not part of the repository")
def test_every_file_of_the_corpus_is_read_or_refused() -> None:
    import csv

    from dowbench.source import read

    wrong = []
    with (CORPUS / "MANIFEST.csv").open(encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            path = CORPUS / "files" / row["file"]
            (document,) = read(row["file"], path.read_bytes()).documents
            try:
                found = len(load(document.value, path=row["file"]).tools)
            except SourceError as error:
                found = 0
                assert "external" in row["file"], error
                assert error.pointer is not None
                assert document.span(error.pointer).line > 1
            if found != int(row["n_tools"]) and "external" not in row["file"]:
                wrong.append((row["file"], found, row["n_tools"]))
    assert wrong == []


def test_json_values_are_named_in_words() -> None:
    assert 'found the text "' + "x" * 39 + '…"' in str(refused("x" * 99))
    assert "\\x1b" in str(refused(json.loads('"\\u001b[31m"')))


@pytest.mark.parametrize("shape", SHAPES)
def test_no_shape_is_passed_over_by_the_look_at_the_bytes(shape: str) -> None:
    value = SHAPES[shape][0]
    for text in (json.dumps(value), json.dumps(value, indent=2), yaml.safe_dump(value, sort_keys=False)):
        assert looks_like(text.encode()) != "no"
    hinted = [{"name": "t", "description": "d", "annotations": {"readOnlyHint": True}}]
    assert looks_like(json.dumps(hinted).encode()) != "no"
