"""The JSON report: ``dowbench.scan/1``, held to its schema."""

from __future__ import annotations

import importlib.resources
import json
from pathlib import Path

import jsonschema
import pytest
from samples import finding, result
from test_text import sample
from workbench import tool, write

from dowbench.report import ReportOptions, render

SNAPSHOTS = Path(__file__).parent / "snapshots"
SCHEMA = json.loads(importlib.resources.files("dowbench").joinpath("scan.schema.json").read_text("utf-8"))


def judge(report: str) -> list[str]:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    return [error.message for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(json.loads(report))]


def test_snapshot():
    assert render("json", sample(), ReportOptions()) == (SNAPSHOTS / "scan.json").read_text(encoding="utf-8")


def test_sample_and_empty_result_keep_to_the_schema():
    assert judge(render("json", sample(), ReportOptions())) == []
    assert judge(render("json", result(), ReportOptions())) == []


def test_scan_keeps_to_the_schema(folder, probe):
    write(
        folder / "tools.json",
        tool(knob=True),
        tool(**{"x-dowbench-ignore": {"rules": ["all"], "reason": "x"}}),
        tool("a"),
    )
    (folder / "package.json").write_text("{}", encoding="utf-8")
    (folder / "broken.json").write_text("[", encoding="utf-8")
    run = probe("tools.json", "broken.json", "missing.json", "package.json", ".")
    assert judge(run.out) == []
    report = run.json
    assert all(report[key] for key in ("files", "findings", "suppressed", "errors"))


@pytest.mark.parametrize("change", [{"schema": "dowbench.scan/2"}, {"extra": 1}, {"findings": [{}]}, {"summary": {}}])
def test_schema_refuses_what_is_otherwise(change):
    assert judge(json.dumps({**json.loads(render("json", sample(), ReportOptions())), **change}))


@pytest.mark.parametrize(
    "name", ["\u202egnp", "a\u200bb", "\x7f\x9b31m", "\ud800", "tag\U000e0041", 'quo"te\\', "a\nb"]
)
def test_hidden_characters_are_escaped_and_the_text_stays_the_same(name):
    report = render("json", result(finding(tool=name)), ReportOptions())
    assert json.loads(report)["findings"][0]["tool"] == name
    assert report.replace("\n", "").isprintable()
    report.encode("utf-8")
    assert judge(report) == []
