"""YAML files read with the place of every value, so that whatever is wrong in one is said with file, line and column.

Scalars are read by the YAML 1.2 core schema (``no`` and ``1:30`` stay text). One document a file, no tags, no merge
keys: these files are configuration, and what a reader cannot see at a glance does not belong in them. ``recorded`` has
the same for JSON.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import yaml

from dowbench.errors import DowbenchError, closest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
_SURROGATE = re.compile("[\ud800-\udfff]")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_WORDS: Mapping[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_MOST_VALUES = 100_000
_DEEPEST = 100
_KINDS: Mapping[type, str] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a mapping",
    type(None): "nothing",
}


class DataError(DowbenchError):
    """A config, scenario, attack or price file does not say what it must."""


class Node:
    """One value of a YAML file and the place where it starts (1-based).

    ``value`` is a scalar, a ``list[Node]`` or a ``dict[str, Node]``. Every reading method returns plain data of the
    kind it is named for or raises :class:`DataError` at this place.
    """

    __slots__ = ("column", "key", "line", "path", "value")

    def __init__(self, value: Any, path: str, line: int, column: int, key: str = "") -> None:
        self.value = value
        self.path = path
        self.line = line
        self.column = column
        self.key = key
        """What leads here from the top of the file, for messages: ``ceiling.max_turns``."""

    def place(self) -> Mapping[str, Any]:
        """Path, line and column as errors take them."""
        return {"path": self.path, "line": self.line, "column": self.column}

    def fail(self, message: str) -> NoReturn:
        """Raise ``message`` at this place, prefixed with the key that leads here."""
        raise DataError(f"{self.key}: {message}" if self.key else message, **self.place())

    def _expected(self, what: str) -> NoReturn:
        shown = repr(self.value) if isinstance(self.value, str | int | float | None) else _KINDS[type(self.value)]
        self.fail(f"expected {what}, found {shown if len(shown) <= 60 else shown[:57] + '…'}")

    def mapping(self, required: Iterable[str] = (), optional: Iterable[str] = ()) -> Mapping[str, Node]:
        """The entries of a mapping that holds all of ``required`` and nothing but these and ``optional``."""
        entries = self.entries()
        required = tuple(required)
        allowed = (*required, *optional)
        for name, node in entries.items():
            if name not in allowed:
                prefix = self.key + "." if self.key else ""
                raise DataError(f"{prefix}{name}: unknown key; {known_names(name, allowed, ' here')}", **node.place())
        for name in required:
            if name not in entries:
                self.fail(f"the key {name!r} is missing")
        return entries

    def entries(self) -> Mapping[str, Node]:
        """The entries of a mapping with any keys."""
        if not isinstance(self.value, dict):
            self._expected("a mapping")
        entries: Mapping[str, Node] = self.value
        return entries

    def items(self, *, at_least: int = 0) -> Sequence[Node]:
        """The items of a list."""
        if not isinstance(self.value, list):
            self._expected("a list")
        if len(self.value) < at_least:
            self.fail(f"expected at least {at_least} item{'s' if at_least > 1 else ''}, found {len(self.value)}")
        items: Sequence[Node] = self.value
        return items

    def text(self, *, blank: bool = False) -> str:
        """A string that UTF-8 can hold, not empty unless ``blank``."""
        text = self.characters()
        if not blank and not text.strip():
            self.fail("expected text, found none")
        if not text.isascii() and _SURROGATE.search(text):
            self._expected("text without lone surrogates")
        return text

    def characters(self) -> str:
        """Any string at all: what a model or a provider said, lone surrogates included."""
        if not isinstance(self.value, str):
            self._expected("text")
        return self.value

    def texts(self, *, at_least: int = 0) -> tuple[str, ...]:
        """A list of different strings."""
        seen: dict[str, None] = {}
        for item in self.items(at_least=at_least):
            text = item.text()
            if text in seen:
                item.fail(f"{text!r} is listed twice")
            seen[text] = None
        return tuple(seen)

    def name(self) -> str:
        """A string of lower-case letters, digits, ``-``, ``_`` and ``.``, starting with a letter or digit."""
        text = self.text()
        if not re.fullmatch(r"[a-z0-9][a-z0-9_.-]*", text):
            self._expected("a name of lower-case letters, digits, '-', '_' and '.'")
        return text

    def integer(self, *, minimum: int | None = None, maximum: int | None = None) -> int:
        """A whole number within the bounds."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            self._expected("a whole number" + _range(minimum, maximum))
        if (minimum is not None and self.value < minimum) or (maximum is not None and self.value > maximum):
            self._expected("a whole number" + _range(minimum, maximum))
        return self.value

    def number(
        self, *, minimum: float | None = None, above: float | None = None, maximum: float | None = None
    ) -> float:
        """A finite number within the bounds."""
        what = "a finite number" + (f" above {above:g}" if above is not None else "") + _range(minimum, maximum)
        if not isinstance(self.value, int | float) or isinstance(self.value, bool):
            self._expected(what)
        try:
            number = float(self.value)
        except OverflowError:
            self._expected(what)
        if not math.isfinite(number) or (minimum is not None and number < minimum):
            self._expected(what)
        if (above is not None and number <= above) or (maximum is not None and number > maximum):
            self._expected(what)
        return number

    def boolean(self) -> bool:
        """``true`` or ``false``."""
        if not isinstance(self.value, bool):
            self._expected("true or false")
        return self.value

    def choice(self, options: Iterable[str]) -> str:
        """One of ``options``."""
        options = tuple(options)
        if self.value not in options or not isinstance(self.value, str):
            self._expected("one of " + ", ".join(options))
        return self.value

    @property
    def null(self) -> bool:
        """Whether the value is null (``~``, ``null`` or nothing)."""
        return self.value is None

    def plain(self) -> Any:
        """The value without places: scalars, lists and dictionaries, all of which JSON can say."""
        if isinstance(self.value, float):
            return self.number()
        if isinstance(self.value, list):
            return [item.plain() for item in self.value]
        if isinstance(self.value, dict):
            return {name: node.plain() for name, node in self.value.items()}
        return self.value


