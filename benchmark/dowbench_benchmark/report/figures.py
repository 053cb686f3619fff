"""Figures as text. What is unknown is called that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

UNKNOWN = "unknown"


def number(value: float | None) -> str:
    """Three significant digits, whole from 100 on."""
    if value is None:
        return UNKNOWN
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.{2 if abs(value) < 9.995 else 1}f}"


def percent(value: float | None, *, signed: bool = False) -> str:
    """A share of one."""
    if value is None:
        return UNKNOWN
    text = f"{value * 100:+.1f}" if signed else f"{value * 100:.0f}"
    return f"{'0.0' if text == '-0.0' else text} %"


def change(ratio: float | None) -> str:
    """A ratio as what it changes: 0.34 is −66 %."""
    return UNKNOWN if ratio is None else percent(ratio - 1, signed=True).replace("-", "−")


def interval(bounds: Sequence[float | None] | None, form: Any = number, otherwise: str = UNKNOWN) -> str:
    """Both ends, or the one that is known."""
    if bounds is None or (bounds[0] is None and bounds[1] is None):
        return otherwise
    lower, upper = bounds
    if upper is None:
        return f"≥ {form(lower)}"
    return f"≤ {form(upper)}" if lower is None else f"{form(lower)} to {form(upper)}"


def amplification(figure: Mapping[str, Any]) -> str:
    """The median A, as a bound where what was cut decides it; unknown where both sides were."""
    if figure["median"] is None:
        return UNKNOWN
    return bounded(
        number(figure["median"]), at_least=figure["median_is_lower_bound"], at_most=figure["median_is_upper_bound"]
    )


def bounded(text: str, *, at_least: bool, at_most: bool) -> str:
    """A figure that may be larger (``at_least``) or smaller (``at_most``) than ``text``."""
    if at_least and at_most:
        return UNKNOWN
    return f"{'≥ ' if at_least else '≤ ' if at_most else ''}{text}"


def ratio_interval(ratio: Mapping[str, Any], form: Any = number) -> str:
    """The interval of a ratio, or why there is none."""
    return interval(ratio["interval"], form, f"none: {ratio['note']}" if ratio["note"] else UNKNOWN)


def p_value(value: float | None) -> str:
    """A p value that never pretends to be zero."""
    if value is None:
        return UNKNOWN
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def counted(n: int, noun: str) -> str:
    """``1 episode``, ``2 episodes``."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
