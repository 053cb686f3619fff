"""``loop_detect``: an end to calling the same thing again."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import ClassVar

from dowbench_benchmark.defenses.checks import at_least_one, whole_or_none
from dowbench_benchmark.model import Abort, Context, Defense, Request, Response, ToolCall


def identity(call: ToolCall) -> str:
    """Tool and canonical arguments: the order of keys and ``3`` against ``3.0`` make no difference."""
    return call.name + json.dumps(_plain(call.arguments), sort_keys=True, ensure_ascii=False, default=str)


def _plain(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


@dataclass(slots=True)
class LoopDetect(Defense):
    """Counts the calls that the model asks for, and ends the episode at the first that is one too many."""

    name: ClassVar[str] = "loop_detect"
    summary: ClassVar[str] = "identical tool calls, calls of one tool, and tool calls in all"
    max_identical_calls: int | None = 2
    max_calls_per_tool: int | None = 4
    max_total_tool_calls: int | None = None
    _identical: Counter[str] = field(default_factory=Counter, init=False, repr=False)
    _by_tool: Counter[str] = field(default_factory=Counter, init=False, repr=False)

    def __post_init__(self) -> None:
        whole_or_none("max_identical_calls", self.max_identical_calls)
        whole_or_none("max_calls_per_tool", self.max_calls_per_tool)
        whole_or_none("max_total_tool_calls", self.max_total_tool_calls)
        at_least_one(
            max_identical_calls=self.max_identical_calls,
            max_calls_per_tool=self.max_calls_per_tool,
            max_total_tool_calls=self.max_total_tool_calls,
        )

    def after_call(self, request: Request, response: Response, context: Context) -> Abort | None:
        """Count before anything runs: none of the tools of the turn that crosses a bound is executed."""
        for call in response.tool_calls:
            self._identical[identity(call)] += 1
            self._by_tool[call.name] += 1
            if self.max_identical_calls is not None and self._identical[identity(call)] > self.max_identical_calls:
                return Abort(f"more than {self.max_identical_calls} identical calls of {call.name}")
            if self.max_calls_per_tool is not None and self._by_tool[call.name] > self.max_calls_per_tool:
                return Abort(f"more than {self.max_calls_per_tool} calls of {call.name}")
            if self.max_total_tool_calls is not None and self._by_tool.total() > self.max_total_tool_calls:
                return Abort(f"more than {self.max_total_tool_calls} tool calls")
        return None
