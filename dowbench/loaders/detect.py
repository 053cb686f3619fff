"""Decides of which format a document is, from its structure alone."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from dowbench.errors import SourceError, UnrecognizedError
from dowbench.loaders import anthropic, bedrock, crewai, gemini, langchain, mcp, openai, openapi
from dowbench.loaders.claims import OWN, broken, claimant, doubtful, is_near
from dowbench.loaders.context import Context, Loader, describe, quote
from dowbench.loaders.definitions import ListLoader, entries_of, find, has_marks
from dowbench.loaders.entries import MARKS, Listing, is_marked, is_weak
from dowbench.loaders.spelling import is_object_schema
from dowbench.pointer import join

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib.metadata import EntryPoint

    from dowbench.model import ToolSet

LISTS: tuple[ListLoader, ...] = (
    openai.LOADER,
    anthropic.LOADER,
    mcp.LOADER,
    gemini.LOADER,
    bedrock.LOADER,
    langchain.LOADER,
    crewai.LOADER,
)
LOADERS: Mapping[str, Loader] = {**{loader.name: loader for loader in LISTS}, openapi.LOADER.name: openapi.LOADER}
"""The built-in formats by name."""

MOST_KEYS = 40
"""Of an object whose keys are remembered."""
PLUGINS = "dowbench.tool_loaders"
HINTS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset(("mcpServers",)), "it names servers, not tools; scan what they answer to tools/list"),
    (frozenset(("jsonrpc", "error")), "a server answered with an error"),
    (frozenset(("asyncapi",)), "AsyncAPI describes messages, not tools"),
)
"""What to say of documents that look like tool definitions and are none, by the keys they have."""


@cache
def _entry_points() -> tuple[EntryPoint, ...]:
    # slow to import and to ask, so only where no built-in format fits
    from importlib.metadata import entry_points

    return tuple(entry_points(group=PLUGINS))


def has_plugins() -> bool:
    """Whether another package adds formats, which only a look at the whole document can tell."""
    return bool(_entry_points())


def plugins() -> Iterator[Loader]:
    """Loaders of other packages, by their entry points."""
    for point in _entry_points():
        try:
            made = point.load()
            loader = made() if isinstance(made, type) else made
            if not (isinstance(loader.name, str) and callable(loader.confidence) and callable(loader.load)):
                raise TypeError("it has no name, confidence or load")
        except Exception as error:
            raise SourceError(f"the loader {point.name} ({point.value}) cannot be used: {error}") from error
        yield loader


def load_auto(value: Any, context: Context) -> ToolSet | tuple[Loader, float]:
    """The tools of a document of a built-in format, or the plugin that is surest of it, and how sure.

    Raises:
        UnrecognizedError: for a document of no format.
        SourceError: for one that mixes formats, or is wrong where its format is clear.
    """
    if openapi.LOADER.confidence(value):
        return load_openapi(value, context)
    marked = value == [] or (isinstance(value, dict | list) and has_marks(value))
    listing = find(value, is_tool, context, is_claim) if marked else None
    formats = kinds(listing) if listing else {}
    if listing and len(formats) == 1:
        (loader,) = formats
        return loader.load_listing(listing, context)
    asked = ((loader, loader.confidence(value)) for loader in plugins())
    surest = max(((loader, sure) for loader, sure in asked if sure > 0), key=lambda pair: pair[1], default=None)
    if surest:
        return surest
    if listing and formats:
        raise mixed(formats, context)
    if listing and not listing.definitions:
        return context.toolset("unknown", (), listing.pointer)
    short = isinstance(value, list) and len(value) <= context.limits.tools
    if vague := listing or (entries_of(value) if short else None):
        for loader in LISTS:
            if resembles(vague, loader):
                return loader.load_listing(vague, context)
    raise broken(value, listing, context) or unrecognized(value, listing, context)


def load_openapi(value: Mapping[str, Any], context: Context) -> ToolSet:
    """The operations of an OpenAPI document, which has no tools of another format beside them."""
    beside = {key: inner for key, inner in value.items() if key not in openapi.OWN}
    listing = find(beside, is_tool, context, is_claim) if has_marks(beside) else None
    loaded = openapi.LOADER.load(value, context)
    if listing and (formats := kinds(listing)):
        operations = [tool.location.pointer for tool in loaded.tools]
        raise mixed({**({openapi.LOADER: operations} if operations else {}), **formats}, context)
    if listing and (fault := broken(beside, listing, context)) is not None:
        raise fault
    return loaded


def resembles(listing: Listing, loader: ListLoader) -> bool:
    """Whether the entries of a list, which say too little to tell, may all be of a format."""
    functions = listing.holder == "functions" and loader is openai.LOADER
    return all(
        isinstance(d.value, dict) and (loader.resembles(d.value) or (functions and is_weak(d.value)))
        for d in listing.definitions
    )


def is_tool(entry: Mapping[str, Any]) -> bool:
    """Whether an entry says of which format it is."""
    return kind(entry) is not None


def is_claim(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is a tool, or claims to be one."""
    few = len(entry) <= MOST_KEYS
    if few and entry.get("type") not in ("function", "custom") and not may_claim(tuple(entry)):
        return False
    if is_tool(entry) or any(is_object_schema(entry.get(key)) for key in OWN):
        return True
    return claimant(entry) is not None


@lru_cache(maxsize=4096)
def may_claim(keys: tuple[str, ...]) -> bool:
    """Whether an object of these keys may claim something: documents hold thousands of a kind."""
    return not MARKS.isdisjoint(keys) or any(map(is_near, keys))


def kind(entry: Mapping[str, Any]) -> ListLoader | None:
    """The format of one entry, if it says."""
    return next((loader for loader in LISTS if loader.matches(entry)), None) if is_marked(entry) else None


def kinds(listing: Listing) -> dict[ListLoader, list[str]]:
    """The formats of a list's entries, and the pointers of those of each."""
    found: dict[ListLoader, list[str]] = {}
    for definition in listing.definitions:
        loader = kind(definition.value) if isinstance(definition.value, dict) else None
        if loader is not None:
            found.setdefault(loader, []).append(definition.pointer)
    return found


def mixed(formats: Mapping[Any, list[str]], context: Context) -> SourceError:
    """A list that holds tools of several formats, which no model is offered together."""
    parts = [
        f"{len(pointers)} of {loader.name} (first at {pointers[0] or '/'})" for loader, pointers in formats.items()
    ]
    rarest = min(list(formats.values())[::-1], key=len)
    return context.error(f"the list mixes formats: {', '.join(parts)}", rarest[0])


def unrecognized(value: Any, listing: Listing | None, context: Context) -> UnrecognizedError:
    """Says what was found where tool definitions were expected."""
    pointer, found = "", describe(value)
    if listing and listing.definitions:
        first = listing.definitions[0]
        pointer, found = first.pointer, f"{quote(listing.pointer or 'the document')} whose first entry is "
        found += describe(first.value)
    elif isinstance(value, list) and value:
        pointer, found = join("", 0), f"{found}, whose first entry is {describe(value[0])}"
    hint = next((f" ({text})" for keys, text in HINTS if isinstance(value, dict) and keys <= value.keys()), "")
    doubt = doubtful(value, listing)
    return UnrecognizedError(
        f"no tool definitions of a known format: {doubt or f'found {found}{hint}'}",
        path=context.path,
        pointer=pointer,
        document=context.document,
        doubtful=doubt is not None,
    )
