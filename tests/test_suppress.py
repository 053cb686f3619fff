"""Ignores in documents, exceptions in the configuration, baselines, and what of them was of no use."""

from __future__ import annotations

import json
import subprocess

import pytest
from workbench import PROBE, tool, write

from dowbench import scan_tools
from dowbench.config import Config
from dowbench.fingerprint import fingerprinted
from dowbench.model import Finding


def suppressed(run) -> list[tuple[str, str | None, str, str]]:
    return [(s["rule"], s["tool"], s["by"], s["reason"]) for s in run.json["suppressed"]]


def warned(run) -> list[tuple[int, str]]:
    return [(note["line"], note["message"]) for note in run.json["warnings"]]


def found(run) -> set[tuple[str, str | None]]:
    return {(f["rule"], f["tool"]) for f in run.json["findings"]}


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


# Fingerprints and baselines


def finding(**changes) -> Finding:
    values = {
        "rule": "r", "severity": "high", "confidence": "high", "tier": "default", "family": "f", "message": "m",
        "fix": "x", "path": "p", "pointer": "/0", "tool": "t",
    }  # fmt: skip
    return Finding(**{**values, **changes})


def test_fingerprint_is_of_rule_path_tool_and_parameter_and_nothing_else():
    (base,) = fingerprinted([finding()])
    assert len(base.fingerprint) == 64
    for change in ({"message": "n"}, {"pointer": "/1"}, {"severity": "low"}, {"fix": "y"}, {"document": 3}):
        assert fingerprinted([finding(**change)])[0].fingerprint == base.fingerprint, change
    others = [
        finding(**change)
        for change in (
            {"rule": "s"},
            {"path": "q"},
            {"tool": "u"},
            {"tool": None},
            {"parameter": "a"},
            {"parameter": ""},
        )
    ]
    assert len({f.fingerprint for f in fingerprinted([finding(), *others])}) == 1 + len(others)


def test_equal_findings_have_fingerprints_of_their_own_and_the_first_keeps_its():
    one, two, three = fingerprinted([finding(), finding(), finding()])
    assert len({one.fingerprint, two.fingerprint, three.fingerprint}) == 3
    assert fingerprinted([finding()])[0].fingerprint == one.fingerprint


def test_fingerprint_of_a_lone_surrogate():
    assert len(fingerprinted([finding(tool="\ud800")])[0].fingerprint) == 64


def test_moving_and_reformatting_change_no_fingerprint_and_no_baseline_match(folder, probe):
    tools = [tool(knob=True), tool("probe_two")]
    write(folder / "tools.json", *tools)
    before = {f["fingerprint"] for f in probe("tools.json").json["findings"]}
    assert len(before) == 4
    assert probe("tools.json", "--write-baseline", "known.json", "--fail-on", "low").code == 0
    text = "\n" * 50 + json.dumps([*[tool(f"other_{n}") for n in range(3)], *reversed(tools)], indent="\t")
    (folder / "tools.json").write_text(text, encoding="utf-8")
    assert {f["fingerprint"] for f in probe("tools.json").json["findings"]} == before
    run = probe("tools.json", "--baseline", "known.json", "--fail-on", "low")
    assert run.code == 0
    assert (found(run), len(suppressed(run)), warned(run)) == (set(), 4, [])


def test_baseline_is_short_sorted_and_without_lines(folder, probe):
    write(folder / "tools.json", tool(knob=True), tool())
    run = probe("tools.json", "--write-baseline", "known.json")
    assert run.err == "known.json: 4 findings written, known from now on\n"
    assert json.loads((folder / "known.json").read_text(encoding="utf-8")) == {
        "schema": "dowbench.baseline/1",
        "findings": [
            {"rule": "probe-parameter", "path": "tools.json", "tool": "probe_one", "parameter": "knob", "count": 1},
            {"rule": "probe-set", "path": "tools.json", "tool": None, "parameter": None, "count": 1},
            {"rule": "probe-tool", "path": "tools.json", "tool": "probe_one", "parameter": None, "count": 2},
        ],
    }


def test_second_finding_like_a_known_one_is_new(folder, probe):
    write(folder / "tools.json", tool())
    probe("tools.json", "--write-baseline", "known.json")
    write(folder / "tools.json", tool(), tool())
    run = probe("tools.json", "--baseline", "known.json", "--fail-on", "high", "--ignore", "probe-set")
    assert run.code == 1
    assert [(f["rule"], f["pointer"]) for f in run.json["findings"]] == [("probe-tool", "/1")]
    assert suppressed(run) == [("probe-tool", "probe_one", "baseline", "")]


