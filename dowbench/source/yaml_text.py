"""YAML through libyaml's events: values and positions in one pass, with the scalars of YAML 1.2."""

from __future__ import annotations

import json
import math
import re
import time
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from dowbench.errors import SourceError
from dowbench.source.index import NO_KEY, Index
from dowbench.source.json_text import depth, integer
from dowbench.source.text import Lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dowbench.source.limits import Limits

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_EVENTS_BETWEEN_CHECKS = 4096
_LIBYAML_NESTING = 1000
_BLOCK_STYLES = frozenset("|>")
_TAG = "tag:yaml.org,2002:"
_TYPES = {_TAG + "int": int, _TAG + "float": float, _TAG + "bool": bool, _TAG + "null": type(None)}
_PLAIN = "\x85\u2028\u2029"
"""Breaks of lines to YAML 1.1 and to libyaml, characters like any other in YAML 1.2."""
_ESCAPE = re.compile(r"\\(?:u|U[0-9a-fA-F]{4})([0-9a-fA-F]{4})")
_MERGE = str(b"<<", "ascii")
"""Known by identity: a quoted "<<" is a key like any other."""

# The core schema, https://yaml.org/spec/1.2.2/#1032-tag-resolution
_NOT_STRINGS = frozenset("+-.0123456789~nNtTfF")
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_LONGEST = 250
"""So many characters in base 8 or 16 are no number too large for a ``float``."""
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")


