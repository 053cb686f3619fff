"""Run configurations and the plans made of them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from dowbench_benchmark import config, plan
from dowbench_benchmark.located import read_yaml
from dowbench_benchmark.model import DefenseSpec
from dowbench_benchmark.recorded import Recorded
from plans import BASE, make_plan

from dowbench.errors import DowbenchError

if TYPE_CHECKING:
    from workbench import Dowbench

CONFIGS = Path(__file__).resolve().parents[2] / "benchmark" / "configs"


def parse(text: str) -> config.Config:
    return config.parse(read_yaml("c.yaml", text))


def text(**changes: object) -> str:
    return yaml.safe_dump({**BASE, **changes}, sort_keys=False)


@pytest.mark.parametrize("name", sorted(path.stem for path in CONFIGS.glob("*.yaml")))
def test_shipped_configurations_make_plans(name: str) -> None:
    assert name in config.shipped()
    made = plan.make(*config.load(name))
    assert {spec.kind for spec in made.episodes} == {"benign", "attack", "control"}
    assert len({spec.id for spec in made.episodes}) == len(made.episodes)


def test_a_configuration_survives_its_record() -> None:
    made = parse(
        text(
            rate_limit={"rpm": 5, "rpd": 100, "timezone": "America/Los_Angeles"},
            defenses=["none", ["turn_limit", {"name": "result_cap", "params": {"max_result_chars": 9}}]],
            options={"temperature": 0.7},
            final_answer=True,
        )
    )
    assert config.parse(Recorded(made.record(), "run.json")) == made
    assert replace(made, seed=1) != made


def test_defaults() -> None:
    made = parse("run_name: r\nprovider: mock\nmodels: [m]\n")
    assert made.attacks is None
    assert (made.repeats, made.paraphrases, made.controls, made.seed, made.concurrency) == (1, 1, True, 0, 1)
    assert (made.ceiling.max_turns, made.ceiling.max_tokens_per_call, made.ceiling.max_total_tokens) == (
        12,
        1024,
        50000,
    )
    assert (made.success_threshold, made.unpriced, made.rate_limit) == (5.0, False, None)
    assert (made.retry.max_attempts, made.retry.base_delay_s, made.retry.max_delay_s) == (3, 0.5, 8.0)


def test_forms_of_a_defense() -> None:
    made = parse(
        text(
            defenses=[
                {"name": "none", "label": "bare"},
                "turn_limit",
                {"name": "turn_limit", "label": "short", "params": {"max_turns": 2}},
                ["turn_limit", "result_cap"],
                {"label": "both", "stack": [{"name": "turn_limit", "params": {"max_turns": 3}}, "result_cap"]},
            ]
        )
    )
    assert made.defenses == (
        DefenseSpec("bare", ()),
        DefenseSpec("turn_limit", (("turn_limit", {}),)),
        DefenseSpec("short", (("turn_limit", {"max_turns": 2}),)),
        DefenseSpec("turn_limit+result_cap", (("turn_limit", {}), ("result_cap", {}))),
        DefenseSpec("both", (("turn_limit", {"max_turns": 3}), ("result_cap", {}))),
    )
    assert made.baseline == "bare"


@pytest.mark.parametrize(
    ("changes", "place", "message"),
    [
        ({"repeat": 2}, "repeat: 2", "repeat: unknown key"),
        ({"defenses": ["turn_limit"]}, "defenses:", "'none' is missing"),
        ({"defenses": ["none", {"name": "none", "label": "again"}]}, "- name: none", "'none' is listed twice"),
        ({"defenses": ["none", "turn_limit", "turn_limit"]}, "- turn_limit", "label 'turn_limit'"),
        ({"defenses": ["none", ["none", "turn_limit"]]}, "- - none", "cannot be part of a stack"),
        ({"defenses": ["none", {"stack": []}]}, "- stack: []", "at least 1 item"),
        ({"repeats": 0}, "repeats: 0", "from 1 to "),
        ({"success_threshold": 1.0}, "success_threshold: 1.0", "above 1"),
        ({"success_threshold": float("nan")}, "success_threshold: .nan", "finite number"),
        ({"ceiling": {"max_turns": 0}}, "max_turns: 0", "from 1 to "),
        ({"ceiling": {"max_tokens_per_call": 99, "max_total_tokens": 98}}, "ceiling:", "above max_total_tokens"),
        ({"ceiling": {"turns": 3}}, "turns: 3", "unknown key"),
        ({"rate_limit": {"rpm": 0}}, "rpm: 0", "from 1 to "),
        ({"options": {"max_tokens": 9}}, "max_tokens: 9", "options.max_tokens: is set by the benchmark"),
        ({"options": {"temperature": 1, "model": "x"}}, "model: x", "options.model: is set by the benchmark"),
        ({"options": {"maxOutputTokens": 9}}, "maxOutputTokens: 9", "maxOutputTokens: is set by the benchmark"),
        ({"options": {"extra_body": {"n": 3}}}, "n: 3", "options.extra_body.n: is set by the benchmark"),
        ({"rate_limit": {"timezone": "Nowhere/Atlantis"}}, "timezone:", "expected a time zone"),
        ({"retry": {"max_attempts": 0}}, "max_attempts: 0", "from 1 to 20"),
        ({"concurrency": 65}, "concurrency: 65", "from 1 to 64"),
        ({"models": []}, "models: []", "at least 1"),
        ({"models": ["m", "m"]}, "- m", "listed twice"),
        ({"run_name": "../up"}, "run_name: ../up", "the first a letter or digit"),
        ({"controls": "yes"}, "controls: 'yes'", "true or false"),
        ({"options": {"temperature": float("inf")}}, "temperature: .inf", "options.temperature: expected a finite"),
        ({"seed": -1}, "seed: -1", "from 0 to 2147483647"),
    ],
)
def test_what_a_configuration_may_not_say(changes: dict[str, object], place: str, message: str) -> None:
    written = text(**changes)
    with pytest.raises(DowbenchError, match=message) as error:
        parse(written)
    assert error.value.path == "c.yaml"
    assert error.value.line is not None
    assert place in written.splitlines()[error.value.line - 1]


@pytest.mark.parametrize(
    ("changes", "place", "message"),
    [
        (
            {"attacks": ["stale-copy-01", "no-such-attack"]},
            "- no-such-attack",
            "unknown attack 'no-such-attack'; known",
        ),
        ({"benign_tasks": ["no-such-task"]}, "- no-such-task", "unknown task 'no-such-task'; known"),
        ({"defenses": ["none", "moat"]}, "- moat", "unknown defense 'moat'; known: token_budget"),
        ({"defenses": ["none", {"name": "turn_limit", "params": {"max_turns": 0}}]}, "name: turn_limit", "max_turns"),
        ({"provider": "nobody"}, "provider: nobody", "unknown provider 'nobody'; known: mock"),
        ({"models": ["mock-susceptible", "mock-new"]}, "- mock-new", "no price for mock/mock-new"),
        ({"scenario": "moon-base"}, "scenario: moon-base", "unknown scenario 'moon-base'; known"),
        ({"scenario": "moon.yaml"}, "scenario: moon.yaml", "no such file: moon.yaml"),
        ({"paraphrases": 99}, "paraphrases: 99", "wordings, not 99"),
        ({"agent": "my:agent"}, "agent: my:agent", "cannot be measured"),
        ({"attacks": []}, "attacks: []", "0 episodes are planned"),
        ({"repeats": 99_999}, "repeats: 99999", "episodes are planned, expected 1 to 100,000"),
    ],
)
def test_unknown_names_are_placed_and_say_what_is_known(changes: dict[str, object], place: str, message: str) -> None:
    written = text(**changes)
    root = read_yaml("c.yaml", written)
    with pytest.raises(DowbenchError, match=message) as error:
        plan.make(config.parse(root), root)
    assert error.value.path == "c.yaml"
    assert error.value.line is not None
    assert place in written.splitlines()[error.value.line - 1]


def test_what_follows_later_is_offered_to_nobody() -> None:
    with pytest.raises(DowbenchError, match="unknown key") as error:
        parse(text(agents="my:agent"))
    assert re.search(r"\bagent\b", error.value.message) is None
    assert parse(text(agent=None)).agent is None


def test_order_of_a_plan() -> None:
    made = make_plan(models=["mock-susceptible", "mock-partial"], repeats=2, paraphrases=2)
    seen = [(s.model, s.defense.label, s.repeat, s.kind, s.item_id, s.wording) for s in made.episodes]
    tasks = list(dict.fromkeys(s.item_id for s in made.episodes if s.kind == "benign"))
    assert tasks == ["returns-window", "open-orders"]
    expected = [
        (model, defense, repeat, kind, item, wording)
        for model in ("mock-susceptible", "mock-partial")
        for defense in ("none", "turn_limit")
        for repeat in (0, 1)
        for kind, items in (("benign", tasks), ("attack", BASE["attacks"]), ("control", BASE["attacks"]))
        for item in items
        for wording in (0, 1)
    ]
    assert seen == expected
    assert [spec.index for spec in made.episodes] == list(range(len(expected)))
    assert len({spec.id for spec in made.episodes}) == len(expected)


def test_without_controls_there_are_none() -> None:
    assert {spec.kind for spec in make_plan(controls=False).episodes} == {"benign", "attack"}


def test_the_paired_task_is_always_planned() -> None:
    made = make_plan(attacks=["end-mark-01"], benign_tasks=["open-orders"])
    assert [s.item_id for s in made.episodes if s.kind == "benign" and s.defense.label == "none"] == [
        "returns-window",
        "open-orders",
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 1},
        {"ceiling": {"max_turns": 5}},
        {"options": {"temperature": 1}},
        {"provider_options": {"latency_s": 0.1}},
        {"system_prompt": "Be brief."},
        {"final_answer": True},
        {"defenses": ["none", {"name": "turn_limit", "params": {"max_turns": 2}}]},
    ],
)
def test_what_shapes_an_episode_shapes_its_id(changes: dict[str, object]) -> None:
    before, after = make_plan(), make_plan(**changes)
    same = {spec.id for spec in before.episodes} & {spec.id for spec in after.episodes}
    touched = [spec.id for spec in before.episodes if "defenses" not in changes or spec.defense.label == "turn_limit"]
    assert not same & set(touched)


@pytest.mark.parametrize(
    "changes",
    [
        {"success_threshold": 3},
        {"concurrency": 4},
        {"retry": {"max_attempts": 1}},
        {"rate_limit": {"rpm": 1}},
        {"repeats": 2},
        {"attacks": ["stale-copy-01", "open-cursor-01", "end-mark-01"]},
        {"run_name": "other"},
        {"unpriced": True},
    ],
)
def test_what_does_not_shape_an_episode_leaves_its_id(changes: dict[str, object]) -> None:
    assert {spec.id for spec in make_plan().episodes} <= {spec.id for spec in make_plan(**changes).episodes}


def test_ids_are_sixteen_hex_digits() -> None:
    assert all(len(spec.id) == 16 and int(spec.id, 16) >= 0 for spec in make_plan().episodes)


def test_a_ceiling_above_the_price_tier_is_refused(tmp_path: Path) -> None:
    prices = tmp_path / "p.yaml"
    prices.write_text(
        "prices: [{provider: mock, model: mock-susceptible, input_per_mtok: 1, output_per_mtok: 1, "
        "cache_read_per_mtok: 1, cache_write_per_mtok: 1, source: 'https://example.org', "
        "retrieved: 2026-01-01, max_prompt_tokens: 49999}]"
    )
    root = read_yaml("c.yaml", text())
    with pytest.raises(DowbenchError, match=r"max_total_tokens is 50000, above the 49999 prompt tokens"):
        plan.make(config.parse(root), root, prices)


def test_a_scenario_with_a_final_answer_of_its_own_is_refused(tmp_path: Path) -> None:
    desk = (CONFIGS.parent / "scenarios" / "parts-desk.yaml").read_text(encoding="utf-8")
    scenario = tmp_path / "own.yaml"
    scenario.write_text(desk.replace("review_answer", "final_answer"), encoding="utf-8")
    written = text(scenario=str(scenario), attacks=[], benign_tasks=["order-departure"], final_answer=True)
    root = read_yaml("c.yaml", written)
    with pytest.raises(DowbenchError, match="'parts-desk' has a tool of the name 'final_answer' itself") as error:
        plan.make(config.parse(root), root)
    assert error.value.line is not None
    assert "final_answer: true" in written.splitlines()[error.value.line - 1]


def test_an_unpriced_plan_needs_no_price() -> None:
    made = make_plan(models=["anything"], unpriced=True)
    assert made.prices == {}


def test_options_that_change_no_bound_are_taken() -> None:
    options = {"temperature": 0, "top_p": 0.5, "thinking": {"budget_tokens": 100}, "stop": ["x"]}
    assert parse(text(options=options)).options == options


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"speed": 1}, "provider_options.speed: unknown key"),
        ({"fault": {"kind": "x"}}, "provider_options.fault.kind: expected one of"),
    ],
)
def test_options_that_a_provider_refuses_are_placed(
    tmp_path: Path, dowbench: Dowbench, options: dict[str, object], place: str
) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(text(provider_options=options))
    key = place.split(":")[0].rpartition(".")[2]
    line = next(number for number, row in enumerate(path.read_text().splitlines(), 1) if f"{key}:" in row)
    run = dowbench("run", path, "--out", tmp_path / "out")
    assert run.code == 2
    assert run.err.startswith(f"error: {path}:{line}:"), run.err
    assert f": {place}" in run.err
