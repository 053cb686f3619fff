"""What many tests need: a folder to work in, the command line as a function, tools that rules fire on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dowbench import cli

ROOT = Path(__file__).resolve().parent.parent
PROBE = ROOT / "tests" / "probe"
PROBES = ("--rules", str(PROBE), "--select", "probe-tool,probe-parameter,probe-set")
"""Arguments for a scan with the rules of ``tests/probe`` and no others."""

SEARCH = {
    "name": "web_search",
    "description": "Search the web and return the matching pages with their full text.",
    "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}
BOUNDED = {
    "name": "get_time",
    "description": "Return the current time in UTC.",
    "inputSchema": {"type": "object", "properties": {}},
}
"""Tools on which a rule of the pack fires, and on which none does."""


@dataclass(frozen=True)
class Run:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def found(self) -> list[tuple[str, str, str | None, str | None]]:
        """(rule, place, tool, parameter) of each finding of a JSON report."""
        return [(f["rule"], f"{f['path']}:{f['line']}", f["tool"], f["parameter"]) for f in self.json["findings"]]


def paths(run: Run) -> list[str]:
    """The files that a JSON report says were scanned."""
    return [file["path"] for file in run.json["files"]]


def reasons(run: Run) -> dict[str, str]:
    """Why files were skipped, by their paths."""
    return {note["path"]: note["reason"] for note in run.json["skipped"]}


def errors(run: Run) -> dict[str, str]:
    """What could not be scanned, and why."""
    return {note["path"]: note["message"] for note in run.json["errors"]}


Dowbench = Callable[..., Run]


@pytest.fixture
def dowbench(capsys: pytest.CaptureFixture[str]) -> Dowbench:
    """Runs the command line in this process."""

    def run(*arguments: str) -> Run:
        capsys.readouterr()
        code = cli.run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Run(code, captured.out, captured.err)

    return run


@pytest.fixture
def probe(dowbench: Dowbench) -> Dowbench:
    """``dowbench scan`` with the rules of ``tests/probe``; JSON unless arguments say otherwise."""

    def run(*arguments: str, format: str = "json") -> Run:
        return dowbench("scan", *PROBES, "--format", format, *arguments)

    return run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory with no configuration above it."""
    here = tmp_path / "work"
    here.mkdir()
    (here / ".git").mkdir()
    monkeypatch.chdir(here)
    return here


def tool(name: str = "probe_one", *, knob: bool = False, **more: Any) -> dict[str, Any]:
    """A tool in the format ``anthropic``; ``probe-tool`` fires on the name, ``probe-parameter`` on the knob."""
    properties = {"knob": {"type": "string"}} if knob else {}
    return {
        "name": name,
        "description": "Does it.",
        "input_schema": {"type": "object", "properties": properties},
        **more,
    }


def write(path: Path, *tools: Any) -> Path:
    """A JSON file that holds a list of tools."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(list(tools), indent=2), encoding="utf-8")
    return path


def suppressed(run: Run) -> list[tuple[str, str | None, str, str]]:
    """(rule, tool, by, reason) of each suppressed finding of a JSON report."""
    return [(s["rule"], s["tool"], s["by"], s["reason"]) for s in run.json["suppressed"]]


def warned(run: Run) -> list[tuple[int | None, str]]:
    """(line, message) of each warning of a JSON report."""
    return [(note["line"], note["message"]) for note in run.json["warnings"]]


def found(run: Run) -> set[tuple[str, str | None]]:
    """(rule, tool) of each finding of a JSON report."""
    return {(f["rule"], f["tool"]) for f in run.json["findings"]}
