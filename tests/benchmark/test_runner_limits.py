"""Runs that end early, by a budget, a limit or an interruption, and what was noted until then."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING

import pytest
from dowbench_benchmark import recording, runner, store
from dowbench_benchmark.prices import UNIT
from plans import (
    Wrapped,
    calls,
    files,
    make_plan,
    overloaded,
    run_part,
    run_plan,
    said,
    slow,
    without,
)

from dowbench.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from dowbench_benchmark.model import Request


def test_a_run_ends_at_its_budget_and_goes_on_with_a_larger_one(tmp_path: Path) -> None:
    made = make_plan()
    run_plan(made, tmp_path / "whole")
    cost = int(said(tmp_path / "whole")["spent_usd"] * UNIT)
    limits = runner.Limits(attousd=cost // 2, partial=True)
    result = run_plan(made, tmp_path / "part", limits=limits)
    assert result.code == 3
    assert result.message is not None
    assert "budget of $0.0" in result.message
    assert 0 < result.progress.done < 12
    assert result.progress.spent.attousd <= cost // 2
    again = run_plan(made, tmp_path / "part", limits=limits)
    assert again.code == 3
    provider = Wrapped()
    assert run_plan(made, tmp_path / "part", provider, limits=runner.Limits(attousd=100 * UNIT)).code == 0
    assert files(tmp_path / "part") == files(tmp_path / "whole")


def test_what_was_spent_counts_against_the_next_budget(tmp_path: Path) -> None:
    made = make_plan()
    run_part(made, tmp_path, without(made, 6))
    worst = runner.worst_case(made, list(made.episodes[6:])).attousd
    spent = runner.spent_before(made, recording.read(tmp_path, made.prices)).attousd
    with pytest.raises(UsageError, match="does not cover"):
        run_plan(made, tmp_path, limits=runner.Limits(attousd=worst + spent - 1))
    assert run_plan(made, tmp_path, limits=runner.Limits(attousd=worst + spent)).code == 0


def test_an_interrupted_run_finishes_the_calls_in_flight_and_goes_on(tmp_path: Path) -> None:
    made = make_plan()
    stop = threading.Event()
    provider = Wrapped(lambda number, request: stop.set() if number == 20 else None)
    result = run_plan(made, tmp_path / "cut", provider, stop=stop, concurrency=2)
    assert (result.code, result.message) == (130, "interrupted")
    assert len(provider.billed) == len(calls(tmp_path / "cut")) == provider.calls
    assert not (tmp_path / "cut" / "run.lock").exists()
    more = Wrapped()
    assert run_plan(made, tmp_path / "cut", more).code == 0
    run_plan(made, tmp_path / "whole")
    assert files(tmp_path / "cut") == files(tmp_path / "whole")
    assert provider.calls + more.calls == len(calls(tmp_path / "whole"))


def test_an_interruption_ends_a_wait_between_tries(tmp_path: Path) -> None:
    stop = threading.Event()
    made = make_plan(retry={"base_delay_s": 60, "max_delay_s": 60})

    def before(number: int, request: Request) -> None:
        stop.set()
        raise overloaded()

    started = time.monotonic()
    assert run_plan(made, tmp_path, Wrapped(before), stop=stop).code == 130
    assert time.monotonic() - started < 30


def test_the_daily_limit_ends_a_real_run_and_lets_simulated_ones_alone(tmp_path: Path) -> None:
    made = make_plan(rate_limit={"rpd": 5})
    assert run_plan(made, tmp_path / "mock").code == 0
    limits = runner.Limits(attousd=100 * UNIT)
    provider = Wrapped()
    result = run_plan(made, tmp_path / "real", provider, simulated=False, limits=limits)
    assert (result.code, provider.calls) == (3, 5)
    assert result.message is not None
    assert "daily limit of 5" in result.message
    again = run_plan(made, tmp_path / "real", provider, simulated=False, limits=limits)
    assert (again.code, provider.calls) == (3, 5)


def test_a_real_run_writes_each_request_down_before_it_leaves(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []

    def before(number: int, request: Request) -> None:
        seen.append((number, len(store.lines(tmp_path / "requests.jsonl"))))

    limits = runner.Limits(attousd=100 * UNIT)
    run_plan(make_plan(), tmp_path, Wrapped(before), simulated=False, limits=limits)
    assert seen
    assert all(number == rows for number, rows in seen)
    assert all(row["at"].endswith("+00:00") for row in map(json.loads, store.lines(tmp_path / "requests.jsonl")))


def test_a_simulated_request_has_no_date(tmp_path: Path) -> None:
    run_plan(make_plan(), tmp_path)
    assert {row["at"] for row in map(json.loads, store.lines(tmp_path / "requests.jsonl"))} == {None}


def test_progress_is_watched(tmp_path: Path) -> None:
    seen: list[int] = []
    run_plan(make_plan(), tmp_path, Wrapped(slow(0.01)), watch=lambda progress: seen.append(progress.done))
    assert seen == sorted(seen)
    assert seen[-1] == 12
