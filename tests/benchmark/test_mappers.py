"""From raw usage to counters."""

from __future__ import annotations

from typing import Any

import pytest
from dowbench_benchmark import mappers
from dowbench_benchmark.model import Usage, UsageError


def test_gemini() -> None:
    raw = {
        "prompt_token_count": 100,
        "cached_content_token_count": 30,
        "tool_use_prompt_token_count": 5,
        "candidates_token_count": 20,
        "thoughts_token_count": 7,
        "total_token_count": 132,
        "prompt_tokens_details": [{"modality": "TEXT", "token_count": 100}],
        "traffic_type": "ON_DEMAND",
    }
    assert mappers.mapper("gemini")(raw) == Usage(75, 20, 7, 30, 0)


def test_missing_counters_are_zero() -> None:
    assert mappers.gemini({"prompt_token_count": 9, "total_token_count": 9}) == Usage(input_tokens=9)
    assert mappers.counters({"input_tokens": 3}) == Usage(input_tokens=3)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"candidates_token_count": 1, "total_token_count": 1}, "without prompt_token_count"),
        ({"prompt_token_count": 1, "total_token_count": 2}, "sum to 1, not to 2"),
        ({"prompt_token_count": 1, "cached_content_token_count": 2, "total_token_count": 1}, "more cached"),
        (
            {"prompt_token_count": 1, "total_token_count": 1, "surprise_count": 4},
            "unknown usage field 'surprise_count'",
        ),
        ({"prompt_token_count": 1, "total_token_count": 1, "traffic_type": "PROVISIONED"}, "traffic_type 'PROV"),
        ({"prompt_token_count": "1", "total_token_count": 1}, "expected a whole number"),
        ({"prompt_token_count": True, "total_token_count": 1}, "expected a whole number"),
        ({"prompt_token_count": -1, "total_token_count": -1}, "expected a whole number"),
        ({"prompt_token_count": 1.0, "total_token_count": 1}, "expected a whole number"),
    ],
)
def test_what_gemini_usage_may_not_be(raw: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        mappers.gemini(raw)


def test_unknown_fields_that_are_empty_are_let_through() -> None:
    raw = {"prompt_token_count": 1, "total_token_count": 1, "new_count": 0, "new_details": [], "new_name": None}
    assert mappers.gemini(raw) == Usage(input_tokens=1)
