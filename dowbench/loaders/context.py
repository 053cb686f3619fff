"""What a loader is given beside the value, and the protocol it follows."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Protocol

from dowbench.errors import SourceError
from dowbench.model import Location, Note, Tool, ToolSet
from dowbench.source import DEFAULT_LIMITS, Limits

MOST_NOTES = 20
"""Notes of one document that are kept."""


class Context:
    """The document a value comes from: names it in errors, collects notes, keeps the limits."""

    __slots__ = ("_deadline", "_nodes", "_notes", "document", "limits", "path", "root")

    def __init__(self, path: str, document: int = 0, root: Any = None, limits: Limits = DEFAULT_LIMITS) -> None:
        self.path = path
        self.document = document
        self.root = root  # the whole document: ``$ref`` falls back to it
        self.limits = limits
        self._notes: dict[str, Note] = {}
        self._nodes = 0
        self._deadline = time.monotonic() + limits.seconds

    def error(self, message: str, pointer: str) -> SourceError:
        """An error at ``pointer``, to be raised."""
        return SourceError(message, path=self.path, pointer=pointer, document=self.document)

    def expected(self, what: str, found: Any, pointer: str) -> NoReturn:
        """Refuse the value ``found`` at ``pointer``."""
        raise self.error(f"expected {what}, found {describe(found)}", pointer)

    def note(self, message: str, pointer: str) -> None:
        """Keep something to tell; the same message once."""
        self._notes.setdefault(message, Note(self.path, message, pointer=pointer, document=self.document))

    def notes(self) -> tuple[Note, ...]:
        """What was noted so far: the first ``MOST_NOTES``, and how many more."""
        notes = tuple(self._notes.values())
        if len(notes) <= MOST_NOTES:
            return notes
        more = Note(self.path, f"and {len(notes) - MOST_NOTES} more notes like these", document=self.document)
        return (*notes[:MOST_NOTES], more)

    def visit(self, pointer: str) -> None:
        """Count one schema node at ``pointer``.

        Raises:
            SourceError: when the document has cost more than ``limits`` allow.
        """
        self._nodes += 1
        if self._nodes > self.limits.nodes:
            raise self.error(
                f"the schemas have more than {self.limits.nodes:,} nodes to follow (source_limits.nodes)", pointer
            )
        if not self._nodes & 1023 and time.monotonic() > self._deadline:
            raise self.error(
                f"reading the schemas took more than {self.limits.seconds:g} s (source_limits.seconds)", pointer
            )

    def few(self, count: int, what: str, pointer: str) -> None:
        """Raise ``SourceError`` if what stands at ``pointer`` has more of something than ``limits`` allow.

        Asked before anything is made of them, each of which takes a hundred times its text.
        """
        if count > (most := self.limits.parameters):
            raise self.error(f"{count:,} {what}, more than {most:,} (source_limits.parameters)", pointer)

    def toolset(self, format: str, tools: Sequence[Tool], pointer: str) -> ToolSet:
        """The tool set of this document, whose list is at ``pointer``."""
        if len(tools) > self.limits.tools:
            raise self.error(
                f"the document has {len(tools):,} tools, more than {self.limits.tools:,} (source_limits.tools)", pointer
            )
        if not tools:
            self.note("the document holds no tools", pointer)
        for tool in tools:
            self.few(len(tool.parameters), "parameters of a tool", tool.location.pointer)
            length = len(tool.description) + sum([len(parameter.description) for parameter in tool.parameters])
            if length > (most := self.limits.text):
                message = f"the descriptions of a tool have {length:,} characters, more than {most:,}"
                raise self.error(f"{message} (source_limits.text)", tool.location.pointer)
        return ToolSet(self.path, format, tuple(tools), self.document, Location(pointer), self.notes)


class Loader(Protocol):
    """One input format: a built-in one of ``LOADERS``, or another by an entry point ``dowbench.tool_loaders``."""

    @property
    def name(self) -> str:
        """The name of the format, as the command line takes it."""

    def confidence(self, value: Any) -> float:
        """How sure it is, from 0 (not mine) to 1 (mine), that the parsed document ``value`` is of this format.

        Looks at the structure, cheaply: it is asked for each file of a repository.
        """

    def load(self, value: Any, context: Context) -> ToolSet | Sequence[Tool]:
        """The tools of ``value``; pointers count from its root.

        Raises:
            SourceError: for what is not as the format wants it; best made by ``context.error``.
        """


def describe(value: Any) -> str:
    """What kind of JSON value it is, in words for an error message."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return "a number"
        case str():
            return f'the text "{quote(value)}"' if value else "an empty text"
        case Mapping():
            return f"an object with {keys(value)}" if value else "an empty object"
        case list() | tuple():
            return f"a list of {len(value)}" if value else "an empty list"
        case _:
            return f"a {type(value).__name__}"


def keys(value: Mapping[Any, Any], most: int = 5) -> str:
    """The first keys of an object in words: ``keys a, b, c and 4 more``."""
    names = [quote(str(key)) for _, key in zip(range(most), value, strict=False)]
    more = len(value) - len(names)
    return f"{'key' if len(value) == 1 else 'keys'} {', '.join(names)}{f' and {more} more' if more else ''}"


def quote(text: str, most: int = 40) -> str:
    """``text`` on one line, cut to ``most`` characters, safe to print."""
    short = text if len(text) <= most else text[: most - 1] + "…"
    if short.isprintable():
        return short
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in short)
