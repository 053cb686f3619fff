"""Ignores in documents, exceptions in the configuration, and what of them was of no use."""

from __future__ import annotations

import json

import pytest
from workbench import PROBE, found, suppressed, tool, warned, write

from dowbench import scan_tools
from dowbench.config import Config

ALL_THREE = {("probe-tool", "probe_one"), ("probe-parameter", "probe_one"), ("probe-set", None)}


def yaml(folder, text: str) -> None:
    (folder / "tools.yaml").write_text(text, encoding="utf-8")


# In documents: x-dowbench-ignore


@pytest.mark.parametrize("ignore", [["probe-tool"], "probe-tool", {"rules": ["probe-tool"]}, {"rules": "probe-tool"}])
def test_tool_carries_an_ignore(folder, probe, ignore):
    write(folder / "tools.json", tool(knob=True, **{"x-dowbench-ignore": ignore}), tool("probe_two"))
    run = probe("tools.json")
    assert suppressed(run) == [("probe-tool", "probe_one", "inline", "")]
    assert found(run) == {("probe-parameter", "probe_one"), ("probe-tool", "probe_two"), ("probe-set", None)}
    assert warned(run) == []


@pytest.mark.parametrize(
    ("wrapper", "schema"), [("function", {"parameters": {}}), ("toolSpec", {"inputSchema": {"json": {}}})]
)
def test_ignore_inside_a_wrapped_definition_covers_the_tool(folder, probe, wrapper, schema):
    inner = {"name": "probe_one", "description": "d", "x-dowbench-ignore": ["all"], **schema}
    tool = {wrapper: inner, **({"type": "function"} if wrapper == "function" else {})}
    (folder / "tools.json").write_text(json.dumps([tool]), encoding="utf-8")
    run = probe("tools.json", "--ignore", "probe-set")
    assert suppressed(run) == [("probe-tool", "probe_one", "inline", "")]
    assert warned(run) == []


def test_reason_is_repeated_and_every_format_counts(folder, probe):
    ignore = {"rules": ["all"], "reason": "the gateway cuts results", "until": "2999-12-31"}
    write(folder / "tools.json", tool(**{"x-dowbench-ignore": ignore}))
    assert suppressed(probe("tools.json")) == [("probe-tool", "probe_one", "inline", "the gateway cuts results")]
    assert "1 suppressed" in probe("tools.json", format="text").out
    assert "1 suppressed" in probe("tools.json", format="markdown").out
    (result,) = json.loads(probe("tools.json", format="sarif").out)["runs"][0]["results"]
    assert result["suppressions"][0]["justification"] == "the gateway cuts results"
    assert probe("tools.json", "--fail-on", "low").code == 0


def test_ignore_on_a_tool_covers_its_parameters(folder, probe):
    write(folder / "tools.json", tool(knob=True, **{"x-dowbench-ignore": ["all"]}))
    run = probe("tools.json")
    assert found(run) == set()
    assert {s[0] for s in suppressed(run)} == {"probe-tool", "probe-parameter"}


def test_ignore_on_a_parameter_covers_no_more(folder, probe):
    definition = tool(knob=True)
    definition["input_schema"]["properties"]["knob"]["x-dowbench-ignore"] = ["all"]
    write(folder / "tools.json", definition)
    run = probe("tools.json")
    assert found(run) == {("probe-tool", "probe_one")}
    assert [s[0] for s in suppressed(run)] == ["probe-parameter"]


def test_ignore_beside_the_list_covers_the_set(folder, probe):
    document = {"tools": [tool(), tool("two")], "x-dowbench-ignore": ["probe-set"]}
    (folder / "tools.json").write_text(json.dumps(document), encoding="utf-8")
    run = probe("tools.json")
    assert [s[0] for s in suppressed(run)] == ["probe-set"]
    assert found(run) == {("probe-tool", "probe_one")}


