"""The OpenAPI validator, when it is asked for: every error at its place, no network."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from dowbench.errors import UsageError
from dowbench.loaders.validate import MOST, validate

pytest.importorskip("openapi_spec_validator")

OK = {"200": {"description": "Ok"}}
PARAMETER = {"name": "limit", "in": "query", "schema": {"type": "integer", "default": "ten"}}


def said(paths: Any, version: str = "3.0.3", **more: Any) -> list[tuple[str | None, str]]:
    document = {"openapi": version, "info": {"title": "t", "version": "1"}, "paths": paths, **more}
    return [(note.pointer, note.message) for note in validate(document, "api.yaml", 2)]


def test_a_valid_document_has_no_errors() -> None:
    for version in ("3.0.3", "3.1.0", "3.2.0"):
        assert said({"/a": {"get": {"responses": OK}}}, version) == []
    swagger = {"swagger": "2.0", "info": {"title": "t", "version": "1"}, "paths": {"/a": {"get": {"responses": OK}}}}
    assert list(validate(swagger, "x")) == []


def test_another_format_is_not_looked_at() -> None:
    assert list(validate([{"name": "t", "inputSchema": 5}], "x")) == []


@pytest.mark.parametrize(
    ("operation", "pointer", "message"),
    [
        ({}, "/paths/~1a/get", "'responses' is a required property"),
        ({"responses": {"200": {}}}, "/paths/~1a/get/responses/200", "'description' is a required property"),
        ({"responses": OK, "parameters": [{"name": "x", "in": "quer", "schema": {}}]}, "in", "'quer' is not one of"),
        ({"responses": OK, "parameters": [PARAMETER]}, "schema", "'ten' is not of type 'integer'"),
        ({"responses": OK, "parameters": [{"$ref": "#/components/parameters/L"}]}, "parameters/L/schema", "'ten'"),
        ({"responses": OK, "x-y": 1, "tags": 5}, "/paths/~1a/get/tags", "5 is not of type 'array'"),
    ],
)
def test_errors_have_their_place(operation: Any, pointer: str, message: str) -> None:
    components = {"parameters": {"L": PARAMETER}} if "$ref" in str(operation) else {}
    at, text = said({"/a": {"get": operation}}, components=components)[0]
    assert at is not None
    assert at.endswith(pointer)
    assert message in text


def test_errors_of_several_operations() -> None:
    operation = {"operationId": "same", "responses": OK}
    assert said({"/a/{id}": {"get": operation}, "/b": {"put": operation}}) == [
        ("/paths/~1a~1{id}/get", "Path parameter 'id' for 'get' operation in '/a/{id}' was not resolved"),
        ("/paths/~1b/put", "Operation ID 'same' for 'put' in '/b' is not unique"),
    ]


@pytest.mark.parametrize("ref", ["other.yaml#/x", "https://127.0.0.1:1/x.json", "file:///etc/passwd", "/etc/passwd"])
def test_other_files_are_never_read(ref: str) -> None:
    ((pointer, message),) = said({"/a": {"get": {"parameters": [{"$ref": ref}], "responses": OK}}})
    assert (pointer, message.startswith("only the form was checked: ")) == ("", True)
    assert ref.split("#")[0] in message


def test_a_reference_that_leads_nowhere() -> None:
    ((_, message),) = said({"/a": {"get": {"responses": {"200": {"$ref": "#/components/nope"}}}}})
    assert "'/components/nope' does not exist" in message
    assert "\n" not in message


def test_long_lists_are_cut() -> None:
    found = said({f"/{n}": {"get": {}} for n in range(MOST + 5)})
    assert len(found) == MOST + 1
    assert found[-1] == (None, "more than 100 errors; the rest is not listed")


@pytest.mark.parametrize(
    "document", [{"openapi": "3.9.0"}, {"openapi": 3.1}, {"openapi": "3.1.0", "paths": 5}, {"swagger": 2.0}]
)
def test_no_document_is_a_crash(document: Any) -> None:
    notes = list(validate(document, "x", 2))
    assert notes
    assert all(note.document == 2 and "\n" not in note.message for note in notes)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openapi_spec_validator", None)
    with pytest.raises(UsageError, match=r"pip install 'dowbench\[validate\]'"):
        list(validate({"openapi": "3.1.0"}, "x"))
