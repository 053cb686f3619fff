"""A pack of one small rule, which tests change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowbench import engine, loaders
from dowbench.rulepack import Settings, load_pack
from dowbench.rulepack.notation import document, tool

if TYPE_CHECKING:
    from pathlib import Path

RULE = """\
id: probe
title: A probe
why: It costs.
severity: medium
confidence: high
family: tool_loop
scope: tool
taxonomy: [CWE-770]
match:
  name: {words: [fetch]}
message: "{tool} was found."
fix: Do something.
tests:
  flagged:
    - reason: the name
      tool: {name: fetch_page}
  not_flagged:
    - reason: another name
      tool: {name: send_mail}
"""


def load(value, format="mcp"):
    return loaders.load(value, path="tools.json", document=0, format=format)


class Probe:
    """Writes rule files into a folder, loads them as a pack, and runs them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, text: str = RULE, name: str = "probe.yaml") -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def rule(self, match: str, **changes: str) -> None:
        """The rule with another ``match`` (one line of YAML), and other or further top-level keys."""
        text = RULE.replace("match:\n  name: {words: [fetch]}", f"match: {match}")
        for key, value in changes.items():
            old = next((line for line in text.splitlines() if line.startswith(f"{key}:")), "message:")
            new = f"{key}: {value}"
            text = text.replace(old, new if old != "message:" else f"{new}\nmessage:", 1)
        self.write(text)

    def pack(self, settings: Settings | None = None):
        return load_pack([self.folder], settings, builtin=False)

    def run(self, *tools: dict, format: str = "mcp", settings: Settings | None = None):
        """The findings of the pack over tools in short form."""
        toolset = load(document([tool(t, ()) for t in tools]))
        if format != "mcp":
            toolset = toolset._replace(format=format)
        run = engine.run(self.pack(settings), toolset)
        assert not run.errors
        return run.findings

    def found(self, *tools: dict, **options) -> list[str | None]:
        """The names of the tools that have findings."""
        return [finding.tool for finding in self.run(*tools, **options)]
