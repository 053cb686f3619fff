"""The agent loop: one episode under its ceiling and its defenses.

A turn: ``before_call`` → the call → ``after_call`` → for each tool call its result and ``on_tool_result``. The call
that crosses a cap is billed, its tools are not executed. What is over is said by an exception, from whatever depth:
sub-agents run inside the episode, under the same ceiling.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from dowbench.errors import DowbenchError
from dowbench_benchmark.final_answer import FINAL_ANSWER, as_text
from dowbench_benchmark.model import (
    Abort,
    Ceiling,
    Context,
    Defense,
    Message,
    ProviderError,
    Request,
    Response,
    Status,
    ToolCall,
    ToolSpec,
    TransientError,
    Usage,
    World,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from dowbench_benchmark.prices import Price

Role = Literal["agent", "defense"]
ROLES: tuple[Role, ...] = ("agent", "defense")
MAX_DEPTH = 32


class Meter(Protocol):
    """The loop's only way to a model; live, recorded, or recorded first and then live."""

    def count(self, request: Request) -> int:
        """Upper bound of the prompt tokens of ``request``."""
        ...

    def complete(self, request: Request, counted: int, role: Role, depth: int) -> Response:
        """Call the model. ``counted`` is what ``count`` just said of the same request."""
        ...


class Halt(BaseException):
    """The run ends here, not the episode: no row is written, and a resumed run goes on. Subclasses say why."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an episode ended."""

    status: Status
    reason: str | None
    turns: int
    usage: Usage
    answer: str | None
    """The final answer of a completed episode."""


class _Over(BaseException):
    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


def run_episode(
    world: World,
    defenses: Sequence[Defense],
    meter: Meter,
    *,
    model: str,
    seed: int,
    options: Mapping[str, Any],
    ceiling: Ceiling,
    price: Price | None,
    pinned_tools: tuple[ToolSpec, ...],
    final_answer: bool = False,
) -> Outcome:
    """Run one episode to its end. ``final_answer``: every agent of it is offered that tool.

    Raises ``Halt`` and ``TransientError`` from ``meter``; any other failure, of a provider, a defense or the world, is
    an errored outcome.
    """
    episode = _Episode(world, defenses, meter, model, seed, options, ceiling, price, pinned_tools, final_answer)
    try:
        answer = episode.converse(world.prompt, 0)
    except _Over as over:
        return Outcome(over.status, over.reason, episode.turns, episode.usage, None)
    except TransientError:
        raise
    except ProviderError as error:
        return Outcome("errored", f"provider: {error}", episode.turns, episode.usage, None)
    return Outcome("completed", None, episode.turns, episode.usage, answer)


