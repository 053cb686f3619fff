"""The price table."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from dowbench_benchmark import prices
from dowbench_benchmark.model import Usage
from dowbench_benchmark.providers.mock import PROFILES
from dowbench_benchmark.recorded import Recorded

from dowbench.errors import DowbenchError

if TYPE_CHECKING:
    from pathlib import Path

ROW = (
    "- {provider: p, model: m, input_per_mtok: 1, output_per_mtok: 2, cache_read_per_mtok: 0.5, "
    "cache_write_per_mtok: 1.25, source: 'https://example.org', retrieved: 2026-01-31, max_prompt_tokens: 1000}"
)
OTHER_NAMES = {"gemini": "google"}


def load(tmp_path: Path, rows: str) -> prices.Table:
    path = tmp_path / "p.yaml"
    path.write_text("prices:\n" + rows + "\n")
    return prices.load(path)


def test_the_shipped_table_agrees_with_genai_prices() -> None:
    genai = pytest.importorskip("genai_prices")
    table = prices.load()
    real = [price for price in table.values() if not price.simulated]
    assert len(real) >= 15
    for price in real:
        for counted, rate in (
            ({"input_tokens": 1000}, price.input_per_mtok),
            ({"output_tokens": 1000}, price.output_per_mtok),
            ({"input_tokens": 1000, "cache_read_tokens": 1000}, price.cache_read_per_mtok),
            ({"input_tokens": 1000, "cache_write_tokens": 1000}, price.cache_write_per_mtok),
        ):
            if price.provider == "gemini" and "cache_write_tokens" in counted:
                assert rate == 0  # implicit caching is not billed by the token
                continue
            found = genai.calc_price(
                genai.Usage(**counted), price.model, provider_id=OTHER_NAMES.get(price.provider, price.provider)
            )
            assert found.total_price * 1000 == Decimal(str(rate)), (price.model, counted)


def test_simulated_prices_are_the_mocks_alone() -> None:
    simulated = {(price.provider, price.model) for price in prices.load().values() if price.simulated}
    assert simulated == {("mock", model) for model in PROFILES}


def test_cost_in_usd_and_exactly() -> None:
    price = prices.Price("p", "m", 0.37, 2.83, 0.031, 0.467, "https://example.org", "2026-01-31")
    usage = Usage(input_tokens=13, output_tokens=7, reasoning_tokens=5, cache_read_tokens=11, cache_write_tokens=3)
    exact = Decimal("0.37") * 13 + Decimal("2.83") * 12 + Decimal("0.031") * 11 + Decimal("0.467") * 3
    assert price.amount(usage) == exact * 10**12
    assert price.usd(usage) == pytest.approx(float(exact) / 1e6, rel=1e-15)
    assert price.highest == int(Decimal("2.83") * 10**12)
    assert price.worst(100, 10) == int((Decimal("0.467") * 100 + Decimal("2.83") * 10) * 10**12)


def test_a_price_survives_its_record(tmp_path: Path) -> None:
    table = load(tmp_path, ROW)
    assert prices.table(Recorded([price.record() for price in table.values()], "run.json")) == table


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROW + "\n" + ROW, "p/m has a price already"),
        (ROW.replace("'https://example.org'", "'http://example.org'"), "expected an https URL"),
        (ROW.replace("'https://example.org'", "simulated"), "expected 'simulated' for simulated prices"),
        (ROW.replace("2026-01-31", "last week"), "expected a date"),
        (ROW.replace(", max_prompt_tokens: 1000", ""), "'max_prompt_tokens' is missing"),
        (ROW.replace("input_per_mtok: 1,", "input_per_mtok: -1,"), "from 0 to "),
        (ROW.replace("input_per_mtok: 1,", "input_per_mtok: .nan,"), "finite"),
        (ROW.replace("input_per_mtok: 1,", ""), "'input_per_mtok' is missing"),
        (ROW.replace("model: m,", "model: m, rate: 3,"), "rate: unknown key"),
    ],
)
def test_what_a_price_may_not_be(tmp_path: Path, rows: str, message: str) -> None:
    with pytest.raises(DowbenchError, match=message) as error:
        load(tmp_path, rows)
    assert error.value.line in (2, 3)


def test_a_missing_price_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(DowbenchError, match=r"no price for p/x in pricing.yaml \(priced for p: m\)"):
        prices.find(load(tmp_path, ROW), "p", "x")
