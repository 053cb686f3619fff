"""The short way in which rule files write tools down, and the MCP document it stands for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dowbench.rulepack.reading import FaultError, Path, kind_of, mapping

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TOOL_KEYS = (
    "name",
    "title",
    "description",
    "parameters",
    "required",
    "inputSchema",
    "outputSchema",
    "annotations",
    "_meta",
)
TYPES = ("string", "integer", "number", "boolean", "object", "array")


def tool(value: Any, at: Path) -> dict[str, Any]:
    """The MCP tool that a short form stands for.

    ``parameters`` maps a name to a type (``string``, ``string[]``, ``object``; with ``!`` behind it: required) or to a
    JSON Schema; ``inputSchema`` gives the whole schema instead.
    """
    keys = dict(mapping(value, at, TOOL_KEYS, ("name",)))
    if "inputSchema" in keys and "parameters" in keys:
        raise FaultError("give `parameters` or `inputSchema`, not both", (*at, "inputSchema"))
    properties, required = {}, list(keys.pop("required", []))
    parameters = keys.pop("parameters", {})
    if not isinstance(parameters, dict):
        raise FaultError(f"expected a mapping of parameters, found {kind_of(parameters)}", (*at, "parameters"))
    for name, part in parameters.items():
        if isinstance(part, str) and part.endswith("!"):
            required.append(name)
        properties[name] = _schema(part, (*at, "parameters", name))
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    keys.setdefault("inputSchema", schema)
    if isinstance(keys.get("outputSchema"), str):
        keys["outputSchema"] = _schema(keys["outputSchema"], (*at, "outputSchema"))
    return keys


def _schema(value: Any, at: Path) -> Any:
    if isinstance(value, dict):
        return value
    if isinstance(value, str):
        name = value.removesuffix("!")
        if name.removesuffix("[]") in TYPES:
            plain = {"type": name.removesuffix("[]")}
            return {"type": "array", "items": plain} if name.endswith("[]") else plain
    raise FaultError(f"expected one of {', '.join(TYPES)} (with [] or !) or a schema, found {kind_of(value)}", at)


def document(tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The MCP ``tools/list`` result that holds these tools."""
    return {"tools": tools}


def as_json(value: Any, at: Path) -> str:
    """A tool in short form as the JSON that somebody would have in a file; text stands as it is."""
    if isinstance(value, str):
        return value.rstrip()
    return json.dumps(tool(value, at), indent=2, ensure_ascii=False)
