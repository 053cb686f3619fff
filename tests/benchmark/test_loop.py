"""The agent loop: hooks, ceilings, statuses."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import pytest
from dowbench_benchmark.defenses.description_cap import DescriptionCap
from dowbench_benchmark.defenses.description_pin import DescriptionPin
from dowbench_benchmark.defenses.loop_detect import LoopDetect
from dowbench_benchmark.final_answer import FINAL_ANSWER
from dowbench_benchmark.loop import Meter, Outcome, Role, run_episode
from dowbench_benchmark.model import (
    Abort,
    Ceiling,
    Context,
    Defense,
    Message,
    ProviderError,
    Request,
    Response,
    Rewrite,
    StopReason,
    ToolCall,
    ToolOutcome,
    ToolSpec,
    TransientError,
    Usage,
)

READ = ToolSpec("read", "Reads.", {"type": "object", "properties": {}})


def answer(text: str = "done", stop: StopReason = "end_turn", *, tokens: int = 10) -> Response:
    return Response(text, (), stop, Usage(input_tokens=tokens), {}, "m", 0.5)


def calls(*names: str, stop: StopReason = "tool_use", tokens: int = 10, opaque: Any = None) -> Response:
    wanted = tuple(ToolCall(f"c{i}", name, {"i": i}) for i, name in enumerate(names))
    return Response("", wanted, stop, Usage(input_tokens=tokens), {}, "m", 0.5, opaque)


@dataclass
class Script(Meter):
    """Answers in order; the last one again and again."""

    responses: list[Response | Exception]
    counted: int = 5
    requests: list[Request] = field(default_factory=list)
    roles: list[Role] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)

    def count(self, request: Request) -> int:
        return self.counted

    def complete(self, request: Request, counted: int, role: Role, depth: int) -> Response:
        assert counted == self.counted
        self.requests.append(request)
        self.roles.append(role)
        self.depths.append(depth)
        response = self.responses[min(len(self.requests), len(self.responses)) - 1]
        if isinstance(response, Exception):
            raise response
        return response


@dataclass
class World:
    """Tools that answer with their own name."""

    prompt: str = "go"
    system: str = "sys"
    executed: list[ToolCall] = field(default_factory=list)
    delegate: dict[str, str] = field(default_factory=dict)
    lists: list[tuple[ToolSpec, ...]] = field(default_factory=lambda: [(READ,)])
    asked: int = 0

    def tools(self) -> tuple[ToolSpec, ...]:
        self.asked += 1
        return self.lists[min(self.asked, len(self.lists)) - 1]

    def execute(self, call: ToolCall) -> ToolOutcome:
        self.executed.append(call)
        if call.name == "broken":
            raise RuntimeError("boom")
        return ToolOutcome(f"result of {call.name}", self.delegate.get(call.name))


def run(
    script: Script, world: World | None = None, *defenses: Defense, final_answer: bool = False, **ceiling: int
) -> Outcome:
    return run_episode(
        world or World(),
        defenses,
        script,
        model="m",
        seed=7,
        options={"temperature": 1},
        ceiling=Ceiling(**ceiling),
        price=None,
        pinned_tools=(READ,),
        final_answer=final_answer,
    )


def test_an_answer_completes() -> None:
    script = Script([answer("forty-two")])
    assert run(script) == Outcome("completed", None, 1, Usage(input_tokens=10), "forty-two")
    (request,) = script.requests
    assert (request.model, request.system, request.max_tokens, request.seed) == ("m", "sys", 1024, 7)
    assert request.options == {"temperature": 1}
    assert [(m.role, m.content) for m in request.messages] == [("user", "go")]


def test_parallel_results_come_back_in_one_turn_behind_the_turn_as_it_was() -> None:
    script = Script([calls("read", "find", opaque={"signature": "s"}), answer()])
    assert run(script).turns == 2
    user, assistant, first, second = script.requests[1].messages
    assert user.content == "go"
    assert (assistant.role, assistant.opaque) == ("assistant", {"signature": "s"})
    assert [(m.role, m.tool_call_id, m.name, m.content) for m in (first, second)] == [
        ("tool", "c0", "read", "result of read"),
        ("tool", "c1", "find", "result of find"),
    ]


@pytest.mark.parametrize("stop", ["max_tokens", "refusal", "other"])
def test_an_answer_cut_short_is_truncated(stop: StopReason) -> None:
    outcome = run(Script([answer("half", stop)]))
    assert (outcome.status, outcome.answer) == ("truncated", None)
    assert outcome.reason is not None
    assert stop in outcome.reason


def test_calls_of_a_cut_turn_are_not_executed() -> None:
    world = World()
    assert run(Script([calls("read", stop="max_tokens")]), world).status == "truncated"
    assert world.executed == []


def test_a_turn_that_says_end_but_calls_is_a_turn_with_calls() -> None:
    world = World()
    assert run(Script([calls("read", stop="end_turn"), answer()]), world).status == "completed"
    assert len(world.executed) == 1


def test_the_turn_ceiling_censors_without_executing_the_last_calls() -> None:
    world = World()
    outcome = run(Script([calls("read")]), world, max_turns=3)
    assert (outcome.status, outcome.reason, outcome.turns) == ("censored", "ceiling: 3 turns", 3)
    assert len(world.executed) == 2


def test_the_last_allowed_turn_may_answer() -> None:
    assert run(Script([calls("read"), answer()]), None, max_turns=2).status == "completed"


def test_a_call_that_might_pass_the_token_ceiling_is_not_sent() -> None:
    script = Script([calls("read", tokens=60)], counted=30)
    outcome = run(script, None, max_tokens_per_call=10, max_total_tokens=100)
    # 0 + 30 + 10 fits, 60 + 30 + 10 fits, then 120 is above.
    assert (outcome.status, outcome.reason) == ("censored", "ceiling: 100 tokens")
    assert (len(script.requests), outcome.usage.total) == (2, 120)


def test_an_exact_fit_is_sent() -> None:
    script = Script([answer()], counted=90)
    assert run(script, None, max_tokens_per_call=10, max_total_tokens=100).status == "completed"
    script = Script([answer()], counted=91)
    outcome = run(script, None, max_tokens_per_call=10, max_total_tokens=100)
    assert (outcome.status, outcome.turns, script.requests) == ("censored", 0, [])


def test_a_failed_call_is_an_errored_episode_and_a_transient_one_is_none() -> None:
    outcome = run(Script([calls("read"), ProviderError("400 bad", billed=False)]))
    assert (outcome.status, outcome.reason, outcome.turns) == ("errored", "provider: 400 bad", 1)
    with pytest.raises(TransientError):
        run(Script([TransientError("503")]))


def test_a_fault_of_the_world_is_an_errored_episode() -> None:
    outcome = run(Script([calls("broken")]))
    assert (outcome.status, outcome.reason) == ("errored", "tool 'broken' raised RuntimeError: boom")


@dataclass
class Watcher(Defense):
    """Notes its hooks, and answers with what it was given."""

    name: ClassVar[str] = "watcher"
    before: Any = None
    after: Any = None
    result: Any = None
    tools: Any = None
    seen: list[tuple[str, int, int, float]] = field(default_factory=list)

    def _note(self, hook: str, context: Context) -> None:
        self.seen.append((hook, context.turns, context.usage.total, context.elapsed_s))

    def on_tools(self, tools: tuple[ToolSpec, ...], context: Context) -> Any:
        self._note("on_tools", context)
        return self.tools

    def before_call(self, request: Request, context: Context) -> Any:
        self._note("before_call", context)
        if isinstance(self.before, Exception):
            raise self.before
        return self.before

    def after_call(self, request: Request, response: Response, context: Context) -> Any:
        self._note("after_call", context)
        return self.after

    def on_tool_result(self, call: ToolCall, result: str, context: Context) -> Any:
        self._note("on_tool_result", context)
        return self.result


def test_hooks_and_their_order() -> None:
    watcher = Watcher()
    run(Script([calls("read", "find"), answer()]), None, watcher)
    assert watcher.seen == [
        ("on_tools", 0, 0, 0.0),
        ("before_call", 0, 0, 0.0),
        ("after_call", 1, 10, 0.5),
        ("on_tool_result", 1, 10, 0.5),
        ("on_tool_result", 1, 10, 0.5),
        ("before_call", 1, 10, 0.5),
        ("after_call", 2, 20, 1.0),
    ]


def test_a_changed_tool_list_is_shown_to_the_defenses_again() -> None:
    more = (READ, ToolSpec("extra", "More.", {}))
    watcher = Watcher()
    script = Script([calls("read"), calls("read"), answer()])
    run(script, World(lists=[(READ,), more, more]), watcher)
    assert [hook for hook, *_ in watcher.seen].count("on_tools") == 2
    assert [len(request.tools) for request in script.requests] == [1, 2, 2]


def test_only_on_tools_changes_tools() -> None:
    script = Script([answer()])
    run(script, None, Watcher(tools=()))
    assert script.requests[0].tools == ()


def test_a_rewritten_conversation_is_carried_on() -> None:
    script = Script([calls("read"), answer()])
    note = Message("user", "short")
    run(script, None, Watcher(before=Rewrite(messages=(note,), max_tokens=64)))
    assert script.requests[0].messages == (note,)
    assert [request.max_tokens for request in script.requests] == [64, 64]


def test_a_defense_cannot_lift_the_ceiling_of_a_call() -> None:
    script = Script([answer()])
    run(script, None, Watcher(before=Rewrite(max_tokens=99_999)))
    assert script.requests[0].max_tokens == 1024
    run(script, None, Watcher(before=Rewrite(max_tokens=-5)))
    assert script.requests[1].max_tokens == 1


@pytest.mark.parametrize(
    ("watcher", "turns", "executed"),
    [
        (Watcher(tools=Abort("no")), 0, 0),
        (Watcher(before=Abort("no")), 0, 0),
        (Watcher(after=Abort("no")), 1, 0),
        (Watcher(result=Abort("no")), 1, 1),
    ],
)
def test_an_abort_keeps_what_was_billed(watcher: Watcher, turns: int, executed: int) -> None:
    world = World()
    outcome = run(Script([calls("read", "find")]), world, watcher)
    assert (outcome.status, outcome.reason, outcome.turns) == ("aborted", "watcher: no", turns)
    assert outcome.usage.total == 10 * turns
    assert len(world.executed) == executed


def test_a_rewritten_result_reaches_the_model_and_the_next_defense() -> None:
    second = Watcher()
    script = Script([calls("read"), answer()])
    run(script, None, Watcher(result="short"), second)
    assert script.requests[1].messages[-1].content == "short"


def test_a_fault_of_a_defense_names_it() -> None:
    outcome = run(Script([answer()]), None, Watcher(before=KeyError("x")))
    assert (outcome.status, outcome.reason) == ("errored", "defense watcher raised KeyError: 'x'")


class Asker(Defense):
    """Asks the model about each result."""

    name: ClassVar[str] = "asker"

    def on_tool_result(self, call: ToolCall, result: str, context: Context) -> str:
        request = Request("another-model", "", (Message("user", result),), (), 9999)
        return context.ask(request).text


def test_a_defense_that_asks_is_billed_and_bound() -> None:
    script = Script([calls("read"), answer("summary"), answer("final")])
    outcome = run(script, None, Asker())
    assert (outcome.status, outcome.turns, outcome.usage.total, outcome.answer) == ("completed", 3, 30, "final")
    assert script.roles == ["agent", "defense", "agent"]
    assert (script.requests[1].model, script.requests[1].max_tokens) == ("m", 1024)
    assert script.requests[2].messages[-1].content == "summary"
    assert run(Script([calls("read"), answer()]), None, Asker(), max_turns=2).status == "censored"


def test_sub_agents_run_inside_the_episode() -> None:
    script = Script([calls("spawn"), answer("from below"), answer("from above")])
    outcome = run(script, World(delegate={"spawn": "do it"}))
    assert (outcome.status, outcome.turns, outcome.answer) == ("completed", 3, "from above")
    assert script.depths == [0, 1, 0]
    assert script.requests[1].messages[0].content == "do it"
    assert script.requests[2].messages[-1].content == "from below"


def test_endless_delegation_meets_the_ceiling() -> None:
    outcome = run(Script([calls("spawn")]), World(delegate={"spawn": "again"}), max_turns=5)
    assert (outcome.status, outcome.reason, outcome.turns) == ("censored", "ceiling: 5 turns", 5)
    deep = run(Script([calls("spawn")]), World(delegate={"spawn": "again"}), max_turns=500)
    assert (deep.status, deep.reason) == ("censored", "ceiling: sub-agents 32 deep")


# ---- a tool that ends the task


def final(arguments: dict[str, Any], *others: str, text: str = "", stop: StopReason = "tool_use") -> Response:
    ending = ToolCall("c9", FINAL_ANSWER.name, arguments)
    turn = calls(*others, stop=stop)
    return replace(turn, text=text, tool_calls=(*turn.tool_calls, ending))


def test_a_final_answer_ends_the_task() -> None:
    script, world = Script([calls("read"), final({"answer": "45 days"})]), World()
    outcome = run(script, world, final_answer=True)
    assert outcome == Outcome("completed", None, 2, Usage(input_tokens=20), "45 days")
    assert [request.tools for request in script.requests] == [(READ, FINAL_ANSWER)] * 2
    assert [call.name for call in world.executed] == ["read"]


@pytest.mark.parametrize(
    ("turn", "answer_given"),
    [
        (final({"answer": "a"}, "read"), "a"),
        (final({"answer": 45}, text="45 days"), "45 days"),
        (final({}), ""),
        (answer("in plain words"), "in plain words"),
    ],
)
def test_whatever_stands_beside_a_final_answer_is_not_executed(turn: Response, answer_given: str) -> None:
    world = World()
    assert run(Script([turn]), world, final_answer=True).answer == answer_given
    assert world.executed == []


def test_a_final_answer_that_was_cut_is_truncated() -> None:
    assert run(Script([final({"answer": "4"}, stop="max_tokens")]), final_answer=True).status == "truncated"


def test_a_final_answer_of_a_sub_agent_is_its_result() -> None:
    script = Script([calls("delegate"), final({"answer": "7.40"}), answer("it is 7.40")])
    assert run(script, World(delegate={"delegate": "find out"}), final_answer=True).answer == "it is 7.40"
    assert script.depths == [0, 1, 0]
    assert script.requests[2].messages[-1].content == "7.40"


def test_defenses_neither_see_nor_stop_a_final_answer() -> None:
    strict = LoopDetect(max_identical_calls=None, max_calls_per_tool=None, max_total_tool_calls=1)
    script = Script([calls("read"), final({"answer": "done"})])
    outcome = run(script, World(), DescriptionPin(changed="abort"), DescriptionCap(4), strict, final_answer=True)
    assert outcome.status == "completed"
    assert script.requests[0].tools[1] == FINAL_ANSWER


def test_the_tool_is_there_only_where_it_is_asked_for() -> None:
    world = World()
    script = Script([final({"answer": "done"}), answer()])
    assert run(script, world).answer == "done"
    assert script.requests[0].tools == (READ,)
    assert [call.name for call in world.executed] == [FINAL_ANSWER.name]
