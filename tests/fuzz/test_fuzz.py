"""The fuzz target with hypothesis, for a moment; and for ever what it once failed on."""

from __future__ import annotations

from pathlib import Path

import pytest
import target
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SEEDS = Path(__file__).parent / "seeds"
SHORT = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("seed", sorted(SEEDS.iterdir()), ids=lambda path: path.name)
def test_seed(seed: Path) -> None:
    """Files that have failed once, under the names that they had then."""
    target.check(seed.read_bytes(), f"x{seed.suffix}")


@SHORT
@given(st.binary(max_size=200), st.sampled_from(target.NAMES))
def test_bytes(data: bytes, name: str) -> None:
    target.check(data, name)


@SHORT
@given(st.text(max_size=200), st.sampled_from(target.NAMES))
def test_text(text: str, name: str) -> None:
    target.check(text.encode(errors="surrogatepass"), name)


@SHORT
@given(
    st.lists(st.sampled_from([*target.KEYS, *target.TEXTS, *"{}[]:,\"'&*!|>-? \n", "\n  ", ": ", "- "]), max_size=60)
)
def test_pieces(pieces: list[str]) -> None:
    for name in target.NAMES:
        target.check("".join(pieces).encode(errors="surrogatepass"), name)


@SHORT
@given(st.binary(min_size=1, max_size=12))
def test_structured(seed: bytes) -> None:
    target.check(*target.structured(seed))
