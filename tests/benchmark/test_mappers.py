"""From raw usage to counters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from dowbench_benchmark import mappers
from dowbench_benchmark.audit import audit
from dowbench_benchmark.mappers import anthropic, gemini, openai
from dowbench_benchmark.model import Usage, UsageError
from hypothesis import given
from hypothesis import strategies as st
from plans import make_plan, run_plan

from dowbench.errors import UsageError as UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

GEMINI = {
    "prompt_token_count": 100,
    "cached_content_token_count": 30,
    "tool_use_prompt_token_count": 5,
    "candidates_token_count": 20,
    "thoughts_token_count": 7,
    "total_token_count": 132,
    "prompt_tokens_details": [{"modality": "TEXT", "token_count": 100}],
    "traffic_type": "ON_DEMAND",
}
ANTHROPIC = {
    "input_tokens": 12,
    "cache_read_input_tokens": 300,
    "cache_creation_input_tokens": 40,
    "cache_creation": {"ephemeral_5m_input_tokens": 40, "ephemeral_1h_input_tokens": 0},
    "output_tokens": 90,
    "output_tokens_details": {"thinking_tokens": 64},
    "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
    "service_tier": "standard",
    "inference_geo": "global",
    "speed": "standard",
}
CHAT = {
    "prompt_tokens": 352,
    "prompt_tokens_details": {"cached_tokens": 300, "cache_write_tokens": 40, "audio_tokens": 0},
    "completion_tokens": 90,
    "completion_tokens_details": {"reasoning_tokens": 64, "audio_tokens": 0, "rejected_prediction_tokens": 0},
    "total_tokens": 442,
}
RESPONSES = {
    "input_tokens": 352,
    "input_tokens_details": {
        "cached_tokens": 300,
        "cache_write_tokens": 40,
        "cache_write_tokens_details": {"ttl_30m_tokens": 40, "ttl_12h_tokens": 0},
    },
    "output_tokens": 90,
    "output_tokens_details": {"reasoning_tokens": 64},
    "total_tokens": 442,
    "service_tier": "default",
}
BARE: Mapping[str, Mapping[str, Any]] = {
    "gemini": {"prompt_token_count": 9, "total_token_count": 9},
    "anthropic": {"input_tokens": 9, "output_tokens": 0, "cache_creation": None, "output_tokens_details": None},
    "openai": {"prompt_tokens": 9, "completion_tokens": 0, "total_tokens": 9, "prompt_tokens_details": None},
    "local": {"prompt_tokens": 9, "completion_tokens": 0, "total_tokens": 9},
    "mock": {"input_tokens": 9},
}


@pytest.mark.parametrize(
    ("provider", "raw", "usage"),
    [
        ("gemini", GEMINI, Usage(75, 20, 7, 30, 0)),
        ("anthropic", ANTHROPIC, Usage(12, 26, 64, 300, 40)),
        ("openai", CHAT, Usage(12, 26, 64, 300, 40)),
        ("openai", RESPONSES, Usage(12, 26, 64, 300, 40)),
        ("local", CHAT, Usage(352, 26, 64)),
    ],
)
def test_every_token_is_counted_once(provider: str, raw: Mapping[str, Any], usage: Usage) -> None:
    assert mappers.mapper(provider)(raw) == usage


@pytest.mark.parametrize("provider", mappers.BUILT_IN)
def test_missing_counters_are_zero(provider: str) -> None:
    assert mappers.mapper(provider)(BARE[provider]) == Usage(input_tokens=9)


@pytest.mark.parametrize("provider", mappers.BUILT_IN)
def test_only_what_is_empty_may_be_unknown(provider: str) -> None:
    usage = mappers.mapper(provider)
    empty = {"new_count": 0, "new_list": [], "new_name": None, "new_details": {"a": 0, "b": {"c": None}}}
    assert usage({**BARE[provider], **empty}) == Usage(input_tokens=9)
    for name, value in (("surprise_tokens", 4), ("surprise", {"of": {"tokens": 1}}), ("surprise_tier", "gold")):
        with pytest.raises(UsageError, match=f"unknown usage field '{name}'"):
            usage({**BARE[provider], name: value})


@pytest.mark.parametrize("provider", mappers.BUILT_IN)
@pytest.mark.parametrize("value", ["9", True, -1, 9.0, [9]])
def test_counters_are_whole_numbers(provider: str, value: object) -> None:
    name = next(iter(BARE[provider]))
    with pytest.raises(UsageError, match=f"'{name}' is .*, expected a whole number"):
        mappers.mapper(provider)({**BARE[provider], name: value})


@pytest.mark.parametrize(
    ("provider", "name"), [(provider, name) for provider in BARE for name in BARE[provider] if provider != "mock"]
)
def test_usage_without_its_counts_is_refused(provider: str, name: str) -> None:
    raw = {key: value for key, value in BARE[provider].items() if key != name}
    if BARE[provider][name] is None:
        assert mappers.mapper(provider)(raw) == Usage(input_tokens=9)
        return
    for absent in (raw, {**raw, name: None}, {}):
        with pytest.raises(UsageError, match="usage without "):
            mappers.mapper(provider)(absent)


def _with(raw: Mapping[str, Any], path: str, value: object) -> dict[str, Any]:
    name, _, inner = path.partition(".")
    return {**raw, name: _with(raw.get(name) or {}, inner, value) if inner else value}


@pytest.mark.parametrize(
    ("usage", "raw", "path", "value", "message"),
    [
        (gemini.usage, GEMINI, "total_token_count", 131, "sum to 132, not to 131"),
        (gemini.usage, GEMINI, "cached_content_token_count", 101, "101 cached tokens among 100 prompt tokens"),
        (gemini.usage, GEMINI, "traffic_type", "PROVISIONED_THROUGHPUT", "traffic_type 'PROVISIONED_THROUGHPUT'"),
        (anthropic.usage, ANTHROPIC, "service_tier", "priority", "service_tier 'priority'"),
        (anthropic.usage, ANTHROPIC, "inference_geo", "us", "inference_geo 'us'"),
        (anthropic.usage, ANTHROPIC, "speed", "fast", "speed 'fast'"),
        (anthropic.usage, ANTHROPIC, "server_tool_use.web_search_requests", 1, "in server_tool_use: unknown .*search"),
        (anthropic.usage, ANTHROPIC, "output_tokens_details.thinking_tokens", 91, "91 thinking tokens among 90 output"),
        (anthropic.usage, ANTHROPIC, "output_tokens_details.drawing_tokens", 1, "in output_tokens_details: unknown"),
        (anthropic.usage, ANTHROPIC, "output_tokens_details", 64, "'output_tokens_details' is 64, expected an object"),
        (anthropic.usage, ANTHROPIC, "cache_creation.ephemeral_1h_input_tokens", 3, "3 tokens in the 1-hour cache"),
        (anthropic.usage, ANTHROPIC, "cache_creation.ephemeral_5m_input_tokens", 39, "39 of them to the 5-minute one"),
        (anthropic.usage, ANTHROPIC, "cache_creation", None, "40 tokens written to a cache, 0 of them"),
        (openai.usage, CHAT, "total_tokens", 443, "sum to 442, not to 443"),
        (openai.usage, CHAT, "service_tier", "priority", "service_tier 'priority'"),
        (openai.usage, CHAT, "prompt_tokens_details.cached_tokens", 313, "313 cached and 40 newly cached .*among 352"),
        (openai.usage, CHAT, "prompt_tokens_details.audio_tokens", 2, "in prompt_tokens_details: unknown .*audio"),
        (openai.usage, CHAT, "completion_tokens_details.reasoning_tokens", 91, "91 reasoning tokens among 90 output"),
        (openai.usage, CHAT, "completion_tokens_details.audio_tokens", 2, "in completion_tokens_details: unknown"),
        (openai.usage, CHAT, "input_tokens", 352, "unknown usage field 'prompt_tokens'"),
        (openai.usage, RESPONSES, "total_tokens", 443, "sum to 442, not to 443"),
        (openai.usage, RESPONSES, "service_tier", "flex", "service_tier 'flex'"),
        (openai.usage, RESPONSES, "output_tokens_details.reasoning_tokens", 91, "91 reasoning tokens among 90"),
        (
            openai.usage,
            RESPONSES,
            "input_tokens_details.cache_write_tokens_details.ttl_12h_tokens",
            3,
            "3 tokens in the 12-hour cache",
        ),
        (openai.usage, RESPONSES, "input_tokens_details.cache_write_tokens", 41, "40 of them to the 30-minute one"),
        (openai.local, CHAT, "total_tokens", 443, "sum to 442, not to 443"),
        (openai.local, CHAT, "surprise", 1, "unknown usage field 'surprise'"),
    ],
)
def test_what_usage_may_not_be(
    usage: Callable[[Mapping[str, Any]], Usage], raw: Mapping[str, Any], path: str, value: object, message: str
) -> None:
    assert usage(raw).total > 0
    with pytest.raises(UsageError, match=message):
        usage(_with(raw, path, value))


@given(st.tuples(*[st.integers(0, 10**7)] * 5))
def test_the_counters_sum_to_what_is_billed(counts: tuple[int, int, int, int, int]) -> None:
    """Every way in which a provider nests its counts leads back to the disjoint ones."""
    plain, output, reasoning, read, written = counts
    expected = Usage(plain, output, reasoning, read, written)
    prompt, completion = plain + read + written, output + reasoning
    split = {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0}
    found = anthropic.usage(
        {
            "input_tokens": plain,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "cache_creation": split,
            "output_tokens": completion,
            "output_tokens_details": {"thinking_tokens": reasoning},
        }
    )
    assert found == expected
    details = {"cached_tokens": read, "cache_write_tokens": written}
    chat = {
        "prompt_tokens": prompt,
        "prompt_tokens_details": details,
        "completion_tokens": completion,
        "completion_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": prompt + completion,
    }
    assert openai.usage(chat) == expected
    assert openai.local(chat) == Usage(prompt, output, reasoning)
    assert openai.local(chat).total == expected.total
    found = openai.usage(
        {
            "input_tokens": prompt,
            "input_tokens_details": details,
            "output_tokens": completion,
            "output_tokens_details": {"reasoning_tokens": reasoning},
            "total_tokens": prompt + completion,
        }
    )
    assert found == expected


def _reported(provider: str, prompt: int, output: int, reasoning: int) -> dict[str, Any]:
    if provider == "anthropic":
        details = {"thinking_tokens": reasoning}
        return {"input_tokens": prompt, "output_tokens": output + reasoning, "output_tokens_details": details}
    if provider == "gemini":
        total = prompt + output + reasoning
        counts = {"prompt_token_count": prompt, "candidates_token_count": output, "thoughts_token_count": reasoning}
        return {**counts, "total_token_count": total}
    counts = {"prompt_tokens": prompt, "completion_tokens": output + reasoning}
    details = {"reasoning_tokens": reasoning}
    return {**counts, "total_tokens": sum(counts.values()), "completion_tokens_details": details}


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "openai", "local"])
def test_a_run_is_audited_from_the_usage_of_its_provider(tmp_path: Path, provider: str) -> None:
    """A run of the mock, with its raw usage in the words of a provider."""
    made = make_plan(attacks=["locker-puzzle-01"])
    result = run_plan(made, tmp_path)
    run = json.loads((tmp_path / "run.json").read_text())
    run["config"]["provider"] = provider
    run["files"] = {}
    run["prices"] = [{**price, "provider": provider} for price in run["prices"]]
    (tmp_path / "run.json").write_text(json.dumps(run))
    calls = [json.loads(line) for line in (tmp_path / "calls.jsonl").read_text().splitlines()]
    assert any(call["usage"]["reasoning_tokens"] for call in calls)
    for call in calls:
        usage = call["usage"]
        call["raw_usage"] = _reported(
            provider, usage["input_tokens"], usage["output_tokens"], usage["reasoning_tokens"]
        )
    (tmp_path / "calls.jsonl").write_text("".join(json.dumps(call) + "\n" for call in calls))
    found = audit(tmp_path)
    assert result.summary is not None
    assert (found.sha256, found.equal, found.differences) == (result.summary.sha256, True, ())


def test_a_provider_without_a_mapper_is_named_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="unknown mapper 'nobody'; known: mock, gemini, anthropic, openai, local"):
        mappers.mapper("nobody")
