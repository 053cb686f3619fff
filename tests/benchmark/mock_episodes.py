"""A small agent loop for tests of the catalogue and the mock: no defense, no budget, the ceiling of the real one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dowbench_benchmark.model import Ceiling, Message, Request, Response, ToolCall, Usage
from dowbench_benchmark.providers.mock import MockProvider
from dowbench_benchmark.scenario import load_scenario

if TYPE_CHECKING:
    from dowbench_benchmark.injection import Injection
    from dowbench_benchmark.scenario import World

DESK = load_scenario("parts-desk")
CEILING = Ceiling()


@dataclass
class Trace:
    """What an episode did."""

    status: str = "completed"
    usage: Usage = field(default_factory=Usage)
    responses: list[Response] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    answer: str = ""

    @property
    def cost(self) -> int:
        """Output at four times the price of input."""
        return self.usage.input_tokens + 4 * (self.usage.output_tokens + self.usage.reasoning_tokens)


def play(model: str, task_id: str, injection: Injection | None = None, wording: int = 0) -> Trace:
    """One episode on the mock."""
    trace = Trace()
    world = DESK.world(DESK.tasks[task_id], wording, injection, DESK.system_prompt)
    trace.answer = _agent(MockProvider(), model, world, world.prompt, trace)
    return trace


def _agent(provider: MockProvider, model: str, world: World, prompt: str, trace: Trace) -> str:
    messages = [Message("user", prompt)]
    while trace.status == "completed":
        request = Request(model, world.system, tuple(messages), world.tools(), CEILING.max_tokens_per_call)
        worst = trace.usage.total + provider.count(request) + request.max_tokens
        if len(trace.responses) >= CEILING.max_turns or worst > CEILING.max_total_tokens:
            trace.status = "censored"
            break
        response = provider.complete(request)
        trace.responses.append(response)
        trace.usage += response.usage
        messages.append(Message("assistant", response.text, response.tool_calls))
        if not response.tool_calls:
            if response.stop_reason == "max_tokens":
                trace.status = "truncated"
            return response.text
        for call in response.tool_calls:
            trace.calls.append(call)
            outcome = world.execute(call)
            text = outcome.text
            if outcome.delegate is not None:
                text = _agent(provider, model, world, outcome.delegate, trace)
            messages.append(Message("tool", text, tool_call_id=call.id, name=call.name))
    return ""
