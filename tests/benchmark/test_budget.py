"""The budget: what is billed never passes it."""

from __future__ import annotations

import random
import tempfile
import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from dowbench_benchmark import ledger, lock, recording, runner
from dowbench_benchmark.budget import Budget, BudgetReached, parse_usd, show_usd
from dowbench_benchmark.ledger import Spend
from dowbench_benchmark.model import ProviderError, Request, Response, ToolCall, TransientError, Usage
from dowbench_benchmark.model import UsageError as MappingError
from dowbench_benchmark.prices import UNIT, Price
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plans import Wrapped, failing, make_plan, run_plan, timed_out

from dowbench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.mark.parametrize(
    ("text", "units"), [("0", 0), ("2.50", 5 * UNIT // 2), ("1e-3", UNIT // 1000), (" 7 ", 7 * UNIT)]
)
def test_amounts(text: str, units: int) -> None:
    assert parse_usd(text) == units


@pytest.mark.parametrize(
    "text", ["nan", "NaN", "-nan", "snan", "inf", "-Infinity", "-1", "-1e-30", "1e30", "$5", "", "1,5"]
)
def test_what_is_no_amount(text: str) -> None:
    with pytest.raises(UsageError, match="expected a"):
        parse_usd(text)


@pytest.mark.parametrize(("units", "text"), [(0, "$0.0000"), (UNIT * 3 // 2, "$1.5000"), (UNIT // 10**6, "$1e-06")])
def test_amounts_for_people(units: int, text: str) -> None:
    assert show_usd(units) == text


def test_a_reservation_that_fits_exactly() -> None:
    budget = Budget(attousd=10)
    budget.reserve(Spend(0, 10))
    budget.settle(Spend(0, 10), Spend(0, 10))
    assert budget.spent == Spend(0, 10)
    with pytest.raises(BudgetReached):
        budget.reserve(Spend(0, 1))


def test_tokens_are_a_budget_too() -> None:
    budget = Budget(tokens=10, spent=Spend(4, 99))
    with pytest.raises(BudgetReached, match="budget of 10 tokens reached: 4 spent, the next call could need 7"):
        budget.reserve(Spend(7, 0))
    budget.reserve(Spend(6, 0))


def test_a_reservation_waits_for_one_that_may_come_out_cheaper() -> None:
    budget = Budget(attousd=10)
    budget.reserve(Spend(0, 8))
    waiting = threading.Thread(target=budget.reserve, args=(Spend(0, 5),))
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    budget.settle(Spend(0, 8), Spend(0, 2))
    waiting.join(5)
    assert not waiting.is_alive()


def test_a_reservation_that_can_never_fit_does_not_wait() -> None:
    budget = Budget(attousd=10, spent=Spend(0, 6))
    budget.reserve(Spend(0, 3))
    with pytest.raises(BudgetReached):
        budget.reserve(Spend(0, 5))


# ---- the property, over whole runs


class Erratic:
    """Bills what a seed says, within the bounds it states, and fails now and then."""

    name: ClassVar[str] = "erratic"
    simulated: ClassVar[bool] = True
    key_variable: ClassVar[str | None] = None

    def __init__(self, seed: int, price: Price | None, slack: float, trouble: float, latency: float) -> None:
        self.random = random.Random(seed)
        self.price = price
        self.slack = slack
        self.trouble = trouble
        self.latency = latency
        self.lock = threading.Lock()
        self.billed = Spend()
        """By the provider's own account, failures that it bills included."""
        self.pause = threading.Event()

    def count(self, request: Request) -> int:
        return 50 + 20 * len(request.messages)

    def complete(self, request: Request) -> Response:
        with self.lock:
            chance, share, turn = self.random.random(), self.random.random(), self.random.random()
        if self.latency:
            self.pause.wait(self.latency * share)
        most = self.count(request)
        prompt = int(most * (1 - self.slack * share))
        cached = int(prompt * turn)
        output = int(request.max_tokens * share)
        usage = Usage(prompt - cached, output - output // 3, output // 3, cached // 2, cached - cached // 2)
        if chance < self.trouble:
            kind = int(turn * 5)
            if kind == 0:
                raise TransientError("503", billed=False)
            if kind == 1:
                raise ProviderError("400", billed=False)
            self._bill(usage)
            if kind == 2:
                raise TransientError("no answer", billed=True)
            if kind == 3:
                raise MappingError("unknown field", raw_usage={"surprise": 1})
            raise RuntimeError("a bug of the provider")
        self._bill(usage)
        if turn < 0.4:
            wanted = (ToolCall("c", "read_document", {}),)
            return Response("", wanted, "tool_use", usage, {}, request.model, self.latency)
        return Response("done", (), "end_turn", usage, {}, request.model, self.latency)

    def _bill(self, usage: Usage) -> None:
        with self.lock:
            self.billed += ledger.of_usage(usage, self.price)


rates = st.sampled_from([0.0, 0.03, 0.1, 0.37, 1.0, 2.5, 6.25, 75.0])
plans = st.fixed_dictionaries(
    {
        "repeats": st.integers(1, 2),
        "controls": st.booleans(),
        "attacks": st.sampled_from([["stale-copy-01"], ["stale-copy-01", "open-cursor-01"]]),
        "defenses": st.sampled_from([["none"], ["none", "turn_limit"]]),
        "retry": st.just({"max_attempts": 2, "base_delay_s": 0, "max_delay_s": 0}),
        "unpriced": st.booleans(),
        "ceiling": st.just({"max_turns": 4, "max_tokens_per_call": 100, "max_total_tokens": 700}),
    }
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    shape=plans,
    price=st.tuples(rates, rates, rates, rates),
    share=st.integers(0, 100),
    concurrency=st.integers(1, 16),
    seed=st.integers(0, 2**32),
    slack=st.floats(0, 1),
    trouble=st.sampled_from([0.0, 0.1, 0.5]),
    latency=st.sampled_from([0.0, 0.001, 0.004]),
    partial=st.sampled_from([True, True, True, False]),
    runs=st.integers(1, 3),
)
def test_billed_never_passes_the_budget(
    shape: dict[str, Any],
    price: tuple[float, float, float, float],
    share: int,
    concurrency: int,
    seed: int,
    slack: float,
    trouble: float,
    latency: float,
    partial: bool,
    runs: int,
) -> None:
    made = make_plan(**shape)
    rated = None
    if not shape["unpriced"]:
        rated = Price("mock", "mock-susceptible", *price, "simulated", "2026-01-01", simulated=True)
        made = replace(made, prices={"mock-susceptible": rated})
    worst = runner.worst_case(made, list(made.episodes))
    # A hundredth of the worst case is about one call, all of it more than any run needs.
    if shape["unpriced"]:
        limits = runner.Limits(tokens=worst.tokens * share // 100, partial=partial)
    else:
        limits = runner.Limits(attousd=worst.attousd * share // 100, partial=partial)
    provider = Erratic(seed, rated, slack, trouble, latency)
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "run"
        for _ in range(runs):
            try:
                runner.run(
                    made, directory, lambda: provider, simulated=True, limits=limits, concurrency=concurrency
                )  # fmt: skip
            except UsageError as error:
                assert "does not cover" in str(error)
            recorded = runner.spent_before(made, recording.read(directory, made.prices))
            for limit, spend in ((limits.attousd, "attousd"), (limits.tokens, "tokens")):
                billed, known = getattr(provider.billed, spend), getattr(recorded, spend)
                assert billed <= known, "spend is under-counted"
                assert limit is None or billed <= limit, "the budget is passed"
                assert limit is None or known <= limit


def test_a_budget_below_the_worst_case_is_refused_before_a_provider_is_made(tmp_path: Path) -> None:
    def forbidden() -> Any:
        raise AssertionError("a provider was made")

    limits = runner.Limits(attousd=UNIT // 1000)
    with pytest.raises(
        UsageError, match=r"budget of \$0\.0010 does not cover \$0\.0000 spent and a worst case of \$3\.0"
    ):
        runner.run(make_plan(), tmp_path / "run", forbidden, simulated=True, limits=limits)


def test_what_another_run_spent_meanwhile_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The budget is checked again once the lock is held: between the first check and the lock another run may end."""
    made = make_plan()
    limits = runner.Limits(attousd=runner.worst_case(made, list(made.episodes)).attousd)
    held = lock.held

    @contextmanager
    def late(directory: Path, **settings: Any) -> Iterator[None]:
        monkeypatch.setattr(lock, "held", held)
        other = run_plan(made, directory, Wrapped(failing(timed_out, *range(2, 20))))
        assert other.progress.done == 0
        assert other.progress.spent.attousd > 0
        with held(directory, **settings):
            yield

    monkeypatch.setattr(lock, "held", late)
    with pytest.raises(UsageError, match=r"does not cover \$0\.0\d+ spent and a worst case of \$3\.0000"):
        runner.run(made, tmp_path / "run", lambda: pytest.fail("made"), simulated=True, limits=limits)
    assert not (tmp_path / "run" / "run.lock").exists()


@pytest.mark.parametrize(
    ("unpriced", "limits", "message"),
    [
        (False, runner.Limits(), "needs --budget-usd"),
        (False, runner.Limits(tokens=10**9), "needs --budget-usd"),
        (True, runner.Limits(), "needs --budget-tokens"),
        (True, runner.Limits(attousd=UNIT), "has no USD"),
    ],
)
def test_a_real_run_needs_its_budget(tmp_path: Path, unpriced: bool, limits: runner.Limits, message: str) -> None:
    made = make_plan(unpriced=unpriced)
    with pytest.raises(UsageError, match=message):
        runner.run(made, tmp_path / "run", lambda: pytest.fail("made"), simulated=False, limits=limits)
