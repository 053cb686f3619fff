"""Known findings in a file: they do not fail a run, and they are counted.

An entry names rule, path, tool and parameter, and how many such findings there are: no line, no message, so that
moving or reformatting changes nothing, and a second finding like the first is new. Paths are relative to the folder of
the baseline.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from dowbench.errors import UsageError
from dowbench.inputs import read_settings, relative, shown
from dowbench.model import Finding, Note, Suppressed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

SCHEMA = "dowbench.baseline/1"
_KEYS = frozenset(("rule", "path", "tool", "parameter", "count", "reason"))


class Key(NamedTuple):
    """What makes two findings the same one."""

    rule: str
    path: str
    tool: str | None
    parameter: str | None


@dataclass(frozen=True, slots=True)
class Baseline:
    """Known findings: how many of each, and why they are accepted where somebody wrote it down."""

    file: Path
    counts: dict[Key, int]
    reasons: dict[Key, str]

    def key(self, finding: Finding) -> Key:
        """``finding`` as this baseline names it."""
        return Key(finding.rule, relative(finding.path, str(self.file.parent)), finding.tool, finding.parameter)


def load(file: Path) -> Baseline:
    """Read a baseline. Raises ``UsageError``, with line where there is one."""
    name = shown(str(file))
    try:
        data = json.loads(read_settings(file, name))
    except OSError as error:
        hint = "; --write-baseline writes one" if isinstance(error, FileNotFoundError) else ""
        raise UsageError(f"baseline cannot be read: {error.strerror}{hint}", path=name) from None
    except json.JSONDecodeError as error:
        raise UsageError(f"not a baseline: {error.msg}", path=name, line=error.lineno, column=error.colno) from None
    except (ValueError, RecursionError):  # not UTF-8, or a number of more digits than Python reads
        raise UsageError("not a baseline: not JSON in UTF-8", path=name) from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA or not isinstance(data.get("findings"), list):
        raise UsageError(f'not a baseline: expected an object with "schema": "{SCHEMA}" and "findings"', path=name)
    counts: dict[Key, int] = {}
    reasons: dict[Key, str] = {}
    for index, entry in enumerate(data["findings"]):
        key, count, reason = _entry(entry, index, name)
        counts[key] = counts.get(key, 0) + count
        if reason:
            reasons[key] = reason
    return Baseline(file, counts, reasons)


def _entry(entry: Any, index: int, name: str) -> tuple[Key, int, str]:
    def wrong(what: str) -> UsageError:
        return UsageError(f"findings[{index}]: {what}", path=name)

    if not isinstance(entry, dict):
        raise wrong("expected an object with rule, path, tool, parameter and count")
    for unknown in entry.keys() - _KEYS:
        raise wrong(f"unknown key {unknown!r}")
    rule, path, count = entry.get("rule"), entry.get("path"), entry.get("count", 1)
    if not isinstance(rule, str) or not isinstance(path, str):
        raise wrong("rule and path must be strings")
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise wrong("count must be a number above 0")
    tool, parameter, reason = entry.get("tool"), entry.get("parameter"), entry.get("reason", "")
    if not isinstance(tool, str | None) or not isinstance(parameter, str | None) or not isinstance(reason, str):
        raise wrong("tool and parameter must be strings or null, reason a string")
    return Key(rule, path, tool, parameter), count, reason


class Split(NamedTuple):
    """Findings divided by a baseline."""

    new: tuple[Finding, ...]
    known: tuple[Suppressed, ...]
    gone: tuple[Note, ...]
    """Entries that matched fewer findings than they count, or that can match none any more."""


class Judged(NamedTuple):
    """What a scan can say of entries. Those of other files and other rules may still be right."""

    paths: Collection[str]
    """Files that were read."""
    rules: Collection[str]
    """Ids of rules that were in force."""
    known: Collection[str]
    """Ids of all rules there are."""


def apply(baseline: Baseline, findings: Sequence[Finding], others: Iterable[Finding], judged: Judged) -> Split:
    """Divide ``findings``. ``others`` exist, but were left out or suppressed otherwise: their entries are not gone."""
    left = Counter(baseline.counts)
    new: list[Finding] = []
    known: list[Suppressed] = []
    for finding in findings:
        key = baseline.key(finding)
        if left[key] > 0:
            left[key] -= 1
            known.append(Suppressed(finding, "baseline", baseline.reasons.get(key, "")))
        else:
            new.append(finding)
    for finding in others:
        left[baseline.key(finding)] -= 1
    folder = baseline.file.parent
    read = {relative(path, str(folder)) for path in judged.paths}
    gone = []
    for key, count in sorted(left.items(), key=lambda item: (item[0].path, item[0].rule, str(item[0]))):
        if count <= 0:
            continue
        if key.rule not in judged.known:
            why = f"; there is no rule {key.rule!r}"
        elif not os.path.lexists(folder / key.path):
            why = "; there is no such file"
        elif key.rule in judged.rules and key.path in read:
            why = f" ({count} times)" if count > 1 else ""
        else:
            continue
        where = " ".join(part for part in (key.rule, key.tool, key.parameter) if part)
        gone.append(Note(shown(str(baseline.file)), f"baseline entry no longer matches: {where} in {key.path}{why}"))
    return Split(tuple(new), tuple(known), tuple(gone))


def is_there(file: Path) -> bool:
    """Whether a file that is written as a baseline holds something. Raises ``OSError``."""
    return os.path.isfile(file) and os.path.getsize(file) > 0  # noqa: PTH113, PTH202


def kept(baseline: Baseline, left_out: Iterable[Finding], judged: Judged) -> dict[Key, int]:
    """Entries that stay when a scan's findings are written over ``baseline``: those that it cannot speak of.

    They are of other files and other rules, and of findings that exist and were left out.
    """
    folder = baseline.file.parent
    read = {relative(path, str(folder)) for path in judged.paths}
    unasked = Counter(baseline.key(finding) for finding in left_out)
    staying = {}
    for key, count in baseline.counts.items():
        if key.rule not in judged.known or not os.path.lexists(folder / key.path):
            continue
        if key.rule in judged.rules and key.path in read:
            count = min(count, unasked[key])
        if count:
            staying[key] = count
    return staying


def dump(
    file: Path, findings: Iterable[Finding], reasons: Mapping[Key, str], kept: Mapping[Key, int] | None = None
) -> str:
    """The text of a baseline at ``file`` that knows ``findings`` and the entries ``kept``, with their reasons."""
    empty = Baseline(file, {}, {})
    counts = Counter(empty.key(finding) for finding in findings) + Counter(kept or {})
    entries = []
    for key in sorted(counts, key=lambda key: (key.path, key.rule, key.tool or "", key.parameter or "")):
        entry: dict[str, Any] = {**key._asdict(), "count": counts[key]}
        if key in reasons:
            entry["reason"] = reasons[key]
        entries.append(entry)
    return json.dumps({"schema": SCHEMA, "findings": entries}, indent=2, ensure_ascii=True) + "\n"
