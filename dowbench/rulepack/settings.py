"""What a configuration may say about the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dowbench.model import EMPTY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dowbench.model import Severity

LIMITS: Mapping[str, str] = {
    "max_calls": "tool calls in one run of the agent",
    "max_turns": "model calls in one run of the agent",
    "max_cost_usd": "money one run of the agent may spend, in USD",
    "max_total_tokens": "tokens billed in one run of the agent",
    "max_result_chars": "characters of one tool result that reach the model",
    "max_result_tokens": "tokens of one tool result that reach the model",
    "max_pages": "pages the agent may read of one listing",
    "max_output_tokens": "tokens of one answer of the model, tool arguments included",
    "max_parallel_calls": "tool calls in one turn",
    "max_retries": "repeats of a failed call",
    "max_depth": "agents below agents",
    "max_agents": "agents in one run",
}
"""Limits that an agent's harness can enforce and a configuration can declare, and what each counts."""


class Settings(NamedTuple):
    """Everything in a configuration that changes what the rules say."""

    disabled: frozenset[str] = frozenset()
    """Ids of rules that are left out."""
    severity: Mapping[str, Severity] = EMPTY
    """Rule id to the severity its findings have, whatever the rule says."""
    options: Mapping[str, Mapping[str, float]] = EMPTY
    """Rule id to option name to value."""
    words: Mapping[str, tuple[str, ...]] = EMPTY
    """Name of a word list to the phrases that are added to it."""
    limits: Mapping[str, float] = EMPTY
    """Limits that the agent's harness enforces, by a name of ``LIMITS``."""
