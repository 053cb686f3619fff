"""``rules test`` finds what is wrong in a pack, and proves that every branch is tested."""

# ruff: noqa: E501
import pytest
from probe_rule import RULE, load

from dowbench.errors import RuleError
from dowbench.rulepack.document import read
from dowbench.rulepack.selftest import mutations
from dowbench.rulepack.selftest import test_pack as run_pack


def failures(probe):
    return [str(failure).removeprefix(f"{probe.folder}/") for failure in run_pack([probe.folder], load).failures]


def test_a_good_rule_passes(probe):
    probe.write()
    report = run_pack([probe.folder], load)
    assert (report.rules, report.tests, report.mutants, report.failures) == (1, 2, 1, ())


@pytest.mark.parametrize(
    ("old", "new", "failure"),
    [
        ("tool: {name: fetch_page}", "tool: {name: page}", "15: tests.flagged.0: not flagged, and should be (the name)"),
        ("tool: {name: send_mail}", "tool: {name: fetch}", "18: tests.not_flagged.0: flagged, and should not be (another name)"),
        ("{name: fetch_page}", "{name: fetch_page}\n      severity: high", "15: tests.flagged.0: severity: expected high, found medium (the name)"),
        ("{name: fetch_page}", "{name: fetch_page}\n      message: pages", "15: tests.flagged.0: message: expected pages, found fetch_page was found. (the name)"),
        ("{name: fetch_page}", "{name: fetch_page}\n      parameter: x", "15: tests.flagged.0: parameter: expected x, found None (the name)"),
        ("{words: [fetch]}", "{words: [fetch], without: [cat]}", "10: match.name.without: no test fails when this is deleted: add one, or delete it"),
        ("message:", "unless: {name: {words: [cat]}}\nmessage:", "11: unless.name: no test fails when this is deleted: add one, or delete it"),
        ("message:", "adjust: [{when: {name: {words: [page]}}, severity: low}]\nmessage:", "11: adjust.0: no test fails when this is deleted: add one, or delete it"),
        ("tests:", "example: {before: {name: send}, after: {name: send}}\ntests:", "13: example.before: not flagged, and should be (the example before the fix)"),
        ("tests:", "example: {before: {name: fetch}, after: {name: fetch}}\ntests:", "13: example.after: flagged, and should not be (the example after the fix)"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(probe, old, new, failure):
    assert old in RULE
    probe.write(RULE.replace(old, new, 1))
    assert failures(probe)[0] == f"probe.yaml:{failure}"


def test_every_branch_has_its_test_or_is_named(probe):
    text = RULE.replace(
        "  name: {words: [fetch]}\n",
        "  any:\n    - name: {words: [fetch]}\n    - all:\n        - name: {words: [read]}\n"
        "        - parameter: {type: string, lacks: [maxLength, enum]}\n",
    )
    probe.write(text)
    assert failures(probe) == [
        "probe.yaml:12: match.any.1: no test fails when this is deleted: add one, or delete it",
        "probe.yaml:13: match.any.1.all.0: no test fails when this is deleted: add one, or delete it",
        "probe.yaml:14: match.any.1.all.1: no test fails when this is deleted: add one, or delete it",
        "probe.yaml:14: match.any.1.all.1.parameter.type: no test fails when this is deleted: add one, or delete it",
        "probe.yaml:14: match.any.1.all.1.parameter.lacks: no test fails when this is deleted: add one, or delete it",
        "probe.yaml:14: match.any.1.all.1.parameter.lacks.0: no test fails when this is deleted: add one, or delete it",
        "probe.yaml:14: match.any.1.all.1.parameter.lacks.1: no test fails when this is deleted: add one, or delete it",
    ]
    tested = text.replace(
        "  not_flagged:\n",
        "    - reason: read with text\n      tool: {name: read, parameters: {a: string}}\n  not_flagged:\n"
        "    - reason: text of a send\n      tool: {name: send, parameters: {a: string}}\n"
        "    - reason: read without text\n      tool: {name: read, parameters: {a: integer}}\n"
        "    - reason: read nothing\n      tool: {name: read}\n"
        "    - reason: bounded\n      tool: {name: read, parameters: {a: {type: string, maxLength: 9}}}\n"
        "    - reason: chosen\n      tool: {name: read, parameters: {a: {type: string, enum: [b]}}}\n",
    )
    probe.write(tested)
    assert failures(probe) == []


def places(rule):
    return {".".join(map(str, place)): mutant for place, mutant in mutations(rule)}


def test_a_deleted_branch_takes_the_parents_it_leaves_empty():
    value = read(
        "match: {any: [{name: {words: [a]}}, {not: {parameter: {lacks: [maximum]}}}]}\n"
        "unless: {description: {phrases: [b], also: [[c, e], [d]]}}\n"
        "adjust: [{when: {limits: {any_of: [max_calls]}, format: mcp}, severity: low}]\n",
        "x",
    )
    found = places(value)
    assert set(found) == {
        "match.any",
        "match.any.0",
        "match.any.1",
        "unless.description",
        "unless.description.also",
        "unless.description.also.0",
        "unless.description.also.1",
        "adjust.0",
        "adjust.0.when.limits",
        "adjust.0.when.format",
    }
    assert found["match.any"]["match"] == {}
    assert found["match.any.1"]["match"] == {"any": [{"name": {"words": ["a"]}}]}
    assert "unless" not in found["unless.description"]
    assert found["unless.description.also.0"]["unless"]["description"]["also"] == [["d"]]
    assert found["adjust.0"]["adjust"] == []
    assert found["adjust.0.when.limits"]["adjust"][0]["when"] == {"format": "mcp"}


def test_what_an_adjustment_asks_of_the_reported_parameter_is_mutated_too():
    value = read(
        "match: {name: {words: [a]}}\n"
        "adjust: [{on: {type: string}, severity: low}, {when: {format: mcp}, on: {type: string}, severity: low}]\n",
        "x",
    )
    found = places(value)
    assert {key for key in found if key.startswith("adjust")} == {
        "adjust.0",
        "adjust.1",
        "adjust.1.when.format",
        "adjust.1.on.type",
    }
    assert found["adjust.1.on.type"]["adjust"][1] == {"when": {"format": "mcp"}, "severity": "low"}


def test_the_shape_for_the_whole_set_is_mutated_too():
    value = read("match: {name: {words: [a]}}\ntoolset: {match: {format: mcp, tools: {at_least: 2}}}\n", "x")
    assert {"toolset.match.format", "toolset.match.tools"} <= set(places(value))


@pytest.mark.parametrize(
    ("case", "line", "message"),
    [
        ("{reason: r, tool: {name: a}, severity: grave}", 15, "tests.flagged.0.severity: expected one of high"),
        ("{reason: r, tool: {nme: a}}", 15, "tests.flagged.0.tool.nme: unknown key `nme`"),
        ("{reason: r, tool: {name: a, parameters: {q: strng}}}", 15, "parameters.q: expected one of string"),
        ("{reason: r, tool: {name: a, parameters: {}, inputSchema: {}}}", 15, "give `parameters` or `inputSchema`"),
        ("{reason: r}", 15, "a test has one of `tool`, `tools` and `document`"),
        ("{tool: {name: a}}", 15, "`reason` is missing"),
        ("{reason: r, tool: {name: a}, limits: {max_cals: 1}}", 15, "did you mean `max_calls`"),
        ("{reason: r, tool: {name: a}, format: soap}", 15, "tests.flagged.0.format: expected one of"),
    ],
)
def test_a_wrong_test_is_a_located_error(probe, case, line, message):
    path = probe.write(RULE.replace("- reason: the name\n      tool: {name: fetch_page}", f"- {case}"))
    with pytest.raises(RuleError) as error:
        run_pack([probe.folder], load)
    assert (error.value.path, error.value.line) == (str(path), line)
    assert message in str(error.value)


def test_a_tool_that_is_not_flagged_has_nothing_to_expect(probe):
    probe.write(RULE.replace("tool: {name: send_mail}", "tool: {name: send_mail}\n      severity: low"))
    with pytest.raises(RuleError, match=r"probe\.yaml:20:7: tests\.not_flagged\.0\.severity: .* nothing to expect"):
        run_pack([probe.folder], load)


def test_tests_may_give_several_tools_and_whole_documents(probe):
    probe.write(
        RULE.replace(
            "  not_flagged:\n",
            "    - reason: the second of two\n      tools: [{name: send}, {name: fetch}]\n      which: fetch\n"
            "    - reason: another format\n      document: [{name: fetch, input_schema: {type: object}}]\n"
            "  not_flagged:\n"
            "    - reason: the first of two\n      tools: [{name: send}, {name: fetch}]\n      which: send\n",
        )
    )
    report = run_pack([probe.folder], load)
    assert (report.failures, report.tests) == ((), 5)


def test_options_and_limits_of_a_test_hold_for_it_alone(probe):
    probe.rule("{definition: {tokens_above: $most}}", options="{most: {default: 1000, about: tokens}}")
    text = (probe.folder / "probe.yaml").read_text()
    probe.write(
        text.replace("tool: {name: fetch_page}", "tool: {name: fetch_page}\n      options: {most: 5}"),
    )
    assert failures(probe) == []
