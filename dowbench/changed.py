"""Which tools of a file differ from an earlier version of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dowbench.pointer import follow, parent, split

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dowbench.model import Tool, ToolSet


class Earlier:
    """The tools of an earlier version of a file."""

    def __init__(self, sets: Iterable[tuple[Any, ToolSet]]) -> None:
        self._tools = {(tool.name, digest(value, tool)) for value, tools in sets for tool in tools.tools}

    def changed(self, value: Any, toolset: ToolSet) -> frozenset[str]:
        """Names of the tools of ``toolset``, read from the document ``value``, that were not there just like this."""
        return frozenset(tool.name for tool in toolset.tools if (tool.name, digest(value, tool)) not in self._tools)

    def shrunk(self, toolset: ToolSet) -> bool:
        """Whether tools went away."""
        return bool({name for name, _ in self._tools} - {tool.name for tool in toolset.tools})


def digest(value: Any, tool: Tool) -> str:
    """The definition of ``tool`` with all that its local references lead to, as canonical JSON."""
    reached: dict[str, Any] = {"": tool.definition}
    holder = _at(value, parent(tool.location.pointer))
    if tool.method is not None and isinstance(holder, dict):  # what an OpenAPI path says for all its operations
        reached["/"] = holder.get("parameters")
    pending = list(reached.values())
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            reference = node.get("$ref")
            if isinstance(reference, str) and reference.startswith("#/") and reference not in reached:
                reached[reference] = _at(value, reference[1:])
                pending.append(reached[reference])
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)
    return json.dumps(reached, sort_keys=True, default=str)


def _at(value: Any, pointer: str) -> Any:
    found = follow(value, split(pointer))
    return found[0] if found else None
