"""What a configuration may say about the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dowbench.model import EMPTY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dowbench.model import Severity

LIMITS = (
    "max_calls", "max_turns", "max_cost_usd", "max_total_tokens", "max_result_chars", "max_result_tokens",
    "max_pages", "max_output_tokens", "max_depth", "max_agents",
)  # fmt: skip
"""Limits that an agent's harness can enforce; ``config.schema.json`` says what each counts."""


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
