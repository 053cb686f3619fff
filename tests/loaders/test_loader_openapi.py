"""OpenAPI and Swagger: what becomes a tool, a parameter, an output, and where each of them stands."""

from __future__ import annotations

from typing import Any

import pytest

from dowbench.errors import SourceError
from dowbench.loaders import load
from dowbench.model import Location, Tool, ToolSet

LIMIT = {"name": "limit", "in": "query", "description": "At most this.", "schema": {"type": "integer", "maximum": 50}}
CREATE = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "tags": {"type": "array"}},
    "required": ["title"],
}


def api(paths: Any, version: str = "3.0.3", **more: Any) -> ToolSet:
    return load({"openapi": version, "info": {}, "paths": paths, **more}, path="api.yaml")


def operation(fields: Any, method: str = "get", **more: Any) -> Tool:
    return api({"/items": {method: fields}}, **more).tools[0]


def swagger(fields: Any, **more: Any) -> Tool:
    return load({"swagger": "2.0", "paths": {"/items": {"post": fields}}, **more}, path="api.json").tools[0]


def success(media: str, key: str = "schema", **schema: Any) -> Any:
    return {"description": "Ok", "content": {media: {key: schema}}}


def failure(paths: Any, **more: Any) -> SourceError:
    with pytest.raises(SourceError) as caught:
        api(paths, **more)
    assert caught.value.pointer is not None
    return caught.value


def test_an_operation_is_a_tool() -> None:
    found = api(
        {
            "/items": {"get": {"operationId": "listItems", "summary": "List.", "description": "All of them."}},
            "/items/{id}": {"delete": {}, "x-note": {}, "summary": "One item", "servers": []},
            "x-paths": {"get": {}},
        },
        webhooks={"new": {"post": {"operationId": "hook"}}},
    )
    assert [(t.name, t.method, t.description, t.location.pointer) for t in found.tools] == [
        ("listItems", "get", "List.\nAll of them.", "/paths/~1items/get"),
        ("DELETE /items/{id}", "delete", "", "/paths/~1items~1{id}/delete"),
    ]
    assert found.tools[0].description_location == Location("/paths/~1items/get/description")
    assert found.location == Location("/paths")


def test_a_summary_that_the_description_repeats_is_left_out() -> None:
    assert operation({"summary": "List items.", "description": "List items of a shop."}).description == (
        "List items of a shop."
    )
    found = operation({"summary": "List items."})
    assert found.description_location == Location("/paths/~1items/get/summary")


def test_methods_in_capitals_are_read_and_told() -> None:
    found = api({"/a": {"GET": {"operationId": "find"}, "post": {}, "gett": {}, "x-Get": {}, "note": "x"}})
    assert [(t.name, t.method, t.location.pointer) for t in found.tools] == [
        ("POST /a", "post", "/paths/~1a/post"),
        ("find", "get", "/paths/~1a/GET"),
    ]
    assert {(note.pointer, note.message) for note in found.notes} == {
        ("/paths/~1a/GET", 'the method "GET" is written "get" in OpenAPI, and read as that'),
        ("/paths/~1a/gett", 'the unknown key "gett" of a path is not read'),
    }
    error = failure({"/a": {"additionalOperations": [{}]}})
    assert (error.pointer, error.message) == (
        "/paths/~1a/additionalOperations",
        "expected an object of operations, found a list of 1",
    )


