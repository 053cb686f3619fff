"""Which tools of a file differ from an earlier version of it."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from dowbench.pointer import follow, parent, split

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dowbench.model import Finding, Tool, ToolSet

    Sets = Iterable[tuple[Any, ToolSet]]
    """The values of a file's documents, and the tools in each."""


class Changes:
    """How the tools of a file differ from those of an earlier version. Equal ones are counted: a copy is a change."""

    def __init__(self, earlier: Sets, now: Sets) -> None:
        left = Counter((tool.name, digest(value, tool)) for value, tools in earlier for tool in tools.tools)
        gone = Counter(name for name, _ in left.elements())
        self._changed: list[dict[str, list[str]]] = []
        self._tools: list[dict[str, list[str]]] = []
        for value, tools in now:
            changed: dict[str, list[str]] = {}
            every: dict[str, list[str]] = {}
            for tool in tools.tools:
                every.setdefault(tool.name, []).append(tool.location.pointer)
                gone[tool.name] -= 1
                key = (tool.name, digest(value, tool))
                if left[key] > 0:
                    left[key] -= 1
                else:
                    changed.setdefault(tool.name, []).append(tool.location.pointer)
            self._changed.append(changed)
            self._tools.append(every)
        self._shrunk = any(count > 0 for count in gone.values())

    def concern(self, number: int, finding: Finding) -> bool:
        """Whether ``finding``, in the document ``number`` of those now, is on a tool that differs from what it was.

        A finding on a whole set is where one of its tools differs, or the file has lost some.
        """
        changed = self._changed[number]
        if finding.tool is None:
            return bool(changed) or self._shrunk
        namesakes = self._tools[number].get(finding.tool, ())
        own = [pointer for pointer in namesakes if _below(finding.pointer, pointer)] or namesakes
        return not set(own).isdisjoint(changed.get(finding.tool, ()))


def _below(pointer: str, node: str) -> bool:
    return pointer == node or pointer.startswith(f"{node}/")


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
