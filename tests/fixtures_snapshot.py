"""What a scan says of each fixture, as data. ``--write`` takes it as expected, so that a change is a diff in review.

python tests/fixtures_snapshot.py --write     writes fixtures/<format>/<case>/expected.json
python tests/fixtures_snapshot.py             says which differ, exit status 1 if any does
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowbench.config import Config
from dowbench.scan import scan_paths

if TYPE_CHECKING:
    from dowbench.model import Finding, Note

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"


def cases() -> list[Path]:
    """The input of each case: ``fixtures/<format>/<case>/input.*``."""
    return sorted(FIXTURES.glob("*/*/input.*"))


def snapshot(path: Path) -> dict[str, Any]:
    """What a scan with all rules and no configuration says of a file. Paths are relative to the repository."""
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        result = scan_paths([path.relative_to(ROOT)], Config(tier="pedantic"))
    finally:
        os.chdir(before)
    return {
        "files": [{"format": file.format, "tools": file.tools} for file in result.files],
        "findings": [of_finding(finding) for finding in result.findings],
        "errors": [of_note(note) for note in result.errors],
        "warnings": [of_note(note) for note in result.warnings],
        "skipped": [of_note(note) for note in result.skipped],
    }


def of_finding(finding: Finding) -> dict[str, Any]:
    """Rule, tool and place of a finding; messages and fixes are the rules' own tests' matter."""
    found: dict[str, Any] = {"rule": finding.rule, "severity": finding.severity, "tier": finding.tier}
    found |= {"tool": finding.tool, "parameter": finding.parameter, "pointer": finding.pointer}
    found["line"] = finding.span.line if finding.span else None
    if finding.document:
        found["document"] = finding.document
    if finding.related:
        found["related"] = [[r.pointer, r.span.line if r.span else None] for r in finding.related]
    return found


def of_note(note: Note) -> str:
    """A note as one line: ``3:5: message``."""
    place = ":".join(str(part) for part in (note.line, note.column) if part is not None)
    return f"{place}: {note.message}" if place else note.message


def text(found: dict[str, Any]) -> str:
    """A snapshot as a file: one line an entry."""
    parts = []
    for key, entries in found.items():
        lines = ",\n".join(f"    {json.dumps(entry, ensure_ascii=False)}" for entry in entries)
        parts.append(f'  "{key}": [\n{lines}\n  ]' if entries else f'  "{key}": []')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main(arguments: list[str]) -> int:
    write = "--write" in arguments
    differing = 0
    for path in cases():
        expected, found = path.with_name("expected.json"), text(snapshot(path))
        if not expected.exists() or expected.read_text(encoding="utf-8") != found:
            differing += 1
            print("wrote" if write else "differs", expected.relative_to(ROOT))  # noqa: T201
            if write:
                expected.write_text(found, encoding="utf-8", newline="\n")
    return int(bool(differing) and not write)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
