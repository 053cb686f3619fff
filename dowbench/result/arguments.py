"""What a docstring in a tool's description says of its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowbench.patterns import Patterns
from dowbench.words import split

if TYPE_CHECKING:
    from collections.abc import Mapping

_PATTERNS = Patterns(
    argument=(
        r"[ \t]*(?:[-*•+][ \t]+)?[`*\"']*(?P<name>[A-Za-z_][\w.]*)[`*\"']*[ \t]*"
        r"(?:\([^)]{0,80}\)|\[[^\]]{0,80}\])?[ \t]*(?::|–|—|[ \t]-[ \t])[ \t]*(?P<text>\S.*)?$"
    ),
    command=(
        r"[ \t]*(?:[-*•][ \t]+)?[`'\"*]*(?-i:([a-z][a-z_-]+))[`'\"*]*(?:[ \t]+[<\[(][^>\])]*[>\])])*"
        r"[ \t]*[-–—:=][ \t]"
    ),
)
_COMMANDS = frozenset(("commands", "subcommands", "actions", "operations", "modes"))


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


def listed_commands(description: str) -> list[str]:
    """The commands that a description lists below such a heading, a line each: "  view <path>  - read a note"."""
    lines = iter(description.splitlines() if "s:\n" in description else ())
    for line in lines:
        if line.endswith("s:") and not _COMMANDS.isdisjoint(split(line)):
            break
    found: list[str] = []
    for line in lines:
        command = _PATTERNS.command.match(line)
        if command is not None:
            found.append(command[1])
        elif line.strip() and not line.startswith((" ", "\t")):
            break
    return found if len(found) > 1 else []
