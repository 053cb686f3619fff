"""Several hundred plausible tools of many kinds, and what is found in each of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from dowbench import engine
from dowbench.loaders import load
from dowbench.rulepack import load_pack
from dowbench.rulepack.notation import tool

FOUND = {
    "size": {"unbounded-result", "unbounded-output-array", "free-form-query", "unbounded-recursion"},
    "pagination": {"unbounded-pagination"},
    "limit": {"limit-without-maximum"},
    "query": {"free-form-query"},
    "recursion": {"unbounded-recursion"},
    "media": {"media-result"},
    "relay": {"result-relay"},
    "fanout": {"unbounded-delegation", "unbounded-generation", "unbounded-batch"},
    "polling": {"polling-without-wait"},
    "repeat": {"mandated-repeat"},
}
"""What is looked for, with the rules of which one reports it."""
PACK = load_pack()
FILES = sorted(Path(__file__).with_name("tools").glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_is_found_in_tools_of_many_kinds(file: Path) -> None:
    """A row is a tool as rule files write it, with what is ``found`` in it; what is ``open`` may be found or not."""
    wrong = {}
    for row in yaml.safe_load(file.read_text("utf-8")):
        expected, undecided = set(row.pop("found")), set(row.pop("open", ()))
        found = _found(row)
        if expected - found or found - expected - undecided:
            wrong[row["name"]] = (expected, found)
    assert wrong == {}


def test_there_are_tools_of_each_kind() -> None:
    rows = [row for file in FILES for row in yaml.safe_load(file.read_text("utf-8"))]
    assert {name for row in rows for name in row["found"]} == set(FOUND)
    assert any(not row["found"] for row in rows)
    assert all(set(row) <= {"name", "description", "parameters", "outputSchema", "found", "open"} for row in rows)


def _found(row: dict[str, Any]) -> set[str]:
    toolset = load({"tools": [tool(row, ())]}, path="tools.json")
    run = engine.run(PACK, toolset)
    assert not run.errors
    rules = {finding.rule for finding in run.findings if finding.tier == "default"}
    return {name for name, among in FOUND.items() if rules & among}
