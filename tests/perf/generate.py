"""Inputs of any size that look like what people scan. Deterministic, and written for this purpose.

``python generate.py openapi-usual BYTES FILE``, ``openapi-terse BYTES FILE``, ``mcp TOOLS FILE`` or
``files NUMBER FOLDER``; a ``.yaml`` suffix gives YAML.
"""

from __future__ import annotations

import json
import sys
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

_KINDS = ("open", "archived", "regional", "shared", "draft", "monthly", "partner", "internal", "signed", "pending")
_THINGS = ("invoice", "shipment", "ticket", "contract", "vehicle", "booking", "sensor", "recipe", "dataset", "comment")
_FACTS: dict[str, tuple[dict[str, Any], str]] = {
    "owner": ({"type": "string"}, "Who answers for the {} and gets its notices. Empty until somebody takes it."),
    "label": ({"type": "string", "maxLength": 80}, "A short name of the {} for people, unique in the account."),
    "state": ({"type": "string", "enum": ["new", "ready", "held", "closed"]}, "Where the {} stands at the moment."),
    "amount": ({"type": "integer", "format": "int64"}, "What the {} is worth, in the smallest unit of its currency."),
    "currency": ({"type": "string", "maxLength": 3}, "Three letters of ISO 4217, in capitals."),
    "region": ({"type": "string"}, "Where the data of the {} is kept. It cannot be changed afterwards."),
    "created_at": ({"type": "string", "format": "date-time"}, "When the {} was made, in UTC."),
    "updated_at": ({"type": "string", "format": "date-time"}, "When the {} was last saved by anyone, in UTC."),
    "notes": ({"type": "string", "nullable": True}, "Remarks that colleagues left on the {}, the newest first."),
    "reference": ({"type": "string"}, "Your own number for the {}, handed back as you gave it."),
    "priority": ({"type": "integer", "minimum": 1, "maximum": 5}, "How urgent the {} is: 1 is the most urgent."),
    "language": ({"type": "string", "default": "en"}, "The language in which letters about the {} are written."),
    "contact": ({"type": "string", "format": "email"}, "Who is written to when something happens to the {}."),
    "url": ({"type": "string", "format": "uri"}, "Where the {} can be seen in the console. The link needs a session."),
    "archived": ({"type": "boolean", "default": False}, "Whether the {} is left out of lists unless it is asked for."),
    "weight": ({"type": "number", "format": "double"}, "In kilograms, or null where the {} has none."),
}
_ERRORS = {
    "400": "A parameter is missing or has a value that is not allowed; `errors` says which.",
    "401": "The key is missing, has expired or was withdrawn.",
    "404": "There is no such {}, or the key may not see it.",
    "429": "Too many requests in the last minute. The header says when to try again.",
}


def _names() -> Iterator[tuple[str, str]]:
    number = 0
    while True:
        for kind, thing in product(_KINDS, _THINGS):
            yield f"{kind}_{thing}{number or ''}", f"{kind} {thing}"
        number += 1


def _properties(words: str, start: int, count: int) -> dict[str, Any]:
    """So many of the facts, from another one on for each record."""
    names = [*_FACTS, *_FACTS][start % len(_FACTS) :][:count]
    return {name: _FACTS[name][0] | {"description": _FACTS[name][1].format(words)} for name in names}


def _json(schema: dict[str, Any], example: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"application/json": {"schema": schema} | ({"example": example} if example else {})}


def _listing(position: int) -> list[dict[str, Any]]:
    """Parameters of a list: of every three lists one is capped, one has a limit without maximum, one none."""
    listing: list[dict[str, Any]] = [{"$ref": "#/components/parameters/account"}]
    if position % 3:
        listing.append({"name": "limit", "in": "query", "schema": {"type": "integer"}})
        cursor = {"name": "cursor", "in": "query", "schema": {"type": "string"}, "description": "Where to go on."}
        listing.append(cursor)
    if position % 3 == 1:
        listing[1]["schema"]["maximum"] = 100
    return listing


