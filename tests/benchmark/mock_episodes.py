"""A small agent loop for tests of the catalogue, the mock and the defenses: an agent of one's own behind a guard."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dowbench_benchmark.defenses.guard import Guard, Stopped
from dowbench_benchmark.model import Ceiling, Defense, Message, Request, Response, ToolCall, ToolSpec, Usage
from dowbench_benchmark.providers.mock import MockProvider
from dowbench_benchmark.scenario import load_scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dowbench_benchmark.injection import Injection
    from dowbench_benchmark.scenario import World

DESK = load_scenario("parts-desk")
CEILING = Ceiling()


@dataclass
class Trace:
    """What an episode did."""

    status: str = "completed"
    reason: str = ""
    usage: Usage = field(default_factory=Usage)
    requests: list[Request] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    answer: str = ""

    @property
    def cost(self) -> int:
        """Output at four times the price of input, in millionths of a USD."""
        return round(1e6 * usd(self.usage))


def usd(usage: Usage) -> float:
    """Made-up prices: 1 USD per million of input, 4 of output."""
    return (usage.input_tokens + 4 * (usage.output_tokens + usage.reasoning_tokens)) / 1e6


def play(
    model: str,
    task_id: str,
    injection: Injection | None = None,
    wording: int = 0,
    stack: Sequence[Defense] = (),
    ceiling: Ceiling = CEILING,
) -> Trace:
    """One episode on the mock, behind the defenses of ``stack``."""
    world = DESK.world(DESK.tasks[task_id], wording, injection, DESK.system_prompt)
    agent = _Agent(model, world, stack, DESK.tools(task_id), ceiling)
    try:
        agent.trace.answer = agent.converse(world.prompt, 0)
    except Stopped as stopped:
        agent.trace.status, agent.trace.reason = "aborted", str(stopped)
    return agent.trace


class _Agent:
    def __init__(
        self, model: str, world: World, stack: Sequence[Defense], pinned: tuple[ToolSpec, ...], ceiling: Ceiling
    ) -> None:
        self.model = model
        self.world = world
        self.provider = MockProvider()
        self.trace = Trace()
        self.ceiling = ceiling
        self.guard = Guard(stack, model=model, pinned_tools=pinned, ask=self.call, usd=usd)

    def call(self, request: Request) -> Response:
        worst = self.trace.usage.total + self.provider.count(request) + request.max_tokens
        if len(self.trace.responses) >= self.ceiling.max_turns or worst > self.ceiling.max_total_tokens:
            self.trace.status = "censored"
            raise _Censored
        response = self.provider.complete(request)
        self.trace.requests.append(request)
        self.trace.responses.append(response)
        self.trace.usage += response.usage
        return response

    def converse(self, prompt: str, depth: int) -> str:
        try:
            return self._converse(prompt, depth)
        except _Censored:
            return ""

    def _converse(self, prompt: str, depth: int) -> str:
        messages: tuple[Message, ...] = (Message("user", prompt),)
        while True:
            tools = self.guard.tools(self.world.tools(), depth)
            request = Request(self.model, self.world.system, messages, tools, self.ceiling.max_tokens_per_call)
            request = self.guard.before_call(request, depth)
            response = self.call(request)
            self.guard.after_call(request, response, depth)
            if not response.tool_calls:
                if response.stop_reason == "max_tokens":
                    self.trace.status = "truncated"
                return response.text
            results = []
            for call in response.tool_calls:
                self.trace.calls.append(call)
                outcome = self.world.execute(call)
                text = outcome.text if outcome.delegate is None else self.converse(outcome.delegate, depth + 1)
                text = self.guard.tool_result(call, text, depth)
                results.append(Message("tool", text, tool_call_id=call.id, name=call.name))
            answered = Message("assistant", response.text, response.tool_calls, opaque=response.opaque)
            messages = (*request.messages, answered, *results)


class _Censored(Exception):  # noqa: N818
    pass
