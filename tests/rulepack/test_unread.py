"""What stands behind a reference that is not followed is unknown, and not unbounded."""

from __future__ import annotations

from typing import Any

import pytest

from dowbench import scan_tools
from dowbench.config import Config

PEDANTIC = Config(tier="pedantic")


def found(schema: dict[str, Any]) -> set[tuple[str, str | None]]:
    tool = {"name": "list_boats", "description": "Lists all boats.", "inputSchema": schema}
    return {(finding.rule, finding.parameter) for finding in scan_tools([tool], "mcp", PEDANTIC).findings}


@pytest.mark.parametrize("reference", ["common.json#/limit", "https://example.com/limit.json", "#/nowhere"])
def test_a_limit_that_cannot_be_read_is_not_without_maximum(reference):
    limit = {"type": "object", "properties": {"limit": {"$ref": reference}}}
    assert ("limit-without-maximum", "limit") not in found(limit)
    assert ("limit-without-maximum", "limit") in found({**limit, "properties": {"limit": {"type": "integer"}}})


@pytest.mark.parametrize("reference", ["inputs.json", "#/$defs/nowhere", "#"])
def test_a_result_is_not_unbounded_where_the_inputs_cannot_be_read(reference):
    assert ("unbounded-result", None) not in found({"$ref": reference})
    assert ("unbounded-result", None) in found({"type": "object"})
    inside = {"$ref": "#/$defs/inputs", "$defs": {"inputs": {"type": "object", "properties": {"name": {}}}}}
    assert ("unbounded-result", None) in found(inside)
