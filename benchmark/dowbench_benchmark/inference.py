"""Estimates with their uncertainty, as functions of plain numbers. All intervals are 95 %.

References: Welch 1947 (means with unequal variances), Student 1908 (paired means), Newcombe 1998 (difference of paired
proportions, method 10, Statistics in Medicine 17:2635), McNemar 1947 with exact binomial p, Holm 1979; Miller 2024,
"Adding Error Bars to Evals", arXiv 2411.00640, for pairing and clustering in evaluations.
"""

from __future__ import annotations

import hashlib
import math
import random
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from dowbench_benchmark import student
from dowbench_benchmark.metrics import wilson

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CONFIDENCE = 0.95
RESAMPLES = 1000
"""Of each bootstrap."""
FEWEST = 3
"""Below this many independent units there is no interval."""
FEWEST_FOR_MEDIAN = 10
"""Below this many episodes there is no bootstrap of a median."""
TOO_FEW = "fewer than 3"
NO_VARIATION = "no variation seen"
CUT_ON_BOTH_SIDES = "cut on both sides"

_EQUAL = 1e-12
"""Logarithms closer than this are equal: their costs differ by rounding only."""


class Interval(NamedTuple):
    """``None``: not bounded on this side by what was observed."""

    lower: float | None
    upper: float | None


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean, or a difference of means, with its interval."""

    n: int
    """Independent units; of the smaller group where there are two."""
    value: float
    interval: Interval | None
    p: float | None
    """Two-sided, for a true value of 0."""
    method: str | None
    note: str | None
    """Why there is no interval."""


class Observation(NamedTuple):
    """What one episode cost."""

    wording: int
    cost: float
    """Above 0."""
    cut: bool
    """Censored or errored: it would have cost more."""


def mean(values: Sequence[float], method: str) -> Mean:
    """Student's t interval of a mean of independent values, at least one."""
    ordered = sorted(values)
    n, value = len(ordered), fmean(ordered)
    if n < FEWEST:
        return Mean(n, value, None, None, None, TOO_FEW)
    if ordered[-1] - ordered[0] <= _EQUAL:
        return Mean(n, value, None, None, None, NO_VARIATION)
    error = math.sqrt(_variance(ordered) / n)
    return _t_interval(n, value, error, n - 1, method)


def welch(first: Sequence[float], second: Sequence[float], method: str) -> Mean:
    """Welch's t interval of mean(first) − mean(second), at least one value each."""
    one, two = sorted(first), sorted(second)
    n, value = min(len(one), len(two)), fmean(one) - fmean(two)
    if n < FEWEST:
        return Mean(n, value, None, None, None, TOO_FEW)
    if one[-1] - one[0] <= _EQUAL and two[-1] - two[0] <= _EQUAL:
        return Mean(n, value, None, None, None, NO_VARIATION)
    a, b = _variance(one) / len(one), _variance(two) / len(two)
    df = (a + b) ** 2 / (a**2 / (len(one) - 1) + b**2 / (len(two) - 1))
    return _t_interval(n, value, math.sqrt(a + b), df, method)


def log_ratio(numerator: Sequence[Observation], denominator: Sequence[Observation]) -> Mean | None:
    """The log of numerator ÷ denominator (geometric means), over the wordings that both have; ``None`` without one.

    Repeats of one wording are nearly the same episode, so from three wordings on the wording is the unit: a paired t
    over their mean log costs. With fewer, Welch's t over the episodes, which then speaks of these wordings only.
    A side on which an episode was cut has no bound beyond what it cost.
    """
    shared = sorted({row.wording for row in numerator} & {row.wording for row in denominator})
    if not shared:
        return None
    over = [row for row in numerator if row.wording in shared]
    under = [row for row in denominator if row.wording in shared]
    if len(shared) >= FEWEST:
        found = mean(
            [_mean_log(over, wording) - _mean_log(under, wording) for wording in shared], "paired t on log cost"
        )
    else:
        found = welch(
            [math.log(row.cost) for row in over], [math.log(row.cost) for row in under], "Welch t on log cost"
        )
    return unbounded(found, over=any(row.cut for row in over), under=any(row.cut for row in under))


def unbounded(found: Mean, *, over: bool, under: bool) -> Mean:
    """A log ratio of which costs ``over`` or ``under`` the line were cut: no upper or no lower bound; nor a p."""
    if found.interval is None or not (over or under):
        return found
    if over and under:
        return Mean(found.n, found.value, None, None, None, CUT_ON_BOTH_SIDES)
    interval = Interval(None if under else found.interval.lower, None if over else found.interval.upper)
    return Mean(found.n, found.value, interval, None, found.method, None)


