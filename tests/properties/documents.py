"""Generated JSON and YAML files that know where they put everything.

The writers are an oracle of their own: they note the offsets of every value while they write it, in text that the
reader under test then sees only as bytes.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

BREAKS = ("\n", "\r\n", "\r")
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")
MARKED = ("utf-8", "utf-8-sig", "utf-16", "utf-32")
"""Encodings that a mark, or being the default, makes known."""
# Surrogates are no text; the rest of the exclusions are what YAML does not allow, or reads as a line break.
_UNPRINTABLE = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)])) + "\u2028\u2029\ufeff\ufffe\uffff"
CHARACTERS = st.characters(exclude_categories=("Cs", "Cn"), exclude_characters=_UNPRINTABLE)
TEXT = st.text(CHARACTERS, max_size=8) | st.sampled_from(["", "a/b", "~", "~1", "é", "😀", "limit", "0", "null", "<<"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=12
)


def join(pointer: str, part: str | int) -> str:
    return f"{pointer}/{str(part).replace('~', '~0').replace('/', '~1')}"


def offset(text: str, line: int, column: int) -> int:
    """The other way round from the reader's, by splitting."""
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    return sum(map(len, lines[: line - 1])) + column - 1


@dataclass
class Written:
    """A text, its value, and the offsets of values, keys and aliases by pointer."""

    text: str = ""
    value: Any = None
    values: dict[str, tuple[int, int]] = field(default_factory=dict)
    keys: dict[str, tuple[int, int]] = field(default_factory=dict)
    aliases: dict[str, tuple[int, int]] = field(default_factory=dict)


@st.composite
def json_files(draw: st.DrawFn) -> Written:
    """JSON with any white space, between any two tokens."""
    newline = draw(st.sampled_from(BREAKS))
    spaces = st.sampled_from(["", "", " ", "\t", newline, newline + "  ", newline * 2])
    written = Written(value=draw(VALUES))

    def put(text: str) -> tuple[int, int]:
        start = len(written.text)
        written.text += text
        return start, len(written.text)

    def string(value: str) -> str:
        return json.dumps(value, ensure_ascii=draw(st.booleans()))

    def write(value: Any, pointer: str) -> None:
        put(draw(spaces))
        start = len(written.text)
        if isinstance(value, dict):
            put("{" + draw(spaces))
            for position, (key, inner) in enumerate(value.items()):
                put("," + draw(spaces) if position else "")
                written.keys[join(pointer, key)] = put(string(key))
                put(draw(spaces) + ":")
                write(inner, join(pointer, key))
            put("}")
        elif isinstance(value, list):
            put("[" + draw(spaces))
            for position, inner in enumerate(value):
                put("," if position else "")
                write(inner, join(pointer, position))
            put("]")
        else:
            put(string(value) if isinstance(value, str) else json.dumps(value))
        written.values[pointer] = start, len(written.text)
        put(draw(spaces))

    write(written.value, "")
    return written


