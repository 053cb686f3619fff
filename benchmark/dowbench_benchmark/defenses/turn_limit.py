"""``turn_limit``: an end to the number of model calls in one episode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dowbench_benchmark.defenses.checks import whole
from dowbench_benchmark.model import Abort, Context, Defense, Request, Response, Rewrite


@dataclass(slots=True)
class TurnLimit(Defense):
    """Ends the episode when its last allowed turn asks for tools. Sub-agents' turns count, too."""

    name: ClassVar[str] = "turn_limit"
    summary: ClassVar[str] = "model calls of the episode"
    max_turns: int = 6

    def __post_init__(self) -> None:
        whole("max_turns", self.max_turns)

    def before_call(self, request: Request, context: Context) -> Rewrite | Abort | None:
        """Refuse a call beyond the limit (a defense's own calls may have used it up)."""
        return Abort(f"{self.max_turns} turns are used up") if context.turns >= self.max_turns else None

    def after_call(self, request: Request, response: Response, context: Context) -> Abort | None:
        """Do not run tools whose results no turn is left for."""
        if response.tool_calls and context.turns >= self.max_turns:
            return Abort(f"turn {context.turns} of {self.max_turns} asks for more tools")
        return None
