"""Tools as Python objects, the real ones of the frameworks."""

import enum
from typing import Annotated, Any

import pytest

from dowbench.errors import SourceError
from dowbench.loaders import load_tools
from dowbench.model import ToolSet

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def facts(found: ToolSet) -> list[tuple[str, str, list[tuple[str, tuple[str, ...], bool, Any]]]]:
    return [
        (
            tool.name,
            tool.description,
            [(p.name, p.schema.types, p.required, p.schema.get("maximum")) for p in tool.parameters],
        )
        for tool in found.tools
    ]


def test_langchain_tools() -> None:
    core = pytest.importorskip("langchain_core.tools")
    pydantic = pytest.importorskip("pydantic")

    @core.tool
    def search(query: str, limit: int = 10, token: Annotated[str, core.InjectedToolArg] = "") -> str:
        """Search the web."""
        return query

    arguments = pydantic.create_model(
        "Arguments",
        path=(str, pydantic.Field(description="Where.")),
        depth=(int | None, pydantic.Field(default=None, le=5)),
    )

    class Tree(core.BaseTool):  # type: ignore[misc, name-defined]
        name: str = "tree"
        description: str = "List a tree."
        args_schema: Any = arguments

        def _run(self, path: str, depth: int | None = None) -> str:
            return path

    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    remote = core.StructuredTool.from_function(
        func=lambda path: path, name="read", description="Read a file.", args_schema=schema
    )
    simple = core.Tool(name="ask", description="Ask.", func=lambda question: question)

    class Plain(core.BaseTool):  # type: ignore[misc, name-defined]
        name: str = "plain"
        description: str = "Plain."

        def _run(self, n: int) -> int:
            return n

    found = load_tools("langchain", [search, Tree(), remote, simple, Plain()])
    assert found.format == "langchain"
    assert facts(found) == [
        ("search", "Search the web.", [("query", ("string",), True, None), ("limit", ("integer",), False, None)]),
        ("tree", "List a tree.", [("path", ("string",), True, None), ("depth", ("integer",), False, 5)]),
        ("read", "Read a file.", [("path", ("string",), True, None)]),
        ("ask", "Ask.", [("tool_input", ("string",), False, None)]),
        ("plain", "Plain.", [("n", ("integer",), True, None)]),
    ]
    assert [t.location.pointer for t in found.tools] == ["/0", "/1", "/2", "/3", "/4"]
    assert found.tools[1].parameters[0].description == "Where."
    assert facts(load_tools("langchain", search)) == facts(found)[:1]


def test_langchain_tools_serialised_without_their_definition_are_refused() -> None:
    load_module = pytest.importorskip("langchain_core.load")
    core = pytest.importorskip("langchain_core.tools")

    @core.tool
    def search(query: str) -> str:
        """Search the web."""
        return query

    with pytest.raises(SourceError, match="without its definition; export name, description and args_schema"):
        load_tools("langchain", [load_module.dumpd(search)])


class Duck:
    """A tool of no known package."""

    name = "duck"
    description = "Quacks."

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


def test_anything_with_the_attributes_is_a_tool() -> None:
    flat = {"title": {"type": "string"}, "type": {"type": "string"}}
    schema = {"type": "object", "properties": {"a": {"type": "integer", "maximum": 2}}}
    found = load_tools("langchain", [Duck(args=flat), Duck(args_schema=schema), Duck(args_schema=None, args={})])
    assert [[p[0] for p in parameters] for _, _, parameters in facts(found)] == [["title", "type"], ["a"], []]


def test_pydantic_models_are_tools() -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("GetWeather", __doc__="Weather of a place.", days=(int, pydantic.Field(le=7)))
    assert facts(load_tools("langchain", [model])) == [
        ("GetWeather", "Weather of a place.", [("days", ("integer",), True, 7)])
    ]


def test_old_pydantic_models() -> None:
    class Old:
        @classmethod
        def schema(cls) -> Any:
            return {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}

    assert facts(load_tools("langchain", [Duck(args_schema=Old)])) == [
        ("duck", "Quacks.", [("a", ("string",), True, None)])
    ]


def test_mcp_tools() -> None:
    types = pytest.importorskip("mcp.types")
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    hints = types.ToolAnnotations(readOnlyHint=True)
    tool = types.Tool(name="find", description="Finds.", inputSchema=schema, annotations=hints)
    for objects in ([tool], tool, (tool,), types.ListToolsResult(tools=[tool])):
        for format in ("mcp", "auto"):
            found = load_tools(format, objects)
            assert facts(found) == [("find", "Finds.", [("q", ("string",), False, None)])]
            assert found.tools[0].hints["readOnlyHint"] is True


