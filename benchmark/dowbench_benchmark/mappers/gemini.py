"""Usage of google-genai."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dowbench_benchmark.mappers.fields import given, only, rest, whole, word
from dowbench_benchmark.model import Usage, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

_KNOWN = (
    "prompt_token_count",
    "cached_content_token_count",
    "tool_use_prompt_token_count",
    "candidates_token_count",
    "thoughts_token_count",
    "total_token_count",
    "traffic_type",
)
_INFORMATIVE = (
    "prompt_tokens_details",
    "cache_tokens_details",
    "candidates_tokens_details",
    "tool_use_prompt_tokens_details",
)


def usage(raw: Mapping[str, Any]) -> Usage:
    """``usage_metadata``: the prompt count includes what came from the cache; thoughts are apart from candidates."""
    only(raw, _KNOWN, _INFORMATIVE)
    word(raw, "traffic_type", "ON_DEMAND")
    given(raw, "prompt_token_count", "total_token_count")
    cached = whole(raw, "cached_content_token_count")
    found = Usage(
        input_tokens=rest(whole(raw, "prompt_token_count"), "prompt", cached=cached)
        + whole(raw, "tool_use_prompt_token_count"),
        output_tokens=whole(raw, "candidates_token_count"),
        reasoning_tokens=whole(raw, "thoughts_token_count"),
        cache_read_tokens=cached,
    )
    if found.total != whole(raw, "total_token_count"):
        raise UsageError(f"usage whose parts sum to {found.total}, not to {raw['total_token_count']}")
    return found
