"""What a plan may cost and how long it takes, before anything is spent. Needs no key and no SDK."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dowbench_benchmark import runner
from dowbench_benchmark.ledger import Spend

if TYPE_CHECKING:
    from dowbench_benchmark.plan import Plan
    from dowbench_benchmark.recording import Recording


@dataclass(frozen=True, slots=True)
class Expected:
    """Mean of the recorded episodes, times what is pending."""

    recorded: int
    """Episodes that it rests on."""
    spend: Spend
    calls: float


@dataclass(frozen=True, slots=True)
class Pace:
    """The least time that the rate limits allow; ``None`` where there is no such limit."""

    minutes: float | None
    days: int | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of the episodes that have no row yet."""

    planned: int
    pending: int
    worst: Spend
    most_calls: int
    expected: Expected | None
    spent: Spend
    """Already, in this directory."""
    pace: Pace | None
    expected_pace: Pace | None


def estimate(plan: Plan, earlier: Recording) -> Estimate:
    """The estimate for ``plan`` in a directory that holds ``earlier``."""
    pending = [spec for spec in plan.episodes if spec.id not in earlier.episodes]
    factor = runner.AGENT_FACTOR if plan.config.agent else 1
    most_calls = len(pending) * plan.config.ceiling.max_turns * factor
    worst = runner.worst_case(plan, pending)
    expected = _expected(plan, earlier, len(pending))
    return Estimate(
        planned=len(plan.episodes),
        pending=len(pending),
        worst=worst,
        most_calls=most_calls,
        expected=expected,
        spent=runner.spent_before(plan, earlier),
        pace=_pace(plan, most_calls, worst.tokens),
        expected_pace=None if expected is None else _pace(plan, expected.calls, expected.spend.tokens),
    )


def _expected(plan: Plan, earlier: Recording, pending: int) -> Expected | None:
    planned = {spec.id for spec in plan.episodes}
    rows = [episode for key, episode in earlier.episodes.items() if key in planned]
    if not rows:
        return None
    tokens = sum(episode.usage.total for episode in rows)
    attousd = sum(price.amount(row.usage) for row in rows if (price := plan.prices.get(row.model)) is not None)
    calls = sum(episode.turns for episode in rows)
    share = Fraction(pending, len(rows))
    return Expected(len(rows), Spend(math.ceil(tokens * share), math.ceil(attousd * share)), float(calls * share))


def _pace(plan: Plan, calls: float, tokens: int) -> Pace | None:
    limit = plan.config.rate_limit
    if limit is None:
        return None
    minutes = [calls / limit.rpm] if limit.rpm else []
    minutes += [tokens / limit.tpm] if limit.tpm else []
    return Pace(max(minutes) if minutes else None, math.ceil(calls / limit.rpd) if limit.rpd else None)