def test_tools_of_the_openai_agents_sdk() -> None:
    agents = pytest.importorskip("agents")

    @agents.function_tool
    def weather(city: str) -> str:
        """Weather of a city."""
        return city

    found = load_tools("openai", [weather])
    assert facts(found) == [("weather", "Weather of a city.", [("city", ("string",), True, None)])]


def test_tools_of_pydantic_ai() -> None:
    ai = pytest.importorskip("pydantic_ai")

    def weather(city: str, days: int = 3) -> str:
        """Weather of a city."""
        return city

    for objects in ([ai.Tool(weather)], [ai.Tool(weather).tool_def]):
        assert facts(load_tools("auto", objects)) == [
            ("weather", "Weather of a city.", [("city", ("string",), True, None), ("days", ("integer",), False, None)])
        ]


def test_dicts_of_any_format() -> None:
    entry = {"name": "find", "input_schema": {"properties": {"q": {"type": "string"}}}}
    expected = [("find", "", [("q", ("string",), False, None)])]
    for objects in ([entry], entry, {"tools": [entry]}, {"tools": (entry,)}, iter([entry])):
        assert facts(load_tools("anthropic", objects)) == expected
    document = {"openapi": "3.1.0", "paths": {"/a": {"get": {"responses": {200: {"description": "x"}}}}}}
    assert [t.name for t in load_tools("openapi", document).tools] == ["GET /a"]


def test_values_that_json_does_not_have() -> None:
    class Kind(enum.StrEnum):
        STRING = "string"

    entry = {
        "name": "t",
        "input_schema": {"properties": {"a": {"type": Kind.STRING, "enum": {"x"}, "default": object()}}},
    }
    assert facts(load_tools("anthropic", [entry])) == [("t", "", [("a", ("string",), False, None)])]


def broken(**attributes: Any) -> Any:
    class Broken(Duck):
        @property
        def args_schema(self) -> Any:
            raise RuntimeError("not now")

    return Broken(**attributes)


@pytest.mark.parametrize(
    ("objects", "message", "pointer"),
    [
        ([Duck(args={}), 5], "expected a tool definition (a dict, or an object with name", "/1"),
        ([print], "found builtin_function_or_method print", "/0"),
        ("search", "expected a tool definition", "/0"),
        (None, "expected a tool definition", "/0"),
        ([broken()], "the definition of Broken duck cannot be read: RuntimeError: not now", "/0"),
    ],
)
def test_objects_that_are_no_tools(objects: Any, message: str, pointer: str) -> None:
    with pytest.raises(SourceError) as caught:
        load_tools("langchain", objects)
    assert message in str(caught.value)
    assert caught.value.pointer == pointer


def test_no_objects() -> None:
    found = load_tools("langchain", [])
    assert (found.tools, [note.message for note in found.notes]) == ((), ["the document holds no tools"])


def test_objects_that_contain_themselves() -> None:
    entry: dict[str, Any] = {"name": "t", "input_schema": {}}
    entry["input_schema"]["properties"] = {"a": entry}
    with pytest.raises(SourceError, match="a value holds itself"):
        load_tools("anthropic", [entry])


class Thing:
    def __init__(self, **members: Any) -> None:
        self.__dict__.update(members)


UNREADABLE = "<python>#/0: the definition of Thing x cannot be read: TypeError: "
TEXT = {"type": "string"}
SCHEMA = {"type": "object", "properties": {"q": TEXT}}


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (Thing(name=b"x", description="d", args_schema=SCHEMA), "<python>#/0/name: expected a text, found bytes"),
        (Thing(name="x", description=b"d", args={"q": TEXT}), "<python>#/0/description: expected a text, found bytes"),
        (
            {"name": "x", "input_schema": {"type": bytearray(b"object")}},
            "<python>#/0/input_schema/type: expected a text, found bytearray",
        ),
        (
            Thing(name="x", description="d", args_schema=5),
            f"{UNREADABLE}args_schema is int, neither a dict nor a pydantic model class",
        ),
        (
            Thing(name="x", description="d", args_schema=int),
            f"{UNREADABLE}args_schema is type int, neither a dict nor a pydantic model class",
        ),
        (
            {"name": "x", "input_schema": {"properties": {1: TEXT, "1": TEXT}}},
            '<python>#/0/input_schema/properties/1: two keys are both written "1"',
        ),
    ],
)
def test_what_would_be_misread_is_refused(thing: Any, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        load_tools("auto", [thing])
    assert str(caught.value) == message


def test_arguments_say_what_a_strange_schema_does_not() -> None:
    found = load_tools("auto", [Thing(name="x", description="d", args_schema=5, args={"q": TEXT})])
    assert facts(found) == [("x", "d", [("q", ("string",), False, None)])]
