"""Workflow commands: escaped, ten of a level at most, and nothing lost without a word."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from samples import FINDING, finding, result

from dowbench.model import Note, Span, Suppressed
from dowbench.report import ReportOptions, render

if TYPE_CHECKING:
    from pathlib import Path

    from dowbench.model import ScanResult


def lines(scanned: ScanResult, root: Path) -> list[str]:
    return render("github", scanned, ReportOptions(root=root)).splitlines()


def test_nothing_found_prints_nothing(tmp_path: Path) -> None:
    assert lines(result(), tmp_path) == []


def test_a_finding_over_several_lines_has_no_column(tmp_path: Path) -> None:
    (line,) = lines(result(finding()), tmp_path)
    head, message = "::error file=tools.json,line=2,endLine=4,title=unbounded-result%3A search::", FINDING.message
    assert line == f"{head}{message} Fix: {FINDING.fix}"


def test_a_finding_on_one_line_has_columns(tmp_path: Path) -> None:
    (line,) = lines(result(finding(span=Span(2, 3, 2, 9), severity="medium")), tmp_path)
    assert line.startswith("::warning file=tools.json,line=2,endLine=2,col=3,endColumn=9,title=")


def test_suppressed_findings_are_listed_by_one_notice_on_no_line(tmp_path: Path) -> None:
    known = Suppressed(finding(tool="old"), "baseline", "")
    ignored = Suppressed(finding(tool=None, span=None), "inline", "needed\n::error::x")
    printed = lines(result(finding(severity="low"), suppressed=(known, ignored)), tmp_path)
    assert [line.partition(",")[0] for line in printed] == [
        "::notice file=tools.json",
        "::notice title=dowbench::2 suppressed (1 known to the baseline",
    ]
    assert printed[1].endswith(
        "(1 known to the baseline, 1 ignored in the file): unbounded-result tools.json: needed\\u000a::error::x; "
        "unbounded-result old tools.json line 2"
    )


def test_the_notice_on_suppressed_findings_is_one_of_the_ten(tmp_path: Path) -> None:
    found = [finding(severity="low", tool=f"l{i}") for i in range(10)]
    printed = lines(result(*found, suppressed=(Suppressed(finding(), "config", "why"),)), tmp_path)
    assert len(printed) == 10
    assert (
        "::1 suppressed (1 excepted in the configuration): unbounded-result search tools.json line 2: why"
        in printed[-2]
    )
    assert "::2 more, not shown as annotations (2 notice)" in printed[-1]


def test_names_cannot_break_out_of_a_command(tmp_path: Path) -> None:
    hostile = finding(path="a,b:c%\n.json", tool="x,line=1::y\n::error::z", message="100%\n::set-output name=a::b")
    (line,) = lines(result(hostile), tmp_path)
    head, _, message = line.removeprefix("::error ").partition("::")
    assert re.fullmatch(r"file=a%2Cb%3Ac%25\\u000a.json,line=2,endLine=4,title=[^:,]*", head)
    assert message.startswith("100%25\\u000a::set-output")


def test_files_are_named_from_the_repositorys_root(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "inner").mkdir()
    (line,) = lines(result(finding()), tmp_path / "inner")
    assert line.startswith("::error file=inner/tools.json,")


def test_the_worst_ten_of_a_level_then_one_notice_with_the_places_of_the_rest(tmp_path: Path) -> None:
    found = [finding(confidence="low", tool=f"t{i}", span=Span(i, 1, i + 1, 1)) for i in range(1, 31)]
    found += [finding(path="b.json", tool=f"b{i}", span=Span(i, 1, i + 1, 1)) for i in range(101, 109)]
    found += [finding(severity="medium", path="m.json", tool="m", span=Span(7, 1, 8, 1))]
    found += [finding(severity="low", path="l.json", tool=f"l{i}", span=Span(i, 1, i + 1, 1)) for i in range(1, 11)]
    printed = lines(result(*found), tmp_path)
    levels = [line[2 : line.index(" ")] for line in printed]
    assert levels == ["error"] * 10 + ["warning"] + ["notice"] * 10
    assert all("file=b.json" in line for line in printed[:8])
    assert "29 more, not shown as annotations (28 error, 1 notice)" in printed[-1]
    numbers = re.search(r"tools\.json lines ([\d, ]+); l\.json line 10$", printed[-1])
    assert numbers
    assert [int(n) for n in numbers[1].split(", ")] == list(range(3, 31))


def test_ten_notices_fit_when_nothing_is_left_out(tmp_path: Path) -> None:
    found = [finding(severity="low", tool=f"l{i}") for i in range(10)]
    printed = lines(result(*found), tmp_path)
    assert len(printed) == 10
    assert all("title=unbounded-result" in line for line in printed)


def test_what_could_not_be_scanned_is_an_error_with_its_line(tmp_path: Path) -> None:
    scanned = result(errors=(Note("bad.json", "expected a comma", line=3, column=4), Note("", "no files")))
    assert lines(scanned, tmp_path) == [
        "::error file=bad.json,line=3,title=could not scan::expected a comma",
        "::error title=could not scan::no files",
    ]


def test_a_long_message_is_cut_to_what_the_runner_keeps(tmp_path: Path) -> None:
    (line,) = lines(result(finding(message="x" * 9_000, fix="")), tmp_path)
    assert len(line.partition("::search")[0]) and line.endswith("…")
    assert len(line.rpartition("::")[2]) == 4_096
