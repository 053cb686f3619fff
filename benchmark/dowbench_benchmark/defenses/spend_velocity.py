"""``spend_velocity``: an end to spending fast."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import ClassVar

from dowbench_benchmark.defenses.checks import at_least_one, positive_or_none
from dowbench_benchmark.model import Abort, Context, Defense, Request, Response

WINDOW_S = 60.0


@dataclass(slots=True)
class SpendVelocity(Defense):
    """Ends the episode when what was billed within the last minute of model time passes a bound.

    Time is the sum of the latencies of the calls, so a replay decides as the run did. There is no default: a sensible
    rate depends on the model's price and speed.
    """

    name: ClassVar[str] = "spend_velocity"
    summary: ClassVar[str] = "USD, or billed tokens, per minute"
    usd_per_minute: float | None = None
    tokens_per_minute: float | None = None
    _history: deque[tuple[float, float, int]] = field(default_factory=deque, init=False, repr=False)
    """(elapsed, USD so far, tokens so far) after each call within the window, and the last one before it."""

    def __post_init__(self) -> None:
        positive_or_none("usd_per_minute", self.usd_per_minute)
        positive_or_none("tokens_per_minute", self.tokens_per_minute)
        at_least_one(usd_per_minute=self.usd_per_minute, tokens_per_minute=self.tokens_per_minute)
        self._history.append((0.0, 0.0, 0))

    def after_call(self, request: Request, response: Response, context: Context) -> Abort | None:
        """Compare what was spent since the window began. Raises ``ValueError`` for USD in an unpriced run."""
        if self.usd_per_minute is not None and context.cost_usd is None:
            raise ValueError("usd_per_minute needs a priced run; use tokens_per_minute")
        spent = context.cost_usd or 0.0
        self._history.append((context.elapsed_s, spent, context.usage.total))
        while len(self._history) > 1 and self._history[1][0] <= context.elapsed_s - WINDOW_S:
            self._history.popleft()
        _, usd_before, tokens_before = self._history[0]
        usd, tokens = spent - usd_before, context.usage.total - tokens_before
        if not response.tool_calls:
            return None
        if self.usd_per_minute is not None and usd > self.usd_per_minute:
            return Abort(f"{usd:.6f} USD within a minute, above {self.usd_per_minute:g}")
        if self.tokens_per_minute is not None and tokens > self.tokens_per_minute:
            return Abort(f"{tokens} tokens within a minute, above {self.tokens_per_minute:g}")
        return None
