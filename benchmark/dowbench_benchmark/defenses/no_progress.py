"""``no_progress``: an end to results that bring nothing new."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar

from dowbench_benchmark.defenses.checks import share, whole
from dowbench_benchmark.model import Abort, Context, Defense, ToolCall


@dataclass(slots=True)
class NoProgress(Defense):
    """Ends the episode after several results in a row whose words, numbers aside, were nearly all seen before."""

    name: ClassVar[str] = "no_progress"
    summary: ClassVar[str] = "tool results in a row that hold hardly a new word"
    max_stale_results: int = 2
    """How many stale results in a row are allowed."""
    min_new_share: float = 0.2
    """A result is stale when less than this share of its different words is new."""
    _words: set[str] = field(default_factory=set, init=False, repr=False)
    _stale: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        whole("max_stale_results", self.max_stale_results)
        share("min_new_share", self.min_new_share)

    def on_tool_result(self, call: ToolCall, result: str, context: Context) -> str | Abort | None:
        """Compare the words with all that were seen; digits do not make a word new."""
        words = set(re.findall(r"[^\W\d_]{2,}", result.lower()))
        new = words - self._words
        self._words |= words
        stale = len(new) < self.min_new_share * len(words) if words else True
        self._stale = self._stale + 1 if stale else 0
        if self._stale > self.max_stale_results:
            return Abort(f"{self._stale} results in a row brought nothing new")
        return None
