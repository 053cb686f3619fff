"""The generated page on attacks and defenses is the one that is committed."""

from __future__ import annotations

from pathlib import Path

from dowbench_benchmark import catalogue
from dowbench_benchmark.attacks import load_attacks
from dowbench_benchmark.defenses import DEFENSES

PAGE = Path(__file__).parents[2] / "docs" / "benchmark-attacks.md"


def test_the_page_is_up_to_date() -> None:
    """``make docs`` writes it."""
    assert PAGE.read_text(encoding="utf-8") == catalogue.page()


def test_the_page_names_everything() -> None:
    text = catalogue.page()
    for name in (*load_attacks(), *DEFENSES):
        assert f"| `{name}`" in text, name
