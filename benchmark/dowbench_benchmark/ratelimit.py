"""The provider's rate limits: a sliding minute of requests and prompt tokens, and a count a day.

A limit that is met by waiting is waited for. The daily one ends the run, which resumes on another day.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from dowbench_benchmark.loop import Halt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dowbench_benchmark.config import RateLimit
    from dowbench_benchmark.ledger import Sent

WINDOW_S = 60.0


class DailyLimitReached(Halt):
    """No more requests today."""


class Limiter:
    """Thread-safe. ``earlier`` are the requests of former runs in the same directory, which count too."""

    def __init__(
        self,
        limit: RateLimit,
        earlier: Iterable[Sent] = (),
        *,
        now: Callable[[], float] = time.time,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self.limit = limit
        self._now = now
        self._wait = wait
        self._lock = threading.Lock()
        self._window: deque[tuple[float, int]] = deque()
        self._day = ""
        self._today = 0
        times = [(datetime.fromisoformat(sent.at).timestamp(), sent.counted) for sent in earlier if sent.at is not None]
        for at, counted in sorted(times):
            # A clock that was wrong then must not be waited for.
            self._note(min(at, now()), counted)

    def acquire(self, tokens: int) -> float:
        """Wait until a request with ``tokens`` prompt tokens may be sent, and count it. Returns its time (Unix).

        Raises ``DailyLimitReached``. A request that alone is above ``tpm`` is let through on an empty window.
        """
        while True:
            with self._lock:
                now = self._now()
                if self.limit.rpd is not None and self._day == self._date(now) and self._today >= self.limit.rpd:
                    raise DailyLimitReached(
                        f"daily limit of {self.limit.rpd} requests reached; it is counted anew at midnight "
                        f"{self.limit.timezone}"
                    )
                delay = self._delay(now, tokens)
                if delay <= 0:
                    self._note(now, tokens)
                    return now
            self._wait(delay)

    def _delay(self, now: float, tokens: int) -> float:
        while self._window and self._window[0][0] <= now - WINDOW_S:
            self._window.popleft()
        if not self._window:
            return 0.0
        used = sum(count for _, count in self._window)
        requests = len(self._window)
        for at, count in self._window:
            fits = (self.limit.rpm is None or requests < self.limit.rpm) and (
                self.limit.tpm is None or used + tokens <= self.limit.tpm
            )
            if fits:
                break
            requests -= 1
            used -= count
            free_at = at + WINDOW_S
        else:
            return free_at - now
        return 0.0 if requests == len(self._window) else free_at - now

    def _note(self, at: float, tokens: int) -> None:
        self._window.append((at, tokens))
        day = self._date(at)
        if day != self._day:
            self._day, self._today = day, 0
        self._today += 1

    def _date(self, at: float) -> str:
        if self.limit.timezone == "UTC":
            return datetime.fromtimestamp(at, UTC).date().isoformat()
        import zoneinfo

        return datetime.fromtimestamp(at, zoneinfo.ZoneInfo(self.limit.timezone)).date().isoformat()