def median_ratio(numerator: Sequence[float], denominator: Sequence[float], seed: int, name: str) -> Interval | None:
    """Percentile bootstrap of median(numerator) ÷ median(denominator); ``None`` for too few, or without variation."""
    if min(len(numerator), len(denominator)) < FEWEST_FOR_MEDIAN:
        return None
    over, under = sorted(numerator), sorted(denominator)
    if over[0] == over[-1] and under[0] == under[-1]:
        return None
    draw = generator(seed, name)
    return _percentiles(lambda: _middle(draw.choices(over, k=len(over))) / _middle(draw.choices(under, k=len(under))))


def clustered_rate(clusters: Sequence[tuple[int, int]], seed: int, name: str) -> Interval | None:
    """Percentile bootstrap over clusters of (successes, decided); ``None`` for too few, or without variation."""
    ordered = sorted(clusters)
    if len(ordered) < FEWEST:
        return None
    draw = generator(seed, name)

    def resampled() -> float:
        sample = draw.choices(ordered, k=len(ordered))
        return sum(successes for successes, _ in sample) / sum(decided for _, decided in sample)

    return _percentiles(resampled)


class Paired(NamedTuple):
    """A difference of two paired proportions."""

    difference: float
    interval: Interval
    p: float


def paired_proportions(both: int, first: int, second: int, neither: int) -> Paired:
    """p(first) − p(second) of pairs that succeeded under both, the first only, the second only, neither; at least one.

    Newcombe's interval, clamped to hold the difference, and McNemar's exact p.
    """
    n = both + first + second + neither
    p1, p2 = (both + first) / n, (both + second) / n
    (l1, u1), (l2, u2) = wilson(both + first, n), wilson(both + second, n)
    margins = (both + first) * (second + neither) * (both + second) * (first + neither)
    product = float(both * neither - first * second)
    if product > 0:
        product = max(product - n / 2, 0.0)
    phi = product / math.sqrt(margins) if margins else 0.0
    below = _root((p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2)
    above = _root((u1 - p1) ** 2 - 2 * phi * (u1 - p1) * (p2 - l2) + (p2 - l2) ** 2)
    difference = p1 - p2
    return Paired(
        difference, Interval(max(-1.0, difference - below), min(1.0, difference + above)), mcnemar(first, second)
    )


def mcnemar(first: int, second: int) -> float:
    """Exact two-sided p of McNemar's test, from the pairs that differ."""
    n = first + second
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(min(first, second) + 1)) / (1 << n))


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p values, in the order given; ``None`` stays and is not counted."""
    ranked = sorted((p, place) for place, p in enumerate(ps) if p is not None)
    adjusted: list[float | None] = [None] * len(ps)
    highest = 0.0
    for rank, (p, place) in enumerate(ranked):
        highest = max(highest, min(1.0, (len(ranked) - rank) * p))
        adjusted[place] = highest
    return adjusted


def generator(seed: int, name: str) -> random.Random:
    """A generator of its own for each named figure, so that one more figure changes no other."""
    return random.Random(int.from_bytes(hashlib.sha256(f"{seed}\n{name}".encode(errors="backslashreplace")).digest()))


def _t_interval(n: int, value: float, error: float, df: float, method: str) -> Mean:
    half = student.quantile(1 - (1 - CONFIDENCE) / 2, df) * error
    return Mean(n, value, Interval(value - half, value + half), student.two_sided_p(value / error, df), method, None)


def _mean_log(rows: Sequence[Observation], wording: int) -> float:
    return fmean(sorted(math.log(row.cost) for row in rows if row.wording == wording))


def _variance(values: Sequence[float]) -> float:
    centre = fmean(values)
    return math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1)


def _percentiles(resampled: Callable[[], float]) -> Interval | None:
    values = sorted(resampled() for _ in range(RESAMPLES))
    beyond = round(RESAMPLES * (1 - CONFIDENCE) / 2)
    lower, upper = values[beyond - 1], values[-beyond]
    return None if upper - lower <= _EQUAL else Interval(lower, upper)


def _middle(values: list[float]) -> float:
    """The median; ``statistics.median`` takes most of a bootstrap's time."""
    values.sort()
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def _root(square: float) -> float:
    return math.sqrt(max(square, 0.0))
