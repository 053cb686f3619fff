"""``depth_budget``: an end to agents that start agents."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from dowbench_benchmark.defenses.checks import at_least_one, names, whole_or_none
from dowbench_benchmark.model import Abort, Context, Defense, Request, Rewrite, ToolSpec


@dataclass(slots=True)
class DepthBudget(Defense):
    """Bounds how deep sub-agents may start sub-agents, and how many there may be in all."""

    name: ClassVar[str] = "depth_budget"
    summary: ClassVar[str] = "depth of delegation, and sub-agents of the episode"
    max_depth: int | None = 1
    """0: no sub-agents; 1: the agent may have sub-agents, they may not; and so on."""
    max_sub_agents: int | None = 3
    delegating_tools: tuple[str, ...] = ()
    """Tools that start a sub-agent, where known: they are not offered at the greatest depth, so that the agent can go
    on without. Others end the episode when they are used there."""
    _sub_agents: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        whole_or_none("max_depth", self.max_depth, minimum=0)
        whole_or_none("max_sub_agents", self.max_sub_agents, minimum=0)
        at_least_one(max_depth=self.max_depth, max_sub_agents=self.max_sub_agents)
        self.delegating_tools = names("delegating_tools", self.delegating_tools)

    def on_tools(self, tools: tuple[ToolSpec, ...], context: Context) -> tuple[ToolSpec, ...] | Abort | None:
        """Offer no delegating tool where it must not be used."""
        if self.max_depth is None or context.depth < self.max_depth:
            return None
        return tuple(tool for tool in tools if tool.name not in self.delegating_tools)

    def before_call(self, request: Request, context: Context) -> Rewrite | Abort | None:
        """End the episode before the first call of a sub-agent that is too deep, or one too many."""
        if self.max_depth is not None and context.depth > self.max_depth:
            return Abort(f"a sub-agent at depth {context.depth}, below {self.max_depth}")
        if context.depth > 0 and not any(message.role == "assistant" for message in request.messages):
            self._sub_agents += 1
            if self.max_sub_agents is not None and self._sub_agents > self.max_sub_agents:
                return Abort(f"more than {self.max_sub_agents} sub-agents were started")
        return None