def test_ignore_on_an_openapi_operation_and_behind_a_reference(folder, probe):
    yaml(
        folder,
        """\
openapi: 3.0.3
info: {title: t, version: "1"}
paths:
  /a:
    get:
      operationId: probe_a
      x-dowbench-ignore: [probe-tool]
      parameters: [{$ref: '#/components/parameters/Knob'}]
      responses: {"200": {description: ok}}
  /b:
    get:
      operationId: probe_b
      parameters: [{$ref: '#/components/parameters/Knob'}]
      responses: {"200": {description: ok}}
components:
  parameters:
    Knob: {name: knob, in: query, schema: {type: string}, x-dowbench-ignore: {rules: [probe-parameter], reason: known}}
""",
    )
    run = probe("tools.yaml", "--ignore", "probe-set")
    assert found(run) == {("probe-tool", "probe_b")}
    assert sorted(suppressed(run)) == [
        ("probe-parameter", "probe_a", "inline", "known"),
        ("probe-parameter", "probe_b", "inline", "known"),
        ("probe-tool", "probe_a", "inline", ""),
    ]


def test_parameter_of_that_name_is_no_ignore(folder, probe):
    definition = tool(knob=True)
    definition["input_schema"]["properties"]["x-dowbench-ignore"] = {"type": "string"}
    write(folder / "tools.json", definition)
    run = probe("tools.json")
    assert found(run) == {("probe-tool", "probe_one"), ("probe-parameter", "probe_one")}
    assert warned(run) == []


@pytest.mark.parametrize(
    ("ignore", "message"),
    [
        (3, "x-dowbench-ignore must be a list of rules, or an object with rules, reason and until"),
        ([], 'x-dowbench-ignore names no rules; give their ids, or "all"'),
        ([3], 'x-dowbench-ignore names no rules; give their ids, or "all"'),
        ({"reason": "x"}, 'x-dowbench-ignore names no rules; give their ids, or "all"'),
        ({"rules": ["all"], "why": "x"}, "unknown key 'why' in x-dowbench-ignore; known are rules, reason, until"),
        ({"rules": ["all"], "reason": 3}, "reason and until of x-dowbench-ignore must be strings"),
        ({"rules": ["all"], "until": "soon"}, "until must be a date as YYYY-MM-DD, not 'soon'; the ignore is void"),
        (
            {"rules": ["all"], "until": "2020-02-30"},
            "until must be a date as YYYY-MM-DD, not '2020-02-30'; the ignore is",
        ),
        ({"rules": ["all"], "until": "2020-01-31"}, "ignore expired on 2020-01-31"),
        (["no-such-rule"], "ignore names the unknown rule 'no-such-rule'"),
        (["probe-parameter"], "unused ignore: no probe-parameter finding here"),
    ],
)
def test_ignore_that_does_not_hold_is_a_warning_and_the_finding_stays(folder, probe, ignore, message):
    write(folder / "tools.json", tool(**{"x-dowbench-ignore": ignore}))
    run = probe("tools.json")
    assert found(run) == {("probe-tool", "probe_one")}
    assert suppressed(run) == []
    ((line, warning),) = warned(run)
    assert warning.startswith(message)
    assert '"x-dowbench-ignore"' in (folder / "tools.json").read_text(encoding="utf-8").splitlines()[line - 1]


def test_a_list_may_hold_ids_and_objects_with_reasons_of_their_own(folder, probe):
    ignore = ["probe-set", {"rules": ["probe-tool"], "reason": "cut"}, {"rules": "probe-parameter", "reason": "few"}]
    write(folder / "tools.json", tool(knob=True, **{"x-dowbench-ignore": ignore}))
    run = probe("tools.json")
    assert sorted(suppressed(run)) == [
        ("probe-parameter", "probe_one", "inline", "few"),
        ("probe-tool", "probe_one", "inline", "cut"),
    ]
    assert [message for _, message in warned(run)] == ["unused ignore: no probe-set finding here"]


def test_what_is_wrong_in_one_entry_of_a_list_leaves_the_others(folder, probe):
    text = """{"name": "probe_one", "description": "d", "input_schema": {"type": "object"}, "x-dowbench-ignore": [
  {"rules": ["probe-tool"]},
  {"rule": ["probe-set"]},
  []
]}"""
    (folder / "tools.json").write_text(text, encoding="utf-8")
    run = probe("tools.json")
    assert [s[0] for s in suppressed(run)] == ["probe-tool"]
    assert warned(run) == [
        (1, 'x-dowbench-ignore names no rules; give their ids, or "all"'),
        (3, "unknown key 'rule' in x-dowbench-ignore; known are rules, reason, until"),
    ]


