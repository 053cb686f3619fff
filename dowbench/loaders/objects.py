"""Python objects that define tools, turned into the definitions a document would hold. Nothing is imported for it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from dowbench.errors import SourceError
from dowbench.loaders.context import quote
from dowbench.pointer import join
from dowbench.source import DEFAULT_LIMITS, Limits

MOST_BITS = 14_000
"""Of an integer; one of more digits than Python writes out is infinite, as in a file."""

NO_TEXTS: Mapping[str, tuple[type, ...]] = dict.fromkeys(
    ("name", "description", "title", "type"), (bytes, bytearray, memoryview)
)
"""What is not to be made text where a definition has a text: it would read ``b'find'``."""


def definitions(objects: Any, path: str, limits: Limits = DEFAULT_LIMITS) -> Any:
    """The definition of one object, or the list of those of several. Dicts and lists are taken as they are.

    Raises:
        SourceError: an object is nothing that defines a tool, holds itself, or exceeds ``limits``.
    """
    copy = Copy(path, limits)
    try:
        if isinstance(objects, Mapping):
            return copy.plain(objects, "", 0)
        if isinstance(objects, Iterable) and not isinstance(objects, str | bytes | type) and not is_tool(objects):
            found = []
            for index, thing in enumerate(objects):
                if index >= limits.tools:
                    raise copy.error(f"more than {limits.tools:,} tools (source_limits.tools)", "")
                found.append(copy.plain(definition(thing, f"/{index}", path), f"/{index}", 1))
            return found
        return [copy.plain(definition(objects, "/0", path), "/0", 1)]
    except SourceError:
        raise
    except RecursionError:
        raise copy.error("the objects are nested too deeply to be followed", "") from None
    except Exception as error:
        raise copy.error(f"the objects cannot be read: {type(error).__name__}: {quote(str(error), 200)}", "") from error


def is_tool(thing: Any) -> bool:
    """Whether an object is a definition itself, even if it can be iterated over, as pydantic models can."""
    return hasattr(thing, "model_dump") or hasattr(thing, "args_schema")


class Copied(NamedTuple):
    """A container that was copied. It keeps the original alive, by whose id it is known."""

    original: Any
    plain: Any
    size: int
    """How many values it holds, itself among them."""


class Copy:
    """Copies Python objects into the types that JSON is read into, held to the limits of a file.

    What is shared stays shared, and counts as in YAML, where an alias adds what it stands for.
    """

    def __init__(self, path: str, limits: Limits) -> None:
        self._path = path
        self._limits = limits
        self._copied: dict[int, Copied] = {}
        self._open: set[int] = set()
        self._nodes = 0
        self._shared = 0

    def error(self, message: str, pointer: str) -> SourceError:
        """An error at ``pointer``, to be raised."""
        return SourceError(message, path=self._path, pointer=pointer)

    def plain(self, value: Any, pointer: str, depth: int) -> Any:
        """``value`` in the types that JSON is read into; what JSON cannot say becomes text."""
        self._nodes += 1
        if self._nodes > self._limits.nodes:
            raise self.error(f"more than {self._limits.nodes:,} values (source_limits.nodes)", pointer)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int) and value.bit_length() > MOST_BITS:
            return math.inf if value > 0 else -math.inf
        for kind in (str, int, float):  # a member of an enum, or of another subclass, becomes its value
            if isinstance(value, kind):
                return value if type(value) is kind else kind(value)
        if not isinstance(value, Mapping | list | tuple | set | frozenset):
            return str(value)
        known = self._copied.get(id(value))
        if known is not None:
            self._shared += known.size
            if self._shared + self._nodes > self._limits.nodes or self._shared > self._limits.aliases:
                message = f"shared values add more than {self._limits.aliases:,} (source_limits.aliases)"
                raise self.error(message, pointer)
            return known.plain
        if id(value) in self._open:
            raise self.error("a value holds itself", pointer)
        if depth >= self._limits.nesting:
            raise self.error(f"more than {self._limits.nesting} levels of nesting (source_limits.nesting)", pointer)
        self._open.add(id(value))
        before = self._nodes + self._shared
        found = self._container(value, pointer, depth + 1)
        self._open.remove(id(value))
        self._copied[id(value)] = Copied(value, found, self._nodes + self._shared - before + 1)
        return found

    def _container(self, value: Any, pointer: str, depth: int) -> Any:
        if isinstance(value, Mapping):
            found: dict[str, Any] = {}
            for key, inner in value.items():
                place = join(pointer, str(key))
                if str(key) in found:
                    raise self.error(f'two keys are both written "{quote(str(key))}"', place)
                if isinstance(inner, NO_TEXTS.get(str(key), ())):
                    raise self.error(f"expected a text, found {type(inner).__name__}", place)
                found[str(key)] = self.plain(inner, place, depth)
            return found
        items = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        return [self.plain(inner, join(pointer, index), depth) for index, inner in enumerate(items)]


def definition(thing: Any, pointer: str, path: str) -> Any:
    """The definition of one object: a LangChain tool, an MCP or provider SDK's model, a pydantic model."""
    if isinstance(thing, Mapping):
        return thing
    for read in (function_tool, langchain_tool, model, model_class):
        try:
            found = read(thing)
        except Exception as error:
            reason = f"{type(error).__name__}: {quote(str(error), 200)}"
            message = f"the definition of {name_of(thing)} cannot be read: {reason}"
            raise SourceError(message, path=path, pointer=pointer) from error
        if found is not None:
            return found
    expected = "a tool definition (a dict, or an object with name, description and a schema)"
    raise SourceError(f"expected {expected}, found {name_of(thing)}", path=path, pointer=pointer)


