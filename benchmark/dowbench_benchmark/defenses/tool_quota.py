"""``tool_quota``: an end to the calls of one tool, and to the calls of one turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar

from dowbench_benchmark.defenses.checks import choice, whole, whole_or_none
from dowbench_benchmark.model import Abort, Context, Defense, Request, Response, ToolCall


@dataclass(slots=True)
class ToolQuota(Defense):
    """Withholds the results of calls beyond a quota, so that the agent can still answer, or ends the episode.

    A withheld call was executed: a harness that can refuse it before should. What is bounded is what the model is
    billed for reading.
    """

    name: ClassVar[str] = "tool_quota"
    summary: ClassVar[str] = "calls of each tool, and tool calls of each turn"
    max_calls_per_tool: int | None = 3
    max_calls_per_turn: int | None = 4
    tools: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Quotas of single tools, in place of ``max_calls_per_tool``."""
    exceeded: str = "withhold"
    """``withhold`` or ``abort``."""
    _by_tool: Counter[str] = field(default_factory=Counter, init=False, repr=False)
    _over: set[str] = field(default_factory=set, init=False, repr=False)

    def __post_init__(self) -> None:
        whole_or_none("max_calls_per_tool", self.max_calls_per_tool)
        whole_or_none("max_calls_per_turn", self.max_calls_per_turn)
        choice("exceeded", self.exceeded, ("withhold", "abort"))
        if not isinstance(self.tools, Mapping):
            raise ValueError(f"tools: expected a mapping of tools to numbers of calls, found {self.tools!r}")
        for tool, quota in self.tools.items():
            whole(f"tools.{tool}", quota, minimum=0)
        if self.max_calls_per_tool is None and self.max_calls_per_turn is None and not self.tools:
            raise ValueError("expected at least one of max_calls_per_tool, max_calls_per_turn, tools")

    def after_call(self, request: Request, response: Response, context: Context) -> Abort | None:
        """Count what was asked for and note which calls are over a quota."""
        for position, call in enumerate(response.tool_calls, 1):
            self._by_tool[call.name] += 1
            quota = self.tools.get(call.name, self.max_calls_per_tool)
            over_tool = quota is not None and self._by_tool[call.name] > quota
            over_turn = self.max_calls_per_turn is not None and position > self.max_calls_per_turn
            if (over_tool or over_turn) and self.exceeded == "abort":
                return Abort(
                    f"more than {quota} calls of {call.name}"
                    if over_tool
                    else f"more than {self.max_calls_per_turn} calls in one turn"
                )
            if over_tool or over_turn:
                self._over.add(call.id)
            else:
                self._over.discard(call.id)
        return None

    def on_tool_result(self, call: ToolCall, result: str, context: Context) -> str | Abort | None:
        """Replace the result of a call that is over a quota."""
        if call.id not in self._over:
            return None
        self._over.discard(call.id)
        return f"[the quota of {call.name} is used up: this result is withheld. Answer with what is known.]"
