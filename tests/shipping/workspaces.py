"""Workspaces to scan."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from workbench import SEARCH

if TYPE_CHECKING:
    from collections.abc import Mapping


def mcp(*tools: Mapping[str, Any]) -> str:
    """A ``tools/list`` answer that offers these tools."""
    return json.dumps({"tools": tools}, indent=2) + "\n"


def searches(count: int) -> str:
    """As many tools with one high finding each."""
    return mcp(*({**SEARCH, "name": f"web_search_{number}"} for number in range(count)))
