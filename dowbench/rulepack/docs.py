"""The page of each rule, written from the rule itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from dowbench.model import UNMEASURED
from dowbench.rulepack import notation
from dowbench.rulepack.document import read
from dowbench.rulepack.pack import example
from dowbench.rulepack.taxonomy import TAXONOMY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dowbench.model import Evidence
    from dowbench.rulepack import Rule, RulePack

INDEX = "README.md"
MARK = "by `dowbench rules docs`. -->"
"""In every page that was generated."""
_TIERS = {"default": "default", "pedantic": "pedantic: reported only with `--tier pedantic`"}


def pages(pack: RulePack) -> dict[str, str]:
    """File name to Markdown: one page a rule, and an index."""
    made = {f"{rule.id}.md": page(pack, rule) for rule in pack.rules}
    return {**made, INDEX: _index(pack)}


def _index(pack: RulePack) -> str:
    rows = [
        f"| [{rule.id}]({rule.id}.md) | {rule.severity} | {rule.confidence} | {rule.tier} | {rule.title} |"
        for rule in pack.rules
    ]
    head = ["| rule | severity | confidence | tier | finds |", "|---|---|---|---|---|"]
    return _document(
        [
            "# Rules",
            "",
            f"<!-- Generated {MARK}",
            "",
            "A severity says how much the shape can cost, a confidence how often the shape is what it seems, and a",
            "tier whether it is reported unasked. A finding says that a shape is there, never what will be paid.",
            "",
            *head,
            *rows,
        ]
    )


def page(pack: RulePack, rule: Rule) -> str:
    """The page of one rule. Raises ``RuleError`` where its example or tests cannot be read."""
    value = read(rule.file.text, rule.path)
    lines = [
        f"# {rule.id}",
        "",
        f"<!-- Generated from {Path(rule.path).name} {MARK}",
        "",
        f"**{rule.title}**",
        "",
        "| severity | confidence | tier | family | scope |",
        "|---|---|---|---|---|",
        f"| {rule.severity} | {rule.confidence} | {_TIERS[rule.tier]} | `{rule.family}` | {value['scope']} |",
        "",
        "## What it reports",
        "",
    ]
    for shape in rule.shapes:
        lines += [f"> {shape.message.plain()}", ""]
    if rule.covered_by:
        others = " or ".join(f"[{name}]({name}.md)" for name in rule.covered_by)
        lines += [f"Not where {others} reports the same tool: one cause is one finding.", ""]
    lines += ["## Why it costs", "", rule.why, "", "## What is known", ""]
    lines += [f"- {_evidence(item)}" for item in pack.evidence[rule.id]]
    lines += ["", "## What to change", ""]
    for shape in rule.shapes:
        lines += [shape.fix.plain(), ""]
    if rule.defense:
        lines += [f"Defense of the benchmark: `{rule.defense}`.", ""]
    lines += _example(rule)
    lines += _settings(pack, rule)
    lines += _variants(rule, value)
    lines += _options(rule)
    lines += ["## Tests in the rule", ""]
    for kind, title in (("flagged", "Reported"), ("not_flagged", "Not reported")):
        lines += [f"{title}:", "", *(_case(case) for case in value["tests"][kind]), ""]
    lines += ["## Pattern", "", "```yaml", *_pattern(value), "```", ""]
    lines += ["## Ignoring it", "", "In the tool definition, with a reason:", "", "```json", _ignore(rule), "```", ""]
    lines += ["## In catalogues", ""]
    lines += [f"- [{name}]({TAXONOMY[name].url}) {TAXONOMY[name].name}" for name in rule.taxonomy]
    return _document(lines)


def _document(lines: list[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"


def _evidence(item: Evidence) -> str:
    if item.provenance == "none":
        return "No measurement of this shape is known." if item == UNMEASURED else item.text
    source = item.further
    link = f" <{source}>" if source.startswith("https://") else f" ({source})" if source else ""
    return f"{item.provenance}: {item.text}{link}"


def _example(rule: Rule) -> list[str]:
    lines = []
    for title, text in zip(("Before", "After"), example(rule), strict=True):
        if not text:
            continue
        language = "json" if text.startswith("{") else "yaml"
        lines += [f"{title}:", "", f"```{language}", text, "```", ""]
    return lines


def _settings(pack: RulePack, rule: Rule) -> list[str]:
    settings = pack.frameworks.answering(rule.topics)
    if not settings:
        return []
    lines = ["## Settings of agent frameworks", "", "Numbers are examples.", ""]
    lines += ["| framework | set | default | read in | note |", "|---|---|---|---|---|"]
    for setting in settings:
        version = f"{setting.verified}, {setting.version}" if setting.version else setting.verified
        code = setting.code.replace("|", "\\|")
        lines.append(f"| {setting.framework} | `{code}` | {setting.default} | {version} | {setting.note} |")
    return [*lines, ""]


def _variants(rule: Rule, value: dict[str, Any]) -> list[str]:
    lines = []
    for shape, keys in zip(rule.shapes, (value, value.get("toolset", {})), strict=False):
        for adjustment, entry in zip(shape.adjust, keys.get("adjust", []), strict=True):
            changes = [
                f"{name} {level}"
                for name, level in (
                    ("severity", adjustment.severity),
                    ("confidence", adjustment.confidence),
                    ("tier", adjustment.tier),
                )
                if level
            ]
            texts = (adjustment.message, adjustment.fix, adjustment.note, adjustment.fix_note)
            said = [t.plain() for t in texts if t is not None]
            condition = {k: entry[k] for k in ("when", "on") if k in entry}
            text = yaml.safe_dump(condition, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100)
            lines += [f"{', '.join(changes) or 'other words'}".capitalize() + ", where", ""]
            lines += [
                "```yaml",
                *text.rstrip().splitlines(),
                "```",
                "",
                *(line for t in said for line in (f"> {t}", "")),
            ]
    return ["## What changes it", "", *lines, ""] if lines else []


def _options(rule: Rule) -> list[str]:
    if not rule.options:
        return []
    lines = ["## Options", "", "| option | default | sets |", "|---|---|---|"]
    lines += [f"| `{name}` | {option.default:,} | {option.about} |" for name, option in rule.options.items()]
    return [*lines, ""]


def _case(case: dict[str, Any]) -> str:
    if "document" in case:
        return f"- a whole document: {case['reason']}"
    tools = [case["tool"]] if "tool" in case else case["tools"]
    shown = ", ".join(f"`{_signature(tool)}`" for tool in tools)
    extra = "".join(f"; {key} {json.dumps(case[key])}" for key in ("format", "limits", "options") if key in case)
    return f"- {shown}: {case['reason']}{extra}"


def _signature(tool: dict[str, Any]) -> str:
    schema = notation.tool(tool, ())["inputSchema"]
    return f"{tool['name']}({', '.join(schema.get('properties', {}))})"


def _pattern(value: dict[str, Any]) -> Iterator[str]:
    shown = {key: value[key] for key in ("words", "match", "unless", "toolset") if key in value}
    if "toolset" in shown:
        shown["toolset"] = {k: v for k, v in shown["toolset"].items() if k in ("match", "unless")}
    text = yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, width=110)
    yield from text.rstrip().splitlines()


def _ignore(rule: Rule) -> str:
    return f'"x-dowbench-ignore": {{"rules": ["{rule.id}"], "reason": "why this is fine here"}}'
