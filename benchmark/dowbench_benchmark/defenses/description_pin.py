"""``description_pin``: tools stay what they were when the user approved them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dowbench_benchmark.defenses.checks import choice
from dowbench_benchmark.model import Abort, Context, Defense, ToolSpec


@dataclass(slots=True)
class DescriptionPin(Defense):
    """Compares the tools on offer with the approved ones. Whatever differs is put back, or ends the episode.

    It knows nothing of tools that were hostile when they were approved.
    """

    name: ClassVar[str] = "description_pin"
    summary: ClassVar[str] = "changes of tool definitions after they were approved"
    changed: str = "restore"
    """``restore``: the approved definition is offered, and tools that were never approved are not. ``abort``."""

    def __post_init__(self) -> None:
        choice("changed", self.changed, ("restore", "abort"))

    def on_tools(self, tools: tuple[ToolSpec, ...], context: Context) -> tuple[ToolSpec, ...] | Abort | None:
        """Put back, or refuse, what is not as it was approved."""
        pinned = {tool.name: tool for tool in context.pinned_tools}
        different = [tool.name for tool in tools if pinned.get(tool.name) != tool]
        if not different:
            return None
        if self.changed == "abort":
            return Abort(f"the definition of {different[0]} is not the one that was approved")
        return tuple(pinned[tool.name] for tool in tools if tool.name in pinned)
