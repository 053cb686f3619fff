"""References, merging, unions: what a schema says, and where it says it."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from dowbench import source
from dowbench.errors import SourceError
from dowbench.loaders import load
from dowbench.model import Location, Parameter, Schema, Tool
from dowbench.source import Limits


def tool(schema: Any, limits: Limits | None = None, **more: Any) -> Tool:
    entry = {"name": "t", "description": "d", "inputSchema": schema, **more}
    return load(entry, path="t.json", limits=limits or Limits()).tools[0]


def parameter(schema: Any, **beside: Any) -> Parameter:
    """The one parameter ``p`` whose schema is given; ``beside`` are keywords of the root."""
    return tool({"type": "object", "properties": {"p": schema}, **beside}).parameters[0]


def notes(schema: Any) -> list[str]:
    entry = {"name": "t", "description": "d", "inputSchema": schema}
    return [f"{note.pointer}: {note.message}" for note in load(entry, path="t.json").notes]


AT = "/inputSchema/properties/p"
LIMIT = {"type": "integer", "maximum": 50, "description": "How many."}


@pytest.mark.parametrize(
    ("ref", "beside", "target"),
    [
        ("#/$defs/Limit", {"$defs": {"Limit": LIMIT}}, "/$defs/Limit"),
        ("#/definitions/Limit", {"definitions": {"Limit": LIMIT}}, "/definitions/Limit"),
        ("#/$defs/a~1b~0c", {"$defs": {"a/b~c": LIMIT}}, "/$defs/a~1b~0c"),
        ("#/$defs/a%20b", {"$defs": {"a b": LIMIT}}, "/$defs/a b"),
        ("#/$defs/list/1", {"$defs": {"list": [{}, LIMIT]}}, "/$defs/list/1"),
        ("#limit", {"$defs": {"Limit": {**LIMIT, "$anchor": "limit"}}}, "/$defs/Limit"),
        ("https://x.test/limit", {"$defs": {"Limit": {**LIMIT, "$id": "https://x.test/limit"}}}, "/$defs/Limit"),
        ("https://x.test/r#/$defs/L", {"$id": "https://x.test/r", "$defs": {"L": LIMIT}}, "/$defs/L"),
        ("#/properties/q", {}, "/properties/q"),
    ],
)
def test_a_local_reference_is_followed(ref: str, beside: Any, target: str) -> None:
    properties = {"p": {"$ref": ref}, "q": LIMIT}
    found = tool({"type": "object", "properties": properties, **beside}).parameters[0]
    assert found.schema.types == ("integer",)
    assert (found.schema.get("maximum"), found.description) == (50, "How many.")
    assert found.location == Location(f"/inputSchema{target}", AT)


def test_a_chain_of_references_points_at_its_end_and_its_beginning() -> None:
    defs = {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/C", "description": "B."}, "C": LIMIT}
    found = parameter({"$ref": "#/$defs/A"}, **{"$defs": defs})
    assert found.location == Location("/inputSchema/$defs/C", AT)
    assert (found.description, found.schema.get("maximum")) == ("B.", 50)


def test_what_lies_behind_a_reference_is_used_where_the_reference_is() -> None:
    defs = {"Page": {"type": "object", "properties": {"limit": LIMIT, "own": {"$ref": "#/$defs/L"}}}, "L": LIMIT}
    found = {p.path: p for p in tool({"properties": {"p": {"$ref": "#/$defs/Page"}}, "$defs": defs}).parameters}
    assert found["p", "limit"].location == Location("/inputSchema/$defs/Page/properties/limit", AT)
    assert found["p", "own"].location == Location("/inputSchema/$defs/L", "/inputSchema/$defs/Page/properties/own")


@pytest.mark.parametrize("wrap", ["anyOf", "oneOf", "allOf"])
def test_what_lies_behind_a_wrapped_reference(wrap: str) -> None:
    branches = [{"$ref": "#/$defs/Page"}, *([] if wrap == "allOf" else [{"type": "null"}])]
    defs = {"Page": {"type": "object", "properties": {"limit": LIMIT}}}
    found = {p.path: p for p in tool({"properties": {"p": {wrap: branches}}, "$defs": defs}).parameters}
    assert found["p",].location == Location(AT)
    assert found["p",].schema.types == ("object",)
    assert found["p",].schema.nullable is (wrap != "allOf")
    assert found["p", "limit"].location == Location("/inputSchema/$defs/Page/properties/limit", f"{AT}/{wrap}/0")


def test_shared_definitions_of_a_document_are_found() -> None:
    entry = {"name": "t", "inputSchema": {"properties": {"p": {"$ref": "#/$defs/L"}}}}
    value = {"tools": [entry], "$defs": {"L": LIMIT}}
    (found,) = load(value, path="t.json").tools[0].parameters
    assert found.location == Location("/$defs/L", "/tools/0/inputSchema/properties/p")


@pytest.mark.parametrize(
    ("ref", "note"),
    [
        ("other.yaml#/Limit", "$ref other.yaml#/Limit is not followed; what it defines is unknown"),
        ("https://x.test/limit.json", "$ref https://x.test/limit.json is not followed; what it defines is unknown"),
        ("#/$defs/Missing", "$ref #/$defs/Missing leads nowhere; what it defines is unknown"),
        ("#/properties/p/type/9", "$ref #/properties/p/type/9 leads nowhere; what it defines is unknown"),
        ("#nowhere", "$ref #nowhere leads nowhere; what it defines is unknown"),
    ],
)
def test_a_reference_that_is_not_followed_is_unknown_and_said_once(ref: str, note: str) -> None:
    schema = {"properties": {"p": {"$ref": ref, "description": "Kept."}, "q": {"$ref": ref}}}
    found = tool(schema)
    assert [(p.name, p.schema.types, p.description) for p in found.parameters] == [("p", (), "Kept."), ("q", (), "")]
    assert notes(schema) == [f"{AT}: {note}"]


def test_references_in_circles_end() -> None:
    defs = {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}, "Self": {"$ref": "#/$defs/Self"}}
    for name in defs:
        assert parameter({"$ref": f"#/$defs/{name}"}, **{"$defs": defs}).schema.types == ()
    defs = {"A": {"allOf": [{"$ref": "#/$defs/B"}]}, "B": {"allOf": [{"$ref": "#/$defs/A"}], "maximum": 3}}
    assert parameter({"$ref": "#/$defs/A"}, **{"$defs": defs}).schema.get("maximum") == 3


def test_a_recursive_schema_stops_where_it_comes_round() -> None:
    node = {"type": "object", "properties": {"name": {"type": "string"}, "children": {"type": "array"}}}
    node["properties"]["children"]["items"] = {"$ref": "#/$defs/Node"}
    found = tool({"properties": {"tree": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}})
    assert [p.path for p in found.parameters] == [("tree",), ("tree", "name"), ("tree", "children")]
    tree = found.parameters[0].schema
    children = tree.properties["children"]
    assert not tree.circular
    assert children.items is not None
    assert children.items.circular
    assert children.items.types == ("object",)
    assert not children.items.properties
    assert children.items.identity == tree.identity


def test_the_root_may_refer_to_itself() -> None:
    schema = {"type": "object", "properties": {"sub": {"$ref": "#"}, "n": {"type": "integer"}}}
    assert [p.path for p in tool(schema).parameters] == [("sub",), ("n",)]


@pytest.mark.parametrize("name", ["$ref", "__proto__", "constructor", "properties", "a/b", "~", "", "é\n"])
def test_any_name_of_a_property_is_a_name(name: str) -> None:
    found = tool({"type": "object", "properties": {name: {"type": "integer", "maximum": 3}}, "required": [name]})
    (one,) = found.parameters
    escaped = name.replace("~", "~0").replace("/", "~1")
    assert (one.name, one.required, one.location.pointer) == (name, True, f"/inputSchema/properties/{escaped}")


def test_all_of_merges_to_the_narrowest() -> None:
    schema = {
        "allOf": [
            {"type": "integer", "minimum": 1, "maximum": 100, "description": "First."},
            {"minimum": 5, "maximum": 1000, "enum": [7, 8, 9]},
            {"allOf": [{"maximum": 60, "enum": [8, 9, 10]}]},
        ],
        "title": "Limit",
    }
    found = parameter(schema).schema
    assert (found.types, found.get("minimum"), found.get("maximum")) == (("integer",), 5, 60)
    assert (found.get("enum"), found.get("title"), found.description) == ([8, 9], "Limit", "First.")


def test_all_of_joins_properties_and_required() -> None:
    base = {"type": "object", "properties": {"limit": {"type": "integer"}, "q": {"type": "string"}}, "required": ["q"]}
    schema = {
        "allOf": [{"$ref": "#/$defs/Base"}, {"properties": {"limit": {"maximum": 9}}, "required": ["limit"]}],
        "$defs": {"Base": base},
    }
    found = {p.name: p for p in tool(schema).parameters}
    assert {name: p.required for name, p in found.items()} == {"limit": True, "q": True}
    assert (found["limit"].schema.types, found["limit"].schema.get("maximum")) == (("integer",), 9)
    assert found["limit"].location == Location("/inputSchema/$defs/Base/properties/limit", "/inputSchema/allOf/0")


def test_bounds_beside_a_reference_count() -> None:
    found = parameter({"$ref": "#/$defs/L", "maximum": 20, "description": "Here."}, **{"$defs": {"L": LIMIT}})
    assert (found.schema.get("maximum"), found.description, found.schema.types) == (20, "Here.", ("integer",))
    found = parameter({"$ref": "#/$defs/L", "maximum": 90}, **{"$defs": {"L": LIMIT}})
    assert found.schema.get("maximum") == 50


@pytest.mark.parametrize(
    ("schema", "types", "nullable"),
    [
        ({"type": "string"}, ("string",), False),
        ({"type": ["string", "null"]}, ("string",), True),
        ({"type": ["integer", "string"]}, ("integer", "string"), False),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, ("integer",), True),
        ({"oneOf": [{"type": "null"}, {"type": "array", "items": {}}]}, ("array",), True),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}, ("integer", "string"), True),
        ({"anyOf": [{"const": None}, {"type": "boolean"}]}, ("boolean",), True),
        ({"type": "integer", "nullable": True}, ("integer",), True),
        ({"$ref": "#/$defs/L", "nullable": True}, ("integer",), True),
        ({"enum": ["a", "b"]}, ("string",), False),
        ({"enum": ["a", 1, None]}, ("string", "integer"), False),
        ({"const": 4}, ("integer",), False),
        ({"properties": {"a": {}}}, ("object",), False),
        ({"items": {"type": "string"}}, ("array",), False),
        ({"prefixItems": [{"type": "string"}]}, ("array",), False),
        ({"additionalProperties": {"type": "string"}}, ("object",), False),
        ({"type": "STRING"}, ("string",), False),
        ({"type": "dict"}, ("object",), False),
        ({"type": "float"}, ("number",), False),
        ({"type": "uuid"}, (), False),
        ({"type": "TYPE_UNSPECIFIED"}, (), False),
        ({"type": "any"}, (), False),
        ({"type": []}, (), False),
        ({"type": None}, (), False),
        ({}, (), False),
        (True, (), False),
        ({"anyOf": [{"type": "integer"}, {}]}, (), False),
    ],
)
def test_types(schema: Any, types: tuple[str, ...], nullable: bool) -> None:
    found = parameter(schema, **{"$defs": {"L": LIMIT}}).schema
    assert (found.types, found.nullable) == (types, nullable)


def test_a_property_that_must_not_be_there_is_none() -> None:
    assert [p.name for p in tool({"properties": {"a": False, "b": True}}).parameters] == ["b"]


def test_a_union_with_null_keeps_the_bounds_of_the_branch() -> None:
    found = parameter({"anyOf": [{"type": "integer", "maximum": 10}, {"type": "null"}], "default": None, "title": "P"})
    assert found.schema.get("maximum") == 10
    assert found.schema.keywords["default"] is None
    assert found.schema.alternatives == ()
    assert found.location == Location(AT)


def test_alternatives_are_kept_apart() -> None:
    union = {"oneOf": [{"type": "integer", "maximum": 10}, {"type": "string"}, {"type": "null"}]}
    found = parameter(union).schema
    assert [(a.types, a.get("maximum"), a.location.pointer) for a in found.alternatives] == [
        (("integer",), 10, f"{AT}/oneOf/0"),
        (("string",), None, f"{AT}/oneOf/1"),
    ]


def test_conditions_on_which_properties_are_required_are_no_alternatives() -> None:
    schema = {"properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    entry = {"name": "t", "inputSchema": {"properties": {"p": schema}}}
    assert load(entry, path="x").tools[0].parameters[0].schema.alternatives == ()


def test_nested_parameters_name_the_way_to_them() -> None:
    schema = {
        "type": "object",
        "properties": {
            "request": {"type": "object", "properties": {"limit": LIMIT}, "required": ["limit"]},
            "filters": {"type": "array", "items": {"type": "object", "properties": {"field": {"type": "string"}}}},
            "by_name": {"additionalProperties": {"properties": {"v": {}}}},
            "pair": {"prefixItems": [{"properties": {"first": {}}}, {"properties": {"second": {}}}]},
            "either": {"anyOf": [{"properties": {"x": {}}}, {"properties": {"y": {}}}]},
        },
        "oneOf": [{"properties": {"mode_a": {}}}, {"properties": {"mode_b": {}}}],
    }
    found = tool(schema)
    assert [".".join(p.path) for p in found.parameters] == [
        *("request", "filters", "by_name", "pair", "either", "mode_a", "mode_b"),
        *("request.limit", "either.x", "either.y"),
        *("filters.[].field", "by_name.*.v", "pair.[].first", "pair.[].second"),
    ]
    assert [p.name for p in found.inputs] == [
        *("request", "filters", "by_name", "pair", "either", "mode_a", "mode_b"),
    ]
    assert [p.required for p in found.parameters if p.path == ("request", "limit")] == [True]


def test_what_a_definition_holds_is_listed_under_its_first_use() -> None:
    defs = {"P": {"type": "object", "properties": {"x": {"type": "number"}}}}
    found = tool({"properties": {"a": {"$ref": "#/$defs/P"}, "b": {"$ref": "#/$defs/P"}}, "$defs": defs})
    assert [p.path for p in found.parameters] == [("a",), ("b",), ("a", "x")]
    assert found.parameters[1].schema.properties["x"].location.use == "/inputSchema/properties/b"


def test_draft_3_required() -> None:
    assert [
        p.required for p in tool({"properties": {"a": {"required": True}, "b": {"required": False}}}).parameters
    ] == [
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("value", "kept"),
    [("10", 10), (" 7 ", 7), ("1.5", 1.5), (10, 10), (10.0, 10.0), ("ten", None), ([], None), (True, None), ("", None)]
    + [(text, None) for text in ("1_000", "１０", "٣", "+5", "010", "0x10", "1.", ".5", "1e999", "nan", "infinity")]
    + [("-3", -3), ("1e3", 1000)],
)
def test_bounds_are_numbers_or_not_there(value: Any, kept: float | None) -> None:
    found = parameter({"type": "integer", "maximum": value}).schema
    assert found.keywords.get("maximum") == kept
    assert ("maximum" in found.keywords) is (kept is not None)


def test_a_bound_that_is_none_is_said() -> None:
    (note,) = notes({"properties": {"p": {"maximum": "ten"}}})
    assert note == f'{AT}/maximum: maximum is the text "ten", not a number, and is not counted'


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1e999"])
def test_bounds_that_are_no_finite_numbers_are_not_counted(text: str) -> None:
    assert "maximum" not in parameter(json.loads(f'{{"type": "number", "maximum": {text}}}')).schema.keywords


@pytest.mark.parametrize("text", ["9" * 5000, "1e999", "Infinity"])
def test_a_bound_beyond_all_that_are_counted_is_said(text: str) -> None:
    read = source.read("tools.json", f'{{"maximum": {text}}}'.encode()).documents[0].value
    (note,) = notes({"properties": {"p": read}})
    assert note == f"{AT}/maximum: maximum is infinite, or larger than any that is counted, and is not counted"


@pytest.mark.parametrize(
    ("schema", "upper", "other", "read"),
    [
        ({"maximum": 50, "default": 100_000}, "maximum", "default", 100_000),
        ({"maximum": 10, "minimum": 100}, "maximum", "minimum", 100),
        ({"maximum": "10", "minimum": "100"}, "maximum", "minimum", 100),
        ({"exclusiveMaximum": 10, "exclusiveMinimum": 100.5}, "exclusiveMaximum", "exclusiveMinimum", 100.5),
        ({"maxItems": 3, "minItems": 5}, "maxItems", "minItems", 5),
        ({"maxLength": 3, "minLength": 5}, "maxLength", "minLength", 5),
    ],
)
def test_bounds_that_contradict_are_said_and_the_larger_counts(
    schema: Any, upper: str, other: str, read: float
) -> None:
    (note,) = notes({"properties": {"p": schema}})
    assert note == f"{AT}/{upper}: {upper} is smaller than {other}: {other} is read as the upper bound"
    assert parameter(schema).schema.keywords[upper] == read


@pytest.mark.parametrize(
    "schema",
    [
        {"maximum": 50, "default": 50, "minimum": 50},
        {"maximum": 50, "default": "100"},
        {"maximum": 50, "default": True},
        {"maximum": 0, "exclusiveMaximum": True, "minimum": -1, "exclusiveMinimum": True},
        {"maximum": 50, "default": math.inf},
        {"maxItems": 2, "default": [1, 2, 3]},
    ],
)
def test_bounds_that_do_not_contradict_are_no_note(schema: Any) -> None:
    assert notes({"properties": {"p": schema}}) == []


def test_the_exclusive_maximum_of_draft_4_stays() -> None:
    found = parameter({"type": "integer", "maximum": 10, "exclusiveMaximum": True}).schema
    assert (found.get("maximum"), found.get("exclusiveMaximum")) == (10, True)


@pytest.mark.parametrize(
    ("schema", "message", "pointer"),
    [
        ({"properties": [1]}, "expected an object of schemas, found a list of 1", "/properties"),
        ({"properties": {"p": 5}}, "expected a schema (an object, true or false), found a number", "/properties/p"),
        ({"properties": {"p": {"items": "x"}}}, "expected a schema (an object, true or false)", "/properties/p/items"),
        (
            {"properties": {"p": {"anyOf": {}}}},
            "expected a list of schemas, found an empty object",
            "/properties/p/anyOf",
        ),
        ({"properties": {"p": {"allOf": 3}}}, "expected a list of schemas, found a number", "/properties/p/allOf"),
        ({"properties": {"p": {"oneOf": [1, 2]}}}, "expected a schema", "/properties/p/oneOf/0"),
        ({"type": "string"}, 'expected an input schema of type "object", found the text "string"', "/type"),
        ([1], "expected an input schema, an object, found a list of 1", ""),
        (5, "expected an input schema, an object, found a number", ""),
    ],
)
def test_a_schema_that_is_none_is_an_error_with_its_place(schema: Any, message: str, pointer: str) -> None:
    with pytest.raises(SourceError) as caught:
        tool(schema)
    assert message in caught.value.message
    assert caught.value.pointer == f"/inputSchema{pointer}"


@pytest.mark.parametrize(
    "schema",
    [None, {}, {"properties": None}, {"type": None}, {"properties": {}}, {"enum": None}, {"$defs": 3}, []],
)
def test_what_says_nothing_is_no_error(schema: Any) -> None:
    assert tool(schema).parameters == ()


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"required": "p"}, "/required: required is no list of names, and only its names are counted"),
        ({"required": ["p", 5]}, "/required: required is no list of names, and only its names are counted"),
        ({"properties": []}, "/properties: properties is an empty list, which is read as an empty object"),
        ([], ": the input schema is an empty list, which is read as an empty object"),
        ({"properties": {"p": {"enum": 5}}}, "/properties/p/enum: enum is a number, not a list, and is not read"),
        (
            {"properties": {"p": {"type": "string", "enum": {"a": 1}}}},
            "/properties/p/enum: enum is an object with",
        ),
        ({"properties": {"p": {"$ref": 5}}}, "/properties/p/$ref: $ref is a number, not a text, and is not read"),
        (
            {"properties": {"p": {"$ref": ["#"]}}},
            "/properties/p/$ref: $ref is a list of 1, not a text",
        ),
        ({"additionalProperties": "no"}, '/additionalProperties: additionalProperties is the text "no", not a schema'),
        ({"properties": {"p": {"nullable": "yes"}}}, '/properties/p/nullable: nullable is the text "yes", not true or'),
        ({"properties": {"p": {"description": ["a"]}}}, "/properties/p/description: description is a list of 1, not a"),
        (
            {"properties": {"p": {"type": "string", "description": 5}}},
            "/properties/p/description: description is a",
        ),
        ({"properties": {"p": {"pattern": {}}}}, "/properties/p/pattern: pattern is an empty object, not a text"),
        (
            {"properties": {"p": {"maxItems": -1}}},
            "/properties/p/maxItems: maxItems is -1, which is no count",
        ),
        (
            {"properties": {"p": {"type": "string", "maxLength": -0.5}}},
            "/properties/p/maxLength: maxLength is -0.5",
        ),
        (
            {
                "properties": {"p": {"$ref": "#/$defs/a"}},
                "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
            },
            "/properties/p: $ref #/$defs/a leads in a circle; what it defines is unknown",
        ),
        (
            {"properties": {"p": {"$ref": "#/properties/p", "description": "Me."}}},
            "/properties/p: $ref #/properties/p leads in a circle; what it defines is unknown",
        ),
        (
            {"properties": {"p": {"allOf": [{"$ref": "#/properties/p"}]}}},
            "/properties/p: a schema leads in a circle; what it defines is unknown",
        ),
        ({"properties": {"p": {"$ref": "#/$defs/a"}}, "$defs": []}, "/properties/p: $ref #/$defs/a leads nowhere"),
    ],
)
def test_what_cannot_be_meant_is_said_with_its_place_and_not_counted(schema: Any, message: str) -> None:
    (note,) = notes(schema)
    assert note.startswith(f"/inputSchema{message}")
    for found in tool(schema).parameters:
        assert not {"enum", "nullable", "pattern", "maxItems", "maxLength"} & found.schema.keywords.keys()
        assert isinstance(found.description, str)


_KNOWN = "known are string, boolean, integer, number, object, array"


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ("strnig", "type is the text \"strnig\", which says nothing; did you mean 'string'?"),
        ("Interger", "type is the text \"Interger\", which says nothing; did you mean 'integer'?"),
        (["null", "aray"], "type is the text \"aray\", which says nothing; did you mean 'array'?"),
        ("uuid", f'type is the text "uuid", which says nothing; {_KNOWN}'),
        ("", f"type is an empty text, which says nothing; {_KNOWN}"),
        ("string|integer", "type is the text \"string|integer\", which says nothing; did you mean 'integer'?"),
    ],
)
def test_a_type_that_is_none_is_said_once_with_its_place(stated: Any, said: str) -> None:
    schema = {"properties": {"p": {"type": "string"}, "q": {"type": stated}, "r": {"type": stated, "properties": {}}}}
    assert notes(schema) == [f"/inputSchema/properties/q/type: {said}"]
    assert parameter({"type": stated}).schema.types == ()


def test_each_type_that_is_none_is_said() -> None:
    assert [note.partition(",")[0] for note in notes({"properties": {"p": {"type": ["strnig", "string", "nul"]}}})] == [
        '/inputSchema/properties/p/type: type is the text "strnig"',
        '/inputSchema/properties/p/type: type is the text "nul"',
    ]


@pytest.mark.parametrize(
    "stated",
    ["string", "STRING", "str", "int", "Long", "float", "double", "list", "Tuple", "dict", "date", "file", "bool",
     "NULL", "any", "Any", "TYPE_UNSPECIFIED", ["integer", "null"], ["STRING", "any"]],
    ids=str,
)  # fmt: skip
def test_types_in_other_spellings_and_types_left_open_on_purpose_are_no_note(stated: Any) -> None:
    assert notes({"properties": {"p": {"type": stated}, "q": {"type": stated, "properties": {}}}}) == []


@pytest.mark.parametrize(
    "entry",
    [
        {
            "tools": [
                {"type": "custom", "name": "t", "description": "d"},
                {"type": "function", "name": "f", "parameters": {"type": "object"}},
            ]
        },
        {"type": "custom", "custom": {"name": "t", "description": "d"}},
        {"name": "t", "description": "d", "type": "tool", "arguments": [{"name": "p", "desc": "x", "type": "string"}]},
        {"type": "function", "function": {"name": "t", "parameters": {"type": "object", "properties": {}}}},
    ],
)
def test_the_type_of_an_entry_is_none_of_a_schema(entry: Any) -> None:
    assert load(entry, path="t.json").notes == ()


def test_a_negative_bound_of_a_number_stays() -> None:
    assert parameter({"type": "integer", "maximum": -1}).schema.get("maximum") == -1


def test_a_schema_deeper_than_python_recurses() -> None:
    deep: Any = {"type": "integer"}
    for _ in range(3000):
        deep = {"type": "object", "properties": {"p": deep}}
    found = load({"name": "t", "inputSchema": deep}, path="x")
    assert len(found.tools[0].parameters) == 200
    assert any("200 deep" in note.message for note in found.notes)
    for keyword in ("allOf", "anyOf"):
        deep = {"type": "integer", "maximum": 3}
        for _ in range(3000):
            deep = {keyword: [deep]}
        assert parameter(deep).schema.get("maximum") == 3
    deep = {"type": "integer"}
    for _ in range(3000):
        deep = {"anyOf": [deep, {"type": "string"}]}
    assert parameter(deep).name == "p"


def test_many_uses_of_a_definition_cost_one_definition() -> None:
    big = {"type": "object", "properties": {f"k{n}": {"type": "integer"} for n in range(400)}}
    uses = {f"u{n}": {"$ref": "#/$defs/Big"} for n in range(2000)}
    found = tool({"properties": uses, "$defs": {"Big": big}}, limits=Limits(nodes=20_000))
    assert len(found.parameters) == 2400
    wrapped = {f"u{n}": {"anyOf": [{"$ref": "#/$defs/Big"}, {"type": "null"}], "title": str(n)} for n in range(2000)}
    found = tool({"properties": wrapped, "$defs": {"Big": big}}, limits=Limits(nodes=20_000))
    assert len(found.parameters) == 2400


def test_of_very_many_nested_parameters_the_deepest_are_left_out_and_that_is_said() -> None:
    inner = {"properties": {f"deep{n}": {} for n in range(300)}}
    schema = {"properties": {"a": {"properties": {f"k{n}": inner for n in range(300)}}, "limit": {"type": "integer"}}}
    names = [p.name for p in tool(schema).parameters]
    assert names[:4] == ["a", "limit", "k0", "k1"]
    assert (len(names), "deep0" in names) == (302, False)
    assert notes(schema) == [
        f"{AT[:-1]}a/properties/k0: of inputs with more than 400 nested parameters, the deepest are not looked at"
    ]
    wide = {"properties": {f"p{n}": {} for n in range(2000)}}
    assert (len(tool(wide).parameters), notes(wide)) == (2000, [])


def test_definitions_that_double_at_each_level_stay_small() -> None:
    defs: dict[str, Any] = {"D0": {"type": "object", "properties": {"leaf": LIMIT}}}
    for n in range(1, 60):
        ref = {"$ref": f"#/$defs/D{n - 1}"}
        defs[f"D{n}"] = {"type": "object", "properties": {"a": ref, "b": ref}, "allOf": [dict(ref), dict(ref)]}
    found = tool({"$ref": "#/$defs/D59", "$defs": defs}, limits=Limits(nodes=100_000))
    assert "leaf" in {p.name for p in found.parameters}


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (Limits(nodes=50), "the schemas have more than 50 nodes to follow"),
        (Limits(seconds=0.0), "reading the schemas took more than 0 s"),
    ],
)
def test_limits_end_in_one_located_error(limits: Limits, message: str) -> None:
    schema = {"properties": {f"p{n}": {"type": "object", "properties": {"q": {}}} for n in range(2000)}}
    with pytest.raises(SourceError, match=message) as caught:
        tool(schema, limits=limits)
    assert caught.value.pointer is not None
    assert caught.value.pointer.startswith("/inputSchema/properties/p")


def test_a_limit_on_tools() -> None:
    with pytest.raises(SourceError, match="3 entries in a list of tools, more than 2"):
        load([{"name": "t", "inputSchema": {}}] * 3, path="x", limits=Limits(tools=2))


def test_limits_hold_when_rules_look_deeper() -> None:
    defs = {"A": {"properties": {"a": {"$ref": "#/$defs/B"}, "b": {"$ref": "#/$defs/B"}}}}
    defs["B"] = {"properties": {"c": {"type": "array", "items": {"properties": {"d": {}}}}}}
    found = tool({"type": "object"}, Limits(nodes=4), outputSchema={"$ref": "#/$defs/A", "$defs": defs})

    def all_of(schema: Schema) -> int:
        below = [*schema.properties.values(), *([schema.items] if schema.items else [])]
        return 1 + sum(all_of(child) for child in below)

    assert found.output is not None
    with pytest.raises(SourceError, match="more than 4 nodes"):
        all_of(found.output)


def test_malformed_output_is_an_error_when_it_is_looked_at() -> None:
    with pytest.raises(SourceError, match="expected an output schema, an object, found a number"):
        tool({}, outputSchema=5)
    output = tool({}, outputSchema={"properties": {"hits": {"items": 5}}}).output
    assert output is not None
    with pytest.raises(SourceError) as caught:
        _ = output.properties["hits"].items
    assert caught.value.pointer == "/outputSchema/properties/hits/items"


def test_schemas_are_kept() -> None:
    found = tool({"properties": {"a": {"properties": {"b": {}}}}}).parameters[0].schema
    assert found.properties["b"] is found.properties["b"]
