"""The Markdown report, as a step summary shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples import finding, result
from test_text import sample

from dowbench.model import FileScan, Note
from dowbench.report import ReportOptions, render
from dowbench.report.markdown import MAX_BYTES

SNAPSHOTS = Path(__file__).parent / "snapshots"


def test_snapshot():
    assert render("markdown", sample(), ReportOptions()) == (SNAPSHOTS / "markdown.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({}, "1 could not be scanned"),
        ({"errors": ()}, "2 high, 1 medium, 1 low"),
        ({"errors": (), "findings": ()}, "no findings"),
        ({"errors": (), "findings": (), "files": ()}, "nothing to scan"),
    ],
)
def test_verdict_is_the_worst_news(changed, verdict):
    assert render("markdown", sample()._replace(**changed), ReportOptions()).startswith(f"## dowbench: {verdict}\n")


def test_worst_findings_come_first_and_each_rule_has_a_section():
    report = render("markdown", result(finding(rule="heavy-definition", severity="low"), finding()), ReportOptions())
    table = [line.split(" | ")[1] for line in report.splitlines() if line.startswith(("| high", "| low"))]
    assert table == ["unbounded-result", "heavy-definition"]
    assert report.index("<b>unbounded-result</b>") < report.index("<b>heavy-definition</b>")
    assert "limit-without-maximum" not in report


def test_page_stays_below_what_the_runner_drops():
    many = [finding(tool=f"tool_{n}" * 10, message="m" * 300) for n in range(5000)]
    notes = tuple(Note("x" * 100, "y" * 400) for _ in range(5000))
    report = render("markdown", result(*many, errors=notes, warnings=notes, skipped=notes), ReportOptions())
    assert len(report.encode()) <= MAX_BYTES < 1024 * 1024
    shown = report.count("\n| high ")
    assert 0 < shown < 5000
    assert f"\n{5000 - shown} more findings did not fit on this page.\n" in report
    assert report.count("- and 4800 more\n") == 3


def test_details_are_closed_where_they_are_opened():
    report = render("markdown", sample(), ReportOptions())
    assert report.count("<details") == report.count("</details>") == 7


def test_clean_page():
    report = render("markdown", result(files=(FileScan("a.json", "mcp", 2),)), ReportOptions())
    assert report == (
        "## dowbench: no findings\n\nScanned 2 tools in 1 file: 0 high, 0 medium, 0 low. 0 suppressed, 0 skipped. "
        "A finding is a pattern match. A toolset without findings is not proven safe.\n"
    )


def test_fixes_of_one_rule_that_differ_stand_each_with_its_tool():
    first, second = finding(tool="read", fix="Add `max_chars`."), finding(tool="list", fix="Add `max_results`.")
    report = render("markdown", result(first, second, second._replace(tool="show")), ReportOptions())
    assert "**Fix.**\n\n- `read`: Add `max_chars`.\n- `list`: Add `max_results`.\n" in report
