"""GitHub workflow commands: annotations on the lines of a pull request.

The runner keeps ten annotations of a level for each step and drops the rest without a word, so the worst ten of each
are printed and one notice says how many more there are, and where. Another counts what is suppressed, and lists it.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from dowbench.model import CONFIDENCES, SEVERITIES
from dowbench.report.escape import visible
from dowbench.report.repository import repository_path
from dowbench.report.text import DECIDED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dowbench.model import Finding, Note, ScanResult, Severity, Suppressed
    from dowbench.report import ReportOptions

SHOWN = 10
"""Annotations of a level: the runner shows no more for one step."""
MESSAGE_LIMIT = 4_096
"""Characters of a message."""
_COMMANDS: dict[Severity, str] = {"high": "error", "medium": "warning", "low": "notice"}


class _Annotation(NamedTuple):
    """One workflow command, and the place it is about."""

    level: str
    path: str
    line: int | None
    text: str


def render(result: ScanResult, options: ReportOptions) -> str:
    """Errors, then findings worst first, then what was left out. No line that is suppressed is annotated."""
    lines: dict[str, list[_Annotation]] = {"error": [], "warning": [], "notice": []}
    for note in result.errors:
        lines["error"].append(_Annotation("error", note.path, note.line, _note(note, options)))
    for finding in worst_first(result.findings):
        name = _COMMANDS[finding.severity]
        line = finding.span.line if finding.span else None
        lines[name].append(_Annotation(name, finding.path, line, _finding(name, finding, options)))
    room = dict.fromkeys(lines, SHOWN)
    suppressed = [_suppressed(result.suppressed, options)] if result.suppressed else []
    room["notice"] -= len(suppressed)
    if any(len(found) > room[name] for name, found in lines.items()):
        room["notice"] -= 1  # the notice about the rest is one of the ten
    shown = [a.text for name, found in lines.items() for a in found[: room[name]]]
    rest = [a for name, found in lines.items() for a in found[room[name] :]]
    shown += suppressed
    if rest:
        shown.append(_rest(rest, options))
    return "".join(f"{line}\n" for line in shown)


def worst_first(findings: Sequence[Finding]) -> list[Finding]:
    """By severity, then by confidence, then in the order of the report."""
    return sorted(findings, key=lambda f: (SEVERITIES.index(f.severity), CONFIDENCES.index(f.confidence)))


def command(name: str, message: str, **properties: str | int) -> str:
    """One workflow command as the runner parses it, hidden characters shown and the message cut to what it keeps."""
    text = visible(message, MESSAGE_LIMIT)
    given = ",".join(f"{key}={_property(visible(str(value)))}" for key, value in properties.items())
    return f"::{name} {given}::{_data(text)}" if given else f"::{name}::{_data(text)}"


def _finding(name: str, finding: Finding, options: ReportOptions) -> str:
    properties: dict[str, str | int] = {"file": repository_path(finding.path, options.root)}
    span = finding.span
    if span is not None:
        properties |= {"line": span.line, "endLine": span.end_line}
        if span.line == span.end_line:
            properties |= {"col": span.column, "endColumn": span.end_column}
    properties["title"] = f"{finding.rule}: {finding.tool}" if finding.tool else finding.rule
    return command(name, f"{finding.message} Fix: {finding.fix}" if finding.fix else finding.message, **properties)


def _note(note: Note, options: ReportOptions) -> str:
    properties: dict[str, str | int] = {}
    if note.path:
        properties["file"] = repository_path(note.path, options.root)
        if note.line is not None:
            properties["line"] = note.line
    return command("error", note.message, **properties, title="could not scan")


def _suppressed(suppressed: Sequence[Suppressed], options: ReportOptions) -> str:
    """One notice: how many findings are suppressed, and which for what reason, decisions before a baseline."""
    decided = Counter(s.by for s in suppressed)
    counts = ", ".join(f"{count} {DECIDED[by]}" for by, count in sorted(decided.items()))
    which = "; ".join(
        _which(s.finding, options) + (f": {s.reason}" if s.reason else "")
        for s in sorted(suppressed, key=lambda s: s.by == "baseline")
    )
    return command("notice", f"{len(suppressed)} suppressed ({counts}): {which}", title="dowbench")


def _which(finding: Finding, options: ReportOptions) -> str:
    place = repository_path(finding.path, options.root) + (f" line {finding.span.line}" if finding.span else "")
    return " ".join(part for part in (finding.rule, finding.tool, place) if part)


def _rest(rest: Sequence[_Annotation], options: ReportOptions) -> str:
    """One notice: how many more of each level, and the lines they are on, file by file."""
    levels = Counter(a.level for a in rest)
    files: dict[str, list[int]] = {}
    for annotation in rest:
        path = repository_path(annotation.path, options.root) if annotation.path else "no file"
        files.setdefault(path, []).extend([] if annotation.line is None else [annotation.line])
    counts = ", ".join(f"{levels[name]} {name}" for name in ("error", "warning", "notice") if levels[name])
    where = "; ".join(
        f"{path} line{'s' * (len(lines) > 1)} {', '.join(map(str, sorted(lines)))}" if lines else path
        for path, lines in files.items()
    )
    return command("notice", f"{len(rest)} more, not shown as annotations ({counts}): {where}", title="dowbench")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