@pytest.mark.parametrize("version", ["3.0.0", "3.1.0", "3.1", "3.2.0", 3.1])
def test_versions_that_are_read(version: Any) -> None:
    assert [t.name for t in api({"/a": {"get": {}}}, version=version).tools] == ["GET /a"]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"openapi": "4.0.0", "paths": {}}, 'expected OpenAPI 3.0, 3.1 or 3.2, found the text "4.0.0"'),
        ({"openapi": "31", "paths": {}}, 'expected OpenAPI 3.0, 3.1 or 3.2, found the text "31"'),
        ({"swagger": "1.2", "apis": []}, 'expected Swagger 2.0, found the text "1.2"'),
        ({"openapi": "3.0.0"}, 'expected "paths"'),
        ({"openapi": "3.0.0", "paths": []}, "expected an object of paths, found an empty list"),
    ],
)
def test_documents_that_are_refused(document: Any, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        load(document, path="api.yaml")
    assert message in str(caught.value)


def test_query_and_additional_operations_of_3_2() -> None:
    item = {"query": {"operationId": "search"}, "additionalOperations": {"COPY": {"summary": "Copies."}}}
    assert [(t.name, t.method) for t in api({"/a": item}, version="3.2.0").tools] == [
        ("search", "query"),
        ("COPY /a", "copy"),
    ]


def test_parameters_of_the_path_are_overridden_by_those_of_the_operation() -> None:
    item = {
        "parameters": [LIMIT, {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
        "get": {"parameters": [{**LIMIT, "schema": {"type": "integer", "maximum": 5}}]},
        "post": {"parameters": [{**LIMIT, "in": "header"}]},
    }
    get, post = api({"/a": item}).tools
    assert [(p.name, p.place, p.schema.get("maximum"), p.required, p.location.pointer) for p in get.parameters] == [
        ("limit", "query", 5, False, "/paths/~1a/get/parameters/0"),
        ("id", "path", None, True, "/paths/~1a/parameters/1"),
    ]
    assert [(p.name, p.place) for p in post.parameters] == [("limit", "query"), ("id", "path"), ("limit", "header")]


def test_a_parameter_behind_two_references() -> None:
    components = {
        "parameters": {"Limit": {"$ref": "#/components/parameters/Cap"}, "Cap": {**LIMIT, "schema": {"$ref": "#/s"}}},
    }
    document = {"/a": {"get": {"parameters": [{"$ref": "#/components/parameters/Limit"}]}}}
    (found,) = api(document, components=components, s={"type": "integer", "maximum": 9}).tools[0].parameters
    assert found.location == Location("/components/parameters/Cap", "/paths/~1a/get/parameters/0")
    assert found.schema.location == Location("/s", "/components/parameters/Cap/schema")
    assert (found.name, found.description, found.schema.get("maximum")) == ("limit", "At most this.", 9)


def test_a_parameter_with_content_and_one_that_is_an_object() -> None:
    filter_schema = {"type": "object", "properties": {"page": {"type": "object", "properties": {"size": {}}}}}
    found = operation(
        {
            "parameters": [
                {"name": "filter", "in": "query", "content": {"application/json": {"schema": filter_schema}}},
                {"name": "sort", "in": "query"},
                {"name": "q", "in": "query", "schema": {"type": "string", "description": "Of the schema."}},
            ]
        }
    )
    assert [(".".join(p.path), p.place) for p in found.parameters] == [
        *(("filter", "query"), ("sort", "query"), ("q", "query")),
        *(("filter.page", "query"), ("filter.page.size", "query")),
    ]
    assert found.parameters[2].description == "Of the schema."
    assert found.parameters[3].location.pointer == (
        "/paths/~1items/get/parameters/0/content/application~1json/schema/properties/page"
    )


def test_the_members_of_a_body_are_parameters() -> None:
    body = {"content": {"application/xml": {"schema": {}}, "application/json": {"schema": {"$ref": "#/components/C"}}}}
    found = operation({"requestBody": body}, "post", components={"C": CREATE})
    assert [(p.name, p.path, p.place, p.required, p.schema.types) for p in found.parameters] == [
        ("title", ("title",), "body", True, ("string",)),
        ("tags", ("tags",), "body", False, ("array",)),
    ]
    assert found.parameters[0].location == Location(
        "/components/C/properties/title",
        "/paths/~1items/post/requestBody/content/application~1json/schema",
    )


def test_a_body_behind_a_reference() -> None:
    components = {"requestBodies": {"Create": {"content": {"application/json": {"schema": CREATE}}}}}
    found = operation({"requestBody": {"$ref": "#/components/requestBodies/Create"}}, "post", components=components)
    assert found.parameters[0].location == Location(
        "/components/requestBodies/Create/content/application~1json/schema/properties/title",
        "/paths/~1items/post/requestBody",
    )


@pytest.mark.parametrize(
    ("media", "expected"),
    [
        (["multipart/form-data", "application/x-www-form-urlencoded"], "multipart/form-data"),
        (["text/plain", "application/x-www-form-urlencoded"], "application/x-www-form-urlencoded"),
        (["application/x-www-form-urlencoded", "application/vnd.api+json"], "application/vnd.api+json"),
        (["application/merge-patch+json", "application/json; charset=utf-8"], "application/json; charset=utf-8"),
        (["application/octet-stream"], "application/octet-stream"),
    ],
)
def test_which_body_is_read(media: list[str], expected: str) -> None:
    content = {m: {"schema": {"type": "object", "properties": {m: {}}}} for m in media}
    assert [p.name for p in operation({"requestBody": {"content": content}}, "post").parameters] == [expected]


@pytest.mark.parametrize(
    ("schema", "types", "nested"),
    [
        ({"type": "array", "items": {"properties": {"id": {}}}}, ("array",), [("body", "[]", "id")]),
        ({"type": "string", "format": "binary"}, ("string",), []),
        ({"type": "object", "additionalProperties": {"type": "string"}}, ("object",), []),
        ({}, (), []),
    ],
)
def test_a_body_that_is_no_object_is_one_parameter(schema: Any, types: Any, nested: Any) -> None:
    body = {"required": True, "description": "All.", "content": {"application/json": {"schema": schema}}}
    found = operation({"requestBody": body}, "post").parameters
    assert [(p.name, p.required, p.description, p.schema.types, p.place) for p in found[:1]] == [
        ("body", True, "All.", types, "body")
    ]
    assert [p.path for p in found[1:]] == nested
    assert found[0].location.pointer == "/paths/~1items/post/requestBody/content/application~1json/schema"


def test_alternative_bodies() -> None:
    schema = {"oneOf": [{"properties": {"url": {}}}, {"properties": {"text": {}}}]}
    body = {"content": {"application/json": {"schema": schema}}}
    assert [p.name for p in operation({"requestBody": body}, "post").parameters] == ["url", "text"]


def test_the_output_is_what_a_success_returns() -> None:
    components = {
        "responses": {"Items": {"description": "Some items.", "content": {"application/json": {"schema": CREATE}}}}
    }
    responses = {
        "400": {"description": "Bad.", "content": {"application/json": {"schema": {"type": "string"}}}},
        "200": {"$ref": "#/components/responses/Items"},
        "204": {"description": "Nothing."},
        "206": {"description": "Part.", "content": {"text/event-stream": {}, "image/png": {"schema": {}}}},
        "default": {"description": "Error.", "content": {"application/json": {"schema": {"type": "boolean"}}}},
    }
    found = operation({"responses": responses}, components=components)
    assert found.output is not None
    assert found.output.types == ("object",)
    assert found.output.location == Location(
        "/components/responses/Items/content/application~1json/schema", "/paths/~1items/get/responses/200"
    )
    assert found.output_media == ("application/json", "text/event-stream", "image/png")


@pytest.mark.parametrize(
    ("responses", "types", "media"),
    [
        (None, None, ()),
        ({}, None, ()),
        ({"204": {"description": "Gone."}}, None, ()),
        ({"404": {"description": "No."}}, None, ()),
        ({"2XX": success("text/csv", type="string")}, "string", ("text/csv",)),
        ({"default": success("a/json", type="array")}, "array", ("a/json",)),
        ({200: success("a/json", type="array")}, "array", ("a/json",)),
        ({"200": success("text/event-stream", "itemSchema", type="object")}, "object", ("text/event-stream",)),
        ({"200": {"description": "E", "content": {"image/png": {}}}}, "", ("image/png",)),
    ],
)
def test_outputs(responses: Any, types: str | None, media: tuple[str, ...]) -> None:
    found = operation({"responses": responses})
    got = None if found.output is None else "".join(found.output.types)
    assert (got, found.output_media) == (types, media)


def test_vendor_extensions_stay() -> None:
    parameter = {**LIMIT, "schema": {"type": "integer", "x-cap": 7}}
    found = operation({"parameters": [parameter], "x-long": True})
    assert found.parameters[0].schema.get("x-cap") == 7
    assert found.definition["x-long"] is True


def test_swagger_2() -> None:
    found = swagger(
        {
            "operationId": "upload",
            "produces": ["application/pdf"],
            "parameters": [
                {
                    "name": "limit",
                    "in": "query",
                    "type": "integer",
                    "maximum": 30,
                    "description": "Cap.",
                    "required": True,
                },
                {"name": "item", "in": "body", "schema": {"$ref": "#/definitions/Create"}},
            ],
            "responses": {"200": {"description": "Pages.", "schema": {"type": "array", "items": {"type": "string"}}}},
        },
        definitions={"Create": CREATE},
    )
    assert [(p.name, p.place, p.required, p.schema.types, p.schema.get("maximum")) for p in found.parameters] == [
        ("limit", "query", True, ("integer",), 30),
        ("title", "body", True, ("string",), None),
        ("tags", "body", False, ("array",), None),
    ]
    assert found.parameters[1].location == Location(
        "/definitions/Create/properties/title", "/paths/~1items/post/parameters/1/schema"
    )
    assert (found.output and found.output.types, found.output_media) == (("array",), ("application/pdf",))


def test_swagger_2_forms_and_shared_parameters() -> None:
    found = swagger(
        {
            "parameters": [
                {"$ref": "#/parameters/Limit"},
                {"name": "photo", "in": "formData", "type": "file", "required": True},
                {"name": "rows", "in": "body", "schema": {"type": "array", "items": {"type": "string"}}},
            ]
        },
        parameters={"Limit": {"name": "limit", "in": "query", "type": "integer"}},
        produces=["application/json"],
    )
    assert [(p.name, p.place, p.schema.types) for p in found.parameters] == [
        ("limit", "query", ("integer",)),
        ("photo", "body", ("string",)),
        ("rows", "body", ("array",)),
    ]
    assert found.parameters[0].location == Location("/parameters/Limit", "/paths/~1items/post/parameters/0")


def test_a_path_item_behind_a_reference() -> None:
    components = {"pathItems": {"Items": {"get": {"operationId": "list"}, "parameters": [LIMIT]}}}
    (found,) = api({"/items": {"$ref": "#/components/pathItems/Items"}}, "3.1.0", components=components).tools
    assert found.location == Location("/components/pathItems/Items/get", "/paths/~1items")
    assert [p.location.pointer for p in found.parameters] == ["/components/pathItems/Items/parameters/0"]


@pytest.mark.parametrize(
    ("paths", "message", "pointer"),
    [
        (
            {"/a": {"get": {"$ref": "a.yaml"}}},
            "the operation GET /a is defined in another file (a.yaml), which is not followed; bundle",
            "/paths/~1a/get",
        ),
        ({"/a": {"$ref": "a.yaml#/a"}}, "the path /a is defined in another file (a.yaml#/a)", "/paths/~1a"),
        ({"/a": {"$ref": "#/no"}}, "the path /a is a $ref to #/no, which leads nowhere", "/paths/~1a"),
        ({"/a": {"get": {}}, "/b": 5}, "expected the path /b to be an object, found a number", "/paths/~1b"),
        ({"/a": {"get": {}, "put": "x"}}, "expected the operation PUT /a to be an object, found the", "/paths/~1a/put"),
        (
            {"/a": {"get": {"parameters": {}}}},
            "expected a list of parameters, found an empty",
            "/paths/~1a/get/parameters",
        ),
        (
            {"/a": {"get": {"parameters": [7]}}},
            "expected a parameter, an object, found a",
            "/paths/~1a/get/parameters/0",
        ),
        ({"/a": {"get": {"parameters": [{}]}}}, "expected the name of a parameter", "/paths/~1a/get/parameters/0"),
        ({"/a": {"get": {"requestBody": 1}}}, "expected a request body, an object", "/paths/~1a/get/requestBody"),
        ({"/a": {"get": {"requestBody": {"content": []}}}}, "media types", "/paths/~1a/get/requestBody/content"),
        ({"/a": {"get": {"responses": []}}}, "expected an object of responses", "/paths/~1a/get/responses"),
        ({"/a": {"get": {"responses": {"200": 1}}}}, "expected a response", "/paths/~1a/get/responses/200"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(paths: Any, message: str, pointer: str) -> None:
    error = failure(paths)
    assert message in error.message
    assert error.pointer == pointer


def test_parts_in_other_files_are_unknown_and_said() -> None:
    found = api(
        {
            "/a": {
                "post": {
                    "parameters": [
                        {"$ref": "common.yaml#/limit"},
                        {"name": "q", "in": "query", "schema": {"$ref": "q.json"}},
                    ],
                    "requestBody": {"$ref": "body.yaml"},
                    "responses": {"200": {"$ref": "ok.yaml"}},
                }
            }
        }
    )
    assert [(p.name, p.schema.types) for p in found.tools[0].parameters] == [("q", ())]
    assert found.tools[0].output is None
    assert [(note.message.split()[1], note.pointer) for note in found.notes] == [
        ("common.yaml#/limit", "/paths/~1a/post/parameters/0"),
        ("q.json", "/paths/~1a/post/parameters/1/schema"),
        ("body.yaml", "/paths/~1a/post/requestBody"),
        ("ok.yaml", "/paths/~1a/post/responses/200"),
    ]


def test_notes_are_few() -> None:
    parameters = [{"name": f"p{n}", "in": "query", "schema": {"$ref": f"s{n}.json"}} for n in range(50)]
    notes = api({"/a": {"get": {"parameters": parameters}}}).notes
    assert len(notes) == 21
    assert notes[-1].message == "and 30 more notes like these"


@pytest.mark.parametrize("fields", [None, {}, {"parameters": None, "requestBody": None, "responses": None}])
def test_empty_operations(fields: Any) -> None:
    if fields is None:
        assert api({"/a": None}).tools == ()
    else:
        assert operation(fields).parameters == ()
