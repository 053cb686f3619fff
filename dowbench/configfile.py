"""``dowbench.yaml`` or ``[tool.dowbench]``: read, held to ``config.schema.json``, turned into a ``Config``.

The schema is the one description of the settings: it checks them here, editors check with it, and ``reference`` makes
the table of the README from it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dowbench.config import Config, Waiver, is_date
from dowbench.errors import SourceError, UsageError, did_you_mean
from dowbench.inputs import read_settings
from dowbench.pointer import join, split, upwards

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SCHEMA_PATH = Path(__file__).with_name("config.schema.json")


def load(path: Path, *, shown: str | None = None) -> Config:
    """The settings in ``path``. Raises ``UsageError`` with line for what is unreadable, unknown or out of range."""
    name = shown or path.as_posix()
    value, line_of = (_read_toml if path.suffix == ".toml" else _read_yaml)(path, name)
    for problem in check(value, schema()):
        raise UsageError(problem.message, path=name, line=line_of(problem.pointer))
    lines = {pointer: line for pointer in _pointers(value) if (line := line_of(pointer)) is not None}
    settings = dict(value)
    exceptions = tuple(
        Waiver(**{**_tuples(item), "line": lines.get(join("/exceptions", index))})
        for index, item in enumerate(settings.pop("exceptions", ()))
    )
    words = {key: tuple(items) for key, items in settings.pop("words", {}).items()}
    return Config(
        **_tuples(settings), exceptions=exceptions, words=words, base=path.parent.absolute(), path=name, lines=lines
    )


def check_config(config: Any) -> Config:
    """A ``Config`` that a program has made, held to what a file may say. Raises ``UsageError``."""
    if not isinstance(config, Config):
        raise UsageError(f"expected settings (a dowbench.config.Config), found {type(config).__name__}")
    known = schema()
    settings = {key: _listed(getattr(config, key)) for key in known["properties"]}
    if config.baseline is None:
        del settings["baseline"]
    for problem in check(settings, known):
        raise UsageError(problem.message)
    for index, kind in enumerate(map(type, config.exceptions)):
        if kind is not Waiver:
            raise UsageError(f"exceptions[{index}] must be a Waiver, not {kind.__name__}")
    if not isinstance(config.lines, Mapping) or not isinstance(config.path, str | None):
        raise UsageError("path and lines say where a file has its settings: a text, and numbers by pointer")
    if config.overruled is not None:
        check_config(config.overruled)
    if not isinstance(config.unread, tuple) or not all(isinstance(file, str) for file in config.unread):
        raise UsageError("unread must be a tuple of paths as texts")
    if not isinstance(config.base, str | PathLike):
        raise UsageError(f"base must be a path, not {type(config.base).__name__}")
    return replace(config, base=Path(config.base))


def _listed(value: Any) -> Any:
    """A setting as a file would hold it."""
    if isinstance(value, Waiver):
        stated = value._replace(line=None)._asdict()
        return {key: _listed(item) for key, item in stated.items() if item is not None and item != ()}
    if isinstance(value, Mapping):
        return {key: _listed(item) for key, item in value.items()}
    return [_listed(item) for item in value] if isinstance(value, tuple | list | set | frozenset) else value


def schema() -> dict[str, Any]:
    """The JSON Schema of a configuration file."""
    loaded: dict[str, Any] = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))
    return loaded


class Problem(NamedTuple):
    """What is wrong with a value, and where."""

    pointer: str
    message: str


_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}
_SAID = {
    "object": "a mapping",
    "array": "a list",
    "string": "a string",
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
}


def check(value: Any, schema: Mapping[str, Any], pointer: str = "") -> Iterator[Problem]:
    """Every way in which ``value`` breaks ``schema``: the keywords that ``config.schema.json`` uses, no others."""
    name = dotted(pointer) or "the configuration"
    if "enum" in schema and value not in schema["enum"]:
        yield Problem(
            pointer, f"{name} must be one of {', '.join(schema['enum'])}, not {json.dumps(value, default=str)}"
        )
        return
    types = schema.get("type", ())
    types = (types,) if isinstance(types, str) else types
    if types and not any(_is(value, kind) for kind in types):
        yield Problem(pointer, f"{name} must be {' or '.join(_SAID[kind] for kind in types)}")
        return
    if isinstance(value, dict):
        yield from _check_object(value, schema, pointer, name)
    elif isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            yield Problem(pointer, f"{name} must not be empty")
        for index, item in enumerate(value):
            yield from check(item, schema.get("items", {}), join(pointer, index))
    elif isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            yield Problem(pointer, f"{name} must not be empty")
        if schema.get("format") == "date" and not is_date(value):
            yield Problem(pointer, f"{name} must be a date as YYYY-MM-DD, not {json.dumps(value)}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _check_number(value, schema, pointer, name)


def _check_number(value: float, schema: Mapping[str, Any], pointer: str, name: str) -> Iterator[Problem]:
    low, above, high = (schema.get(keyword) for keyword in ("minimum", "exclusiveMinimum", "maximum"))
    if not (
        _is_finite(value)
        and (low is None or value >= low)
        and (above is None or value > above)
        and (high is None or value <= high)
    ):
        bound = f" of at least {low}" if low is not None else f" above {above}" if above is not None else ""
        most = f" and at most {high}" if high is not None else ""
        yield Problem(pointer, f"{name} must be a finite number{bound}{most}")


def dotted(pointer: str) -> str:
    """A pointer into a configuration as messages have it: ``exceptions[0].rules``."""
    parts = (f"[{part}]" if part.isdecimal() else f".{part}" for part in split(pointer))
    return "".join(parts).removeprefix(".")


def _check_object(value: Mapping[Any, Any], schema: Mapping[str, Any], pointer: str, name: str) -> Iterator[Problem]:
    known = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    for key, item in value.items():
        place = join(pointer, str(key))
        if not isinstance(key, str):
            yield Problem(pointer, f"the keys of {name} must be strings, not {key!r}")
        elif key in known:
            yield from check(item, known[key], place)
        elif others is False:
            meant = did_you_mean(str(key).replace("-", "_").lower(), known)
            yield Problem(place, f"unknown key {json.dumps(key, default=str)} in {name}; {meant}")
        elif isinstance(others, dict):
            yield from check(item, others, place)
    for key in schema.get("required", ()):
        if key not in value:
            yield Problem(pointer, f"{name} needs the key {key!r}")


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer that no float holds
        return False


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def reference() -> str:
    """The settings as Markdown tables, for the README."""
    top = schema()
    tables = [_table(top)]
    for key in ("exceptions", "rules", "limits", "source_limits"):
        node = top["properties"][key]
        inner = node.get("items") or (node if "properties" in node else node["additionalProperties"])
        title = {"exceptions": "Each of `exceptions`", "rules": "Each of `rules`"}.get(key, f"`{key}`")
        tables.append(f"{title}:\n\n{_table(inner)}")
    return "\n".join(tables)


def _table(node: Mapping[str, Any]) -> str:
    required = node.get("required", ())
    rows = ["| setting | value | default | meaning |", "|---|---|---|---|"]
    for key, item in node["properties"].items():
        default = json.dumps(item["default"]) if "default" in item else ""
        cells = (
            f"`{key}`",
            _value(item),
            "required" if key in required else f"`{default}`" if default else "",
            item["description"],
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _value(item: Mapping[str, Any]) -> str:
    if "enum" in item:
        return ", ".join(f"`{choice}`" for choice in item["enum"])
    kind = str(item["type"])
    return f"list of {item['items']['type']}s" if kind == "array" else {"object": "mapping"}.get(kind, kind)


def _tuples(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(item) if isinstance(item, list) else item for key, item in value.items()}


def _pointers(value: Any, pointer: str = "", depth: int = 5) -> Iterator[str]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        place = join(pointer, str(key))
        yield place
        if depth > 1:
            yield from _pointers(item, place, depth - 1)


def _read_yaml(path: Path, name: str) -> tuple[dict[str, Any], Callable[[str], int | None]]:
    from dowbench import source

    data = _bytes(path, name)
    if not data.strip():
        return {}, lambda pointer: None
    try:
        read = source.read(name, data, kind="yaml")
    except SourceError as error:
        if "holds no value" in error.message:  # comments only
            return {}, lambda pointer: None
        raise UsageError(error.message, path=name, line=error.line, column=error.column) from None
    if len(read.documents) > 1:
        raise UsageError("a configuration is one YAML document, this file holds several", path=name)
    document = read.documents[0] if read.documents else None
    if document is None or document.value is None:
        return {}, lambda pointer: None
    if not isinstance(document.value, dict):
        raise UsageError("a configuration must be a mapping", path=name, line=document.span("").line)

    def line_of(pointer: str) -> int | None:
        try:
            return (document.key_span(pointer) or document.span(pointer)).line
        except (KeyError, LookupError):
            return None

    return document.value, line_of


def _read_toml(path: Path, name: str) -> tuple[dict[str, Any], Callable[[str], int | None]]:
    import tomllib

    text = _bytes(path, name).decode("utf-8", errors="replace")
    try:
        tool = tomllib.loads(text.replace("\r\n", "\n")).get("tool")
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"line (\d+)", str(error))
        raise UsageError(f"not valid TOML: {error}", path=name, line=int(place[1]) if place else None) from None
    except RecursionError:
        raise UsageError("not valid TOML: nested too deeply", path=name) from None
    except ValueError as error:  # a number of more digits than Python reads
        raise UsageError(f"not valid TOML: {error}", path=name) from None
    value = tool.get("dowbench") if isinstance(tool, dict) else None
    if value is None:
        raise UsageError("no table [tool.dowbench]", path=name)
    lines = _toml_lines(text)
    return _plain(value), lambda pointer: _nearest_line(lines, pointer)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.isoformat() if hasattr(value, "isoformat") else value


def _toml_lines(text: str) -> dict[str, int]:
    """Pointer below ``[tool.dowbench]`` → line, for headers and for keys that start a line."""
    lines: dict[str, int] = {}
    counts: dict[str, int] = {}
    table: list[str] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if line.startswith("["):
            table = _toml_key(line.strip("[] ").split("]")[0])
            if line.startswith("[["):
                header = ".".join(table)
                counts[header] = counts.get(header, -1) + 1
                table = [*table, str(counts[header])]
            keys = table
        elif "=" in line and not line.startswith("#"):
            keys = [*table, *_toml_key(line.partition("=")[0])]
        else:
            continue
        if keys[:2] == ["tool", "dowbench"]:
            lines.setdefault(join("", *keys[2:]), number)
    return lines


def _toml_key(dotted: str) -> list[str]:
    return [part.strip().strip("\"'") for part in dotted.split(".")]


def _nearest_line(lines: Mapping[str, int], pointer: str) -> int | None:
    return next((lines[place] for place in upwards(pointer) if place in lines), None)


def _bytes(path: Path, name: str) -> bytes:
    try:
        return read_settings(path, name)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", path=name) from None