def scalar(text: str) -> Any:
    """What a plain (unquoted) scalar is in the core schema of YAML 1.2."""
    if text and text[0] not in _NOT_STRINGS:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return integer(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _BASED.fullmatch(text):
        return int(text, 0) if len(text) <= _LONGEST else math.inf
    return text


class YamlDocument(NamedTuple):
    """A document, and its place in the stream."""

    value: Any
    nodes: Index
    number: int


class _Anchor:
    """What an anchor stands for.

    ``node`` is ``None`` for a mapping key; ``size`` is the number of values, aliases expanded, once it is complete.
    """

    __slots__ = ("node", "size", "value")

    def __init__(self, value: Any, node: int | None, size: int | None = None) -> None:
        self.value = value
        self.node = node
        self.size = size


# A mapping that is merged into another, and the node its merge key has.
_Source = tuple[dict[str, Any], int]
# What is kept while the inside of a collection is read: the collection around it, that one's node, the key it will have
# there, its anchor, and how many values aliases had added before it.
_Open = tuple[Any, int, str | None, _Anchor | None, int]


def parse(path: str, text: str, limits: Limits) -> list[YamlDocument]:
    """Every document of a YAML stream that is not empty.

    Keys are strings, as written: the response codes of OpenAPI (``200:``) are ``"200"``. A merge key adds what its
    mappings have and the mapping itself has not. Tags of YAML's own types are obeyed, others passed over: no object is
    ever constructed. Raises ``SourceError`` for what is not YAML, for a key given twice, for keys that are no scalars
    and for what meets a limit.
    """
    reader = _Reader(path, text, limits)
    try:
        return list(reader.documents())
    except yaml.reader.ReaderError as error:
        offset = _reader_offset(reader.text, error)
        raise reader.error("not valid YAML: control character; expected text", offset) from None
    except yaml.MarkedYAMLError as error:
        raise reader.translated(error) from None
    except yaml.YAMLError as error:
        raise SourceError(f"not valid YAML: {error}", path=path) from None


def _reader_offset(text: str, error: yaml.reader.ReaderError) -> int:
    if _Loader is yaml.SafeLoader:
        return int(error.position)
    return len(text.encode()[: error.position].decode(errors="ignore"))


def _stand_ins(text: str) -> dict[int, int]:
    """For each of ``_PLAIN`` in ``text`` a character for private use that is not in it, by itself or as an escape."""
    found = [ord(character) for character in _PLAIN if character in text]
    if not found:
        return {}
    used = {*map(ord, set(text)), *(int(code, 16) for code in _ESCAPE.findall(text))}
    return dict(zip(found, (code for code in range(0xE000, 0xF900) if code not in used), strict=False))


class _Reader:
    def __init__(self, path: str, text: str, limits: Limits) -> None:
        self._path = path
        self._stand_ins = _stand_ins(text)
        self.text = text.translate(self._stand_ins) if self._stand_ins else text
        """As libyaml is to read it: every character at its place, some of them another one."""
        self._limits = limits
        self._deadline = time.monotonic() + limits.seconds
        self._lines = Lines(text)

    def error(self, message: str, offset: int) -> SourceError:
        line, column = self._lines.position(min(offset, len(self.text)))
        return SourceError(message, path=self._path, line=line, column=column)

    def translated(self, error: yaml.MarkedYAMLError) -> SourceError:
        """What libyaml says, with the place where it began to look for what it has not found."""
        mark, begin = error.problem_mark or error.context_mark, error.context_mark
        problem = str(error.problem)
        if "nesting" in problem:
            problem = f"more than {min(_LIBYAML_NESTING, self._limits.nesting)} levels of nesting"
            return self.error(f"{problem} (source_limits.nesting)", mark.index if mark else 0)
        if mark and self.text[mark.index : mark.index + 1] == "\t":
            problem = "found a tab; expected spaces"
        if error.context and begin and mark and begin.index < mark.index:
            line, column = self._lines.position(begin.index)
            problem = f"{error.context} that begins at {line}:{column}, {problem}"
        return self.error(f"not valid YAML: {problem}", mark.index if mark else len(self.text))

    def _restored(self, get_event: Callable[[], Any]) -> Callable[[], Any]:
        """``get_event``, giving values as they are written."""
        if not self._stand_ins:
            return get_event
        written = {stand_in: character for character, stand_in in self._stand_ins.items()}

        def restored() -> Any:
            event = get_event()
            if type(event) is yaml.ScalarEvent:
                event.value = event.value.translate(written)
            return event

        return restored

    def documents(self) -> Iterator[YamlDocument]:
        loader = _Loader(self.text)
        try:
            loader.get_event()
            number = 0
            while isinstance(loader.get_event(), yaml.DocumentStartEvent):
                document = self._document(loader, number)
                if document.value is not None:
                    yield document
                number += 1
        finally:
            loader.dispose()

    def _document(self, loader: Any, number: int) -> YamlDocument:
        # One loop on purpose: there are some 50,000 events a megabyte, and a call for each would be most of the time.
        text, limits = self.text, self._limits
        index = Index()
        keys: list[str] = []
        index.key = keys.__getitem__
        end, after, add_key = index.end, index.after, keys.append
        add_start, add_end, add_after = index.start.append, end.append, after.append
        add_key_start, add_key_end = index.key_start.append, index.key_end.append
        get_event, scalar_event, alias_event = self._restored(loader.get_event), yaml.ScalarEvent, yaml.AliasEvent
        sequence_start, mapping_start = yaml.SequenceStartEvent, yaml.MappingStartEvent
        mapping_end, document_end = yaml.MappingEndEvent, yaml.DocumentEndEvent
        anchors: dict[str, _Anchor] = {}
        merges: dict[int, list[_Source]] = {}
        resolved: dict[str, Any] = {}
        names: dict[str, str] = {}
        stack: list[_Open] = []
        holder: Any = None  # the dict or list that is being filled
        holder_node = -1
        in_mapping = False
        key: str | None = None
        key_first = key_last = NO_KEY
        count = aliased = first = last = 0
        root: Any = None

        while True:
            for _ in repeat(None, _EVENTS_BETWEEN_CHECKS):
                event = get_event()
                kind = type(event)
                if in_mapping and kind is not mapping_end:  # a key, and then its value
                    key_first, key_last = event.start_mark.index, event.end_mark.index
                    if kind is scalar_event:
                        key = event.value
                        if key == "<<" and event.implicit[0]:
                            key = _MERGE
                        elif key in holder:
                            raise self._duplicate(index, holder_node, key, key_first)
                        else:
                            key = names.setdefault(key, key)
                        if event.anchor:
                            anchors[event.anchor] = _Anchor(key, None, 1)
                    elif kind is alias_event:
                        key = self._target(anchors, event.anchor, key_first).value
                        if type(key) is not str:
                            raise self.error(
                                "expected a string as mapping key, found an alias to something else", key_first
                            )
                        if key in holder:
                            raise self._duplicate(index, holder_node, key, key_first)
                    else:
                        raise self.error("expected a scalar as mapping key, found a collection", key_first)
                    event = get_event()
                    kind = type(event)
                if kind is scalar_event:
                    written = event.value
                    first, last = event.start_mark.index, event.end_mark.index
                    if event.implicit[0] and event.tag is None:
                        if written in resolved:
                            value = resolved[written]
                        else:
                            value = resolved[written] = scalar(written)
                    else:
                        value = self._tagged(event, first)
                        if event.style in _BLOCK_STYLES:
                            last = first + max(1, len(text[first:last].rstrip()))
                    node = count
                    if event.anchor:
                        anchors[event.anchor] = _Anchor(value, node, 1)
                elif kind is mapping_start or kind is sequence_start:
                    first, last = event.start_mark.index, event.end_mark.index
                    if len(stack) >= limits.nesting:
                        raise self.error(f"more than {limits.nesting} levels of nesting (source_limits.nesting)", first)
                    value = {} if kind is mapping_start else []
                    anchor = None
                    if event.anchor:
                        anchor = anchors[event.anchor] = _Anchor(value, count)
                    stack.append((holder, holder_node, key, anchor, aliased))
                    add_start(first)
                    add_end(last)
                    add_after(0)
                    add_key_start(key_first)
                    add_key_end(key_last)
                    add_key(key or "")
                    holder, holder_node, in_mapping, key = value, count, kind is mapping_start, None
                    key_first = key_last = NO_KEY
                    count += 1
                    continue
                elif kind is alias_event:
                    first, last = event.start_mark.index, event.end_mark.index
                    target = self._target(anchors, event.anchor, first)
                    value, node = target.value, count
                    aliased += target.size or 0
                    if aliased > limits.aliases:
                        raise self.error(
                            f"aliases add more than {limits.aliases:,} values (source_limits.aliases)", first
                        )
                    if target.node is not None:
                        index.aliases[node] = target.node
                elif kind is document_end:
                    self._check(count, last)
                    if index.aliases and depth(root) > limits.nesting:
                        last = index.start[max(index.aliases)]
                        raise self.error(
                            f"aliases nest more than {limits.nesting} levels (source_limits.nesting)", last
                        )
                    return YamlDocument(root, index, number)
                else:  # the end of a mapping or sequence, which in block style has no text of its own
                    if event.end_mark.index > event.start_mark.index:
                        last = event.end_mark.index
                    end[holder_node] = last
                    after[holder_node] = count
                    if holder_node in merges:
                        index.merges[holder_node] = _merge(holder, merges.pop(holder_node))
                    value, node = holder, holder_node
                    holder, holder_node, key, anchor, aliased_before = stack.pop()
                    in_mapping = type(holder) is dict
                    if anchor is not None:
                        anchor.size = count - node + aliased - aliased_before

                if node == count:  # a scalar or an alias
                    count += 1
                    add_start(first)
                    add_end(last)
                    add_after(count)
                    add_key_start(key_first)
                    add_key_end(key_last)
                    add_key(key or "")
                if not in_mapping:
                    if holder is None:
                        root = value
                    else:
                        holder.append(value)
                    continue
                if key is _MERGE:
                    merges.setdefault(holder_node, []).extend(self._sources(value, node, first))
                else:
                    holder[key] = value
                key = None
                key_first = key_last = NO_KEY
            self._check(count, last)

    def _check(self, count: int, offset: int) -> None:
        limits = self._limits
        if count > limits.nodes:
            raise self.error(f"more than {limits.nodes:,} values (source_limits.nodes)", offset)
        if time.monotonic() > self._deadline:
            raise self.error(f"not read within {limits.seconds:g} seconds (source_limits.seconds)", offset)

    def _duplicate(self, index: Index, mapping: int, key: str, offset: int) -> SourceError:
        index.after[mapping] = len(index.start)
        earlier = next(child for child in index.nodes_in(mapping) if index.key(child) == key)
        line, column = self._lines.position(index.key_start[earlier])
        return self.error(f"duplicate key {json.dumps(key)}; the first is at {line}:{column}", offset)

    def _target(self, anchors: dict[str, _Anchor], name: str, offset: int) -> _Anchor:
        target = anchors.get(name)
        if target is None:
            raise self.error(f"alias *{name} to an anchor that is not defined before it", offset)
        if target.size is None:
            raise self.error(f"alias *{name} inside the value that it stands for", offset)
        return target

    def _sources(self, value: Any, node: int, offset: int) -> list[_Source]:
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(source, dict) for source in values):
            raise self.error("expected a mapping, or a list of mappings, after the merge key <<", offset)
        return [(source, node) for source in values]

    def _tagged(self, event: yaml.ScalarEvent, offset: int) -> Any:
        """A scalar that is quoted, in block style, or has a tag."""
        tag = event.tag or ""
        read = scalar(event.value)
        if tag == _TAG + "float" and type(read) is int:
            read = float(event.value) if _INTEGER.fullmatch(event.value) else float(read)
        expected = _TYPES.get(tag)
        if expected is not None:
            if type(read) is not expected:
                raise self.error(f"expected a value of type {tag.removeprefix(_TAG)}", offset)
            return read
        plain = tag and tag != "!" and not tag.startswith(_TAG) and not event.style
        return read if plain else event.value


def _merge(mapping: dict[str, Any], sources: list[_Source]) -> list[int]:
    """Put what the sources have, and the mapping has not, before what it has; the nodes, the winning one first."""
    own = dict(mapping)
    mapping.clear()
    for source, _ in reversed(sources):
        mapping.update(source)
    mapping.update(own)
    return list(dict.fromkeys(node for _, node in sources))
