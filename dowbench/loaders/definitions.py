"""Formats whose documents are lists of tool definitions: where the list is, what each entry is.

The list may be the document, a single definition, an object that holds one definition a name, or lie under ``tools``
or a like key, at the top or inside an envelope such as a request body or a JSON-RPC response.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from dowbench.loaders import elsewhere
from dowbench.loaders.context import quote
from dowbench.loaders.elsewhere import Part, within
from dowbench.loaders.entries import (
    HOLDERS,
    Definition,
    Listing,
    Matches,
    by_name,
    has_match,
    has_names,
    has_objects,
    is_keyed,
    is_marked,
    is_weak,
)
from dowbench.pointer import join
from dowbench.source import DEFAULT_LIMITS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from dowbench.loaders.context import Context
    from dowbench.model import Tool, ToolSet

ENVELOPES = ("result", "toolConfig", "tool_config", "session", "body", "request", "config", "params", "response")
"""Keys under which a list may be empty and still is a list of tools."""
ENVELOPE_DEPTH = 3
"""Objects inside each other that may stand around a list of tools."""
DEEPEST_MARK = 2 * ENVELOPE_DEPTH + 2
"""Containers inside each other in which ``find`` may come upon a definition."""


class ListLoader(NamedTuple):
    """A format that consists of its kind of entry, wherever the list is."""

    name: str
    matches: Matches
    """Whether an entry can be of this format, and of no other."""
    read: Callable[[Definition, Context], Iterable[Tool]]
    """The tools of an entry: usually one; none where the provider defines it."""
    expects: str
    """What an entry of this format looks like, for error messages."""
    resembles: Matches = lambda entry: False
    """Whether an entry can be of this format, if it is known to be a tool: it says too little to tell by itself."""

    def confidence(self, value: Any) -> float:
        """The share of entries of this format among those that say of which format they are."""
        listing = find(value, self.matches) if isinstance(value, dict | list) and has_marks(value) else None
        entries = [d.value for d in listing.definitions if not is_weak(d.value)] if listing else []
        return sum(isinstance(e, dict) and self.matches(e) for e in entries) / len(entries) if entries else 0.0

    def load(self, value: Any, context: Context) -> ToolSet:
        """Every entry of the list, or an error at the first that is none of this format."""
        listing = find(value, self.matches, context)
        if listing is None and (not isinstance(value, list) or len(value) <= context.limits.tools):
            listing = entries_of(value)
        if listing is None:
            context.expected(self.expects, value, "")
        return self.load_listing(listing, context)

    def load_listing(self, listing: Listing, context: Context) -> ToolSet:
        """As ``load``, of a list that was found before."""
        tools: list[Tool] = []
        for definition in listing.definitions:
            entry = definition.value
            if not isinstance(entry, dict) or not (self.matches(entry) or is_weak(entry) or self.resembles(entry)):
                context.expected(self.expects, entry, definition.pointer)
            tools.extend(self.read(definition, context))
        if (more := next_page(context.root)) is not None:
            context.note("nextCursor is set: the server has more tools, which this page does not hold", more)
        return context.toolset(self.name, tools, listing.pointer)


def next_page(document: Any) -> str | None:
    """Where an MCP result says that another page follows it."""
    for keys in ((), ("result",)):
        value = document
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, dict) and "tools" in value and isinstance(value.get("nextCursor"), str):
            return join("", *keys, "nextCursor")
    return None


def find(value: Any, matches: Matches, context: Context | None = None, claims: Matches | None = None) -> Listing | None:
    """The list of definitions in a document, ``None`` if there is none; ``matches`` knows an entry by its structure.

    All lists of a document are one. ``claims`` knows also what says that it is a definition and is none, which is
    looked for where the document defines others. Lists of more entries than a document may have tools are passed over,
    without ``context`` always; with it one that has a tool among them is a ``SourceError``.
    """
    look = Look(matches, claims or matches, context, [])
    found = list(_listings(value, "", look, ENVELOPE_DEPTH))
    if found:
        found += [*elsewhere.listings(look.passed, look, found)]
    sure = any(has_match(listing, matches) for listing in found)
    # in a document that defines tools a list of names defines nothing, but objects must not go unseen
    if sure:
        found = [listing for listing in found if has_objects(listing) or (listing.usual and not has_names(listing))]
    else:
        found = [listing for listing in found if listing.usual]
    if len(found) < 2:
        return found[0] if found else None
    return Listing("", tuple(d for listing in found for d in listing.definitions), found[0].holder)


def entries_of(value: Any) -> Listing | None:
    """The entries of a list, or the object alone, whatever they are."""
    if isinstance(value, list):
        return Listing("", tuple(Definition(entry, join("", index)) for index, entry in enumerate(value)))
    return Listing("", (Definition(value, ""),)) if isinstance(value, dict) else None


def has_marks(value: Any) -> bool:
    """Whether ``find`` can find anything: a quick look for the many documents that hold no tools."""
    # Iterators, and not a list of all that is still to be looked at: there may be millions.
    open_ = [iter((value,))]
    while open_:
        holder = next(open_[-1], None)
        if holder is None:
            open_.pop()
        elif isinstance(holder, dict) and is_marked(holder):
            return True
        elif holder and len(open_) <= DEEPEST_MARK:
            inner = holder.values() if isinstance(holder, dict) else holder
            open_.append(entry for entry in inner if isinstance(entry, dict | list))
    return False


class Look(NamedTuple):
    """What ``find`` looks for, and the document it is found in."""

    matches: Matches
    claims: Matches
    context: Context | None
    passed: list[Part]
    """What was not looked into: it counts only where something else is found."""

    def too_long(self, entries: Collection[Any], pointer: str) -> bool:
        """Whether a list is too long to be looked at. Raises ``SourceError`` if it has a tool all the same."""
        most = (self.context.limits if self.context else DEFAULT_LIMITS).tools
        if len(entries) <= most:
            return False
        inner = entries.values() if isinstance(entries, dict) else entries
        if self.context and any(isinstance(e, dict) and (self.matches(e) or "tools" in e) for e in inner):
            message = f"{len(entries):,} entries in a list of tools, more than {most:,} (source_limits.tools)"
            raise self.context.error(message, pointer)
        return True

    def leave_out(self, pointer: str) -> None:
        """Note an OpenAPI description beside the tools: its operations are of another format."""
        if self.context:
            what = f"the OpenAPI description at {quote(pointer)} is not scanned beside a list of tools"
            self.context.note(f"{what}; put it into a file of its own", pointer)

    def pass_over(self, value: Any, pointer: str, since: int) -> None:
        """Leave a whole value for later, in place of the parts of it that were left ``since`` so many had been."""
        del self.passed[since:]
        self.passed.append(Part(value, pointer))


def _listings(value: Any, pointer: str, look: Look, depth: int) -> Iterator[Listing]:
    if isinstance(value, list):
        yield from _in_list(value, pointer, look, depth)
    elif isinstance(value, dict):
        yield from _in_object(value, pointer, look, depth)


def _in_list(value: list[Any], pointer: str, look: Look, depth: int) -> Iterator[Listing]:
    if look.too_long(value, pointer):
        return
    before = len(look.passed)
    listing = _list(value, pointer, look, depth)
    if not value or has_match(listing, look.matches):
        yield listing
    else:
        look.pass_over(value, pointer, before)


def _in_object(value: dict[str, Any], pointer: str, look: Look, depth: int) -> Iterator[Listing]:
    if look.matches(value):
        yield Listing(pointer, (Definition(value, pointer),))
        look.passed.extend(within(value, pointer))
    elif held := [key for key in HOLDERS if isinstance(value.get(key), list | dict)]:
        for key in held:
            yield from _held(value[key], join(pointer, key), key, look, depth)
        look.passed.append(Part({key: inner for key, inner in value.items() if key not in held}, pointer))
    elif any(is_keyed(entry, key, look.matches) for key, entry in value.items()):
        if not look.too_long(value, pointer):
            yield Listing(pointer, by_name(value, pointer))
            look.passed.extend(part for name, entry in value.items() for part in within(entry, join(pointer, name)))
    else:
        for key, inner in value.items():
            yield from _below(inner, join(pointer, key), key, look, depth)


def _held(value: list[Any] | dict[str, Any], pointer: str, key: str, look: Look, depth: int) -> Iterator[Listing]:
    """What is under a key that holds tools."""
    if look.too_long(value, pointer):
        return
    if isinstance(value, list):
        yield Listing(pointer, _list(value, pointer, look, depth).definitions, key)
    elif look.matches(value):
        yield Listing(pointer, (Definition(value, pointer),), key)
        look.passed.extend(within(value, pointer))
    else:
        yield Listing(pointer, by_name(value, pointer), key)
        look.passed.extend(part for name, entry in value.items() for part in within(entry, join(pointer, name)))


def _below(value: Any, pointer: str, key: str, look: Look, depth: int) -> Iterator[Listing]:
    """What is under any other key."""
    if isinstance(value, list) and value:
        yield from _in_list(value, pointer, look, max(depth - 1, 0))
    elif isinstance(value, dict) and depth:
        for listing in _listings(value, pointer, look, depth - 1):
            yield listing if key in ENVELOPES else listing._replace(usual=False)
    elif isinstance(value, dict):
        look.passed.append(Part(value, pointer))


def _list(value: list[Any], pointer: str, look: Look, depth: int) -> Listing:
    """The entries of a list; of those that hold lists of tools themselves, the entries of these."""
    definitions: list[Definition] = []
    matches, passed = look.matches, look.passed
    for index, entry in enumerate(value):
        place = join(pointer, index)
        if isinstance(entry, dict) and (matches(entry) or is_weak(entry)):
            passed.extend(within(entry, place))
        elif depth and isinstance(entry, dict):
            before = len(passed)
            inner = list(_listings(entry, place, look, depth - 1))
            if any(listing.holder for listing in inner):
                definitions.extend(d for listing in inner for d in listing.definitions)
                continue
            look.pass_over(entry, place, before)
        elif isinstance(entry, dict | list):
            passed.append(Part(entry, place))
        definitions.append(Definition(entry, place))
    return Listing(pointer, tuple(definitions))
