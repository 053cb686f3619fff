"""One tool with its name and description taken apart into actions, and what they say is returned."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from dowbench.patterns import Patterns
from dowbench.prose import Sentence, sentences
from dowbench.result.arguments import argument_texts, listed_commands
from dowbench.result.bounds import choices
from dowbench.result.english import (
    QUANTIFIERS,
    REQUESTS,
    Action,
    clause_end,
    in_name,
    in_sentence,
    noun_of,
    plural,
    singular,
    word_set,
)
from dowbench.result.limits import names_limit
from dowbench.result.nouns import Nouns
from dowbench.words import split

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dowbench.model import Tool
    from dowbench.result.nouns import Kind
    from dowbench.result.vocabulary import Vocabulary

_OPENING = 3
"""How many sentences of a description may say what the tool does."""
_RETURNS = word_set("returns return returning outputs yields")
_SHOWS = word_set(
    "show shows list lists display displays print prints retrieve retrieves fetch fetches get gets report reports"
)
_OUTPUT_IS = word_set("will be is of this tool")
_HEADINGS = frozenset({("returns",), ("return",), ("returned",), ("output",), ("outputs",)})
_WRAPPERS = word_set(
    "json dict dictionary dictionaries object objects string str response result text markdown html output map mapping "
    "tuple payload structure format formatted any"
)
_OF_IT = word_set("its the")
_THEM = word_set("them it")
_FAR = 12
"""From this sentence on "returns" is about steps and other tools, where it is no heading."""
_TEXT = ("text", "content")
_WHO = word_set(
    "and or it tool this function method endpoint operation api will then also always only automatically to by"
)
"""Words before "returns" after which it is about the tool itself."""
_DETERMINERS = word_set("the matching its their any")
_HOLDING = word_set("containing with including holding representing describing having")
_FIELDS = ("details",)
"""What a few short fields are."""
_METHODS = word_set("http post put patch delete")
_ADDRESS = word_set("url uri endpoint")
_TAKES = word_set("accepts takes requires expects supports needs try prefer note see pass tip important warning")
"""Words by which a later sentence says what goes in, or gives advice."""
_FORBIDDING = word_set("never avoid")
_SHOWING = word_set("print echo output")
"""Verbs that read a thing where they are said of what is in it: "prints the contents of a file"."""
_HELD = {(word,) for word in ("contents", "content", "source", "lines", "output", "list", "table", "tree")}
_STATES = {("status",), ("state",), ("progress",)}
"""Behind a verb in a name, these make it a noun: ``crawl_status`` is the status of a crawl."""
_QUESTIONS = word_set("is are was has have can does should")
"""Words that begin the name of a question: ``is_empty``."""


_IN_CASE = word_set("if when unless otherwise else automatically")
_CHANGED = word_set("updated modified edited created resulting renamed resolved moved deleted")
"""What a noun phrase with one of these names is what was acted upon: "returns the updated thread"."""
_STARTS = word_set("start starts launch launches trigger triggers submit submits enqueue enqueues schedule schedules")
_HANDLES = {("id",), ("ids",), ("identifier",), ("handle",), ("pid",), ("uuid",)}
_LAYOUT = Patterns(
    re.MULTILINE | re.DOTALL,
    examples=r"^[ \t#]*(?i:(?:\w+ ){0,2}examples?(?: \w+){0,3})(?:[ \t]*:)?[ \t]*$.*?"
    r"(?=^[ \t#]*[A-Z][\w /-]{0,40}:[ \t]*$|\Z)",
    note=r"\s*(?:\([^()]{1,600}\)|\[[^\[\]]{1,600}\])[\s:.-]*(?=\S)",
)
"""``examples``: a heading of examples and what stands below it, up to the next heading."""


def _without_examples(text: str) -> str:
    """A description without its examples, under a heading or between ``<example>`` tags."""
    kept, at = [], 0
    while (start := text.find("<example", at)) >= 0 and (end := text.find("</example", start)) >= 0:
        kept.append(text[at:start])
        at = end
    return _LAYOUT.examples.sub("", "".join((*kept, text[at:])))


def _main_text(description: str, name: str) -> str:
    """A description without a note in brackets before it, or the Python signature that some frameworks put there."""
    if description.startswith(f"{name}("):
        return description.partition("\n")[2].strip() or description
    note = _LAYOUT.note.match(description) if description.lstrip()[:1] in _BRACKETS else None
    return description[note.end() :] if note else description


_BRACKETS = frozenset("([")


def _ends_by_id(words: tuple[str, ...]) -> bool:
    """Whether a sentence ends in "by id", "by its id" or the like."""
    return words[-1:] in _ID and (words[-2:-1] == ("by",) or (words[-3:-2] == ("by",) and words[-2] in _ITS))


def _on_input(words: tuple[str, ...]) -> bool:
    """Whether a sentence says what goes in, "the input is a path", and not that something is put in: "input a text"."""
    if words[0] == "input":
        return len(words) == 1 or words[1] in _OF_INPUT or words[1] not in _PUT_IN
    return words[1:2] == ("input",)


_OF_INPUT = word_set("is are should must can may will to for of")
_PUT_IN = word_set("a an the text data value values key keys keystrokes characters string your password number numbers")
"""After "input" at the start of a sentence these say that something is put in."""
_ITS = word_set("its their the an unique")
_ID = {("id",), ("uuid",), ("identifier",), ("slug",)}


class Reading:
    """What a tool's name and description say."""

    def __init__(self, tool: Tool, v: Vocabulary, namespace: str = "") -> None:
        self.tool = tool
        self.inputs = tool.inputs
        self.v = v
        self.nouns = Nouns(tool.inputs, v)
        self.name = split(tool.name)
        self.sentences = sentences(_main_text(tool.description, tool.name), tool.name)
        skip = self.name[:1] == (namespace,) and namespace not in v.verbs.plain and v.verbs.base(namespace) is not None
        self.named = in_name(self.name[skip:], v.verbs)
        """The action in the name."""
        self.said: Action | None = None
        """The action in the description."""
        self.saying: Sentence | None = None
        """The sentence that ``said`` is from."""
        for i, sentence in enumerate(self.sentences[:_OPENING]):
            takes = (i > 0 and sentence.words[0] in _TAKES) or sentence.words[:2] == ("starting", "point")
            forbids = sentence.words[0] in _FORBIDDING or sentence.words[:2] == ("do", "not")
            if takes or forbids or _on_input(sentence.words) or self._of_argument(sentence):
                continue
            self.said = in_sentence(sentence.words, sentence.clauses, v.verbs)
            if self.said is not None:
                self.saying = sentence
                break
        if self.said is not None and self.said.act == "other" and self.named is not None:
            self.said = None
        if self.said is not None and self.said.verb in _SHOWING and self.said.object[-1:] in _HELD:
            self.said = self.said._replace(act="read")
        if self.said is not None and self.said.verb == "open" and "by" in self.said.tail:
            self.said = self.said._replace(act="read")
            if self.named is not None and self.named.verb == "open":
                self.named = self.named._replace(act="read")
        if self.named is not None and not self.named.sure and self.said is not None:
            self.named = None
        if self.named is not None and self.named.act != "write" and self.named.object in _STATES:
            self.named = self.named._replace(act="read", verb="get")
        if self.named is not None and self.named.act == "run" and self.said is not None and self.said.act == "write":
            self.named = self.named._replace(act="write")
        if self.named is not None and self.said is not None and self._called_after(self.said):
            self.named = self.named._replace(act=self.said.act, verb=self.said.verb)
        if self._by_id:
            self.named, self.said = (
                a and a._replace(object=a.object and singular(a.object)) for a in (self.named, self.said)
            )

    def _of_argument(self, sentence: Sentence) -> bool:
        """Whether a sentence is the line of a docstring about one parameter: "prompt: What to do"."""
        start, end = sentence.places[0]
        text = sentence.text
        return text[end : end + 1] == ":" and any(text[start:end] == parameter.name for parameter in self.inputs)

    def _called_after(self, said: Action) -> bool:
        """Whether the verb of the description also stands in the name, before the one that was taken for the name's."""
        named = self.named
        if named is None or said.act != "write" or named.verb not in self.name:
            return False
        return said.verb in self.name[: self.name.index(named.verb)]

    @property
    def _by_id(self) -> bool:
        """Whether the one thing with an identifier is read, though the name may have it in the plural."""
        by_id = self.name[-2:] == ("by", "id") or (self.saying is not None and _ends_by_id(self.saying.words))
        return by_id and sum(p.required for p in self.inputs) == 1 and not self.takes(self.v["key_nouns"])

    @cached_property
    def argument_texts(self) -> Mapping[str, str]:
        """What the description says of single parameters."""
        return argument_texts(self.tool.description)

    @cached_property
    def commands(self) -> Sequence[str]:
        """The commands that the description lists."""
        return listed_commands(self.tool.description)

    @property
    def text_on_result(self) -> str:
        """The description without its examples, and without what it says of arguments that limit nothing."""
        text = self.tool.description
        if "xample" in text:
            text = _without_examples(text)
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
    def things(self) -> frozenset[str]:
        """The nouns, in the singular, for what is read or returned."""
        nouns = [noun for action in self.actions for noun in (action.object, action.of)] + list(self.returned_noun)
        return frozenset(singular(noun)[-1] for noun in nouns if noun)

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
        """Whether a top-level parameter has one of ``names`` as its whole name, and is not picked from a few values."""
        return any(
            " ".join(split(parameter.name)) in names and not choices(parameter.schema)
            for parameter in self.inputs
            if parameter.required or not required
        )

    @cached_property
    def returned(self) -> Kind | None:
        """What a sentence about the result says of it: "Returns a list of matching pages"."""
        noun, of = self.returned_noun
        if not noun:
            return None
        acks = self.v["ack_nouns"]
        if noun[-1] in acks or noun[0] in acks:
            return "ack"
        return "record" if not plural(noun[-1]) and not _CHANGED.isdisjoint(noun) else self.nouns.kind(noun, of)

    @cached_property
    def returned_noun(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The noun phrase that a sentence says is returned, and the one after its "of"; both may be empty."""
        for s, sentence in enumerate(self.sentences):
            if s >= _FAR and sentence.words[:1] not in _HEADINGS:
                continue
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
                if (noun or words[j : j + 1])[0] in _THEM and self.said is not None:
                    return self.said.object, self.said.of
                if noun:
                    wrapped = noun[-1:] == ("json",) and words[stop : stop + 1] != () and words[stop] in _HOLDING
                    return (_FIELDS if wrapped and self._are_short(words[stop + 1 :]) else noun), of
        return (), ()

    def _are_short(self, fields: tuple[str, ...]) -> bool:
        """Whether the fields that a sentence enumerates are short ones: "JSON with the id and the name"."""
        v = self.v
        long = v["long_nouns"] | v["long_fields"] | v["stream_nouns"] | v["document_nouns"] | QUANTIFIERS
        return long.isdisjoint(fields) and not any(plural(word) and word not in v["small_nouns"] for word in fields)

    @property
    def picks_part(self) -> bool:
        """Whether only a short part of what is read is returned: "fetches a page and returns its title"."""
        words = self.first
        for i, word in enumerate(words[:-2]):
            if word in _RETURNS and i and words[i - 1] == "and" and words[i + 1] in _OF_IT:
                rest = words[i + 2 :]
                short = self.v["record_nouns"] | self.v["scalar_nouns"]
                return rest[0] in short and not plural(rest[0]) and self.v["free_text_names"].isdisjoint(rest)
        return False

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
        while noun and (noun[-1] in _WRAPPERS or noun == _TEXT) and i < end and (of or words[i] in _HOLDING):
            start = i + 1
            while start < end and words[start] in _DETERMINERS:
                start += 1
            noun, of, i = (of, (), i) if of else noun_of(words, start, end)
        return (noun, of) if noun and noun[-1] not in _WRAPPERS and noun != _TEXT else ((), ())

    @property
    def sends(self) -> bool:
        """Whether it is an HTTP request, ``patch_request``, to an address that the caller gives."""
        if self.name[-1:] not in REQUESTS or _METHODS.isdisjoint(self.name):
            return False
        return any(not _ADDRESS.isdisjoint(split(p.name)) for p in self.inputs)

    @property
    def hands_out_id(self) -> bool:
        """Whether an id is said to be returned, by which the rest is asked for, and not only in some cases."""
        if self.returned_noun[0][-1:] not in _HANDLES:
            return not _STARTS.isdisjoint(self.first[:1]) and any(
                s.words[:2] == ("the", "returned") and any((word,) in _HANDLES for word in s.words[2:5])
                for s in self.sentences
            )
        told = next((s.words for s in self.sentences if not _RETURNS.isdisjoint(s.words)), ())
        return _IN_CASE.isdisjoint(told)

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
