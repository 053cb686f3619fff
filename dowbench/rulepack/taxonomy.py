"""Names that rules share with others: weakness catalogues, attack families and defenses of the benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Weakness(NamedTuple):
    """An entry of a public catalogue."""

    name: str
    url: str


TAXONOMY: Mapping[str, Weakness] = {
    "OWASP LLM10:2025": Weakness(
        "Unbounded Consumption", "https://genai.owasp.org/llmrisk/llm102025-unbounded-consumption/"
    ),
    "OWASP API4:2023": Weakness(
        "Unrestricted Resource Consumption",
        "https://owasp.org/API-Security/editions/2023/en/0xa4-unrestricted-resource-consumption/",
    ),
    "CWE-674": Weakness("Uncontrolled Recursion", "https://cwe.mitre.org/data/definitions/674.html"),
    "CWE-770": Weakness(
        "Allocation of Resources Without Limits or Throttling", "https://cwe.mitre.org/data/definitions/770.html"
    ),
    "CWE-799": Weakness("Improper Control of Interaction Frequency", "https://cwe.mitre.org/data/definitions/799.html"),
    "CWE-834": Weakness("Excessive Iteration", "https://cwe.mitre.org/data/definitions/834.html"),
    "CWE-1284": Weakness(
        "Improper Validation of Specified Quantity in Input", "https://cwe.mitre.org/data/definitions/1284.html"
    ),
    "MITRE ATLAS AML.T0034": Weakness("Cost Harvesting", "https://atlas.mitre.org/techniques/AML.T0034"),
}
"""Every catalogue entry that a rule may name."""

FAMILIES = (
    "cache_bust",
    "context_bloat",
    "cross_agent",
    "delegation",
    "error_retry",
    "fan_out",
    "growing_arguments",
    "mcp_chain",
    "multimodal",
    "output_flood",
    "paid_tool",
    "polling",
    "reasoning_bomb",
    "schedule",
    "schema_bloat",
    "tool_loop",
)
"""Attack families of the benchmark."""

DEFENSES = (
    "context_clearing",
    "depth_budget",
    "description_cap",
    "description_pin",
    "error_breaker",
    "loop_detect",
    "no_progress",
    "result_cap",
    "result_summary",
    "similar_loop",
    "spend_velocity",
    "token_budget",
    "tool_quota",
    "total_result_cap",
    "turn_limit",
)
"""Defenses that the benchmark measures."""
