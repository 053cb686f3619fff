"""The report for programs: ``dowbench.scan/1``, held to ``dowbench/scan.schema.json`` by a test."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dowbench import __version__
from dowbench.model import SEVERITIES, Span
from dowbench.report.escape import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dowbench.model import Finding, Note, ScanResult
    from dowbench.report import ReportOptions

SCHEMA = "dowbench.scan/1"


def render(result: ScanResult, options: ReportOptions) -> str:
    """One JSON document, with a line for each entry of its lists."""
    encode = json.JSONEncoder(ensure_ascii=False).encode  # the standard library's quick encoder does not indent
    pieces: list[str] = []
    for key, value in document(result).items():
        pieces += [",\n  " if pieces else "{\n  ", encode(key), ": "]
        if isinstance(value, str | dict):
            pieces.append(encode(value))
        else:
            entries = ",\n    ".join(map(encode, value))
            pieces += ["[\n    ", entries, "\n  ]"] if entries else ["[]"]
    return json_text("".join((*pieces, "\n}\n")))


def document(result: ScanResult) -> Mapping[str, str | dict[str, Any] | Iterable[dict[str, Any]]]:
    """The result as ``dowbench.scan/1``; the entries of lists are made as they are asked for."""
    summary: dict[str, Any] = {
        "tools": result.tools,
        **{severity: result.count(severity) for severity in SEVERITIES},
        "suppressed": len(result.suppressed),
        "unchanged": result.unchanged,
    }
    return {
        "schema": SCHEMA,
        "tool": {"name": "dowbench", "version": __version__},
        "files": ({"path": f.path, "format": f.format, "tools": f.tools} for f in result.files),
        "findings": (_finding(f) for f in result.findings),
        "suppressed": ({**_finding(s.finding), "by": s.by, "reason": s.reason} for s in result.suppressed),
        "skipped": ({"path": note.path, "reason": note.message} for note in result.skipped),
        "errors": (_note(note) for note in result.errors),
        "warnings": (_note(note) for note in result.warnings),
        "summary": summary,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "tier": finding.tier,
        "message": finding.message,
        "path": finding.path,
        "document": finding.document,
        "pointer": finding.pointer,
        **_span(finding.span),
        "tool": finding.tool,
        "parameter": finding.parameter,
        "family": finding.family,
        "evidence": [item._asdict() for item in finding.evidence],
        "fix": finding.fix,
        "fingerprint": finding.fingerprint,
        "related": [{"pointer": r.pointer, **_span(r.span), "message": r.message} for r in finding.related],
    }


def _span(span: Span | None) -> dict[str, int | None]:
    return span._asdict() if span else dict.fromkeys(Span._fields)


def _note(note: Note) -> dict[str, Any]:
    return {"path": note.path, "line": note.line, "column": note.column, "message": note.message}
