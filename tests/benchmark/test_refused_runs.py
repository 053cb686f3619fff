"""Configurations, budgets and names that are refused in one line, before anything is sent."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hostile import CONFIG, dowbench, one_error

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths, signals, limits and devices of POSIX")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "stale-copy-01",
            "stale-copy-1",
            ":4:11: unknown attack 'stale-copy-1'; did you mean 'stale-copy-01'? known",
        ),
        (
            "turn_limit",
            "turn_limits",
            ":5:18: unknown defense 'turn_limits'; did you mean 'turn_limit'? known",
        ),
        ("[none, ", "[", ":5:1: defenses: 'none' is missing"),
        ("none, turn_limit", "none, none", ":5:18: defenses[1]: two defenses have the label 'none'"),
        ("mock-susceptible", "gpt-9", ":3:10: "),
        ("provider: mock", "provider: mocks", ":2:1: "),
        ("run_name: hostile\n", "", ":1:1: the key 'run_name' is missing"),
        ("run_name:", "runname:", ":1:1: runname: unknown key; did you mean 'run_name'? known here: run_name"),
        ("[stale-copy-01", "[stale-copy-01, [", ": broken YAML: "),
        ("attacks:", "benign_tasks: [nothing]\nattacks:", ":4:16: unknown task 'nothing'; known: returns-window"),
        ("attacks:", "success_threshold: 1.0\nattacks:", ":4:1: success_threshold: expected a finite number above 1"),
        ("attacks:", "success_threshold: .nan\nattacks:", ":4:1: success_threshold: expected a finite number"),
        ("attacks:", "scenario: moon\nattacks:", ":4:1: unknown scenario 'moon'; known: parts-desk"),
        ("attacks:", "paraphrases: 4\nattacks:", ":4:1: "),
        ("attacks:", "repeats: 0\nattacks:", ":4:1: repeats: expected a whole number from 1 to "),
        ("attacks:", "concurrency: 0\nattacks:", ":4:1: concurrency: expected a whole number"),
        ("attacks:", "ceiling: {max_turns: 0}\nattacks:", ":4:11: ceiling.max_turns: expected a whole number"),
        ("turn_limit", "{name: turn_limit, params: {max_turns: 0}}", ": defense 'turn_limit': max_turns: expected"),
        ("turn_limit", "{name: turn_limit, params: {turns: 3}}", ": defense 'turn_limit' has no parameter 'turns'"),
    ],
)
def test_a_wrong_configuration_is_located(here: Callable[..., Any], plan: Path, old: str, new: str, said: str) -> None:
    assert old in CONFIG
    (plan / "plan.yaml").write_text(CONFIG.replace(old, new), encoding="utf-8")
    for command in ("run", "estimate"):
        line = one_error(here(command, "plan.yaml", "--out", "out"), 2)
        assert "plan.yaml:" in line
        assert said in line
    assert not (plan / "out").exists()


@pytest.mark.parametrize("budget", ["nan", "-1", "inf", "-0.01", "1e999", "many"])
@pytest.mark.parametrize("option", ["--budget-usd", "--budget-tokens"])
def test_a_budget_that_is_no_number_is_refused(here: Callable[..., Any], plan: Path, option: str, budget: str) -> None:
    done = here("run", "plan.yaml", "--out", "out", option, budget)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert not (plan / "out" / "calls.jsonl").exists()


def test_a_budget_that_does_not_cover_the_worst_case_is_refused_before_anything_is_sent(plan: Path) -> None:
    line = one_error(dowbench(plan, "run", "plan.yaml", "--out", "out", "--budget-usd", "0.01"), 2)
    assert "does not cover" in line
    assert not (plan / "out" / "calls.jsonl").exists()
    stopped = dowbench(plan, "run", "plan.yaml", "--out", "out", "--budget-usd", "0.01", "--partial")
    assert stopped.returncode == 3, stopped.stderr
    assert json.loads((plan / "out" / "run.json").read_text())["spent_usd"] <= 0.01
    assert dowbench(plan, "run", "plan.yaml", "--out", "out", "--budget-usd", "10").returncode == 0


def test_a_folder_does_not_hide_a_shipped_configuration(here: Callable[..., Any], plan: Path) -> None:
    (plan / "smoke").mkdir()
    assert here("estimate", "smoke").returncode == 0
    (plan / "mine").mkdir()
    for name in ("./smoke", "mine"):
        assert f"{name}: is a folder, and no configuration of that name" in one_error(here("run", name), 2)


def test_a_run_that_was_meant_is_named(here: Callable[..., Any], plan: Path, whole: Path) -> None:
    shutil.copytree(whole, plan / "runs" / "mine")
    for command in ("replay", "audit", "report"):
        assert "mine: no run directory: it has no run.json; runs/mine is one" in one_error(here(command, "mine"), 2)


def test_names_that_are_too_long(here: Callable[..., Any], plan: Path) -> None:
    name = "x" * 300
    (plan / "long.yaml").write_text(CONFIG.replace("hostile", name), encoding="utf-8")
    for command in ("run", "estimate"):
        assert "long.yaml:1:1: run_name: expected up to 100 letters" in one_error(here(command, "long.yaml"), 2)
        line = one_error(here(command, "plan.yaml", "--out", name), 2)
        assert "File name too long" in line
    for arguments in (
        ("run", name),
        ("audit", name),
        ("replay", name),
        ("report", name),
        ("run", "smoke", "--prices", name),
    ):
        assert "File name too long" in one_error(here(*arguments), 2)


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "plan.yaml", "--out", ""),
        ("estimate", "plan.yaml", "--prices", ""),
        ("replay", ""),
        ("audit", "out", "-o", ""),
    ],
)
def test_an_empty_value_is_a_mistake(here: Callable[..., Any], plan: Path, arguments: tuple[str, ...]) -> None:
    before = sorted(path.name for path in plan.iterdir())
    done = here(*arguments)
    assert done.returncode == 2
    assert "the value is empty" in done.stderr
    assert sorted(path.name for path in plan.iterdir()) == before


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("repeats: 9999999", ":4:1: repeats: expected a whole number from 1 to 100000"),
        ("repeats: 100000", ":4:1: repeats: 1,000,000 episodes are planned, expected 1 to 100,000"),
        ("ceiling: {max_total_tokens: " + "9" * 300 + "}", ":4:11: ceiling.max_total_tokens: expected a whole number"),
        ("retry: {max_delay_s: 1e300}", ":4:9: retry.max_delay_s: expected a finite number from 0 to 3600.0"),
        ("retry: {base_delay_s: .nan}", ":4:9: retry.base_delay_s: expected a finite number"),
        ("retry: {base_delay_s: -1}", ":4:9: retry.base_delay_s: expected a finite number"),
        ("rate_limit: {rpm: -1}", ":4:14: rate_limit.rpm: expected a whole number"),
        ("rate_limit: {tpm: .inf}", ":4:14: rate_limit.tpm: expected a whole number"),
        ("options: {temperature: .nan}", ":4:11: options.temperature: expected a finite number"),
        ("options: {a: [1, -.inf]}", ":4:18: options.a[1]: expected a finite number"),
        ("success_threshold: .inf", ":4:1: success_threshold: expected a finite number above 1"),
        ("seed: -1", ":4:1: seed: expected a whole number from 0 to 2147483647"),
        ("concurrency: 65", ":4:1: concurrency: expected a whole number from 1 to 64"),
        ("provider_options: {latency_s: .inf}", "provider_options.latency_s: expected a finite number"),
    ],
)
def test_numbers_are_finite_and_bounded(here: Callable[..., Any], plan: Path, written: str, said: str) -> None:
    (plan / "plan.yaml").write_text(CONFIG.replace("attacks:", f"{written}\nattacks:"), encoding="utf-8")
    assert said in one_error(here("run", "plan.yaml", "--out", "out"), 2)
    assert not (plan / "out").exists()


def test_a_plan_of_nothing_is_refused(here: Callable[..., Any], plan: Path) -> None:
    text = CONFIG.replace("[stale-copy-01, locker-puzzle-01]", "[]")
    (plan / "plan.yaml").write_text(text, encoding="utf-8")
    assert ":4:1: attacks: 0 episodes are planned" in one_error(here("run", "plan.yaml", "--out", "out"), 2)


def test_names_that_are_nowhere(here: Callable[..., Any]) -> None:
    assert "shipped: " in one_error(here("run", "nothing"), 2)
    for command in ("replay", "audit"):
        assert "no run directory" in one_error(here(command, "nothing"), 2)
    assert "prices" in one_error(here("run", "plan.yaml", "--out", "out", "--prices", "no-prices.yaml"), 2)
