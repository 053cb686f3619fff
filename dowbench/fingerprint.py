"""What identifies a finding from one scan to the next."""

from __future__ import annotations

import json
from collections import Counter
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dowbench.model import Finding


def fingerprinted(findings: Iterable[Finding]) -> list[Finding]:
    """``findings`` of one file, in order, each with its ``fingerprint``.

    It is the hexadecimal sha256 of the JSON list of rule, path, tool and parameter, and of an ordinal from 1 for the
    second and later findings that agree in all four. Line and message are not in it, so that a finding that moved is
    the same one.
    """
    sha256 = _sha256()
    seen: Counter[tuple[str, str, str | None, str | None]] = Counter()
    done = []
    for finding in findings:
        key = (finding.rule, finding.path, finding.tool, finding.parameter)
        parts = [*key, seen[key]] if seen[key] else [*key]
        seen[key] += 1
        digest = sha256(json.dumps(parts).encode()).hexdigest()
        done.append(finding._replace(fingerprint=digest))
    return done


def _sha256() -> Any:
    """Python's own; to load OpenSSL, as ``hashlib`` does first, takes longer than to scan a small file."""
    for module in ("_sha2", "_sha256"):  # from Python 3.12 on, and before
        try:
            return import_module(module).sha256
        except ImportError:
            continue
    import hashlib

    return hashlib.sha256
