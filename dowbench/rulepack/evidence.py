"""What is known of what a shape cost: measured by the benchmark, or reported by others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dowbench.errors import RuleError
from dowbench.model import UNMEASURED, Evidence
from dowbench.rulepack.files import read
from dowbench.rulepack.reading import FaultError, mapping, number, text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dowbench.rulepack.files import RuleFile
    from dowbench.rulepack.rule import Rule

SCHEMA = "dowbench.evidence/1"
GATE = 5.0
"""The amplification that a rule needs for severity high."""
SHOWN = 3
"""Most measured lines that a finding carries."""

ENTRY: Mapping[str, str] = {
    "rule": "id of the rule whose shape the attack used",
    "family": "attack family",
    "attack": "id of the attack",
    "defense": "`none`, or the defense that was on",
    "model": "model, as the provider names it",
    "n": "number of attacked episodes",
    "amplification": "cost of the attacked episode over its benign twin",
    "lower": "lower end of the 95 % interval of `amplification`",
    "upper": "upper end of it",
    "control": "the same ratio for the control: the attack's text without its demand",
    "run": "folder of the recorded run",
}
"""The keys of an entry of ``evidence.json``; numbers may be null where a run gave none."""
_FIGURES = frozenset({"n", "amplification", "lower", "upper", "control"})
_REPORTED = ("title", "source", "text", "amplification", "lower", "measured")


def load_measured(file: Path) -> tuple[Mapping[str, Any], ...]:
    """The entries of ``evidence.json``, checked. Raises ``RuleError``."""
    path = str(file)
    try:
        value = json.loads(read(path))
    except (ValueError, RecursionError) as error:
        raise RuleError(f"not JSON: {error}", path=path) from None
    if not isinstance(value, dict) or value.get("schema") != SCHEMA or not isinstance(value.get("entries"), list):
        raise RuleError(f'expected {{"schema": "{SCHEMA}", "entries": […]}}', path=path)
    for i, entry in enumerate(value["entries"]):
        missing = sorted(ENTRY.keys() - entry.keys()) if isinstance(entry, dict) else ["everything"]
        unknown = sorted(entry.keys() - ENTRY.keys()) if isinstance(entry, dict) else []
        if missing or unknown:
            what = f"`{missing[0]}` is missing" if missing else f"unknown key `{unknown[0]}`"
            raise RuleError(f"entries.{i}: {what}", path=path)
        for key, part in entry.items():
            named = key not in _FIGURES
            if isinstance(part, bool) or not isinstance(part, str if named else (int, float, type(None))):
                raise RuleError(f"entries.{i}: `{key}`: expected {'text' if named else 'a number'}", path=path)
    return tuple(value["entries"])


def load_reported(file: RuleFile) -> Mapping[str, Evidence]:
    """The published figures of ``reported.yaml``, by id. Raises ``RuleError``."""
    value = file.value
    try:
        found = {}
        for name, part in mapping(value, (), value if isinstance(value, dict) else ()).items():
            keys = mapping(part, (name,), _REPORTED, ("title", "source", "text"))
            figures = {
                key: float(number(keys[key], (name, key))) if keys.get(key) is not None else None
                for key in ("amplification", "lower")
            }
            line = " ".join(text(keys["text"], (name, "text")).split())
            title, link = text(keys["title"], (name, "title")), text(keys["source"], (name, "source"))
            named = link if link.startswith(title) else title
            found[name] = Evidence("reported", f"{line} ({named})", link, **figures)
        return found
    except FaultError as fault:
        raise file.error(fault) from None


def of_rule(
    rule: Rule, measured: tuple[Mapping[str, Any], ...], reported: Mapping[str, Evidence]
) -> tuple[Evidence, ...]:
    """What is known of the rule's shape: measured first, the surest first; one line saying so when nothing is."""
    mine = (e for e in measured if e["rule"] == rule.id and e["defense"] == "none")
    entries = [e for e in mine if e["amplification"] is not None]
    entries.sort(key=lambda e: (-(e["lower"] or 0.0), -e["amplification"], e["model"], e["attack"]))
    lines = tuple(_measured(e, _defended(e, rule, measured)) for e in entries[:SHOWN])
    return lines + tuple(reported[name] for name in rule.reported) or (UNMEASURED,)


def _defended(
    entry: Mapping[str, Any], rule: Rule, measured: tuple[Mapping[str, Any], ...]
) -> Mapping[str, Any] | None:
    """The same attack on the same model in the same run, with the defense that the rule recommends."""
    same = ("rule", "attack", "model", "run")
    found = (e for e in measured if e["defense"] == rule.defense and all(e[k] == entry[k] for k in same))
    return next(found, None)


def _measured(entry: Mapping[str, Any], defended: Mapping[str, Any] | None) -> Evidence:
    text = f"{_ratio(entry)}, n = {entry['n']}, {entry['model']}, {entry['attack']}"
    if entry["control"] is not None:
        text += f"; control {entry['control']:.1f}×"
    if defended is not None and defended["amplification"] is not None:
        text += f"; with {defended['defense']} {_ratio(defended)}"
    return Evidence("measured", text, entry["run"], entry["amplification"], entry["lower"])


def _ratio(entry: Mapping[str, Any]) -> str:
    interval = "" if entry["lower"] is None else f" [{entry['lower']:.1f}, {entry['upper']:.1f}]"
    return f"{entry['amplification']:.1f}×{interval}"


def carries_high(evidence: tuple[Evidence, ...]) -> bool:
    """Whether something measured or reported reaches the gate for severity high."""
    return any((e.amplification or 0.0) >= GATE for e in evidence)
