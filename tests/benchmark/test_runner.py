"""Running a plan: resume, retries, failures, concurrency."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from dowbench_benchmark import recording, replay, runfile, runner, store
from dowbench_benchmark.model import Request, Response, Usage
from dowbench_benchmark.prices import UNIT
from dowbench_benchmark.providers.mock import MockProvider
from plans import (
    Wrapped,
    failing,
    files,
    make_plan,
    overloaded,
    refused,
    run_part,
    run_plan,
    slow,
    timed_out,
    unmappable,
    without,
)

from dowbench.errors import DowbenchError, UsageError

if TYPE_CHECKING:
    from conftest import Dowbench

QUICK = {"retry": {"max_attempts": 3, "base_delay_s": 0, "max_delay_s": 0}}


def episodes(directory: Path) -> list[dict[str, Any]]:
    return [row.value for row in store.rows(directory / "episodes.jsonl")]


def calls(directory: Path) -> list[dict[str, Any]]:
    return [row.value for row in store.rows(directory / "calls.jsonl")]


def said(directory: Path) -> dict[str, Any]:
    run: dict[str, Any] = json.loads((directory / "run.json").read_bytes())
    return run


def test_a_run_and_its_files(tmp_path: Path) -> None:
    made = make_plan()
    result = run_plan(made, tmp_path)
    assert (result.code, result.message, result.progress.done) == (0, None, 12)
    assert set(files(tmp_path)) >= {
        "calls.jsonl",
        "requests.jsonl",
        "cassette.jsonl",
        "episodes.jsonl",
        "summary.json",
    }
    assert not (tmp_path / "run.lock").exists()
    assert [row["episode_id"] for row in episodes(tmp_path)] == [spec.id for spec in made.episodes]
    for name, data in files(tmp_path).items():
        if name.endswith(".jsonl"):
            for line in data.decode().splitlines():
                assert list(json.loads(line)) == sorted(json.loads(line)), name
            assert b"\r" not in data
            assert data.endswith(b"\n")


def test_run_json_says_what_is_needed_later(tmp_path: Path) -> None:
    made = make_plan()
    run_plan(made, tmp_path)
    run = said(tmp_path)
    assert (run["format"], run["simulated"], run["replayed"], run["complete"]) == (2, True, False, True)
    assert [row["episode_id"] for row in run["plan"]] == [spec.id for spec in made.episodes]
    assert [attack["id"] for attack in run["attacks"]] == ["stale-copy-01", "open-cursor-01"]
    assert run["attacks"][0]["payload"]["text"]
    assert run["scenario"] == {"id": "parts-desk", "digest": made.scenario.digest}
    assert run["prices"][0]["model"] == "mock-susceptible"
    assert run["served_model_versions"] == {"mock-susceptible": ["mock-susceptible"]}
    assert run["spent_tokens"] == sum(sum(row["usage"].values()) for row in calls(tmp_path))
    assert run["spent_usd"] == pytest.approx(sum(row["cost_usd"] for row in calls(tmp_path)))
    assert run["dowbench_version"]
    root = Path(runner.__file__).parents[2]
    head = subprocess.run(["git", "-C", root, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    assert run["git_commit"] == (head.stdout.strip() if (root / ".git").exists() else None)


def test_every_call_keeps_its_raw_usage_and_more(tmp_path: Path) -> None:
    run_plan(make_plan(), tmp_path)
    for row in calls(tmp_path):
        assert row["raw_usage"]
        assert row["stop_reason"] in ("end_turn", "tool_use")
        assert row["served_model"] == "mock-susceptible"
        assert row["latency_s"] > 0
        assert row["error"] is None


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    run_plan(make_plan(), tmp_path / "a")
    run_plan(make_plan(), tmp_path / "b")
    assert files(tmp_path / "a") == files(tmp_path / "b")


@pytest.mark.parametrize("concurrency", [2, 8])
def test_concurrency_does_not_show_in_the_files(tmp_path: Path, concurrency: int) -> None:
    made = make_plan(repeats=2, paraphrases=2)
    run_plan(made, tmp_path / "a")
    provider = Wrapped(lambda number, request: time.sleep(0.001 * (hash(number) % 3)))
    run_plan(made, tmp_path / "b", provider, concurrency=concurrency)
    assert 1 < provider.most <= concurrency
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_a_finished_run_calls_nobody_again(tmp_path: Path) -> None:
    run_plan(make_plan(), tmp_path)
    before = files(tmp_path)
    provider = Wrapped()
    assert run_plan(make_plan(), tmp_path, provider).code == 0
    assert provider.calls == 0
    assert files(tmp_path) == before


def test_no_resume_refuses_a_used_directory(tmp_path: Path) -> None:
    run_plan(make_plan(), tmp_path)
    with pytest.raises(UsageError, match="holds a run already"):
        run_plan(make_plan(), tmp_path, resume=False)
    assert run_plan(make_plan(), tmp_path / "new", resume=False).code == 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seed": 5}, "seed is 5, recorded 0"),
        ({"repeats": 2}, "repeats is 2, recorded 1"),
        ({"models": ["mock-partial"]}, 'models is ["mock-partial"], recorded ["mock-susceptible"]'),
        ({"run_name": "other"}, 'run_name is "other", recorded "test"'),
        ({"success_threshold": 3.0}, "success_threshold is 3.0, recorded 5.0"),
        ({"controls": False, "seed": 1}, "controls is false, recorded true; seed is 1, recorded 0"),
        ({"defenses": ["none"]}, "defenses is "),
        (
            {"attacks": ["stale-copy-01", "long-appendix-01"]},
            "attack long-appendix-01 is new; attack open-cursor-01 is",
        ),
        ({"attacks": ["open-cursor-01", "stale-copy-01"]}, "plans other episodes by now"),
    ],
)
def test_another_run_is_refused_and_nothing_is_lost(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    run_plan(make_plan(), tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(UsageError, match=r"holds another run: .*; choose another directory with --out") as refused:
        run_plan(make_plan(**changes), tmp_path)
    assert said in str(refused.value)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_how_a_run_is_made_may_change(tmp_path: Path) -> None:
    run_part(make_plan(), tmp_path / "run", without(make_plan(), 6))
    again = make_plan(concurrency=3, retry={"max_attempts": 5}, rate_limit={"rpm": 100})
    assert run_plan(again, tmp_path / "run").code == 0
    run_plan(make_plan(), tmp_path / "whole")
    assert files(tmp_path / "run") == files(tmp_path / "whole")


def test_a_replay_is_not_gone_on_with(tmp_path: Path) -> None:
    run_plan(make_plan(), tmp_path / "run")
    replay.replay(tmp_path / "run", tmp_path / "again")
    with pytest.raises(UsageError, match="holds a replay; choose another directory"):
        run_plan(make_plan(), tmp_path / "again")


def test_rows_of_nobody_knows_which_run_are_left_alone(tmp_path: Path) -> None:
    run_plan(make_plan(), tmp_path)
    (tmp_path / "run.json").unlink()
    with pytest.raises(UsageError, match=r"holds rows of a run, and no run\.json that says of which"):
        run_plan(make_plan(), tmp_path)


# ---- failures


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


# ---- limits and interruption


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


def test_a_second_run_on_the_directory_is_refused(tmp_path: Path) -> None:
    started, leave = threading.Event(), threading.Event()

    def before(number: int, request: Request) -> None:
        started.set()
        leave.wait(30)

    first = threading.Thread(target=run_plan, args=(make_plan(), tmp_path, Wrapped(before)))
    first.start()
    started.wait(30)
    try:
        with pytest.raises(UsageError, match=r"another run holds .*run\.lock: process"):
            run_plan(make_plan(), tmp_path)
    finally:
        leave.set()
        first.join(30)
    assert run_plan(make_plan(), tmp_path).code == 0


def test_a_torn_last_line_costs_one_call(tmp_path: Path) -> None:
    made = make_plan()
    run_plan(made, tmp_path / "whole")
    run_part(made, tmp_path / "torn", without(made, 1))
    for name in ("episodes.jsonl", "calls.jsonl", "cassette.jsonl", "requests.jsonl"):
        path = tmp_path / "torn" / name
        path.write_bytes(path.read_bytes()[:-30])
    result = run_plan(made, tmp_path / "torn")
    assert result.code == 0
    assert len(result.notices) == 4
    assert (tmp_path / "torn" / "summary.json").read_bytes() == (tmp_path / "whole" / "summary.json").read_bytes()


def test_a_lost_call_row_is_made_good_from_the_cassette(tmp_path: Path) -> None:
    made = make_plan()
    run_plan(made, tmp_path / "whole")
    run_plan(made, tmp_path / "cut")
    for name in ("calls.jsonl", "episodes.jsonl"):
        path = tmp_path / "cut" / name
        path.write_bytes(b"\n".join(path.read_bytes().split(b"\n")[:-2]) + b"\n")
    provider = Wrapped()
    assert run_plan(made, tmp_path / "cut", provider).code == 0
    assert provider.calls == 0
    assert files(tmp_path / "cut") == files(tmp_path / "whole")


def test_a_run_goes_on_with_the_prices_it_recorded(tmp_path: Path) -> None:
    made = make_plan()
    run_part(made, tmp_path, without(made, 6))
    dearer = {model: dataclasses.replace(price, output_per_mtok=50.0) for model, price in made.prices.items()}
    kept, notices = runfile.resumed(dataclasses.replace(made, prices=dearer), tmp_path)
    assert kept.prices == made.prices
    assert notices == ["the price of mock-susceptible has changed; this run goes on with the one it recorded"]
    assert runfile.resumed(made, tmp_path) == (made, [])
    assert runfile.resumed(made, tmp_path / "new") == (made, [])


@pytest.mark.parametrize("unpriced", [False, True])
def test_priced_and_unpriced_episodes_are_not_mixed(tmp_path: Path, unpriced: bool) -> None:
    run_plan(make_plan(unpriced=not unpriced), tmp_path)
    before = files(tmp_path)
    with pytest.raises(UsageError, match=f"holds another run: unpriced is {str(unpriced).lower()}, recorded "):
        run_plan(make_plan(unpriced=unpriced), tmp_path)
    assert files(tmp_path) == before


def test_a_directory_of_0_1_0_is_not_gone_on_with(tmp_path: Path, dowbench: Dowbench) -> None:
    config = {"provider": "gemini", "models": ["g"], "defenses": [{"name": "none"}]}
    (tmp_path / "run.json").write_text(json.dumps({"run_name": "old", "simulated": False, "config": config}))
    for command in (("run", "smoke", "--out", tmp_path), ("replay", tmp_path)):
        run = dowbench(*command)
        assert run.code == 2
        assert "dowbench 0.1.0" in run.err


@pytest.mark.parametrize("key", ["", f"The key is sk-{'a1' * 15}. "])
def test_a_scenario_s_file_is_sought_beside_its_configuration_and_recorded(
    tmp_path: Path, dowbench: Dowbench, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """Its tasks in their order, and without what is shaped like a key."""
    desk = Path(runner.__file__).parents[1] / "scenarios" / "parts-desk.yaml"
    (tmp_path / "plans").mkdir()
    (tmp_path / "elsewhere").mkdir()
    own = tmp_path / "plans" / "own.yaml"
    text = desk.read_text(encoding="utf-8").replace("id: parts-desk", "id: own-desk")
    own.write_text(text.replace("Stock on Wednesday", f"{key}Stock on Wednesday"), encoding="utf-8")
    config = tmp_path / "plans" / "plan.yaml"
    config.write_text(
        "run_name: own\nprovider: mock\nmodels: [mock-resistant]\nattacks: []\nscenario: own.yaml\n"
        "benign_tasks: [order-departure, bracket-stock]\n"
    )
    monkeypatch.chdir(tmp_path)
    assert dowbench("run", "plans/plan.yaml", "--out", "out").code == 0
    assert said(tmp_path / "out")["scenario"]["id"] == "own-desk"
    assert [spec["item_id"] for spec in said(tmp_path / "out")["plan"]] == ["order-departure", "bracket-stock"]
    recorded = b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir())
    assert (b"sk-a1" in recorded, b"[masked-key]. Stock on" in recorded) == (False, bool(key))
    own.unlink()
    monkeypatch.chdir(tmp_path / "elsewhere")
    again = dowbench("replay", tmp_path / "out")
    assert (again.code, ": equal" in again.out) == (0, True), again.err
    assert dowbench("audit", tmp_path / "out").code == 0
    missing = dowbench("run", config, "--out", tmp_path / "out")
    assert (missing.code, missing.err) == (2, f"error: {config}:5:1: no such file: {own}\n")


def test_other_prices_are_refused_where_a_run_has_its_own(tmp_path: Path, dowbench: Dowbench) -> None:
    table = (
        "prices:\n- {{provider: mock, model: mock-susceptible, input_per_mtok: {}, output_per_mtok: {}, "
        "cache_read_per_mtok: 0.25, cache_write_per_mtok: 1.25, source: simulated, retrieved: 2026-01-01, "
        "simulated: true}}\n"
    )
    (tmp_path / "first.yaml").write_text(table.format(1, 4))
    (tmp_path / "same.yaml").write_text("# again\n" + table.format(1, 4))
    (tmp_path / "other.yaml").write_text(table.format(1.5, 40))
    config = tmp_path / "plan.yaml"
    config.write_text("run_name: r\nprovider: mock\nmodels: [mock-susceptible]\nattacks: [open-cursor-01]\n")
    out = tmp_path / "out"
    assert dowbench("run", config, "--out", out, "--prices", tmp_path / "first.yaml").code == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    for command in ("run", "estimate"):
        found = dowbench(command, config, "--out", out, "--prices", tmp_path / "other.yaml")
        assert (found.code, found.err) == (
            2,
            (
                f"error: {out}: holds a run with other prices than {tmp_path / 'other.yaml'} has: input_per_mtok of "
                "mock-susceptible is 1.5, recorded 1; output_per_mtok of mock-susceptible is 40, recorded 4; leave out "
                "--prices to go on with those it recorded, or choose another directory with --out\n"
            ),
        )
        assert dowbench(command, config, "--out", out, "--prices", tmp_path / "same.yaml").code == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
