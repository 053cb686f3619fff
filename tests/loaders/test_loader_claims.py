"""What looks like a tool and cannot be read is an error wherever it is found; anything else a walk passes over."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from dowbench.errors import SourceError, UnrecognizedError
from dowbench.loaders import load
from dowbench.loaders.sniff import looks_like

if TYPE_CHECKING:
    from pathlib import Path

    from workbench import Dowbench

SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}}
FLAT = {"query": {"type": "string"}}
LISTED = [{"name": "query", "type": "string"}]
NAMED = {"name": "find", "description": "Finds."}

# (document, pointer of the fault, what is said of it)
BROKEN: dict[str, tuple[Any, str, str]] = {
    "name is a number": (
        {"tools": [{**NAMED, "name": 5, "inputSchema": SCHEMA}]},
        "/tools/0/name",
        "expected the name of a tool, a text, found a number",
    ),
    "name is null": (
        [{**NAMED, "name": None, "input_schema": SCHEMA}],
        "/0/name",
        "expected the name of a tool, a text, found null",
    ),
    "name of spaces": (
        {"tools": [{**NAMED, "name": " \t", "inputSchema": SCHEMA}]},
        "/tools/0/name",
        "expected the name of a tool, a text, found the text",
    ),
    "name of spaces as a key": (
        {"tools": {" ": {"description": "Finds.", "inputSchema": SCHEMA}}},
        "/tools/ /name",
        "expected the name of a tool, a text, found the text",
    ),
    "no name": (
        {"tools": [{"description": "Finds.", "inputSchema": SCHEMA}]},
        "/tools/0",
        'expected a tool with a "name", found an object with keys description, inputSchema',
    ),
    "no name in a list": ([{"description": "x", "input_schema": SCHEMA}], "/0", 'expected a tool with a "name"'),
    "no name alone": ({"description": "x", "inputSchema": SCHEMA}, "", 'expected a tool with a "name"'),
    "no name in a function": (
        [{"type": "function", "function": {"description": "x", "parameters": SCHEMA}}],
        "/0/function",
        'expected a tool with a "name"',
    ),
    "no name beside parameters": ([{"type": "function", "parameters": SCHEMA}], "/0", 'expected a tool with a "name"'),
    "no name in a toolSpec": (
        {"toolConfig": {"tools": [{"toolSpec": {"inputSchema": {"json": SCHEMA}}}]}},
        "/toolConfig/tools/0/toolSpec",
        'expected a tool with a "name"',
    ),
    "name misspelt": (
        {"tools": [{"nmae": "find", "inputSchema": SCHEMA}]},
        "/tools/0",
        "an object with keys nmae",
    ),
    "schema misspelt": (
        {"tools": [{**NAMED, "inputSchem": SCHEMA}]},
        "/tools/0/inputSchem",
        'expected "inputSchema", found the unknown key "inputSchem"',
    ),
    "schema misspelt in a list": ([{**NAMED, "inputSchem": SCHEMA}], "/0/inputSchem", 'expected "inputSchema"'),
    "schema misspelt alone": ({**NAMED, "input-schema": SCHEMA}, "/input-schema", 'expected "inputSchema"'),
    "parameters misspelt": ([{**NAMED, "paramaters": SCHEMA}], "/0/paramaters", 'expected "parameters"'),
    "parameters misspelt in a function": (
        [{"type": "function", "function": {**NAMED, "parametrs": SCHEMA}}],
        "/0/function/parametrs",
        'expected "parameters", found the unknown key "parametrs"',
    ),
    "schema misspelt by name": (
        {"find": {"description": "x", "inputschema": SCHEMA}},
        "/find/inputschema",
        "unknown key",
    ),
    "toolSpec misspelt": ({"toolConfig": {"tools": [{"toolspec": NAMED}]}}, "/toolConfig/tools/0", "expected a"),
    "no name in a toolSpec alone": (
        {"toolSpec": {"nmae": "find", "description": "x", "inputSchema": {"json": SCHEMA}}},
        "/toolSpec",
        'expected a tool with a "name", found an object with keys nmae, description, inputSchema',
    ),
    "no name in a function alone": (
        {"function": {"nmae": "find", "description": "x", "parameters": SCHEMA}},
        "/function",
        'expected a tool with a "name", found an object with keys nmae, description, parameters',
    ),
    "declarations misspelt": ({"tools": [{"functionDeclaration": [NAMED]}]}, "/tools/0", "expected a"),
    "schema under another key": (
        {"tools": [{**NAMED, "params": SCHEMA}]},
        "/tools/0/params",
        'the unknown key "params"',
    ),
    "description misspelt": (
        {"tools": [{"name": "find", "desciption": "x", "parameters": FLAT}]},
        "/tools/0",
        "expected an OpenAI tool",
    ),
    "parameters are a text": (
        {"tools": [{**NAMED, "parameters": "string"}]},
        "/tools/0/parameters",
        'expected an input schema, an object, found the text "string"',
    ),
    "parameters are a text in a list": (
        [{**NAMED, "parameters": "string"}],
        "/0/parameters",
        "expected an input schema",
    ),
    "parameters are a text alone": ({**NAMED, "parameters": "string"}, "/parameters", "expected an input schema"),
    "parameters are a list": ({"tools": [{**NAMED, "parameters": LISTED}]}, "/tools/0/parameters", "found a list of 1"),
    "parameters are values": ({"tools": [{**NAMED, "parameters": {"t": 0.7}}]}, "/tools/0", "expected an OpenAI tool"),
    "args are texts": ({"tools": [{**NAMED, "args": {"q": "str"}}]}, "/tools/0/args/q", "expected a schema"),
    "function is a text": (
        {"tools": [{"type": "function", "function": "x"}]},
        "/tools/0/function",
        "expected a function",
    ),
    "toolSpec is a text": ({"tools": [{"toolSpec": "x"}]}, "/tools/0/toolSpec", "expected an object with name"),
    "declarations are a text": (
        {"tools": [{"functionDeclarations": "x"}]},
        "/tools/0/functionDeclarations",
        "expected a list of function declarations",
    ),
    "answer without schemas": (
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [NAMED]}},
        "/result/tools/0",
        "expected an MCP tool (an object with name and inputSchema), found an object with keys name, description",
    ),
    "misspelt and without properties": (
        [{**NAMED, "inputSchem": {"type": "object"}}],
        "/0/inputSchem",
        'expected "inputSchema", found the unknown key "inputSchem"',
    ),
    "misspelt and empty": ([{**NAMED, "inputschema": {}}], "/0/inputschema", 'expected "inputSchema"'),
    "declarations are one": (
        {"functionDeclarations": {**NAMED, "parameters": SCHEMA}},
        "/functionDeclarations",
        "expected a list of function declarations, found an object with keys name, description, parameters",
    ),
    "declarations by name": (
        {"functionDeclarations": {"find": {"description": "x", "parameters": SCHEMA}}},
        "/functionDeclarations",
        "expected a list of function declarations, found an object with key find",
    ),
    "declarations misspelt in a list": (
        [{"functionDeclaration": {**NAMED, "parameters": SCHEMA}}],
        "/0",
        'expected a tool with a "name", found an object with key functionDeclaration',
    ),
    "name is a list": (
        {"tools": [{**NAMED, "name": ["find"], "parameters": SCHEMA}]},
        "/tools/0/name",
        "expected the name of a tool, a text, found a list of 1",
    ),
    "name is a list in a list": ([{**NAMED, "name": ["find"], "parameters": SCHEMA}], "/0/name", "found a list of 1"),
    "function is a list": (
        [{"type": "function", "function": [NAMED]}],
        "/0/function",
        "expected a function, an object with a name and parameters, found a list of 1",
    ),
    "function misspelt": (
        [{"type": "function", "fucntion": {**NAMED, "parameters": SCHEMA}}],
        "/0",
        "found an object with keys type, fucntion",
    ),
    "type misspelt": (
        [{"type": "fucntion", "function": {**NAMED, "parameters": SCHEMA}}],
        "/0",
        "or an object with name and parameters), found an object with keys type, function",
    ),
    "a tool that is its own schema": (
        {"tools": [{**NAMED, **SCHEMA}]},
        "/tools/0",
        "expected an MCP tool (an object with name and inputSchema), found an object with keys name, description, type",
    ),
    "a list of lists": ({"tools": [[{**NAMED, "inputSchema": SCHEMA}]]}, "/tools/0", "found a list of 1"),
    "toolSpec with an empty schema": (
        [{"toolSpec": {**NAMED, "inputSchema": {}}}],
        "/0/toolSpec/inputSchema",
        'expected an inputSchema with the schema under "json", found an empty object',
    ),
    "properties misspelt": (
        [{**NAMED, "inputSchema": {"type": "object", "propertis": {"q": {"type": "string"}}}}],
        "/0/inputSchema/propertis",
        'expected "properties", found the unknown key "propertis"',
    ),
    "answer that is no list": (
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": 5}},
        "/result/tools",
        "expected a list of tools, found a number",
    ),
    "answer that is null": ({"jsonrpc": "2.0", "result": {"tools": None}}, "/result/tools", "found null"),
    "good, then misspelt": (
        {"tools": [{**NAMED, "inputSchema": SCHEMA}, {"name": "other", "inputSchem": SCHEMA}]},
        "/tools/1/inputSchem",
        'expected "inputSchema"',
    ),
}
OTHERS: dict[str, Any] = {
    "a schema of tools": {"type": "object", "properties": {"inputSchema": SCHEMA, "description": {"type": "string"}}},
    "a schema in definitions": {"$defs": {"a": {"type": "object", "properties": {"parameters": SCHEMA}}, "b": True}},
    "a schema with texts beside": {"$comment": "x", "properties": {"parameters": SCHEMA, "args": SCHEMA}},
    "shapes of an interface": {"shapes": {"Tool": {"type": "structure", "members": {"inputSchema": {"shape": "S"}}}}},
    "methods of an interface": {
        "name": "dns",
        "description": "d",
        "parameters": {"key": {"type": "string", "description": "d"}},
        "resources": {"zones": {"methods": {"list": {"description": "d", "parameters": {"type": {"type": "string"}}}}}},
    },
    "tasks with arguments": [{"name": "Run it", "command": "x", "args": {"chdir": "/srv"}}],
    "documented functions": {"functions": [{**NAMED, "parameters": LISTED}]},
    "tools of agents": {"agents": [{"name": "a", "description": "d", "tools": ["find"]}]},
    "a schema of declarations": {"functionDeclarations": {"type": "array", "items": {"description": "x"}}},
    "an agent with parameters": [{**NAMED, "parameters": SCHEMA, "tools": ["a"]}],
    "a handler": [{"type": "function", "function": "handler.main", "runtime": "x"}],
    "a number that was asked for": {"jsonrpc": "2.0", "id": 1, "result": 5},
    "a path of an interface": {"get": {"operationId": "find", "responses": {}}},
    "paths of a compiler": {"compilerOptions": {"paths": {"/a": ["b"]}}, "paths": {"/a": {"get": {}}}},
    "a preset": {**NAMED, "parameters": {"temperature": 0.7}},
    "a format of answers": {**NAMED, "schema": SCHEMA, "strict": True},
    "calls in a conversation": [{"tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{}"}}]}],
}
# (document, line in JSON, what is said of it)
SCHEMALESS = "what is listed here has names and descriptions and no schema of what it takes"
DOUBTFUL: dict[str, tuple[Any, int, str]] = {
    "tools of a workshop": ({"tools": [{"name": "hammer", "description": "Hits."}]}, 3, SCHEMALESS),
    "an index of tools": ({"name": "s", "tools": [{"name": "a"}, NAMED]}, 4, SCHEMALESS),
    "what a tool gives": ({"tools": [{**NAMED, "outputSchema": SCHEMA}]}, 3, SCHEMALESS),
    "a schema of nothing": ([{"inputSchema": SCHEMA}], 2, 'there is "inputSchema" here, and no tool that has it'),
    "declarations that are a text": (
        {"functionDeclarations": "x"},
        1,
        'there is "functionDeclarations" here, and no tool that has it',
    ),
    "an interface of no version": (
        {"info": {}, "paths": {"/a": {"get": {"operationId": "find", "responses": {}}}}},
        1,
        'there are operations here, and no "openapi" that says how to read them',
    ),
}


def serialised(value: Any) -> list[tuple[str, str]]:
    return [("x.json", json.dumps(value, indent=1)), ("x.yaml", yaml.safe_dump(value, sort_keys=False))]


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_definition_is_an_error_with_its_place(case: str) -> None:
    value, pointer, message = BROKEN[case]
    with pytest.raises(SourceError) as caught:
        load(value, path="x.json")
    assert not isinstance(caught.value, UnrecognizedError)
    assert (caught.value.pointer, message in caught.value.message) == (pointer, True), caught.value.message


@pytest.mark.parametrize("case", BROKEN)
def test_a_walk_does_not_pass_over_a_broken_definition(case: str, folder: Path, dowbench: Dowbench) -> None:
    for name, text in serialised(BROKEN[case][0]):
        (folder / name).write_text(text)
    run = dowbench("scan", ".", "--skip-unrecognized", "--format", "json")
    assert run.code == 2
    assert {error["path"] for error in run.json["errors"]} == {"x.json", "x.yaml"}
    assert all(error["line"] for error in run.json["errors"])


@pytest.mark.parametrize("case", OTHERS)
def test_a_walk_passes_over_what_is_no_tool(case: str, folder: Path, dowbench: Dowbench) -> None:
    for name, text in serialised(OTHERS[case]):
        (folder / name).write_text(text)
    run = dowbench("scan", ".", "--skip-unrecognized", "--format", "json")
    assert (run.code, run.err, run.json["files"]) == (0, "", [])
    assert {skipped["path"] for skipped in run.json["skipped"]} == {"x.json", "x.yaml"}
    run = dowbench("scan", "x.json")
    assert (run.code, "x.json:" in run.err, "no tool definitions of a known format" in run.err) == (2, True, True)


@pytest.mark.parametrize("case", DOUBTFUL)
def test_what_may_be_a_tool_is_passed_over_with_a_warning(case: str, folder: Path, dowbench: Dowbench) -> None:
    value, line, message = DOUBTFUL[case]
    (folder / "x.json").write_text(json.dumps(value, indent=1))
    said = f"no tool definitions of a known format: {message}"
    for arguments in ((".",), ("x.json",)):
        run = dowbench("scan", "--skip-unrecognized", "--format", "json", *arguments)
        (warning,) = run.err.splitlines()
        assert (run.code, run.json["files"]) == (0, [])
        assert warning.startswith(f"warning: x.json:{line}:")
        assert warning.endswith(f": not scanned: {said}")
    (folder / "x.yaml").write_text(f"a: 1\n---\n{json.dumps(value)}\n---\nb: 2\n")
    run = dowbench("scan", "--skip-unrecognized", "x.yaml")
    assert (run.code, run.err.startswith("warning: x.yaml:3:"), said in run.err) == (0, True, True)
    (folder / "x.yaml").unlink()
    assert dowbench("scan", ".").code == 2
    run = dowbench("scan", "x.json")
    assert (run.code, f"error: x.json:{line}:" in run.err, said in run.err) == (2, True, True)


@pytest.mark.parametrize(
    "entry", [{"name": "b", "title": "B"}, {"name": "b", "inputSchema": None}, {"name": "b", "description": "B."}]
)
def test_a_tool_without_the_schema_that_it_has_to_have_is_read_with_a_warning(entry: Any) -> None:
    found = load({"tools": [{**NAMED, "inputSchema": SCHEMA}, entry]}, path="x.json")
    assert [(tool.name, len(tool.parameters)) for tool in found.tools] == [("find", 1), ("b", 0)]
    (note,) = found.notes
    assert (note.pointer, note.message) == (
        "/tools/1", 'a tool without "inputSchema" is read as one that takes nothing',
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        '{"tools": [{"name": "find", "description": "Finds."',
        '[{"name": "find", "parameters": {"type": "object", "prop',
        '{"functions": [{"name": "find",}]}',
        "- name: find\n  parameters:\n    type: object\n\tx: 1\n",
        "tools:\n- name: find\n  inputSchema: {type: [}\n",
    ],
)
def test_a_walk_does_not_pass_over_tools_that_cannot_be_parsed(text: str, folder: Path, dowbench: Dowbench) -> None:
    name = "x.yaml" if text.endswith("\n") else "x.json"
    (folder / name).write_text(text)
    run = dowbench("scan", ".")
    assert (run.code, run.err.startswith(f"error: {name}:")) == (2, True)
    assert "not valid" in run.err


def test_a_walk_passes_over_what_cannot_be_parsed_and_is_no_tool(folder: Path, dowbench: Dowbench) -> None:
    (folder / "values.yaml").write_text("parameters: {{ .Values.parameters }}\nargs: [{{ x }}]\n")
    (folder / "tasks.json").write_text('// comments\n{"tasks": [{"args": ["x"]}]}')
    run = dowbench("scan", ".", "--skip-unrecognized", "--format", "json")
    assert (run.code, run.err) == (0, "")
    assert [skipped["path"] for skipped in run.json["skipped"]] == ["tasks.json", "values.yaml"]


def test_a_misspelt_description_is_told() -> None:
    found = load([{"name": "find", "desciption": "Finds.", "input_schema": SCHEMA}], path="x.json")
    assert [(tool.name, tool.description) for tool in found.tools] == [("find", "")]
    (note,) = found.notes
    assert note.pointer == "/0/desciption"
    assert note.message == 'the unknown key "desciption" is not read; was "description" meant?'


def test_further_keys_of_a_good_tool_are_nobodys_business() -> None:
    more = {"input_examples": [{}], "descriptions": ["x"], "returns": SCHEMA, "config": SCHEMA, "inputschema": SCHEMA}
    found = load([{**NAMED, "input_schema": SCHEMA, **more}], path="x.json")
    assert ([tool.name for tool in found.tools], found.notes) == (["find"], ())
    found = load([{**NAMED, "input_schema": SCHEMA}, {"name": "now", "returns": SCHEMA}], path="x.json")
    assert [(tool.name, len(tool.parameters)) for tool in found.tools] == [("find", 1), ("now", 0)]


@pytest.mark.parametrize("case", BROKEN)
def test_the_look_at_the_bytes_lets_a_broken_definition_pass(case: str) -> None:
    for _, text in serialised(BROKEN[case][0]):
        assert looks_like(text.encode()) != "no"
