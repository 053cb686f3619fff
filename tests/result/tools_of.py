"""Tools as an MCP server would list them, in few words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dowbench.loaders import load
from dowbench.result import Result, describe, shows_snapshots
from dowbench.rulepack import load_pack

if TYPE_CHECKING:
    from dowbench.model import Tool

LEXICON = load_pack().lexicon


def tools(*definitions: dict[str, Any]) -> tuple[Tool, ...]:
    """Tools from their definitions, offered together."""
    return load({"tools": list(definitions)}, path="tools.json").tools


def definition(name: str, description: str = "", /, *, output: Any = None, meta: Any = None, **parameters: Any) -> dict:
    """One definition. A parameter is its type, or its whole schema; a type with ``!`` is required."""
    properties, required = {}, []
    for key, schema in parameters.items():
        if isinstance(schema, str):
            if schema.endswith("!"):
                required.append(key)
            schema = {"type": schema.rstrip("!")}
        properties[key] = schema
    made: dict[str, Any] = {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": required},
    }
    if output is not None:
        made["outputSchema"] = output
    if meta is not None:
        made["_meta"] = meta
    return made


def result(name: str, description: str = "", /, **more: Any) -> Result:
    """What ``describe`` says of one tool that is offered alone."""
    (tool,) = tools(definition(name, description, **more))
    return describe(tool, LEXICON, lambda: shows_snapshots((tool,)))
