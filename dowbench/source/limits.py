"""How much of a stranger's file is read before it is refused."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """Bounds that no honest file meets. Each ends in a located ``SourceError`` that names the limit."""

    bytes: int = 128 * 1024 * 1024
    """Size of a file."""
    nesting: int = 200
    """Objects, arrays, mappings and sequences inside each other."""
    nodes: int = 10_000_000
    """Values in a file, as written."""
    aliases: int = 500_000
    """YAML: values that aliases and merge keys add to what is written."""
    tools: int = 100_000
    """Tools in a document."""
    parameters: int = 50_000
    """Parameters of one tool, properties of one object and branches of one union in a schema."""
    text: int = 1_000_000
    """Characters of all descriptions of one tool."""
    seconds: float = 60.0
    """Time spent on one file."""


DEFAULT_LIMITS = Limits()
