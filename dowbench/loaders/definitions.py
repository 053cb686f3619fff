"""Formats whose documents are lists of tool definitions: where the list is, what each entry is.

The list may be the document, a single definition, an object that holds one definition a name, or lie under ``tools``
or a like key, at the top or inside an envelope such as a request body or a JSON-RPC response.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dowbench.pointer import join
from dowbench.source import DEFAULT_LIMITS

if TYPE_CHECKING:
    from dowbench.loaders.context import Context
    from dowbench.model import Tool, ToolSet

HOLDERS = ("tools", "functions")
"""Keys whose value is a list of definitions, or an object of them by name."""
ENVELOPES = ("result", "toolConfig", "tool_config", "session", "body", "request", "config", "params", "response")
"""Keys under which a list may be empty and still is a list of tools."""
ENVELOPE_DEPTH = 3
SCHEMA_KEYS = frozenset(
    (
        *("parameters", "parametersJsonSchema", "parameters_json_schema", "input_schema", "inputSchema", "arguments"),
        *("args", "args_schema", "run_params_schema", "function", "custom", "toolSpec", "functionSchema"),
        *("functionDeclarations", "function_declarations", "json_schema", "lc", *HOLDERS),
    )
)
"""Where one format or another keeps what a tool takes."""
MARKS = SCHEMA_KEYS | {"annotations"}
DEEPEST_MARK = 2 * ENVELOPE_DEPTH + 2
"""Containers inside each other in which ``find`` may come upon a definition."""

Matches = Callable[[Mapping[str, Any]], bool]


class Definition(NamedTuple):
    """One entry of a list of definitions. In an object of definitions by name, ``value`` has been given its name."""

    value: Any
    pointer: str


class Listing(NamedTuple):
    """A list of definitions."""

    pointer: str
    definitions: tuple[Definition, ...]
    holder: str | None = None
    """The key it was found under, where a key says that it holds tools."""
    usual: bool = True
    """It lies where lists of tools do, so that it is one even if no entry can tell."""


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


def is_named(entry: Any) -> bool:
    """Whether it is an object with a name that is a text, which tells a definition from a schema of definitions."""
    return isinstance(entry, dict) and isinstance(entry.get("name"), str)


def next_page(document: Any) -> str | None:
    """Where an MCP result says that another page follows it."""
    for keys in ((), ("result",)):
        value = document
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, dict) and "tools" in value and isinstance(value.get("nextCursor"), str):
            return join("", *keys, "nextCursor")
    return None


def is_weak(entry: Any) -> bool:
    """Whether an entry names a tool and nothing says of which format it is."""
    if not isinstance(entry, dict) or not SCHEMA_KEYS.isdisjoint(entry):
        return False
    return is_named(entry) or isinstance(entry.get("type"), str)


def find(value: Any, matches: Matches, context: Context | None = None) -> Listing | None:
    """The list of definitions in a document, ``None`` if there is none; ``matches`` knows an entry by its structure.

    Lists of more entries than a document may have tools are passed over, without ``context`` always; with it one that
    has a tool among them is a ``SourceError``.
    """
    found = list(_listings(value, "", Look(matches, context), ENVELOPE_DEPTH))
    sure = any(_any(listing, matches) for listing in found)
    # elsewhere in a document that defines tools a list of names defines nothing, but objects must not go unseen
    found = [listing for listing in found if listing.usual or (sure and _has_objects(listing))]
    if len(found) < 2:
        return found[0] if found else None
    return Listing("", tuple(d for listing in found for d in listing.definitions), found[0].holder)


def entries_of(value: Any) -> Listing | None:
    """The entries of a list, or the object alone, whatever they are."""
    if isinstance(value, list):
        return Listing("", tuple(Definition(entry, join("", index)) for index, entry in enumerate(value)))
    return Listing("", (Definition(value, ""),)) if isinstance(value, dict) else None


def is_marked(entry: Mapping[str, Any]) -> bool:
    """Whether an object can be a definition that says of which format it is, or hold a list of tools."""
    return not MARKS.isdisjoint(entry) or entry.get("type") in ("function", "custom")


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
    context: Context | None

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


def _listings(value: Any, pointer: str, look: Look, depth: int) -> Iterator[Listing]:
    matches = look.matches
    if isinstance(value, list):
        if look.too_long(value, pointer):
            return
        listing = _list(value, pointer, look, depth)
        if not value or _any(listing, matches):
            yield listing
        return
    if not isinstance(value, dict):
        return
    if matches(value):
        yield Listing(pointer, (Definition(value, pointer),))
        return
    held = [key for key in HOLDERS if isinstance(value.get(key), list | dict)]
    for key in held:
        below = join(pointer, key)
        inner = value[key]
        if look.too_long(inner, below):
            continue
        if isinstance(inner, dict) and matches(inner):
            yield Listing(below, (Definition(inner, below),), key)
        elif isinstance(inner, dict):
            yield Listing(below, _by_name(inner, below), key)
        else:
            yield Listing(below, _list(inner, below, look, depth).definitions, key)
    if held:
        return
    entries = ((key, entry) for key, entry in value.items() if isinstance(entry, dict) and is_marked(entry))
    if any(matches(_named(entry, key)) for key, entry in entries if has_own_name(entry) or needs_no_name(entry)):
        if look.too_long(value, pointer):
            return
        yield Listing(pointer, _by_name(value, pointer))
        return
    for key, inner in value.items():
        below = join(pointer, key)
        if isinstance(inner, list) and inner:
            if look.too_long(inner, below):
                continue
            listing = _list(inner, below, look, max(depth - 1, 0))
            if _any(listing, matches):
                yield listing
        elif isinstance(inner, dict) and depth:
            for listing in _listings(inner, below, look, depth - 1):
                yield listing if key in ENVELOPES else listing._replace(usual=False)


def _list(value: list[Any], pointer: str, look: Look, depth: int) -> Listing:
    """The entries of a list; of those that hold a list of tools themselves, the entries of that."""
    definitions: list[Definition] = []
    matches = look.matches
    for index, entry in enumerate(value):
        place = join(pointer, index)
        if depth and isinstance(entry, dict) and not matches(entry) and not is_weak(entry):
            inner = [listing for listing in _listings(entry, place, look, depth - 1) if listing.holder]
            if inner:
                definitions.extend(d for listing in inner for d in listing.definitions)
                continue
        definitions.append(Definition(entry, place))
    return Listing(pointer, tuple(definitions))


def _any(listing: Listing, matches: Matches) -> bool:
    return any(isinstance(d.value, dict) and matches(d.value) for d in listing.definitions)


def _has_objects(listing: Listing) -> bool:
    return any(isinstance(d.value, dict) for d in listing.definitions)


def _by_name(value: Mapping[str, Any], pointer: str) -> tuple[Definition, ...]:
    return tuple(
        Definition(_named(entry, key) if isinstance(entry, dict) else entry, join(pointer, key))
        for key, entry in value.items()
    )


def _named(entry: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return entry if has_own_name(entry) else {"name": key, **entry}


def has_own_name(entry: Mapping[str, Any]) -> bool:
    """Whether an object of definitions by name does not have to give this one its name."""
    return "name" in entry or "function" in entry or "toolSpec" in entry


def needs_no_name(entry: Mapping[str, Any]) -> bool:
    """Whether an object says enough to be a tool that the key above it names: a description and a whole schema.

    Schemas of other things and descriptions of interfaces have objects under ``parameters``, too.
    """
    inputs = (entry[key] for key in ("parameters", "args") if key in entry)
    return isinstance(entry.get("description"), str) and all(is_whole(schema) for schema in inputs)


def is_whole(schema: Any) -> bool:
    """Whether a schema says itself that it is one, and is not just an object of some."""
    return isinstance(schema, dict) and (isinstance(schema.get("type"), str) or "properties" in schema)
