"""``total_result_cap``: an end to the length of all tool results of an episode together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from dowbench_benchmark.defenses.checks import whole
from dowbench_benchmark.defenses.result_cap import cut
from dowbench_benchmark.model import Abort, Context, Defense, ToolCall


@dataclass(slots=True)
class TotalResultCap(Defense):
    """Lets results through until their characters are used up, then only says that they are."""

    name: ClassVar[str] = "total_result_cap"
    summary: ClassVar[str] = "characters of all tool results of the episode"
    max_total_result_chars: int = 8000
    _used: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        whole("max_total_result_chars", self.max_total_result_chars)

    def on_tool_result(self, call: ToolCall, result: str, context: Context) -> str | Abort | None:
        """Cut the result that crosses the bound; withhold those after it."""
        left = max(0, self.max_total_result_chars - self._used)
        self._used += len(result)
        if len(result) <= left:
            return None
        return cut(result, left) if left else "[this result was withheld: the space for tool results is used up]"
