"""The report a person reads in a terminal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from dowbench.model import SEVERITIES
from dowbench.report.escape import visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from dowbench.model import Evidence, Finding, FrameworkSetting, Note, RuleInfo, ScanResult
    from dowbench.report import ReportOptions

SHOWN = 10
"""Findings of one rule on one file that are written out; the rest is a count unless verbose."""
NEAR = 20
"""Findings within which a fix is not said twice."""
DISCLAIMER = "A finding is a pattern match. A toolset without findings is not proven safe."
DECIDED = {
    "inline": "ignored in the file",
    "baseline": "known to the baseline",
    "config": "excepted in the configuration",
}
"""Ways of suppressing, in words."""
HINT = (
    "The context is all that the model reads at a turn. More on a rule: dowbench rules show ID. To ignore: "
    '"x-dowbench-ignore": ["ID"] next to `name`, or in YAML # dowbench: ignore[ID] reason. ID is a rule\'s id, such as '
    "unbounded-result."
)
ELSEWHERE = {"measured": "on the benchmark's tools, not on yours: ", "reported": "in a test, not on your tool: "}
"""What stands before a figure, so that nobody takes it for one of the tool that was scanned."""

_COLOURS = {"high": "31;1", "medium": "33;1", "low": "36;1", "bold": "1", "dim": "2"}
_LABEL = 11
"""Columns of a label."""
_NAME = 120
_PROSE = 2000
"""Characters of a name and of a text, of strangers both, that are printed."""


def render(result: ScanResult, options: ReportOptions) -> str:
    """Findings in order of place, those on a whole set behind those on its tools; then what else happened; totals."""
    return "\n".join(_lines(result, options)) + "\n"


def _lines(result: ScanResult, options: ReportOptions) -> Iterator[str]:
    rules = {rule.id: rule for rule in result.rules}
    formats: dict[str, set[str]] = {}
    for file in result.files:
        formats.setdefault(file.path, set()).add(file.format)
    explained: set[str] = set()
    settings: dict[tuple[FrameworkSetting, ...], dict[str, None]] = {}
    fixes: dict[tuple[str, str, str], tuple[int, Finding]] = {}
    seen: Counter[tuple[str, str]] = Counter()
    number = 0
    for finding in _tools_first(result.findings):
        group = (finding.path, finding.rule)
        seen[group] += 1
        if seen[group] <= SHOWN or options.verbose:
            number += 1
            explain = options.verbose or finding.rule not in explained
            yield from _finding(finding, options)
            what = finding.path, finding.rule, finding.fix
            said, first = fixes.get(what, (number - NEAR - 1, finding))
            if number - said > NEAR or options.verbose:
                fixes[what] = number, finding
                yield from _labelled("fix", visible(finding.fix, _PROSE), options)
            else:
                line = f" (line {first.span.line})" if first.span else ""
                yield from _labelled("fix", f"as for {_who(first) or 'the tool set'} above{line}", options)
            if explain:
                for label, text in evidence_lines(finding.evidence):
                    yield from _labelled(label, text, options)
            about = rules.get(finding.rule)
            chosen = fitting(about, formats.get(finding.path, set())) if about is not None and explain else ()
            if chosen:
                settings.setdefault(chosen, {})[finding.rule] = None
            explained.add(finding.rule)
            yield from _related(finding, options)
    if not options.verbose:
        for (path, rule), count in seen.items():
            if count > SHOWN:
                yield f"{visible(path)}: {count - SHOWN} more {rule}, shown with --verbose"
    for chosen, answered in settings.items():
        yield from _settings(chosen, answered, options)
    yield from _suppressed(result, options)
    if options.verbose:
        for note in result.skipped:
            yield f"{_note(note)}  skipped: {visible(note.message)}"
    if options.messages:
        for kind, notes in (("warning", result.warnings), ("error", result.errors)):
            for note in notes:
                yield f"{kind}: {_note(note)}: {visible(note.message)}"
    if result.findings:
        yield from _wrap(HINT, options, first="", rest="")
    yield _style(summary(result), "bold", options)
    yield DISCLAIMER


def _suppressed(result: ScanResult, options: ReportOptions) -> Iterator[str]:
    """What somebody decided not to be told about, a line each; what a baseline knows only where everything is shown."""
    seen: Counter[tuple[str, str]] = Counter()
    for suppressed in result.suppressed:
        finding = suppressed.finding
        if suppressed.by == "baseline" and not options.verbose:
            continue
        group = (finding.path, finding.rule)
        seen[group] += 1
        if seen[group] <= SHOWN or options.verbose:
            reason = f" ({visible(suppressed.reason, _NAME)})" if suppressed.reason else ""
            yield f"{_place(finding)}  {DECIDED[suppressed.by]}{reason}  {finding.rule}  {_who(finding)}".rstrip()
    for (path, rule), count in seen.items():
        if count > SHOWN and not options.verbose:
            yield f"{visible(path)}: {count - SHOWN} more {rule} ignored, shown with --verbose"


def _tools_first(findings: tuple[Finding, ...]) -> list[Finding]:
    """Those of one file together, as they are, with those on a whole set at its end."""
    files = {path: i for i, path in enumerate(dict.fromkeys(finding.path for finding in findings))}
    return sorted(findings, key=lambda finding: (files[finding.path], finding.tool is None))


def fitting(rule: RuleInfo, formats: Collection[str]) -> tuple[FrameworkSetting, ...]:
    """The settings of frameworks that answer a rule and can apply to tools in one of these formats."""
    return tuple(s for s in rule.frameworks if not s.formats or not formats or not set(s.formats).isdisjoint(formats))


def _finding(finding: Finding, options: ReportOptions) -> Iterator[str]:
    severity = _style(finding.severity.upper(), finding.severity, options)
    yield f"{_style(_place(finding), 'bold', options)}  {severity}  {finding.rule}  {_who(finding)}".rstrip()
    yield from _wrap(visible(finding.message, _PROSE), options, first="  ", rest="  ")


def _settings(settings: tuple[FrameworkSetting, ...], rules: Iterable[str], options: ReportOptions) -> Iterator[str]:
    """The settings of frameworks that answer findings of some rules, once for all of them."""
    yield from _wrap(
        f"If you cannot change the tool, limit it in your agent's framework. For {', '.join(rules)}:",
        options,
        first="",
        rest="  ",
    )
    for setting in settings:
        caveat = f" ({setting.caveat})" if setting.caveat else ""
        yield from _wrap(f"{setting.framework}: {setting.code}{caveat}", options, first="  - ", rest="    ")


def _related(finding: Finding, options: ReportOptions) -> Iterator[str]:
    for related in finding.related:
        place = f"{finding.path}:{related.span.line}:{related.span.column}" if related.span else related.pointer
        yield from _labelled("see", f"{visible(place)} {visible(related.message, _NAME)}", options)


def evidence_lines(evidence: tuple[Evidence, ...]) -> list[tuple[str, str]]:
    """(label, text) pairs: ``measured`` and ``reported``, where nobody measured anything too."""
    lines: list[tuple[str, str]] = []
    for item in evidence:
        if item.provenance != "none":
            source = f" [{item.further}]" if item.further and not _is_named(item.further, item.text) else ""
            lines.append((item.provenance, visible(f"{ELSEWHERE[item.provenance]}{item.text}{source}", _PROSE)))
    return lines or [("measured", "nothing yet: no test has shown what this costs")]


def _is_named(source: str, text: str) -> bool:
    """Whether a text names a source already: a paper by its number, anything else as it is called."""
    return (source.rpartition("/")[2] if source.startswith("https://arxiv.org/") else source) in text


def _labelled(label: str, text: str, options: ReportOptions) -> Iterator[str]:
    yield from _wrap(text, options, first=f"  {label:<{_LABEL - 1}} ", rest=" " * (_LABEL + 2))


def _wrap(text: str, options: ReportOptions, first: str, rest: str) -> list[str]:
    import textwrap

    return textwrap.wrap(
        text,
        width=max(options.width, 40),
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def summary(result: ScanResult) -> str:
    """One line of totals."""
    counts = ", ".join(f"{result.count(severity)} {severity}" for severity in SEVERITIES)
    files = len({file.path for file in result.files})
    line = (
        f"Scanned {_plural(result.tools, 'tool')} in {_plural(files, 'file')}: {counts}. "
        f"{len(result.suppressed)} suppressed, {len(result.skipped)} skipped"
    )
    if result.unchanged:
        line += f", {result.unchanged} on unchanged tools not shown"
    if result.errors:
        line += f", {len(result.errors)} could not be scanned"
    return line + "."


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _place(finding: Finding) -> str:
    path = visible(finding.path)
    return f"{path}:{finding.span.line}:{finding.span.column}" if finding.span else path


def _who(finding: Finding) -> str:
    name = visible(finding.tool, _NAME) if finding.tool is not None else ""
    return f"{name} ({visible(finding.parameter, _NAME)})" if finding.parameter else name


def _note(note: Note) -> str:
    return ":".join(str(part) for part in (visible(note.path), note.line, note.column) if part is not None)


def _style(text: str, style: str, options: ReportOptions) -> str:
    return f"\x1b[{_COLOURS[style]}m{text}\x1b[0m" if options.colour else text
