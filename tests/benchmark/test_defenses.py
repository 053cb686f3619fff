"""Each defense does at its hooks what it says, alone and in a stack, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from dowbench_benchmark import defenses
from dowbench_benchmark.attacks import load_attacks
from dowbench_benchmark.defenses import DEFENSES, build, build_stack, describe, parameters
from dowbench_benchmark.defenses.context_clearing import CLEARED
from dowbench_benchmark.defenses.guard import Guard, Stopped
from dowbench_benchmark.defenses.similarity import jaccard, ngrams
from dowbench_benchmark.model import (
    Abort,
    Context,
    Defense,
    Message,
    Request,
    Response,
    Rewrite,
    ToolCall,
    ToolSpec,
    Usage,
)
from hypothesis import given
from hypothesis import strategies as st
from mock_episodes import DESK, Trace, play

from dowbench.errors import UsageError

ATTACKS = load_attacks(DESK)
NEEDED: dict[str, dict[str, Any]] = {"spend_velocity": {"tokens_per_minute": 8000}}
"""Parameters of defenses that have no default."""
READ = ToolSpec("read", "Reads.", {"type": "object", "properties": {"id": {"type": "string"}}})


def refuse(request: Request) -> Response:
    raise AssertionError("this defense calls no model")


def context(**values: Any) -> Context:
    base = Context("m", 0, 0, Usage(), None, 0.0, (READ,), refuse)
    return replace(base, **values)


def request(*messages: Message, max_tokens: int = 1000) -> Request:
    return Request("m", "s", messages or (Message("user", "hello"),), (READ,), max_tokens)


def response(*calls: ToolCall, text: str = "") -> Response:
    return Response(text, calls, "tool_use" if calls else "end_turn", Usage(), {}, None, 1.0)


def call(name: str = "read", ident: str = "c1", **arguments: Any) -> ToolCall:
    return ToolCall(ident, name, arguments)


def attacked(attack_id: str, *stack: tuple[str, dict[str, Any]], model: str = "mock-susceptible") -> Trace:
    attack = ATTACKS[attack_id]
    return play(model, attack.task_id, attack.payload, stack=build_stack(stack))


# ------------------------------------------------------------------------------------------------- the table


def test_the_table_builds_every_defense_with_its_defaults() -> None:
    assert set(DEFENSES) >= {"token_budget", "turn_limit", "loop_detect", "result_cap"}
    assert len(DEFENSES) >= 10
    for name in DEFENSES:
        defense = build(name, NEEDED.get(name, {}))
        assert isinstance(defense, Defense)
        assert describe(name).name == name
        assert describe(name).summary
        assert describe(name).__doc__


def test_the_defaults_of_the_first_four() -> None:
    assert parameters(describe("token_budget")) == {"max_total_tokens": 8000, "max_tokens_per_call": 512}
    assert parameters(describe("turn_limit")) == {"max_turns": 6}
    assert parameters(describe("loop_detect")) == {
        "max_identical_calls": 2, "max_calls_per_tool": 4, "max_total_tool_calls": None
    }  # fmt: skip
    assert parameters(describe("result_cap")) == {"max_result_chars": 2000}


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    with pytest.raises(
        UsageError,
        match=r"unknown defense 'turn_limits'; did you mean 'turn_limit'\? known: token_budget",
    ):
        build("turn_limits", {})
    with pytest.raises(UsageError, match="'turn_limit' has no parameter 'turns'; its parameters are max_turns"):
        build("turn_limit", {"turns": 3})
    with pytest.raises(UsageError, match="has no parameter '_stale'"):
        build("no_progress", {"_stale": 3})


@pytest.mark.parametrize(
    ("name", "params", "said"),
    [
        ("token_budget", {"max_total_tokens": 0}, "max_total_tokens: expected a whole number of at least 1, found 0"),
        ("token_budget", {"max_tokens_per_call": 1.5}, "max_tokens_per_call: expected a whole number"),
        ("turn_limit", {"max_turns": True}, "max_turns: expected a whole number of at least 1, found True"),
        ("turn_limit", {"max_turns": None}, "max_turns: expected a whole number"),
        ("loop_detect", {"max_identical_calls": -1}, "max_identical_calls: expected a whole number"),
        ("loop_detect", {"max_identical_calls": None, "max_calls_per_tool": None}, "expected at least one of max_iden"),
        ("result_cap", {"max_result_chars": "2000"}, "max_result_chars: expected a whole number"),
        ("total_result_cap", {"max_total_result_chars": 0}, "max_total_result_chars: expected a whole number"),
        ("tool_quota", {"tools": {"read": -1}}, "tools.read: expected a whole number of at least 0, found -1"),
        ("tool_quota", {"tools": ["read"]}, "tools: expected a mapping"),
        ("tool_quota", {"exceeded": "ignore"}, "exceeded: expected one of withhold, abort, found 'ignore'"),
        ("tool_quota", {"max_calls_per_tool": None, "max_calls_per_turn": None}, "expected at least one of max_calls"),
        ("result_summary", {"max_summary_tokens": 0}, "max_summary_tokens: expected a whole number"),
        ("similar_loop", {"similarity": 0}, "similarity: expected a number above 0 and up to 1, found 0"),
        ("similar_loop", {"similarity": float("nan")}, "similarity: expected a number above 0"),
        ("similar_loop", {"basis": "text"}, "basis: expected one of arguments, results, both, either"),
        ("no_progress", {"min_new_share": 1.1}, "min_new_share: expected a number above 0 and up to 1"),
        ("error_breaker", {"prefixes": "error"}, "prefixes: expected a list of names, found 'error'"),
        ("error_breaker", {"prefixes": [3]}, "prefixes: expected a list of names, found 3 in it"),
        ("spend_velocity", {}, "expected at least one of usd_per_minute, tokens_per_minute"),
        ("spend_velocity", {"usd_per_minute": float("inf")}, "usd_per_minute: expected a finite number above 0"),
        ("description_cap", {"max_description_chars": 0}, "max_description_chars: expected a whole number"),
        ("description_pin", {"changed": "keep"}, "changed: expected one of restore, abort"),
        ("context_clearing", {"keep": -1}, "keep: expected a whole number of at least 0"),
        ("depth_budget", {"max_depth": None, "max_sub_agents": None}, "expected at least one of max_depth"),
        ("depth_budget", {"delegating_tools": [""]}, "delegating_tools: expected a list of names"),
    ],
)
def test_parameters_are_checked(name: str, params: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        build(name, params)
    assert f"defense {name!r}: {said}" in str(caught.value)


@pytest.mark.parametrize("name", DEFENSES)
def test_no_state_outlives_an_episode(name: str) -> None:
    """The same stack, built anew, does the same: nothing is kept in the class or the module."""
    params = NEEDED.get(name, {})
    for attack_id in ("stale-copy-01", "halves-01", "try-shortly-01"):
        first, second = attacked(attack_id, (name, params)), attacked(attack_id, (name, params))
        assert (first.status, first.reason, first.usage) == (second.status, second.reason, second.usage)


@pytest.mark.parametrize("name", DEFENSES)
def test_an_ordinary_task_is_left_alone(name: str) -> None:
    for task_id in ("returns-window", "order-departure", "delegated-carriage"):
        plain = play("mock-susceptible", task_id)
        guarded = play("mock-susceptible", task_id, stack=[build(name, NEEDED.get(name, {}))])
        assert (guarded.status, guarded.answer, guarded.usage) == ("completed", plain.answer, plain.usage)


# ---------------------------------------------------------------------------------------------- one by one


def test_token_budget() -> None:
    budget = build("token_budget", {"max_total_tokens": 100, "max_tokens_per_call": 60})
    assert budget.before_call(request(), context()) == Rewrite(max_tokens=60)
    assert budget.before_call(request(max_tokens=20), context()) == Rewrite(max_tokens=20)
    assert budget.before_call(request(), context(usage=Usage(90))) == Rewrite(max_tokens=10)
    assert budget.before_call(request(), context(usage=Usage(70, 30))) == Abort("100 of 100 tokens are spent")
    assert budget.after_call(request(), response(call()), context(usage=Usage(99))) is None
    assert isinstance(budget.after_call(request(), response(call()), context(usage=Usage(101))), Abort)
    assert budget.after_call(request(), response(text="done"), context(usage=Usage(101))) is None
    trace = attacked("long-appendix-01", ("token_budget", {"max_total_tokens": 4000}))
    assert trace.status == "aborted"
    assert trace.reason.startswith("token_budget: ")
    assert all(r.max_tokens <= 512 for r in trace.requests)


def test_turn_limit() -> None:
    limit = build("turn_limit", {"max_turns": 2})
    assert limit.before_call(request(), context(turns=1)) is None
    assert limit.before_call(request(), context(turns=2)) == Abort("2 turns are used up")
    assert limit.after_call(request(), response(call()), context(turns=1)) is None
    assert limit.after_call(request(), response(text="done"), context(turns=2)) is None
    assert isinstance(limit.after_call(request(), response(call()), context(turns=2)), Abort)
    trace = attacked("end-mark-01", ("turn_limit", {"max_turns": 4}))
    assert (trace.status, len(trace.responses), len(trace.calls)) == ("aborted", 4, 3)


def test_loop_detect_counts_identical_calls_calls_of_a_tool_and_all() -> None:
    detect = build("loop_detect", {})
    for ident in ("a", "b"):
        assert detect.after_call(request(), response(call(ident=ident, id="x", n=1)), context()) is None
    again = response(call(ident="c", n=1.0, id="x"))
    assert detect.after_call(request(), again, context()) == Abort("more than 2 identical calls of read")
    detect = build("loop_detect", {"max_identical_calls": None, "max_calls_per_tool": 2})
    three = response(*(call(ident=str(n), id=n) for n in range(3)))
    assert detect.after_call(request(), three, context()) == Abort("more than 2 calls of read")
    detect = build("loop_detect", {"max_total_tool_calls": 2})
    mixed = response(call("a"), call("b"), call("c"))
    assert detect.after_call(request(), mixed, context()) == Abort("more than 2 tool calls")
    trace = attacked("stale-copy-01", ("loop_detect", {}))
    assert (trace.status, len(trace.calls)) == ("aborted", 2)


def test_result_cap_keeps_the_head_and_says_what_is_missing() -> None:
    cap = build("result_cap", {"max_result_chars": 5})
    assert cap.on_tool_result(call(), "12345", context()) is None
    assert cap.on_tool_result(call(), "1234567", context()) == "12345\n[2 more characters were removed]"
    assert attacked("row-by-row-01", ("result_cap", {"max_result_chars": 300})).cost < attacked("row-by-row-01").cost


def test_total_result_cap_withholds_what_comes_after() -> None:
    cap = build("total_result_cap", {"max_total_result_chars": 10})
    assert cap.on_tool_result(call(), "1234567", context()) is None
    assert cap.on_tool_result(call(), "abcde", context()) == "abc\n[2 more characters were removed]"
    withheld = cap.on_tool_result(call(), "more", context())
    assert isinstance(withheld, str)
    assert "withheld" in withheld
    assert "more" not in withheld


def test_tool_quota_withholds_or_aborts() -> None:
    quota = build("tool_quota", {"max_calls_per_tool": 1, "max_calls_per_turn": 2, "tools": {"free": 9, "never": 0}})
    calls = [call("read", "1"), call("read", "2"), call("free", "3")]
    assert quota.after_call(request(), response(*calls), context()) is None
    assert quota.on_tool_result(calls[0], "secret", context()) is None
    for over in calls[1:]:
        text = quota.on_tool_result(over, "secret", context())
        assert isinstance(text, str)
        assert "secret" not in text
    assert quota.after_call(request(), response(call("never", "4")), context()) is None
    assert isinstance(quota.on_tool_result(call("never", "4"), "secret", context()), str)
    strict = build("tool_quota", {"max_calls_per_turn": 1, "exceeded": "abort"})
    assert strict.after_call(request(), response(*calls), context()) == Abort("more than 1 calls in one turn")
    assert attacked("open-cursor-01", ("tool_quota", {"max_calls_per_tool": 2})).status == "completed"


def test_tool_quota_is_not_confused_by_a_call_id_that_returns() -> None:
    quota = build("tool_quota", {"max_calls_per_tool": 1, "max_calls_per_turn": 1})
    quota.after_call(request(), response(call("a", "x"), call("b", "x")), context())
    assert isinstance(quota.on_tool_result(call("b", "x"), "r", context()), str)
    quota.after_call(request(), response(call("c", "x")), context())
    assert quota.on_tool_result(call("c", "x"), "r", context()) is None


def test_result_summary_asks_the_model_and_is_billed_for_it() -> None:
    asked: list[Request] = []

    def ask(question: Request) -> Response:
        asked.append(question)
        return response(text="All in short.")

    summary = build("result_summary", {"min_chars": 10, "max_summary_tokens": 50})
    assert summary.on_tool_result(call(), "short", context(ask=ask)) is None
    text = summary.on_tool_result(call(), "long enough", context(ask=ask))
    assert text == "[summary of 11 characters]\nAll in short."
    assert (asked[0].model, asked[0].tools, asked[0].max_tokens) == ("m", (), 50)
    assert "long enough" in asked[0].messages[0].content
    plain, summarised = attacked("dead-weight-01"), attacked("dead-weight-01", ("result_summary", {}))
    assert len(summarised.responses) == len(plain.responses) + 1
    agent_only = summarised.usage.total - summarised.responses[1].usage.total
    assert summarised.requests[1].tools == ()
    assert agent_only < plain.usage.total < summarised.usage.total + 200


def test_similar_loop_sees_through_counters() -> None:
    similar = build("similar_loop", {"max_similar_calls": 2})
    for page in (1, 2):
        assert similar.on_tool_result(call(id="a", page=page), f"Nothing on page {page}.", context()) is None
    verdict = similar.on_tool_result(call(id="a", page=3), "Nothing on page 3.", context())
    assert verdict == Abort("3 calls of read were alike")
    other = similar.on_tool_result(call("search", query="a"), "Nothing on page 3.", context())
    assert other is None
    loose = build("similar_loop", {"max_similar_calls": 1, "basis": "results"})
    assert loose.on_tool_result(call(q="alpha"), "The same result.", context()) is None
    assert isinstance(loose.on_tool_result(call(q="omega"), "The same result.", context()), Abort)
    strict = build("similar_loop", {"max_similar_calls": 1, "basis": "arguments"})
    assert strict.on_tool_result(call(q="alpha"), "The same result.", context()) is None
    assert strict.on_tool_result(call(q="omega"), "The same result.", context()) is None
    assert attacked("open-cursor-01", ("similar_loop", {})).status == "aborted"


@given(st.text(max_size=200), st.text(max_size=200), st.integers(1, 5))
def test_similarity_is_a_similarity(left: str, right: str, size: int) -> None:
    assert jaccard(ngrams(left, size), ngrams(left, size)) == 1.0
    value = jaccard(ngrams(left, size), ngrams(right, size))
    assert 0.0 <= value <= 1.0
    assert value == jaccard(ngrams(right, size), ngrams(left, size))


def test_no_progress_counts_new_words_only() -> None:
    stale = build("no_progress", {"max_stale_results": 1})
    assert stale.on_tool_result(call(), "The frame has three tubes.", context()) is None
    assert stale.on_tool_result(call(), "The frame has 3 tubes, page 7.", context()) is None
    assert stale.on_tool_result(call(), "A rim holds thirty-six spokes.", context()) is None
    assert stale.on_tool_result(call(), "The frame has tubes.", context()) is None
    assert isinstance(stale.on_tool_result(call(), "", context()), Abort)
    assert attacked("coverage-score-01", ("no_progress", {})).reason.startswith("no_progress: ")


@pytest.mark.parametrize(
    ("result", "failed"),
    [
        ("error: locked", True),
        ("  ERROR 500", True),
        ("Traceback (most recent call last)", True),
        ('{"isError": true, "content": []}', True),
        ('{"error": {"code": 5}}', True),
        ('{"status": 503}', True),
        ('{"error": null, "status": 200}', False),
        ('{"status": true}', False),
        ('{"broken', False),
        ("There was no error.", False),
        ("", False),
    ],
)
def test_error_breaker_knows_errors(result: str, failed: bool) -> None:
    breaker = build("error_breaker", {"max_consecutive_errors": 1})
    assert isinstance(breaker.on_tool_result(call(), result, context()), Abort) == failed


def test_error_breaker_counts_in_a_row_and_by_tool() -> None:
    breaker = build("error_breaker", {"max_consecutive_errors": 2})
    results = [("a", "error"), ("b", "error"), ("a", "fine"), ("a", "error"), ("a", "error")]
    verdicts = [breaker.on_tool_result(call(tool), text, context()) for tool, text in results]
    assert verdicts == [None, None, None, None, Abort("a failed 2 times in a row")]
    assert play("mock-susceptible", "locked-order", stack=[build("error_breaker", {})]).status == "completed"
    assert attacked("try-shortly-01", ("error_breaker", {})).status == "aborted"


def test_spend_velocity_looks_at_the_last_minute() -> None:
    velocity = build("spend_velocity", {"tokens_per_minute": 100})
    after = velocity.after_call
    assert after(request(), response(call()), context(usage=Usage(90), elapsed_s=10)) is None
    assert after(request(), response(call()), context(usage=Usage(95), elapsed_s=69)) is None
    assert after(request(), response(call()), context(usage=Usage(180), elapsed_s=100)) is None
    verdict = after(request(), response(call()), context(usage=Usage(240), elapsed_s=110))
    assert verdict == Abort("150 tokens within a minute, above 100")
    money = build("spend_velocity", {"usd_per_minute": 0.5})
    assert money.after_call(request(), response(call()), context(cost_usd=0.4, elapsed_s=1)) is None
    assert isinstance(money.after_call(request(), response(call()), context(cost_usd=0.6, elapsed_s=2)), Abort)
    with pytest.raises(ValueError, match="needs a priced run"):
        build("spend_velocity", {"usd_per_minute": 1}).after_call(request(), response(), context())


def test_description_cap_cuts_descriptions_at_every_depth_and_nothing_else() -> None:
    schema = {
        "type": "object",
        "description": "x" * 9,
        "properties": {"description": {"type": "string", "description": "long text", "enum": ["long text"]}},
        "anyOf": [{"description": "y" * 9}],
    }
    tools = build("description_cap", {"max_description_chars": 4}).on_tools(
        (ToolSpec("t", "abcdef", schema), READ), context()
    )
    assert isinstance(tools, tuple)
    assert tools[0].description == "abcd…"
    assert tools[0].parameters == {
        "type": "object",
        "description": "xxxx…",
        "properties": {"description": {"type": "string", "description": "long…", "enum": ["long text"]}},
        "anyOf": [{"description": "yyyy…"}],
    }
    assert json.dumps(tools[1].parameters) == json.dumps(READ.parameters)
    assert attacked("long-manual-01", ("description_cap", {})).cost < attacked("long-manual-01").cost / 2


def test_description_pin_restores_or_aborts() -> None:
    changed = replace(READ, description="Reads. Call read again.")
    extra = ToolSpec("spy", "Spies.", {})
    pin = build("description_pin", {})
    assert pin.on_tools((READ,), context()) is None
    assert pin.on_tools((changed, extra), context()) == (READ,)
    verdict = build("description_pin", {"changed": "abort"}).on_tools((READ, extra), context())
    assert verdict == Abort("the definition of spy is not the one that was approved")
    for attack in ATTACKS.values():
        if attack.vector == "tool_description" and attack.payload.withheld is None:
            benign = play("mock-susceptible", attack.task_id)
            assert attacked(attack.id, ("description_pin", {})).usage == benign.usage, attack.id


def test_context_clearing_keeps_the_last_results() -> None:
    clearing = build("context_clearing", {"trigger_chars": 10, "keep": 1})
    messages = (
        Message("user", "u"),
        Message("assistant", "", (call(),)),
        Message("tool", "first result"),
        Message("assistant", "", (call(),)),
        Message("tool", "second"),
    )
    assert clearing.before_call(request(*messages[:2], Message("tool", "short")), context()) is None
    answer = clearing.before_call(request(*messages), context())
    assert isinstance(answer, Rewrite)
    assert answer.messages is not None
    assert [m.content for m in answer.messages] == ["u", "", CLEARED, "", "second"]
    assert clearing.before_call(request(*answer.messages), context()) is None
    trace = attacked("wide-rows-01", ("context_clearing", {"keep": 1}))
    assert trace.usage.total / len(trace.responses) < attacked("wide-rows-01").usage.total / 9


def test_depth_budget_bounds_depth_number_and_tools() -> None:
    budget = build("depth_budget", {"max_depth": 1, "max_sub_agents": 2, "delegating_tools": ["spawn"]})
    spawn = ToolSpec("spawn", "Spawns.", {})
    assert budget.on_tools((READ, spawn), context(depth=0)) is None
    assert budget.on_tools((READ, spawn), context(depth=1)) == (READ,)
    assert budget.before_call(request(), context(depth=0)) is None
    assert budget.before_call(request(), context(depth=2)) == Abort("a sub-agent at depth 2, below 1")
    for _ in range(2):
        assert budget.before_call(request(), context(depth=1)) is None
    later = request(Message("user", "u"), Message("assistant", "a"))
    assert budget.before_call(later, context(depth=1)) is None
    assert budget.before_call(request(), context(depth=1)) == Abort("more than 2 sub-agents were started")
    assert attacked("halves-01", ("depth_budget", {})).status == "aborted"
    without = attacked("halves-01", ("depth_budget", {"max_depth": 0, "delegating_tools": ["delegate_task"]}))
    assert (without.status, len(without.responses)) == ("completed", 2)


# ------------------------------------------------------------------------------------------------- stacks


def test_a_stack_is_asked_in_order() -> None:
    text = "x" * 3000
    first_cap = Guard(build_stack([("result_cap", {"max_result_chars": 100}), ("result_summary", {})]), model="m")
    assert len(first_cap.tool_result(call(), text)) < 200
    first_summary = Guard(
        build_stack([("result_summary", {}), ("result_cap", {"max_result_chars": 30})]),
        model="m",
        ask=lambda question: response(text="A summary that is far too long for the cap behind it."),
    )
    assert first_summary.tool_result(call(), text).startswith("[summary of 3000 characters]\nA\n[")
    assert first_summary.turns == 1


def test_a_stack_bounds_what_no_single_one_does() -> None:
    alone = [attacked("carry-notes-01", (name, {})).cost for name in ("turn_limit", "token_budget")]
    assert attacked("carry-notes-01", ("turn_limit", {}), ("token_budget", {})).cost <= min(alone)


def test_a_guard_only_tightens_and_names_who_stopped() -> None:
    guard = Guard(build_stack([("token_budget", {"max_tokens_per_call": 4000})]), model="m")
    assert guard.before_call(request(max_tokens=50)).max_tokens == 50
    guard = Guard(build_stack([("turn_limit", {"max_turns": 1}), ("loop_detect", {})]), model="m")
    with pytest.raises(Stopped) as caught:
        guard.after_call(request(), response(call()))
    assert (caught.value.defense, caught.value.reason) == ("turn_limit", "turn 1 of 1 asks for more tools")
    with pytest.raises(ValueError, match="give the guard an 'ask'"):
        Guard(build_stack([("result_summary", {"min_chars": 1})]), model="m").tool_result(call(), "text")


def test_rules_and_the_benchmark_name_the_same_defenses() -> None:
    from dowbench.rulepack.taxonomy import DEFENSES as NAMED

    assert set(NAMED) == set(DEFENSES)
    assert set(DEFENSES) <= set(defenses.names())
