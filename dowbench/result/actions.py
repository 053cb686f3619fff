"""What kind of thing an action returns: what is read, computed, asked or run."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from dowbench.result.english import (
    DETERMINERS,
    QUANTIFIERS,
    Action,
    any_of,
    clause_end,
    ends_phrase,
    noun_of,
    phrase,
    plural,
    word_set,
)
from dowbench.result.nouns import EXACTLY_ONE
from dowbench.words import split

if TYPE_CHECKING:
    from dowbench.result.nouns import Kind
    from dowbench.result.reading import Reading

_ADDS = word_set("include with return add fetch full")
_COUNTS = {("count",), ("total",)}
_STATS = {("stats",), ("statistics",)}
_HELD = {("data",), ("values",), ("rows",), ("cells",)}
_NOT_A_PART = word_set("no without in as to into")
_FINDING = frozenset({"audit", "diagnose", "lint", "scan"})
"""Verbs that return what they found, one entry for each."""
_EXAMINING = word_set("diagnose audit analyze analyse assess review check investigate")
"""Verbs that say something of each thing that is looked at."""
_A = {("a",), ("an",)}
ONE_FACT = {("id",), ("uuid",), ("identifier",), ("url",), ("address",), ("path",), ("location",)}
_FOUND = word_set("item result hit match")
_FETCHING = word_set("fetch retrieve get")
"""Verbs by which all of one thing that a search has found is got."""
_NOW = word_set("real current live latest")
_TAKING_APART = word_set("extract dump parse tokenize")
"""Verbs that say no more of a text than it holds."""
_CODE = frozenset({"code", "source code", "snippet"})
_EVERY = word_set("all every each")
_ALL = {(word,) for word in _EVERY}


def returns(r: Reading, action: Action | None) -> Kind | None:
    """What kind of result an action has; ``None`` when nothing can be said."""
    if action is None:
        return None
    v, verb, noun = r.v, action.verb, action.object
    if action.act == "write":
        return "ack"
    if action.act == "compute":
        return _computes(r, action)
    if action.act == "answer":
        if verb == "answer" and noun[-1:] == ("questions",):
            return None
        told = action.tail[:1] == ("to",) and v["model_words"].isdisjoint(noun)
        asked = told or not v["people"].isdisjoint(noun)
        return "ack" if asked and verb in {"ask", "prompt"} else "generation"
    if action.act in {"run", "other"}:
        return "unknown"
    if own(r, action):
        return "record"
    if verb in v["list_verbs"]:
        thing, certain = r.nouns.judged(noun, action.of)
        if verb in {"browse", "query"} and (thing == "document" or (thing == "record" and certain)):
            return thing
        if noun[-1:] in _COUNTS or noun[-1:] in _STATS:
            return "record"
        fixed = noun and r.nouns.small(noun)
        if noun[-1:] in ONE_FACT and verb in {"find", "search"} and QUANTIFIERS.isdisjoint(noun):
            return "record"
        mass = noun[-1:] != () and noun[-1] in v["mass_nouns"]
        lookup = verb == "find" and not mass and r.nouns.kind(noun, action.of) in {"record", "document"}
        if lookup:
            return r.nouns.kind(noun, action.of)
        chosen = verb in {"recommend", "suggest"} and noun[:1] in _A
        return "record" if chosen or (verb == "list" and fixed) else "list"
    return _reads(r, action)


def own(r: Reading, action: Action) -> bool:
    """Whether what is listed is what the server itself can do: "the formats this tool supports"."""
    if action.verb in {"search", "find"} or not action.object or not plural(action.object[-1]):
        return False
    if action.object[-1] not in r.v["offered_nouns"] | r.v["small_nouns"] | _NAMES:
        return False
    return any(who in _SERVERS and does in _OFFERING for who, does in pairwise(action.tail[:_NEAR]))


_NAMES = word_set("names targets")
_SERVERS = word_set("we server tool api service provider library engine")
_OFFERING = word_set("accept accepts support supports knows recognizes recognises offers understands ships bundles")
_NEAR = 7
"""How far behind a noun, in words, it is said who offers it."""


def _computes(r: Reading, action: Action) -> Kind:
    if action.verb == "check" and _enumerates(r, action):
        return "document"
    if action.verb in {"check", "review"} and not r.v["stream_nouns"].isdisjoint(action.object[-1:]):
        return "list"
    words = r.saying.words if r.saying is not None and action is r.said else ()
    for i, word in enumerate(words[:-2]):
        if word == "to" and words[i + 1] in {"find", "list", "discover", "locate"}:
            if r.nouns.kind(phrase(words, i + 2)[0]) in {"list", "document"}:
                return "list"
            break
    given = r.takes(r.v["payload_names"], required=True) or not r.v["payload_names"].isdisjoint(action.object[-1:])
    if action.verb in _FINDING and not given:
        return "list"
    if action.verb in _EXAMINING and not _EVERY.isdisjoint(action.object) and plural(action.object[-1]):
        return "list"
    sources = any(not r.v["address_words"].isdisjoint(split(p.name)) for p in r.inputs)
    formats = r.v["text_formats"]
    if action.verb == "parse" and sources and not given:
        return "document"
    if action.verb == "convert" and sources and not (formats.isdisjoint(words[1:]) and formats.isdisjoint(r.name)):
        return "document"
    return "scalar"


def _reads(r: Reading, action: Action) -> Kind:
    v, verb, noun, tail = r.v, action.verb, action.object, action.tail
    head = noun[-1] if noun else ""
    if _of_store(r, action):
        return "list"
    if head == "result" and not v["job_nouns"].isdisjoint(action.of):
        return "document"
    if head in _FOUND and verb in _FETCHING and "search" in r.first:
        return "document"
    if head == "value" and ("path" in action.of + tail or tail[:2] == ("by", "key")):
        return "document"
    if head == "state" and not v["page_parts"].isdisjoint(action.of):
        return "document"
    kind = r.nouns.kind(noun, action.of)
    if verb in {"lookup", "look"} and kind != "list":
        return "record"
    documents = verb in v.verbs.documents
    page = not v["page_nouns"].isdisjoint(noun) and (head in v["page_nouns"] or head not in v["record_nouns"])
    if (documents or verb == "fetch") and page:
        return "document"
    if verb in _TAKING_APART and r.takes(v["payload_names"] | _CODE, required=True):
        return "scalar"
    summed = head in v["sum_nouns"] or head in v["count_nouns"] or not v["sum_words"].isdisjoint(noun)
    if kind == "record" and tail[:1] == ("for",) and tail[1:2] in _ALL and not summed:
        return "list"
    if kind == "list" and (_is_row(r, action) or (head == "data" and not _NOW.isdisjoint(noun) and single(action))):
        return "record"
    if documents:
        short = head in v["scalar_nouns"] if verb == "extract" else action.act == "read" and is_brief(r, noun)
        return "record" if kind == "record" and short else "document"
    if kind == "record" and verb in {"download", "export"} and r.returned != "ack":
        return "document"
    told = r.saying.words if r.saying is not None and action is r.said else tail
    joined = phrase(tail, 1)[0] if tail[:1] == ("and",) else ()
    beside = joined != () and (joined[0] in v["long_nouns"] or joined[-1] in _ANSWERS)
    long = beside or (head not in v["sum_nouns"] and _holds_many(r, told))
    if kind == "record" and (long or _enumerates(r, action) or _offers_text(r)):
        return "document"
    if head in {"message", "mail"} and not v["mail_words"].isdisjoint(r.name + noun):
        return "document"
    return kind or "unknown"


def is_brief(r: Reading, noun: tuple[str, ...]) -> bool:
    """Whether a noun phrase names a value or one short piece of something: a voltage, one line."""
    return noun[-1:] != () and (noun[-1] in r.v["record_nouns"] or r.nouns.one_piece(noun))


def _is_row(r: Reading, action: Action) -> bool:
    """Whether what is read is a row of fields of one thing: "impressions, clicks and cost of a campaign"."""
    if action is not r.said or r.saying is None or not action.object:
        return False
    words, clauses = r.saying.words, r.saying.clauses
    start = next((i for i in range(len(words)) if words[i : i + len(action.object)] == action.object), None)
    if start is None:
        return False
    fields, i = [action.object], start + len(action.object)
    while i < len(words) and (clauses[i] == i or words[i] == "and"):
        field, end = phrase(words, i + (words[i] == "and"))
        if not field or end <= i:
            return False
        fields.append(field)
        i = end
    one = words[i : i + 2] in _OF_ONE
    single = any(not plural(field[-1]) for field in fields)
    return len(fields) > 2 and one and single and not any(any_of(r.v["long_nouns"], field) for field in fields)


_OF_ONE = {(word, article) for word in ("of", "for") for article in ("a", "an", "one")}


def _of_store(r: Reading, action: Action) -> bool:
    """Whether it is what lies in a sheet, a table or a file: "data from a sheet"."""
    held = action.object[-1:] in _HELD and action.tail[:1] == ("from",)
    return held and not r.v["stores"].isdisjoint(action.tail[:7])


def _holds_many(r: Reading, tail: tuple[str, ...]) -> bool:
    """Whether a record comes with something long: "with its comments", "and their replies", "with all transactions"."""
    long = r.v["long_nouns"]
    start = next((i for i, word in enumerate(tail) if word in _TOGETHER or tail[i : i + 2] in _AND_ITS), None)
    if start is None:
        return False
    tail = tail[start:]
    if not long.isdisjoint(tail[1:7]):
        return True
    return "all" in tail[1:3] and any(plural(word) and word not in r.v["small_nouns"] for word in tail[2:5])


_ANSWERS = word_set("result results output outputs rows documents")
_TOGETHER = word_set("with including")
_AND_ITS = {("and", "its"), ("and", "their")}


def _offers_text(r: Reading) -> bool:
    """Whether a switch adds the text of what is read: ``include_body``."""
    long = r.v["long_fields"]
    names = [split(p.name) for p in r.inputs if "boolean" in p.schema.types]
    return any(name[0] in _ADDS and not long.isdisjoint(name[1:]) for name in names if name)


def _enumerates(r: Reading, action: Action) -> bool:
    """Whether what is read is a row of fields with a long one among them: "the title, body and comments"."""
    if action is not r.said or r.saying is None or len(action.object) > 4:
        return False
    words, clauses = r.saying.words, r.saying.clauses
    for i, word in enumerate(words):
        if word in r.v["long_fields"] and i and ends_phrase(words, clauses, i):
            first = i if words[i - 1] == "and" or clauses[i] == i else i - 1
            if (words[first - 1] == "and" or clauses[first] == first) and words[i - 1] not in _NOT_A_PART:
                return True
    return False


def sure(r: Reading, action: Action) -> bool:
    """Whether the words of an action's object say what it is."""
    return _of_store(r, action) or r.nouns.judged(action.object, action.of)[1]


