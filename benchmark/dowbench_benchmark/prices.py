"""The dated price table. Rates are USD per million tokens.

Sums that decide about money are whole numbers of 1e-18 USD and exact (``Price.amount``); recorded costs are floats,
computed as dowbench 0.1.0 did (``Price.usd``), so that its runs can be recomputed to the bit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from dowbench.errors import UsageError
from dowbench_benchmark.located import Node, read_yaml
from dowbench_benchmark.packagedata import data_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from dowbench_benchmark.model import Usage

RATES = ("input_per_mtok", "output_per_mtok", "cache_read_per_mtok", "cache_write_per_mtok")
Table = dict[tuple[str, str], "Price"]
"""(provider, model) to price."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a model's tokens cost. Reasoning is billed at the output rate."""

    provider: str
    model: str
    input_per_mtok: float
    output_per_mtok: float
    cache_read_per_mtok: float
    cache_write_per_mtok: float
    source: str
    """https URL of what the rates were read from; ``simulated`` for the mock."""
    retrieved: str
    """Date of reading, ISO 8601."""
    max_prompt_tokens: int | None = None
    """Upper edge of the tier that the rates hold for; ``None`` only for simulated prices."""
    simulated: bool = False

    @property
    def rates(self) -> tuple[float, ...]:
        """Input, output, cache read and cache write."""
        return tuple(getattr(self, rate) for rate in RATES)

    @property
    def highest(self) -> int:
        """The dearest rate a token can have, in units of 1e-18 USD, exact."""
        return max(exact(rate) for rate in self.rates)

    def usd(self, usage: Usage) -> float:
        """Cost of ``usage`` in USD."""
        return (
            usage.input_tokens * self.input_per_mtok
            + (usage.output_tokens + usage.reasoning_tokens) * self.output_per_mtok
            + usage.cache_read_tokens * self.cache_read_per_mtok
            + usage.cache_write_tokens * self.cache_write_per_mtok
        ) / 1_000_000

    def amount(self, usage: Usage) -> int:
        """Cost of ``usage`` in units of 1e-18 USD, exact."""
        return (
            usage.input_tokens * exact(self.input_per_mtok)
            + (usage.output_tokens + usage.reasoning_tokens) * exact(self.output_per_mtok)
            + usage.cache_read_tokens * exact(self.cache_read_per_mtok)
            + usage.cache_write_tokens * exact(self.cache_write_per_mtok)
        )

    def worst(self, prompt_tokens: int, max_tokens: int) -> int:
        """The most a call can cost, in units of 1e-18 USD: prompt at its dearest rate, ``max_tokens`` of output."""
        prompt = max(exact(self.input_per_mtok), exact(self.cache_read_per_mtok), exact(self.cache_write_per_mtok))
        return prompt_tokens * prompt + max_tokens * exact(self.output_per_mtok)

    def record(self) -> dict[str, Any]:
        """As JSON, for ``run.json``."""
        return {
            "provider": self.provider,
            "model": self.model,
            **{rate: getattr(self, rate) for rate in RATES},
            "source": self.source,
            "retrieved": self.retrieved,
            "max_prompt_tokens": self.max_prompt_tokens,
            "simulated": self.simulated,
        }


UNIT = 10**18
"""Exact money is a whole number of these in one USD."""
_DECIMALS = 12
_EXACT: dict[float, int] = {}


def exact(rate: float) -> int:
    """A rate in USD per million tokens as units of 1e-18 USD per token, read as the decimal that is written."""
    found = _EXACT.get(rate)
    if found is None:
        found = _EXACT[rate] = int(Decimal(repr(rate)).scaleb(_DECIMALS))
    return found


def load(path: Path | None = None) -> Table:
    """The price table, by default the shipped one. Raises a located error for a file that is wrong."""
    source = path or data_file("pricing.yaml")
    root = read_yaml(source, shown=str(path) if path else "pricing.yaml")
    return table(root.mapping(("prices",))["prices"])


def table(rows: Node) -> Table:
    """A list of prices, as ``pricing.yaml`` has it or as ``Price.record`` made it. Raises a located error."""
    found: Table = {}
    for node in rows.items():
        price = _price(node)
        if (price.provider, price.model) in found:
            node.fail(f"{price.provider}/{price.model} has a price already")
        found[price.provider, price.model] = price
    return found


def find(table: Table, provider: str, model: str, where: str = "pricing.yaml") -> Price:
    """The price of a model. Raises ``UsageError`` naming what is there."""
    price = table.get((provider, model))
    if price is None:
        known = ", ".join(sorted(model for name, model in table if name == provider)) or "none"
        raise UsageError(
            f"no price for {provider}/{model} in {where} (priced for {provider}: {known}); "
            "add it, give --prices FILE, or set 'unpriced: true' to measure tokens"
        )
    return price


def changes(used: Iterable[Price], today: Table) -> list[str]:
    """What to say where the prices in use are not those of today's table."""
    return [
        f"{price.provider}/{price.model}: today's price table has other rates than were recorded"
        for price in used
        if (other := today.get((price.provider, price.model))) is not None and other.rates != price.rates
    ]


def _price(node: Node) -> Price:
    entries = node.mapping(
        ("provider", "model", *RATES, "source", "retrieved"), ("max_prompt_tokens", "simulated", "note")
    )
    simulated = entries["simulated"].boolean() if "simulated" in entries else False
    source = entries["source"].text()
    if simulated != (source == "simulated"):
        entries["source"].fail("expected 'simulated' for simulated prices and for these alone")
    if not simulated and not source.startswith("https://"):
        entries["source"].fail(f"expected an https URL, found {source!r}")
    rates = {rate: _rate(entries[rate]) for rate in RATES}
    limit = entries.get("max_prompt_tokens")
    if limit is None and not simulated:
        node.fail("the key 'max_prompt_tokens' is missing: up to how many prompt tokens these rates hold")
    retrieved = entries["retrieved"].text()
    if not re.fullmatch(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", retrieved):
        entries["retrieved"].fail(f"expected a date such as 2026-01-31, found {retrieved!r}")
    return Price(
        provider=entries["provider"].text(),
        model=entries["model"].text(),
        **rates,
        source=source,
        retrieved=retrieved,
        max_prompt_tokens=None if limit is None or (simulated and limit.null) else limit.integer(minimum=1),
        simulated=simulated,
    )


def _rate(node: Node) -> float:
    rate = node.number(minimum=0, maximum=10**6)
    if exact(rate) != Decimal(repr(rate)).scaleb(_DECIMALS):
        node.fail(f"expected a rate with at most {_DECIMALS} decimals, found {rate!r}")
    return rate
