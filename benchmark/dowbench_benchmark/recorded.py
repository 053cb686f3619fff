"""Recorded JSON, read with the place of every value: the one way in for rows of a log and for ``run.json``.

What is read may have been damaged, or made to do harm, so nothing is taken for what it should be: a reader asks a
``Recorded`` for a value of the kind it needs, and whatever is not of that kind is said with file and line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import yaml

from dowbench_benchmark.located import DataError, Node

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Found = TypeVar("Found")
Missing = TypeVar("Missing")

MOST = 2**53 - 1
"""The greatest count: every reader of JSON keeps whole numbers up to here."""
DEPTH = 100
"""How deep lists and objects may be nested."""


class Recorded(Node):
    """A JSON value and its place: the line of its row, or its keys within a file that is one value.

    ``value`` is plain JSON; what is inside is wrapped when it is asked for, and its key put together when it is wrong.
    """

    __slots__ = ("_above", "_at")

    def __init__(
        self, value: Any, path: str, line: int | None = None, above: Recorded | None = None, at: str | int = ""
    ) -> None:
        self.value = value
        self.path = path
        self.line = line or 0
        self._above = above
        self._at = at

    @property
    def keys(self) -> tuple[str | int, ...]:
        """What leads here from the top of the value that was parsed."""
        return () if self._above is None else (*self._above.keys, self._at)

    @property
    def key(self) -> str:  # type: ignore[override]
        """The same for messages: ``response.tool_calls[0].id``."""
        return "".join(f"[{at}]" if isinstance(at, int) else f".{at}" for at in self.keys).removeprefix(".")

    def place(self) -> dict[str, Any]:
        """Path and line: that of the row, or the one in the file where the value begins."""
        return {"path": self.path, "line": self.line or line_of(self.path, self.keys)}

    def _expected(self, what: str) -> NoReturn:
        super()._expected(what.replace("a mapping", "an object"))

    def entries(self) -> dict[str, Recorded]:
        """The entries of an object with any keys."""
        return {name: self._inner(value, name) for name, value in super().entries().items()}

    def items(self, *, at_least: int = 0) -> list[Recorded]:
        """The items of a list."""
        return [self._inner(value, place) for place, value in enumerate(super().items(at_least=at_least))]

    def plain(self) -> Any:
        """The value as it is."""
        return self.value

    def at(self, name: str) -> Recorded:
        """An entry that an object must have."""
        if not isinstance(self.value, dict):
            self._expected("an object")
        if name not in self.value:
            self.fail(f"the key {name!r} is missing")
        return self._inner(self.value[name], name)

    def get(self, name: str) -> Recorded | None:
        """An entry of an object, ``None`` where it is missing or null."""
        if not isinstance(self.value, dict):
            self._expected("an object")
        value = self.value.get(name)
        return None if value is None else self._inner(value, name)

    def count(self) -> int:
        """A whole number from 0 to ``MOST``."""
        return self.integer(minimum=0, maximum=MOST)

    def object(self) -> dict[str, Any]:
        """An object as it is."""
        if not isinstance(self.value, dict):
            self._expected("an object")
        return self.value

    def _inner(self, value: Any, at: str | int) -> Recorded:
        return Recorded(value, self.path, self.line, self, at)


def parse(data: bytes, path: Path, line: int | None = None) -> Recorded:
    """The JSON value that ``data`` holds. Raises ``DataError`` at ``line``, or at the line where JSON ends."""

    def fail(message: str, at: int | None = None) -> NoReturn:
        raise DataError(message, path=str(path), line=line or at) from None

    try:
        text = data.decode() if line else data.decode("utf-8-sig")
        value = _decoder.decode(text)
    except UnicodeDecodeError as error:
        fail(f"expected UTF-8, found byte 0x{data[error.start]:02x}", data.count(b"\n", 0, error.start) + 1)
    except json.JSONDecodeError as error:
        fail(f"is not JSON: {error.msg} in column {error.colno}", error.lineno)
    except ValueError as error:  # one of JSON's numbers that Python does not read, or one of Python's that JSON lacks
        at = next((found.start() for found in _NUMBER.finditer(text) if found[1]), 0)
        fail(f"is not JSON: {str(error).partition(';')[0]}", text.count("\n", 0, at) + 1)
    except RecursionError:
        fail(f"holds {TOO_DEEP}")
    if text.count("[") + text.count("{") > DEPTH and too_deep(value):
        fail(f"holds {TOO_DEEP}")
    return Recorded(value, str(path), line)


def optional(row: Recorded, name: str, read: Callable[[Recorded], Found], otherwise: Missing) -> Found | Missing:
    """What ``read`` makes of an entry of an object, ``otherwise`` where the entry is missing or null."""
    entry = row.get(name)
    return otherwise if entry is None else read(entry)


def line_of(path: str, keys: Iterable[str | int]) -> int | None:
    """The line where the value under ``keys`` begins, ``None`` where it cannot be found. JSON is YAML enough for it."""
    try:
        node: Any = yaml.compose(Path(path).read_bytes().decode("utf-8-sig"), Loader=_Loader)
        for key in keys:
            if isinstance(key, int):
                node = node.value[key]
            else:
                node = next(value for name, value in node.value if name.value == key)
        return int(node.start_mark.line) + 1
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError, StopIteration, LookupError, AttributeError):
        return None


_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|(NaN|Infinity|[0-9]{4301,})')
"""Texts are passed over: what is in the group stands outside of them."""
TOO_DEEP = f"lists and objects nested more than {DEPTH} deep"


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


_decoder = json.JSONDecoder(parse_constant=_no_number)


def too_deep(value: Any) -> bool:
    """Whether lists and objects are nested more than ``DEPTH`` deep."""
    level = [value] if isinstance(value, Mapping | list | tuple) else []
    for _ in range(DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, Mapping) else outer)
            if isinstance(inner, Mapping | list | tuple)
        ]
        if not level:
            return False
    return True
