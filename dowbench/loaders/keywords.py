"""What single JSON Schema keywords say, as they are met: other spellings of types, bounds written as text."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, TypeGuard

from dowbench.errors import did_you_mean
from dowbench.loaders.context import Context, describe
from dowbench.model import REFERENCES
from dowbench.pointer import join

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TYPES: Mapping[str, str] = {
    **{name: name for name in ("string", "number", "integer", "boolean", "object", "array")},
    # names of programming languages, met in hand-written definitions
    **dict.fromkeys(("str", "text", "char", "file", "date", "datetime"), "string"),
    **dict.fromkeys(("int", "long"), "integer"),
    **dict.fromkeys(("float", "double", "decimal"), "number"),
    "bool": "boolean",
    **dict.fromkeys(("dict", "map", "hashmap"), "object"),
    **dict.fromkeys(("list", "tuple", "set", "arraylist"), "array"),
}
"""Names of types in lower case → JSON type."""

ANYTHING = frozenset(("any", "type_unspecified"))
"""Names in lower case that say on purpose that no type is stated."""

SINGLE: Mapping[str, tuple[str, ...]] = {name: (type,) for name, type in TYPES.items()}

JSON_TYPES: Mapping[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    dict: "object",
    list: "array",
}

UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains")
LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains")
BOUNDS = frozenset((*UPPER, *LOWER))
COUNTS = frozenset(keyword for keyword in BOUNDS if not keyword.endswith("imum"))
"""Bounds that are never negative."""
KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "enum": ((list,), "a list"),
    "additionalProperties": ((dict, bool), "a schema"),
    "nullable": ((bool,), "true or false"),
    **dict.fromkeys(("description", "format", "pattern", *REFERENCES), ((str,), "a text")),
}
"""Keywords that are looked at, the types their values have, and how a message says it."""
LOOKED_AT = BOUNDS | (KINDS.keys() - {"description"})
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<fraction>(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)")


def reference(raw: Mapping[str, Any]) -> str | None:
    """What a schema refers to, if it refers to something."""
    if REFERENCES.isdisjoint(raw):
        return None
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        if keyword in raw and isinstance(ref := raw[keyword], str):
            return ref
    return None


def read_types(stated: Any, pointer: str, context: Context) -> tuple[tuple[str, ...], bool]:
    """The JSON types that ``type`` names, without null, and whether it allows null. No types: anything."""
    if isinstance(stated, str) and (known := SINGLE.get(stated)):
        return known, False
    names = stated if isinstance(stated, list) else [stated]
    if not all(isinstance(name, str) for name in names):
        if stated is not None:
            context.note(f"type is {describe(stated)}, which says nothing", join(pointer, "type"))
        return (), False
    lower = [name.lower() for name in names]
    types = [TYPES.get(name, "") for name in lower if name != "null"]
    if "" not in types:
        return unique(types), "null" in lower
    for name in names:
        if (word := name.lower()) not in TYPES and word != "null" and word not in ANYTHING:
            meant = did_you_mean(word, JSON_TYPES.values())
            context.note(f"type is {describe(name)}, which says nothing; {meant}", join(pointer, "type"))
    return (), "null" in lower


def readable(raw: Mapping[str, Any], pointer: str, context: Context) -> Mapping[str, Any]:
    """``raw`` itself, or a copy without keywords whose value cannot be meant, and with each bound as a number.

    Gemini writes bounds as text. The boolean ``exclusiveMaximum`` of JSON Schema draft 4 and OpenAPI 3.0 stays. What is
    left out is noted.
    """
    if LOOKED_AT.isdisjoint(raw) and isinstance(raw.get("description", ""), str | None):
        return raw
    changed: dict[str, Any] = {}
    for keyword in KINDS.keys() & raw.keys():
        value, (kinds, said) = raw[keyword], KINDS[keyword]
        if not isinstance(value, kinds) and value is not None:
            changed[keyword] = None
            context.note(f"{keyword} is {describe(value)}, not {said}, and is not read", join(pointer, keyword))
    for keyword in BOUNDS & raw.keys():
        value = raw[keyword]
        if _is_number(value):
            if value >= 0 or keyword not in COUNTS:
                continue
            found = f"{value}, which is no count,"
        elif type(value) is bool and keyword.startswith("exclusive"):
            continue
        else:
            changed[keyword] = number(value)
            if changed[keyword] is not None or value is None:
                continue
            found = f"{describe(value)}, not a number,"
            if type(value) is float:
                found = "no number" if math.isnan(value) else "infinite, or larger than any that is counted,"
        changed[keyword] = None
        context.note(f"{keyword} is {found} and is not counted", join(pointer, keyword))
    changed |= _contradictions({**raw, **changed}, pointer, context)
    if not changed:
        return raw
    return {key: value for key, value in {**raw, **changed}.items() if key not in changed or value is not None}


def _contradictions(raw: Mapping[str, Any], pointer: str, context: Context) -> dict[str, Any]:
    """Upper bounds that a lower bound or the default exceeds, each with the larger number, which a call may get."""
    read: dict[str, Any] = {}
    for upper, lower in zip(UPPER, LOWER, strict=True):
        most = raw.get(upper)
        if not _is_number(most):
            continue
        others = {lower: raw.get(lower), **({"default": raw.get("default")} if upper == "maximum" else {})}
        for keyword, value in others.items():
            if _is_number(value) and value > read.get(upper, most):
                read[upper] = value
                context.note(
                    f"{upper} is smaller than {keyword}: {keyword} is read as the upper bound", join(pointer, upper)
                )
    return read


def _is_number(value: Any) -> TypeGuard[int | float]:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def number(value: Any) -> int | float | None:
    """The finite number that a text holds, written as in JSON; ``None`` if it holds none."""
    digits = NUMBER.fullmatch(value.strip(" \t\r\n")) if isinstance(value, str) and len(value) <= 40 else None
    if digits is None:
        return None
    if not digits["fraction"]:
        return int(value)
    return read if math.isfinite(read := float(value)) else None


def merge_keywords(first: Mapping[str, Any], second: Mapping[str, Any]) -> Mapping[str, Any]:
    """Both at once, as ``allOf`` demands: the narrowest bounds, common enum values; else what ``first`` says."""
    merged = {**second, **first}
    for keywords, narrowest in ((UPPER, min), (LOWER, max)):
        for keyword in keywords:
            values = [m[keyword] for m in (first, second) if keyword in m and not isinstance(m[keyword], bool)]
            if len(values) == 2:
                merged[keyword] = narrowest(values)
    one, other = first.get("enum"), second.get("enum")
    if isinstance(one, list) and isinstance(other, list):
        common = {_comparable(value) for value in other}
        merged["enum"] = [value for value in one if _comparable(value) in common]
    return merged


def _comparable(value: Any) -> Any:
    """``value``, or a text that is equal for equal objects and lists: those cannot be looked up."""
    return json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else value


def unique(names: Iterable[str]) -> tuple[str, ...]:
    """Each once, in order."""
    return tuple(dict.fromkeys(names))
