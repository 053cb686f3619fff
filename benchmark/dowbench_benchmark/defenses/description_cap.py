"""``description_cap``: an end to the length of tool descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from dowbench_benchmark.defenses.checks import whole
from dowbench_benchmark.model import Abort, Context, Defense, ToolSpec


@dataclass(slots=True)
class DescriptionCap(Defense):
    """Cuts the description of each tool, and of each parameter, to its head. Nothing else of a schema changes."""

    name: ClassVar[str] = "description_cap"
    summary: ClassVar[str] = "characters of each description of a tool or parameter"
    max_description_chars: int = 200

    def __post_init__(self) -> None:
        whole("max_description_chars", self.max_description_chars)

    def on_tools(self, tools: tuple[ToolSpec, ...], context: Context) -> tuple[ToolSpec, ...] | Abort | None:
        """Offer the tools with their descriptions cut."""
        return tuple(
            replace(tool, description=self._cut(tool.description), parameters=self._schema(tool.parameters))
            for tool in tools
        )

    def _cut(self, text: str) -> str:
        return text if len(text) <= self.max_description_chars else text[: self.max_description_chars] + "…"

    def _schema(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {
                key: self._cut(item) if key == "description" and isinstance(item, str) else self._schema(item)
                for key, item in value.items()
            }
        return [self._schema(item) for item in value] if isinstance(value, list) else value
