"""How a rule is described in SARIF: texts, severities, tags, and what it stands for in CWE and OWASP."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from dowbench.model import UNMEASURED
from dowbench.report.escape import visible
from dowbench.rulepack.taxonomy import TAXONOMY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dowbench.model import Evidence, FrameworkSetting, RuleInfo, Severity

LEVELS: dict[Severity, str] = {"high": "error", "medium": "warning", "low": "note"}
_PROBLEM: dict[Severity, str] = {"high": "error", "medium": "warning", "low": "recommendation"}
_BANDS: dict[Severity, tuple[float, float]] = {"high": (7.0, 8.9), "medium": (4.0, 6.9), "low": (0.1, 3.9)}
_DESCRIPTION_LIMIT = 1024
"""Characters."""
_TAG_LIMIT = 10


class _Body(NamedTuple):
    """Who keeps a taxonomy, and where it is read."""

    organization: str
    uri: str
    description: str


_BODIES = {
    "CWE": _Body("MITRE", "https://cwe.mitre.org/", "The MITRE Common Weakness Enumeration."),
    "OWASP LLM": _Body(
        "OWASP Foundation", "https://genai.owasp.org/llm-top-10/", "The OWASP Top 10 for LLM applications."
    ),
    "MITRE ATLAS": _Body("MITRE", "https://atlas.mitre.org/", "Tactics and techniques of attacks on AI systems."),
    "OWASP API": _Body("OWASP Foundation", "https://owasp.org/API-Security/", "The OWASP API Security Top 10."),
}


class Taxon(NamedTuple):
    """One entry of a taxonomy: ``Taxon("CWE", "CWE-770")``, ``Taxon("OWASP LLM", "LLM10:2025")``."""

    taxonomy: str
    id: str
    name: str = ""
    """As a rule writes it."""

    @classmethod
    def of(cls, name: str) -> Taxon:
        """The taxon that a rule calls ``name``; the last word of any other name is the entry."""
        if re.fullmatch(r"CWE-\d+", name):
            return cls("CWE", name, name)
        taxonomy, _, entry = name.rpartition(" ")
        family = re.match(r"[A-Za-z]+", entry)
        if taxonomy == "OWASP" and family:
            return cls(f"OWASP {family[0]}", entry, name)
        return cls(taxonomy or entry, entry, name)

    @property
    def tag(self) -> str:
        """The tag by which code scanning knows it."""
        body = "owasp" if self.taxonomy.startswith("OWASP ") else self.taxonomy
        return "/".join(["external", *(re.sub(r"[^a-z0-9]+", "-", part.lower()) for part in (body, self.id))])

    def describe(self) -> dict[str, Any]:
        """The ``reportingDescriptor`` of this taxon."""
        known = TAXONOMY.get(self.name)
        if known is None:
            return {"id": self.id}
        return {"id": self.id, "shortDescription": {"text": f"{known.name}."}, "helpUri": known.url}


def security_severity(severity: Severity, evidence: Iterable[Evidence]) -> str:
    """A score inside the band of ``severity``: ``2 + 2 * log2(A)``, clamped.

    A is the lower end of the best measured interval of amplification; the bottom of the band where none was measured.
    """
    low, high = _BANDS[severity]
    lower = max((e.lower for e in evidence if e.provenance == "measured" and e.lower), default=0.0)
    return f"{min(max(2 + 2 * math.log2(lower), low), high) if lower > 0 else low:.1f}"


def taxonomies(rules: Sequence[RuleInfo]) -> list[dict[str, Any]]:
    """The taxonomies that ``rules`` refer to, each with the entries that they name, in alphabetical order."""
    named: dict[str, set[Taxon]] = {}
    for rule in rules:
        for name in rule.taxonomy:
            taxon = Taxon.of(name)
            named.setdefault(taxon.taxonomy, set()).add(taxon)
    described = []
    for name in sorted(named):
        component: dict[str, Any] = {"name": name, "isComprehensive": False}
        if body := _BODIES.get(name):
            component |= {
                "organization": body.organization,
                "informationUri": body.uri,
                "shortDescription": {"text": body.description},
            }
        component["taxa"] = [taxon.describe() for taxon in sorted(named[name])]
        described.append(component)
    return described


def describe(rule: RuleInfo, known: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The ``reportingDescriptor`` of a rule; ``known`` are the taxonomies of the run."""
    taxa = [Taxon.of(name) for name in rule.taxonomy]
    indices = {component["name"]: index for index, component in enumerate(known)}
    descriptor: dict[str, Any] = {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in rule.id.split("-")),
        "shortDescription": {"text": _sentence(rule.title)},
        "fullDescription": {"text": _cut(_sentence(rule.why), _DESCRIPTION_LIMIT)},
        "help": {"text": _help(rule, markdown=False), "markdown": _help(rule, markdown=True)},
        **({"helpUri": rule.page} if rule.page else {}),
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {
            "tags": ["security", "denial-of-wallet", *dict.fromkeys(t.tag for t in taxa)][:_TAG_LIMIT],
            "precision": rule.confidence,
            "problem.severity": _PROBLEM[rule.severity],
            "security-severity": security_severity(rule.severity, rule.evidence),
            "family": rule.family,
            "tier": rule.tier,
        },
    }
    if taxa:
        descriptor["relationships"] = [
            {
                "target": {
                    "id": taxon.id,
                    "toolComponent": {"name": taxon.taxonomy, "index": indices[taxon.taxonomy]},
                },
                "kinds": ["superset"],
            }
            for taxon in taxa
        ]
    return descriptor


def _help(rule: RuleInfo, *, markdown: bool) -> str:
    """What, why, evidence, fix before and after, framework settings, link; as plain text or as Markdown."""

    def heading(text: str) -> str:
        return f"### {text}" if markdown else f"{text}:"

    def code(text: str) -> str:
        return f"```\n{text.rstrip()}\n```" if markdown else text.rstrip()

    evidence = [_evidence(item) for item in rule.evidence or (UNMEASURED,)]
    parts = [
        f"## {rule.title}" if markdown else rule.title,
        heading("Why it costs"),
        rule.why.strip(),
        heading("Evidence"),
        "\n".join(f"- {line}" for line in evidence),
        heading("Fix"),
        rule.fix.strip(),
    ]
    if rule.example_before:
        parts += [heading("Before"), code(rule.example_before)]
    if rule.example_after:
        parts += [heading("After"), code(rule.example_after)]
    if rule.frameworks:
        parts += [
            heading("In the agent's framework"),
            "\n".join(_setting(setting, markdown=markdown) for setting in rule.frameworks),
        ]
    if rule.page:
        parts.append(f"[About this rule]({rule.page})" if markdown else f"About this rule: {rule.page}")
    return "\n\n".join(parts) + "\n"


def _evidence(item: Evidence) -> str:
    if item.provenance == "none":
        return item.text
    return f"{item.provenance}: {item.text}" + (f" ({item.further})" if item.further else "")


def _setting(setting: FrameworkSetting, *, markdown: bool) -> str:
    code = f"`{setting.code}`" if markdown else setting.code
    said = ", ".join(
        part for part in (f"for {', '.join(setting.formats)}" if setting.formats else "", setting.caveat) if part
    )
    return f"- {setting.framework}: {code}" + (f" ({said})" if said else "")


def _sentence(text: str) -> str:
    """``text`` on one line, ending as a sentence does."""
    line = visible(" ".join(text.split()))
    return line if line.endswith((".", "!", "?")) else line + "."


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 2].rstrip() + "…."
