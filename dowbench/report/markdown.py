"""The report as GitHub-flavoured Markdown: the step summary, or a page to attach somewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowbench.model import SEVERITIES
from dowbench.report.escape import markdown, markdown_code, markdown_prose
from dowbench.report.text import DECIDED, DISCLAIMER, evidence_lines, fitting, summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dowbench.model import Finding, FrameworkSetting, Note, RuleInfo, ScanResult
    from dowbench.report import ReportOptions

MAX_BYTES = 900_000
"""The runner drops a step summary above 1 MiB, and all steps of a job share a page: nothing here may come near."""

_NAME = 120
_CELL = 400
_PROSE = 3000
"""Characters of a name, of a cell and of a longer text."""
_NOTES = 200
"""Notes of one kind that are listed."""
_FIXES = 5
"""Different fixes of one rule that are listed."""


def render(result: ScanResult, options: ReportOptions) -> str:
    """A verdict, a table of findings worst first, a collapsed section a rule, and what was left out and why.

    Rows that would take the page over ``MAX_BYTES`` are left out and counted.
    """
    opening = f"## dowbench: {verdict(result)}\n\n{markdown(summary(result))} {DISCLAIMER}\n"
    closing = "".join(
        [
            *_rule_sections(result),
            *_notes("Could not be scanned", result.errors, opened=True),
            *_notes("Warnings", result.warnings),
            *_suppressed(result),
            *_notes("Skipped", result.skipped),
        ]
    )
    budget = MAX_BYTES - len(opening.encode()) - len(closing.encode())
    return opening + _table(result, budget) + closing


def verdict(result: ScanResult) -> str:
    """The outcome in a few words, worst news first."""
    if result.errors:
        return f"{len(result.errors)} could not be scanned"
    worst = next((severity for severity in SEVERITIES if result.count(severity)), None)
    if worst is None:
        return "no findings" if result.files else "nothing to scan"
    return ", ".join(f"{result.count(s)} {s}" for s in SEVERITIES if result.count(s))


def _table(result: ScanResult, budget: int) -> str:
    if not result.findings:
        return ""
    rows = ["\n| severity | rule | tool | place | what |\n|---|---|---|---|---|\n"]
    size = len(rows[0]) + 200
    worst_first = sorted(result.findings, key=lambda finding: SEVERITIES.index(finding.severity))
    for done, finding in enumerate(worst_first):
        row = _row(finding)
        size += len(row.encode())
        if size > budget:
            rows.append(f"\n{len(worst_first) - done} more findings did not fit on this page.\n")
            break
        rows.append(row)
    return "".join(rows)


def _row(finding: Finding) -> str:
    tool = markdown_code(finding.tool, _NAME) if finding.tool is not None else ""
    if finding.parameter:
        tool += f" ({markdown_code(finding.parameter, _NAME)})"
    cells = (finding.severity, finding.rule, tool, _place(finding), markdown_prose(finding.message, _CELL))
    return f"| {' | '.join(cells)} |\n"


def _place(finding: Finding) -> str:
    line = f":{finding.span.line}" if finding.span else ""
    return markdown_code(f"{finding.path}{line}", 300)


def _rule_sections(result: ScanResult) -> Iterator[str]:
    fired: dict[str, list[Finding]] = {}
    for finding in result.findings:
        fired.setdefault(finding.rule, []).append(finding)
    worst = {rule: min(SEVERITIES.index(finding.severity) for finding in found) for rule, found in fired.items()}
    for rule in sorted((rule for rule in result.rules if rule.id in fired), key=lambda rule: worst[rule.id]):
        places = {finding.path for finding in fired[rule.id]}
        formats = {file.format for file in result.files if file.path in places}
        yield _rule_section(rule, fired[rule.id], fitting(rule, formats))


def _setting(setting: FrameworkSetting) -> str:
    caveat = f" ({markdown(setting.caveat)})" if setting.caveat else ""
    return f"- {markdown(setting.framework)}: {markdown_code(setting.code)}{caveat}"


def _rule_section(rule: RuleInfo, findings: list[Finding], settings: Iterable[FrameworkSetting]) -> str:
    lines = [
        f"\n<details><summary><b>{rule.id}</b>: {_html(rule.title)} ({len(findings)})</summary>\n",
        f"{markdown_prose(rule.why, _PROSE)}\n",
    ]
    evidence = evidence_lines(findings[0].evidence or rule.evidence)
    lines.append("\n".join(f"- {label}: {markdown(text)}" for label, text in evidence) + "\n")
    lines += _fixes(rule, findings)
    if settings:
        lines.append("Or, in your agent framework:\n")
        lines.append("\n".join(_setting(setting) for setting in settings) + "\n")
    if rule.taxonomy:
        lines.append(f"{markdown(' · '.join(rule.taxonomy))}\n")
    lines.append("</details>\n")
    return "\n".join(lines)


def _fixes(rule: RuleInfo, findings: list[Finding]) -> Iterator[str]:
    """The fix, where all findings have the same; each of a few; else what the rule says in general."""
    fixes = {finding.fix: finding for finding in reversed(findings)}
    if len(fixes) == 1:
        yield f"**Fix.** {markdown_prose(findings[0].fix, _PROSE)}\n"
    elif len(fixes) <= _FIXES:
        yield "**Fix.**\n"
        told = [(f.tool or "the tool set", f.fix) for f in reversed(fixes.values())]
        yield "\n".join(f"- {markdown_code(tool, _NAME)}: {markdown_prose(fix, _PROSE)}" for tool, fix in told) + "\n"
    else:
        yield f"**Fix.** {markdown_prose(rule.fix, _PROSE)}\n"


def _suppressed(result: ScanResult) -> Iterator[str]:
    lines = [
        f"- {markdown_code(s.finding.rule)} {_place(s.finding)} {DECIDED[s.by]}"
        + (f": {markdown(s.reason, _CELL)}" if s.reason else "")
        for s in sorted(result.suppressed, key=lambda s: s.by == "baseline")
    ]
    yield from _details("Suppressed", lines)


def _notes(title: str, notes: Iterable[Note], opened: bool = False) -> Iterator[str]:
    lines = [f"- {markdown_code(_note_place(note), 300)} {markdown(note.message, _CELL)}" for note in notes]
    yield from _details(title, lines, opened)


def _details(title: str, lines: list[str], opened: bool = False) -> Iterator[str]:
    if lines:
        shown = lines[:_NOTES]
        if len(lines) > len(shown):
            shown.append(f"- and {len(lines) - len(shown)} more")
        is_open = " open" if opened else ""
        yield (
            f"\n<details{is_open}><summary>{title} ({len(lines)})</summary>\n\n" + "\n".join(shown) + "\n\n</details>\n"
        )


def _note_place(note: Note) -> str:
    return ":".join(str(part) for part in (note.path, note.line, note.column) if part is not None)


def _html(text: str) -> str:
    return markdown(text, _CELL).replace("\\", "")
