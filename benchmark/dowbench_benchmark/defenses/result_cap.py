"""``result_cap``: an end to the length of one tool result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dowbench_benchmark.defenses.checks import whole
from dowbench_benchmark.model import Abort, Context, Defense, ToolCall


def cut(text: str, characters: int) -> str:
    """The head of ``text`` and a note of how many characters were removed; shorter texts stay as they are."""
    if len(text) <= characters:
        return text
    return f"{text[:characters]}\n[{len(text) - characters} more characters were removed]"


@dataclass(slots=True)
class ResultCap(Defense):
    """Keeps the head of a long result and says how much is missing."""

    name: ClassVar[str] = "result_cap"
    summary: ClassVar[str] = "characters of each tool result"
    max_result_chars: int = 2000

    def __post_init__(self) -> None:
        whole("max_result_chars", self.max_result_chars)

    def on_tool_result(self, call: ToolCall, result: str, context: Context) -> str | Abort | None:
        """Cut what is too long."""
        return cut(result, self.max_result_chars) if len(result) > self.max_result_chars else None
