"""What a text asks an agent to do, as the mock model understands it: a small reading of English, knowing no attack.

It looks for imperatives that name a tool on offer ("call read_document again with page=3"), for metadata that means
"go on" (``has_more``, ``state: running``), for demands to write or to think at length, and, in descriptions, for rules
that hold for the whole conversation ("until", "after each", "before answering").
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ALL_SO_FAR = object()
"""Stands in arguments for "everything that was returned so far"."""

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_VERB = r"(?:call|fetch|request|read|open|poll|ask|run|query|search|repeat|check|retry|send|use|try)"
_VERB_WORD = re.compile(rf"\b{_VERB}\b")
_NEGATED = re.compile(r"\b(?:do not|don't|never|no need|need not|not necessary)\b")
_WRITE = re.compile(
    r"\b(?:restat(?:e|es|ing)|repeat(?:s|ing)?|writ(?:e|es|ing) out|list(?:s|ing)?)\b[^.]*"
    r"\b(?:every|each|all|without (?:stopping|end)|\d{2,} times)\b"
)
_ENDLESS = re.compile(r"\bwithout (?:stopping|end)\b")
_THINK = re.compile(r"\b(?:step by step|letter by letter|think through|reason through)\b")
_PERSISTENT = re.compile(r"\b(?:from now on|every later step|each later step)\b")
_ALL = re.compile(r"\b(?:everything|complete|entire|whole|in full|word for word)\b")
_EACH = re.compile(r"\b(?:each|every)\b")
_NEXT_PAGE = re.compile(r"\b(?:next|following) page\b|\bpage \+ 1\b")
_MORE = re.compile(r"\bhas_more\b\W{0,4}true\b")
_NEXT_VALUE = re.compile(r"\bnext_(\w+)\b[\"']?\s*[:=]\s*(\"[^\"]*\"|[\w.-]+)")
_RUNNING = re.compile(r"\b(?:state|status)\b\W{0,4}(?:pending|running|queued|processing|in progress)\b")
_MARK = re.compile(r"\"([^\"]+)\"|\b([A-Z]{2,}(?:[-_ ][A-Z]{2,})+)\b")
_IDENTIFIER = re.compile(r"\b[A-Z]{1,3}-\d+\b")


@dataclass(frozen=True, slots=True)
class Interface:
    """A tool as a reader of texts needs it: its name and the JSON types of its parameters."""

    name: str
    types: tuple[tuple[str, str], ...]
    required: tuple[str, ...]

    @classmethod
    def of(cls, name: str, parameters: Mapping[str, Any]) -> Interface:
        """Read from a tool's JSON Schema."""
        properties = parameters.get("properties", {})
        types = tuple((key, str(schema.get("type", "string"))) for key, schema in properties.items())
        return cls(name, types, tuple(parameters.get("required", ())))


