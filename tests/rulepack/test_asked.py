"""Which tool a text has asked again and again."""

from __future__ import annotations

from typing import Any

import pytest

from dowbench.rulepack import asked

STARTS = {"name": "kiln_start", "description": "Fires the kiln. Poll it until it is finished."}
KNOWN = [{"name": name, "parameters": {"id": "string!"}} for name in ("list_parts", "read_part", "sort_part")]


@pytest.fixture
def named(probe: Any) -> Any:
    """Whom the fix names for each tool whose description says ``poll``."""

    def named(*tools: dict[str, Any]) -> dict[str, str]:
        probe.rule("{description: {phrases: [poll]}}", fix='"{asked}"')
        return {finding.tool: finding.fix for finding in probe.run(*tools)}

    return named


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("Poll list_parts until it is done.", "list_parts"),
        ("Poll this tool until it is done.", "read_part"),
        ("Do not use list_parts; poll this tool until it is done.", "read_part"),
        ("Poll this tool until it is done, and never call list_parts.", "read_part"),
        ("Poll by calling list_parts, not with sort_part, until it is done.", "list_parts"),
        ("Never call list_parts but poll sort_part until it is done.", "sort_part"),
        ("Use list_parts for the names; poll this tool until it is done.", "read_part"),
    ],
)
def test_a_tool_that_the_quoted_clause_has_called(named: Any, text: str, tool: str) -> None:
    of_part, *others = ({**t, "description": text} if t["name"] == "read_part" else t for t in reversed(KNOWN[:2]))
    assert named(of_part, *others, KNOWN[2]) == {"read_part": f"`{tool}`"}


@pytest.mark.parametrize(
    ("tellers", "fix"),
    [
        ([], asked.SOME_TOOL),
        (["kiln_job"], "`kiln_job`"),
        (["get_job", "kiln_job"], "`kiln_job`"),
        (["get_job"], "`get_job`"),
        (["get_job", "get_task"], asked.SOME_TOOL),
        (["hall_job"], asked.SOME_TOOL),
        (["kiln_door_status", "kiln_status"], "`kiln_status`"),
    ],
)
def test_the_tool_that_tells_how_far_a_job_is(named: Any, tellers: list[str], fix: str) -> None:
    others = [{"name": name, "parameters": {"job_id": "string!"}} for name in tellers]
    assert named(STARTS, *others) == {"kiln_start": fix}


def test_each_tool_that_starts_looks_at_few_that_tell(named: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0

    class Counted(asked.Teller):
        def __getattribute__(self, name: str) -> Any:
            nonlocal looked
            looked += name in ("words", "of_what")
            return super().__getattribute__(name)

    monkeypatch.setattr(asked, "Teller", Counted)
    kilns = [f"kiln{n}" for n in range(50)]
    starting = [{**STARTS, "name": f"start_{kiln}"} for kiln in kilns]
    telling = [{"name": f"get_{kiln}_status", "parameters": {"id": "string!"}} for kiln in kilns]
    assert named(*starting, *telling) == {f"start_{kiln}": f"`get_{kiln}_status`" for kiln in kilns}
    assert 0 < looked < 10 * len(kilns)


def test_nobody_looks_for_a_name_that_no_text_has(probe: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Any] = []
    monkeypatch.setattr(asked, "_called", lambda mention: looked.append(mention) or ())
    probe.rule("{description: {phrases: [poll]}}")
    assert probe.found(STARTS) == ["kiln_start"]
    assert not looked
    probe.rule("{description: {phrases: [poll]}}", fix='"{asked}"')
    assert probe.found(STARTS) == ["kiln_start"]
    assert len(looked) == 1