def test_the_same_finding_in_another_file_is_new(folder, probe):
    write(folder / "tools.json", tool())
    probe("tools.json", "--write-baseline", "known.json")
    write(folder / "more.json", tool())
    run = probe("tools.json", "more.json", "--baseline", "known.json")
    assert [f["path"] for f in run.json["findings"]] == ["more.json"]


def test_entries_that_no_longer_match_are_reported_for_files_that_were_scanned_or_are_gone(folder, probe):
    for name in ("a.json", "b.json", "c.json"):
        write(folder / name, tool())
    probe(".", "--write-baseline", "known.json")
    write(folder / "a.json", tool("fine"))
    (folder / "b.json").unlink()
    run = probe("a.json", "--baseline", "known.json")
    assert [(w["path"], w["message"]) for w in run.json["warnings"]] == [
        ("known.json", "baseline entry no longer matches: probe-tool probe_one in a.json"),
        ("known.json", "baseline entry no longer matches: probe-tool probe_one in b.json"),
    ]
    assert probe("a.json", "--baseline", "known.json", "--ignore", "probe-tool").json["warnings"] == []


def test_entry_of_a_finding_that_is_ignored_inline_is_no_longer_needed_nor_gone(folder, probe):
    write(folder / "a.json", tool())
    probe("a.json", "--write-baseline", "known.json")
    write(folder / "a.json", tool(**{"x-dowbench-ignore": ["all"]}))
    run = probe("a.json", "--baseline", "known.json")
    assert (suppressed(run), warned(run)) == ([("probe-tool", "probe_one", "inline", "")], [])


def test_baseline_of_the_configuration_and_from_another_folder(folder, probe, monkeypatch):
    write(folder / "sub" / "a.json", tool())
    (folder / "dowbench.yaml").write_text("baseline: known.json\n", encoding="utf-8")
    run = probe("sub/a.json")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("error: known.json: baseline cannot be read: No such file or directory; --write-baseline")
    assert probe("sub/a.json", "--write-baseline", "known.json").code == 0
    assert found(probe("sub/a.json")) == set()
    monkeypatch.chdir("sub")
    assert found(probe("a.json")) == set()


def test_reasons_in_a_baseline_are_reported_and_survive_rewriting(folder, probe):
    write(folder / "a.json", tool())
    probe("a.json", "--write-baseline", "known.json")
    data = json.loads((folder / "known.json").read_text(encoding="utf-8"))
    data["findings"][0]["reason"] = "accepted in spring"
    (folder / "known.json").write_text(json.dumps(data), encoding="utf-8")
    assert suppressed(probe("a.json", "--baseline", "known.json"))[0][3] == "accepted in spring"
    write(folder / "a.json", tool(knob=True))
    probe("a.json", "--baseline", "known.json", "--write-baseline", "known.json")
    reasons = [
        entry.get("reason") for entry in json.loads((folder / "known.json").read_text(encoding="utf-8"))["findings"]
    ]
    assert reasons == [None, "accepted in spring"]


def test_baseline_is_not_written_when_something_could_not_be_scanned(folder, probe):
    write(folder / "a.json", tool())
    run = probe("a.json", "missing.json", "--write-baseline", "known.json")
    assert run.code == 2
    assert "known.json: not written, because something could not be scanned" in run.err
    assert not (folder / "known.json").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "known.json:1:1: not a baseline: "),
        ("[", "known.json:1:2: not a baseline: "),
        ("[]", 'known.json: not a baseline: expected an object with "schema": "dowbench.baseline/1" and "findings"'),
        ('{"schema": "dowbench.baseline/2", "findings": []}', "known.json: not a baseline: expected"),
        ('{"schema": "dowbench.baseline/1", "findings": [3]}', "known.json: findings[0]: expected an object"),
        (
            '{"schema": "dowbench.baseline/1", "findings": [{"rule": "a"}]}',
            "known.json: findings[0]: rule and path must",
        ),
        (
            '{"schema": "dowbench.baseline/1", "findings": [{"rule": "a", "path": "b", "count": 0}]}',
            "known.json: findings[0]: count must be a number above 0",
        ),
        (
            '{"schema": "dowbench.baseline/1", "findings": [{"rule": "a", "path": "b", "line": 3}]}',
            "known.json: findings[0]: unknown key 'line'",
        ),
    ],
)
def test_broken_baseline(folder, probe, text, message):
    write(folder / "a.json", tool())
    (folder / "known.json").write_text(text, encoding="utf-8")
    run = probe("a.json", "--baseline", "known.json")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(f"error: {message}")
    assert len(run.err.splitlines()) == 1


# --changed-since


