"""Usage of the Messages API, as anthropic 1.17 and later name its fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dowbench_benchmark.mappers.fields import details, given, only, rest, whole, word
from dowbench_benchmark.model import Usage, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

_KNOWN = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "cache_creation",
    "output_tokens",
    "output_tokens_details",
    "server_tool_use",
    "service_tier",
    "inference_geo",
    "speed",
)


def usage(raw: Mapping[str, Any]) -> Usage:
    """``usage`` of a message: its three prompt counts are disjoint, its output count includes the thinking."""
    only(raw, _KNOWN)
    given(raw, "input_tokens", "output_tokens")
    word(raw, "service_tier", "standard")
    word(raw, "inference_geo", "global")
    word(raw, "speed", "standard")
    details(raw, "server_tool_use", ())  # searches and fetches have a price of their own
    thinking = whole(details(raw, "output_tokens_details", ("thinking_tokens",)), "thinking_tokens")
    return Usage(
        input_tokens=whole(raw, "input_tokens"),
        output_tokens=rest(whole(raw, "output_tokens"), "output", thinking=thinking),
        reasoning_tokens=thinking,
        cache_read_tokens=whole(raw, "cache_read_input_tokens"),
        cache_write_tokens=_written(raw),
    )


def _written(raw: Mapping[str, Any]) -> int:
    """Tokens written to the 5-minute cache, whose rate is the one in the price table."""
    written = whole(raw, "cache_creation_input_tokens")
    split = details(raw, "cache_creation", ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"))
    five_minutes, hour = whole(split, "ephemeral_5m_input_tokens"), whole(split, "ephemeral_1h_input_tokens")
    if hour:
        raise UsageError(f"usage with {hour} tokens in the 1-hour cache, whose rate is not in the price table")
    if five_minutes != written:
        raise UsageError(f"usage with {written} tokens written to a cache, {five_minutes} of them to the 5-minute one")
    return written
