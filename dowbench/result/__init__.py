"""What a call of a tool returns, and what bounds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from dowbench.result import actions, caps, models, recursion, running, traits
from dowbench.result.bounds import RANGE, WORK, Limit, upper_bound
from dowbench.result.continuations import continuations
from dowbench.result.kind import kind_of
from dowbench.result.limits import limits
from dowbench.result.media import media
from dowbench.result.nouns import Kind
from dowbench.result.output import OpenPart, unbounded, unfinished
from dowbench.result.reading import Reading
from dowbench.result.traits import shows_snapshots
from dowbench.result.vocabulary import Lexicon, vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable

    from dowbench.model import Parameter, Tool

__all__ = [
    "RANGE",
    "WORK",
    "Bound",
    "Kind",
    "Lexicon",
    "Limit",
    "OpenPart",
    "Result",
    "describe",
    "shows_snapshots",
    "upper_bound",
]

Bound = Literal["none", "parameter", "documented", "declared", "default", "open", "later", "unknown"]
"""What bounds a result: nothing; a limit-like parameter with a maximum; a cap in prose; a declared cap; a limit-like
parameter with only a default; one with neither; only a handle comes back, and the answer later; what cannot be read.
"""

DECLARED = "anthropic/maxResultSizeChars"
"""The key of MCP ``_meta`` by which a server declares a cap, in characters."""


class Result(NamedTuple):
    """What one call returns, and how large that can be."""

    kind: Kind
    bound: Bound
    cap: float | None = None
    """The bound as a number, where one is stated."""
    unit: str = "items"
    reason: str = ""
    """One plain phrase for a message: what made it this kind."""
    external: bool = False
    """Whether others write what it carries: web, mail, files, logs, rows, user content."""
    media: bool = False
    reads: bool = False
    """Whether the call is made for what it returns, not for what it changes."""
    query: Parameter | None = None
    """The parameter that takes query or program text, where there is one."""
    recursive: bool = False
    """Whether it walks a tree, a glob or links, with nothing that ends it."""
    unfinished: bool = False
    """Whether the declared output says of the thing that is read that work on it goes on, or is done."""
    limits: tuple[Limit, ...] = ()
    continuations: tuple[Parameter, ...] = ()
    unbounded_output: tuple[OpenPart, ...] = ()
    """Parts of the declared output that nothing bounds, where the output is what the call is made for."""


def describe(
    tool: Tool, lexicon: Lexicon, among_snapshots: Callable[[], bool] = lambda: False, namespace: str = ""
) -> Result:
    """Read off ``tool`` what a call returns.

    ``among_snapshots`` says ``shows_snapshots`` of the tools it is offered with; it is asked for few tools.
    ``namespace`` is the word that the names of all of these begin with.
    """
    v = vocabulary(lexicon)
    r = Reading(tool, v, namespace)
    kind, reason = kind_of(r)
    query = None if r.hands_out_id or (kind == "record" and actions.sums(r)) else running.query(r)
    if query is not None and kind not in {"generation", "media"}:
        kind, reason = "text", f"whatever the text in `{query.name}` asks for"
    snapshots = kind == "ack" and traits.acts_on_page(r) and among_snapshots()
    if snapshots:
        kind, reason = "document", "a new snapshot of the page after each act"
    reads = kind in {"list", "text", "document", "generation", "record", "media"}
    asked = reads or kind == "unknown" or traits.makes_several(r)
    cap = caps.on_result(r.text_on_result, r.things) or (caps.counted_out(tool.description) if kind == "list" else None)
    found = limits(tool, v, asked, r.argument_texts)
    if cap is not None and cap.value is not None and cap.is_maximum:
        found = tuple(
            limit._replace(maximum=cap.value, source="documented")
            if limit.source == "none" and limit.unit != WORK
            else limit
            for limit in found
        )
    paged = bool(found) or "pagina" in tool.description.lower()
    onward = continuations(tool, v, asked, r.argument_texts, paged, changes=kind == "ack")
    open_parts = unbounded(tool.output, v) if kind in {"list", "document", "text"} else ()
    bound, most, unit = _bound(r, kind, found, cap)
    if bound == "none" and kind == "generation" and models.answers_later(r):
        bound = "later"
    told = (r.name, *(sentence.words for sentence in r.sentences[:2]))
    others = any(not v["external_words"].isdisjoint(words) for words in told)
    external = others and (kind != "unknown" or traits.asks(r))
    return Result(
        kind,
        bound,
        most,
        unit,
        reason,
        external=external,
        media=media(r, snapshots=snapshots),
        reads=reads or (kind == "unknown" and external),
        query=query,
        recursive=query is None and kind in {"list", "document", "text"} and not onward and recursion.recursive(r),
        unfinished=kind in {"record", "unknown"} and unfinished(tool.output),
        limits=tuple(limit for limit in found if limit.unit != RANGE),
        continuations=onward,
        unbounded_output=open_parts,
    )


def _bound(r: Reading, kind: Kind, found: tuple[Limit, ...], cap: caps.Cap | None) -> tuple[Bound, float | None, str]:
    """The strongest bound, in the order in which bounds can be trusted."""
    useful = [limit for limit in found if limit.unit != WORK]
    for limit in useful:
        if limit.source == "schema":
            return "parameter", limit.maximum, limit.unit
    for limit in useful:
        if limit.source == "documented":
            return "documented", limit.maximum, limit.unit
    if cap is not None and not _of_other_things(r, kind, cap):
        return "documented", cap.value, f"{cap.unit}s" if cap.unit else "items"
    declared = r.tool.meta.get(DECLARED)
    if isinstance(declared, (int, float)) and not isinstance(declared, bool):
        return "declared", declared, "characters"
    for limit in useful:
        if limit.default is not None:
            return "default", None, limit.unit
    if useful:
        return "open", None, useful[0].unit
    return "unknown" if r.tool.unread else "none", None, "items"


def _of_other_things(r: Reading, kind: Kind, cap: caps.Cap) -> bool:
    """Whether a cap leaves the size of the result open: of one file of a list, on documents, on rows of a table."""
    if cap.unit == "byte" and r.many and "than" in cap.text:
        return True
    if kind != "document":
        return False
    several = any("array" in p.schema.types for p in r.inputs)
    return cap.unit == "row" or (several and cap.unit in _DOCUMENTS)


_DOCUMENTS = frozenset({"page", "document", "file", "url", "article"})
