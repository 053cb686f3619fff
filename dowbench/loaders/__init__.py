"""Input formats: from the value of a document to the ``ToolSet`` an agent is offered."""

from __future__ import annotations

from typing import Any

from dowbench.errors import SourceError, UsageError
from dowbench.loaders.context import Context, Loader, quote
from dowbench.loaders.detect import LOADERS, has_plugins, load_auto, plugins
from dowbench.model import ToolSet
from dowbench.source import DEFAULT_LIMITS, Limits, collector_paused

__all__ = ["LOADERS", "Context", "Loader", "has_plugins", "load", "load_tools", "may_be"]


def load(value: Any, *, path: str, document: int = 0, format: str = "auto", limits: Limits = DEFAULT_LIMITS) -> ToolSet:
    """The tools that a parsed document defines.

    ``path`` and ``document`` (its index in the file) name it in results and errors. ``format`` is a name of ``LOADERS``
    or of a plugin; ``auto`` decides from the structure. A document with an empty list has no tools, and a note says so.

    Raises:
        UnrecognizedError: the document holds no tool definitions of any known format.
        SourceError: it mixes formats, or something in it is not as its format wants it; with a ``pointer``.
        UsageError: there is no format of that name.
    """
    context = Context(path, document, value, limits)
    try:
        with collector_paused():
            if format == "auto":
                found = load_auto(value, context)
                return found if isinstance(found, ToolSet) else by(found[0], value, context)
            return by(named(format), value, context)
    except RecursionError as error:
        raise context.error("the document is nested too deeply to be followed", "") from error


def named(format: str) -> Loader:
    """The loader of a format, built in or of another package."""
    if not isinstance(format, str):
        raise UsageError(f"expected the name of a format, a text, found {type(format).__name__}")
    if format in LOADERS:
        return LOADERS[format]
    others = {loader.name: loader for loader in plugins()}
    if format not in others:
        known = ", ".join(sorted({*LOADERS, *others}))
        raise UsageError(f"there is no format {format!r}; known are auto, {known}")
    return others[format]


def may_be(format: str, value: Any) -> bool:
    """Whether a document that nobody named is worth giving to a plugin that was: what the plugin says of it."""
    return format == "auto" or format in LOADERS or named(format).confidence(value) > 0


def by(loader: Loader, value: Any, context: Context) -> ToolSet:
    """What ``loader`` makes of ``value``."""
    if loader.name in LOADERS:
        made = loader.load(value, context)
    else:
        try:
            made = loader.load(value, context)
        except SourceError:
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {quote(str(error), 200)}"
            raise context.error(f"the loader {loader.name} failed: {reason}", "") from error
    return made if isinstance(made, ToolSet) else context.toolset(loader.name, made, "")


def load_tools(format: str, objects: Any, *, path: str = "<python>") -> ToolSet:
    """The tools of Python objects: dicts of any format, LangChain tools, pydantic models, and the like.

    ``objects`` is one object or a sequence of them. Pointers lead into the list of their definitions.

    Raises:
        SourceError: an object is no tool definition of that format.
        UsageError: there is no format of that name.
    """
    from dowbench.loaders.objects import definitions

    return load(definitions(objects, path), path=path, format=format)