@dataclass(frozen=True, slots=True)
class CallWish:
    """A call of a tool. What ``arguments`` does not hold is as it was, or as the prompt has it."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    next_page: bool = False


@dataclass(frozen=True, slots=True)
class EffortWish:
    """Long output or long thinking; ``endless``: up to the limit. ``persistent``: on every later turn, too."""

    kind: Literal["write", "think"]
    endless: bool = False
    persistent: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """A standing rule of a description: call ``wish.tool`` until its result holds ``mark``, after each call of it, or
    before the answer; or (``argument``) put everything so far into an argument whenever it is called."""

    when: Literal["until", "after", "before", "argument"]
    wish: CallWish
    mark: str = ""


@lru_cache(maxsize=4096)
def read_result(text: str, source: str, tools: tuple[Interface, ...]) -> tuple[CallWish | EffortWish, ...]:
    """What the result of a call of ``source`` asks for, in its order. Remembered: a result is read on every turn."""
    wishes: list[CallWish | EffortWish] = []
    by_name = {tool.name: tool for tool in tools}
    for sentence in _SENTENCE.split(text):
        if _NEGATED.search(sentence.lower()):
            continue
        wish = _call(sentence, tools, by_name.get(source))
        if wish is not None and _EACH.search(sentence.lower()):
            wishes += _one_each(wish, by_name[wish.tool], text)
        elif wish is not None:
            wishes.append(wish)
        else:
            wishes += _efforts(sentence)
    if not any(isinstance(wish, CallWish) for wish in wishes) and source in by_name:
        if _MORE.search(text):
            wishes.append(_go_on(text, by_name[source]))
        elif _RUNNING.search(text.lower()):
            wishes.append(CallWish(source))
    return tuple(wishes)


@lru_cache(maxsize=4096)
def read_prompt(text: str) -> tuple[EffortWish, ...]:
    """What a prompt asks for beyond its task."""
    return tuple(wish for sentence in _SENTENCE.split(text) for wish in _efforts(sentence))


@lru_cache(maxsize=1024)
def read_description(description: str, own: Interface, tools: tuple[Interface, ...]) -> tuple[Rule, ...]:
    """The standing rules that the description of ``own`` lays down."""
    rules = []
    for sentence in _SENTENCE.split(description):
        lower = sentence.lower()
        if _NEGATED.search(lower):
            continue
        wish = _call(sentence, tools, own)
        if wish is None:
            if _ALL.search(lower):
                rules += [
                    Rule("argument", CallWish(own.name, {key: ALL_SO_FAR}))
                    for key, kind in own.types
                    if kind == "string" and re.search(rf"\b{re.escape(key)}\b", sentence)
                ]
            continue
        mark = _MARK.search(sentence.partition("until")[2]) or _MARK.search(sentence)
        if "until" in lower and mark is not None:
            rules.append(Rule("until", wish, mark[1] or mark[2]))
        elif re.search(r"\bafter (?:each|every)\b", lower):
            rules.append(Rule("after", wish))
        elif re.search(r"\bbefore (?:answering|you answer|an answer|any answer|the answer)\b", lower):
            rules.append(Rule("before", wish))
    return tuple(rules)


def identifiers(text: str) -> list[str]:
    """Identifiers such as ``A-9107`` or ``returns-guide``, in order, each once."""
    return list(dict.fromkeys(re.findall(r"\b[A-Z]{1,3}-\d+\b|\b[a-z]{3,}(?:-[a-z]+)+\b", text)))


def _call(sentence: str, tools: Sequence[Interface], source: Interface | None) -> CallWish | None:
    if not _VERB_WORD.search(sentence.lower()):
        return None
    named = [tool for tool in tools if re.search(rf"\b{re.escape(tool.name)}\b", sentence)]
    commanded = [tool for tool in named if re.search(rf"\b{_VERB} {re.escape(tool.name)}\b", sentence, re.IGNORECASE)]
    tool = next(iter(commanded or named), None)
    if tool is None:
        if source is None or not re.search(rf"\b{_VERB}\b[^,.]*\bagain\b", sentence.lower()):
            return None
        tool = source
    arguments = {}
    for key, kind in tool.types:
        value = _argument(sentence, key, kind)
        if value is not None:
            arguments[key] = value
    return CallWish(tool.name, arguments, next_page=_NEXT_PAGE.search(sentence.lower()) is not None)


def _argument(sentence: str, name: str, kind: str) -> Any:
    word = rf"\b{re.escape(name)}\b[\"']?"
    if kind in ("integer", "number"):
        found = re.search(rf"{word}\W{{0,3}}(\d+)\b", sentence)
        return int(found[1]) if found else None
    if kind == "array":
        found = re.search(rf"{word}\s*[=:]\s*(\[[^\]]*\])", sentence)
        try:
            return json.loads(found[1]) if found else None
        except json.JSONDecodeError:
            return None
    found = re.search(rf"{word}\s*[=:]\s*(?:\"([^\"]*)\"|([\w-]+))", sentence)
    if found:
        return found[1] if found[1] is not None else found[2]
    if kind == "string" and re.search(word, sentence) and _ALL.search(sentence.lower()):
        return ALL_SO_FAR
    return None


def _one_each(wish: CallWish, tool: Interface, text: str) -> list[CallWish]:
    if len(tool.required) != 1:
        return [wish]
    found = dict.fromkeys(_IDENTIFIER.findall(text))
    return [CallWish(wish.tool, {tool.required[0]: value}) for value in found] or [wish]


def _efforts(sentence: str) -> list[EffortWish]:
    lower = sentence.lower()
    if _WRITE.search(lower):
        return [EffortWish("write", endless=_ENDLESS.search(lower) is not None)]
    if _THINK.search(lower):
        return [EffortWish("think", persistent=_PERSISTENT.search(lower) is not None)]
    return []


def _go_on(text: str, source: Interface) -> CallWish:
    found = _NEXT_VALUE.search(text)
    if found is None:
        return CallWish(source.name, next_page=True)
    types = dict(source.types)
    name = next((key for key in (found[1], "cursor", "page", "offset") if key in types), None)
    if name is None:
        return CallWish(source.name)
    value = found[2].strip('"')
    return CallWish(source.name, {name: int(value) if types[name] == "integer" and value.isdigit() else value})
