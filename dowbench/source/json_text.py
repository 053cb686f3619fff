"""JSON through the standard library; positions are looked up in the text only when somebody asks."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from dowbench.errors import SourceError
from dowbench.model import Note
from dowbench.pointer import split
from dowbench.source.index import NO_KEY, Index
from dowbench.source.text import Lines

if TYPE_CHECKING:
    from collections.abc import Collection

    from dowbench.source.limits import Limits

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_STRINGS = re.compile(_STRING, re.DOTALL)
# In valid JSON one match is one value, with its key, or one closing bracket.
_NODE = re.compile(rf'[\s,]*+(?:({_STRING})\s*+:\s*+)?({_STRING}|[{{}}\[\]]|[^\s"{{}}\[\],:]++)', re.DOTALL)
_SPACE = re.compile(r"[ \t\n\r]*")
_MAX_DUPLICATES = 20

_EXPECTED = {
    "Expecting value": "expected a value",
    "Expecting ',' delimiter": "expected ',' or a closing bracket",
    "Expecting ':' delimiter": "expected ':'",
    "Expecting property name enclosed in double quotes": "expected a key in double quotes",
    "Illegal trailing comma before end of object": "expected a key in double quotes after the comma",
    "Illegal trailing comma before end of array": "expected a value after the comma",
    "Extra data": "expected the end of the file",
    "Unterminated string starting at": "expected a closing quote for the string that starts",
    "Invalid control character at": "expected control characters in strings to be escaped",
    "Invalid \\escape": 'expected one of \\" \\\\ \\/ \\b \\f \\n \\r \\t \\u',
    "Invalid \\uXXXX escape": "expected four hexadecimal digits after \\u",
}


class Parsed(NamedTuple):
    """What a text holds."""

    value: Any
    duplicates: bool
    """An object in it has a key twice; the last one counts."""
    sequence: bool
    """The text is several values (JSON Lines), and ``value`` is the list of them."""


def parse(path: str, text: str, limits: Limits) -> Parsed:
    """The value of a JSON text, or the list of the values that each begin on a line of their own.

    ``NaN``, ``Infinity`` and numbers too large for Python's readers are read as floats. Raises ``SourceError``.
    """
    if len(text) // 2 > limits.nodes:
        _refuse_excess(path, text, limits)
    duplicates = False

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal duplicates
        value = dict(pairs)
        if len(value) != len(pairs):
            duplicates = True
        return value

    decoder = json.JSONDecoder(object_pairs_hook=build)
    sequence = False
    try:
        try:
            value, sequence = _values(decoder, text)
        except json.JSONDecodeError:
            raise
        except ValueError:  # more digits than int() accepts
            value, sequence = _values(json.JSONDecoder(object_pairs_hook=build, parse_int=integer), text)
    except json.JSONDecodeError as error:
        raise _located(path, text, error) from None
    except RecursionError:
        _refuse_excess(path, text, limits)
        raise SourceError("nested too deeply for this Python to read", path=path) from None
    if depth(value) > limits.nesting:
        _refuse_excess(path, text, limits)
    return Parsed(value, duplicates, sequence)


def _values(decoder: json.JSONDecoder, text: str) -> tuple[Any, bool]:
    value, end = decoder.raw_decode(text, _first(text, 0))
    start = _first(text, end)
    if start == len(text):
        return value, False
    values = [value]
    while start < len(text):
        if text[start] not in "{[" or "\n" not in text[end:start]:
            raise json.JSONDecodeError("Extra data", text, start)
        value, end = decoder.raw_decode(text, start)
        values.append(value)
        start = _first(text, end)
    return values, True


def _first(text: str, start: int) -> int:
    match = _SPACE.match(text, start)
    return match.end() if match else start


def depth(value: Any) -> int:
    """How many objects and arrays lie inside each other."""
    levels = 0
    level = [value] if type(value) is dict or type(value) is list else []
    while level:
        levels += 1
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
    return levels


def integer(digits: str) -> int | float:
    """The number, or infinity where it is too large for a ``float``."""
    return int(digits) if len(digits) <= _DIGITS else float(digits)


_DIGITS = sys.float_info.max_10_exp
"""So many digits are no number too large for a ``float``."""


def _located(path: str, text: str, error: json.JSONDecodeError) -> SourceError:
    reason = error.msg.removesuffix(": ").removesuffix(":")
    expected = _EXPECTED.get(reason, reason)
    if reason.startswith("Unterminated"):
        expected = f"{expected} here"
    elif not reason.startswith("Invalid"):
        expected = f"{expected}, found {ascii(text[error.pos]) if error.pos < len(text) else 'the end of the file'}"
    line, column = Lines(text).position(error.pos)
    return SourceError(f"not valid JSON: {expected}", path=path, line=line, column=column)


def _refuse_excess(path: str, text: str, limits: Limits) -> None:
    """Raise ``SourceError`` at the place where the text has too many values, or too many inside each other."""
    depth, nodes = 0, 1
    for match in re.finditer(r"[\[{\]},]", _STRINGS.sub(lambda string: " " * len(string[0]), text)):
        character = match[0]
        if character in "]}":
            depth -= 1
            continue
        nodes += 1
        depth += character != ","
        if depth > limits.nesting:
            line, column = Lines(text).position(match.start())
            message = f"more than {limits.nesting} levels of nesting (source_limits.nesting)"
            raise SourceError(message, path=path, line=line, column=column)
        if nodes > limits.nodes:
            line, column = Lines(text).position(match.start())
            raise SourceError(
                f"more than {limits.nodes:,} values (source_limits.nodes)", path=path, line=line, column=column
            )


def index(text: str, sequence: bool = False) -> Index:
    """Where everything in a valid JSON text, or ``sequence`` of them, is."""
    result = Index()
    start, end, after = result.start, result.end, result.after
    key_start, key_end = result.key_start, result.key_end
    add_start, add_end, add_after = start.append, end.append, after.append
    add_key_start, add_key_end = key_start.append, key_end.append
    stack: list[int] = []
    size = len(text.rstrip())
    count = int(sequence)
    if sequence:
        result.add(_first(text, 0), size, 0, NO_KEY, NO_KEY)
    for match in _NODE.finditer(text, 0, size):
        first, last = match.span(2)
        character = text[first]
        if character in "}]":
            node = stack.pop()
            end[node] = last
            after[node] = count
            continue
        if character in "{[":
            stack.append(count)
        count += 1
        key_first, key_last = match.span(1)
        add_key_start(key_first if key_last > 0 else NO_KEY)
        add_key_end(key_last if key_last > 0 else NO_KEY)
        add_start(first)
        add_end(last)
        add_after(count)
    if sequence:
        after[0] = count

    result.key = lambda node: _unquoted(text[key_start[node] : key_end[node]])
    return result


_skip = json.JSONDecoder(parse_int=str).raw_decode  # not int, which refuses many digits


class _Branch:
    """Where tokens of the pointers that are looked for have led to."""

    __slots__ = ("below", "pointer")

    def __init__(self) -> None:
        self.below: dict[str, _Branch] = {}
        self.pointer: str | None = None
        """The one that ends here."""


def places(text: str, pointers: Collection[str], sequence: bool = False) -> dict[str, tuple[int, int]]:
    """Where the values at ``pointers`` begin and end, of those that are there. No object may have a key twice.

    Objects and arrays that lead to none of them are skipped, and what follows the last one is not looked at.
    """
    root = _tree(pointers)
    found: dict[str, tuple[int, int]] = {}
    stack: list[tuple[_Branch | None, int, int]] = []
    at, size = 0, len(text.rstrip())
    # What is gone through: its branch, where it begins, and the position of what comes next in it.
    holder, begin, position = root if sequence else None, _first(text, 0), 0
    if sequence and root.pointer is not None:
        found[root.pointer] = begin, size
    while len(found) < len(pointers) and (match := _NODE.match(text, at, size)):
        first, at = match.span(2)
        character = text[first]
        if character in "}]":
            if holder is not None and holder.pointer is not None:
                found[holder.pointer] = begin, at
            holder, begin, position = stack.pop()
            continue
        branch: _Branch | None = root
        if stack or sequence:
            start, end = match.span(1)
            token = _unquoted(text[start:end]) if end > 0 else str(position)
            position += 1
            branch = holder.below.get(token) if holder is not None else None
        if character in "{[":
            close = None if branch is not None and branch.below else _close(text, first)
            if close is None:
                stack.append((holder, begin, position))
                holder, begin, position = branch, first, 0
                continue
            at = close
        if branch is not None and branch.pointer is not None:
            found[branch.pointer] = first, at
    return found


def _tree(pointers: Collection[str]) -> _Branch:
    root = _Branch()
    for pointer in pointers:
        branch = root
        for token in split(pointer):
            below = branch.below.get(token)
            if below is None:
                below = branch.below[token] = _Branch()
            branch = below
        branch.pointer = pointer
    return root


def _close(text: str, start: int) -> int | None:
    """Where the object or array at ``start`` ends; ``None`` where that cannot be told at once."""
    try:
        return _skip(text, start)[1]
    except RecursionError:
        return None


def _unquoted(key: str) -> str:
    return str(json.loads(key)) if "\\" in key else key[1:-1]


def duplicate_keys(path: str, index: Index, lines: Lines) -> list[Note]:
    """A note for each key that its object has had before, at the later place."""
    notes: list[Note] = []
    more = 0
    for node in range(len(index.start)):
        seen: dict[str, int] = {}
        for child in index.nodes_in(node):
            if index.key_start[child] == NO_KEY:
                break
            key = index.key(child)
            earlier = seen.setdefault(key, child)
            if earlier == child:
                continue
            if len(notes) == _MAX_DUPLICATES:
                more += 1
                continue
            at, before = lines.position(index.key_start[child]), lines.position(index.key_start[earlier])
            message = (
                f"duplicate key {json.dumps(key)}; the last one counts, the first is at {before.line}:{before.column}"
            )
            notes.append(Note(path, message, at.line, at.column))
    notes.sort(key=lambda note: (note.line or 0, note.column or 0))
    if more:
        notes.append(Note(path, f"{more} more duplicate keys"))
    return notes
