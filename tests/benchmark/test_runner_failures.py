"""Calls that fail: what is tried again, what ends an episode, what ends the run."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from dowbench_benchmark.model import Request, Response, Usage
from dowbench_benchmark.providers.mock import MockProvider
from plans import (
    QUICK,
    Wrapped,
    calls,
    episodes,
    failing,
    make_plan,
    overloaded,
    refused,
    run_plan,
    said,
    timed_out,
    unmappable,
    without,
)

from dowbench.errors import DowbenchError, UsageError

if TYPE_CHECKING:
    from pathlib import Path


def test_transient_failures_are_tried_again(tmp_path: Path) -> None:
    run_plan(make_plan(), tmp_path / "calm")
    provider = Wrapped(failing(overloaded, 2, 3, 9))
    assert run_plan(make_plan(**QUICK), tmp_path / "rough", provider).code == 0
    assert (tmp_path / "rough" / "summary.json").read_bytes() == (tmp_path / "calm" / "summary.json").read_bytes()
    failed = [row for row in calls(tmp_path / "rough") if row["error"]]
    assert [(row["error"], row["billed"], row["usage"]) for row in failed] == [("503 overloaded", False, None)] * 3


def test_a_transient_failure_that_lasts_leaves_no_row_and_is_run_again(tmp_path: Path) -> None:
    made = make_plan(**QUICK)
    result = run_plan(made, tmp_path / "rough", Wrapped(failing(overloaded, 2, 3, 4)))
    assert (result.code, result.progress.failed, result.progress.done) == (1, 1, 11)
    assert result.summary is None
    assert not (tmp_path / "rough" / "summary.json").exists()
    assert said(tmp_path / "rough")["complete"] is False
    provider = Wrapped()
    assert run_plan(made, tmp_path / "rough", provider).code == 0
    run_plan(made, tmp_path / "calm")
    assert (tmp_path / "rough" / "summary.json").read_bytes() == (tmp_path / "calm" / "summary.json").read_bytes()
    # The first call of the first episode was recorded and is not paid for again.
    assert provider.calls == episodes(tmp_path / "calm")[0]["turns"] - 1


def test_a_timeout_is_not_tried_again_and_counts_as_billed(tmp_path: Path) -> None:
    provider = Wrapped(failing(timed_out, 1))
    result = run_plan(make_plan(**QUICK), tmp_path, provider)
    assert (result.code, result.progress.failed) == (1, 1)
    (failed,) = [row for row in calls(tmp_path) if row["error"]]
    assert failed["billed"] is True
    billed = sum(response.usage.total for response in provider.billed)
    assert result.progress.spent.tokens == billed + failed["counted"] + failed["max_tokens"]


def test_a_retry_after_is_waited_for(tmp_path: Path) -> None:
    from dowbench_benchmark.model import TransientError

    def busy() -> Exception:
        return TransientError("429", retry_after=0.05)

    started = time.monotonic()
    made = without(make_plan(retry={"base_delay_s": 60, "max_delay_s": 60}), 11)
    assert run_plan(made, tmp_path, Wrapped(failing(busy, 1))).code == 0
    assert 0.05 <= time.monotonic() - started < 30


def test_usage_that_cannot_be_mapped_stops_the_run_and_is_skipped_afterwards(tmp_path: Path) -> None:
    result = run_plan(make_plan(), tmp_path, Wrapped(failing(unmappable, 3)))
    assert result.code == 1
    assert result.message == "the usage of a call cannot be mapped: unknown usage field 'surprise'"
    (failed,) = [row for row in calls(tmp_path) if row["error"]]
    assert failed["raw_usage"] == {"input_tokens": 5, "surprise": 7}
    assert failed["usage"] is None
    errored = episodes(tmp_path)[-1]
    assert (errored["status"], errored["reason"]) == ("errored", "provider: unknown usage field 'surprise'")
    again = run_plan(make_plan(), tmp_path)
    assert (again.code, again.progress.done, again.progress.errored) == (1, 12, 1)
    assert again.summary is not None


def test_a_refused_call_is_an_errored_episode_and_the_run_goes_on(tmp_path: Path) -> None:
    result = run_plan(make_plan(), tmp_path, Wrapped(failing(refused, 3)))
    assert (result.code, result.progress.done, result.progress.errored) == (1, 12, 1)
    assert result.summary is not None


def test_a_failure_that_repeats_ends_the_run(tmp_path: Path) -> None:
    provider = Wrapped(failing(refused, *range(1, 100)))
    result = run_plan(make_plan(), tmp_path, provider)
    assert (result.code, result.message) == (1, "3 episodes in a row failed: provider: 400 bad request")
    assert provider.calls == 3


def test_a_bug_of_a_provider_is_an_errored_episode(tmp_path: Path) -> None:
    def bug() -> Exception:
        return KeyError("candidates")

    result = run_plan(make_plan(), tmp_path, Wrapped(failing(bug, 1)))
    assert result.progress.errored == 1
    assert episodes(tmp_path)[0]["reason"] == "provider: raised KeyError: 'candidates'"


def test_a_refusal_by_the_provider_ends_the_run_with_its_line(tmp_path: Path) -> None:
    def no_key() -> Exception:
        return UsageError("the key is not accepted")

    with pytest.raises(DowbenchError, match="the key is not accepted"):
        run_plan(make_plan(), tmp_path, Wrapped(failing(no_key, 5)))
    assert not (tmp_path / "run.lock").exists()
    assert run_plan(make_plan(), tmp_path).code == 0


class Greedy(MockProvider):
    """Bills more than it said."""

    def complete(self, request: Request) -> Response:
        response = super().complete(request)
        usage = Usage(input_tokens=self.count(request) + 1, output_tokens=response.usage.output_tokens)
        return Response(
            response.text, response.tool_calls, response.stop_reason, usage, {}, request.model, response.latency_s
        )


def test_a_provider_that_breaks_its_bound_ends_the_run(tmp_path: Path) -> None:
    result = run_plan(make_plan(), tmp_path, Greedy())
    assert result.code == 1
    assert result.message is not None
    assert "no budget can be kept with it" in result.message
    assert len(calls(tmp_path)) == 1
