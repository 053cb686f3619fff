"""Tools in the parts of a document that ``definitions.find`` passes over once it has come upon a list.

Where a document defines tools, nothing in it that defines another may go unseen: beside a list, below it, in what an
entry holds beyond its own definition, at any depth. What belongs to a definition (its schemas, its examples) defines
none, and neither does a JSON Schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dowbench.loaders import openapi
from dowbench.loaders.entries import HOLDERS, MARKS, SCHEMA_KEYS, Definition, Listing, by_name, is_keyed, named
from dowbench.pointer import join

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

WRAPPERS = frozenset(
    (
        *("function", "custom", "toolSpec", "tool_spec", "json_schema", "kwargs"),
        *("functionDeclarations", "function_declarations"),
    )
)
"""Keys under which an entry has its definition, or some."""
PARTS = (SCHEMA_KEYS - {*HOLDERS}) | {"annotations", "_meta", "meta", "metadata", "response", "output", "returns"}
OF_CALLS = frozenset(
    (
        *("arguments", "args", "toolUse", "toolResult", "functionCall", "functionResponse", "function_call"),
        *("function_response", "structuredContent"),
    )
)
"""Keys of conversations under which calls have their values."""
ILLUSTRATIONS = ("example", "sample", "default", "schema")
"""Words in keys of an entry under which it says what values look like."""


class Part(NamedTuple):
    """A container, and where it stands."""

    value: Any
    pointer: str
    inside: bool = False
    """It is within a definition, where ``tools`` may be anything: only an entry that can be told counts."""


class Look(Protocol):
    """What is looked for; see ``definitions.Look``."""

    def matches(self, entry: Mapping[str, Any]) -> bool:
        """Whether an entry can be a tool."""

    def claims(self, entry: Mapping[str, Any]) -> bool:
        """Whether it says that it is one, right or wrong."""

    def too_long(self, entries: Collection[Any], pointer: str) -> bool:
        """Whether a list is too long to be looked at."""

    def leave_out(self, pointer: str) -> None:
        """Note an OpenAPI description beside the tools."""


def within(value: Any, pointer: str, inside: bool = True) -> Iterator[Part]:
    """What an entry holds beyond its own definition."""
    if isinstance(value, list):
        for index, entry in enumerate(value):
            yield from within(entry, join(pointer, index), inside)
    if not isinstance(value, dict):
        return
    group = value.get("type") == "namespace"
    for key, inner in value.items():
        if not isinstance(inner, dict | list) or not inner:
            continue
        if key in WRAPPERS or (group and key == "tools"):
            yield from within(inner, join(pointer, key), inside)
        elif key not in PARTS and not illustrates(key):
            yield Part(inner, join(pointer, key), inside)


def illustrates(key: str) -> bool:
    """Whether an entry has examples, or a further schema, under a key."""
    return key.startswith("x-") or any(word in key.lower() for word in ILLUSTRATIONS)


def may_hold(value: Any) -> bool:
    """Whether there may be a definition in a container: it holds others, or is one."""
    if isinstance(value, dict):
        return not MARKS.isdisjoint(value) or any(isinstance(inner, dict | list) for inner in value.values())
    return isinstance(value, list) and any(isinstance(inner, dict | list) for inner in value)


def children(value: Any, pointer: str, inside: bool = False) -> Iterator[Part]:
    """The containers in a container."""
    items: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        if may_hold(inner):
            yield Part(inner, join(pointer, key), inside)


def is_of_call(value: Mapping[str, Any], key: str) -> bool:
    """Whether what an object has under ``key`` was given to a tool, or by one."""
    return key in OF_CALLS or (key == "input" and "name" in value and "id" in value)


def is_schema(value: Mapping[str, Any]) -> bool:
    """Whether an object is a JSON Schema that has others in it, so that its keys are names of values."""
    properties = value.get("properties")
    if isinstance(properties, dict):
        return value.get("type") == "object" or all(isinstance(inner, dict | bool) for inner in properties.values())
    return value.get("type") in ("object", "array") and not {"items", "additionalProperties"}.isdisjoint(value)


def tells(entry: Any) -> bool:
    """Whether an entry of ``tools`` says more than the name of a tool that is defined elsewhere, or settings of one."""
    if not isinstance(entry, dict):
        return False
    return not entry.keys().isdisjoint(("description", "title", "type")) or any(
        isinstance(inner, dict | list) for inner in entry.values()
    )


def listings(passed: Iterable[Part], look: Look, known: Iterable[Listing]) -> Iterator[Listing]:
    """The lists of definitions below what was passed over, beside those ``known``. What is shared counts once."""
    defined = {id(d.value) for listing in known for d in listing.definitions if isinstance(d.value, dict)}
    seen = set[int]()
    todo = [*passed][::-1]
    while todo:
        part = todo.pop()
        if id(part.value) in seen:
            continue
        seen.add(id(part.value))
        if isinstance(part.value, list):
            found, more = in_list(part, look)
        else:
            found, more = in_object(part, look)
        for listing in found:
            fresh = tuple(d for d in listing.definitions if id(d.value) not in defined)
            defined.update(id(d.value) for d in fresh if isinstance(d.value, dict))
            if fresh:
                yield listing._replace(definitions=fresh)
        todo += more[::-1]


Found = tuple[list[Listing], list[Part]]
"""Lists of definitions, and what is still to be looked into."""


def in_list(part: Part, look: Look, holder: str | None = None) -> Found:
    """A list: of definitions, or of objects that hold some."""
    value, pointer, inside = part
    if look.too_long(value, pointer):
        return [], []
    sure = look.matches if inside else look.claims
    entries = [entry for entry in value if isinstance(entry, dict) and not is_envelope(entry, look)]
    if not any(sure(entry) or (holder and tells(entry)) for entry in entries):
        return [], [*children(value, pointer, inside)]
    places = [Definition(entry, join(pointer, index)) for index, entry in enumerate(value)]
    found = [d for d in places if not is_envelope(d.value, look)]
    listed = {d.pointer for d in found}
    more = [
        more
        for d in places
        if isinstance(d.value, dict | list)
        for more in (within(*d) if d.pointer in listed else (Part(*d, inside),))
    ]
    return [Listing(pointer, tuple(found), holder, usual=False)], more


def is_envelope(entry: Any, look: Look) -> bool:
    """Whether an entry is no tool and holds some."""
    if not isinstance(entry, dict) or not any(isinstance(entry.get(key), dict | list) for key in HOLDERS):
        return False
    return not look.matches(entry)


def in_object(part: Part, look: Look) -> Found:
    """An object: a definition, one that holds some by their names, or one that has something of these in it."""
    value, pointer, inside = part
    if is_schema(value):
        return [], []
    if openapi.LOADER.confidence(value) and isinstance(value.get("paths"), dict):
        look.leave_out(pointer)
    if (look.matches if inside else look.claims)(value):
        return [Listing(pointer, (Definition(value, pointer),), usual=False)], [*within(value, pointer)]
    found: list[Listing] = []
    more: list[Part] = []
    by_key: list[Definition] = []
    for key, inner in value.items():
        if not isinstance(inner, dict | list) or not inner or is_of_call(value, key):
            continue
        child = Part(inner, join(pointer, key), inside)
        if key in HOLDERS and not inside:
            lists, below = in_holder(child, look, key)
            found += lists
            more += below
        elif isinstance(inner, dict) and is_keyed(inner, key, look.matches):
            by_key.append(Definition(named(inner, key), child.pointer))
            more += within(inner, child.pointer)
        elif may_hold(inner):
            more.append(child)
    if by_key:
        found.append(Listing(pointer, tuple(by_key), usual=False))
    return found, more


def in_holder(part: Part, look: Look, holder: str) -> Found:
    """What stands under ``tools`` or a like key."""
    value, pointer, _ = part
    if isinstance(value, list):
        return in_list(part, look, holder)
    single = look.claims(value) or is_schema(value) or isinstance(value.get("type"), str)
    if single or not any(tells(entry) and not is_envelope(entry, look) for entry in value.values()):
        return in_object(part, look)
    if look.too_long(value, pointer):
        return [], []
    more = [more for key, entry in value.items() for more in within(entry, join(pointer, key))]
    return [Listing(pointer, by_name(value, pointer), holder, usual=False)], more