def read_yaml(path: Path | str, text: str | None = None, *, shown: str | None = None) -> Node:
    """The document of a YAML file (or of ``text``, then ``path`` is only named in errors).

    ``shown`` is the path to print, where it should differ. Raises :class:`DataError` for a file that cannot be read,
    broken YAML, no or several documents, duplicate or non-text keys, tags and recursive aliases.
    """
    name = shown if shown is not None else str(path)
    if text is None:
        try:
            text = Path(path).read_bytes().decode("utf-8-sig")
        except OSError as error:
            raise DataError(f"cannot read the file: {error.strerror or error}", path=name) from error
        except UnicodeDecodeError as error:
            raise DataError(f"expected UTF-8, found byte 0x{error.object[error.start]:02x}", path=name) from error
    try:
        documents = list(yaml.compose_all(text, Loader=_Loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (None, None)
        said = " ".join(str(part) for part in (error.context, error.problem) if part)
        raise DataError(f"broken YAML: {said}", path=name, line=line, column=column) from error
    except yaml.YAMLError as error:
        raise DataError(f"broken YAML: {' '.join(str(error).split())}", path=name) from error
    except RecursionError as error:
        raise DataError("broken YAML: nested too deeply", path=name) from error
    if len(documents) != 1:
        raise DataError(f"expected one YAML document, found {len(documents)}", path=name, line=1)
    if _size(documents[0], {}) > _MOST_VALUES:
        raise DataError(f"has more than {_MOST_VALUES} values, aliases written out", path=name, line=1)
    return _node(documents[0], name, "", ())


def _size(node: yaml.Node, known: dict[int, int], depth: int = 0) -> int:
    """How many values ``node`` has when every alias is written out. What is nested too deeply is found later."""
    if id(node) not in known:
        known[id(node)] = 1
        inner: list[yaml.Node] = []
        if depth <= _DEEPEST and isinstance(node, yaml.SequenceNode):
            inner = node.value
        elif depth <= _DEEPEST and isinstance(node, yaml.MappingNode):
            inner = [value for _, value in node.value]
        known[id(node)] += sum(_size(item, known, depth + 1) for item in inner)
    return known[id(node)]


def _node(node: yaml.Node, path: str, key: str, above: tuple[int, ...]) -> Node:
    line, column = node.start_mark.line + 1, node.start_mark.column + 1
    if not node.tag.startswith("tag:yaml.org,2002:"):
        raise DataError(f"tags such as {node.tag} are not used here", path=path, line=line, column=column)
    if id(node) in above or len(above) > _DEEPEST:
        raise DataError("nested too deeply, or an alias of itself", path=path, line=line, column=column)
    above = (*above, id(node))
    if isinstance(node, yaml.ScalarNode):
        return Node(node.value if node.style else _scalar(node.value), path, line, column, key)
    if isinstance(node, yaml.SequenceNode):
        items = [_node(item, path, f"{key}[{index}]", above) for index, item in enumerate(node.value)]
        return Node(items, path, line, column, key)
    entries: dict[str, Node] = {}
    for key_node, value_node in node.value:
        at, start = key_node.start_mark.line + 1, key_node.start_mark.column + 1
        if not isinstance(key_node, yaml.ScalarNode):
            raise DataError("expected a plain key", path=path, line=at, column=start)
        name = key_node.value
        if name in entries:
            raise DataError(
                f"the key {name!r} is already on line {entries[name].line}", path=path, line=at, column=start
            )
        child = _node(value_node, path, f"{key}.{name}" if key else name, above)
        child.line, child.column = at, start
        entries[name] = child
    return Node(entries, path, line, column, key)


def _scalar(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if len(text) <= 400 and _INTEGER.match(text):
        return int(text)
    if len(text) <= 400 and _FLOAT.match(text):
        return float(text)
    return text


def known_names(name: str, names: Iterable[str], where: str = "") -> str:
    """The end of a message about an unknown name: what was probably meant, and what there is."""
    names = list(names)
    meant = closest(name, names)
    hint = "" if meant is None else f"did you mean {meant!r}? "
    return f"{hint}known{where}: {', '.join(names)}"


def _range(minimum: float | None, maximum: float | None) -> str:
    if minimum is not None and maximum is not None:
        return f" from {minimum} to {maximum}"
    if minimum is not None:
        return f" of at least {minimum}"
    return f" of at most {maximum}" if maximum is not None else ""