@pytest.mark.parametrize("ignore", [["probe-tool", "all"], ["all", "probe-tool"], [{"rules": ["probe-tool"]}, "all"]])
def test_an_ignore_is_used_by_what_another_one_covers_as_well(folder, probe, ignore):
    write(folder / "tools.json", tool(knob=True, **{"x-dowbench-ignore": ignore}))
    run = probe("tools.json")
    assert {s[0] for s in suppressed(run)} == {"probe-tool", "probe-parameter"}
    assert warned(run) == []


def test_an_exception_is_used_by_what_another_one_covers_as_well(folder, probe):
    write(folder / "tools.json", tool())
    (folder / "dowbench.yaml").write_text(
        "exceptions:\n- {rules: [probe-tool], reason: first}\n- {rules: [all], files: [tools.json], reason: second}\n",
        encoding="utf-8",
    )
    run = probe("tools.json")
    assert suppressed(run) == [("probe-tool", "probe_one", "config", "first")]
    assert warned(run) == []


def test_last_day_is_included(folder, probe, monkeypatch):
    write(folder / "tools.json", tool(**{"x-dowbench-ignore": {"rules": ["all"], "until": "2026-05-01"}}))
    monkeypatch.setattr("time.strftime", lambda form: "2026-05-01")
    assert found(probe("tools.json")) == set()
    monkeypatch.setattr("time.strftime", lambda form: "2026-05-02")
    assert found(probe("tools.json")) == {("probe-tool", "probe_one")}


def test_ignores_of_rules_that_are_not_in_force_are_not_judged(folder, probe, dowbench):
    write(folder / "tools.json", tool(**{"x-dowbench-ignore": ["probe-parameter", "probe-tool"]}))
    run = probe("tools.json", "--ignore", "probe-parameter")
    assert [s[0] for s in suppressed(run)] == ["probe-tool"]
    assert warned(run) == []


def test_ignores_are_used_by_findings_below_the_threshold(folder, probe):
    write(folder / "tools.json", tool(knob=True, **{"x-dowbench-ignore": ["probe-parameter"]}))
    run = probe("tools.json", "--min-severity", "high")
    assert found(run) == {("probe-tool", "probe_one")}
    assert (suppressed(run), warned(run)) == ([], [])


def test_ignores_hold_for_tools_in_memory():
    config = Config(rule_packs=(str(PROBE),), select=("probe-tool", "probe-parameter"))
    tools = [tool(**{"x-dowbench-ignore": {"rules": ["all"], "reason": "x"}}), tool("probe_two", knob=True)]
    result = scan_tools(tools, config=config)
    assert [(f.rule, f.tool) for f in result.findings] == [
        ("probe-parameter", "probe_two"),
        ("probe-tool", "probe_two"),
    ]
    assert [(s.finding.tool, s.by, s.reason) for s in result.suppressed] == [("probe_one", "inline", "x")]
    (warning,) = scan_tools([tool("a", **{"x-dowbench-ignore": ["probe-tool"]})], config=config).warnings
    assert (warning.path, warning.line) == ("<python>", None)
    assert warning.message == "unused ignore: no probe-tool finding here"


# In YAML comments


COMMENTED = """\
tools:
  - name: probe_one  # dowbench: ignore[probe-tool] cut by the gateway
    input_schema:
      properties:
        # dowbench: ignore[probe-parameter] a knob is fine (until 2999-01-01)
        knob: {type: string}
  - name: probe_two
    input_schema:
      properties:
        knob: {type: string}
"""


def test_comments_on_the_line_and_on_the_line_above(folder, probe):
    yaml(folder, COMMENTED)
    run = probe("tools.yaml")
    assert suppressed(run) == [
        ("probe-tool", "probe_one", "inline", "cut by the gateway"),
        ("probe-parameter", "probe_one", "inline", "a knob is fine"),
    ]
    assert found(run) == {("probe-tool", "probe_two"), ("probe-parameter", "probe_two"), ("probe-set", None)}
    assert warned(run) == []


