"""Inputs of any size that look like what people scan. Deterministic, and written for this purpose.

``python generate.py openapi BYTES FILE``, ``mcp TOOLS FILE`` or ``files NUMBER FOLDER``; a ``.yaml`` suffix gives YAML.
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
_FACTS = ("owner", "label", "state", "amount", "currency", "region", "created_at", "updated_at", "notes", "reference")


def _names() -> Iterator[tuple[str, str]]:
    number = 0
    while True:
        for kind, thing in product(_KINDS, _THINGS):
            yield f"{kind}_{thing}{number or ''}", f"{kind} {thing}"
        number += 1


def _record(name: str, words: str) -> dict[str, Any]:
    properties: dict[str, Any] = {
        fact: {"type": "string", "description": f"The {fact.replace('_', ' ')} of the {words}, as it was last saved."}
        for fact in _FACTS
    }
    properties["lines"] = {"type": "array", "items": {"$ref": f"#/components/schemas/{name}_line"}}
    return {"type": "object", "description": f"One {words}.", "required": list(_FACTS[:2]), "properties": properties}


def _operations(name: str, words: str, position: int) -> dict[str, Any]:
    """Paths of one kind of record. Of every three lists one is capped, one has a limit without maximum, one none."""
    item = {"$ref": f"#/components/schemas/{name}"}

    def json_of(schema: dict[str, Any]) -> dict[str, Any]:
        return {"application/json": {"schema": schema}}

    listing: list[dict[str, Any]] = [{"$ref": "#/components/parameters/account"}]
    if position % 3:
        listing.append({"name": "limit", "in": "query", "schema": {"type": "integer"}})
        cursor = {"name": "cursor", "in": "query", "schema": {"type": "string"}, "description": "Where to go on."}
        listing.append(cursor)
    if position % 3 == 1:
        listing[1]["schema"]["maximum"] = 100
    page = {"description": "The list.", "content": json_of({"type": "array", "items": item})}
    identifier = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    return {
        f"/{name}s": {
            "get": {
                "operationId": f"list_{name}s",
                "summary": f"List every {words}",
                "description": f"Returns each {words} that the account may see, the newest first.",
                "parameters": listing,
                "responses": {"200": page},
            },
            "post": {
                "operationId": f"create_{name}",
                "summary": f"Create a new {words}",
                "requestBody": {"content": json_of(item)},
                "responses": {"201": {"description": f"The new {words}.", "content": json_of(item)}},
            },
        },
        f"/{name}s/{{id}}": {
            "parameters": [identifier],
            "get": {
                "operationId": f"get_{name}",
                "summary": f"Read one {words}",
                "responses": {"200": {"description": f"The {words}.", "content": json_of(item)}},
            },
            "delete": {
                "operationId": f"delete_{name}",
                "summary": f"Delete one {words}",
                "responses": {"204": {"description": "It is gone."}},
            },
        },
    }


def openapi(size: int) -> dict[str, Any]:
    """An OpenAPI 3.0 document of about ``size`` bytes when written as JSON with an indent of two."""
    line = {"type": "object", "properties": {"text": {"type": "string"}, "count": {"type": "integer", "maximum": 99}}}
    paths: dict[str, Any] = {}
    schemas: dict[str, Any] = {}
    written = 0
    for position, (name, words) in enumerate(_names()):
        if written >= size:
            break
        part = _operations(name, words, position), {name: _record(name, words), f"{name}_line": line}
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
        write(path, openapi(size) if kind == "openapi" else mcp(size))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
