"""Rule files as values, and the place of each value for errors.

The happy path only builds values; lines are looked up when something is wrong, by composing the file once more.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

import yaml

from dowbench.errors import RuleError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Path = tuple[str | int, ...]
"""Keys and indexes from the root of a rule file down to a value."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}


class FaultError(Exception):
    """Something wrong in a rule file, at ``at``; becomes a ``RuleError`` once the file is known."""

    def __init__(self, message: str, at: Path) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


def read(text: str, path: str) -> Any:
    """The value of the first document of a YAML text; scalars as in YAML 1.2.

    Raises ``RuleError`` with file and line on what is not YAML, and on duplicate keys, anchors and tags.
    """
    try:
        return _value(iter(yaml.parse(text, _Loader)), path)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        message = f"not YAML: {error.problem or error.context}"
        raise RuleError(message, path=path, line=line, column=column) from None
    except yaml.YAMLError as error:
        raise RuleError(f"not YAML: {' '.join(str(error).split())}", path=path) from None


def _value(events: Any, path: str) -> Any:
    root: list[Any] = []
    stack: list[tuple[Any, Any]] = []
    container: Any = root
    key: Any = None
    waiting = False  # a key was read and its value is next
    for event in events:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            if type(container) is dict and not waiting:
                key = event.value
                if key in container:
                    raise _error(f"duplicate key `{key}`", event, path)
                waiting = True
                continue
            value = event.value if not event.implicit[0] else _scalar(event.value)
        elif kind is yaml.MappingStartEvent:
            value = {}
        elif kind is yaml.SequenceStartEvent:
            value = []
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            container, key = stack.pop()
            waiting = False
            continue
        elif kind is yaml.AliasEvent:
            raise _error("a rule file has no aliases", event, path)
        elif kind is yaml.DocumentEndEvent:
            break
        else:
            continue
        if event.anchor is not None or (event.tag not in (None, "!") and kind is yaml.ScalarEvent):
            raise _error("a rule file has no anchors and no tags", event, path)
        if type(container) is dict:
            if not waiting:
                raise _error("a key must be plain text", event, path)
            container[key] = value
            waiting = False
        else:
            container.append(value)
        if kind is not yaml.ScalarEvent:
            stack.append((container, key))
            container, key, waiting = value, None, False
    return root[0] if root else None


def _error(message: str, event: Any, path: str) -> RuleError:
    return RuleError(message, path=path, line=event.start_mark.line + 1, column=event.start_mark.column + 1)


def _scalar(text: str) -> Any:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    first = text[0]
    if first.isdigit() or first in "+-.":
        for number in (int, float):
            try:
                return number(text) if "_" not in text else text
            except ValueError:
                pass
    return text


def located(fault: FaultError, text: str, path: str) -> RuleError:
    """The error at the line of the value (or of the key, for a wrong key) that ``fault`` is about."""
    node = yaml.compose(text, Loader=_Loader)
    mark = node.start_mark if node is not None else None
    for step in fault.at:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == step), None)
            if pair is None:
                break
            mark, node = pair[0].start_mark, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            mark = node.start_mark
        else:
            break
    where = ".".join(str(step) for step in fault.at)
    message = f"{where}: {fault.message}" if where else fault.message
    return RuleError(message, path=path, line=mark.line + 1 if mark else 1, column=mark.column + 1 if mark else 1)


def near(word: str, known: Iterable[str]) -> str:
    """What was probably meant, or what there is, as the end of an error message."""
    names = sorted(known)
    guess = difflib.get_close_matches(word, names, 1)
    return f"; did you mean `{guess[0]}`?" if guess else f" (known: {', '.join(names)})"


def mapping(value: Any, at: Path, keys: Iterable[str], required: Iterable[str] = ()) -> dict[str, Any]:
    """``value`` as a mapping with only these keys."""
    if not isinstance(value, dict):
        raise FaultError(f"expected a mapping, found {kind_of(value)}", at)
    known = frozenset(keys)
    for key in value:
        if key not in known:
            raise FaultError(f"unknown key `{key}`{near(key, known)}", (*at, key))
    for key in required:
        if key not in value:
            raise FaultError(f"`{key}` is missing", at)
    return value


def text(value: Any, at: Path) -> str:
    """``value`` as text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise FaultError(f"expected text, found {kind_of(value)}", at)
    return value.strip()


def texts(value: Any, at: Path) -> tuple[str, ...]:
    """``value`` as a list of texts; one text is a list of one."""
    if isinstance(value, str):
        return (text(value, at),)
    if not isinstance(value, list):
        raise FaultError(f"expected text or a list of texts, found {kind_of(value)}", at)
    return tuple(text(item, (*at, i)) for i, item in enumerate(value))


def choice(value: Any, at: Path, known: Sequence[str]) -> Any:
    """``value`` as one of ``known``."""
    if not isinstance(value, str) or value not in known:
        found = f"`{value}`" if isinstance(value, str) else kind_of(value)
        raise FaultError(f"expected one of {', '.join(known)}, found {found}", at)
    return value


def choices(value: Any, at: Path, known: Sequence[str]) -> frozenset[str]:
    """``value`` as some of ``known``; one text is a list of one."""
    if isinstance(value, list):
        return frozenset(choice(item, (*at, i), known) for i, item in enumerate(value))
    return frozenset({choice(value, at, known)})


def boolean(value: Any, at: Path) -> bool:
    """``value`` as true or false."""
    if not isinstance(value, bool):
        raise FaultError(f"expected true or false, found {kind_of(value)}", at)
    return value


def number(value: Any, at: Path) -> float | int:
    """``value`` as a number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise FaultError(f"expected a number, found {kind_of(value)}", at)
    return value


def kind_of(value: Any) -> str:
    """What a value is, in the words of an error message."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"text `{value}`" if len(value) < 40 else "text"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    return "a list" if isinstance(value, list) else "a mapping"


def get(value: Any, at: Path) -> Any:
    """What lies at ``at`` in ``value``."""
    for step in at:
        value = value[step]
    return value


def names(value: Mapping[str, Any]) -> str:
    """The keys of a mapping for a message."""
    return ", ".join(sorted(value)) or "none"
