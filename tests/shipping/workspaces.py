"""Workspaces to scan."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def mcp(*tools: Mapping[str, Any]) -> str:
    """A ``tools/list`` answer that offers these tools."""
    return json.dumps({"tools": tools}, indent=2) + "\n"


def searches(count: int) -> str:
    """As many tools with one high finding each."""
    return mcp(*({**SEARCH, "name": f"web_search_{number}"} for number in range(count)))
