"""Scenarios load with located errors, answer the same way every time, and never raise at a model's mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from dowbench_benchmark.located import DataError
from dowbench_benchmark.model import ToolCall
from dowbench_benchmark.scenario import load_scenario, scenarios
from hypothesis import given
from hypothesis import strategies as st

from dowbench.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

DESK = load_scenario("parts-desk")
SMALL = """\
id: small
title: A small one
system_prompt: Help.
tools:
  look_up:
    description: Looks up a word.
    parameters:
      type: object
      properties:
        word: {type: string}
        page: {type: integer, default: 1}
      required: [word]
    replies:
      - when: {word: frame, page: 1}
        text: A frame has tubes.
      - when: {word: {any_word: [Wheel, rim]}}
        text: About {word}.
    otherwise: Nothing on {word}, page {page}.
tasks:
  frame:
    tools: [look_up]
    wordings: [What is a frame?, Tell me what a frame is., A frame is what?]
    expected: [tubes]
"""


def call(name: str, **arguments: object) -> ToolCall:
    return ToolCall("c1", name, arguments)


def small(tmp_path: Path, text: str = SMALL) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_shipped_scenario_has_three_wordings_and_an_expected_answer_a_task() -> None:
    assert "parts-desk" in scenarios()
    for name in scenarios():
        scenario = load_scenario(name)
        assert scenario.id == name
        for task in scenario.tasks.values():
            assert len(task.wordings) >= 3, task.id
            assert len(set(task.wordings)) == len(task.wordings), task.id
            assert task.expected, task.id
            assert all(name in scenario.catalogue for name in scenario.offers[task.id])


def test_replies_fit_by_value_default_and_word(tmp_path: Path) -> None:
    scenario = load_scenario(small(tmp_path))
    world = scenario.world(scenario.tasks["frame"], 0, None, "Help.")
    assert world.prompt == "What is a frame?"
    assert world.execute(call("look_up", word=" frame ")).text == "A frame has tubes."
    assert world.execute(call("look_up", word="frame", page=1.0)).text == "A frame has tubes."
    assert world.execute(call("look_up", word="frame", page=2)).text == "Nothing on frame, page 2."
    assert world.execute(call("look_up", word="a wheel, please")).text == "About a wheel, please."
    assert world.execute(call("look_up", word="wheelie")).text == "Nothing on wheelie, page 1."
    assert len(world.execute(call("look_up", word="x" * 5000)).text) < 120


def test_a_reply_may_change_from_call_to_call_within_an_episode_only() -> None:
    for _ in range(2):
        world = DESK.world(DESK.tasks["slow-export"], 0, None, "")
        said = [world.execute(call("export_status", export_id="EX-240")).text for _ in range(4)]
        assert ["queued" in text for text in said] == [True, False, False, False]
        assert ["running" in text for text in said] == [False, True, False, False]
        assert ["aisle-stock.csv" in text for text in said] == [False, False, True, True]


def test_a_model_s_mistakes_are_answered_not_raised(tmp_path: Path) -> None:
    scenario = load_scenario(small(tmp_path))
    world = scenario.world(scenario.tasks["frame"], 2, None, "Help.")
    assert world.execute(call("look_down")).text == "error: there is no tool 'look_down'; there are: look_up"
    assert world.execute(call("look_up")).text == "error: look_up needs a value for 'word'"
    assert world.execute(call("look_up", word=None)).text == "error: look_up needs a value for 'word'"
    assert world.execute(call("look_up", word="a", depth=3)).text == "error: look_up has no parameter 'depth'"


@given(
    st.dictionaries(
        st.sampled_from(["document_id", "page", "query", "x"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
            max_leaves=5,
        ),
    )
)
def test_any_arguments_get_the_same_text_twice(arguments: dict[str, object]) -> None:
    task = DESK.tasks["returns-window"]
    first, second = (DESK.world(task, 0, None, "") for _ in range(2))
    for name in ("read_document", "search_documents"):
        outcome = first.execute(ToolCall("a", name, arguments))
        assert outcome == second.execute(ToolCall("b", name, arguments))
        assert outcome.text


def test_a_delegated_task_is_a_prompt_not_a_text() -> None:
    world = DESK.world(DESK.tasks["delegated-carriage"], 0, None, "")
    outcome = world.execute(call("delegate_task", task="Read the rates. " * 30))
    assert outcome.delegate == ("Read the rates. " * 30).strip()
    assert outcome.text == ""


def test_the_digest_moves_with_what_shapes_an_episode_only(tmp_path: Path) -> None:
    base = load_scenario(small(tmp_path)).digest
    assert load_scenario(small(tmp_path, SMALL + "# a comment\n")).digest == base
    assert load_scenario(small(tmp_path, SMALL.replace("A small one", "Renamed"))).digest == base
    for old, new in (
        ("has tubes", "has lugs"),
        ("Help.", "Assist."),
        ("A frame is what?", "Frame?"),
        ("[Wheel,", "[Hub,"),
    ):
        assert load_scenario(small(tmp_path, SMALL.replace(old, new))).digest != base, old


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("title: A small one\n", "", ":1:1: the key 'title' is missing"),
        ("title:", "titel:", ":2:1: titel: unknown key; did you mean 'title'? known here: id, title"),
        ("  look_up:", "  look up:", ":5:3: tools.look up: expected a tool name"),
        ("[look_up]", "[look_down]", ":21:13: tasks.frame.tools[0]: there is no tool 'look_down'; there are: look_up"),
        (", A frame is what?]", "]", ":22:5: tasks.frame.wordings: expected at least 3 items, found 2"),
        ("A frame is what?", "What is a frame?", "tasks.frame.wordings[2]: 'What is a frame?' is listed twice"),
        ("[tubes]", "[]", "tasks.frame.expected: expected at least 1 item, found 0"),
        (
            "word: frame, page",
            "size: frame, page",
            ":14:16: tools.look_up.replies[0].when.size: there is no such param",
        ),
        ("About {word}", "About {size}", ":17:9: tools.look_up.replies[1].text: {size} names no parameter"),
        ("required: [word]", "required: [size]", ":12:18: tools.look_up.parameters.required[0]: there is no property"),
        ("{type: string}", "{type: text}", "tools.look_up.parameters.properties.word.type: expected one of string"),
        ("    otherwise: Nothing on {word}, page {page}.\n", "", "tools.look_up: the key 'otherwise' is missing"),
        ("text: A frame", "texts: [A]\n        text: A frame", "replies[0]: expected either 'text' or 'texts'"),
        ("text: A frame has tubes.", "texts: [A]", "replies[0].texts: expected at least 2 items, found 1"),
        ("{word: frame, page: 1}", "{}", "tools.look_up.replies[0].when: expected at least one parameter"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in SMALL
    with pytest.raises(DataError) as caught:
        load_scenario(small(tmp_path, SMALL.replace(old, new)))
    assert said in str(caught.value)
    assert caught.value.line is not None


def test_unknown_scenarios_are_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"unknown scenario 'nowhere'; known: .*parts-desk"):
        load_scenario("nowhere")