def test_blank_lines_and_other_comments_may_stand_between_a_comment_and_what_it_covers(folder, probe):
    item = "- name: probe_one\n  input_schema: {}\n"
    for between in ("\n", "\n\n  \n", "# another comment\n", "\n# another\n\n# and one more\n\n", "\r\n"):
        yaml(folder, f"- name: other\n  input_schema: {{}}\n# dowbench: ignore[probe-tool] why\n{between}{item}")
        run = probe("tools.yaml")
        assert suppressed(run) == [("probe-tool", "probe_one", "inline", "why")], between
        assert warned(run) == []


def test_comment_above_the_first_item_covers_that_item_only(folder, probe):
    yaml(
        folder,
        "tools:\n# dowbench: ignore[all] first\n- {name: probe_one, input_schema: {}}\n"
        "- {name: probe_two, input_schema: {}}\n",
    )
    run = probe("tools.yaml", "--ignore", "probe-set")
    assert found(run) == {("probe-tool", "probe_two")}
    yaml(
        folder,
        "# dowbench: ignore[all] first\n- {name: probe_one, input_schema: {}}\n- {name: probe_two, input_schema: {}}\n",
    )
    run = probe("tools.yaml", "--ignore", "probe-set")
    assert found(run) == {("probe-tool", "probe_two")}


def test_comment_after_the_last_node_covers_nothing(folder, probe):
    yaml(folder, "- {name: probe_one, input_schema: {}}\n# dowbench: ignore[all] end\n")
    run = probe("tools.yaml", "--ignore", "probe-set")
    assert found(run) == {("probe-tool", "probe_one")}
    assert warned(run) == [(2, "unused ignore: no finding here")]


def test_comment_above_a_document_covers_it_and_no_other(folder, probe):
    text = "tools:\n- {name: probe_one, input_schema: {}}\n- {name: probe_two, input_schema: {}}\n"
    yaml(folder, f"{text}---\n# dowbench: ignore[all] generated\n\n# see there\n{text}")
    run = probe("tools.yaml")
    assert [f["line"] for f in run.json["findings"]] == [2, 2, 3]
    assert len(suppressed(run)) == 3
    assert warned(run) == []


def test_comment_at_an_openapi_operation(folder, probe):
    template = """\
openapi: 3.0.3
info: {{title: t, version: "1"}}
paths:
  {0}
  /a:{1}
    {2}
    get:{3}
      operationId: probe_a{4}
      responses: {{"200": {{description: ok}}}}
  /b:
    get:
      operationId: probe_b
      responses: {{"200": {{description: ok}}}}
"""
    for place in range(5):
        comments = [""] * 5
        comments[place] = "# dowbench: ignore[probe-tool]" if place in (0, 2) else "  # dowbench: ignore[probe-tool]"
        yaml(folder, template.format(*comments))
        run = probe("tools.yaml", "--ignore", "probe-set")
        assert (place, found(run)) == (place, {("probe-tool", "probe_b")})
        assert warned(run) == []


@pytest.mark.parametrize(
    "value",
    [
        '"a # dowbench: ignore[all] x"',
        "'a # dowbench: ignore[all] x'",
        "|\n    text\n    # dowbench: ignore[all] x",
        "a#dowbench: ignore[all] x",
    ],
)
def test_text_that_looks_like_a_comment_ignores_nothing(folder, probe, value):
    yaml(folder, f"- name: probe_one\n  input_schema: {{}}\n  description: {value}\n")
    run = probe("tools.yaml")
    assert suppressed(run) == []
    if not value.startswith("a#"):
        assert found(run) == {("probe-tool", "probe_one")}


