"""The text report, as a person reads it."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples import FINDING, RULES, finding, result

from dowbench.model import Evidence, FileScan, FrameworkSetting, Note, Related, Span, Suppressed
from dowbench.report import ReportOptions, render
from dowbench.report.text import DISCLAIMER

SNAPSHOTS = Path(__file__).parent / "snapshots"


def sample(**changes):
    """Something of everything."""
    known = (
        Evidence("measured", "9.1× (95 % interval 7.2–11.0), n = 30, model-x", "benchmark/evidence/one", 9.1, 7.2),
        Evidence("reported", "8.8×, n = 5, one model", "https://example.com/paper"),
    )
    return result(
        FINDING._replace(evidence=known),
        finding(
            pointer="/tools/1",
            tool="read",
            span=Span(9, 3, 12, 4),
            evidence=known,
            message="read returns a page of any size.",
        ),
        finding(
            rule="limit-without-maximum",
            severity="medium",
            message="list lets the caller pass any `limit`, and its description says nothing about how many it gives.",
            fix="State a maximum of `limit`.",
            pointer="/tools/2/inputSchema/properties/limit",
            tool="list",
            parameter="limit",
            span=Span(20, 16, 20, 35),
            evidence=(Evidence("none", "not measured"),),
            related=(Related("/tools/2", "the tool", Span(15, 3, 30, 4)),),
        ),
        finding(
            rule="heavy-definition",
            severity="low",
            tool=None,
            pointer="",
            message="A long set.",
            fix="Shorten it.",
            span=None,
            evidence=(),
        ),
        files=(FileScan("tools.json", "mcp", 3),),
        suppressed=(
            Suppressed(finding(rule="heavy-definition", tool="big"), "inline", "needed"),
            Suppressed(finding(tool="old"), "baseline", ""),
        ),
        skipped=(Note("package.json", "no tool definitions"),),
        errors=(Note("broken.json", "not valid JSON: expected a value", 3, 7),),
        warnings=(Note("tools.json", "unused ignore: no finding here", 40),),
        **changes,
    )


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("text.txt", ReportOptions()),
        ("text-verbose.txt", ReportOptions(verbose=True)),
        ("text-colour.txt", ReportOptions(colour=True, messages=False)),
    ],
)
def test_snapshot(name, options):
    assert render("text", sample(), options) == (SNAPSHOTS / name).read_text(encoding="utf-8")


def test_lines_keep_to_the_width():
    for width in (60, 80, 120):
        lines = render("text", sample(), ReportOptions(width=width)).splitlines()
        assert [
            line for line in lines if len(line) > width and not line.startswith(("tools.json", "Scanned", "A finding"))
        ] == []


def test_evidence_and_settings_stand_with_the_first_finding_of_a_rule():
    report = render("text", sample(), ReportOptions())
    assert report.count("  measured   on the benchmark's tools, not on yours: 9.1×") == 1
    assert report.count("LangChain: ToolCallLimitMiddleware(run_limit=5)") == 1
    assert report.count("  fix        Add a limit with a maximum.\n") == 1
    assert report.count("  fix        as for search above (line 2)\n") == 1
    assert (
        render("text", sample(), ReportOptions(verbose=True)).count(
            "  measured   on the benchmark's tools, not on yours: 9.1×"
        )
        == 2
    )


@pytest.mark.parametrize(("between", "times"), [(19, 1), (20, 2)])
def test_a_fix_that_is_far_above_is_said_again(between, times):
    others = [finding(rule=f"rule-{i}", tool="other", fix=f"Other {i}.") for i in range(between)]
    report = render("text", result(finding(tool="first"), *others, finding(tool="last")), ReportOptions())
    assert report.count("  fix        Add a limit with a maximum.\n") == times


def test_settings_of_frameworks_stand_once_with_their_caveat_where_they_can_apply():
    here = FrameworkSetting("Some SDK", "cut(5)", "earlier results only")
    there = FrameworkSetting("Some client", "CUT=5", formats=("mcp",))
    rules = tuple(rule._replace(frameworks=(here, there)) for rule in RULES)
    findings = (finding(tool="first"), finding(rule=RULES[1].id, tool="second"))

    def said(format):
        made = result(*findings, rules=rules, files=(FileScan("tools.json", format, 2),))
        return render("text", made, ReportOptions())

    assert "- Some client: CUT=5\n" in said("mcp")
    assert f"For {RULES[0].id}, {RULES[1].id}: - Some SDK" in " ".join(said("mcp").split())
    assert "Some client" not in said("openai")
    assert said("openai").count("- Some SDK: cut(5) (earlier results only)\n") == 1


def test_a_finding_on_a_set_stands_behind_those_on_its_tools():
    whole = finding(rule="no-call-budget", tool=None, span=Span(1, 1, 9, 1))
    report = render(
        "text", result(whole, finding(tool="search"), finding(path="z.json", tool="other")), ReportOptions()
    )
    assert [line.split("  ")[2:] for line in report.splitlines() if "  HIGH  " in line] == [
        ["unbounded-result", "search"],
        ["no-call-budget"],
        ["unbounded-result", "other"],
    ]


def test_a_source_that_the_text_names_is_not_named_again():
    def line(text, source):
        made = result(finding(evidence=(Evidence("reported", text, source),)))
        return next(line for line in render("text", made, ReportOptions(width=200)).splitlines() if "reported" in line)

    assert line("up to 9× (arXiv 1111.2222)", "https://arxiv.org/abs/1111.2222").endswith("(arXiv 1111.2222)")
    assert line("up to 9× (recordings)", "recordings").endswith("(recordings)")
    assert line("up to 9× (A page)", "https://example.com/a").endswith("(A page) [https://example.com/a]")


def test_long_lists_of_one_rule_on_one_file_collapse():
    many = [finding(tool=f"tool_{n}", pointer=f"/tools/{n}", span=Span(n + 1, 1, n + 1, 2)) for n in range(12)]
    other = finding(path="other.json", tool="other")
    report = render("text", result(*many, other), ReportOptions())
    assert report.count("  HIGH  unbounded-result  tool_") == 10
    assert "tools.json: 2 more unbounded-result, shown with --verbose\n" in report
    assert "other.json:2:3  HIGH  unbounded-result  other\n" in report
    report = render("text", result(*many, other), ReportOptions(verbose=True))
    assert report.count("  HIGH  unbounded-result  tool_") == 12
    assert "more unbounded-result" not in report


def test_what_is_ignored_is_listed_with_its_reason_and_long_lists_collapse():
    ignored = [Suppressed(finding(tool=f"tool_{n}"), "config", f"reason {n}") for n in range(12)]
    known = Suppressed(finding(tool="known"), "baseline", "old")
    report = render("text", result(suppressed=(*ignored, known)), ReportOptions())
    for n in range(10):
        assert f"tools.json:2:3  excepted in the configuration (reason {n})  unbounded-result  tool_{n}\n" in report
    assert "reason 10" not in report
    assert "tools.json: 2 more unbounded-result ignored, shown with --verbose\n" in report
    assert "known to the baseline" not in report
    assert "13 suppressed" in report
    report = render("text", result(suppressed=(*ignored, known)), ReportOptions(verbose=True))
    assert "(reason 11)" in report
    assert "known to the baseline (old)  unbounded-result  known\n" in report


def test_clean_result_ends_with_what_it_does_not_prove():
    report = render("text", result(files=(FileScan("tools.json", "mcp", 1),)), ReportOptions())
    assert report == (
        "Scanned 1 tool in 1 file: 0 high, 0 medium, 0 low. 0 suppressed, 0 skipped.\n" + DISCLAIMER + "\n"
    )


def test_what_was_left_out_is_counted():
    report = render("text", sample()._replace(unchanged=3), ReportOptions())
    assert (
        "Scanned 3 tools in 1 file: 2 high, 1 medium, 1 low. 2 suppressed, 1 skipped, "
        "3 on unchanged tools not shown, 1 could not be scanned." in report
    )


def test_finding_of_an_unlisted_rule_is_shown():
    assert "not-in-the-pack" in render("text", result(finding(rule="not-in-the-pack")), ReportOptions())
    assert RULES
