"""Rule files as values, and the place of each value for errors.

The happy path only builds values; lines are looked up when something is wrong, by composing the file once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from dowbench.errors import RuleError

if TYPE_CHECKING:
    from dowbench.rulepack.reading import FaultError

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}


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
        elif kind is yaml.DocumentStartEvent and root:
            raise _error("a file of a pack is one YAML document, and here begins another", event, path)
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
    try:
        node = yaml.compose(text, Loader=_Loader)
    except (yaml.YAMLError, RecursionError):
        read(text, path)  # raises, with the place: what a scan does not read is no YAML
        node = None
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