def test_comment_behind_a_block_scalar_indicator(folder, probe):
    yaml(
        folder,
        "- name: probe_one # dowbench: ignore[probe-tool]\n  description: | # dowbench: ignore[all]\n    text\n"
        "  input_schema: {}\n",
    )
    run = probe("tools.yaml")
    assert found(run) == set()
    assert warned(run) == [(2, "unused ignore: no finding here")]


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("ignore", "an ignore names its rules in brackets: # dowbench: ignore[unbounded-result] reason"),
        ("ignore[]", "an ignore names its rules in brackets: # dowbench: ignore[unbounded-result] reason"),
        ("ignore[all] until 2020-01-01", "ignore expired on 2020-01-01"),
        (
            "ignore[all] x (until 2026-13-01)",
            "until must be a date as YYYY-MM-DD, not '2026-13-01'; the ignore is void",
        ),
        ("ignore[probe-parameter]", "unused ignore: no probe-parameter finding here"),
        ("ignore[probe-tol]", "ignore names the unknown rule 'probe-tol'"),
    ],
)
def test_comment_that_does_not_hold_is_a_warning_and_the_finding_stays(folder, probe, comment, message):
    yaml(
        folder,
        f"- name: probe_one\n  input_schema: {{}}\n- # dowbench: {comment}\n  name: probe_two\n  input_schema: {{}}\n",
    )
    run = probe("tools.yaml", "--ignore", "probe-set")
    assert found(run) == {("probe-tool", "probe_one"), ("probe-tool", "probe_two")}
    assert warned(run) == [(3, message)]


def test_several_rules_in_one_comment(folder, probe):
    yaml(folder, "- name: probe_one # dowbench: ignore[probe-tool, probe-set] both\n  input_schema: {}\n")
    run = probe("tools.yaml")
    assert found(run) == set()
    assert warned(run) == [(1, "unused ignore: no probe-set finding here")]


# In the configuration


def test_exceptions(folder, probe):
    write(folder / "a" / "tools.json", tool(knob=True), tool("probe_two"))
    write(folder / "b.json", tool())
    (folder / "dowbench.yaml").write_text(
        """\
exceptions:
- {rules: [probe-tool], files: [a], tools: [probe_one], reason: cut}
- {rules: [all], files: [b.json], reason: generated, until: 2999-01-01}
- {rules: [probe-parameter], reason: over, until: 2020-01-01}
- {rules: [probe-set], files: [b.json], reason: unused}
- {rules: [probe-set], files: [c.json], reason: not judged here}
""",
        encoding="utf-8",
    )
    run = probe("a", "b.json")
    assert suppressed(run) == [
        ("probe-tool", "probe_one", "config", "cut"),
        ("probe-tool", "probe_one", "config", "generated"),
    ]
    assert found(run) == {("probe-set", None), ("probe-parameter", "probe_one"), ("probe-tool", "probe_two")}
    assert [(w["path"], w["line"], w["message"]) for w in run.json["warnings"]] == [
        ("dowbench.yaml", 4, "exception expired on 2020-01-01"),
        ("dowbench.yaml", 5, "unused exception: it covers no finding of probe-set"),
    ]


@pytest.mark.parametrize(
    ("reason", "told"),
    [("x (until Q3 2020)", "Q3"), ("x (until Dec 2020)", "Dec"), ("x (until tomorrow)", "tomorrow"), ("until", "")],
)
def test_until_something_that_is_no_date_is_void_and_said(folder, probe, reason, told):
    (folder / "tools.yaml").write_text(
        f"# dowbench: ignore[all] {reason}\n- name: probe_a\n  input_schema: {{type: object}}\n", encoding="utf-8"
    )
    run = probe("tools.yaml")
    assert found(run) == {("probe-tool", "probe_a")}
    assert warned(run) == [(1, f"until must be a date as YYYY-MM-DD, not {told!r}; the ignore is void")]


def test_of_several_untils_the_date_counts(folder, probe):
    (folder / "tools.yaml").write_text(
        "# dowbench: ignore[all] it reads until the end (until 2999-01-31).\n- name: probe_a\n  input_schema: {}\n",
        encoding="utf-8",
    )
    run = probe("tools.yaml")
    assert (found(run), warned(run)) == (set(), [])
    assert suppressed(run) == [("probe-tool", "probe_a", "inline", "it reads until the end.")]
