"""Rules look once at parameters that are alike: what they say of each is what they would say of it alone."""

from __future__ import annotations

import gc
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowbench import engine
from dowbench.errors import SourceError, UnrecognizedError
from dowbench.loaders import load
from dowbench.rulepack import RulePack, load_pack
from dowbench.rulepack.view import SetView, ToolView
from dowbench.source import collector_paused, read

if TYPE_CHECKING:
    from dowbench.model import Finding, Parameter, ToolSet

FIXTURES = Path(__file__).parents[2] / "fixtures"


@cache
def pack() -> RulePack:
    return load_pack()


def toolset(*tools: dict[str, Any]) -> ToolSet:
    return load({"tools": list(tools)}, path="tools.json", format="mcp")


def one_by_one(toolset: ToolSet) -> list[Finding]:
    """The findings where every parameter is looked at for itself."""

    def meeting(one: ToolView, test: Any) -> list[Parameter]:
        return [parameter for parameter in one.tool.parameters if test(one, parameter)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ToolView, "meeting", meeting)
        return engine.run(pack(), toolset).findings


def fixtures() -> list[Path]:
    return sorted(file for file in FIXTURES.glob("*/*/input.*") if file.parts[-3] != "none")


@pytest.mark.parametrize("file", fixtures(), ids=lambda file: f"{file.parts[-3]}-{file.parts[-2]}")
def test_on_fixtures(file: Path) -> None:
    try:
        (document, *_) = read(file.name, file.read_bytes()).documents
        tools = load(document.value, path=file.name)
        expected = one_by_one(tools)
    except (SourceError, UnrecognizedError) as refused:
        pytest.skip(f"a fixture that is refused: {refused}")
    assert engine.run(pack(), tools).findings == expected


@pytest.mark.parametrize("most", [0, 3])
def test_kinds_that_are_forgotten_change_nothing(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    forget = SetView.settle

    def settle(whole: SetView) -> None:
        forget(whole)
        seen.append(whole._forgotten)

    monkeypatch.setattr(SetView, "settle", settle)
    monkeypatch.setattr("dowbench.rulepack.view.MOST_KINDS", most)
    for file in fixtures():
        try:
            (document, *_) = read(file.name, file.read_bytes()).documents
            tools = load(document.value, path=file.name)
            expected = one_by_one(tools)
        except (SourceError, UnrecognizedError):
            continue
        assert engine.run(pack(), tools).findings == expected
    assert max(seen) > 3


NAMES = st.sampled_from(
    ["limit", "max_results", "cursor", "page", "text", "messages", "timeout", "urls", "image_base64"]
)
TEXTS = st.sampled_from(
    [
        "",
        "The full text, word for word.",
        "Maximum 50.",
        "Base64 encoded.",
        "How many. Default 10.",
        "Do not shorten it.",
    ]
)
VALUES = st.sampled_from([0, 1, True, False, 1.0, 50, "50", None, 10**9, 2**31])
SCHEMAS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "integer", "array", "object", "boolean", ["integer", "null"]]),
        "description": TEXTS,
        "default": VALUES,
        "const": VALUES,
        "maximum": VALUES,
        "maxLength": VALUES,
        "enum": st.lists(VALUES, max_size=2),
        "items": st.fixed_dictionaries({"type": st.sampled_from(["string", "object"])}),
        "anyOf": st.just([{"type": "integer", "maximum": 5}, {"type": "string"}]),
    },
)
TOOLS = st.builds(
    lambda name, description, properties, required: {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": required},
    },
    st.sampled_from(["list_pages", "get_text", "send_messages", "search"]),
    st.sampled_from(
        [
            "Lists pages. Returns all of them.",
            "Returns text. The `text` is repeated word for word. limit: at most 20 of them.",
            "Sends it.\n\nArgs:\n  max_results: at most 9\n  text: in full, word for word",
        ]
    ),
    st.dictionaries(NAMES, SCHEMAS, max_size=4),
    st.lists(NAMES, max_size=2),
)


@given(st.lists(TOOLS, min_size=2, max_size=5))
def test_on_tools_with_parameters_of_the_same_names(tools: list[dict[str, Any]]) -> None:
    loaded = toolset(*tools)
    assert engine.run(pack(), loaded).findings == one_by_one(loaded), json.dumps(tools)