class _Episode:
    def __init__(
        self,
        world: World,
        defenses: Sequence[Defense],
        meter: Meter,
        model: str,
        seed: int,
        options: Mapping[str, Any],
        ceiling: Ceiling,
        price: Price | None,
        pinned_tools: tuple[ToolSpec, ...],
        final_answer: bool,
    ) -> None:
        self.world = world
        self.defenses = defenses
        self.meter = meter
        self.model = model
        self.seed = seed
        self.options = options
        self.ceiling = ceiling
        self.price = price
        self.pinned_tools = pinned_tools
        self.own_tools = (FINAL_ANSWER,) if final_answer else ()
        self.turns = 0
        self.usage = Usage()
        self.elapsed_s = 0.0

    def converse(self, prompt: str, depth: int) -> str:
        """One agent's conversation; its final answer."""
        if depth > MAX_DEPTH:
            raise _Over("censored", f"ceiling: sub-agents {MAX_DEPTH} deep")
        messages: tuple[Message, ...] = (Message("user", prompt),)
        offered: tuple[ToolSpec, ...] | None = None
        tools: tuple[ToolSpec, ...] = ()
        while True:
            with _blamed("the scenario"):
                current = self.world.tools()
            if offered is None or (current is not offered and current != offered):
                offered = current
                tools = (*self._on_tools(offered, depth), *self.own_tools)
            request = Request(
                self.model,
                self.world.system,
                messages,
                tools,
                self.ceiling.max_tokens_per_call,
                self.seed,
                self.options,
            )
            request = self._before_call(request, depth)
            response = self.call(request, "agent", depth)
            if self.own_tools:
                response = as_text(response)
            self._after_call(request, response, depth)
            if response.stop_reason == "max_tokens" and depth == 0:
                raise _Over("truncated", f"max_tokens of {request.max_tokens} reached")
            if not response.tool_calls:
                if response.stop_reason in ("refusal", "other") and depth == 0:
                    raise _Over("truncated", f"stop reason {response.stop_reason}")
                return response.text
            self._within_ceiling()
            answered = Message("assistant", response.text, response.tool_calls, opaque=response.opaque)
            results = [
                Message("tool", self._result(call, depth), tool_call_id=call.id, name=call.name)
                for call in response.tool_calls
            ]
            messages = (*request.messages, answered, *results)

    def call(self, request: Request, role: Role, depth: int) -> Response:
        """One metered call, refused where it could pass the ceiling."""
        if self.turns >= self.ceiling.max_turns:
            raise _Over("censored", f"ceiling: {self.ceiling.max_turns} turns")
        counted = self.meter.count(request)
        if self.usage.total + counted + request.max_tokens > self.ceiling.max_total_tokens:
            raise _Over("censored", f"ceiling: {self.ceiling.max_total_tokens} tokens")
        response = self.meter.complete(request, counted, role, depth)
        self.turns += 1
        self.usage = self.usage + response.usage
        self.elapsed_s += response.latency_s
        return response

    def _within_ceiling(self) -> None:
        if self.turns >= self.ceiling.max_turns:
            raise _Over("censored", f"ceiling: {self.ceiling.max_turns} turns")
        if self.usage.total >= self.ceiling.max_total_tokens:
            raise _Over("censored", f"ceiling: {self.ceiling.max_total_tokens} tokens")

    def _result(self, call: ToolCall, depth: int) -> str:
        with _blamed(f"tool {call.name!r}"):
            outcome = self.world.execute(call)
        text = outcome.text if outcome.delegate is None else self.converse(outcome.delegate, depth + 1)
        for defense in self.defenses:
            with _blamed(f"defense {defense.name}"):
                answer = defense.on_tool_result(call, text, self._context(depth))
            if isinstance(answer, Abort):
                raise _Over("aborted", f"{defense.name}: {answer.reason}")
            if answer is not None:
                text = answer
        return text

    def _on_tools(self, tools: tuple[ToolSpec, ...], depth: int) -> tuple[ToolSpec, ...]:
        for defense in self.defenses:
            with _blamed(f"defense {defense.name}"):
                answer = defense.on_tools(tools, self._context(depth))
            if isinstance(answer, Abort):
                raise _Over("aborted", f"{defense.name}: {answer.reason}")
            if answer is not None:
                tools = answer
        return tools

    def _before_call(self, request: Request, depth: int) -> Request:
        for defense in self.defenses:
            with _blamed(f"defense {defense.name}"):
                answer = defense.before_call(request, self._context(depth))
            if isinstance(answer, Abort):
                raise _Over("aborted", f"{defense.name}: {answer.reason}")
            if answer is not None:
                messages = request.messages if answer.messages is None else answer.messages
                max_tokens = request.max_tokens if answer.max_tokens is None else answer.max_tokens
                # A defense may tighten the harness's own cap, never lift it.
                max_tokens = max(1, min(max_tokens, self.ceiling.max_tokens_per_call))
                request = replace(request, messages=messages, max_tokens=max_tokens)
        return request

    def _after_call(self, request: Request, response: Response, depth: int) -> None:
        for defense in self.defenses:
            with _blamed(f"defense {defense.name}"):
                answer = defense.after_call(request, response, self._context(depth))
            if answer is not None:
                raise _Over("aborted", f"{defense.name}: {answer.reason}")

    def _context(self, depth: int) -> Context:
        return Context(
            model=self.model,
            turns=self.turns,
            depth=depth,
            usage=self.usage,
            cost_usd=None if self.price is None else self.price.usd(self.usage),
            elapsed_s=self.elapsed_s,
            pinned_tools=self.pinned_tools,
            ask=self._asker(depth),
        )

    def _asker(self, depth: int) -> Callable[[Request], Response]:
        def ask(request: Request) -> Response:
            max_tokens = max(1, min(request.max_tokens, self.ceiling.max_tokens_per_call))
            return self.call(replace(request, model=self.model, max_tokens=max_tokens), "defense", depth)

        return ask


@contextmanager
def _blamed(who: str) -> Iterator[None]:
    """Turn a fault of foreign code into an errored episode that names it."""
    try:
        yield
    except (ProviderError, DowbenchError):
        raise
    except Exception as error:
        raise _Over("errored", f"{who} raised {type(error).__name__}: {error}") from error
