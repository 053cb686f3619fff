"""What kind of thing a tool returns: what its name, its description and its declared output say together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowbench.result import models, running, traits
from dowbench.result.actions import bare, one, own, returns, single, sure, titled
from dowbench.result.english import QUANTIFIERS, any_of, phrase, plural, singular, word_set

if TYPE_CHECKING:
    from dowbench.result.english import Action
    from dowbench.result.nouns import Kind
    from dowbench.result.reading import Reading


def kind_of(r: Reading) -> tuple[Kind, str]:
    """What comes back, and why that is thought."""
    if traits.image(r) and not models.looks(r):
        return "media", "an image"
    if models.generates(r):
        return "generation", "what a model or an agent answers"
    if r.decides:
        return "scalar", "yes or no"
    if running.plans(r):
        return "record", "the plan of a query"
    kind = _with_answer(r, *_from_actions(r))
    return _with_schema(r, kind), " ".join(r.actions[0].object) if r.actions else ""


def _with_answer(r: Reading, kind: Kind | None, small: bool) -> Kind:
    """What comes back, by the actions (``kind``, whether it is small by nature) and by what is said of the answer."""
    verb = r.actions[0].verb if r.actions else ""
    parts = one(r) and r.returned == "list" and not r.lists
    computed = kind == "scalar" and (verb in _COMPARING or r.returned == "document")
    if (computed or kind in {None, "unknown", "record"}) and r.returned in {"list", "document"}:
        kind = kind if small or parts else r.returned
    made = r.said is not None and r.said.verb in _MAKING and r.returned_noun == (r.said.object, r.said.of)
    if kind == "ack" and (traits.answers_with_text(r) or (made and r.returned == "document")):
        kind = "document"
    if kind == "document" and r.returned_noun[0][-1:] in _PATHS:
        kind = "ack"
    if kind == "document" and r.picks_part:
        kind = "record"
    open_ended = kind in {None, "unknown"} and not r.hands_out_id
    if running.forwards(r) or running.requests(r) or r.sends or (open_ended and running.passes_on(r)):
        kind = "text"
    kind = kind or r.returned or "unknown"
    vague = kind == "record" and r.named is None and r.said is not None and not sure(r, r.said)
    if (kind == "unknown" or vague) and (named := bare(r)) in {"list", "document"}:
        kind = named
    return kind


_PATHS = {("path",), ("paths",), ("filepath",), ("filename",)}
"""What is returned of a file that was written."""


def _with_schema(r: Reading, kind: Kind) -> Kind:
    """What comes back, by the texts (``kind``) and by what the schemas of inputs and output add."""
    output, texts = r.tool.output, r.v["free_text_names"]
    if kind == "record" and traits.ranged(r):
        kind = "list"
    if kind in {"scalar", "unknown"} and traits.paged(r):
        kind = "list"
    if kind in {"record", "scalar", "ack", "unknown"}:
        kind = running.commanded(r) or kind
    if kind in {"list", "document", "unknown"} and traits.plain_record(output, texts):
        kind = "record"
    opened = r.actions != () and r.actions[0].verb in {"open", "read"}
    listed = kind == "list" or (kind == "document" and returns(r, r.said) == "list")
    if listed and not opened and not _texts(r) and traits.keyed(r):
        kind = "record"
    if kind == "document" and traits.many_fields(output, texts | r.v["long_nouns"]):
        kind = "record"
    if kind in {"list", "unknown"} and traits.identified(output):
        kind = "record"
    if kind in {"list", "document", "text", "unknown"} and traits.saved(r):
        kind = "ack"
    if kind in {"record", "ack", "unknown"} and traits.encoded(r):
        kind = "media" if traits.pictured(r) else "document"
    if kind in {"record", "scalar", "unknown"} and (traits.large(r) or traits.answers_when_done(r) or traits.inline(r)):
        kind = "document"
    return kind


def _texts(r: Reading) -> bool:
    """Whether what is read are documents, each of which is as long as it is."""
    nouns = [noun for a in r.actions for noun in (a.object, a.of) if noun]
    return any(noun[-1] in _TEXTS for noun in nouns)


_TEXTS = word_set("texts contents documents transcripts")


def _from_actions(r: Reading) -> tuple[Kind | None, bool]:
    """What name and description say together, and whether what they list is small by nature.

    What is written is acknowledged. What the description reads goes before what the name reads, unless only the name
    says what that is.
    """
    named, said = r.named, r.said
    by_name, by_text = returns(r, named), returns(r, said)
    if named is None or said is None:
        title = titled(r)
        vague = said is None and title is not None and (named is None or named.verb not in r.v["plain_verbs"])
        return by_text or (title if vague else by_name or title), False
    if said.verb in _SUMMING and named.verb == "get" and by_name == "list" and r.nouns.of_owner:
        return "record", True
    reads = named.act in _READING and (named.verb != "list" or r.name[0] == "list")
    if said.act == "write":
        makes = said.verb in _MAKING and reads and r.returned != "ack"
        return (by_name if makes else "ack"), False
    tells = said.act in {"read", "document"} and said.verb not in _EXPORTING
    if named.act == "write" and not (tells and named.verb in r.v["noun_like_verbs"]):
        asks = named.verb in {"post", "put"} and said.act in {"list", "answer"} and said.object != ()
        return (by_text if asks else "ack"), False
    if r.returned == "ack" and said.verb in _EXPORTING:
        return "ack", False
    if said.verb in _CALCULATING and by_text == "scalar":
        return by_text, False
    if named.verb in {"list", "search", "discover", "enumerate"}:
        few = said.verb == "list" or (bool(said.of) and r.nouns.small(said.of))
        few = few or (named.verb == "list" and single(said)) or _is_fact(r, said) or own(r, said)
        few = few or (r.name[0] == "list" and _is_one(r, named) and _is_one(r, said))
        if by_name == "record" or (few and by_text == "record"):
            return "record", True
        return (by_text if by_text in {"document", "generation"} else "list"), False
    same = by_name == by_text == "record" and sure(r, named) and named.object[-1:] == said.object[-1:]
    if same and QUANTIFIERS.isdisjoint(r.returned_noun[0] + r.returned_noun[1]):
        return "record", True
    if by_name == "list" and by_text == "record" and _one_each(named, said):
        return by_name, False
    if by_name in {"list", "document"}:
        if by_text == "record" and single(said):
            return by_text, True
        if by_text in {"unknown", "scalar"} and reads:
            return by_name, False
        told = by_text == "record" and sure(r, said) and not sure(r, named)
        alike = named.verb == said.verb and not _is_fact(r, said) and not told
        if by_name == "document" and (by_text == "list" or alike):
            return by_name, False
        if by_text == "record":
            vague = said.object[-1:] != () and said.object[-1] in r.v["vague_nouns"]
            few = vague and bool(said.of) and r.nouns.small(said.of)
            return ("record" if few else by_name if vague or not sure(r, said) else by_text), few
    if by_text == "list" and by_name == "record" and _few_by_name(r, named, said):
        return by_name, True
    if by_text == "list" and by_name == "record" and named.verb == "get" and _of_the_one(r, named, said):
        return by_name, True
    if by_text == "list" and by_name == "record" and sure(r, named) and (not sure(r, said) or _of_fields(said)):
        return by_name, False
    return by_text or by_name, False


def _is_one(r: Reading, action: Action) -> bool:
    """Whether the object of an action is a single thing that is no collection: "list policy"."""
    head = action.object[-1:]
    return head != () and not plural(head[0]) and returns(r, action._replace(act="read", verb="get")) == "record"


_FACTS = {
    (word,) for word in ("url", "uri", "link", "path", "title", "id", "name", "size", "type", "status", "version")
}
"""What is short whatever it is of: the URL of a page."""


def _is_fact(r: Reading, action: Action) -> bool:
    """Whether what is read is short whatever it is of, and is read alone: the URL of a page, metadata of one page."""
    if action.object[-1:] == ("metadata",):
        of = action.of or (phrase(action.tail, 1)[0] if action.tail[:1] == ("for",) else ())
        return of != () and not plural(of[-1])
    return action.object[-1:] in _FACTS and r.v["long_fields"].isdisjoint(action.object)


_SUMMING = word_set("summarize summarise")
_READING = frozenset({"list", "read", "document"})
_CALCULATING = word_set(
    "average calculate compute convert divide estimate multiply round solve subtract sum tally total"
)
"""Verbs that make one value of many."""
_MAKING = word_set("generate create build make produce compile draw compose select choose use")
"""Verbs of which a name that reads says that what is made is also handed out: "generates a profile of the area"."""
_EXPORTING = word_set("export download dump render")
"""Verbs that may leave what they get in a file, and return where."""
_COMPARING = frozenset({"resolve", "check", "compare", "identify", "detect", "lint", "scan", "review"})
"""Verbs of which nothing but the answer says whether it is short."""


def _of_the_one(r: Reading, named: Action, said: Action) -> bool:
    """Whether the description has in the plural what the name has in the singular: get_quote, "quotes for a symbol"."""
    if not said.object:
        return False
    head = said.object[-1]
    same = named.object[-1:] == singular(said.object)[-1:] and plural(head) and head not in r.v["list_nouns"]
    return same and said.tail[:2] in _FOR_ONE and QUANTIFIERS.isdisjoint(said.object)


def _one_each(named: Action, said: Action) -> bool:
    """Whether the description has one fact on each of what the name lists: get_monitors, "the monitor statuses"."""
    if not named.object or not plural(named.object[-1]) or said.object[-1:] not in _STANDINGS:
        return False
    return any_of({named.object[-1], singular(named.object)[-1]}, said.object[:-1], said.of)


_STANDINGS = {("status",), ("statuses",), ("state",), ("states",), ("health",), ("balances",), ("prices",)}


def _few_by_name(r: Reading, named: Action, said: Action) -> bool:
    """Whether the name alone says why the same things are few: get_allowed_paths, "the paths that may be read"."""
    if len(named.object) < 2 or not r.nouns.small(named.object):
        return False
    return named.object[-1:] in {said.object[-1:], said.of[-1:]}


_FOR_ONE = {("for", "a"), ("for", "an"), ("for", "one")}


def _of_fields(said: Action) -> bool:
    """Whether what is read is a row of several fields, of which one or the other is in the plural."""
    return said.tail[:1] == ("and",) and QUANTIFIERS.isdisjoint(said.object)
