"""What else decides on the size of a result: a file written, a range of time, an answer that is said to be long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowbench.patterns import Patterns
from dowbench.prose import sentences
from dowbench.result.actions import sure
from dowbench.result.english import any_of, phrase, plural, singular, word_set
from dowbench.words import split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dowbench.model import Parameter, Schema, Tool
    from dowbench.result.english import Action
    from dowbench.result.reading import Reading

_RETURNS = word_set("returns return returning")


def words_of(parameter: Parameter, count: int | None = None) -> frozenset[str]:
    """The words of its description, or of the first ``count`` sentences of it."""
    return frozenset(word for sentence in sentences(parameter.description)[:count] for word in sentence.words)


def answers_when_done(r: Reading) -> bool:
    """Whether what was worked out comes with the status: "Returns the report when it is ready"."""
    return "eturn" in r.tool.description and _TOLD.when_done.search(r.tool.description) is not None


_TOLD = Patterns(
    when_done=r"\b(?:returns?|including) (?:\w+ ){0,3}"
    r"(?:results?|outputs?|reports?|answers?|responses?|contents?|transcript)"
    r" (?:when|once|if|as soon as) (?:(?:it|the \w+) (?:is|has|was) )?(?:\w+ )?"
    r"(?:completed?|done|finish(?:ed|es)|ready|available|succeeded)\b",
    inline=r"\breturn(?:ed|s)? (?:\w+ ){0,3}inline\b",
)


def makes_several(r: Reading) -> bool:
    """Whether it makes things up and hands them out: "generates random words"."""
    return any(a.verb == "generate" and a.object and plural(a.object[-1]) for a in r.actions)


def saved(r: Reading) -> bool:
    """Whether the result goes to a file that the caller must name, or is said to go to one."""
    v = r.v
    places = [p for p in r.tool.parameters if p.required and "string" in p.schema.types]
    places = [p for p in places if not v["place_names"].isdisjoint(split(p.name))]
    exports = any(action.verb in _TO_FILES for action in r.actions)
    if exports and len(places) > 1:
        return True
    for parameter in places:
        text = parameter.description or r.argument_texts.get(parameter.name, "")
        told = frozenset(word for sentence in sentences(text) for word in sentence.words)
        saves = not v["saving_words"].isdisjoint(told) and not {"to", "save"}.isdisjoint(told)
        first, *rest = split(parameter.name)
        if exports and first in _FORMATS and rest:
            return True
        if saves or (first in _TARGETS and (not rest or not v["place_names"].isdisjoint(rest))):
            return True
    if any(action.verb in _MAKES_FILES for action in r.actions) and any(map(_is_folder, r.inputs)):
        return True
    for sentence in r.sentences[:4]:
        words = sentence.words
        for i, word in enumerate(words[:-1]):
            near = words[i : i + 14]
            if (
                word in _EXPORTS
                and "to" in near
                and any_of(_FILES | {"path", "location"}, near[near.index("to") :][:6])
            ):
                return True
            if word == "write" and words[i + 1 : i + 3] in _IT_TO and any_of(_FILES, near):
                return True
            if word in {"saves", "save", "writes", "saved"} and any_of(_FILES, near) and not any_of(_PERHAPS, words):
                joined = i > 0 and words[i - 1] == "and" and words[i + 1] in {"it", "them"}
                return i < 4 or word in {"saves", "writes"} or joined
    return False


def _is_folder(parameter: Parameter) -> bool:
    """Whether it is where files go, and they do so where it is left out, too: "defaults to the folder of the video"."""
    name, told = split(parameter.name), words_of(parameter)
    chosen = len(name) > 1 and name[0] in _TARGETS and name[-1] in _FOLDERS
    return chosen and not _DEFAULTS.isdisjoint(told) and _COME_BACK.isdisjoint(told)


_FOLDERS = word_set("dir directory folder")
_DEFAULTS = word_set("default defaults same auto automatically")
_COME_BACK = word_set("return returns returned inline")
_MAKES_FILES = word_set(
    "extract split convert translate render export capture cut crop merge combine slice resize compress"
)
_TO_FILES = word_set("export download dump save convert render backup print record")
"""Verbs of which the second place that a call names is where the result goes."""
_FORMATS = word_set("csv json xml xlsx excel pdf html markdown md png svg zip txt docx parquet")
_TARGETS = word_set("output out save local target dest download export result")
_EXPORTS = word_set("dump dumps dumped export exports exported download downloads downloaded")
_FILES = word_set("file files directory disk folder drive storage bucket")
_IT_TO = {("it", "to"), ("them", "to"), ("it", "into"), ("it", "as")}
_PERHAPS = word_set("optionally optional also if when large")


def paged(r: Reading) -> bool:
    """Whether the caller asks for a number of entries from a place on: ``limit`` beside ``offset``."""
    v, names = r.v, {" ".join(split(p.name)) for p in r.tool.parameters}
    onward = v["cursor_names"] | v["page_names"] | v["offset_names"]
    counts = any(a.act == "write" or a.verb in _COUNTING for a in r.actions)
    return not counts and not names.isdisjoint(v["limit_names"]) and not names.isdisjoint(onward)


_COUNTING = word_set("count check validate verify")


def ranged(r: Reading) -> bool:
    """Whether what is read is a thing of no known kind between two points in time, and so one entry for each."""
    words = [split(p.name) for p in r.inputs if split(p.name) not in _ENDS or _in_time(p)]
    spans = any(not _FROM.isdisjoint(name) for name in words) and any(not _TO.isdisjoint(name) for name in words)
    series = r.v["series_nouns"]
    known = any(sure(r, a) and series.isdisjoint(a.object[-1:]) and a.object[-1:] != ("data",) for a in r.actions)
    counted = r.name[-1:] in _TOTALS
    return spans and r.actions != () and not known and not counted


def _in_time(parameter: Parameter) -> bool:
    """Whether a bare ``from`` or ``to`` is a point in time: it may as well be a place or a currency."""
    times = words_of(parameter, 2) | frozenset(split(str(parameter.schema.get("format") or "")))
    return "integer" in parameter.schema.types or not _TIMES.isdisjoint(times)


_ENDS = {("from",), ("to",)}
_TIMES = word_set("date dates time times datetime timestamp timestamps day days iso unix epoch rfc yyyy start end")
_TOTALS = {("count",), ("total",)}
_FROM = word_set("start from since begin after")
_TO = word_set("end to until before stop")


def answers_with_text(r: Reading) -> bool:
    """Whether an act also answers with a text it led to: "navigates to a URL and returns the page content"."""
    for sentence in r.sentences[:3]:
        words = sentence.words
        for i, word in enumerate(words):
            if word in _RETURNS:
                noun, _ = phrase(words, i + 1 + (words[i + 1 : i + 2] in _ITS))
                if noun and noun[-1] in r.v["answer_texts"] and {"created", "updated", "new"}.isdisjoint(noun):
                    return True
    return False


_ITS = {("its",), ("their",), ("this",)}


def large(r: Reading) -> bool:
    """Whether the description admits that what comes back may be long: "the response can be very large"."""
    for sentence in r.sentences:
        words = sentence.words
        for i, word in enumerate(words[:-1]):
            if word in _MAY and not _LARGE.isdisjoint(words[i + 1 : i + 5]) and "be" in words[i + 1 : i + 3]:
                before = words[sentence.clauses[i] : i]
                if not _IN.isdisjoint(before):
                    return False
                return before[-1:] in _IT or not _RESULT.isdisjoint(words[:i])
    return False


def inline(r: Reading) -> bool:
    """Whether what a parameter can have saved comes back where it is left out: "if omitted, it is returned inline"."""
    return any("nline" in p.description and _TOLD.inline.search(p.description) for p in r.inputs)


_MAY = word_set("can may could might will would")
_LARGE = word_set("large huge big long lengthy verbose extensive voluminous massive sizable sizeable unbounded")
_IN = word_set("input inputs file files upload uploads query name names text description url delay wait time")
_IT = {("it",), ("this",), ("these",), ("they",), ("so", "it")}
_RESULT = word_set(
    "response responses result results output outputs report reports payload answer return returned returns data list "
    "log logs document object json"
)


def encoded(r: Reading) -> bool:
    """Whether bytes come out as text: base64 that is returned, not passed in."""
    for sentence in r.sentences[:4]:
        words = sentence.words
        for i, word in enumerate(words):
            if word == "binary" and words[i - 1 : i] == ("embedded",) and words[i + 1 : i + 2] in _EMBEDDED:
                return True
            if word == "64" and i and words[i - 1] == "base" and any_of(_OUT, words[max(0, i - 12) : i]):
                return not any("base64" in f"{p.name} {p.description}".lower() for p in r.tool.parameters)
    return False


_EMBEDDED = {("resource",), ("content",), ("data",)}


def pictured(r: Reading) -> bool:
    """Whether what is returned, or what is read, is a single picture."""
    nouns = [r.returned_noun[0], *(action.object for action in r.actions)]
    return any(not _ONE_PICTURE.isdisjoint(noun) and not plural(noun[-1]) for noun in nouns if noun)


_ONE_PICTURE = word_set("image picture photo photograph frame jpeg jpg png screenshot thumbnail icon")
_OUT = word_set("return returns returned returning as load get fetch download export")


def image(r: Reading) -> bool:
    """Whether one image comes back."""
    if not r.v["software_images"].isdisjoint((*r.first, *r.name)):
        return False
    if r.returned_noun[0][-1:] in _PICTURE and any(a.verb in {"render", "draw", "plot"} for a in r.actions):
        return True
    acts = [a for a in r.actions if a.act == "read" and a.verb not in r.v["looking_verbs"]]
    if any(a.act in {"read", "document"} and _as_picture(r, a) for a in r.actions):
        return True
    shown = [a for a in acts if ADDRESS.isdisjoint(a.tail)]
    compared = r.said is not None and r.said.act == "compute"
    return (r.name[-1:] == ("screenshot",) and not compared) or any(
        a.object and a.object[-1] in r.v["image_nouns"] for a in shown
    )


ADDRESS = word_set("url urls link links path")


def _as_picture(r: Reading, action: Action) -> bool:
    """Whether something is handed out in the form of a picture: "exports a node as an image"."""
    media = r.v["media_nouns"]
    return action.tail[:1] in _AS and action.verb in _TURNS and any_of(media, action.tail[:4])


_AS = {("as",), ("to",), ("into",)}
_TURNS = word_set("export render convert capture download get return show")
_PICTURE = {("image",), ("picture",), ("png",)}


def keyed(r: Reading) -> bool:
    """Whether the caller names each thing that it gets back, so that the answer is as long as the question."""
    keys = r.v["key_nouns"]
    things = {word for a in r.actions for noun in (a.object, a.of) if noun for word in (*noun, *singular(noun))}

    def names_them(name: tuple[str, ...]) -> bool:
        """Whether ids of such a name are of what is read, and not of what it lies in: the channels of messages."""
        return not keys.isdisjoint(name[-1:]) and (len(name) == 1 or not things.isdisjoint(name[:-1]) or not things)

    if _one_for_each(r):
        return True
    for p in r.inputs if all(a.act == "read" or a.verb in _WORKING_OUT for a in r.actions) else ():
        asked = p.required or len(r.inputs) == 1
        if asked and "array" in p.schema.types and any_of(split(p.name)[-1:], *(a.object + a.of for a in r.actions)):
            return True
    listed = {p.path[0] for p in r.tool.parameters if p.required and p.path[1:] in {("id",), ("[]", "id")}}
    return any(
        p.required and (names_them(split(p.name)) or (p.name in listed and "array" in p.schema.types)) for p in r.inputs
    )


_WORKING_OUT = word_set("evaluate eval calculate compute convert translate resolve encode decode hash")
"""Verbs that make one value of each thing that is given."""


def _one_for_each(r: Reading) -> bool:
    """Whether it is said that one entry comes back for each entry of an array: "one result per expression"."""
    given = {singular(split(p.name)[-1:])[-1] for p in r.inputs if "array" in p.schema.types and split(p.name)}
    for words in (sentence.words for sentence in r.sentences if given and "one" in sentence.words):
        for i, word in enumerate(words):
            behind = words[i + 2 : i + 5]
            each = behind[1:2] if behind[:1] == ("per",) else behind[2:] if behind[:2] == ("for", "each") else ()
            if word == "one" and each and words[i + 1] in _ENTRIES and singular(each)[-1] in given:
                return True
    return False


_ENTRIES = word_set("result value entry row record number item answer object output line")


def asks(r: Reading) -> bool:
    """Whether it is given a search term, a question or an address to get something for."""
    if any(action.act in {"write", "compute", "run"} for action in r.actions):
        return False
    return any(
        not r.v["term_names"].isdisjoint(split(p.name))
        for p in r.inputs
        if "string" in p.schema.types or not p.schema.types
    )


def plain_record(output: Schema | None, free_text: frozenset[str]) -> bool:
    """Whether the declared output is an object of single short values only."""
    if output is None or not output.properties or output.additional is not None:
        return False
    for name, schema in output.properties.items():
        types = set(schema.types)
        if not types or types & {"array", "object"} or schema.alternatives:
            return False
        long = "string" in types and schema.get("maxLength") is None and not schema.get("enum")
        if long and not free_text.isdisjoint(split(name)):
            return False
    return True


def many_fields(output: Schema | None, texts: frozenset[str]) -> bool:
    """Whether the declared output is an object of several fields, none of which is a text or a long list of them."""
    if output is None or len(output.properties) < 4:
        return False
    return not any(" ".join(split(name)) in texts for name in output.properties)


def identified(output: Schema | None) -> bool:
    """Whether the declared output is one thing with an id of its own."""
    return output is not None and len(output.properties) >= 3 and "id" in output.properties


def shows_snapshots(siblings: Sequence[Tool]) -> bool:
    """Whether a set of browser tools names elements by references from a snapshot of the page.

    Such references are void after every act, so that servers of this design answer each act with a new snapshot; not
    where a parameter turns the snapshot on.
    """
    references = 0
    for tool in siblings:
        for parameter in tool.parameters:
            name = split(parameter.name)
            if "include" in name and "snapshot" in name:
                return False
            if name[-1:] and name[-1] in {"ref", "target", "uid", "element"} and "snapshot" in parameter.description:
                references += 1
    return references >= 2


def acts_on_page(r: Reading) -> bool:
    """Whether its name says that it does something to a page, and more than to let some time pass."""
    passes = "wait" in r.name and all(not _DURATION.isdisjoint(split(p.name)) for p in r.inputs)
    return not passes and not r.v["page_acts"].isdisjoint(r.name)


_DURATION = word_set("time seconds ms milliseconds duration delay timeout sleep")
