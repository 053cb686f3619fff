"""Bytes to values and places: the one way by which a file enters a scan.

``read`` takes the bytes of a JSON or YAML file and gives a ``Source``. Nothing in the file is ever executed,
constructed or followed. What cannot be read is a ``SourceError`` with line and column.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from dowbench.errors import SourceError
from dowbench.model import Span
from dowbench.source import json_text
from dowbench.source.index import NO_KEY, Index
from dowbench.source.limits import DEFAULT_LIMITS, Limits
from dowbench.source.text import Lines, decode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from dowbench.model import Note

    # From pointers to where the values begin and end, of those that are there.
    Places = Callable[[Collection[str]], Mapping[str, tuple[int, int]]]

__all__ = ["DEFAULT_LIMITS", "Document", "Kind", "Limits", "Source", "read"]

Kind = Literal["json", "yaml"]
_KINDS: dict[str, Kind] = {".json": "json", ".jsonl": "json", ".ndjson": "json", ".yaml": "yaml", ".yml": "yaml"}


class Document:
    """A document of a file: its value, and where everything in it is written.

    Values are what ``json.loads`` gives: ``dict`` with string keys, ``list``, ``str``, ``int``, ``float``, ``bool`` and
    ``None``. They are shared where YAML aliases share them, so they must not be changed.
    """

    def __init__(
        self, value: Any, index: int, lines: Lines, nodes: Callable[[], Index], places: Places | None = None
    ) -> None:
        """``nodes`` indexes every place. ``places`` finds some of them sooner; there are no aliases then."""
        self.value = value
        self.index = index
        """Position of the document in its file."""
        self._lines = lines
        self._make_nodes = nodes
        self._find_places = places
        self._expected: frozenset[str] = frozenset()

    def expect(self, pointers: Iterable[str]) -> None:
        """Name the places that will be asked for: to find them together is quicker, and takes less memory."""
        self._expected = frozenset(pointers)
        self.__dict__.pop("_spans", None)

    @cached_property
    def _nodes(self) -> Index:
        return self._make_nodes()

    @cached_property
    def _spans(self) -> Mapping[str, Span]:
        """Where the expected values are written, as far as they are there."""
        if self._find_places is not None and "_nodes" not in vars(self):
            places = self._find_places(self._expected)
        else:
            places = {pointer: self._nodes.place(pointer) for pointer in self._expected}
        positions = self._lines.positions(offset for place in places.values() for offset in place)
        return {pointer: Span(*positions[start], *positions[end]) for pointer, (start, end) in places.items()}

    def span(self, pointer: str) -> Span:
        """Where the value at ``pointer`` is written; where there is none, its nearest ancestor.

        What a YAML alias or merge key stands for is where its anchor is. A YAML node begins with its anchor or tag, a
        collection in block style ends with its last child, a block scalar with its last visible character.
        """
        return self._spans.get(pointer) or self._lines.span(*self._nodes.place(pointer))

    def key_span(self, pointer: str) -> Span | None:
        """Where the key of the value at ``pointer`` is written; ``None`` for an array's item and for no value."""
        nodes = self._nodes
        node, found, _ = nodes.find(pointer)
        if not found or nodes.key_start[node] == NO_KEY:
            return None
        return self._lines.span(nodes.key_start[node], nodes.key_end[node])

    def use_span(self, pointer: str) -> Span | None:
        """Where the first YAML alias on the way to ``pointer`` is written; ``None`` where there is none."""
        if self._find_places is not None or not self._nodes.aliases:
            return None
        nodes = self._nodes
        _, _, alias = nodes.find(pointer)
        return None if alias is None else self._lines.span(nodes.start[alias], nodes.end[alias])


class Source(NamedTuple):
    """A file that was read."""

    path: str
    kind: Kind
    text: str
    """Decoded, without its byte order mark."""
    documents: tuple[Document, ...]
    """At least one; more only in YAML. Empty documents are left out."""
    warnings: tuple[Note, ...] = ()
    """JSON: keys that an object has twice."""


@contextmanager
def collector_paused() -> Iterator[None]:
    """No garbage collection while many objects are made."""
    # Parsing makes many containers and no garbage; the collector would look at all of them again and again.
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def read(path: str, data: bytes, limits: Limits = DEFAULT_LIMITS, kind: Kind | None = None) -> Source:
    """Read the bytes of a JSON or YAML file.

    ``path`` is for messages, and its suffix tells the language where ``kind`` does not. What begins like JSON is read
    as JSON whatever it is called (PyYAML refuses valid JSON), and as YAML only if that fails and it is not called JSON.
    JSON Lines are one document, the list of their values. Raises ``SourceError``.
    """
    if len(data) > limits.bytes:
        raise too_large(path, limits)
    text = decode(path, data)
    stripped = text.lstrip()
    if not stripped:
        raise SourceError("the file is empty; expected tool definitions in JSON or YAML", path=path, line=1, column=1)
    kind = kind or _KINDS.get(PurePath(path).suffix.lower())
    with collector_paused():
        if kind == "json":
            return _read_json(path, text, limits)
        if not stripped.startswith(("{", "[", '"')):
            return _read_yaml(path, text, limits)
        try:
            return _read_json(path, text, limits)
        except SourceError as not_json:
            try:
                return _read_yaml(path, text, limits)
            except SourceError as not_yaml:
                raise (not_yaml if kind == "yaml" else not_json) from None


def too_large(path: str, limits: Limits, size: int | None = None) -> SourceError:
    """The error for a file of so many bytes; where it was not read to its end, they are unknown."""
    found = "there are" if size is None else f"the file has {size:,} bytes,"
    return SourceError(f"{found} more than {limits.bytes:,} bytes (source_limits.bytes)", path=path, line=1, column=1)


def _read_json(path: str, text: str, limits: Limits) -> Source:
    parsed = json_text.parse(path, text, limits)
    lines = Lines(text)
    document = Document(
        parsed.value,
        0,
        lines,
        lambda: json_text.index(text, parsed.sequence),
        lambda pointers: json_text.places(text, pointers, parsed.sequence),
    )
    warnings = json_text.duplicate_keys(path, document._nodes, lines) if parsed.duplicates else []
    return Source(path, "json", text, (document,), tuple(warnings))


def _ready(nodes: Index) -> Callable[[], Index]:
    return lambda: nodes


def _read_yaml(path: str, text: str, limits: Limits) -> Source:
    from dowbench.source import yaml_text

    lines = Lines(text)
    documents = tuple(
        Document(document.value, document.number, lines, _ready(document.nodes))
        for document in yaml_text.parse(path, text, limits)
    )
    if not documents:
        raise SourceError("the file holds no value; expected tool definitions", path=path, line=1, column=1)
    return Source(path, "yaml", text, documents)
