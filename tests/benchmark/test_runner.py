"""Running a plan: its files, concurrency, and going on where a run was left."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from dowbench_benchmark import replay, runfile, runner
from plans import (
    Wrapped,
    calls,
    episodes,
    files,
    make_plan,
    run_part,
    run_plan,
    said,
    without,
)

from dowbench.errors import UsageError

if TYPE_CHECKING:
    from dowbench_benchmark.model import Request
    from workbench import Dowbench


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
