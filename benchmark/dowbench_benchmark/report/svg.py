"""The pieces that plots are drawn with: escaped SVG elements, scales with round ticks, and text that fits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from dowbench.report.escape import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 360
"""Of every plot, in its own units: a phone shows them as pixels."""
_CHARACTER = 7.3
"""Width of an average character of the plots' 12 unit text, generously."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps values to places along an axis."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The place of ``value``; what lies beyond an end is drawn at that end."""
        low, high, at = (
            (math.log(v) for v in (self.low, self.high, max(value, 1e-12)))
            if self.log
            else (
                self.low,
                self.high,
                value,
            )
        )
        share = min(1.0, max(0.0, (at - low) / (high - low)))
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int) -> list[float]:
        """Round values within the ends, at most about ``most``."""
        if self.log:
            low, high = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
            for steps in ((1, 2, 5), (1,)):
                found = [s * 10.0**e for e in range(low, high + 1) for s in steps]
                found = [value for value in found if self.low <= value <= self.high]
                if len(found) <= most:
                    break
            return found[:: max(1, math.ceil(len(found) / most))]
        step = round_step((self.high - self.low) / most)
        first = math.ceil(self.low / step - 1e-9)
        return [n * step for n in range(first, math.floor(self.high / step + 1e-9) + 1)]


def round_step(least: float) -> float:
    """The smallest of 1, 2, 5 × 10ⁿ that is at least ``least``, above 0."""
    power: float = 10.0 ** math.floor(math.log10(least))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least * (1 - 1e-9))


def log_scale(values: Sequence[float], start: float, end: float) -> Scale:
    """A logarithmic scale around ``values``, all above 0."""
    return Scale(min(values) / 1.15, max(values) * 1.15, start, end, log=True)


def element(name: str, content: str = "", /, **attributes: object) -> str:
    """An element; ``_`` in attribute names is a hyphen, at the end it is dropped (``class_``)."""
    pairs = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_plain(value))}"' for key, value in attributes.items()
    )
    return f"<{name}{pairs}>{content}</{name}>" if content else f"<{name}{pairs}/>"


def text(words: str, x: float, y: float, anchor: str = "start", class_: str = "t", room: float | None = None) -> str:
    """Escaped text, cut to ``room`` units with an ellipsis."""
    return element("text", escape(fitted(visible(words), room)), x=x, y=y, text_anchor=anchor, class_=class_)


def fitted(words: str, room: float | None) -> str:
    """``words`` cut to what ``room`` units hold."""
    most = len(words) if room is None else max(1, int(room / _CHARACTER))
    return words if len(words) <= most else words[: most - 1] + "…"


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> str:
    """A line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def path(points: Sequence[tuple[float, float]], class_: str, *, closed: bool = False) -> str:
    """A path through ``points``."""
    steps = " ".join(f"{'L' if place else 'M'}{_plain(x)} {_plain(y)}" for place, (x, y) in enumerate(points))
    return element("path", d=steps + ("Z" if closed else ""), class_=class_)


def disc(x: float, y: float, class_: str) -> str:
    """A filled circle: a measured attack."""
    return element("circle", cx=x, cy=y, r=4.5, class_=class_)


def square(x: float, y: float, class_: str) -> str:
    """A hollow square: a control."""
    return element("rect", x=x - 4, y=y - 4, width=8, height=8, class_=class_)


def pointer(x: float, y: float, class_: str, *, left: bool = False) -> str:
    """A triangle that points right, a lower bound, or left, an upper one."""
    to = -1 if left else 1
    return path([(x - 4 * to, y - 5.5), (x + 6 * to, y), (x - 4 * to, y + 5.5)], class_, closed=True)


def cross(x: float, y: float, class_: str) -> str:
    """A cross: a task without an attack."""
    return element("path", d=f"M{_plain(x - 4)} {_plain(y - 4)}l8 8m0 -8l-8 8", class_=class_)


def whisker(low: float, high: float, y: float, class_: str, *, ends: tuple[bool, bool] = (True, True)) -> str:
    """An interval with a bar at each closed end, and none at an open one."""
    bars = [line(x, y - 4, x, y + 4, class_) for x, closed in zip((low, high), ends, strict=True) if closed]
    return line(low, y, high, y, class_) + "".join(bars)


def figure(identity: str, height: float, title: str, description: str, body: str, stamp: str | None) -> str:
    """A whole plot. ``stamp`` (SIMULATED) is drawn into it, so that a cut-out keeps it."""
    mark = "" if stamp is None else text(stamp, WIDTH - 4, height - 4, "end", "stamp")
    return element(
        "svg",
        element("title", escape(visible(title)), id=f"{identity}-t")
        + element("desc", escape(visible(description)), id=f"{identity}-d")
        + body
        + mark,
        viewBox=f"0 0 {WIDTH} {_plain(height)}",
        role="img",
        aria_labelledby=f"{identity}-t",
        aria_describedby=f"{identity}-d",
    )


def _plain(value: object) -> str:
    return f"{round(value, 2):g}" if isinstance(value, float) else str(value)