def asked_of(*tools: dict[str, Any]) -> list[str]:
    return asked_in(toolset(*tools))


def asked_in(tools: ToolSet) -> list[str]:
    """The parameters that a test was asked of, ``tool.parameter``."""
    asked: list[str] = []

    def test(view: ToolView, parameter: Parameter) -> bool:
        asked.append(f"{view.tool.name}.{'.'.join(parameter.path)}")
        return False

    for view in SetView(tools, pack().lexicon).tools:
        view.meeting(test)
    return asked


def taking(properties: dict[str, Any], name: str = "list_pages", **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object", "properties": properties}, **more}


def test_a_test_is_asked_once_of_parameters_that_are_alike() -> None:
    properties = {"a": {"type": "string"}, "b": {"type": "array", "items": {"$ref": "#/$defs/x"}}}
    tools = [taking(properties, name, description="Lists pages.") for name in ("first", "second")]
    assert asked_of(tools[0]) == ["first.a", "first.b"]
    assert asked_of(*tools) == ["first.a", "first.b", "second.b"]  # an array is another one, as far as anyone knows


def test_what_a_test_says_of_an_alike_parameter_is_said_of_it() -> None:
    views = SetView(toolset(*(taking({"a": {}, "b": {"maximum": 5}}, name) for name in ("one", "two")))).tools
    found = [view.meeting(lambda view, parameter: parameter.schema.get("maximum") == 5) for view in views]
    assert [[parameter.location.pointer for parameter in met] for met in found] == [
        ["/tools/0/inputSchema/properties/b"],
        ["/tools/1/inputSchema/properties/b"],
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (taking({"a": {"type": "integer", "const": 1}}), taking({"a": {"type": "integer", "const": True}})),
        (taking({"a": {"type": "integer", "const": 1}}), taking({"a": {"type": "integer", "const": 1.0}})),
        (taking({"a": {"maximum": 1}}), taking({"a": {"minimum": 1}})),
        (taking({"a": {"enum": [1]}}), taking({"a": {"enum": [1, 2]}})),
        (taking({"a": {"type": "string"}}), taking({"a": {"type": "integer"}})),
        (taking({"a": {"description": "A."}}), taking({"a": {"description": "B."}})),
        (taking({"a": {"type": "string"}}), taking({"b": {"type": "string"}})),
        (taking({"a": {"type": "array", "items": {}}}), taking({"a": {"type": "array", "items": {"type": "string"}}})),
        (taking({"n": {"type": "integer"}}), taking({"n": {"type": "integer"}}, "delete_pages")),
        (taking({"page": {"type": "integer"}}), taking({"page": {"type": "integer"}}, "delete_pages")),
        (taking({"n": {"type": "integer"}}), taking({"n": {"type": "integer"}}, description="Lists.\n\nn: At most 9.")),
        (taking({"a_b": {}}), taking({"a_b": {}}, description="Lists pages. Say a_b in full.")),
        (
            taking({"a": {}}),
            {"name": "x", "inputSchema": {"type": "object", "properties": {"a": {}}, "required": ["a"]}},
        ),
    ],
)
def test_what_a_test_may_tell_apart_is_not_alike(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert len(asked_of(one, other)) == 2


def test_what_an_operation_says_of_its_parameter_is_not_alike() -> None:
    def operation(**more: str) -> dict[str, Any]:
        return {"get": {"parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}, **more}]}}

    paths = {"/a": operation(description="A."), "/b": operation(description="B."), "/c": operation(description="A.")}
    document = {"openapi": "3.0.0", "info": {"title": "T", "version": "1"}, "paths": paths}
    assert asked_in(load(document, path="api.json")) == ["GET /a.q", "GET /b.q"]


def test_a_nested_parameter_is_not_alike() -> None:
    inner = {"a": {"type": "string"}}
    assert asked_of(taking({**inner, "o": {"type": "object", "properties": inner}})) == [
        "list_pages.a",
        "list_pages.o",
        "list_pages.o.a",
    ]


def test_what_rules_saw_is_gone_when_they_are_done() -> None:
    gc.collect()
    with collector_paused():
        engine.run(pack(), toolset({"name": "list_pages", "inputSchema": {"type": "object", "properties": {}}}))
        assert not [seen for seen in gc.get_objects() if isinstance(seen, ToolView | SetView)]