@pytest.fixture
def repository(folder):
    """The working directory as a git work tree; the value commits what is in it."""
    (folder / ".git").rmdir()

    def commit(*arguments: str) -> None:
        for command in (["add", "-A"], ["commit", "-q", "-m", "x"]):
            subprocess.run(
                ["git", "-c", "user.name=x", "-c", "user.email=x@example.com", *command],
                cwd=folder, check=True, capture_output=True,
            )  # fmt: skip

    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return commit


def test_only_findings_on_tools_that_changed(folder, probe, repository):
    write(folder / "a.json", tool("probe_a"), tool("probe_b"))
    write(folder / "same.json", tool("probe_same"))
    repository()
    write(folder / "a.json", tool("probe_new"), tool("probe_b", knob=True), tool("probe_a"))
    write(folder / "added.json", tool("probe_added"))
    run = probe("a.json", "same.json", "added.json", "--changed-since", "HEAD")
    assert found(run) == {
        ("probe-tool", "probe_new"), ("probe-tool", "probe_b"), ("probe-parameter", "probe_b"), ("probe-set", None),
        ("probe-tool", "probe_added"),
    }  # fmt: skip
    assert run.json["summary"]["unchanged"] == 2
    assert "2 on unchanged tools not shown" in probe(".", "--changed-since", "HEAD", format="text").out


def test_reformatting_and_moving_is_no_change(folder, probe, repository):
    write(folder / "a.json", tool("probe_a"), tool("probe_b"))
    repository()
    text = json.dumps([tool("probe_b"), tool("probe_a")], sort_keys=True)
    (folder / "a.json").write_text("\n\n" + text, encoding="utf-8")
    run = probe("a.json", "--changed-since", "HEAD")
    assert (found(run), run.json["summary"]["unchanged"]) == (set(), 3)


def test_a_tool_that_went_away_changes_the_set(folder, probe, repository):
    write(folder / "a.json", tool("probe_a"), tool("probe_b"), tool("c"))
    repository()
    write(folder / "a.json", tool("probe_a"), tool("probe_b"))
    assert found(probe("a.json", "--changed-since", "HEAD")) == {("probe-set", None)}


def test_change_behind_a_reference_is_a_change_of_the_tool(folder, probe, repository):
    text = """\
openapi: 3.0.3
info: {title: t, version: "1"}
paths:
  /a:
    parameters: [{name: q, in: query, schema: {type: string}}]
    get:
      operationId: probe_a
      responses: {"200": {description: ok}}
  /b:
    get:
      operationId: probe_b
      parameters: [{$ref: '#/components/parameters/P'}]
      responses: {"200": {description: ok}}
components:
  parameters:
    P: {name: p, in: query, schema: {$ref: '#/components/schemas/S'}}
  schemas:
    S: {type: string}
"""
    arguments = ("tools.yaml", "--changed-since", "HEAD", "--ignore", "probe-set")
    yaml(folder, text)
    repository()
    assert found(probe(*arguments)) == set()
    yaml(folder, text.replace("S: {type: string}", "S: {type: integer}"))
    assert found(probe(*arguments)) == {("probe-tool", "probe_b")}
    yaml(folder, text.replace("name: q, in", "name: r, in"))
    assert found(probe(*arguments)) == {("probe-tool", "probe_a")}


def test_changed_since_from_a_folder_below(folder, probe, repository, monkeypatch):
    write(folder / "sub" / "a.json", tool("probe_a"))
    repository()
    monkeypatch.chdir("sub")
    assert found(probe("a.json", "--changed-since", "HEAD")) == set()
    assert found(probe("../sub/a.json", "--changed-since", "HEAD~0")) == set()


def test_changed_since_a_version_that_cannot_be_read(folder, probe, repository):
    (folder / "a.json").write_text("[", encoding="utf-8")
    repository()
    write(folder / "a.json", tool("probe_a"))
    assert found(probe("a.json", "--changed-since", "HEAD")) == {("probe-tool", "probe_a")}


@pytest.mark.parametrize("revision", ["nowhere", "--help", "-1", "HEAD:a.json", ""])
def test_unknown_revision(folder, probe, repository, revision):
    write(folder / "a.json", tool("probe_a"))
    repository()
    run = probe("a.json", f"--changed-since={revision}")
    assert (run.code, run.out) == (2, "")
    assert run.err == f"error: --changed-since: {revision!r} is no revision of this repository\n"


def test_changed_since_outside_git(folder, probe):
    (folder / ".git").rmdir()
    write(folder / "a.json", tool("probe_a"))
    run = probe("a.json", "--changed-since", "HEAD")
    assert (run.code, run.err) == (2, "error: --changed-since: not in a git work tree\n")
