"""All lists of a document are one set, wherever they are: none hides another, and what is no tool is none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from test_loader_formats import ANTHROPIC, BARE, CHAT, GEMINI, MCP, NAMED, SCHEMA, SPEC

from dowbench import scan_tools
from dowbench.errors import SourceError
from dowbench.loaders import load

if TYPE_CHECKING:
    from pathlib import Path

    from workbench import Dowbench

G = MCP
H = {"name": "hidden", "description": "Hides.", "inputSchema": SCHEMA}
H_FUNCTION = {"name": "hidden", "description": "Hides.", "parameters": SCHEMA}
H_CHAT = {"type": "function", "function": H_FUNCTION}
NAMELESS = {"nmae": "x", "inputSchema": SCHEMA}
MISSPELT = {**NAMED, "inputSchem": SCHEMA}
DEEP: Any = {"tools": [H]}
for _ in range(40):
    DEEP = {"a": [DEEP]}
PATHS = {"/a": {"get": {"operationId": "get", "responses": {}}}}

# (document, pointer of the tool that a list hid)
HIDDEN: dict[str, tuple[Any, str]] = {
    "agents of an agent": (
        {"name": "support", "tools": [G], "subagents": [{"name": "r", "tools": [H]}]},
        "/subagents/0/tools/0",
    ),
    "hand-offs": ({"tools": [G], "handoffs": [{"name": "r", "tools": [H]}]}, "/handoffs/0/tools/0"),
    "agents of agents": (
        {"agents": [{"tools": [G], "subagents": [{"tools": [H]}]}]},
        "/agents/0/subagents/0/tools/0",
    ),
    "an agent without a list": (
        {"tools": [G], "agents": [{"name": "a", "config": {"tools": [H]}}, {"name": "b"}]},
        "/agents/0/config/tools/0",
    ),
    "an agent that has its tools by name": (
        {"tools": [G], "agents": {"a": {"tools": {"hidden": {"description": "x", "inputSchema": SCHEMA}}}}},
        "/agents/a/tools/hidden",
    ),
    "names, then tools": ({"name": "a", "tools": ["find"], "b": {"tools": [G, H]}}, "/b/tools/1"),
    "another key": ({"tools": [G], "more_tools": [H]}, "/more_tools/0"),
    "another key in a list": ([{"tools": [G], "more_tools": [H]}], "/0/more_tools/0"),
    "another key beside lists": ([{"x": [H], "tools": [G]}, {"tools": [BARE and G]}], "/0/x/0"),
    "an object": ({"tools": [G], "b": {"tools": [H]}}, "/b/tools/0"),
    "functions": ({"tools": [G], "extra": {"functions": [H]}}, "/extra/functions/0"),
    "one tool": ({"tools": [G], "b": H}, "/b"),
    "one tool by name": ({"tools": [G], "hidden": {"description": "x", "inputSchema": SCHEMA}}, "/hidden"),
    "an answer": ({"result": {"tools": [G], "_meta": {"tools": [H]}}}, "/result/_meta/tools/0"),
    "a request": ({"model": "m", "tools": [CHAT], "fallback": {"tools": [H_CHAT]}}, "/fallback/tools/0"),
    "declarations": (
        {"functionDeclarations": [GEMINI], "b": {"functionDeclarations": [{**GEMINI, "name": "hidden"}]}},
        "/b/functionDeclarations/0",
    ),
    "tools by name": (
        {"tools": {"send_mail": {"description": "x", "inputSchema": SCHEMA}}, "b": {"tools": [H]}},
        "/b/tools/0",
    ),
    "a tool alone": ({**G, "children": [H]}, "/children/0"),
    "a tool in a list": ([{**G, "children": [H]}], "/0/children/0"),
    "a wrapped tool": (
        {"tools": [{**CHAT, "function": {**BARE, "children": [H_CHAT]}}]},
        "/tools/0/function/children/0",
    ),
    "a tool without a schema": ({"tools": [G, {**NAMED, "children": [H]}]}, "/tools/1/children/0"),
    "a namespace": (
        {"tools": [{"type": "namespace", "name": "n", "tools": [BARE]}], "b": {"tools": [H_CHAT]}},
        "/b/tools/0",
    ),
    "an empty list": ({"tools": [], "b": {"tools": [H]}}, "/b/tools/0"),
    "depth": ({"tools": [G], "b": DEEP}, "/b" + "/a/0" * 40 + "/tools/0"),
    "lists of lists": ({"tools": [G], "x": [[{"y": [{"z": [H]}]}]]}, "/x/0/0/y/0/z/0"),
}  # fmt: skip
# (document, pointer of the fault)
BROKEN: dict[str, tuple[Any, str]] = {
    "no name": ({"tools": [G], "b": {"tools": [NAMELESS]}}, "/b/tools/0"),
    "no name under another key": ({"tools": [G], "more": [NAMELESS]}, "/more/0"),
    "schema misspelt": ({"tools": [G], "b": {"tools": [MISSPELT]}}, "/b/tools/0/inputSchem"),
    "schema misspelt under another key": ({"tools": [G], "more": [MISSPELT]}, "/more/0/inputSchem"),
    "a number after a tool": ({"tools": [G], "b": {"tools": [H, 5]}}, "/b/tools/1"),
    "a number before a tool": ({"tools": [G], "more": [5, H]}, "/more/0"),
    "another format": ({"tools": [G], "b": {"tools": [ANTHROPIC]}}, "/b/tools/0"),
    "operations and a list": ({"openapi": "3.1.0", "paths": PATHS, "tools": [H]}, "/tools/0"),
    "operations and an extension": ({"openapi": "3.1.0", "paths": PATHS, "x-mcp": {"tools": [H]}}, "/x-mcp/tools/0"),
    "operations and a broken tool": ({"openapi": "3.1.0", "paths": PATHS, "tools": [NAMELESS]}, "/tools/0"),
}
# what stands in a document with one tool, ``find``, and is none
NONE: dict[str, Any] = {
    "examples of a tool": {"tools": [{**G, "examples": [{"tools": [H]}], "x-try": [H], "default": H, "sample": [H]}]},
    "hints of a tool": {"tools": [{**G, "_meta": {"tools": [H]}, "annotations": {"tools": [{"title": "x"}]}}]},
    "values in a schema": {"tools": [{**NAMED, "inputSchema": {"properties": {"tools": {"default": [H]}}}}]},
    "settings of a tool": {"tools": [{**G, "config": {"tools": [{"type": "saw"}]}}]},
    "a schema": {"tools": [G], "schema": {"type": "object", "properties": {"tools": {"type": "array", "items": {}}}}},
    "an untyped schema": {"tools": [G], "s": {"properties": {"tools": {"type": "array", "items": {"type": "object"}}}}},
    "names": {"tools": [G], "b": {"tools": ["find"]}, "c": [{"tools": ["find"]}]},
    "references": {"tools": [G], "agents": [{"tools": [{"name": "find"}, {"ref": "find"}]}]},
    "permissions": {"tools": [G], "b": {"tools": {"find": {"allow": True}}}},
    "calls": {
        "tools": [G],
        "messages": [
            {"content": [{"type": "tool_use", "id": "1", "name": "make", "input": {"tools": [{"type": "saw"}]}}]},
            {"tool_calls": [{"name": "make", "args": {"functions": [{"title": "x"}]}}]},
            {"parts": [{"functionCall": {"name": "make", "args": {"tools": [H]}}}]},
        ],
    },
}  # fmt: skip


@pytest.mark.parametrize("case", HIDDEN)
def test_no_list_hides_another(case: str) -> None:
    value, pointer = HIDDEN[case]
    for loaded in (load(value, path="x.json"), load(value, path="x.json", format=load(value, path="x.json").format)):
        assert [tool.name for tool in loaded.tools if tool.location.pointer == pointer] == ["hidden"]
        assert len({tool.location.pointer for tool in loaded.tools}) == len(loaded.tools)


@pytest.mark.parametrize("case", BROKEN)
def test_no_list_hides_what_is_broken(case: str, folder: Path, dowbench: Dowbench) -> None:
    value, pointer = BROKEN[case]
    with pytest.raises(SourceError) as caught:
        load(value, path="x.json")
    assert caught.value.pointer == pointer
    (folder / "x.json").write_text(json.dumps(value, indent=1))
    run = dowbench("scan", ".", "--skip-unrecognized")
    assert (run.code, run.err.startswith("error: x.json:")) == (2, True)


@pytest.mark.parametrize("case", NONE)
def test_what_is_no_tool_beside_tools_is_none(case: str) -> None:
    for format in ("auto", "mcp"):
        found = load(NONE[case], path="x.json", format=format)
        assert [tool.name for tool in found.tools] == ["find"]


def test_hidden_tools_are_scanned_in_every_language(folder: Path, dowbench: Dowbench) -> None:
    value = HIDDEN["agents of an agent"][0]
    (folder / "x.json").write_text(json.dumps(value))
    (folder / "x.yaml").write_text(yaml.safe_dump(value))
    (folder / "x.jsonl").write_text(f"{json.dumps(value)}\n{json.dumps({'tools': [G]})}\n")
    run = dowbench("scan", "x.json", "x.yaml", "x.jsonl", "--format", "json")
    assert {(file["path"], file["tools"]) for file in run.json["files"]} == {
        ("x.json", 2),
        ("x.yaml", 2),
        ("x.jsonl", 3),
    }


def test_hidden_tools_are_scanned_from_python() -> None:
    open_ended = {**H, "inputSchema": {"type": "object", "properties": {"limit": {"type": "integer"}}}}
    alone = scan_tools({"tools": [open_ended]})
    found = scan_tools({"tools": [G], "b": {"tools": [open_ended]}})
    rules = {finding.rule for finding in alone.findings}
    assert rules
    assert rules <= {finding.rule for finding in found.findings if finding.pointer.startswith("/b/tools/0")}


def test_what_yaml_shares_is_one_tool() -> None:
    shared = yaml.safe_load(f"tools: &t\n- {json.dumps(G)}\nb:\n  tools: *t\nc:\n  tools: *t\n")
    assert [tool.location.pointer for tool in load(shared, path="x.yaml").tools] == ["/tools/0"]


def test_a_document_of_names_has_no_tools() -> None:
    with pytest.raises(SourceError, match="no tool definitions"):
        load({"tools": ["find"], "b": {"tools": [{"ref": "find"}]}}, path="x.json")


def test_bedrock_beside_bedrock() -> None:
    spec = {"toolSpec": {**SPEC["toolSpec"], "name": "hidden"}}
    found = load({"toolConfig": {"tools": [SPEC]}, "fallback": {"toolConfig": {"tools": [spec]}}}, path="x.json")
    assert [tool.name for tool in found.tools] == ["find", "hidden"]


API = {"openapi": "3.1.0", "paths": {"/a": {"get": {"operationId": "list_a"}}}}


@pytest.mark.parametrize(
    ("document", "pointers"),
    [
        ({"tools": [G], "spec": API}, ["/spec"]),
        ({"tools": [G], "specs": [{**API, "swagger": "2.0"}, API]}, ["/specs/0", "/specs/1"]),
        ({"tools": [G], "agent": {"action": {"schema": API}}}, ["/agent/action/schema"]),
        ({"tools": [{**G, "spec": API}]}, ["/tools/0/spec"]),
        ({"tools": [G], "openapi_version": {"openapi": "3.1.0"}, "paths": {"/a": {}}}, []),
        ({"tools": [G], "spec": {"openapi": "spec.yaml", "paths": {"/a": {}}}}, []),
    ],
)
def test_an_openapi_description_beside_tools_is_said_to_be_left_out(document: Any, pointers: list[str]) -> None:
    found = load(document, path="x.json")
    assert [tool.name for tool in found.tools] == [G["name"]]
    assert [(note.pointer, note.message) for note in found.notes] == [
        (at, f"the OpenAPI description at {at} is not scanned beside a list of tools; put it into a file of its own")
        for at in pointers
    ]
