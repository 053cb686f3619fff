"""Checks of the parameters of defenses. Each raises ``ValueError`` that names the parameter and what was expected."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any


def whole(name: str, value: Any, minimum: int = 1) -> None:
    """A whole number of at least ``minimum``."""
    if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
        raise ValueError(f"{name}: expected a whole number of at least {minimum}, found {value!r}")


def whole_or_none(name: str, value: Any, minimum: int = 1) -> None:
    """As ``whole``; ``None`` switches the bound off."""
    if value is not None:
        whole(name, value, minimum)


def positive_or_none(name: str, value: Any) -> None:
    """A finite number above 0; ``None`` switches the bound off."""
    if value is None:
        return
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < math.inf:
        raise ValueError(f"{name}: expected a finite number above 0, found {value!r}")


def share(name: str, value: Any) -> None:
    """A number above 0 and up to 1."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 1:
        raise ValueError(f"{name}: expected a number above 0 and up to 1, found {value!r}")


def choice(name: str, value: Any, options: Iterable[str]) -> None:
    """One of ``options``."""
    options = tuple(options)
    if value not in options:
        raise ValueError(f"{name}: expected one of {', '.join(options)}, found {value!r}")


def names(name: str, value: Any) -> tuple[str, ...]:
    """A list of texts, as a tuple."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ValueError(f"{name}: expected a list of names, found {value!r}")
    found = tuple(value)
    for item in found:
        if not isinstance(item, str) or not item:
            raise ValueError(f"{name}: expected a list of names, found {item!r} in it")
    return found


def at_least_one(**values: Any) -> None:
    """Not all bounds may be off: a defense that bounds nothing is a mistake."""
    if all(value is None for value in values.values()):
        raise ValueError(f"expected at least one of {', '.join(values)}")
