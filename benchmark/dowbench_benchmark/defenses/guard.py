"""The defenses of the benchmark around an agent of one's own: the hooks of a stack, and what they need to know.

An agent's loop asks the guard at four places, and stops at ``Stopped``::

    guard = Guard(build_stack([("token_budget", {}), ("result_cap", {"max_result_chars": 4000})]), model="…")
    tools = guard.tools(tools)
    while True:
        request = guard.before_call(request)
        response = …                       # call the model with request
        guard.after_call(request, response)
        for call in response.tool_calls:
            text = guard.tool_result(call, …)   # what the tool returned

A guard serves one run of the agent; sub-agents use the same guard with ``depth`` raised by one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from dowbench_benchmark.model import Abort, Context, Request, Response, ToolCall, ToolSpec, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dowbench_benchmark.model import Defense

_Answer = TypeVar("_Answer")


class Stopped(Exception):  # noqa: N818
    """A defense ended the run. What was spent stays spent."""

    def __init__(self, defense: str, reason: str) -> None:
        super().__init__(f"{defense}: {reason}")
        self.defense = defense
        self.reason = reason


class Guard:
    """A stack of defenses, asked in order, and the account they go by.

    ``ask`` calls the model for defenses that need it (``result_summary``); its usage is added to the account.
    ``usd`` gives the price of usage, for defenses that bound money. ``pinned_tools`` are the approved definitions.
    """

    def __init__(
        self,
        defenses: Sequence[Defense],
        *,
        model: str,
        pinned_tools: tuple[ToolSpec, ...] = (),
        ask: Callable[[Request], Response] | None = None,
        usd: Callable[[Usage], float] | None = None,
    ) -> None:
        self.defenses = tuple(defenses)
        self.model = model
        self.usage = Usage()
        self.turns = 0
        self.elapsed_s = 0.0
        self._pinned_tools = pinned_tools
        self._ask = ask
        self._usd = usd

    def tools(self, tools: Sequence[ToolSpec], depth: int = 0) -> tuple[ToolSpec, ...]:
        """The tools to offer. Ask again when the list changes."""
        offered = tuple(tools)
        for defense in self.defenses:
            answer = defense.on_tools(offered, self._context(depth))
            if answer is not None:
                offered = _unless_aborted(defense, answer)
        return offered

    def before_call(self, request: Request, depth: int = 0) -> Request:
        """The request to send. ``max_tokens`` is only ever lowered."""
        for defense in self.defenses:
            answer = defense.before_call(request, self._context(depth))
            if answer is not None:
                change = _unless_aborted(defense, answer)
                request = replace(
                    request,
                    messages=request.messages if change.messages is None else change.messages,
                    max_tokens=request.max_tokens
                    if change.max_tokens is None
                    else max(1, min(request.max_tokens, change.max_tokens)),
                )
        return request

    def after_call(self, request: Request, response: Response, depth: int = 0) -> None:
        """Account for a call; raises ``Stopped`` before its tools are run."""
        self._account(response)
        for defense in self.defenses:
            answer = defense.after_call(request, response, self._context(depth))
            if answer is not None:
                _unless_aborted(defense, answer)

    def tool_result(self, call: ToolCall, text: str, depth: int = 0) -> str:
        """What the model is to see of a tool's result."""
        for defense in self.defenses:
            answer = defense.on_tool_result(call, text, self._context(depth))
            if answer is not None:
                text = _unless_aborted(defense, answer)
        return text

    def _account(self, response: Response) -> None:
        self.usage = self.usage + response.usage
        self.turns += 1
        self.elapsed_s += response.latency_s

    def _asked(self, request: Request) -> Response:
        if self._ask is None:
            raise ValueError("this stack calls the model: give the guard an 'ask'")
        response = self._ask(request)
        self._account(response)
        return response

    def _context(self, depth: int) -> Context:
        return Context(
            model=self.model,
            turns=self.turns,
            depth=depth,
            usage=self.usage,
            cost_usd=None if self._usd is None else self._usd(self.usage),
            elapsed_s=self.elapsed_s,
            pinned_tools=self._pinned_tools,
            ask=self._asked,
        )


def _unless_aborted(defense: Defense, answer: _Answer | Abort) -> _Answer:
    if isinstance(answer, Abort):
        raise Stopped(defense.name, answer.reason)
    return answer
