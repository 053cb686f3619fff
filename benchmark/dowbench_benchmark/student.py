"""Student's t distribution: its distribution function and its quantiles, with any number of degrees of freedom > 0.

The distribution function is the regularised incomplete beta function (NIST Digital Library of Mathematical Functions,
8.17.22, a continued fraction; evaluated from its end by the modified Lentz method, 3.10(iii) there).
"""

from __future__ import annotations

import math
from functools import lru_cache

_TINY = 1e-300
_PRECISION = 1e-15
_MOST_TERMS = 10_000


def cdf(t: float, df: float) -> float:
    """P(T ≤ t)."""
    if t == 0:
        return 0.5
    square = t * t
    # Each of the two forms of the tail keeps its digits where the other loses them.
    tail = 0.5 * (
        _beta(df / 2, 0.5, df / (df + square)) if square > df else 1 - _beta(0.5, df / 2, square / (df + square))
    )
    return 1 - tail if t > 0 else tail


def two_sided_p(t: float, df: float) -> float:
    """P(|T| ≥ |t|)."""
    return min(1.0, 2 * cdf(-abs(t), df))


@lru_cache(maxsize=4096)
def quantile(p: float, df: float) -> float:
    """The t with P(T ≤ t) = p, for 0 < p < 1."""
    if p == 0.5:
        return 0.0
    if p < 0.5:
        return -quantile(1 - p, df)
    # Above 0 the distribution function is concave, so Newton's steps from 0 rise to the quantile and never pass it.
    t, scale = 0.0, math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - 0.5 * math.log(df * math.pi)
    for _ in range(_MOST_TERMS):
        density = math.exp(scale - (df + 1) / 2 * math.log1p(t * t / df))
        step = (p - cdf(t, df)) / density
        t += step
        if step <= 1e-13 * (1 + t):
            break
    return t


def _beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b)."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    return front * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    """1 / (1 + d₁/(1 + d₂/(1 + …))) of DLMF 8.17.22."""
    value = c = 1.0
    d = 0.0
    for term in range(1, _MOST_TERMS):
        m = term // 2
        if term % 2:
            coefficient = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            coefficient = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 + coefficient * d
        d = 1 / (d if abs(d) > _TINY else _TINY)
        c = 1 + coefficient / c
        c = c if abs(c) > _TINY else _TINY
        value *= c * d
        if abs(c * d - 1) < _PRECISION:
            break
    return 1 / value
