"""What a docstring in a tool's description says of its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowbench.patterns import Patterns

if TYPE_CHECKING:
    from collections.abc import Mapping

_PATTERNS = Patterns(
    argument=(
        r"[ \t]*(?:[-*•+][ \t]+)?[`*\"']*(?P<name>[A-Za-z_][\w.]*)[`*\"']*[ \t]*"
        r"(?:\([^)]{0,80}\)|\[[^\]]{0,80}\])?[ \t]*(?::|–|—|[ \t]-[ \t])[ \t]*(?P<text>\S.*)?$"
    ),
)


def argument_texts(description: str) -> Mapping[str, str]:
    """What a docstring says of its arguments ("limit (int): Maximum results (1-50)"), by name."""
    if "\n" not in description or ":" not in description:
        return {}
    pattern = _PATTERNS.argument
    found: dict[str, str] = {}
    name, depth = "", 0
    for line in description.splitlines():
        match = pattern.match(line)
        indent = len(line) - len(line.lstrip())
        if match and match["name"] not in found:
            name, depth = match["name"], indent
            found[name] = match["text"] or ""
        elif match:
            name = ""
        elif name and line.strip() and indent > depth:
            found[name] = f"{found[name]} {line.strip()}".strip()
        else:
            name = ""
    return found
