"""From raw JSON Schema to ``model.Schema``: local references followed, ``allOf`` merged, ``null`` unions unwrapped.

A definition is merged once however often it is referred to; a reference costs one small object, made when it is looked
at. References to other files and addresses are never followed: what they define is unknown, and noted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any, NamedTuple

from dowbench.loaders.context import Context, join, quote
from dowbench.loaders.keywords import (
    JSON_TYPES,
    REFERENCES,
    merge_keywords,
    read_types,
    reference,
    unique,
    with_numeric_bounds,
)
from dowbench.model import EMPTY, Location, Schema

APPLIED = frozenset((*REFERENCES, "allOf"))
STRUCTURE = frozenset(
    ("type", "properties", "required", "items", "prefixItems", "additionalProperties", "allOf", "anyOf", "oneOf")
)
"""Keywords beside a reference that have to be merged with what the target says of them."""
COMPOUND = (STRUCTURE | REFERENCES) - {"type"}
CONSTRAINTS = frozenset(("required", "not", "title", "description"))
DEEPEST = 200
DEEPEST_INFERENCE = 50
NUMBERS = count(1)


class Part(NamedTuple):
    """A raw schema, where it stands, and where a reference to it was written (if it was reached by one)."""

    raw: Any
    pointer: str
    use: str | None = None


class Core:
    """What all uses of one definition share."""

    __slots__ = (
        "additional",
        "alternatives",
        "identity",
        "items",
        "keywords",
        "nullable",
        "parts",
        "places",
        "properties",
        "required",
        "types",
    )

    def __init__(self) -> None:
        self.keywords: Mapping[str, Any] = EMPTY
        self.types: tuple[str, ...] = ()
        self.nullable = False
        self.required: frozenset[str] = frozenset()
        self.properties: dict[str, tuple[Part, ...]] = {}
        self.items: tuple[Part, ...] = ()  # of every item; together, as under allOf
        self.places: tuple[Part, ...] = ()  # one for each place of a tuple
        self.alternatives: tuple[Part, ...] = ()
        self.additional: tuple[Part, ...] = ()
        self.parts: tuple[Part, ...] = ()  # keeps the raw values alive whose ids are keys
        self.identity = next(NUMBERS)


class Resolver:
    """Resolves the schemas below one root, the value that ``#`` stands for.

    A reference that leads nowhere from there is tried from the root of the document.
    """

    def __init__(self, context: Context, root: Any, base: str = "") -> None:
        self.context = context
        self.root = root
        self.base = base
        self._cores: dict[int | tuple[int, ...], Core] = {}
        self._targets: dict[str, Part | None] = {}
        self._anchors: dict[str, Part] | None = None
        self._inferring = 0

    def schema(self, raw: Any, pointer: str, use: str | None = None) -> Schema:
        """The schema ``raw`` that stands at ``pointer``."""
        return self._schema((Part(raw, pointer),), use, ())

    def properties(self, raw: Mapping[str, Any], pointer: str, places: Mapping[str, str] = EMPTY) -> Schema:
        """An object schema whose properties are the members of ``raw``, which stands at ``pointer``.

        ``places`` are the pointers of those that do not stand below ``raw``.
        """
        core = Core()
        core.types = ("object",)
        core.parts = (Part(raw, pointer),)
        members = {name: [Part(value, places.get(name) or join(pointer, name))] for name, value in raw.items()}
        self._collect_properties(core, members, set())
        return self._make(core, Location(pointer), ())

    def follow(self, raw: Any, pointer: str) -> Part:
        """Where the references that start at ``raw`` end. ``use`` is ``pointer`` if there was one, ``raw`` the target.

        A reference that cannot be followed ends in ``None``.
        """
        part, seen = Part(raw, pointer), set[int]()
        while isinstance(part.raw, Mapping) and (ref := reference(part.raw)) is not None:
            if id(part.raw) in seen:
                self.context.note(f"$ref {quote(ref)} leads back to itself", pointer)
                return Part(None, part.pointer, pointer)
            seen.add(id(part.raw))
            target = self.target(ref, part.pointer)
            if target is None:
                return Part(None, part.pointer, pointer if seen and part.pointer != pointer else None)
            part = Part(target.raw, target.pointer, pointer)
        return part

    def target(self, ref: str, pointer: str) -> Part | None:
        """What ``ref``, written at ``pointer``, refers to; ``None``, and a note, if that is not in this document."""
        if ref not in self._targets:
            self._targets[ref] = self._find(ref)
            if self._targets[ref] is None:
                local = ref.startswith("#")
                why = "leads nowhere" if local else "is not followed"
                self.context.note(f"$ref {quote(ref, 120)} {why}; what it defines is unknown", pointer)
        return self._targets[ref]

    def _find(self, ref: str) -> Part | None:
        name, _, fragment = ref.partition("#")
        if name and name != (self.root.get("$id") if isinstance(self.root, Mapping) else None):
            return self._anchor(ref)
        if fragment and not fragment.startswith("/"):
            return self._anchor("#" + fragment)
        if "%" in fragment:
            from urllib.parse import unquote

            fragment = unquote(fragment)
        tokens = [token.replace("~1", "/").replace("~0", "~") for token in fragment.split("/")[1:]]
        found = walk(self.root, tokens, self.base)
        return found or (walk(self.context.root, tokens, "") if self.base else None)

    def _anchor(self, name: str) -> Part | None:
        if self._anchors is None:
            self._anchors, todo = {}, [Part(self.root, self.base)]
            while todo:
                raw, pointer, _ = todo.pop()
                if isinstance(raw, Mapping):
                    self.context.visit(pointer)
                    for keyword in ("$anchor", "$dynamicAnchor", "$id", "id"):
                        if isinstance(label := raw.get(keyword), str):
                            label = label if keyword in ("$id", "id") else "#" + label
                            self._anchors.setdefault(label, Part(raw, pointer))
                    todo.extend(Part(value, join(pointer, key)) for key, value in raw.items())
                elif isinstance(raw, list):
                    todo.extend(Part(value, join(pointer, index)) for index, value in enumerate(raw))
        return self._anchors.get(name)

    def _schema(self, parts: tuple[Part, ...], use: str | None, chain: tuple[int, ...]) -> Schema:
        part = parts[0]
        location = Location(part.pointer, use)
        self.context.visit(part.pointer)
        if len(parts) == 1 and type(part.raw) is dict and reference(part.raw) is not None:
            end = self.follow(part.raw, part.pointer)
            if end.use is not None:
                location = Location(end.pointer, end.use)
        return self._make(self._core(parts), location, chain)

    def _make(self, core: Core, location: Location, chain: tuple[int, ...]) -> Schema:
        identity = core.identity
        if not (core.properties or core.items or core.places or core.alternatives or core.additional):
            return Schema(
                location, core.types, core.keywords, core.nullable, core.required, circular=False, identity=identity
            )
        if len(chain) == DEEPEST:
            self.context.note(f"schemas nested more than {DEEPEST} deep are not looked at", location.pointer)
        if identity in chain or len(chain) == DEEPEST:
            return Schema(
                location, core.types, core.keywords, core.nullable, core.required, circular=True, identity=identity
            )
        children = Children(self, core, location.use, (*chain, identity))
        return Schema(
            location,
            core.types,
            core.keywords,
            core.nullable,
            core.required,
            circular=False,
            identity=identity,
            expand_properties=children.properties,
            expand_items=children.items,
            expand_alternatives=children.alternatives,
            expand_additional=children.additional,
        )

    def _core(self, parts: tuple[Part, ...]) -> Core:
        key = id(parts[0].raw) if len(parts) == 1 else tuple(id(part.raw) for part in parts)
        core = self._cores.get(key)
        if core is None:
            raw = parts[0].raw
            if len(parts) == 1 and isinstance(raw, Mapping) and reference(raw) and STRUCTURE.isdisjoint(raw):
                return self._referring(parts[0])
            # entered before it is complete: a definition that contains itself meets the unfinished one
            core = self._cores[key] = Core()
            core.parts = parts
            if len(parts) == 1 and isinstance(raw, dict) and "type" in raw and COMPOUND.isdisjoint(raw):
                core.keywords = with_numeric_bounds(raw, parts[0].pointer, self.context)
                core.types, core.nullable = read_types(raw["type"], parts[0].pointer, self.context)
                core.nullable = core.nullable or raw.get("nullable") is True
            else:
                self._merge(core, parts)
        return core

    def _referring(self, part: Part) -> Core:
        """The definition at the end of a chain of references, under what is said beside each of them."""
        chain: list[Part] = []
        seen: set[int] = set()
        while isinstance(part.raw, Mapping) and (ref := reference(part.raw)) and STRUCTURE.isdisjoint(part.raw):
            target = None if id(part.raw) in seen else self.target(ref, part.pointer)
            seen.add(id(part.raw))
            chain.append(part)
            part = target or Part(None, part.pointer)
        core = self._core((part,))
        for link in reversed(chain):
            if len(link.raw) > 1:
                base, core = core, Core()
                own = with_numeric_bounds(link.raw, link.pointer, self.context)
                core.keywords = merge_keywords(own, base.keywords)
                core.nullable = base.nullable or link.raw.get("nullable") is True
                core.types, core.required, core.properties = base.types, base.required, base.properties
                core.items, core.places, core.additional = base.items, base.places, base.additional
                core.alternatives, core.identity = base.alternatives, base.identity
            self._cores[id(link.raw)] = core
        return core

    def _merge(self, core: Core, parts: tuple[Part, ...]) -> None:
        keywords: Mapping[str, Any] | None = None
        types: tuple[str, ...] | None = None
        required: set[str] = set()
        properties: dict[str, list[Part]] = {}
        items: list[Part] = []
        places: list[Part] = []
        additional: list[Part] = []
        alternatives: list[Part] = []
        nullable = False
        todo, seen = list(reversed(parts)), set[int]()
        while todo:
            part = todo.pop()
            raw, pointer, use = part
            if not isinstance(raw, Mapping):
                if raw is not None and not isinstance(raw, bool):
                    self.context.expected("a schema (an object, true or false)", raw, pointer)
                continue
            if id(raw) in seen:
                continue
            seen.add(id(raw))
            self.context.visit(pointer)
            own = with_numeric_bounds(raw, pointer, self.context)
            keywords = own if keywords is None else merge_keywords(keywords, own)
            if "type" in raw:
                stated, null = read_types(raw["type"], pointer, self.context)
                nullable = nullable or null
                if stated:
                    types = stated if types is None else tuple(t for t in types if t in stated) or types
            nullable = nullable or raw.get("nullable") is True
            if isinstance(names := raw.get("required"), list):
                required.update(name for name in names if isinstance(name, str))
            elif names is not None and not isinstance(names, bool):
                self.context.note("required is no list of names, and is not counted", join(pointer, "required"))
            if (members := raw.get("properties")) is not None:
                if not isinstance(members, Mapping):
                    self.context.expected("an object of schemas", members, join(pointer, "properties"))
                below = pointer + "/properties"
                for name, value in members.items():
                    properties.setdefault(name, []).append(Part(value, join(below, name), use))
            for keyword in ("items", "prefixItems"):
                if isinstance(value := raw.get(keyword), list):
                    places.extend(Part(v, join(pointer, keyword, i), use) for i, v in enumerate(value))
                elif value is not None:
                    items.append(Part(value, join(pointer, keyword), use))
            if isinstance(more := raw.get("additionalProperties"), Mapping) and more:
                additional.append(Part(more, pointer + "/additionalProperties", use))
            for keyword in ("anyOf", "oneOf"):
                if keyword in raw:
                    branches, null = self._branches(raw[keyword], join(pointer, keyword), use)
                    nullable = nullable or null
                    (todo if len(branches) == 1 else alternatives).extend(branches)
            if not APPLIED.isdisjoint(raw):
                todo.extend(reversed(list(self._applied(raw, pointer, use))))
        core.keywords = keywords if keywords is not None else core.keywords
        core.nullable = nullable
        self._collect_properties(core, properties, required)
        core.items = tuple(items)
        core.places = tuple(places)
        core.additional = tuple(additional)
        core.alternatives = tuple(alternatives)
        core.types = types if types is not None else self._infer(core)

    def _collect_properties(self, core: Core, properties: dict[str, list[Part]], required: set[str]) -> None:
        # "required": true on the property itself is JSON Schema draft 3, and common in hand-written definitions
        required.update(
            name
            for name, parts in properties.items()
            if any(isinstance(part.raw, Mapping) and part.raw.get("required") is True for part in parts)
        )
        core.properties = {name: tuple(parts) for name, parts in properties.items() if parts[0].raw is not False}
        core.required = frozenset(required)

    def _applied(self, raw: Mapping[str, Any], pointer: str, use: str | None) -> Iterable[Part]:
        if (ref := reference(raw)) is not None:
            target = self.target(ref, pointer)
            if target is not None:
                yield Part(target.raw, target.pointer, use or pointer)
        if (branches := raw.get("allOf")) is not None:
            if not isinstance(branches, list):
                self.context.expected("a list of schemas", branches, join(pointer, "allOf"))
            for index, branch in enumerate(branches):
                yield Part(branch, join(pointer, "allOf", index), use)

    def _branches(self, branches: Any, pointer: str, use: str | None) -> tuple[list[Part], bool]:
        if branches is None:
            return [], False
        if not isinstance(branches, list):
            self.context.expected("a list of schemas", branches, pointer)
        # a branch that only requires properties is a condition on the whole, not a shape of its own
        parts = [
            Part(branch, join(pointer, index), use)
            for index, branch in enumerate(branches)
            if not (isinstance(branch, Mapping) and branch and CONSTRAINTS.issuperset(branch))
        ]
        shapes = [part for part in parts if not is_null(part.raw)]
        return shapes, len(shapes) < len(parts)

    def _infer(self, core: Core) -> tuple[str, ...]:
        keywords = core.keywords
        if core.properties:
            return ("object",)
        if core.items or core.places:
            return ("array",)
        values = keywords.get("enum")
        if not isinstance(values, list):
            values = [keywords["const"]] if "const" in keywords else []
        found = unique(JSON_TYPES.get(type(value), "") for value in values if value is not None)
        if found:
            return () if "" in found else found
        if core.additional:
            return ("object",)
        if self._inferring > DEEPEST_INFERENCE:
            return ()
        self._inferring += 1
        branches = [self._core((part,)).types for part in core.alternatives]
        self._inferring -= 1
        return unique(t for types in branches for t in types) if all(branches) else ()


class Children:
    """The schemas below one use of a definition, made when asked for and then kept."""

    __slots__ = ("_additional", "_alternatives", "_items", "_properties", "chain", "core", "resolver", "use")

    def __init__(self, resolver: Resolver, core: Core, use: str | None, chain: tuple[int, ...]) -> None:
        self.resolver, self.core, self.use, self.chain = resolver, core, use, chain
        self._properties: Mapping[str, Schema] | None = None
        self._items: Schema | None = None
        self._additional: Schema | None = None
        self._alternatives: tuple[Schema, ...] | None = None

    def _child(self, parts: tuple[Part, ...]) -> Schema:
        return self.resolver._schema(parts, self.use or parts[0].use, self.chain)

    def properties(self) -> Mapping[str, Schema]:
        if self._properties is None:
            self._properties = {name: self._child(parts) for name, parts in self.core.properties.items()}
        return self._properties

    def items(self) -> Schema | None:
        if self._items is None and self.core.items:
            self._items = self._child(self.core.items)
        elif self._items is None and self.core.places:
            tuple_item = Core()
            tuple_item.alternatives = tuple_item.parts = self.core.places
            location = Location(self.core.places[0].pointer, self.use or self.core.places[0].use)
            self._items = self.resolver._make(tuple_item, location, self.chain)
        return self._items

    def additional(self) -> Schema | None:
        if self._additional is None and self.core.additional:
            self._additional = self._child(self.core.additional)
        return self._additional

    def alternatives(self) -> tuple[Schema, ...]:
        if self._alternatives is None:
            self._alternatives = tuple(self._child((part,)) for part in self.core.alternatives)
        return self._alternatives


def is_null(raw: Any) -> bool:
    """Whether a schema allows nothing but null."""
    if not isinstance(raw, Mapping):
        return False
    return raw.get("type") in ("null", "NULL", ["null"]) or raw.get("enum") == [None] or raw.get("const", 0) is None


def walk(value: Any, tokens: Iterable[str], pointer: str) -> Part | None:
    """What the unescaped ``tokens`` of a pointer lead to below ``value``, which stands at ``pointer``."""
    for token in tokens:
        if isinstance(value, Mapping) and token in value:
            value = value[token]
        elif isinstance(value, list) and token.isascii() and token.isdecimal() and int(token) < len(value):
            value = value[int(token)]
        else:
            return None
        pointer = join(pointer, token)
    return Part(value, pointer)
