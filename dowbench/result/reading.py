"""One tool with its name and description taken apart, and the noun phrases in them judged."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

from dowbench.prose import Sentence, sentences
from dowbench.result.bounds import argument_texts, names_limit
from dowbench.result.english import (
    QUANTIFIERS,
    Action,
    any_of,
    clause_end,
    ends_phrase,
    in_name,
    in_sentence,
    noun_of,
    phrase,
    plural,
    singular,
    word_set,
)
from dowbench.words import split

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dowbench.model import Tool
    from dowbench.result.vocabulary import Vocabulary

Kind = Literal["list", "text", "document", "record", "ack", "scalar", "media", "generation", "unknown"]

_OPENING = 3
"""How many sentences of a description may say what the tool does."""
_RETURNS = word_set("returns return returning outputs yields")
_SHOWS = word_set("show shows list lists display displays print prints retrieve retrieves fetch fetches get gets")
_FILES = word_set("file files document documents pdf page webpage")
_OUTPUT_IS = word_set("will be is of this tool")
_HEADINGS = frozenset({("returns",), ("return",), ("returned",), ("output",), ("outputs",)})
_WRAPPERS = word_set(
    "json dict dictionary dictionaries object objects string str response result text markdown html output map mapping "
    "tuple payload structure format formatted any"
)
_WHO = word_set(
    "and or it tool this function method endpoint operation api will then also always only automatically to by"
)
"""Words before "returns" after which it is about the tool itself."""
_DETERMINERS = word_set("the matching its their any")
_HOLDING = word_set("containing with including holding representing describing having")
_NOT_A_PART = word_set("no without in as to into")
_REQUEST = {("request",), ("requests",)}
_METHODS = word_set("http post put patch delete")
_ADDRESS = word_set("url uri endpoint")
_EXACTLY_ONE = word_set("single specific particular individual")
_ADDS = word_set("include with return add fetch full")
_COUNTS = {("count",), ("total",)}
_HELD = {("data",), ("values",), ("rows",), ("cells",)}
_TAKES = word_set("accepts takes requires expects supports needs try prefer note see pass tip important warning")
"""Words by which a later sentence says what goes in, or gives advice."""
_FINDING = frozenset({"audit", "diagnose", "lint", "scan"})
"""Verbs that return what they found, one entry for each."""
_QUESTIONS = word_set("is are was has have can does should")
"""Words that begin the name of a question: ``is_empty``."""
_EXAMINING = word_set("diagnose audit analyze analyse assess review check investigate triage")
"""Verbs that say something of each thing that is looked at."""
_EVERY = word_set("all every each")
_THE = word_set("the a an its their your this all detailed specific")
_ONE = word_set("a an one single specific particular individual specified requested selected current named")
"""Words by which a noun phrase says that it means one thing."""


def _without_signature(description: str, name: str) -> str:
    """A description without the Python signature that some frameworks put on a line before it."""
    if not description.startswith(f"{name}("):
        return description
    return description.partition("\n")[2].strip() or description


def _ends_by_id(words: tuple[str, ...]) -> bool:
    """Whether a sentence ends in "by id", "by its id" or the like."""
    return words[-1:] in _ID and (words[-2:-1] == ("by",) or (words[-3:-2] == ("by",) and words[-2] in _ITS))


_ITS = word_set("its their the an unique")
_ID = {("id",), ("uuid",), ("identifier",), ("slug",)}


class Reading:
    """What a tool's name and description say."""

    def __init__(self, tool: Tool, v: Vocabulary) -> None:
        self.tool = tool
        self.inputs = tool.inputs
        self.v = v
        self.name = split(tool.name)
        self.sentences = sentences(_without_signature(tool.description, tool.name))
        self.named = in_name(self.name, v.verbs)
        """The action in the name."""
        self.said: Action | None = None
        """The action in the description."""
        self.saying: Sentence | None = None
        """The sentence that ``said`` is from."""
        for i, sentence in enumerate(self.sentences[:_OPENING]):
            takes = i > 0 and sentence.words[0] in _TAKES
            if takes or "input" in sentence.words[:2] or self._of_argument(sentence):
                continue
            self.said = in_sentence(sentence.words, sentence.clauses, v.verbs)
            if self.said is not None:
                self.saying = sentence
                break
        if self.said is not None and self.said.act == "other" and self.named is not None:
            self.said = None
        if self.said is not None and self.said.verb == "open" and "by" in self.said.tail:
            self.said = self.said._replace(act="read")
            if self.named is not None and self.named.verb == "open":
                self.named = self.named._replace(act="read")
        if self.named is not None and not self.named.sure and self.said is not None:
            self.named = None
        if self.named is not None and self.named.act == "run" and self.said is not None and self.said.act == "write":
            self.named = self.named._replace(act="write")
        if self._by_id:
            self.named, self.said = (
                a and a._replace(object=a.object and singular(a.object)) for a in (self.named, self.said)
            )

    def _of_argument(self, sentence: Sentence) -> bool:
        """Whether a sentence is the line of a docstring about one parameter: "prompt: What to do"."""
        start, end = sentence.places[0]
        text = sentence.text
        return text[end : end + 1] == ":" and any(text[start:end] == parameter.name for parameter in self.inputs)

    @property
    def _by_id(self) -> bool:
        """Whether the one thing with an identifier is read, though the name may have it in the plural."""
        by_id = self.name[-2:] == ("by", "id") or (self.saying is not None and _ends_by_id(self.saying.words))
        return by_id and sum(p.required for p in self.inputs) == 1 and not self.takes(self.v["key_nouns"])

    @cached_property
    def argument_texts(self) -> Mapping[str, str]:
        """What the description says of single parameters."""
        return argument_texts(self.tool.description)

    @property
    def text_on_result(self) -> str:
        """The description without what it says of arguments that limit nothing."""
        text = self.tool.description
        if not self.argument_texts:
            return text
        for parameter in self.inputs:
            said = self.argument_texts.get(parameter.name)
            if said and not names_limit(parameter.name, self.v):
                text = text.replace(said, "", 1)
        return text

    @cached_property
    def actions(self) -> tuple[Action, ...]:
        """The actions of description and name, the description's first."""
        return tuple(action for action in (self.said, self.named) if action is not None)

    @property
    def first(self) -> tuple[str, ...]:
        """The words of the first sentence."""
        return self.sentences[0].words if self.sentences else ()

    @property
    def many(self) -> bool:
        """Whether one call returns several of what is named."""
        objects = [action.object for action in self.actions]
        return any(o and (plural(o[-1]) or not QUANTIFIERS.isdisjoint(o)) for o in objects)

    def takes(self, names: frozenset[str], *, required: bool = False) -> bool:
        """Whether a top-level parameter has one of ``names`` as its whole name."""
        return any(
            " ".join(split(parameter.name)) in names for parameter in self.inputs if parameter.required or not required
        )

    @cached_property
    def returned(self) -> Kind | None:
        """What a sentence about the result says of it: "Returns a list of matching pages"."""
        noun, of = self.returned_noun
        if not noun:
            return None
        acks = self.v["ack_nouns"]
        return "ack" if noun[-1] in acks or noun[0] in acks else self.noun(noun, of)

    @cached_property
    def returned_noun(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The noun phrase that a sentence says is returned, and the one after its "of"; both may be empty."""
        for s, sentence in enumerate(self.sentences):
            words, clauses = sentence.words, sentence.clauses
            if words in _HEADINGS and s + 1 < len(self.sentences):
                return self._inside(self.sentences[s + 1])
            for i, word in enumerate(words):
                j = i + 1
                if word == "output":
                    while j < len(words) and words[j] in _OUTPUT_IS:
                        j += 1
                    if j == i + 1:
                        continue
                elif not self._says_result(words, clauses, i):
                    continue
                if j >= len(words):
                    continue
                end = clause_end(clauses, j)
                noun, of, stop = noun_of(words, j, end)
                if not noun and stop < end and words[stop] in {"matching", "its", "their", "your", "this"}:
                    noun, of, _ = noun_of(words, stop + 1, end)
                if noun:
                    return noun, of
        return (), ()

    def _says_result(self, words: tuple[str, ...], clauses: tuple[int, ...], i: int) -> bool:
        """Whether the verb at ``i`` says what this tool returns, and not what another one does."""
        before = words[i - 1] if i else ""
        if words[i] in _SHOWS:
            return before == "and"
        return words[i] in _RETURNS and (clauses[i] == i or before in _WHO or before in self.name[-1:])

    def _inside(self, sentence: Sentence) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What a docstring says under "Returns:", out of its wrapper: "JSON string with the matching pages"."""
        words = sentence.words
        end, i = len(words), 0
        noun, of, i = noun_of(words, 0, end)
        while noun and noun[-1] in _WRAPPERS and i < end and (of or words[i] in _HOLDING):
            start = i + 1
            while start < end and words[start] in _DETERMINERS:
                start += 1
            noun, of, i = (of, (), i) if of else noun_of(words, start, end)
        return (noun, of) if noun and noun[-1] not in _WRAPPERS else ((), ())

    @property
    def sends(self) -> bool:
        """Whether it is an HTTP request, ``patch_request``, to an address that the caller gives."""
        if self.name[-1:] not in _REQUEST or _METHODS.isdisjoint(self.name):
            return False
        return any(not _ADDRESS.isdisjoint(split(p.name)) for p in self.inputs)

    @property
    def lists(self) -> bool:
        """Whether what is returned is called a list, or all of something."""
        noun, of = self.returned_noun
        return noun[-1:] != () and (noun[-1] in self.v["list_nouns"] or not QUANTIFIERS.isdisjoint(noun + of))

    @property
    def decides(self) -> bool:
        """Whether the answer is yes or no: ``is_list_empty``, "Tells whether the list is sorted"."""
        asks = self.name[:1] and self.name[0] in _QUESTIONS
        return bool(asks or "whether" in self.first[:2]) and self.returned not in {"list", "document"}

    @property
    def one(self) -> bool:
        """Whether the name says that one short thing is read: a status, the details of an order."""
        return self.named is not None and self.acts(self.named) == "record" and self.sure(self.named)

    def noun(self, noun: tuple[str, ...], of: tuple[str, ...] = ()) -> Kind | None:
        """What kind of thing a noun phrase names: a list, a document or a record."""
        return self.judged(noun, of)[0]

    def judged(self, noun: tuple[str, ...], of: tuple[str, ...] = ()) -> tuple[Kind | None, bool]:
        """What kind of thing a noun phrase names, and whether it says so: what nobody knows is a record."""
        v = self.v
        if not noun:
            return self.judged(of) if of else (None, False)
        head, heads = noun[-1], {noun[-1], " ".join(noun[-2:])}
        many = not QUANTIFIERS.isdisjoint(noun)
        of_many = bool(of) and (plural(of[-1]) or not QUANTIFIERS.isdisjoint(of)) and _EXACTLY_ONE.isdisjoint(of)
        if head == "table" and of == ("contents",):
            return "record", True
        if head in v["list_nouns"] and of:
            return ("record" if self.small(of) else "list"), True
        if head in v["view_nouns"] and of and (head != "tree" or of_many):
            return self.judged(of)
        if head in v["scalar_nouns"] and not many:
            each = head not in v["count_nouns"] and not QUANTIFIERS.isdisjoint(of) and v["sum_words"].isdisjoint(noun)
            return ("list" if each else "record"), True
        pair = " ".join(noun[-2:])
        if len(noun) > 1 and pair in v["document_nouns"]:
            return "document", True
        if len(noun) > 1 and pair in v["collection_nouns"]:
            return "list", True
        if not heads.isdisjoint(v["record_nouns"]):
            if of_many and of[-1] not in v["record_nouns"] and head not in v["sum_nouns"]:
                return ("record" if self.small(of) else "list"), True
            several = many and plural(head) and head not in v["detail_nouns"]
            series = head in v["series_nouns"] and not v["past_words"].isdisjoint(noun)
            return ("list" if several or series else "record"), True
        if head in v["document_nouns"] or (head == "snapshot" and not v["page_parts"].isdisjoint(noun)):
            return "document", True
        if self.small(noun):
            return "record", True
        if head == "source" and not v["program_parts"].isdisjoint(noun[:-1] + of):
            return "document", True
        if head in {"source", "data", "string", "dump", "output"} and not v["document_nouns"].isdisjoint(noun[:-1]):
            return "document", True
        if "tree" in noun and head in {"structure", "view", "listing"}:
            return "document", True
        if not {"entire", "whole", "full", "complete"}.isdisjoint(noun) or (head == "code" and "source" in noun):
            return "document", True
        if not v["sum_words"].isdisjoint(noun[:-1]) and not many:
            return "record", True
        if plural(head) or head in v["collection_nouns"] or (many and head not in {"one", "single"}):
            return "list", True
        if head == "data":
            rest = tuple(word for word in noun[:-1] if word not in _THE)
            kind, sure = self.judged(rest)
            single = sure or self.of_one_day or not self.entities.isdisjoint(rest)
            return (kind or "record", True) if single and v["series_words"].isdisjoint(noun) else ("list", False)
        return "record", not _ONE.isdisjoint(noun)

    @cached_property
    def entities(self) -> frozenset[str]:
        """The words of the parameters by which one thing is picked: ``user_id`` picks a user."""
        return frozenset(word for p in self.inputs if p.required for word in split(p.name))

    @property
    def of_one_day(self) -> bool:
        """Whether the caller names one day."""
        names = {" ".join(split(p.name)) for p in self.inputs if p.required}
        return not names.isdisjoint({"date", "day"})

    def sure(self, action: Action) -> bool:
        """Whether the words of an action's object say what it is."""
        return self._of_store(action) or self.judged(action.object, action.of)[1]

    def single(self, action: Action) -> bool:
        """Whether it is said that one thing is read: "the details of a single group"."""
        return action.act == "read" and not _EXACTLY_ONE.isdisjoint(action.object + action.of + action.tail[:4])

    @property
    def sums(self) -> bool:
        """Whether the description says that a sum is returned: statistics, a total."""
        return self.said is not None and self.said.act == "read" and self.said.object[-1:] in self._sums

    @cached_property
    def _sums(self) -> frozenset[tuple[str]]:
        return frozenset((noun,) for noun in self.v["sum_nouns"] | self.v["count_nouns"])

    def _of_store(self, action: Action) -> bool:
        """Whether it is what lies in a sheet, a table or a file: "data from a sheet"."""
        held = action.object[-1:] in _HELD and action.tail[:1] == ("from",)
        return held and not self.v["stores"].isdisjoint(action.tail[:7])

    def small(self, noun: tuple[str, ...]) -> bool:
        """Whether things of this name are few by nature: what a service supports, what is open right now."""
        v, head = self.v, noun[-1]
        if head in v["small_nouns"] or " ".join(noun[-2:]) in v["small_nouns"] or not v["fixed_words"].isdisjoint(noun):
            return True
        for state in ("live", "opened", "offered"):
            if head in v[f"{state}_nouns"] and not v[f"{state}_words"].isdisjoint(noun):
                return True
        return head in v["part_nouns"] and self.of_one

    @cached_property
    def of_one(self) -> bool:
        """Whether the caller picks one thing, of which the parts are asked for: a file, a page, a data set."""
        wholes = self.v["whole_nouns"]
        return any(
            p.required and "array" not in p.schema.types and not wholes.isdisjoint(split(p.name)) for p in self.inputs
        )

    @cached_property
    def bare(self) -> Kind | None:
        """What a name without a verb names, ``git_blame``, where the description does not begin with what it is."""
        said = self.said
        if self.named is not None or (said is None and self.sentences) or (said is not None and said.act == "other"):
            return None
        kind, sure = self.judged(self.name)
        return kind if sure else None

    @cached_property
    def titled(self) -> Kind | None:
        """What a description without a verb names: "All readings of a station", "Restaurants near a point"."""
        words = self.first
        if words[:1] == ("everything",):
            return "list"
        if not words:
            return None
        noun, of, _ = noun_of(words, 0, clause_end(self.sentences[0].clauses, 0))
        if not noun:
            return None
        kind, sure = self.judged(noun, of)
        named = noun[-1] in self.name and len(noun) < 4
        every = noun[0] in {"all", "every"} and len(noun) > 1 and plural(noun[-1])
        return kind if sure and (named or every) and kind in {"list", "document"} else None

    def acts(self, action: Action | None) -> Kind | None:
        """What kind of result an action has; ``None`` when nothing can be said."""
        if action is None:
            return None
        v, verb, noun = self.v, action.verb, action.object
        if action.act == "write":
            return "ack"
        if action.act == "compute":
            return self._computes(action)
        if action.act == "answer":
            if verb == "answer" and noun[-1:] == ("questions",):
                return None
            told = action.tail[:1] == ("to",) and v["model_words"].isdisjoint(noun)
            asked = told or not v["people"].isdisjoint(noun)
            return "ack" if asked and verb in {"ask", "prompt"} else "generation"
        if action.act in {"run", "other"}:
            return "unknown"
        if verb in v["list_verbs"]:
            if verb in {"browse", "query"} and self.noun(noun, action.of) == "document":
                return "document"
            if noun[-1:] in _COUNTS:
                return "record"
            fixed = noun and self.small(noun)
            lookup = verb == "find" and self.noun(noun, action.of) in {"record", "document"}
            if lookup:
                return self.noun(noun, action.of)
            return "record" if verb == "list" and fixed else "list"
        return self._reads(action)

    def _computes(self, action: Action) -> Kind:
        if action.verb in {"check", "review"} and not self.v["stream_nouns"].isdisjoint(action.object[-1:]):
            return "list"
        words = self.saying.words if self.saying is not None and action is self.said else ()
        for i, word in enumerate(words[:-2]):
            if word == "to" and words[i + 1] in {"find", "list", "discover", "locate"}:
                if self.noun(phrase(words, i + 2)[0]) in {"list", "document"}:
                    return "list"
                break
        if action.verb in _FINDING and self._finds_many(action):
            return "list"
        if action.verb in _EXAMINING and not _EVERY.isdisjoint(action.object) and plural(action.object[-1]):
            return "list"
        sources = any(not self.v["address_words"].isdisjoint(split(p.name)) for p in self.inputs)
        formats = self.v["text_formats"]
        if action.verb == "parse" and sources and not _FILES.isdisjoint(action.object[-1:]):
            return "document"
        if (
            action.verb == "convert"
            and sources
            and not (formats.isdisjoint(words[1:]) and formats.isdisjoint(self.name))
        ):
            return "document"
        return "scalar"

    def _finds_many(self, action: Action) -> bool:
        """Whether what is gone over is as large as somebody made it: a site, a network, the packages of a project."""
        given = self.takes(self.v["payload_names"], required=True)
        every = action.verb == "scan" and not QUANTIFIERS.isdisjoint(action.object)
        large = any_of(self.v["inspected_nouns"], action.object, action.of, action.tail[:5])
        return (every or large) and not given

    def _reads(self, action: Action) -> Kind:
        v, verb, noun, tail = self.v, action.verb, action.object, action.tail
        head = noun[-1] if noun else ""
        if self._of_store(action):
            return "list"
        if head == "result" and not v["job_nouns"].isdisjoint(action.of):
            return "document"
        if head == "value" and not {"key", "path"}.isdisjoint(action.of + tail):
            return "document"
        if head == "state" and not v["page_parts"].isdisjoint(action.of):
            return "document"
        kind = self.noun(noun, action.of)
        if verb in {"lookup", "look"} and kind != "list":
            return "record"
        documents = verb in v.verbs.documents
        page = not v["page_nouns"].isdisjoint(noun) and (head in v["page_nouns"] or head not in v["record_nouns"])
        if (documents or verb == "fetch") and page:
            return "document"
        if verb == "extract" and self.takes(v["payload_names"], required=True):
            return "scalar"
        if documents:
            short = (
                head in v["scalar_nouns"] if verb == "extract" else action.act == "read" and head in v["record_nouns"]
            )
            return "record" if kind == "record" and short else "document"
        if kind == "record" and verb in {"download", "export"} and self.returned != "ack":
            return "document"
        if kind == "record" and (self._holds_many(tail) or self._enumerates(action) or self._offers_text()):
            return "document"
        if head in {"message", "mail"} and not v["mail_words"].isdisjoint(self.name + noun):
            return "document"
        return kind or "unknown"

    def _holds_many(self, tail: tuple[str, ...]) -> bool:
        """Whether a record comes with something long: "with its comments", "with all its transactions"."""
        start = next((i for i, word in enumerate(tail) if word in {"with", "including"}), None)
        if start is None:
            return False
        tail = tail[start:]
        if not self.v["long_nouns"].isdisjoint(tail[1:5]):
            return True
        return "all" in tail[1:3] and any(plural(word) and word not in self.v["small_nouns"] for word in tail[2:5])

    def _offers_text(self) -> bool:
        """Whether a switch adds the text of what is read: ``include_body``."""
        long = self.v["long_fields"]
        names = [split(p.name) for p in self.inputs if "boolean" in p.schema.types]
        return any(name[0] in _ADDS and not long.isdisjoint(name[1:]) for name in names if name)

    def _enumerates(self, action: Action) -> bool:
        """Whether what is read is a row of fields with a long one among them: "the title, body and comments"."""
        if action is not self.said or self.saying is None or len(action.object) > 4:
            return False
        words, clauses = self.saying.words, self.saying.clauses
        for i, word in enumerate(words):
            if word in self.v["long_fields"] and i and ends_phrase(words, clauses, i):
                first = i if words[i - 1] == "and" or clauses[i] == i else i - 1
                if (words[first - 1] == "and" or clauses[first] == first) and words[i - 1] not in _NOT_A_PART:
                    return True
        return False
