"""Every fixture gives what its ``expected.json`` says: rule, tool and place of each finding, each error, each note."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from fixtures_snapshot import FIXTURES, cases, snapshot, text

from dowbench.loaders import LOADERS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("path", cases(), ids=lambda path: f"{path.parent.parent.name}/{path.parent.name}")
def test_fixture(path: Path) -> None:
    expected = path.with_name("expected.json")
    assert expected.exists(), "run python tests/fixtures_snapshot.py --write and look at what it says"
    assert text(snapshot(path)) == expected.read_text(encoding="utf-8"), (
        "if the change is meant: python tests/fixtures_snapshot.py --write"
    )


def test_every_format_has_a_case_with_findings_and_one_that_is_clean_or_refused() -> None:
    for format in LOADERS:
        found = [json.loads(p.read_text(encoding="utf-8")) for p in FIXTURES.glob(f"{format}/*/expected.json")]
        assert any(case["findings"] for case in found), format
        assert any(not [f for f in case["findings"] if f["tier"] == "default"] for case in found), format


def test_the_support_agent_is_as_the_readme_tells() -> None:
    found = json.loads((FIXTURES / "openai" / "support_agent" / "expected.json").read_text(encoding="utf-8"))
    assert not (found["errors"] or found["warnings"] or found["skipped"])
    default = [f for f in found["findings"] if f["tier"] == "default"]
    assert sorted((f["severity"], f["rule"], f["tool"], f["parameter"]) for f in default) == [
        ("high", "unbounded-result", "list_tickets", None),
        ("high", "unbounded-result", "read_page", None),
        ("high", "unbounded-result", "web_search", None),
        ("low", "no-call-budget", None, None),
        ("medium", "result-relay", "draft_reply", "history"),
        ("medium", "unbounded-pagination", "list_tickets", "cursor"),
    ]
    assert "send_mail" not in Counter(f["tool"] for f in found["findings"])


def test_refused_fixtures_are_errors() -> None:
    for case in ("openai/bad_entry", "mcp/bad_schema", "mixed/two_formats", "openapi/split_files", "none/server_list"):
        found = json.loads((FIXTURES / case / "expected.json").read_text(encoding="utf-8"))
        assert len(found["errors"]) == 1, case
        assert not found["files"], case
