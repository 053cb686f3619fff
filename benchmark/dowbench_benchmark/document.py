"""YAML data of the benchmark: values that know their line, so that every refusal is located.

YAML 1.2 scalars as far as PyYAML allows: dates stay text. Duplicate keys, merge keys and recursive aliases are refused.
"""

from __future__ import annotations

import difflib
import math
from typing import TYPE_CHECKING, Any, NoReturn

import yaml

from dowbench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]
    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
        for first, resolvers in _Base.yaml_implicit_resolvers.items()
    }


def read(path: Path, shown: str | None = None) -> Node:
    """The one document of a YAML file. Raises ``UsageError`` with its place. ``shown`` is the path in messages."""
    name = shown or str(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror or error}", path=name) from None
    except UnicodeDecodeError as error:
        raise UsageError(f"is not UTF-8: byte {error.start}", path=name) from None
    return parse(text, name)


def parse(text: str, path: str) -> Node:
    """The one YAML document in ``text``. Raises ``UsageError`` with its place."""
    loader = _Loader(text)
    try:
        root = loader.get_single_node()
        if root is None:
            raise UsageError("is empty; expected a mapping", path=path, line=1)
        return Node(root, _build(root, loader, path, set()), path)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        raise UsageError(
            f"is not YAML: {error.problem or error.context}", path=path, line=line, column=column
        ) from None
    except yaml.YAMLError as error:
        raise UsageError(f"is not YAML: {' '.join(str(error).split())}", path=path) from None
    except RecursionError:
        raise UsageError("is nested too deeply", path=path) from None
    finally:
        loader.dispose()


class Node:
    """A value and where it stands. Readers return plain values or raise a located ``UsageError``."""

    __slots__ = ("_node", "_value", "path")

    def __init__(self, node: Any, value: Any, path: str) -> None:
        self._node = node
        self._value: Any = value
        self.path = path

    @property
    def line(self) -> int:
        """Its first line, 1-based."""
        return int(self._node.start_mark.line) + 1

    @property
    def value(self) -> Any:
        """The plain value: dict, list, str, int, float, bool or None."""
        return self._value

    def fail(self, message: str) -> NoReturn:
        """Raise a ``UsageError`` at this place."""
        raise UsageError(message, path=self.path, line=self.line, column=int(self._node.start_mark.column) + 1)

    def mapping(self, required: Iterable[str] = (), optional: Iterable[str] = ()) -> dict[str, Node]:
        """Its entries. Keys that are neither required nor optional, and missing required ones, are refused."""
        entries = self.entries()
        required = list(required)
        known = [*required, *optional]
        for key, node in entries.items():
            if key not in known:
                near = difflib.get_close_matches(key, known, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
                node._fail_key(f"unknown key {key!r}; {hint}")
        for key in required:
            if key not in entries:
                self.fail(f"key {key!r} is missing")
        return entries

    def entries(self) -> dict[str, Node]:
        """Its entries, whatever their names."""
        if not isinstance(self._node, yaml.MappingNode):
            self.fail(f"expected a mapping, not {self.described()}")
        return {key.value: _Entry(key, node, self._value[key.value], self.path) for key, node in self._node.value}

    def items(self, minimum: int = 0) -> list[Node]:
        """The items of a list that has at least ``minimum``."""
        if not isinstance(self._node, yaml.SequenceNode):
            self.fail(f"expected a list, not {self.described()}")
        if len(self._node.value) < minimum:
            self.fail(f"expected at least {minimum} item(s)")
        return [Node(node, value, self.path) for node, value in zip(self._node.value, self._value, strict=True)]

    def text(self, *, empty: bool = False) -> str:
        """A string, by default with something besides white space in it."""
        if not isinstance(self._value, str):
            self.fail(f"expected text, not {self.described()}")
        if not empty and not self._value.strip():
            self.fail("expected text that is not blank")
        return self._value

    def texts(self, minimum: int = 0) -> tuple[str, ...]:
        """A list of strings without repetition."""
        seen: list[str] = []
        for item in self.items(minimum):
            text = item.text()
            if text in seen:
                item.fail(f"{text!r} is listed twice")
            seen.append(text)
        return tuple(seen)

    def choice(self, options: Iterable[str], what: str = "value") -> str:
        """A string that is one of ``options``."""
        text = self.text()
        known = list(options)
        if text not in known:
            self.fail(unknown(what, text, known))
        return text

    def boolean(self) -> bool:
        """true or false."""
        if not isinstance(self._value, bool):
            self.fail(f"expected true or false, not {self.described()}")
        return self._value

    def integer(self, minimum: int | None = None, maximum: int | None = None) -> int:
        """A whole number within bounds."""
        if isinstance(self._value, bool) or not isinstance(self._value, int):
            self.fail(f"expected a whole number, not {self.described()}")
        self._within(self._value, minimum, maximum)
        return self._value

    def number(self, minimum: float | None = None, maximum: float | None = None) -> float:
        """A finite number within bounds."""
        if isinstance(self._value, bool) or not isinstance(self._value, int | float):
            self.fail(f"expected a number, not {self.described()}")
        if not math.isfinite(self._value):
            self.fail(f"expected a finite number, not {self._value}")
        self._within(self._value, minimum, maximum)
        return self._value

    def described(self) -> str:
        """The value in a few words, for messages."""
        if isinstance(self._value, dict):
            return "a mapping"
        if isinstance(self._value, list):
            return "a list"
        if self._value is None:
            return "nothing"
        return repr(self._value) if len(repr(self._value)) <= 60 else repr(self._value)[:57] + "…"

    def _within(self, value: float, minimum: float | None, maximum: float | None) -> None:
        if minimum is not None and value < minimum:
            self.fail(f"expected at least {minimum}, not {value}")
        if maximum is not None and value > maximum:
            self.fail(f"expected at most {maximum}, not {value}")

    def _fail_key(self, message: str) -> NoReturn:
        self.fail(message)


class _Entry(Node):
    """A mapping's value, whose key has a place of its own."""

    __slots__ = ("_key",)

    def __init__(self, key: Any, node: Any, value: Any, path: str) -> None:
        super().__init__(node, value, path)
        self._key = key

    def _fail_key(self, message: str) -> NoReturn:
        mark = self._key.start_mark
        raise UsageError(message, path=self.path, line=int(mark.line) + 1, column=int(mark.column) + 1)


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """The message for a name that nothing has: the nearest one, and all there are."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"unknown {what} {name!r}; {hint}known: {', '.join(names) or 'none'}"


def _build(node: Any, loader: Any, path: str, above: set[int]) -> Any:
    mark = node.start_mark
    if id(node) in above:
        raise UsageError("an alias refers to what holds it", path=path, line=mark.line + 1, column=mark.column + 1)
    if isinstance(node, yaml.ScalarNode):
        try:
            return loader.construct_object(node)
        except ValueError as error:
            raise UsageError(
                f"is not a value: {error}", path=path, line=mark.line + 1, column=mark.column + 1
            ) from None
    above.add(id(node))
    try:
        if isinstance(node, yaml.SequenceNode):
            return [_build(item, loader, path, above) for item in node.value]
        built: dict[str, Any] = {}
        for key, value in node.value:
            place = {"line": key.start_mark.line + 1, "column": key.start_mark.column + 1}
            if not isinstance(key, yaml.ScalarNode) or key.tag == "tag:yaml.org,2002:merge":
                raise UsageError("expected a plain key", path=path, **place)
            if key.value in built:
                raise UsageError(f"key {key.value!r} is given twice", path=path, **place)
            built[key.value] = _build(value, loader, path, above)
        return built
    finally:
        above.discard(id(node))
