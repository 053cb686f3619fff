"""SARIF 2.1.0, as GitHub code scanning reads it: https://docs.oasis-open.org/sarif/sarif/v2.1.0/.

The report names every rule that was in force, not only those that fired, and is cut to what code scanning accepts
(25,000 results, 10 MB gzip), the least severe results first and never silently.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote_from_bytes

from dowbench import __url__, __version__
from dowbench.inputs import open_regular
from dowbench.model import CONFIDENCES, SEVERITIES
from dowbench.report.escape import visible
from dowbench.report.linehash import line_hashes
from dowbench.report.repository import repository_path
from dowbench.report.sarif_rules import LEVELS, describe, taxonomies

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dowbench.model import Finding, Note, Related, ScanResult, Span, Suppressed
    from dowbench.report import ReportOptions

RESULT_LIMIT = 25_000
"""Results of a run."""
SIZE_LIMIT = 10_000_000
"""Bytes of the gzip-compressed report. What the upload action sends is a little larger: it is base64 in JSON."""
NOTIFICATION_LIMIT = 1_000
"""Errors and warnings that are listed."""
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_SUPPRESSION_KINDS = {"inline": "inSource", "baseline": "external", "config": "external"}


class _Entry(NamedTuple):
    """A finding to write, and who suppressed it."""

    finding: Finding
    suppressed: Suppressed | None


def render(result: ScanResult, options: ReportOptions) -> str:
    """The SARIF log. Files with findings are read again, below ``options.root``, to hash their lines."""
    return render_within(result, options, results=RESULT_LIMIT, size=SIZE_LIMIT)


def render_within(result: ScanResult, options: ReportOptions, *, results: int, size: int) -> str:
    """The SARIF log with at most ``results`` results and ``size`` bytes when compressed with gzip."""
    entries = [_Entry(f, None) for f in result.findings] + [_Entry(s.finding, s) for s in result.suppressed]
    hashes = _partial_fingerprints(entries, options)
    ranked = sorted(range(len(entries)), key=lambda i: (*_badness(entries[i]), i))
    rules = {rule.id: index for index, rule in enumerate(result.rules)}
    keep = min(results, len(entries))
    while True:
        kept = sorted(ranked[:keep])
        written = [_result(entries[i], hashes[i], rules, options) for i in kept]
        log = _log(result, options, written, dropped=len(entries) - keep)
        text = json.dumps(log, indent=2, ensure_ascii=False) + "\n"
        data = text.encode("utf-8")
        compressed = len(data) if len(data) <= size else len(gzip.compress(data, 6, mtime=0))
        if compressed <= size or keep == 0:
            return text
        keep = min(keep - 1, int(keep * size / compressed * 0.95))


def _badness(entry: _Entry) -> tuple[bool, int, int]:
    finding = entry.finding
    return (entry.suppressed is not None, SEVERITIES.index(finding.severity), CONFIDENCES.index(finding.confidence))


def _log(result: ScanResult, options: ReportOptions, written: list[dict[str, Any]], dropped: int) -> dict[str, Any]:
    known = taxonomies(result.rules)
    driver: dict[str, Any] = {
        "name": "dowbench",
        "semanticVersion": __version__,
        "informationUri": __url__,
        "rules": [describe(rule, known) for rule in result.rules],
    }
    run: dict[str, Any] = {"tool": {"driver": driver}}
    if known:
        driver["supportedTaxonomies"] = [{"name": c["name"], "index": i} for i, c in enumerate(known)]
        run["taxonomies"] = known
    run |= {
        "automationDetails": {"id": "dowbench/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            # docs/adr/0013-sarif-execution-successful.md says why this is true also when files could not be scanned
            {"executionSuccessful": True, "toolExecutionNotifications": _notifications(result, options, dropped)}
        ],
        "results": written,
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _notifications(result: ScanResult, options: ReportOptions, dropped: int) -> list[dict[str, Any]]:
    """What could not be scanned, then warnings, then what was left out of this report."""
    notes = [("error", note) for note in result.errors] + [("warning", note) for note in result.warnings]
    listed = [_notification(level, note, options) for level, note in notes[:NOTIFICATION_LIMIT]]
    if len(notes) > NOTIFICATION_LIMIT:
        text = f"{len(notes) - NOTIFICATION_LIMIT} more errors and warnings are not listed here."
        listed.append({"level": "error", "message": {"text": text}})
    if result.skipped:
        text = f"Skipped without a finding being possible: {len(result.skipped)} files."
        listed.append({"level": "note", "message": {"text": text}})
    if dropped:
        text = f"{dropped} results, the least severe ones, were dropped to keep within the limits of code scanning."
        listed.append({"level": "warning", "message": {"text": text}})
    return listed


def _notification(level: str, note: Note, options: ReportOptions) -> dict[str, Any]:
    notification: dict[str, Any] = {"level": level, "message": {"text": _message(note.message)}}
    if note.path:
        place: dict[str, Any] = {"artifactLocation": {"uri": _uri(note.path, options)}}
        if note.line is not None:
            place["region"] = {"startLine": note.line}
            if note.column is not None:
                place["region"]["startColumn"] = note.column
        notification["locations"] = [{"physicalLocation": place}]
    return notification


def _result(
    entry: _Entry, fingerprints: dict[str, str], rules: dict[str, int], options: ReportOptions
) -> dict[str, Any]:
    finding = entry.finding
    written: dict[str, Any] = {"ruleId": finding.rule}
    if finding.rule in rules:
        written["ruleIndex"] = rules[finding.rule]
    place = _place(finding.path, finding.span, options)
    logical: dict[str, Any] = {"fullyQualifiedName": visible(finding.pointer) or "/", "kind": "object"}
    if finding.tool:
        logical["name"] = visible(finding.tool)
    written |= {
        "level": LEVELS[finding.severity],
        "message": {"text": _message(f"{finding.message} Fix: {finding.fix}" if finding.fix else finding.message)},
        "locations": [{"physicalLocation": place, "logicalLocations": [logical]}],
    }
    if finding.related:
        written["relatedLocations"] = [
            _related(number, related, finding, options) for number, related in enumerate(finding.related, 1)
        ]
    written["partialFingerprints"] = fingerprints
    if entry.suppressed is not None:
        suppression: dict[str, Any] = {"kind": _SUPPRESSION_KINDS[entry.suppressed.by], "status": "accepted"}
        if entry.suppressed.reason:
            suppression["justification"] = visible(entry.suppressed.reason)
        written["suppressions"] = [suppression]
    written["properties"] = {
        "confidence": finding.confidence,
        "pointer": visible(finding.pointer),
        **({"tool": visible(finding.tool)} if finding.tool else {}),
        **({"parameter": visible(finding.parameter)} if finding.parameter else {}),
    }
    return written


def _related(number: int, related: Related, finding: Finding, options: ReportOptions) -> dict[str, Any]:
    return {
        "id": number,
        "message": {"text": _message(related.message)},
        "physicalLocation": _place(finding.path, related.span, options),
    }


def _place(path: str, span: Span | None, options: ReportOptions) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": 1}
    if span is not None:
        region = {
            "startLine": span.line,
            "startColumn": span.column,
            "endLine": span.end_line,
            "endColumn": span.end_column,
        }
    return {"artifactLocation": {"uri": _uri(path, options)}, "region": region}


def _uri(path: str, options: ReportOptions) -> str:
    """Relative to the repository root, percent-encoded. A file name need not be valid Unicode."""
    return quote_from_bytes(os.fsencode(repository_path(path, options.root)), safe="/-._~")


def _message(text: str) -> str:
    """Text that stays text: ``[a](b)`` in it, from a tool's name for instance, must not become a link."""
    shown = visible(text)
    return re.sub(r"([\\\[\]])", r"\\\1", shown) if re.search(r"\]\s*\(", shown) else shown