class _Yaml:
    """Writes one YAML document: block and flow, every scalar style, comments, anchors, aliases, merge keys."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.newline = draw(st.sampled_from(BREAKS))
        self.written = Written()
        self.anchors: dict[str, tuple[str, Any]] = {}
        """Anchor to the pointer and value of its node."""
        self.names = (f"a{number}" for number in range(1000))

    def some(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def put(self, text: str) -> tuple[int, int]:
        start = len(self.written.text)
        self.written.text += text
        return start, len(self.written.text)

    def line(self, indent: int) -> None:
        comment = self.some("", "", "", " # c: [", self.newline, f"{self.newline}#é")
        self.put(comment + self.newline + " " * indent)

    def document(self, value: Any) -> Written:
        self.put(self.some("", "", "# first" + self.newline, "%YAML 1.2" + self.newline + "---" + self.newline, "--- "))
        inline = self.written.text.endswith("--- ")
        block = isinstance(value, dict | list) and value and not inline and self.some(True, False)
        self.written.value = self.block(value, "", 0) if block else self.flow(value, "", 1)
        self.put(self.some("", self.newline, self.newline + "..." + self.newline, self.newline + "# last"))
        return self.written

    def place(self, pointer: str, start: int, end: int) -> None:
        self.written.values[pointer] = start, end

    def anchored(self, pointer: str, write: Any) -> Any:
        """Write a node, perhaps with an anchor before it, which is part of it."""
        name = next(self.names) if self.some(False, False, True) else ""
        start = len(self.written.text)
        if name:
            self.put(f"&{name} ")
        value, end = write()
        self.place(pointer, start, end)
        if name:
            self.anchors[name] = pointer, value
        return value

    def alias(self, pointer: str, wanted: type | None = None) -> tuple[bool, Any]:
        known = [name for name, (_, value) in self.anchors.items() if wanted is None or isinstance(value, wanted)]
        if not known or not self.some(False, False, True):
            return False, None
        name = self.draw(st.sampled_from(known))
        self.written.aliases[pointer] = self.put(f"*{name}")
        target, value = self.anchors[name]
        self.place(pointer, *self.written.values[target])
        return True, value

    def scalar(self, value: Any, key: bool = False) -> tuple[int, int]:
        if value is None and not key:
            return self.put(self.some("null", "~", "Null"))
        if not isinstance(value, str):
            return self.put(json.dumps(value))
        plain = re.fullmatch(r"[A-Za-z/é😀][A-Za-z/é😀 ]*(?<! )", value)
        plain = plain and value.lower() not in {"null", "true", "false"}
        styles = ["double", *["single"] * (value.isprintable()), *["plain"] * bool(plain)]
        match self.draw(st.sampled_from(styles)):
            case "plain":
                return self.put(value)
            case "single":
                return self.put("'" + value.replace("'", "''") + "'")
        quoted = json.dumps(value, ensure_ascii=False)
        if self.some(True, False):
            quoted = "".join(c if c.isascii() else f"\\U{ord(c):08x}" for c in quoted)
        return self.put(quoted)

    def flow(self, value: Any, pointer: str, indent: int) -> Any:
        found, aliased = self.alias(pointer)
        if found:
            return aliased

        def write() -> tuple[Any, int]:
            gap = self.some("", " ", self.newline + " " * indent)
            if isinstance(value, dict):
                result: Any = {}
                self.put("{" + gap)
                for position, (key, inner) in enumerate(value.items()):
                    self.put("," + self.some(" ", self.newline + " " * indent) if position else "")
                    self.written.keys[join(pointer, key)] = self.scalar(key, key=True)
                    self.put(": ")
                    result[key] = self.flow(inner, join(pointer, key), indent)
                    self.put(" ")
                self.put("}")
                return result, len(self.written.text)
            if isinstance(value, list):
                result = []
                self.put("[" + gap)
                for position, inner in enumerate(value):
                    self.put(", " if position else "")
                    result.append(self.flow(inner, join(pointer, position), indent))
                    self.put(" ")
                self.put("]")
                return result, len(self.written.text)
            return value, self.scalar(value)[1]

        return self.anchored(pointer, write)

    def literal(self, value: str, pointer: str, indent: int) -> Any:
        """A block scalar; it ends with its last visible character, whatever its text ends with."""

        def write() -> tuple[Any, int]:
            lines = [value, *self.draw(st.lists(st.sampled_from(["more", "", "  deeper"]), max_size=3)), "end"]
            keep = self.some("", "-")
            self.put("|" + keep + self.newline)
            filled = [" " * indent + line if line else "" for line in lines]
            _, end = self.put(self.newline.join(filled))
            self.put(self.newline * self.some(0, 1, 2))
            # An ended line, blank ones or another node follow in every case but at the end of the file.
            self.put(self.newline if not self.written.text.endswith(self.newline) else "")
            return "\n".join(lines) + ("" if keep else "\n"), end

        return self.anchored(pointer, write)

    def member(self, value: Any, pointer: str, indent: int, after: str) -> Any:
        """What stands after a key or a dash."""
        if isinstance(value, dict | list) and value and self.some(True, True, False):
            deeper = indent + self.some(1, 2, 4)
            if after == ":" and isinstance(value, list) and self.some(True, False):
                deeper = indent
            compact = after == "-" and self.some(True, False)
            if compact:
                self.put(" " * (deeper - indent - 1 or 1))
                deeper = max(deeper, indent + 2)
                return self.block(value, pointer, deeper, compact=True)
            name = next(self.names) if self.some(False, True) else ""
            start = len(self.written.text) + 1
            self.put(f" &{name}" if name else "")
            self.line(deeper)
            result = self.block(value, pointer, deeper)
            if name:
                self.place(pointer, start, self.written.values[pointer][1])
                self.anchors[name] = pointer, result
            return result
        self.put(" ")
        if isinstance(value, str) and re.match(r"[^\s#]", value) and value.isprintable() and self.some(True, False):
            return self.literal(value, pointer, indent + 2)
        if value is None and after == ":" and self.some(True, False):
            end = len(self.written.text) - 1
            self.place(pointer, end, end)
            return None
        return self.flow(value, pointer, indent + 1)

    def next_line(self, indent: int) -> None:
        if self.written.text.endswith(self.newline):
            self.put(" " * indent)
        else:
            self.line(indent)

    def block(self, value: Any, pointer: str, indent: int, compact: bool = False) -> Any:
        start = len(self.written.text)
        result: Any = {} if isinstance(value, dict) else []
        merged: dict[str, Any] = {}
        items = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
        for position, (key, inner) in enumerate(items):
            if position:
                self.next_line(indent)
            below = join(pointer, key)
            if isinstance(value, dict):
                self.written.keys[below] = self.scalar(key, key=True)
                self.put(":")
                result[key] = self.member(inner, below, indent, ":")
                last = below
                if not position and self.some(False, True):
                    mappings = [name for name, (_, target) in self.anchors.items() if isinstance(target, dict)]
                    if mappings:
                        name = self.draw(st.sampled_from(mappings))
                        self.next_line(indent)
                        self.put("<<: ")
                        _, end = self.put(f"*{name}")
                        merged = self.anchors[name][1]
                        last = ""
                        self.place(pointer, start, end)
            else:
                self.put("-")
                result.append(self.member(inner, below, indent, "-"))
                last = below
        end = self.end_of(last) if last else self.written.values[pointer][1]
        self.place(pointer, start, end)
        return {**merged, **result} if merged else result

    def end_of(self, pointer: str) -> int:
        """Where the text of a child ends: for an alias that is the alias, not what it stands for."""
        return self.written.aliases.get(pointer, self.written.values[pointer])[1]


@st.composite
def yaml_files(draw: st.DrawFn) -> Written:
    """YAML in every style."""
    return _Yaml(draw).document(draw(VALUES))
