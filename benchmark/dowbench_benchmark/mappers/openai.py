"""Usage of OpenAI's two APIs, as openai 3.57 names its fields, and of servers that speak the first of them.

In both, cached tokens are part of the prompt count, reasoning tokens of the output count. The service tier stands in
the response, not in its usage: a provider adds it as ``service_tier``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dowbench_benchmark.mappers.fields import details, given, only, rest, whole, word
from dowbench_benchmark.model import Usage, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping


def usage(raw: Mapping[str, Any]) -> Usage:
    """Usage of either API, told apart by the names of its counts."""
    return responses(raw) if "input_tokens" in raw else chat(raw)


def chat(raw: Mapping[str, Any]) -> Usage:
    """``usage`` of Chat Completions."""
    only(
        raw,
        (
            "prompt_tokens",
            "prompt_tokens_details",
            "completion_tokens",
            "completion_tokens_details",
            "total_tokens",
            "service_tier",
        ),
    )
    given(raw, "prompt_tokens", "completion_tokens", "total_tokens")
    prompt = details(raw, "prompt_tokens_details", ("cached_tokens", "cache_write_tokens"), ("text_tokens",))
    written = details(
        raw,
        "completion_tokens_details",
        ("reasoning_tokens",),
        ("text_tokens", "accepted_prediction_tokens", "rejected_prediction_tokens"),
    )
    return _usage(
        raw,
        prompt=whole(raw, "prompt_tokens"),
        cached=whole(prompt, "cached_tokens"),
        cache_write=whole(prompt, "cache_write_tokens"),
        output=whole(raw, "completion_tokens"),
        reasoning=whole(written, "reasoning_tokens"),
    )


def responses(raw: Mapping[str, Any]) -> Usage:
    """``usage`` of the Responses API."""
    only(
        raw,
        (
            "input_tokens",
            "input_tokens_details",
            "output_tokens",
            "output_tokens_details",
            "total_tokens",
            "service_tier",
        ),
    )
    given(raw, "input_tokens", "output_tokens", "total_tokens")
    prompt = details(raw, "input_tokens_details", ("cached_tokens", "cache_write_tokens", "cache_write_tokens_details"))
    reasoning = whole(details(raw, "output_tokens_details", ("reasoning_tokens",)), "reasoning_tokens")
    return _usage(
        raw,
        prompt=whole(raw, "input_tokens"),
        cached=whole(prompt, "cached_tokens"),
        cache_write=_written(prompt),
        output=whole(raw, "output_tokens"),
        reasoning=reasoning,
    )


def local(raw: Mapping[str, Any]) -> Usage:
    """``usage`` of a local server that speaks Chat Completions: a cached prompt costs as much as another."""
    found = chat(raw)
    prompt = found.input_tokens + found.cache_read_tokens + found.cache_write_tokens
    return replace(found, input_tokens=prompt, cache_read_tokens=0, cache_write_tokens=0)


def _written(prompt: Mapping[str, Any]) -> int:
    """Tokens written to the cache of 30 minutes, whose rate is the one in the price table."""
    written = whole(prompt, "cache_write_tokens")
    if prompt.get("cache_write_tokens_details") is None:
        return written
    split = details(prompt, "cache_write_tokens_details", ("ttl_30m_tokens", "ttl_12h_tokens"))
    short, long = whole(split, "ttl_30m_tokens"), whole(split, "ttl_12h_tokens")
    if long:
        raise UsageError(f"usage with {long} tokens in the 12-hour cache, whose rate is not in the price table")
    if short != written:
        raise UsageError(f"usage with {written} tokens written to a cache, {short} of them to the 30-minute one")
    return written


def _usage(raw: Mapping[str, Any], *, prompt: int, cached: int, cache_write: int, output: int, reasoning: int) -> Usage:
    word(raw, "service_tier", "default")
    if prompt + output != whole(raw, "total_tokens"):
        raise UsageError(f"usage whose parts sum to {prompt + output}, not to {raw['total_tokens']}")
    return Usage(
        input_tokens=rest(prompt, "prompt", cached=cached, newly_cached=cache_write),
        output_tokens=rest(output, "output", reasoning=reasoning),
        reasoning_tokens=reasoning,
        cache_read_tokens=cached,
        cache_write_tokens=cache_write,
    )
