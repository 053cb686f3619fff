"""Known findings in a file: what they match, what of them is gone, and that a broken one is one line."""

from __future__ import annotations

import json

import pytest
from workbench import found, suppressed, tool, warned, write

from dowbench.fingerprint import fingerprinted
from dowbench.model import Finding


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
        ("known.json", "baseline entry no longer matches: probe-tool probe_one in b.json; there is no such file"),
    ]
    (folder / "b.json").touch()
    assert probe("a.json", "--baseline", "known.json", "--ignore", "probe-tool").json["warnings"] == []


def test_entries_of_rules_that_do_not_exist_are_reported_whatever_is_scanned(folder, probe):
    write(folder / "a.json", tool())
    entry = {"rule": "renamed-since", "path": "b.json", "tool": "x", "parameter": None, "count": 2}
    (folder / "known.json").write_text(json.dumps({"schema": "dowbench.baseline/1", "findings": [entry]}))
    (folder / "b.json").touch()
    run = probe("a.json", "--baseline", "known.json")
    message = "baseline entry no longer matches: renamed-since x in b.json; there is no rule 'renamed-since'"
    assert warned(run) == [(None, message)]


@pytest.mark.parametrize("arguments", [("--min-severity", "high"), ("--min-confidence", "high"), ("--tier", "default")])
def test_an_entry_whose_finding_is_not_asked_for_is_not_gone(folder, probe, arguments):
    write(folder / "a.json", tool(knob=True), tool("other"))
    assert probe("a.json", "--write-baseline", "known.json", "--tier", "pedantic").code == 0
    assert warned(probe("a.json", "--baseline", "known.json", *arguments)) == []


@pytest.mark.parametrize(
    "text",
    [
        '{"schema": "dowbench.baseline/1", "findings": [], "x": ' + "9" * 5000 + "}",
        "[" * 100_000,
        "\udcff",
        '{"schema": "dowbench.baseline/1", "findings": [{"rule": "\\u001b[31m", "path": "a\\u0000", "count": 1e400}]}',
    ],
)
def test_hostile_baseline(folder, probe, text):
    write(folder / "a.json", tool())
    (folder / "known.json").write_text(text, encoding="utf-8", errors="surrogateescape")
    run = probe("a.json", "--baseline", "known.json")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("error: known.json")
    assert len(run.err.splitlines()) == 1


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


def entries(folder):
    data = json.loads((folder / "known.json").read_text(encoding="utf-8"))
    return [(e["rule"], e["path"], e["tool"], e["count"], e.get("reason")) for e in data["findings"]]


def test_a_baseline_written_from_a_part_keeps_what_that_scan_did_not_judge(folder, probe):
    for name in ("a.json", "b.json", "gone.json", "passed.json"):
        write(folder / name, tool(), tool(knob=True))
    probe(".", "--write-baseline", "known.json")
    data = json.loads((folder / "known.json").read_text(encoding="utf-8"))
    for entry in data["findings"]:
        entry["reason"] = f"{entry['path']} {entry['rule']}"
    (folder / "known.json").write_text(json.dumps(data), encoding="utf-8")
    before = entries(folder)
    (folder / "gone.json").unlink()
    (folder / "passed.json").write_text("{}", encoding="utf-8")
    write(folder / "a.json", tool("probe_two"))
    run = probe("a.json", "passed.json", "--skip-unrecognized", "--write-baseline", "known.json")
    assert run.err == "known.json: 1 finding written, known from now on; 4 kept of what this scan did not judge\n"
    others = [entry for entry in before if entry[1] == "b.json"]
    assert entries(folder) == [("probe-tool", "a.json", "probe_two", 1, None), *others]
    assert found(probe("a.json", "b.json", "--baseline", "known.json")) == set()


@pytest.mark.parametrize("arguments", [("--ignore", "probe-tool"), ("--min-severity", "high")])
def test_a_baseline_written_from_some_findings_keeps_the_others(folder, probe, arguments):
    write(folder / "a.json", tool(), tool(knob=True))
    probe(".", "--write-baseline", "known.json")
    before = entries(folder)
    assert {rule for rule, *_ in before} == {"probe-tool", "probe-parameter", "probe-set"}
    assert probe(".", "--write-baseline", "known.json", *arguments).code == 0
    assert entries(folder) == before
