"""SARIF as code scanning wants it: each statement of the format that it, or its users, trip over."""

from __future__ import annotations

import gzip
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from samples import RULES, finding, result

from dowbench.model import Evidence, Note, Related, ScanResult, Span, Suppressed
from dowbench.report import ReportOptions, render
from dowbench.report.linehash import line_hashes
from dowbench.report.sarif import render_within
from dowbench.report.sarif_rules import Taxon, security_severity

if TYPE_CHECKING:
    from pathlib import Path

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="no such file name on Windows")
SOURCE = '{"tools": [\n  {"name": "search",\n   "description": "Searches."\n  }\n]}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "tools.json").write_text(SOURCE)
    return tmp_path


def run_of(scanned: ScanResult, root: Path) -> dict[str, Any]:
    log = json.loads(render("sarif", scanned, ReportOptions(root=root)))
    assert log["version"] == "2.1.0"
    assert len(log["runs"]) == 1
    run: dict[str, Any] = log["runs"][0]
    return run


def test_all_rules_in_force_are_described_even_when_nothing_was_found(folder: Path) -> None:
    run = run_of(result(), folder)
    assert run["results"] == []
    rules = run["tool"]["driver"]["rules"]
    assert [r["id"] for r in rules] == [r.id for r in RULES]
    for rule in rules:
        assert len(rule["fullDescription"]["text"]) <= 1024
        assert len(rule["properties"]["tags"]) <= 10
        assert {"security", "denial-of-wallet"} <= set(rule["properties"]["tags"])
    assert [rule.get("helpUri") for rule in rules] == [rule.page for rule in RULES]
    assert f"[About this rule]({RULES[0].page})" in rules[0]["help"]["markdown"]
    assert not any("About this rule" in rule["help"]["text"] for rule in rules[1:])
    first = rules[0]
    assert first["defaultConfiguration"]["level"] == "error"
    assert first["properties"]["problem.severity"] == "error"
    assert first["properties"]["precision"] == "high"
    assert "external/cwe/cwe-770" in first["properties"]["tags"]
    for part in (
        "ToolCallLimitMiddleware(run_limit=5)",
        '{"name": "search"}',
        "not measured yet",
        RULES[0].why,
    ):
        assert part in first["help"]["markdown"]
        assert part in first["help"]["text"]
    assert [r["properties"]["problem.severity"] for r in rules] == ["error", "warning", "recommendation"]


def test_taxonomies_are_pointed_at_by_the_rules(folder: Path) -> None:
    run = run_of(result(), folder)
    names = [t["name"] for t in run["taxonomies"]]
    assert names == ["CWE", "OWASP API", "OWASP LLM"]
    assert [t["id"] for t in run["taxonomies"][0]["taxa"]] == ["CWE-1284", "CWE-770"]
    assert run["taxonomies"][0]["taxa"][1] == {
        "id": "CWE-770",
        "shortDescription": {"text": "Allocation of Resources Without Limits or Throttling."},
        "helpUri": "https://cwe.mitre.org/data/definitions/770.html",
    }
    driver = run["tool"]["driver"]
    assert driver["supportedTaxonomies"] == [{"name": n, "index": i} for i, n in enumerate(names)]
    for rule in driver["rules"]:
        for relationship in rule.get("relationships", []):
            target = relationship["target"]
            taxa = run["taxonomies"][target["toolComponent"]["index"]]["taxa"]
            assert target["id"] in [t["id"] for t in taxa]
    assert [r["target"]["id"] for r in driver["rules"][0]["relationships"]] == ["CWE-770", "LLM10:2025", "API4:2023"]
    assert "relationships" not in driver["rules"][2]


@pytest.mark.parametrize(
    ("name", "taxon", "tag"),
    [
        ("CWE-770", ("CWE", "CWE-770"), "external/cwe/cwe-770"),
        ("OWASP LLM10:2025", ("OWASP LLM", "LLM10:2025"), "external/owasp/llm10-2025"),
        ("MITRE ATLAS AML.T0034", ("MITRE ATLAS", "AML.T0034"), "external/mitre-atlas/aml-t0034"),
        ("HOUSE", ("HOUSE", "HOUSE"), "external/house/house"),
    ],
)
def test_taxon(name: str, taxon: tuple[str, str], tag: str) -> None:
    assert Taxon.of(name) == (*taxon, name)
    assert Taxon.of(name).tag == tag


