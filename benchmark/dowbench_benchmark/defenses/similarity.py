"""How much two texts are alike, without a model: the Jaccard index of their character n-grams."""

from __future__ import annotations

import re

_LIMIT = 4000
"""Characters that are compared; longer texts are judged by their head."""


def ngrams(text: str, size: int) -> frozenset[str]:
    """The n-grams of a text, without case and with every number and run of blanks made alike."""
    plain = re.sub(r"\s+", " ", re.sub(r"\d+", "0", text[:_LIMIT].lower())).strip()
    if len(plain) <= size:
        return frozenset((plain,)) if plain else frozenset()
    return frozenset(plain[index : index + size] for index in range(len(plain) - size + 1))


def jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """Shared n-grams over all n-grams, 0 to 1; two empty texts are alike."""
    if not left and not right:
        return 1.0
    return len(left & right) / len(left | right)
