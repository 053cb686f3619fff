"""The SARIF of every fixture before its schema, Microsoft's multitool, and that tool's own line hash."""

from __future__ import annotations

import copy
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from kit import ROOT, run
from workspaces import BOUNDED, SEARCH, mcp

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
        "failed": '{"tools": [\n}',
        "one line": json.dumps({"tools": [SEARCH, {**SEARCH, "name": "web_search_2"}]}),
    }.items():
        (made / f"{name}.json").write_text(text)
    for path in (*INPUTS, *sorted(made.iterdir())):
        for tier in ("default", "pedantic"):
            result = scan([str(path)], Config(tier=tier, skip_unrecognized=True))
            name = "__".join(path.relative_to(ROOT if path.is_relative_to(ROOT) else made).parts)
            (folder / f"{name}.{tier}.sarif").write_text(
                render("sarif", result, ReportOptions()), encoding="utf-8", newline="\n"
            )
    return folder


def runs(logs: Path) -> dict[str, dict[str, Any]]:
    return {path.name: json.loads(path.read_text())["runs"][0] for path in sorted(logs.glob("*.sarif"))}


def test_the_cases_are_what_they_are_called(logs: Path) -> None:
    found = runs(logs)
    assert found["empty.json.default.sarif"]["results"] == []
    assert [r["suppressions"][0]["kind"] for r in found["suppressed.json.default.sarif"]["results"]] == ["inSource"]
    failed = found["failed.json.default.sarif"]
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


def validated(multitool: Path, path: Path, output: Path) -> list[dict[str, Any]]:
    run(
        *(multitool, "validate", path, "--rule-kind", "Sarif;Ghas", "--level", "Error;Warning"),
        *("--output", output, "--log", "ForceOverwrite"),
        DOTNET_SYSTEM_GLOBALIZATION_INVARIANT="1",
    )
    log = json.loads(output.read_text(encoding="utf-8-sig"))  # its exit code says nothing
    assert all(i["executionSuccessful"] for i in log["runs"][0]["invocations"])
    found: list[dict[str, Any]] = log["runs"][0]["results"]
    return found


def test_multitool_finds_no_error_and_no_warning(logs: Path, multitool: Path, tmp_path: Path) -> None:
    joined = tmp_path / "all.sarif"
    every = [json.loads(path.read_text()) for path in sorted(logs.glob("*.sarif"))]
    log = every[0] | {"runs": [run for one in every for run in one["runs"]]}
    for number, one in enumerate(log["runs"]):
        one["automationDetails"]["id"] = f"dowbench/{number}/"
    joined.write_text(json.dumps(log))
    assert [(r["ruleId"], r["message"]) for r in validated(multitool, joined, tmp_path / "out")] == []
    broken = copy.deepcopy(log)
    del broken["runs"][0]["tool"]["driver"]["rules"][0]["help"]
    joined.write_text(json.dumps(broken))
    assert [r["ruleId"] for r in validated(multitool, joined, tmp_path / "out")] == ["GH2012"]


def test_multitool_computes_the_same_line_hashes(
    multitool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "fixtures/openai/support_agent/input.json", "tools.json")
    log = json.loads(render("sarif", scan(["tools.json"], Config()), ReportOptions()))
    results = log["runs"][0]["results"]
    ours = [r.pop("partialFingerprints")["primaryLocationLineHash"] for r in results]
    assert ours
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
