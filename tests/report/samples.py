"""Hand-made results for the tests of reporters: real data classes, no scan."""

from __future__ import annotations

from typing import Any

from dowbench.model import Evidence, Finding, FrameworkSetting, RuleInfo, ScanResult, Span

RULES = (
    RuleInfo(
        id="unbounded-result",
        title="Result without a size limit",
        severity="high",
        confidence="high",
        tier="default",
        family="context_bloat",
        why="A result of any size stays in the context and is billed again on each turn.",
        fix="Add a limit parameter with a maximum and enforce it in the tool.",
        taxonomy=("CWE-770", "OWASP LLM10:2025", "OWASP API4:2023"),
        frameworks=(FrameworkSetting("LangChain", "ToolCallLimitMiddleware(run_limit=5)"),),
        example_before='{"name": "search"}',
        example_after='{"name": "search", "maximum": 10}',
        page="https://example.com/docs/rules/unbounded-result.md",
    ),
    RuleInfo(
        id="limit-without-maximum",
        title="Limit without a maximum",
        severity="medium",
        confidence="medium",
        tier="default",
        family="context_bloat",
        why="The caller may ask for any number.",
        fix="State a maximum.",
        taxonomy=("CWE-1284",),
        evidence=(Evidence("none", "not measured"),),
    ),
    RuleInfo(
        id="heavy-definition",
        title="Definition that is long",
        severity="low",
        confidence="high",
        tier="default",
        family="schema_bloat",
        why="The definition is sent on every turn.",
        fix="Shorten it.",
        taxonomy=(),
    ),
)

FINDING = Finding(
    rule="unbounded-result",
    severity="high",
    confidence="high",
    tier="default",
    family="context_bloat",
    message="search returns external data and nothing limits how much.",
    fix="Add a limit with a maximum.",
    path="tools.json",
    pointer="/tools/0",
    tool="search",
    span=Span(2, 3, 4, 4),
    fingerprint="a" * 64,
)


def finding(**changes: Any) -> Finding:
    """``FINDING`` with other values."""
    return FINDING._replace(**changes)


def result(*findings: Finding, **changes: Any) -> ScanResult:
    """A result with these findings, all rules in force."""
    return ScanResult(findings=findings, **{"rules": RULES, **changes})
