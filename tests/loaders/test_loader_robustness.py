"""Whatever JSON value stands anywhere in a definition: tools, or one located error."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_loader_formats import SHAPES

from dowbench.errors import SourceError, UnrecognizedError
from dowbench.loaders import LOADERS, load

if TYPE_CHECKING:
    from dowbench.model import Schema, ToolSet

RICH: dict[str, Any] = {
    "type": "object",
    "required": ["a"],
    "properties": {
        "a": {"$ref": "#/$defs/A", "description": "A."},
        "b": {"anyOf": [{"type": "integer", "maximum": 3}, {"type": "null"}]},
        "c": {"type": ["array", "null"], "items": {"oneOf": [{"$ref": "#/$defs/A"}, {"const": 1}]}},
        "d": {"allOf": [{"minLength": 2}, {"enum": ["x", "y"]}], "nullable": True},
        "e": {"type": "object", "additionalProperties": {"type": "string"}, "patternProperties": {"^x": {}}},
    },
    "$defs": {"A": {"type": "object", "properties": {"again": {"$ref": "#/$defs/A"}, "n": {"maximum": 2}}}},
}
OPENAPI: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        "/a/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
            "post": {
                "operationId": "make",
                "summary": "Makes.",
                "parameters": [{"$ref": "#/components/parameters/L"}],
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S"}}}},
                "responses": {"200": {"$ref": "#/components/responses/R"}, "default": {"description": "x"}},
            },
        },
        "/b": {"$ref": "#/components/pathItems/B"},
    },
    "components": {
        "parameters": {"L": {"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 5}}},
        "schemas": {"S": {"type": "object", "properties": {"s": {"$ref": "#/components/schemas/S"}, "t": {}}}},
        "responses": {"R": {"description": "Ok", "content": {"text/plain": {"schema": {"type": "string"}}}}},
        "pathItems": {"B": {"get": {"responses": {"2XX": {"description": "B"}}}}},
    },
}
SWAGGER: dict[str, Any] = {
    "swagger": "2.0",
    "produces": ["application/json"],
    "paths": {
        "/a": {
            "put": {
                "parameters": [
                    {"name": "q", "in": "query", "type": "array", "items": {"type": "string"}, "maxItems": 3},
                    {"name": "b", "in": "body", "schema": {"$ref": "#/definitions/D"}},
                    {"name": "f", "in": "formData", "type": "file"},
                ],
                "responses": {"201": {"description": "Ok", "schema": {"$ref": "#/definitions/D"}}},
            }
        }
    },
    "definitions": {"D": {"type": "object", "properties": {"x": {"type": "integer"}}}},
}
TOOL: dict[str, Any] = {
    "name": "t",
    "title": "T",
    "description": "D.",
    "inputSchema": RICH,
    "outputSchema": RICH,
    "annotations": {"readOnlyHint": True},
    "_meta": {"k": 1},
}
DOCUMENTS = [*(value for value, *_ in SHAPES.values()), {"tools": [TOOL, TOOL]}, OPENAPI, SWAGGER]

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(
        [0, -1, 10**400, 1.5, float("nan"), float("inf"), "", "x", "#", "#/", "#/$defs/A", "\ud800", "a/b~c"]
    ),
    st.sampled_from([[], {}, [[]], [{}], [None], {"": None}, {"$ref": "#"}, {"$ref": 5}, {"type": {}}, ["object"]]),
    st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=6,
    ),
)


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to all values of a document."""
    found = [way]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found.extend(places(inner, (*way, key)))
    return found


def changed(document: Any, way: tuple[Any, ...], value: Any) -> Any:
    if not way:
        return value
    document = copy.deepcopy(document)
    holder = document
    for key in way[:-1]:
        holder = holder[key]
    holder[way[-1]] = value
    return document


def look_at(schema: Schema | None, document: Any, seen: set[int]) -> None:
    if schema is None or schema.identity in seen:
        return
    seen.add(schema.identity)
    assert at(document, schema.location.pointer)
    assert at(document, schema.location.use or "")
    assert isinstance(schema.description, str)
    assert all(isinstance(name, str) for name in schema.types)
    for keyword in ("maximum", "minimum", "maxItems", "maxLength"):
        assert isinstance(schema.keywords.get(keyword, 0), int | float)
    for child in (*schema.properties.values(), schema.items, schema.additional, *schema.alternatives):
        look_at(child, document, seen)


def check(found: ToolSet, document: Any) -> None:
    """What a tool set promises, whatever it was read from."""
    for tool in found.tools:
        assert isinstance(tool.name, str)
        assert tool.name
        assert isinstance(tool.description, str)
        for parameter in tool.parameters:
            assert parameter.path[-1] == parameter.name
            assert isinstance(parameter.name, str)
            assert isinstance(parameter.description, str)
            assert at(document, parameter.location.pointer)
            look_at(parameter.schema, document, set())
        look_at(tool.output, document, set())
        assert at(document, tool.location.pointer)
    for note in found.notes:
        assert note.pointer is None or isinstance(note.pointer, str)


def at(document: Any, pointer: str) -> bool:
    """Whether a pointer leads to something."""
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        document = document[int(key)] if isinstance(document, list) else document[key]
    return True


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_value_anywhere(data: st.DataObject) -> None:
    document = data.draw(st.sampled_from(DOCUMENTS))
    for _ in range(data.draw(st.integers(1, 2))):
        document = changed(document, data.draw(st.sampled_from(places(document))), data.draw(ODD))
    format = data.draw(st.sampled_from(["auto", "auto", *LOADERS]))
    for loader in LOADERS.values():
        assert 0 <= loader.confidence(document) <= 1
    try:
        check(load(document, path="x.json", format=format), document)
    except SourceError as error:
        assert "\n" not in str(error)
        assert str(error).isprintable()
        assert error.pointer is not None


@pytest.mark.parametrize("odd", [None, 5, "x", [], {}, True, [1], {"a": 1}], ids=repr)
def test_each_value_in_turn(odd: Any) -> None:
    """Each place of a rich document, one after the other, so that none depends on luck."""
    for document in ({"tools": [TOOL]}, OPENAPI, SWAGGER):
        for way in places(document):
            mutant = changed(document, way, odd)
            try:
                check(load(mutant, path="x.json"), mutant)
            except UnrecognizedError:
                assert len(way) < 4
            except SourceError as error:
                assert error.pointer is not None
                assert any(words in str(error) for words in ("expected", "leads nowhere", "not followed", "mixes"))


@given(ODD)
@settings(max_examples=200, deadline=None)
def test_no_json_value_is_a_crash(value: Any) -> None:
    for format in ("auto", *LOADERS):
        try:
            check(load(value, path="x.json", format=format), value)
        except SourceError as error:
            assert "\n" not in str(error)
