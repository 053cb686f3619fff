"""What a plan may cost and how long it takes, before anything is spent. Needs no key and no SDK."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from dowbench_benchmark import runner
from dowbench_benchmark.ledger import Spend
from dowbench_benchmark.model import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dowbench_benchmark.model import EpisodeSpec
    from dowbench_benchmark.plan import Plan
    from dowbench_benchmark.recording import Recording


@dataclass(frozen=True, slots=True)
class Expected:
    """What the pending episodes come to if they cost what the recorded ones that are most like them did."""

    recorded: int
    """Episodes that it rests on."""
    covered: int
    """Pending episodes whose like is recorded; the others are not in the figures."""
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
    """Tries after a failure not counted."""
    expected: Expected | None
    spent: Spend
    """Already, in this directory."""
    pace: Pace | None
    expected_pace: Pace | None


def estimate(plan: Plan, earlier: Recording) -> Estimate:
    """The estimate for ``plan`` in a directory that holds ``earlier``."""
    pending = earlier.pending(plan)
    factor = runner.AGENT_FACTOR if plan.config.agent else 1
    most_calls = len(pending) * plan.config.ceiling.max_turns * factor
    worst = runner.worst_case(plan, pending)
    expected = _expected(plan, earlier, pending)
    known = expected is not None and expected.covered == len(pending)
    return Estimate(
        planned=len(plan.episodes),
        pending=len(pending),
        worst=worst,
        most_calls=most_calls,
        expected=expected,
        spent=runner.spent_before(plan, earlier),
        pace=_pace(plan, most_calls, worst.tokens),
        expected_pace=_pace(plan, expected.calls, expected.spend.tokens) if expected and known else None,
    )


@dataclass(slots=True)
class _Total:
    """Recorded episodes that are alike."""

    episodes: int = 0
    usage: Usage = field(default_factory=Usage)
    turns: int = 0


def _likenesses(spec: EpisodeSpec) -> Sequence[tuple[str, ...]]:
    """What other episodes may share with this one, the closest first. Attacks differ a hundredfold, so it must at least
    be the same one."""
    item = (spec.kind, spec.item_id)
    return (*item, spec.model, spec.defense.label), (*item, spec.model), item


def _expected(plan: Plan, earlier: Recording, pending: Sequence[EpisodeSpec]) -> Expected | None:
    totals: dict[tuple[str, ...], _Total] = {}
    recorded = [(spec, row) for spec in plan.episodes if (row := earlier.episodes.get(spec.id)) is not None]
    for spec, row in recorded:
        for likeness in _likenesses(spec):
            total = totals.setdefault(likeness, _Total())
            total.episodes += 1
            total.usage += row.usage
            total.turns += row.turns
    tokens = attousd = calls = Fraction()
    covered = 0
    for spec in pending:
        found = next((totals[likeness] for likeness in _likenesses(spec) if likeness in totals), None)
        if found is None:
            continue
        covered += 1
        price = plan.prices.get(spec.model)
        tokens += Fraction(found.usage.total, found.episodes)
        attousd += Fraction(price.amount(found.usage) if price else 0, found.episodes)
        calls += Fraction(found.turns, found.episodes)
    if not covered:
        return None
    return Expected(len(recorded), covered, Spend(math.ceil(tokens), math.ceil(attousd)), float(calls))


def _pace(plan: Plan, calls: float, tokens: int) -> Pace | None:
    limit = plan.config.rate_limit
    if limit is None:
        return None
    minutes = [calls / limit.rpm] if limit.rpm else []
    minutes += [tokens / limit.tpm] if limit.tpm else []
    return Pace(max(minutes) if minutes else None, math.ceil(calls / limit.rpd) if limit.rpd else None)
