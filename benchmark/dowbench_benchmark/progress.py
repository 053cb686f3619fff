"""Progress of a run: one line that moves on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TextIO

from dowbench_benchmark.budget import show_usd

if TYPE_CHECKING:
    from collections.abc import Callable

    from dowbench_benchmark.runner import Progress

TERMINAL_S = 0.2
PLAIN_S = 30.0


class Meter:
    """Prints a run's progress to ``stream``. Call it as often as you like."""

    def __init__(
        self,
        stream: TextIO,
        *,
        unpriced: bool,
        plain: bool,
        simulated: bool = False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._unpriced = unpriced
        self._simulated = simulated
        self._plain = plain
        self._now = now
        self._started = now()
        self._shown_at: float | None = None
        self._width = 0

    def __call__(self, progress: Progress) -> None:
        now = self._now()
        if self._shown_at is None:
            self._shown_at = now
            return
        if now - self._shown_at >= (PLAIN_S if self._plain else TERMINAL_S):
            self._shown_at = now
            self._show(self.text(progress))

    def finish(self) -> None:
        """Leave the line."""
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0

    def text(self, progress: Progress) -> str:
        """What is shown: episodes, rate, spend, budget left, time to go."""
        done, elapsed = progress.done - progress.begun, self._now() - self._started
        parts = ["SIMULATED"] if self._simulated else []
        parts.append(f"{progress.done}/{progress.planned} episodes")
        if progress.errored:
            parts.append(f"{progress.errored} errored")
        if progress.failed:
            parts.append(f"{progress.failed} to run again")
        if done and elapsed > 0:
            rate = done / elapsed
            parts.append(f"{rate:.1f}/s" if rate >= 1 else f"{rate * 60:.1f}/min")
        limits, spent = progress.limits, progress.spent
        if self._unpriced:
            parts.append(f"{spent.tokens:,} tokens")
            if limits.tokens is not None:
                parts.append(f"{max(0, limits.tokens - spent.tokens):,} left")
        else:
            parts.append(f"{show_usd(spent.attousd)} spent")
            if limits.attousd is not None:
                parts.append(f"{show_usd(max(0, limits.attousd - spent.attousd))} left")
        if done and elapsed > 0 and progress.planned > progress.done:
            parts.append(f"{duration((progress.planned - progress.done) * elapsed / done)} to go")
        return " · ".join(parts)

    def _show(self, text: str) -> None:
        if self._plain:
            self._stream.write(text + "\n")
        else:
            self._stream.write("\r" + text.ljust(self._width))
            self._width = max(self._width, len(text))
        self._stream.flush()


def duration(seconds: float) -> str:
    """Seconds for people."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    if seconds < 48 * 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86400:.1f} days"