def test_security_severity_follows_the_measured_interval_inside_its_band() -> None:
    def measured(lower: float | None) -> list[Evidence]:
        return [Evidence("measured", "made for this test", amplification=99.0, lower=lower)]

    assert security_severity("high", []) == "7.0"
    assert security_severity("high", measured(None)) == "7.0"
    assert security_severity("high", measured(0.5)) == "7.0"
    assert security_severity("high", measured(8)) == "8.0"
    assert security_severity("high", measured(1024)) == "8.9"
    assert security_severity("medium", measured(4)) == "6.0"
    assert security_severity("medium", [Evidence("reported", "someone else's", lower=1024)]) == "4.0"
    assert security_severity("low", measured(1024)) == "3.9"
    assert security_severity("low", []) == "0.1"


def test_a_result_names_rule_level_place_and_tool(folder: Path) -> None:
    related = (Related("/tools/0/parameters", "the parameters", Span(3, 4, 3, 9)),)
    run = run_of(result(finding(related=related)), folder)
    (written,) = run["results"]
    assert run["tool"]["driver"]["rules"][written["ruleIndex"]]["id"] == written["ruleId"] == "unbounded-result"
    assert written["level"] == "error"
    place = written["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "tools.json"}
    assert place["region"] == {"startLine": 2, "startColumn": 3, "endLine": 4, "endColumn": 4}
    assert run["columnKind"] == "unicodeCodePoints"
    assert written["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 3
    assert written["properties"]["pointer"] == "/tools/0"
    assert written["properties"]["tool"] == "search"
    assert run["automationDetails"]["id"] == "dowbench/"
    assert run["invocations"][0]["executionSuccessful"] is True


def test_level_is_the_findings_own_severity(folder: Path) -> None:
    (written,) = run_of(result(finding(severity="low")), folder)["results"]
    assert written["level"] == "note"


def test_fingerprints_are_the_upload_actions_own(folder: Path) -> None:
    (written,) = run_of(result(finding()), folder)["results"]
    expected = line_hashes(SOURCE.encode(), [2])[2]
    assert written["partialFingerprints"] == {
        "primaryLocationLineHash": expected,
        "dowbenchFingerprint/v1": "a" * 64,
    }


def test_moving_a_tool_down_changes_no_fingerprint(folder: Path) -> None:
    before = run_of(result(finding()), folder)["results"][0]["partialFingerprints"]
    (folder / "tools.json").write_text("\n" * 50 + SOURCE)
    after = run_of(result(finding(span=Span(52, 3, 54, 4))), folder)["results"][0]["partialFingerprints"]
    assert before == after


def test_findings_of_one_rule_on_one_line_are_told_apart(folder: Path) -> None:
    """Minified JSON has one line, so that the line hash would make all its findings one alert."""
    span = Span(1, 1, 1, 9)
    found = [finding(pointer=f"/tools/{i}", tool=f"t{i}", span=span) for i in range(3)]
    other = finding(rule="heavy-definition", severity="low", span=span)
    written = run_of(result(*found, other), folder)["results"]
    hashes = [w["partialFingerprints"]["primaryLocationLineHash"] for w in written]
    assert len(set(hashes)) == 4
    line = line_hashes(SOURCE.encode(), [1])[1]
    assert hashes[3] == line
    assert line not in hashes[:3]
    again = run_of(result(*reversed(found), other), folder)["results"]
    assert [w["partialFingerprints"]["primaryLocationLineHash"] for w in again[:3]] == hashes[2::-1]


def test_two_findings_of_one_rule_on_one_pointer_are_told_apart(folder: Path) -> None:
    found = [finding(parameter=name) for name in ("limit", "count")]
    written = run_of(result(*found), folder)["results"]
    assert len({w["partialFingerprints"]["primaryLocationLineHash"] for w in written}) == 2


def test_what_cannot_be_read_again_still_has_a_fingerprint_and_a_place(folder: Path) -> None:
    (written,) = run_of(result(finding(path="<stdin>", span=None)), folder)["results"]
    place = written["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "stdin"
    assert place["region"]["startLine"] == 1
    assert written["partialFingerprints"]["primaryLocationLineHash"]


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a b/tools.json", "a%20b/tools.json"),
        ("-tools.json", "-tools.json"),
        pytest.param("c:d.json", "c%3Ad.json", marks=POSIX),
        ("outils-été/工具.json", "outils-%C3%A9t%C3%A9/%E5%B7%A5%E5%85%B7.json"),
        ("q\"uote'#?%.json", "q%22uote%27%23%3F%25.json"),
        pytest.param("bad\udcff.json", "bad%FF.json", marks=POSIX),
        ("./x/../tools.json", "tools.json"),
    ],
)
def test_uris_are_relative_and_encoded(folder: Path, path: str, uri: str) -> None:
    (written,) = run_of(result(finding(path=path)), folder)["results"]
    assert written["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": uri}


def test_uris_are_relative_to_the_repository_not_to_the_working_directory(folder: Path) -> None:
    inner = folder / "services" / "search"
    inner.mkdir(parents=True)
    (written,) = run_of(result(finding(path="tools.json")), inner)["results"]
    assert written["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "services/search/tools.json"
    (written,) = run_of(result(finding(path="../../tools.json")), inner)["results"]
    assert written["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "tools.json"


def test_a_file_outside_the_repository_has_no_absolute_uri(folder: Path) -> None:
    (written,) = run_of(result(finding(path="../elsewhere/tools.json")), folder)["results"]
    uri = written["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri.endswith("/elsewhere/tools.json")
    assert not uri.startswith(("/", "."))


def test_suppressed_findings_are_results_with_a_suppression(folder: Path) -> None:
    suppressed = tuple(
        Suppressed(finding(tool=by, pointer=f"/tools/{i}"), by, reason)
        for i, (by, reason) in enumerate([("inline", "bounded by the server"), ("baseline", ""), ("config", "x")])
    )
    run = run_of(ScanResult(suppressed=suppressed, rules=RULES), folder)
    given = [r["suppressions"] for r in run["results"]]
    assert [s[0]["kind"] for s in given] == ["inSource", "external", "external"]
    assert given[0][0]["justification"] == "bounded by the server"
    assert "justification" not in given[1][0]
    assert all(s[0]["status"] == "accepted" for s in given)


def test_what_could_not_be_scanned_is_a_notification(folder: Path) -> None:
    scanned = result(
        errors=(Note("bad.json", "expected ',' or '}'", line=3, column=7),),
        warnings=(Note("tools.json", "ignore matches nothing"), Note("", "the baseline is empty")),
        skipped=(Note("notes.json", "no tool definitions"),),
    )
    invocation = run_of(scanned, folder)["invocations"][0]
    notes = invocation["toolExecutionNotifications"]
    assert [n["level"] for n in notes] == ["error", "warning", "warning", "note"]
    assert notes[0]["message"]["text"] == "expected ',' or '}'"
    place = notes[0]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "bad.json"}, "region": {"startLine": 3, "startColumn": 7}}
    assert "locations" not in notes[2]


def test_a_tools_name_cannot_become_a_link_or_hidden_text(folder: Path) -> None:
    hostile = "[click](https://example.org)\u202e\n::error::x"
    (written,) = run_of(result(finding(message=f"{hostile} returns data.", tool=hostile)), folder)["results"]
    text = written["message"]["text"]
    assert "\\[click\\](" in text
    assert "\u202e" not in text
    assert "\n" not in text
    assert "\u202e" not in written["properties"]["tool"]


def test_beyond_the_result_limit_the_worst_are_kept_and_the_number_dropped_is_said(folder: Path) -> None:
    found = [finding(severity="low", tool=f"low{i}", pointer=f"/tools/{i}") for i in range(3)]
    found += [finding(severity="medium", tool="medium", pointer="/tools/3"), finding(pointer="/tools/4")]
    scanned = result(*found)._replace(suppressed=(Suppressed(finding(), "inline", ""),))
    log = json.loads(render_within(scanned, ReportOptions(root=folder), results=3, size=10_000_000))
    run = log["runs"][0]
    assert [r["properties"]["tool"] for r in run["results"]] == ["low0", "medium", "search"]
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["level"] == "warning"
    assert note["message"]["text"].startswith("3 results")


def test_beyond_the_size_limit_results_are_dropped_until_it_fits(folder: Path) -> None:
    found = [
        finding(pointer=f"/tools/{i}", tool=f"t{i}", fingerprint=f"{i * 0x9E3779B97F4A7C15:064x}", severity=severity)
        for i, severity in enumerate(["low"] * 300 + ["high"] * 20)
    ]
    text = render_within(result(*found), ReportOptions(root=folder), results=25_000, size=9_000)
    assert len(gzip.compress(text.encode(), 6)) <= 9_000
    run = json.loads(text)["runs"][0]
    assert 20 <= len(run["results"]) < 320
    assert [r["level"] for r in run["results"]].count("error") == 20
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"].startswith(f"{320 - len(run['results'])} results")
