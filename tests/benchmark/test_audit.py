"""Auditing recorded runs: those of dowbench 0.1.0, and our own."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from dowbench_benchmark.audit import audit
from plans import PILOT, Wrapped, failing, make_plan, recorded_pilot, run_plan, timed_out, unmappable

from dowbench.errors import DowbenchError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from workbench import Dowbench

PILOT_SHA256 = "12abac6affd07670c26bc2e090b17c5ded70b08d1f581f4699ead6ab4166dcad"


@recorded_pilot
def test_the_recorded_pilot_comes_out_byte_for_byte() -> None:
    found = audit(PILOT)
    assert found.data == (PILOT / "summary.json").read_bytes()
    assert found.sha256 == PILOT_SHA256
    assert (found.differences, found.calls, found.usage.total) == ((), 197, 98211)


@recorded_pilot
def test_the_recorded_pilot_on_the_command_line(dowbench: Dowbench) -> None:
    run = dowbench("audit", PILOT)
    assert run.code == 0
    assert f"summary.json sha256 {PILOT_SHA256}\nequal to the recorded summary.json\n" in run.out
    assert "SIMULATED" not in run.out


@recorded_pilot
def test_another_threshold_decides_anew(dowbench: Dowbench) -> None:
    by_defense = {cell["defense"]: cell for cell in audit(PILOT, threshold=3).summary["defenses"]}
    for label, cell in by_defense.items():
        amplified = [row["amplification"] for row in audit(PILOT).summary["attacks"] if row["defense"] == label]
        assert cell["successes"] == sum(a >= 3 for a in amplified)
    assert by_defense["none"]["successes"] == 3
    run = dowbench("audit", PILOT, "--threshold", "3")
    assert run.code == 0
    assert "decided anew" in run.out
    assert "equal" not in run.out


# ---- a run directory as 0.1.0 wrote them, made up

PRICES = """prices:
- {provider: gemini, model: g-1, input_per_mtok: 0.37, output_per_mtok: 2.83, cache_read_per_mtok: 0.031,
   cache_write_per_mtok: 0.0, source: 'https://example.org/prices', retrieved: 2026-01-02, max_prompt_tokens: 100000}
- {provider: gemini, model: g-2, input_per_mtok: 1.0, output_per_mtok: 5.0, cache_read_per_mtok: 0.1,
   cache_write_per_mtok: 0.0, source: 'https://example.org/prices', retrieved: 2026-01-02, max_prompt_tokens: 100000}
