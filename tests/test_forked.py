"""A second process changes nothing about what is found, and its loss neither."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest
from workbench import tool

from dowbench import engine, forked, loaders
from dowbench.config import Config
from dowbench.errors import SourceError
from dowbench.plan import make_plan

if TYPE_CHECKING:
    from pathlib import Path

    from workbench import Dowbench

    from dowbench.model import ToolSet

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks here")
PACK = make_plan(Config(tier="pedantic")).pack


def tools(count: int) -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": {"limit": {"type": "integer"}, "cursor": {"$ref": "#/nowhere"}}}
    return [
        tool(f"list_{n}_notes", description="List all notes of others.", input_schema=schema)
        if n % 2
        else tool(f"x{n}")
        for n in range(count)
    ]


def divide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let three processes work on few tools, whatever the machine has."""
    monkeypatch.setattr(forked, "WORTH_IT", 4)
    monkeypatch.setattr(forked, "cores", lambda: 3)
    monkeypatch.setattr(forked, "may_fork", lambda: True)


@pytest.fixture
def toolset(monkeypatch: pytest.MonkeyPatch) -> ToolSet:
    divide(monkeypatch)
    return loaders.load(tools(21), path="tools.json")


def test_the_same_findings_in_the_same_order(toolset: ToolSet) -> None:
    alone = engine.run(PACK, toolset)
    assert {finding.tool for finding in alone.findings} >= {"list_1_notes", "list_19_notes", None}
    together = forked.run(PACK, toolset, 60)
    assert (together.findings, together.errors) == (alone.findings, alone.errors)
    assert set(together.notes) <= set(toolset.notes)


def test_a_rule_that_fails_in_every_part_is_one_fault(toolset: ToolSet, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(target: object) -> None:
        raise ZeroDivisionError

    rule = PACK.rules[0]
    broken = rule._replace(id="broken", shapes=(rule.shapes[0]._replace(scope="tool", match=fail),))
    pack = PACK.only(broken, {})
    (error,) = forked.run(pack, toolset, 60).errors
    assert [error] == engine.run(pack, toolset).errors
    assert "rule broken" in error.message
    assert "(and on 20 more)" in error.message


def test_a_lost_process_is_made_up_for(toolset: ToolSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked, "_work", lambda *arguments: os._exit(9))
    assert forked.run(PACK, toolset, 60).findings == engine.run(PACK, toolset).findings


def test_a_process_that_cannot_be_started_is_made_up_for(toolset: ToolSet, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", refuse)
    assert forked.run(PACK, toolset, 60).findings == engine.run(PACK, toolset).findings


def test_an_error_in_any_part_is_raised(toolset: ToolSet, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = engine.run

    def failing(*arguments: Any) -> engine.Run:
        if arguments[-1].start:
            raise SourceError("too much", path="tools.json", pointer="/15")
        return whole(*arguments)

    monkeypatch.setattr(engine, "run", failing)
    with pytest.raises(SourceError, match="too much"):
        forked.run(PACK, toolset, 60)
    with pytest.raises(SourceError, match=r"source_limits\.seconds"):
        monkeypatch.setattr(engine, "run", whole)
        forked.run(PACK, toolset, -1)


def test_a_scan_of_many_tools(folder: Path, dowbench: Dowbench, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "tools.json").write_text(json.dumps(tools(40), indent=1))
    alone = dowbench("scan", "--format", "json", "tools.json")
    divide(monkeypatch)
    assert dowbench("scan", "--format", "json", "tools.json") == alone
    assert len(alone.json["findings"]) >= 20