def single(action: Action) -> bool:
    """Whether it is said that one thing is read: "the details of a single group"."""
    return action.act == "read" and not EXACTLY_ONE.isdisjoint(action.object + action.of + action.tail[:4])


def sums(r: Reading) -> bool:
    """Whether the description says that a sum is returned: statistics, a total."""
    said = r.said
    if said is None or said.act != "read" or not said.object:
        return False
    return said.object[-1] in r.v["sum_nouns"] or said.object[-1] in r.v["count_nouns"]


def one(r: Reading) -> bool:
    """Whether the name says that one short thing is read: a status, the details of an order."""
    return r.named is not None and returns(r, r.named) == "record" and sure(r, r.named)


def bare(r: Reading) -> Kind | None:
    """What a name without a verb names, ``git_blame``, where the description does not begin with what it is."""
    said = r.said
    if r.named is not None or (said is None and r.sentences) or (said is not None and said.act == "other"):
        return None
    kind, sure = r.nouns.judged(r.name)
    return kind if sure else None


def titled(r: Reading) -> Kind | None:
    """What a description without a verb names: "All readings of a station", "Restaurants near a point"."""
    words = r.first
    if words[:1] == ("everything",):
        return "list"
    if not words:
        return None
    noun, of, _ = noun_of(words, 0, clause_end(r.sentences[0].clauses, 0))
    if r.name[-1:] in _STATS or not noun or noun[-1] in _WORKINGS or _has_verb(r, noun, words[1:2]):
        return None
    kind, sure = r.nouns.judged(noun, of)
    return kind if sure and kind in {"list", "document"} else None


_WORKINGS = word_set("operation operations utilities helpers tools functions actions commands features integration")
"""Nouns by which a tool is named, and not what it returns."""


def _has_verb(r: Reading, noun: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether a verb that nobody knows begins what seems a noun phrase, or is in it: "unstages all changes"."""
    verbs = r.v.verbs
    told = (second in DETERMINERS or any_of(QUANTIFIERS, second)) and noun[0] not in QUANTIFIERS
    joined = len(noun) > 1 and plural(noun[0])
    inside = any(word.endswith("s") and verbs.base(word) not in {None, word} for word in noun[:-1])
    last = noun[-1].endswith("s") and verbs.base(noun[-1]) not in {None, noun[-1], *verbs.nouns}
    return told or joined or inside or (len(noun) > 1 and last)
