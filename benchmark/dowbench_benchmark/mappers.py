"""From the usage that a provider reports to disjoint counters, strictly: what is not understood is refused.

A mapper takes the provider's usage object as plain data and raises ``model.UsageError`` for a field it does not know
that is not empty, for a missing field and for a sum that does not add up. Audits map recorded usage with the same code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dowbench_benchmark import plugins
from dowbench_benchmark.model import Mapper, Usage, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

BUILT_IN: Mapping[str, str] = {
    "mock": "dowbench_benchmark.mappers:counters",
    "gemini": "dowbench_benchmark.mappers:gemini",
}
"""Provider name to ``module:function``."""
_COUNTERS = ("input_tokens", "output_tokens", "reasoning_tokens", "cache_read_tokens", "cache_write_tokens")


def mapper(provider: str) -> Mapper:
    """The mapper of a provider. Raises ``dowbench.errors.UsageError`` where there is none."""
    found: Mapper = plugins.load("dowbench.mappers", BUILT_IN, provider)
    return found


def counters(raw: Mapping[str, Any]) -> Usage:
    """Usage that is given as the disjoint counters themselves."""
    only(raw, _COUNTERS)
    return Usage(**{name: whole(raw, name) for name in _COUNTERS})


def gemini(raw: Mapping[str, Any]) -> Usage:
    """``usage_metadata`` of google-genai: the prompt count includes what came from the cache."""
    only(
        raw,
        (
            "prompt_token_count",
            "cached_content_token_count",
            "tool_use_prompt_token_count",
            "candidates_token_count",
            "thoughts_token_count",
            "total_token_count",
        ),
        informative=(
            "prompt_tokens_details",
            "cache_tokens_details",
            "candidates_tokens_details",
            "tool_use_prompt_tokens_details",
            "traffic_type",
        ),
    )
    if raw.get("traffic_type") not in (None, "ON_DEMAND"):
        raise UsageError(f"gemini usage with traffic_type {raw['traffic_type']!r}: it is billed in another way")
    if raw.get("prompt_token_count") is None or raw.get("total_token_count") is None:
        raise UsageError("gemini usage without prompt_token_count or total_token_count")
    prompt, cached = whole(raw, "prompt_token_count"), whole(raw, "cached_content_token_count")
    if cached > prompt:
        raise UsageError(f"gemini usage with more cached ({cached}) than prompt tokens ({prompt})")
    usage = Usage(
        input_tokens=prompt - cached + whole(raw, "tool_use_prompt_token_count"),
        output_tokens=whole(raw, "candidates_token_count"),
        reasoning_tokens=whole(raw, "thoughts_token_count"),
        cache_read_tokens=cached,
    )
    if usage.total != whole(raw, "total_token_count"):
        raise UsageError(f"gemini usage whose parts sum to {usage.total}, not to {raw['total_token_count']}")
    return usage


def whole(raw: Mapping[str, Any], name: str) -> int:
    """A counter: missing and null are zero. Raises ``UsageError`` for anything but a whole number ≥ 0."""
    value = raw.get(name)
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UsageError(f"usage field {name!r} is {value!r}, expected a whole number")
    return value


def only(raw: Mapping[str, Any], known: Iterable[str], informative: Iterable[str] = ()) -> None:
    """Raise ``UsageError`` for a field outside ``known`` and ``informative`` that is not empty."""
    names = {*known, *informative}
    for name, value in raw.items():
        if name not in names and value not in (None, 0, "", [], {}):
            raise UsageError(f"unknown usage field {name!r} = {value!r}: it may be billed")