def _partial_fingerprints(entries: Sequence[_Entry], options: ReportOptions) -> list[dict[str, str]]:
    """For each entry the line hash, or a hash of its place where that is shared or has no line, and our own."""
    lines: dict[str, set[int]] = {}
    for entry in entries:
        if entry.finding.span is not None:
            lines.setdefault(entry.finding.path, set()).add(entry.finding.span.line)
    hashes = {path: _hash_lines(path, wanted, options) for path, wanted in lines.items()}

    def line_hash(finding: Finding) -> str | None:
        return None if finding.span is None else hashes[finding.path].get(finding.span.line)

    keys = [(e.finding.rule, e.finding.path, line_hash(e.finding)) for e in entries]
    shared = Counter(keys)
    pointers: Counter[tuple[str, ...]] = Counter()
    fingerprints = []
    for entry, key in zip(entries, keys, strict=True):
        value = key[2]
        if value is None or shared[key] > 1:
            finding = entry.finding
            place = (finding.rule, finding.path, str(finding.document), finding.pointer)
            pointers[place] += 1
            digest = hashlib.sha256("\0".join(place[2:]).encode("utf-8", "surrogatepass")).hexdigest()[:16]
            value = f"{digest}:{pointers[place]}"
        fingerprints.append({"primaryLocationLineHash": value})
        if entry.finding.fingerprint:
            fingerprints[-1]["dowbenchFingerprint/v1"] = entry.finding.fingerprint
    return fingerprints


def _hash_lines(path: str, wanted: Iterable[int], options: ReportOptions) -> dict[int, str]:
    try:
        with open_regular(options.root / path) as file:
            data = file.read()
    except OSError:  # standard input, or gone since: there is no line to hash
        return {}
    return line_hashes(data, wanted)