"""


def usage(prompt: int, output: int, thoughts: int = 0, cached: int = 0) -> dict[str, Any]:
    raw = {
        "prompt_token_count": prompt,
        "candidates_token_count": output,
        "total_token_count": prompt + output + thoughts,
    }
    if thoughts:
        raw["thoughts_token_count"] = thoughts
    if cached:
        raw["cached_content_token_count"] = cached
    return raw


class Original:
    """Writes a run directory in the format of 0.1.0."""

    def __init__(self, directory: Path, **config: Any) -> None:
        self.directory = directory
        directory.mkdir()
        defenses = [
            {"name": "none", "label": "bare", "params": {}},
            {"name": "turn_limit", "label": None, "params": {}},
        ]
        self.run: dict[str, Any] = {
            "run_name": "made-up",
            "dowbench_version": "0.1.0",
            "provider": "gemini",
            "simulated": False,
            "config": {
                "provider": "gemini",
                "models": ["g-1", "g-2"],
                "defenses": defenses,
                "success_threshold": 5.0,
                "unpriced": False,
                **config,
            },
        }
        self.episodes: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []

    def episode(self, kind: str, raws: list[dict[str, Any]], cost: float | None, **changes: Any) -> None:
        number = len(self.episodes)
        attempt = f"{number:032x}"
        row = {
            "episode_id": f"{number:016x}",
            "model": "g-1",
            "defense": "bare",
            "kind": kind,
            "item_id": "t" if kind == "benign" else "a",
            "benign_task_id": "t",
            "repeat": 0,
            "status": "completed",
            "reason": None,
            "turns": len(raws),
            "cost_usd": cost,
            "simulated": False,
            "attempt": attempt,
            **changes,
        }
        counters = [self._counters(raw) for raw in raws]
        row["usage"] = {key: sum(c[key] for c in counters) for key in self._counters(usage(0, 0))}
        self.episodes.append(row)
        for raw in raws:
            self.call(attempt, raw, row["model"])

    def call(self, attempt: str, raw: dict[str, Any], model: str = "g-1") -> None:
        self.events.append(
            {
                "attempt": attempt,
                "kind": "complete",
                "provider": "gemini",
                "request": {"model": model},
                "response": {"raw": {"usage": raw}, "usage": self._counters(raw)},
            }
        )

    def write(self, *, calls: bool = False) -> Path:
        def dump(name: str, rows: list[dict[str, Any]]) -> None:
            (self.directory / name).write_text("".join(json.dumps(row) + "\n" for row in rows))

        (self.directory / "run.json").write_text(json.dumps(self.run))
        dump("episodes.jsonl", self.episodes)
        if calls:
            rows = [
                {
                    "attempt": event["attempt"],
                    "model": event["request"]["model"],
                    "raw_usage": event["response"]["raw"]["usage"],
                    "usage": event["response"]["usage"],
                    "error": None,
                }
                for event in self.events
            ]
            dump("calls.jsonl", rows)
        else:
            dump("cassette.jsonl", self.events)
        (self.directory.parent / "prices.yaml").write_text(PRICES)
        return self.directory

    @staticmethod
    def _counters(raw: dict[str, Any]) -> dict[str, int]:
        cached = raw.get("cached_content_token_count", 0)
        return {
            "input_tokens": raw["prompt_token_count"] - cached,
            "output_tokens": raw["candidates_token_count"],
            "reasoning_tokens": raw.get("thoughts_token_count", 0),
            "cache_read_tokens": cached,
            "cache_write_tokens": 0,
        }


@pytest.mark.parametrize("calls", [True, False])
def test_models_repeats_and_statuses_of_0_1_0(tmp_path: Path, calls: bool) -> None:
    made = Original(tmp_path / "run")
    made.episode("benign", [usage(100, 10, thoughts=5, cached=40)], (60 * 0.37 + 15 * 2.83 + 40 * 0.031) / 1e6)
    made.episode("benign", [usage(100, 10)], (100 * 1.0 + 10 * 5.0) / 1e6, model="g-2")
    made.episode("benign", [], 0.0, defense="turn_limit", status="errored")
    made.episode("attack", [usage(400, 40), usage(600, 60)], (1000 * 0.37 + 100 * 2.83) / 1e6, status="censored")
    made.episode("attack", [usage(100, 10)], (100 * 0.37 + 10 * 2.83) / 1e6, status="errored", repeat=1)
    made.episode("attack", [usage(800, 0)], 800 * 1.0 / 1e6, model="g-2", defense="turn_limit", status="aborted")
    made.call("f" * 32, usage(7, 3))
    found = audit(made.write(calls=calls), price_file=tmp_path / "prices.yaml")
    assert found.differences == ()
    assert found.usage.total == sum(sum(row["usage"].values()) for row in made.episodes) + 10
    rows = found.summary["attacks"]
    assert [(row["success"], row["cost_usd"]) for row in rows] == [
        (True, made.episodes[3]["cost_usd"]),
        (None, made.episodes[4]["cost_usd"]),
        (True, made.episodes[5]["cost_usd"]),
    ]
    cells = {(cell["model"], cell["defense"]): cell for cell in found.summary["defenses"]}
    assert list(cells) == [("g-1", "bare"), ("g-2", "bare"), ("g-1", "turn_limit"), ("g-2", "turn_limit")]
    assert (cells["g-1", "bare"]["censored"], cells["g-1", "bare"]["errored"]) == (1, 1)
    assert cells["g-1", "turn_limit"]["errored"] == 1


def test_an_unpriced_run_of_0_1_0_has_no_metric(tmp_path: Path) -> None:
    made = Original(tmp_path / "run", unpriced=True)
    made.episode("benign", [usage(100, 10)], None)
    made.episode("attack", [usage(1000, 10)], None)
    found = audit(made.write())
    assert (found.differences, found.usd) == ((), None)
    assert found.summary["attacks"][0]["amplification"] is None


def test_what_the_raw_usage_contradicts_is_named(tmp_path: Path, dowbench: Dowbench) -> None:
    made = Original(tmp_path / "run")
    made.episode("benign", [usage(100, 10)], (100 * 0.37 + 10 * 2.83) / 1e6)
    made.episode("attack", [usage(100, 10)], 1.0)
    made.episodes[0]["usage"]["input_tokens"] += 1
    directory = made.write()
    (directory / "summary.json").write_text("{}\n")
    run = dowbench("audit", directory, "--prices", tmp_path / "prices.yaml")
    assert "different: episode 0000000000000000: usage is input_tokens 100" in run.err
    assert run.code == 1


def test_usage_that_cannot_be_mapped_is_placed_and_the_rest_recomputed(tmp_path: Path, dowbench: Dowbench) -> None:
    made = Original(tmp_path / "run")
    made.episode("benign", [usage(100, 10)], (100 * 0.37 + 10 * 2.83) / 1e6)
    made.episode("attack", [usage(1000, 10)], (1000 * 0.37 + 10 * 2.83) / 1e6)
    del made.events[1]["response"]["raw"]["usage"]["total_token_count"]
    made.events[0]["response"]["raw"]["usage"]["surprise_token_count"] = 3
    run = dowbench("audit", made.write(), "--prices", tmp_path / "prices.yaml")
    assert run.code == 1
    file = tmp_path / "run" / "cassette.jsonl"
    taken = "what was recorded is taken: input_tokens"
    surprise = "unknown usage field 'surprise_token_count' = 3: it may be billed"
    assert [line for line in run.err.splitlines() if line.startswith("different: ")] == [
        f"different: {file}:1: {surprise}; {taken} 100, output_tokens 10",
        f"different: {file}:2: usage without total_token_count; {taken} 1000, output_tokens 10",
    ]
    assert "made-up: 2 calls, 1,120 billed tokens" in run.out


def test_usage_that_cannot_be_mapped_and_never_was_is_refused(tmp_path: Path) -> None:
    made = Original(tmp_path / "run")
    made.episode("benign", [usage(100, 10)], 0.1)
    made.events[0]["response"]["raw"]["usage"]["surprise_token_count"] = 3
    del made.events[0]["response"]["usage"]
    with pytest.raises(DowbenchError, match=r"cassette\.jsonl:1: response\.raw\.usage: unknown usage field 'surprise"):
        audit(made.write(), price_file=tmp_path / "prices.yaml")


def test_a_call_that_0_1_0_could_not_map_counts_as_it_counted(tmp_path: Path) -> None:
    """Its episode is errored; the raw usage is in calls.jsonl with the error, or was never reported."""
    for calls in (True, False):
        made = Original(tmp_path / f"run{calls}")
        made.episode("benign", [usage(100, 10)], (100 * 0.37 + 10 * 2.83) / 1e6)
        made.episode("attack", [usage(200, 10)], (200 * 0.37 + 10 * 2.83) / 1e6, status="errored")
        made.events[1]["response"]["raw"]["usage"] = {}
        directory = made.write(calls=calls)
        if calls:
            rows = [json.loads(line) for line in (directory / "calls.jsonl").read_text().splitlines()]
            nothing = dict.fromkeys(rows[0]["usage"], 0)
            failed = {**rows[1], "raw_usage": {"new_count": 7}, "usage": nothing, "error": "unknown field"}
            (directory / "calls.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [*rows, failed]))
        found = audit(directory, price_file=tmp_path / "prices.yaml")
        assert found.differences == ()
        assert any("had no usage that could be mapped" in notice for notice in found.notices)
        assert found.usage.total == 320


def test_rows_of_an_earlier_configuration_are_left_out(tmp_path: Path) -> None:
    """0.1.0 kept no plan, but how many episodes it had; what is no part of its configuration is not counted."""
    made = Original(tmp_path / "run", models=["g-1"], repeats=1, attacks=["a"])
    cost = (100 * 0.37 + 10 * 2.83) / 1e6
    for changes in ({"model": "g-2"}, {"repeat": 1}, {"defense": "gone"}, {"item_id": "u", "benign_task_id": "u"}, {}):
        made.episode("benign", [usage(100, 10)], cost, **changes)
    for changes in ({"item_id": "b"}, {"model": "g-2"}, {}, {}):
        made.episode("attack", [usage(100, 10)], cost, **changes)
    made.run["episodes_planned"] = 2
    found = audit(made.write(), price_file=tmp_path / "prices.yaml")
    assert [row["episode_id"] for row in found.summary["attacks"]] == [made.episodes[-1]["episode_id"]]
    assert found.summary["defenses"][0]["benign_episodes"] == 1
    assert "7 recorded episode(s) are not planned any more and left out" in found.notices


def test_a_run_of_nothing(tmp_path: Path) -> None:
    made = Original(tmp_path / "run", attacks=[])
    made.run["episodes_planned"] = 0
    directory = made.write()
    (directory / "episodes.jsonl").unlink()
    assert audit(directory).summary["attacks"] == []
    made.run["episodes_planned"] = 1
    (directory / "run.json").write_text(json.dumps(made.run))
    with pytest.raises(DowbenchError, match=r"episodes\.jsonl: has no episodes"):
        audit(directory)


def test_a_model_without_a_price(tmp_path: Path) -> None:
    made = Original(tmp_path / "run")
    made.episode("benign", [usage(100, 10)], 0.1)
    with pytest.raises(UsageError, match="no price for gemini/g-1"):
        audit(made.write())


@pytest.mark.parametrize("content", [None, "[]", "{", '{"config": {}}'])
def test_a_directory_that_is_no_run(tmp_path: Path, dowbench: Dowbench, content: str | None) -> None:
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    run = dowbench("audit", tmp_path)
    assert run.code == 2
    assert run.err.count("\n") == 1
    assert str(tmp_path) in run.err


# ---- our own


def test_our_own_run_is_recomputed(tmp_path: Path) -> None:
    result = run_plan(make_plan(), tmp_path / "run")
    assert result.summary is not None
    found = audit(tmp_path / "run")
    assert (found.sha256, found.equal, found.differences, found.notices) == (result.summary.sha256, True, (), ())
    assert hashlib.sha256((tmp_path / "run" / "summary.json").read_bytes()).hexdigest() == found.sha256


def test_failed_and_abandoned_calls_are_no_obstacle(tmp_path: Path) -> None:
    made = make_plan(retry={"max_attempts": 1})
    assert run_plan(made, tmp_path / "run", Wrapped(failing(timed_out, 3))).code == 1
    second = run_plan(made, tmp_path / "run", Wrapped(failing(unmappable, 2)))
    assert (second.code, second.progress.errored, second.progress.done) == (1, 1, 12)
    found = audit(tmp_path / "run")
    assert found.differences == ()
    assert found.equal


def test_recorded_prices_hold_and_todays_are_mentioned(tmp_path: Path, dowbench: Dowbench) -> None:
    run_plan(make_plan(), tmp_path / "run")
    prices = tmp_path / "prices.yaml"
    prices.write_text(
        "prices: [{provider: mock, model: mock-susceptible, input_per_mtok: 2, output_per_mtok: 5, "
        "cache_read_per_mtok: 0.1, cache_write_per_mtok: 1, source: simulated, retrieved: 2026-01-01, simulated: true}]"
    )
    assert dowbench("audit", tmp_path / "run").code == 0
    run = dowbench("audit", tmp_path / "run", "--prices", prices)
    assert run.code == 0
    assert "decided anew" in run.out
