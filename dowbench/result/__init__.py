"""What a call of a tool returns, and what bounds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from dowbench.result import caps, traits
from dowbench.result.bounds import RANGE, WORK, Limit, continuations, limits, upper_bound
from dowbench.result.english import QUANTIFIERS, word_set
from dowbench.result.media import media
from dowbench.result.output import unbounded, unfinished
from dowbench.result.reading import Kind, Reading
from dowbench.result.traits import shows_snapshots
from dowbench.result.vocabulary import Lexicon, vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable

    from dowbench.model import Parameter, Schema, Tool
    from dowbench.result.english import Action

__all__ = ["RANGE", "WORK", "Bound", "Kind", "Lexicon", "Limit", "Result", "describe", "shows_snapshots", "upper_bound"]

Bound = Literal["none", "schema", "parameter", "documented", "declared", "default", "open"]
"""What bounds a result: nothing; the output schema; a limit-like parameter with a maximum; a cap in prose; a declared
cap; a limit-like parameter with only a default; one with neither."""

DECLARED = "anthropic/maxResultSizeChars"
"""The key of MCP ``_meta`` by which a server declares a cap, in characters."""


class Result(NamedTuple):
    """What one call returns, and the witness that decided how large that can be."""

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
    unbounded_output: tuple[Schema, ...] = ()
    """Parts of the declared output that nothing bounds, where the output is what the call is made for."""
    witness: Parameter | Schema | None = None


def describe(tool: Tool, lexicon: Lexicon, among_snapshots: Callable[[], bool] = lambda: False) -> Result:
    """Read off ``tool`` what a call returns.

    ``among_snapshots`` says ``shows_snapshots`` of the tools it is offered with; it is asked for few tools.
    """
    v = vocabulary(lexicon)
    r = Reading(tool, v)
    kind, reason = _kind(r)
    query = None if kind == "record" and r.sums else traits.query(r)
    if query is not None and kind in {"record", "scalar", "unknown", "ack", "list"}:
        kind, reason = "text", f"whatever the text in `{query.name}` asks for"
    snapshots = kind == "ack" and traits.acts_on_page(r) and among_snapshots()
    if snapshots:
        kind, reason = "document", "a new snapshot of the page after each act"
    reads = kind in {"list", "text", "document", "generation", "record", "media"}
    asked = reads or kind == "unknown" or traits.makes_several(r)
    cap = caps.on_result(r.text_on_result)
    found = limits(tool, v, asked, r.argument_texts)
    if cap is not None and cap.value is not None and cap.is_maximum:
        found = tuple(
            limit._replace(maximum=cap.value, source="documented")
            if limit.source == "none" and limit.unit != WORK
            else limit
            for limit in found
        )
    paged = bool(found) or "pagina" in tool.description.lower()
    onward = continuations(tool, v, asked, r.argument_texts, paged)
    open_parts = unbounded(tool.output, v) if kind in {"list", "document", "text"} else ()
    bound, most, unit, witness = _bound(r, kind, found, cap)
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
        recursive=query is None and kind in {"list", "document", "text"} and not onward and traits.recursive(r),
        unfinished=kind in {"record", "unknown"} and unfinished(tool.output),
        limits=tuple(limit for limit in found if limit.unit != RANGE),
        continuations=onward,
        unbounded_output=open_parts,
        witness=witness,
    )


def _kind(r: Reading) -> tuple[Kind, str]:
    """What comes back, and why that is thought."""
    if traits.image(r):
        return "media", "an image"
    if traits.generates(r):
        return "generation", "what a model or an agent answers"
    if r.decides:
        return "scalar", "yes or no"
    kind, small = _from_actions(r)
    parts = kind == "record" and r.one and r.returned == "list" and not r.lists
    if kind in {None, "unknown", "record"} and r.returned in {"list", "document"} and not (small or parts):
        kind = r.returned
    if kind in {"list", "document"} and "health" in r.name and r.acts(r.named) == "record":
        kind = "record"
    if traits.requests(r) or r.sends:
        kind = "text"
    if kind == "ack" and traits.answers_with_text(r):
        kind = "document"
    verb = r.actions[0].verb if r.actions else ""
    if kind == "scalar" and r.returned == "list" and verb in _COMPARING:
        kind = "list"
    if traits.forwards(r) or (kind in {None, "unknown"} and traits.passes_on(r)):
        kind = "text"
    if kind == "unknown" and r.said is not None and r.said.act == "other" and r.lists:
        kind = r.returned
    kind = kind or r.returned or "unknown"
    if kind == "record" and traits.ranged(r):
        kind = "list"
    if kind in {"record", "scalar", "ack", "unknown"}:
        kind = traits.commanded(r) or kind
    if kind == "unknown" and r.bare in {"list", "document"}:
        kind = r.bare
    if kind in {"list", "document", "unknown"} and traits.plain_record(r.tool.output, r.v["free_text_names"]):
        kind = "record"
    listed = kind == "list" or (kind == "document" and r.said is not None and r.acts(r.said) == "list")
    if (listed and verb not in {"open", "read"} and traits.keyed(r)) or (
        kind == "document" and traits.many_fields(r.tool.output, r.v["free_text_names"] | r.v["long_nouns"])
    ):
        kind = "record"
    if kind in {"list", "unknown"} and traits.identified(r.tool.output):
        kind = "record"
    if kind in {"list", "document", "text", "unknown"} and traits.saved(r):
        kind = "ack"
    if kind in {"record", "ack", "unknown"} and traits.encoded(r):
        kind = "document"
    noun = " ".join(r.actions[0].object) if r.actions else ""
    return kind, noun


_CALCULATING = word_set(
    "add average calculate compute convert divide estimate multiply round solve subtract sum tally total"
)
"""Verbs that make one value of many."""
_EXPORTING = word_set("export download dump render backup")
"""Verbs that may leave what they get in a file, and return where."""
_COMPARING = frozenset({"resolve", "check", "compare", "identify", "detect", "lint", "scan", "review"})
"""Verbs of which nothing but the answer says whether it is short."""


def _from_actions(r: Reading) -> tuple[Kind | None, bool]:
    """What name and description say together, and whether what they list is small by nature."""
    named, said = r.named, r.said
    by_name, by_text = r.acts(named), r.acts(said)
    if said is None and named is not None and named.verb in r.v["noun_like_verbs"] and r.titled in {"list", "document"}:
        return r.titled, False
    if named is None or said is None:
        return by_text or by_name or r.titled, False
    if said.act == "write" and (r.returned == "ack" or not r.v["feedback_nouns"].isdisjoint(said.object[-1:])):
        return "ack", False
    if named.act == "write" and said.act == "write":
        return "ack", False
    if named.act == "list" and said.act == "write" and named.verb == "list" and r.name[0] != "list":
        return "ack", False
    if said.verb in _EXPORTING and r.returned == "ack":
        return "ack", False
    if said.verb in _CALCULATING and by_text == "scalar":
        return by_text, False
    if by_text == "record" and named.verb == "list" and r.single(said):
        return by_text, False
    if named.act == "list" and named.verb in {"list", "search", "discover", "enumerate"}:
        few = said.verb == "list" or (bool(said.of) and r.small(said.of))
        if by_name == "record" or (few and by_text == "record"):
            return "record", True
        return (by_text if by_text in {"document", "generation"} else "list"), False
    same = by_name == by_text == "record" and r.sure(named) and named.object[-1:] == said.object[-1:]
    if same and QUANTIFIERS.isdisjoint(r.returned_noun[0] + r.returned_noun[1]):
        return "record", True
    vague = r.v["vague_nouns"]
    if by_text == "unknown" and by_name in {"list", "document"}:
        return by_name, False
    if said.verb == "check" and by_name in {"list", "document"} and named.act in {"list", "read", "document"}:
        return by_name, False
    if by_text == "record" and by_name == "list" and said.object[-1:] and said.object[-1] in vague:
        few = bool(said.of) and r.small(said.of)
        return ("record" if few else "list"), few
    if by_text == "record" and by_name in {"document", "list"} and not r.sure(said):
        return by_name, False
    if by_text == "list" and by_name == "record" and r.sure(named) and (not r.sure(said) or _of_fields(said)):
        return by_name, False
    if by_name == "ack":
        searches = said.act in {"list", "answer"} and named.verb in {"post", "put"}
        tells = said.verb in {"transcribe", "summarize", "summarise"}
        return (by_text if searches or tells else "ack"), False
    if said.act == "write":
        return (by_name if named.act in {"list", "read", "document"} else "ack"), False
    if by_name in {"document", "list"} and (said.act == "run" or said.verb in {"analyze", "analyse", "convert"}):
        return (by_text if by_text == "document" else by_name), False
    if by_name == "document" and (by_text == "list" or (by_text == "record" and named.verb == said.verb == "read")):
        return "document", False
    return by_text or by_name, False


def _of_fields(said: Action) -> bool:
    """Whether what is read is a row of several fields, of which one or the other is in the plural."""
    return said.tail[:1] == ("and",) and QUANTIFIERS.isdisjoint(said.object)


def _bound(
    r: Reading, kind: Kind, found: tuple[Limit, ...], cap: caps.Cap | None
) -> tuple[Bound, float | None, str, Parameter | None]:
    """The strongest bound, in the order in which bounds can be trusted."""
    useful = [limit for limit in found if limit.unit != WORK or kind == "generation"]
    for limit in useful:
        if limit.source == "schema":
            return "parameter", limit.maximum, limit.unit, limit.parameter
    for limit in useful:
        if limit.source == "documented":
            return "documented", limit.maximum, limit.unit, limit.parameter
    if cap is not None and not (cap.unit == "byte" and r.many and "than" in cap.text):
        return "documented", cap.value, f"{cap.unit}s" if cap.unit else "items", None
    declared = r.tool.meta.get(DECLARED)
    if isinstance(declared, (int, float)) and not isinstance(declared, bool):
        return "declared", declared, "characters", None
    for limit in useful:
        if limit.default is not None:
            return "default", None, limit.unit, limit.parameter
    if useful:
        return "open", None, useful[0].unit, useful[0].parameter
    return "none", None, "items", None
