"""The budget of a run: what is billed never passes it, with any number of calls in flight.

Before a call its worst case is reserved, afterwards the reservation is settled with what was billed. A reservation that
does not fit waits while others are in flight, since theirs may come out cheaper, and otherwise ends the run.
"""

from __future__ import annotations

import threading
from decimal import ROUND_FLOOR, Decimal, InvalidOperation
from typing import TYPE_CHECKING

from dowbench.errors import UsageError
from dowbench_benchmark.ledger import Spend
from dowbench_benchmark.loop import Halt
from dowbench_benchmark.prices import UNIT

if TYPE_CHECKING:
    from collections.abc import Callable


MOST_USD = 10**9


class BudgetReached(Halt):
    """The next call might pass the budget."""


def parse_usd(text: str) -> int:
    """An amount in USD as units of 1e-18 USD. Raises ``UsageError`` for anything but a finite number ≥ 0."""
    try:
        amount = Decimal(text.strip())
    except InvalidOperation:
        raise UsageError(f"expected an amount in USD such as 2.50, found {text[:40]!r}") from None
    if not amount.is_finite() or amount < 0 or amount > MOST_USD:
        raise UsageError(f"expected an amount from 0 to {MOST_USD:,} USD, found {text[:40]!r}")
    return int((amount * UNIT).to_integral_value(ROUND_FLOOR))


def show_usd(attousd: int) -> str:
    """An amount for people: four decimals, or two significant digits where that would print zero."""
    value = attousd / UNIT
    return f"${value:,.4f}" if value == 0 or value >= 0.00005 else f"${value:.2g}"


def exact_usd(attousd: int) -> str:
    """An amount with all its decimals, at least four."""
    whole, rest = divmod(attousd, UNIT)
    return f"${whole:,}.{f'{rest:018}'.rstrip('0'):0<4}"


class Budget:
    """Thread-safe. ``attousd`` (units of 1e-18 USD) and ``tokens`` are the limits, ``None`` for none.

    ``spent`` is what was billed before.
    """

    def __init__(self, *, attousd: int | None = None, tokens: int | None = None, spent: Spend | None = None) -> None:
        self.attousd = attousd
        self.tokens = tokens
        self._spent = spent or Spend()
        self._reserved = Spend()
        self._outstanding = 0
        self._changed = threading.Condition()

    @property
    def spent(self) -> Spend:
        """Billed so far; calls in flight are not in it."""
        with self._changed:
            return self._spent

    def fits(self, amount: Spend) -> bool:
        """Whether ``amount`` more could be spent, if nothing else were in flight."""
        return self._fits(self.spent + amount)

    def reserve(self, amount: Spend, stopped: Callable[[], bool] = lambda: False) -> None:
        """Set ``amount`` aside. Raises ``BudgetReached`` where it does not fit and nothing in flight could free it."""
        with self._changed:
            while not self._fits(self._spent + self._reserved + amount):
                if not self._outstanding or not self._fits(self._spent + amount) or stopped():
                    raise BudgetReached(self._refusal(amount))
                self._changed.wait(0.1)
            self._reserved += amount
            self._outstanding += 1

    def settle(self, reserved: Spend, billed: Spend) -> None:
        """Replace a reservation by what was billed."""
        with self._changed:
            self._reserved -= reserved
            self._outstanding -= 1
            self._spent += billed
            self._changed.notify_all()

    def _fits(self, total: Spend) -> bool:
        return (self.attousd is None or total.attousd <= self.attousd) and (
            self.tokens is None or total.tokens <= self.tokens
        )

    def _refusal(self, amount: Spend) -> str:
        if self.attousd is not None and self._spent.attousd + amount.attousd > self.attousd:
            return (
                f"budget of {exact_usd(self.attousd)} reached: {exact_usd(self._spent.attousd)} spent, "
                f"the next call could cost {exact_usd(amount.attousd)}"
            )
        return (
            f"budget of {self.tokens:,} tokens reached: {self._spent.tokens:,} spent, "
            f"the next call could need {amount.tokens:,}"
        )
