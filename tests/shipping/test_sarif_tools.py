"""The SARIF of every fixture before its schema, Microsoft's multitool, and that tool's own line hash.

The multitool's errors and warnings are to be none. Its notes are not asked for; those it would give are choices:
message texts instead of templates (SARIF2002), no version control details, since code scanning knows the commit
(SARIF2003), addresses that cannot be reached without a network (SARIF2006), rule ids that are words instead of numbers
(SARIF2009), and no snippets of the scanned files in the report (SARIF2010, SARIF2011).
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from kit import ROOT, run
from workbench import BOUNDED, SEARCH
from workspaces import mcp

from dowbench.config import Config
from dowbench.report import ReportOptions, render
from dowbench.scan import scan

if TYPE_CHECKING:
    from pathlib import Path

INPUTS = sorted(
    path
    for path in (ROOT / "fixtures").rglob("*")
    if path.is_file() and path.suffix in {".json", ".yaml", ".yml"} and path.name != "expected.json"
)


def test_there_are_fixtures() -> None:
    assert len(INPUTS) >= 5


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the SARIF of each fixture, of an empty, a suppressed, a hostile and a failed scan."""
    folder = tmp_path_factory.mktemp("sarif")
    made = folder / "made"
    made.mkdir()
    ignored = {**SEARCH, "x-dowbench-ignore": {"rules": ["all"], "reason": "the server cuts it"}}
    hostile = {**SEARCH, "name": "a](b) {0} \u202e\ud800 %s <script>"}
    for name, text in {
        "empty": mcp(BOUNDED),
        "suppressed": mcp(ignored),
        "hostile": mcp(hostile),
        "failed": '{"tools": [{"name": "web_search", "inputSchema": {\n}',
        "one line": json.dumps({"tools": [SEARCH, {**SEARCH, "name": "web_search_2"}]}),
    }.items():
        (made / f"{name}.json").write_text(text)
    for path in (*INPUTS, *sorted(made.iterdir())):
        name = "__".join(path.relative_to(ROOT if path.is_relative_to(ROOT) else made).parts)
        result = scan([str(path)], Config(tier="pedantic", skip_unrecognized=True))
        text = render("sarif", result, ReportOptions())
        (folder / f"{name}.sarif").write_text(text, encoding="utf-8", newline="\n")
    return folder


def runs(logs: Path) -> dict[str, dict[str, Any]]:
    return {path.name: json.loads(path.read_text())["runs"][0] for path in sorted(logs.glob("*.sarif"))}


def test_the_cases_are_what_they_are_called(logs: Path) -> None:
    found = runs(logs)
    assert found["empty.json.sarif"]["results"] == []
    assert [r["suppressions"][0]["kind"] for r in found["suppressed.json.sarif"]["results"]] == ["inSource"]
    failed = found["failed.json.sarif"]
    assert failed["results"] == []
    assert [n["level"] for n in failed["invocations"][0]["toolExecutionNotifications"]] == ["error"]
    assert sum(bool(run["results"]) for run in found.values()) > 10


def test_schema(logs: Path, multitool: Path) -> None:
    from jsonschema.validators import validator_for

    schema = json.loads(multitool.with_name("sarif-2.1.0.json").read_text())
    validator = validator_for(schema)(schema)
    for path in sorted(logs.glob("*.sarif")):
        errors = [
            f"{'/'.join(map(str, e.absolute_path))}: {e.message}"
            for e in validator.iter_errors(json.loads(path.read_text()))
        ]
        assert errors == [], path.name
    broken = json.loads(path.read_text())
    broken["runs"][0]["results"] = [{"ruleId": 7}]
    assert list(validator.iter_errors(broken)), "this validator finds nothing"


def validated(multitool: Path, folder: Path, output: Path) -> list[tuple[str, dict[str, Any]]]:
    """Rule and message of each error and warning about the reports in ``folder``."""
    run(
        *(
            multitool,
            "validate",
            f"{folder}/*.sarif",
            "--rule-kind",
            "Sarif;Ghas",
            "--level",
            "Error;Warning",
            "--max-file-size-in-kb",
            "1000000",
        ),
        *("--output", output, "--log", "ForceOverwrite"),
        DOTNET_SYSTEM_GLOBALIZATION_INVARIANT="1",
    )
    log = json.loads(output.read_text(encoding="utf-8-sig"))["runs"][0]  # its exit code says nothing
    for invocation in log["invocations"]:
        assert invocation["executionSuccessful"], invocation
        assert "toolConfigurationNotifications" not in invocation, "a file was skipped"
    return [(r["ruleId"], r["message"]) for r in log["results"]]


def test_multitool_finds_no_error_and_no_warning(logs: Path, multitool: Path, tmp_path: Path) -> None:
    """In files of twenty runs, as many as code scanning allows, since the tool takes its time for each file."""
    joined = tmp_path / "joined"
    joined.mkdir()
    every = [json.loads(path.read_text()) for path in sorted(logs.glob("*.sarif"))]
    for first in range(0, len(every), 20):
        log = every[first] | {"runs": [run for one in every[first : first + 20] for run in one["runs"]]}
        for number, one in enumerate(log["runs"]):
            one["automationDetails"]["id"] = f"dowbench/{number}/"
        (joined / f"{first}.sarif").write_text(json.dumps(log))
    assert validated(multitool, joined, tmp_path / "out") == []
    broken = tmp_path / "broken"
    broken.mkdir()
    del every[0]["runs"][0]["tool"]["driver"]["rules"][0]["help"]
    (broken / "0.sarif").write_text(json.dumps(every[0]))
    assert [rule for rule, _ in validated(multitool, broken, tmp_path / "out")] == ["GH2012"], "it finds nothing"


def test_multitool_computes_the_same_line_hashes(
    multitool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "fixtures/openai/support_agent/input.json", "tools.json")
    log = json.loads(render("sarif", scan(["tools.json"], Config()), ReportOptions()))
    results = log["runs"][0]["results"]
    ours = [r.pop("partialFingerprints")["primaryLocationLineHash"] for r in results]
    assert ours
    for one in results:  # it reads only what it can locate
        one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] = (tmp_path / "tools.json").as_uri()
    (tmp_path / "bare.sarif").write_text(json.dumps(log))
    done = run(
        *(multitool, "rewrite", "bare.sarif", "--output", "full.sarif", "--insert", "RollingHashPartialFingerprints"),
        *("--log", "ForceOverwrite"),
        cwd=tmp_path,
        DOTNET_SYSTEM_GLOBALIZATION_INVARIANT="1",
    )
    written = json.loads((tmp_path / "full.sarif").read_text(encoding="utf-8-sig"))["runs"][0]["results"]
    theirs = [r.get("partialFingerprints", {}).get("primaryLocationLineHash") for r in written]
    assert theirs == ours, done.stdout
