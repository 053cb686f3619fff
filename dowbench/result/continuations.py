"""The parameters that ask for more of the same result: cursors, page numbers, offsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowbench.patterns import Patterns
from dowbench.result.bounds import takes_numbers
from dowbench.result.english import word_set
from dowbench.words import split

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dowbench.model import Parameter, Schema, Tool
    from dowbench.result.vocabulary import Vocabulary

_PATTERNS = Patterns(
    filter=(
        r"\b(?:date|time|timestamp|iso[\s-]?8601|rfc[\s-]?3339|yyyy|day|epoch|unix|created|updated|modified|"
        r"submitted|bearer|auth\w*|oauth|jwt|csrf|credentials?|secret|password|log-?in|"
        r"(?:api|access|session|security|personal|your)\s+(?:key|token)|location|city|address|sender|currency|origin|departure|branch|commit|sha|version)\b"
    ),
    conversation=(r"(?s)^(?!.*\b(?:pag(?:e|ing)|cursor|next|results)).*\b(?:conversation|multi-?turn|dialog|thread)"),
    continues=(
        r"\b(?:pagina\w*|paging|next\s+(?:page|set|batch|token)|page|cursor|previous\s+(?:response|call|request|"
        r"result|page)|continu\w*|offset|skip\w*|starting\s+(?:index|point|position|record|row|item|number|result)|"
        r"start\s+index|(?:zero|0|1)-based|from\s+which\s+to|where\s+to\s+(?:start|resume|continue)|subsequent|"
        r"more\s+(?:results|content|items)|returned\s+(?:by|in|from)|last\s+(?:item|id|\w+\s+id)|"
        r"after\s+th(?:is|e)\s+(?:id|cursor|item|\w+\s+id)|strictly\s+after|objects?\s+after)\b"
    ),
)
_STARTS = frozenset({"start", "from", "begin"})
_ENDS = frozenset({"stop", "end", "to", "until"})


def continuations(
    tool: Tool, v: Vocabulary, reading: bool, texts: Mapping[str, str], limited: bool, *, changes: bool = False
) -> tuple[Parameter, ...]:
    """The parameters that ask for more of the same result: cursors, page numbers, offsets.

    ``limited``: the tool has a limit-like parameter, which tells a bare ``after`` beside it from a filter. A declared
    output that says whether there is more tells it, too. ``changes``: the tool changes something, so that what must be
    named is a place, such as a page of a document.
    """
    more = _says_more(tool.output)
    found = []
    for parameter in tool.parameters:
        form = v.known(continuation_name, parameter.name)
        if form is None and "for pagination" in parameter.description.lower():
            form = "offset"
        if changes and parameter.required:
            continue
        if changes and "initial" in parameter.description[:_OPENING].lower():
            continue  # what is shown first
        if split(parameter.name) == ("page", "index") and any(split(p.name) in _PAGE_NAMES for p in tool.parameters):
            continue  # one of the ways to name a page of a document
        if form == "cursor" and not reading and "cursor" in split(tool.name):
            continue  # the one on the screen
        if form is not None and not (parameter.name.lower() in _STARTS and _has_end(tool)):
            text = parameter.description or texts.get(parameter.name, "")
            if _continues(parameter, form, reading, text, limited, more):
                found.append(parameter)
    return tuple(found)


def _says_more(output: Schema | None) -> bool:
    """Whether a declared output, or an object in it, has a field for what comes next: ``has_more``, ``nextPage``."""
    if output is None:
        return False
    objects = {s.identity or id(s): s for s in output.properties.values() if "object" in s.types}
    return any(_is_more(split(name)) for schema in (output, *objects.values()) for name in schema.properties)


def _is_more(words: tuple[str, ...]) -> bool:
    return words in _MORE or (words[:1] == ("next",) and not _PAGED.isdisjoint(words)) or words == ("next",)


_MORE = {
    ("has", "more"),
    ("more",),
    ("has", "next"),
    ("has", "next", "page"),
    ("is", "truncated"),
    ("last", "evaluated", "key"),
}
_PAGED = word_set("page cursor token link url offset marker key id before after since")


def _has_end(tool: Tool) -> bool:
    return any(parameter.name.lower() in _ENDS for parameter in tool.parameters)


def continuation_name(name: str, v: Vocabulary) -> str | None:
    words = v.words(name)
    name = " ".join(words)
    known = next((form for form in ("cursor", "page", "offset", "anchor") if name in v[f"{form}_names"]), None)
    if known is not None or not words:
        return known
    if words[:2] == ("exclusive", "start"):
        return "cursor"
    if words[-1] == "cursor" or (words[0] == "cursor" and len(words) == 2):
        return "cursor"
    if words[-1] == "token" and not _ONWARD.isdisjoint(words):
        return "cursor"
    if words[0] in _BESIDE and words[-1] == "id":
        return "anchor"
    return "offset" if words[-1] == "offset" and v["not_offsets"].isdisjoint(words) else None


_ONWARD = frozenset({"page", "next", "continuation", "pagination", "paging", "continue", "resume"})


def _continues(parameter: Parameter, form: str, reading: bool, text: str, limited: bool, more: bool) -> bool:
    schema = parameter.schema
    if {"boolean", "object", "array"}.intersection(schema.types) or (
        parameter.nested and not reading and form != "cursor"
    ):
        return False
    if form == "cursor" and split(parameter.name)[-1:] in _SIDES and _is_date(text):
        return False
    if form == "cursor":
        return not text or _PATTERNS.conversation.search(text) is None
    if not reading and (form == "offset" or (form == "page" and takes_numbers(schema) is False)):
        return False
    said = bool(text) and _PATTERNS.continues.search(text) is not None
    numeric = takes_numbers(schema)
    if form != "anchor":
        return said or (reading and not (form == "page" and numeric is False))
    if not reading:
        return False
    if more and not parameter.nested and parameter.name.lower() in _BESIDE:
        return True
    if text:
        return said and ("cursor" in text or _PATTERNS.filter.search(text) is None)
    dated = str(schema.get("format") or "").startswith(("date", "time"))
    return limited and (bool(numeric) or (parameter.name.lower() in {"after", "before"} and not dated))


def _is_date(text: str) -> bool:
    """Whether a description is of a date or another filter, and says nothing of going on."""
    return _PATTERNS.filter.search(text) is not None and _PATTERNS.continues.search(text) is None


_PAGE_NAMES = {("page", "id"), ("page", "name")}
_OPENING = 30
"""Within so many characters a description calls a page the initial one."""
_SIDES = {("before",), ("after",)}
_BESIDE = frozenset({"after", "before", "since"})
"""Names that continue where the output says that there is more, whatever their values are."""
