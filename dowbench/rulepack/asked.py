"""Which tool a text means that has one asked again and again: itself, one that it names, or the one that tells."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dowbench import words

if TYPE_CHECKING:
    from dowbench.rulepack.view import Match, ToolView

_CALLED = re.compile(
    r"\b(?:poll|call|check|query|ask|use|invoke|run|read|with|via)(?:ing)?\s+(?:the\s+)?[`'\"*]*([a-z_][\w-]*)",
    re.IGNORECASE,
)
"""What stands behind a word for a call."""
_STARTING = frozenset({"ack", "generation", "unknown"})
"""Kinds of results of tools that may start what is then asked about."""
_TELLING = frozenset({"status", "progress", "state", "task", "job", "result", "results"})
"""Last words of names of tools that tell how far something is."""
_OF_ANY = _TELLING | {"get", "check", "fetch", "read", "query", "show", "poll", "view", "by", "id"}
"""Words of such a name that do not say what of."""
_HANDLES = frozenset({"id", "uuid", "handle"})
SOME_TOOL = "the tool that tells how far it is"


def asked(text: str, view: ToolView) -> str:
    """How a fix names the tool that a text has asked again and again."""
    named = (name for name in _CALLED.findall(text) if name in view.among.names and name != view.tool.name)
    if (other := next(named, None)) is not None:
        return f"`{other}`"
    if view.result.kind not in _STARTING or not _TELLING.isdisjoint(view.name[-1:]):
        return f"`{view.tool.name}`"
    found: str = view.once(_telling, view)
    return found


def _telling(view: ToolView) -> str:
    """The one tool that tells how far a job is which this one starts: of several the one most like it by name."""
    own = set(view.name)
    fitting = [other for other in view.among.meeting(_tells) if own | _OF_ANY >= set(other.name)]
    alike = {other.tool.name: len(own & set(other.name)) for other in fitting}
    best = [name for name, shared in alike.items() if shared == max(alike.values())]
    return f"`{best[0]}`" if len(best) == 1 else SOME_TOOL


def _tells(view: ToolView) -> Match | None:
    """Whether it tells how far one of several things is."""
    by_handle = any(not _HANDLES.isdisjoint(words.split(parameter.name)[-1:]) for parameter in view.tool.parameters)
    return () if by_handle and not _TELLING.isdisjoint(view.name[-1:]) else None
