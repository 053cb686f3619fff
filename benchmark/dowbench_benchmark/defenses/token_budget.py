"""``token_budget``: an end to what one episode may be billed, and to what one call may write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dowbench_benchmark.defenses.checks import whole
from dowbench_benchmark.model import Abort, Context, Defense, Request, Response, Rewrite


@dataclass(slots=True)
class TokenBudget(Defense):
    """Caps the output of each call and ends the episode once the billed tokens reach the total."""

    name: ClassVar[str] = "token_budget"
    summary: ClassVar[str] = "billed tokens of the episode, output tokens of each call"
    max_total_tokens: int = 8000
    max_tokens_per_call: int = 512

    def __post_init__(self) -> None:
        whole("max_total_tokens", self.max_total_tokens)
        whole("max_tokens_per_call", self.max_tokens_per_call)

    def before_call(self, request: Request, context: Context) -> Rewrite | Abort | None:
        """Refuse a call that has nothing left to spend; else bound its output by what is left."""
        left = self.max_total_tokens - context.usage.total
        if left <= 0:
            return Abort(f"{context.usage.total} of {self.max_total_tokens} tokens are spent")
        return Rewrite(max_tokens=min(request.max_tokens, self.max_tokens_per_call, left))

    def after_call(self, request: Request, response: Response, context: Context) -> Abort | None:
        """Run no tools on a spent budget. An answer that took the last of it is still an answer."""
        if response.tool_calls and context.usage.total >= self.max_total_tokens:
            return Abort(f"{context.usage.total} of {self.max_total_tokens} tokens are spent")
        return None
