"""What kind of thing a tool returns: what its name, its description and its declared output say together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowbench.result import traits
from dowbench.result.actions import bare, one, returns, single, sure, titled
from dowbench.result.english import QUANTIFIERS, word_set

if TYPE_CHECKING:
    from dowbench.result.english import Action
    from dowbench.result.nouns import Kind
    from dowbench.result.reading import Reading

_CALCULATING = word_set(
    "add average calculate compute convert divide estimate multiply round solve subtract sum tally total"
)
"""Verbs that make one value of many."""
_EXPORTING = word_set("export download dump render backup")
"""Verbs that may leave what they get in a file, and return where."""
_COMPARING = frozenset({"resolve", "check", "compare", "identify", "detect", "lint", "scan", "review"})
"""Verbs of which nothing but the answer says whether it is short."""


def kind_of(r: Reading) -> tuple[Kind, str]:
    """What comes back, and why that is thought."""
    if traits.image(r):
        return "media", "an image"
    if traits.generates(r):
        return "generation", "what a model or an agent answers"
    if r.decides:
        return "scalar", "yes or no"
    kind, small = _from_actions(r)
    parts = kind == "record" and one(r) and r.returned == "list" and not r.lists
    if kind in {None, "unknown", "record"} and r.returned in {"list", "document"} and not (small or parts):
        kind = r.returned
    if kind in {"list", "document"} and "health" in r.name and returns(r, r.named) == "record":
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
    if kind == "unknown" and (named := bare(r)) in {"list", "document"}:
        kind = named
    if kind in {"list", "document", "unknown"} and traits.plain_record(r.tool.output, r.v["free_text_names"]):
        kind = "record"
    listed = kind == "list" or (kind == "document" and r.said is not None and returns(r, r.said) == "list")
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


def _from_actions(r: Reading) -> tuple[Kind | None, bool]:
    """What name and description say together, and whether what they list is small by nature."""
    named, said = r.named, r.said
    by_name, by_text = returns(r, named), returns(r, said)
    title = titled(r) if said is None or named is None else None
    if said is None and named is not None and named.verb in r.v["noun_like_verbs"] and title in {"list", "document"}:
        return title, False
    if named is None or said is None:
        return by_text or by_name or title, False
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
    if by_text == "record" and named.verb == "list" and single(r, said):
        return by_text, False
    if named.act == "list" and named.verb in {"list", "search", "discover", "enumerate"}:
        few = said.verb == "list" or (bool(said.of) and r.nouns.small(said.of))
        if by_name == "record" or (few and by_text == "record"):
            return "record", True
        return (by_text if by_text in {"document", "generation"} else "list"), False
    same = by_name == by_text == "record" and sure(r, named) and named.object[-1:] == said.object[-1:]
    if same and QUANTIFIERS.isdisjoint(r.returned_noun[0] + r.returned_noun[1]):
        return "record", True
    vague = r.v["vague_nouns"]
    if by_text == "unknown" and by_name in {"list", "document"}:
        return by_name, False
    if said.verb == "check" and by_name in {"list", "document"} and named.act in {"list", "read", "document"}:
        return by_name, False
    if by_text == "record" and by_name == "list" and said.object[-1:] and said.object[-1] in vague:
        few = bool(said.of) and r.nouns.small(said.of)
        return ("record" if few else "list"), few
    if by_text == "record" and by_name in {"document", "list"} and not sure(r, said):
        return by_name, False
    if by_text == "list" and by_name == "record" and sure(r, named) and (not sure(r, said) or _of_fields(said)):
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