def _terse(name: str, words: str, position: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Paths and schemas of one kind of record with the least that is said of each operation."""
    item = {"$ref": f"#/components/schemas/{name}"}
    page = {"description": "The list.", "content": _json({"type": "array", "items": item})}
    paths = {
        f"/{name}s": {
            "get": {
                "operationId": f"list_{name}s",
                "summary": f"List every {words}",
                "description": f"Returns each {words} that the account may see, the newest first.",
                "parameters": _listing(position),
                "responses": {"200": page},
            },
            "post": {
                "operationId": f"create_{name}",
                "summary": f"Create a new {words}",
                "requestBody": {"content": _json(item)},
                "responses": {"201": {"description": f"The new {words}.", "content": _json(item)}},
            },
        },
        f"/{name}s/{{id}}": {
            "parameters": [_identifier(words)],
            "get": {
                "operationId": f"get_{name}",
                "summary": f"Read one {words}",
                "responses": {"200": {"description": f"The {words}.", "content": _json(item)}},
            },
            "delete": {
                "operationId": f"delete_{name}",
                "summary": f"Delete one {words}",
                "responses": {"204": {"description": "It is gone."}},
            },
        },
    }
    return paths, _schemas(name, words, position, 10)


def _identifier(words: str) -> dict[str, Any]:
    schema = {"type": "string"}
    return {"name": "id", "in": "path", "required": True, "schema": schema, "description": f"Which {words}."}


def _schemas(name: str, words: str, position: int, facts: int) -> dict[str, Any]:
    line = {"type": "object", "properties": {"text": {"type": "string"}, "count": {"type": "integer", "maximum": 99}}}
    properties = _properties(words, position, facts)
    properties["lines"] = {"type": "array", "items": {"$ref": f"#/components/schemas/{name}_line"}}
    record = {"type": "object", "description": f"One {words}.", "required": list(properties)[:2]}
    return {name: record | {"properties": properties}, f"{name}_line": line}


def _usual(name: str, words: str, position: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Paths and schemas of one kind of record as large as published descriptions have them (see ``openapi``)."""
    paths, _ = _terse(name, words, position)
    schemas = _schemas(name, words, position, 16)
    one, many = paths[f"/{name}s/{{id}}"], paths[f"/{name}s"]
    one["patch"] = {"operationId": f"update_{name}", "summary": f"Change one {words}", "responses": {}}
    example = {fact: f"{fact} of {name}" for fact in list(_FACTS)[:8]}
    item = {"$ref": f"#/components/schemas/{name}"}
    schemas[f"{name}_change"] = {"type": "object", "properties": _properties(words, position + 5, 16)}
    body = {"$ref": f"#/components/schemas/{name}_change"}
    for number, (path, method) in enumerate(((many, "post"), (one, "patch"))):
        path[method]["requestBody"] = {"required": True, "content": _json(body, example)}
        answer = {"description": f"The {words} as it is now.", "content": _json(item, example)}
        path[method]["responses"] = {("201", "200")[number]: answer}
    many["get"]["parameters"] += [
        {"name": fact, "in": "query", **_query(schema, f"Leave out what has another {fact}. {text.format(words)}")}
        for fact, (schema, text) in list(_FACTS.items())[:6]
    ]
    history = {"type": "array", "items": {"type": "object", "properties": _properties(words, position, 6)}}
    one["get"]["responses"]["200"]["content"] = _json(
        {"allOf": [item, {"type": "object", "properties": {"history": history}}]}, example
    )
    for path in (one, many):
        for method, operation in path.items():
            if method != "parameters":
                operation |= {"tags": [name], "security": [{"key": [f"{name}:{method}"]}]}
                operation["description"] = (
                    f"{operation.get('description', '')} Needs a key with the right to {method} a {words}. "
                    f"Calls from the outside are written into the log of the account with their address."
                ).lstrip()
                operation["responses"] |= {
                    code: {
                        "description": text.format(words),
                        "content": _json({"$ref": "#/components/schemas/problem"}, {"code": int(code), "title": text}),
                    }
                    for code, text in _ERRORS.items()
                }
    return paths, schemas


def _query(schema: dict[str, Any], text: str) -> dict[str, Any]:
    return {"schema": schema, "description": text}


def openapi(size: int, *, terse: bool = False) -> dict[str, Any]:
    """An OpenAPI 3.0 document of about ``size`` bytes when written as JSON with an indent of two.

    Its operations say what those of published descriptions do: filters, bodies with examples, errors, rights, each with
    a text. ``terse``: the least that makes an operation, so as many of them as can be.
    """
    paths: dict[str, Any] = {}
    schemas: dict[str, Any] = {
        "problem": {"type": "object", "properties": {"code": {"type": "integer"}, "title": {"type": "string"}}}
    }
    written = 0
    for position, (name, words) in enumerate(_names()):
        if written >= size:
            break
        part = (_terse if terse else _usual)(name, words, position)
        written += len(json.dumps(part, indent=2))
        paths |= part[0]
        schemas |= part[1]
    account = {"name": "account", "in": "query", "schema": {"type": "string"}, "description": "Whose records to use."}
    return {
        "openapi": "3.0.3",
        "info": {"title": "Records", "version": "1"},
        "paths": paths,
        "components": {"schemas": schemas, "parameters": {"account": account}},
    }


def mcp(count: int) -> dict[str, Any]:
    """A ``tools/list`` result with so many tools, of which every third can return any amount."""
    tools = []
    for position, (name, words) in zip(range(count), _names(), strict=False):
        properties: dict[str, Any] = {
            "query": {"type": "string", "description": f"Words that the {words} must hold."},
            "region": {"type": "string", "enum": ["north", "south"]},
        }
        if position % 3:
            properties["limit"] = {"type": "integer", "maximum": 50, "description": f"How many {words}s to return."}
        tools.append(
            {
                "name": f"search_{name}s",
                "description": f"Search the {words}s of the account and return the full text of each.",
                "inputSchema": {"type": "object", "properties": properties, "required": ["query"]},
            }
        )
    return {"tools": tools}


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    def ignore_aliases(self, data: Any) -> bool:
        return True


def write(path: Path, value: Any) -> None:
    """Write ``value`` in the language of the suffix."""
    with path.open("w", encoding="utf-8") as file:
        if path.suffix == ".yaml":
            yaml.dump(value, file, Dumper=_Dumper, sort_keys=False)
        else:
            json.dump(value, file, indent=2)


def main(kind: str, size: int, path: Path) -> None:
    """Write what was asked for."""
    if kind == "files":
        path.mkdir()
        for number in range(size):
            write(path / f"tools{number}.json", mcp(3))
    else:
        write(path, mcp(size) if kind == "mcp" else openapi(size, terse=kind == "openapi-terse"))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
