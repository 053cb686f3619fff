"""Rate limits, on a clock of the tests' own."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from dowbench_benchmark.config import RateLimit
from dowbench_benchmark.ledger import Sent
from dowbench_benchmark.ratelimit import DailyLimitReached, Limiter
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Iterable

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp()


class Clock:
    def __init__(self, at: float = NOON) -> None:
        self.at = at
        self.waited: list[float] = []

    def now(self) -> float:
        return self.at

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.at += seconds


def limiter(clock: Clock, earlier: Iterable[Sent] = (), **limits: int | str) -> Limiter:
    return Limiter(RateLimit(**limits), earlier, now=clock.now, wait=clock.wait)


def sent(at: float, tokens: int = 1) -> Sent:
    return Sent("a-1", 1, "a", "m", tokens, 1, datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds"))


def test_requests_a_minute() -> None:
    clock = Clock()
    limit = limiter(clock, rpm=2)
    assert [limit.acquire(1) - NOON for _ in range(5)] == [0, 0, 60, 60, 120]


def test_tokens_a_minute_count_the_prompt() -> None:
    clock = Clock()
    limit = limiter(clock, tpm=100)
    assert [limit.acquire(tokens) - NOON for tokens in (60, 40, 1, 99)] == [0, 0, 60, 60]


def test_the_window_slides() -> None:
    clock = Clock()
    limit = limiter(clock, tpm=100)
    limit.acquire(50)
    clock.at += 30
    limit.acquire(50)
    assert limit.acquire(40) - NOON == 60
    assert limit.acquire(40) - NOON == 90


def test_an_empty_window_admits_what_is_too_large() -> None:
    clock = Clock()
    limit = limiter(clock, tpm=100)
    assert limit.acquire(5000) == NOON
    assert limit.acquire(5000) == NOON + 60


def test_no_limit_is_no_limit() -> None:
    clock = Clock()
    limit = limiter(clock)
    assert [limit.acquire(10**9) for _ in range(50)] == [NOON] * 50


def test_requests_a_day_end_the_run() -> None:
    clock = Clock()
    limit = limiter(clock, rpd=2)
    limit.acquire(1)
    limit.acquire(1)
    with pytest.raises(DailyLimitReached, match=r"daily limit of 2 requests reached; .* midnight UTC"):
        limit.acquire(1)
    clock.at += 12 * 3600
    limit.acquire(1)


def test_the_day_survives_a_resume() -> None:
    clock = Clock()
    yesterday, today = sent(NOON - 13 * 3600), sent(NOON - 3600)
    limit = limiter(clock, [yesterday, today], rpd=2)
    limit.acquire(1)
    with pytest.raises(DailyLimitReached):
        limit.acquire(1)


def test_the_minute_survives_a_resume() -> None:
    clock = Clock()
    limit = limiter(clock, [sent(NOON - 20)], rpm=1)
    assert limit.acquire(1) == NOON + 40


def test_midnight_is_the_providers() -> None:
    # 12:00 UTC is 04:00 in Los Angeles in March, so 07:30 UTC was still the day before there.
    clock = Clock()
    limit = limiter(clock, [sent(NOON - 4.5 * 3600)], rpd=1, timezone="America/Los_Angeles")
    limit.acquire(1)
    with pytest.raises(DailyLimitReached):
        limit.acquire(1)


@given(st.lists(st.tuples(st.integers(0, 300), st.floats(0, 40)), max_size=40), st.integers(1, 6), st.integers(50, 400))
def test_no_minute_has_more_than_the_limits(requests: list[tuple[int, float]], rpm: int, tpm: int) -> None:
    clock = Clock()
    limit = limiter(clock, rpm=rpm, tpm=tpm)
    let: list[tuple[float, int]] = []
    for tokens, pause in requests:
        clock.at += pause
        let.append((limit.acquire(tokens), tokens))
    for index, (at, _) in enumerate(let):
        window = [tokens for other, tokens in let[: index + 1] if other > at - 60 + 1e-6]
        assert len(window) <= rpm
        assert len(window) == 1 or sum(window) <= tpm