def function_tool(thing: Any) -> Mapping[str, Any] | None:
    """A ``FunctionTool`` of the OpenAI Agents SDK, a ``Tool`` or ``ToolDefinition`` of pydantic-ai."""
    thing = getattr(thing, "tool_def", thing)
    for attribute in ("params_json_schema", "parameters_json_schema"):
        schema = getattr(thing, attribute, None)
        if isinstance(schema, Mapping):
            return {"type": "function", "name": thing.name, "description": thing.description, "parameters": schema}
    return None


def langchain_tool(thing: Any) -> Mapping[str, Any] | None:
    """A ``BaseTool`` of LangChain, or anything with its ``name``, ``description`` and ``args_schema`` or ``args``."""
    if isinstance(thing, type) or not (
        hasattr(thing, "args_schema") or isinstance(getattr(thing, "args", None), Mapping)
    ):
        return None
    entry: dict[str, Any] = {"name": thing.name, "description": thing.description}
    # tool_call_schema is what the model is offered, without what the program injects, and args are its properties;
    # not so of a tool that takes one text: there tool_call_schema is about calling a Python function
    args = getattr(thing, "args", None)
    for attribute in ("tool_call_schema", "args_schema"):
        schema = json_schema(getattr(thing, attribute, None))
        if schema is not None and (not isinstance(args, Mapping) or args.keys() == schema.get("properties", {}).keys()):
            return {**entry, "args_schema": schema}
    stated = getattr(thing, "args_schema", None)
    if stated is not None and not isinstance(args, Mapping):
        raise TypeError(f"args_schema is {name_of(stated)}, neither a dict nor a pydantic model class")
    return {**entry, "args": args or {}}


def model(thing: Any) -> Mapping[str, Any] | None:
    """An instance of a pydantic model that is a definition itself, such as ``mcp.types.Tool``."""
    dump = getattr(thing, "model_dump", None)
    if isinstance(thing, type) or not callable(dump):
        return None
    found = dump(mode="json", by_alias=True, exclude_none=True)
    return found if isinstance(found, Mapping) else None


def model_class(thing: Any) -> Mapping[str, Any] | None:
    """A pydantic model class, which LangChain and others take as a tool: its fields are the parameters."""
    schema = json_schema(thing) if isinstance(thing, type) else None
    if schema is None:
        return None
    text = schema.get("description") or inspect.getdoc(thing) or ""
    return {"name": schema.get("title") or thing.__name__, "description": text, "args_schema": schema}


def json_schema(schema: Any) -> Mapping[str, Any] | None:
    """The JSON Schema of a dict or of a pydantic model, version 2 or 1."""
    if isinstance(schema, Mapping):
        return schema
    for method in ("model_json_schema", "schema"):
        make: Callable[[], Any] | None = getattr(schema, method, None)
        if isinstance(schema, type) and callable(make):
            made = make()
            return made if isinstance(made, Mapping) else None
    return None


def name_of(thing: Any) -> str:
    """What an object is called in a message."""
    name = getattr(thing, "name", None) or getattr(thing, "__name__", None)
    return f"{type(thing).__name__} {name}" if isinstance(name, str) else type(thing).__name__
