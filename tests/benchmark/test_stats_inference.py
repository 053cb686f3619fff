"""Student's t and the intervals, against published tables and sums done by hand."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest
from dowbench_benchmark import inference, metrics, student
from dowbench_benchmark.inference import Interval, Observation
from hypothesis import given
from hypothesis import strategies as st
from interval_coverage import CASES, coverage

# NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, critical values of Student's t distribution.
TABLE = {
    0.90: {1: 3.078, 2: 1.886, 5: 1.476, 10: 1.372, 30: 1.310, 100: 1.290},
    0.95: {1: 6.314, 2: 2.920, 5: 2.015, 10: 1.812, 30: 1.697, 100: 1.660},
    0.975: {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 9: 2.262, 10: 2.228, 30: 2.042, 100: 1.984},
    0.99: {1: 31.821, 2: 6.965, 5: 3.365, 10: 2.764, 30: 2.457, 100: 2.364},
}
costs = st.lists(st.floats(min_value=1e-6, max_value=10), min_size=1, max_size=12)


@pytest.mark.parametrize(("p", "df", "t"), [(p, df, t) for p, row in TABLE.items() for df, t in row.items()])
def test_quantiles_are_those_of_the_table(p: float, df: int, t: float) -> None:
    assert round(student.quantile(p, df), 3) == t
    assert student.cdf(student.quantile(p, df), df) == pytest.approx(p, abs=1e-12)


def test_one_and_two_degrees_of_freedom_have_closed_forms() -> None:
    for t in (-40.0, -2.5, -0.1, 0.0, 0.3, 1.0, 7.0):
        assert student.cdf(t, 1) == pytest.approx(0.5 + math.atan(t) / math.pi, rel=1e-12)
        assert student.cdf(t, 2) == pytest.approx(0.5 + t / (2 * math.sqrt(2 + t * t)), rel=1e-12, abs=1e-15)


def test_many_degrees_of_freedom_are_the_normal_distribution() -> None:
    assert student.quantile(0.975, 1e7) == pytest.approx(NormalDist().inv_cdf(0.975), rel=1e-6)


@given(st.floats(min_value=0.5001, max_value=0.9999), st.floats(min_value=0.6, max_value=500))
def test_quantiles_invert_the_distribution_and_are_symmetric(p: float, df: float) -> None:
    assert student.cdf(student.quantile(p, df), df) == pytest.approx(p, abs=1e-9)
    assert student.quantile(1 - p, df) == pytest.approx(-student.quantile(p, df), rel=1e-6)


def test_mean_by_hand() -> None:
    # 1, 2, 3: mean 2, deviation 1, so 2 ± 4.302653/√3; t = 2√3 with 2 degrees of freedom.
    found = inference.mean([3.0, 1.0, 2.0], "m")
    assert found.value == 2
    assert found.interval == pytest.approx((2 - 4.302652730 / math.sqrt(3), 2 + 4.302652730 / math.sqrt(3)))
    assert found.p == pytest.approx(2 * (0.5 - 2 * math.sqrt(3) / (2 * math.sqrt(14))))


def test_welch_by_hand() -> None:
    # Variances 1 and 4 of three each: error √(1/3 + 4/3), df = (5/3)² / ((1/9 + 16/9)/2) = 50/17.
    found = inference.welch([1.0, 2.0, 3.0], [6.0, 8.0, 10.0], "w")
    half = student.quantile(0.975, 50 / 17) * math.sqrt(5 / 3)
    assert found.value == -6
    assert found.interval == pytest.approx((-6 - half, -6 + half))
    # Between the table's 4.303 (2) and 3.182 (3).
    assert 3.182 < student.quantile(0.975, 50 / 17) < 4.303


def test_too_few_and_no_variation_have_no_interval() -> None:
    assert (inference.mean([1.0, 2.0], "m").interval, inference.mean([1.0, 2.0], "m").note) == (None, "fewer than 3")
    same = inference.mean([2.0] * 5, "m")
    assert (same.value, same.interval, same.p, same.note) == (2, None, None, "no variation seen")
    assert inference.welch([1.0] * 4, [2.0] * 4, "w").note == "no variation seen"
    assert inference.welch([1.0] * 4, [2.0, 2.5, 2.1], "w").interval is not None
    assert inference.median_ratio([1.0, 2.0] * 4, [1.0, 3.0] * 8, 0, "m") is None
    assert inference.median_ratio([2.0] * 10, [1.0] * 10, 0, "m") is None


def rows(by_wording: dict[int, list[float]], *, cut: bool = False) -> list[Observation]:
    return [Observation(wording, cost, cut) for wording, values in by_wording.items() for cost in values]


def test_three_wordings_are_the_unit_and_fewer_are_not() -> None:
    # Ratios 2, 4, 8 of the wordings; log₂ mean 2, deviation 1.
    attack = rows({0: [2.0, 2.0], 1: [12.0], 2: [4.0, 16.0], 9: [1e9]})
    task = rows({0: [1.0], 1: [3.0, 3.0], 2: [1.0], 3: [1e-9]})
    found = inference.log_ratio(attack, task)
    assert found is not None
    assert (found.n, found.method) == (3, "paired t on log cost")
    assert math.exp(found.value) == pytest.approx(4)
    assert found.interval is not None
    assert math.log2(math.exp(found.interval.upper or 0)) == pytest.approx(2 + 4.302652730 / math.sqrt(3))
    two = inference.log_ratio(rows({0: [2.0, 3.0], 1: [2.5]}), rows({0: [1.0, 1.5], 1: [1.2]}))
    assert two is not None
    assert (two.n, two.method) == (3, "Welch t on log cost")
    assert inference.log_ratio(rows({0: [2.0]}), rows({1: [1.0]})) is None


def test_a_cut_side_is_not_bounded() -> None:
    task = {0: [1.0], 1: [1.1], 2: [1.3]}
    attack = {0: [9.0], 1: [10.0], 2: [14.0]}
    whole = inference.log_ratio(rows(attack), rows(task))
    above = inference.log_ratio(rows(attack, cut=True), rows(task))
    below = inference.log_ratio(rows(attack), rows(task, cut=True))
    both = inference.log_ratio(rows(attack, cut=True), rows(task, cut=True))
    assert whole and above and below and both
    assert whole.interval and above.interval and below.interval
    assert above.interval == Interval(whole.interval.lower, None)
    assert below.interval == Interval(None, whole.interval.upper)
    assert (both.interval, both.note) == (None, "cut on both sides")
    assert above.p is None


def test_mcnemar_by_hand() -> None:
    # 5 pairs differ, all one way: 2 × (1/2)⁵. 1 against 5: 2 × (1 + 6)/64.
    assert inference.mcnemar(5, 0) == 0.0625
    assert inference.mcnemar(1, 5) == inference.mcnemar(5, 1) == 14 / 64
    assert inference.mcnemar(3, 3) == 1
    assert inference.mcnemar(0, 0) == 1


def test_holm_by_hand() -> None:
    # 0.01 × 4, 0.02 × 3, 0.03 × 2 (raised to the one before), 0.5 × 1.
    assert inference.holm([0.5, 0.01, None, 0.03, 0.02]) == pytest.approx([0.5, 0.04, None, 0.06, 0.06])
    assert inference.holm([0.9, 0.8]) == [1.0, 1.0]
    assert inference.holm([]) == []


def test_newcombe_without_correlation_is_square_and_add() -> None:
    # 50 of 100 and 50 of 100, independent: each Wilson half-width h, so ± h√2.
    found = inference.paired_proportions(25, 25, 25, 25)
    low, high = metrics.wilson(50, 100)
    assert found.difference == 0
    assert found.interval == pytest.approx((-(0.5 - low) * math.sqrt(2), (high - 0.5) * math.sqrt(2)))
    assert found.p == 1


@given(*[st.integers(min_value=0, max_value=30)] * 4)
def test_the_interval_of_paired_proportions_holds_the_difference(a: int, b: int, c: int, d: int) -> None:
    if a + b + c + d:
        found = inference.paired_proportions(a, b, c, d)
        assert -1 <= found.interval.lower <= found.difference <= found.interval.upper <= 1
        mirrored = inference.paired_proportions(a, c, b, d)
        assert mirrored.interval == pytest.approx((-found.interval.upper, -found.interval.lower))


@given(costs, costs)
def test_intervals_hold_the_estimate_in_any_order(first: list[float], second: list[float]) -> None:
    for found in (inference.mean(first, "m"), inference.welch(first, second, "w")):
        if found.interval is not None:
            assert found.interval.lower <= found.value <= found.interval.upper
    assert inference.mean(first, "m") == inference.mean(first[::-1], "m")
    assert inference.welch(first, second, "w") == inference.welch(first[::-1], second[::-1], "w")


def test_bootstraps_are_seeded_and_named() -> None:
    clusters = [(0, 5), (5, 5), (3, 4), (1, 5), (4, 4)]
    first = inference.clustered_rate(clusters, 7, "a")
    assert first == inference.clustered_rate(clusters[::-1], 7, "a")
    assert first is not None
    assert 0 <= (first.lower or 0) <= 13 / 23 <= (first.upper or 0) <= 1
    assert {inference.clustered_rate(clusters, seed, name) for seed in (7, 8) for name in "ab"} != {first}
    values = [float(n) for n in range(1, 14)]
    found = inference.median_ratio(values, values, 3, "m")
    assert found == inference.median_ratio(values[::-1], values, 3, "m")
    assert found is not None
    assert (found.lower or 0) < 1 < (found.upper or 0)


def test_without_success_the_upper_bound_is_that_of_the_protocol() -> None:
    assert [round(metrics.wilson(0, n)[1], 2) for n in (5, 10, 20, 30)] == [0.43, 0.28, 0.16, 0.11]


@pytest.mark.parametrize("case", CASES)
def test_the_intervals_hold_the_truth_as_often_as_they_say(case: tuple[int, int, float, float, float]) -> None:
    assert coverage(case, 400)[0] >= 0.92
