"""Which tool a text means that has one asked again and again: itself, one that it names, or the one that tells."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from dowbench import words
from dowbench.prose import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dowbench.rulepack.matching import Mention
    from dowbench.rulepack.view import Match, SetView, ToolView

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
SOME_TOOL = "the tool that reports progress"


class Teller(NamedTuple):
    """The name of a tool that tells how far one of several things is."""

    name: str
    words: frozenset[str]
    of_what: frozenset[str]
    """Those of its words that say what of."""


def asked(mention: Mention, view: ToolView) -> str:
    """How a fix names the tool that a text has asked again and again."""
    named = (name for name in _called(mention) if name in view.among.names and name != view.tool.name)
    if (other := next(named, None)) is not None:
        return f"`{other}`"
    if view.result.kind not in _STARTING or not _TELLING.isdisjoint(view.name[-1:]):
        return f"`{view.tool.name}`"
    found: str = view.once(_telling, view)
    return found


def _called(mention: Mention) -> Iterator[str]:
    """What the quoted clause has called, and does not forbid to."""
    sentence, (first, after) = mention.sentence, mention.quoted
    starts = [start for start, _ in sentence.places]
    for call in _CALLED.finditer(sentence.text, starts[first], sentence.places[after - 1][1]):
        word = bisect_left(starts, call.start())
        if not sentence.negated(Hit(word, word + 1)):
            yield call[1]


def _telling(view: ToolView) -> str:
    """The one tool that tells how far a job is which this one starts: of several the one most like it by name."""
    own, tellers = frozenset(view.name), view.among.once(_tellers, view.among)
    candidates = (teller for word in (None, *own) for teller in tellers.get(word, ()))
    alike = {teller.name: len(own & teller.words) for teller in candidates if teller.of_what <= own}
    most = max(alike.values(), default=0)
    best = [name for name, shared in alike.items() if shared == most]
    return f"`{best[0]}`" if len(best) == 1 else SOME_TOOL


def _tellers(among: SetView) -> Mapping[str | None, list[Teller]]:
    """The tools that tell, by the rarest of the words that say what of."""
    telling = among.meeting(_tells)
    named = [Teller(view.tool.name, frozenset(view.name), frozenset(view.name) - _OF_ANY) for view in telling]
    count = Counter(word for teller in named for word in teller.of_what)
    found: dict[str | None, list[Teller]] = {}
    for teller in named:
        found.setdefault(min(teller.of_what, key=count.__getitem__, default=None), []).append(teller)
    return found


def _tells(view: ToolView) -> Match | None:
    """Whether it tells how far one of several things is."""
    by_handle = any(not _HANDLES.isdisjoint(words.split(parameter.name)[-1:]) for parameter in view.tool.parameters)
    return () if by_handle and not _TELLING.isdisjoint(view.name[-1:]) else None
