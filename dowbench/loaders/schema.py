"""From raw JSON Schema to ``model.Schema``: local references followed, ``allOf`` merged, ``null`` unions unwrapped.

A definition is merged once however often it is referred to; a use of it costs one small object, made when it is looked
at.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from dowbench.loaders.keywords import (
    JSON_TYPES,
    merge_keywords,
    read_types,
    readable,
    reference,
    unique,
)
from dowbench.loaders.references import Part, References
from dowbench.model import EMPTY, REFERENCES, Location, Schema
from dowbench.pointer import join

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dowbench.loaders.context import Context

UNIONS = ("anyOf", "oneOf")
STRUCTURE = REFERENCES | {
    *("type", "required", "properties", "patternProperties", "additionalProperties", "items", "prefixItems", "allOf"),
    *UNIONS,
}
"""Keywords that say more than a bound or a text."""
COMPOUND = STRUCTURE - {"type"}
CONSTRAINTS = frozenset(("required", "not", "title", "description"))
"""A branch of a union that has no other keywords is a condition on the whole, not a shape of its own."""
DEEPEST = 200
"""Schemas inside each other that are looked at."""
DEEPEST_INFERENCE = 50
"""Schemas inside each other of which a type is worked out from what they hold."""
NUMBERS = count(1)


class Core:
    """What all uses of one definition share. Several parts of one child hold together, as under ``allOf``."""

    __slots__ = (
        *("identity", "keywords", "types", "nullable", "required", "parts", "via"),
        *("properties", "items", "places", "alternatives", "additional"),
    )

    def __init__(self, parts: tuple[Part, ...] = ()) -> None:
        self.identity = next(NUMBERS)
        self.keywords: Mapping[str, Any] = EMPTY
        self.types: tuple[str, ...] = ()
        self.nullable = False
        self.required: frozenset[str] = frozenset()
        self.parts = parts  # what it was made from; keeps the values alive whose ids are keys
        self.via: str | None = None  # where a reference to all of it is written
        self.properties: dict[str, tuple[Part, ...]] = {}
        self.items: tuple[Part, ...] = ()
        self.places: tuple[Part, ...] = ()  # of a tuple: one part a place
        self.alternatives: tuple[Part, ...] = ()
        self.additional: tuple[Part, ...] = ()

    @property
    def is_leaf(self) -> bool:
        return not (self.properties or self.items or self.places or self.alternatives or self.additional)

    def same_shape(self, other: Core) -> None:
        """Take over everything but the keywords."""
        self.identity, self.types, self.nullable = other.identity, other.types, other.nullable
        self.required, self.properties = other.required, other.properties
        self.items, self.places = other.items, other.places
        self.alternatives, self.additional, self.via = other.alternatives, other.additional, other.via


class Resolver(References):
    """Resolves the schemas below one root."""

    def __init__(self, context: Context, root: Any, base: str = "") -> None:
        super().__init__(context, root, base)
        self._cores: dict[int | tuple[int, ...], Core] = {}
        self._inferring = 0

    def schema(self, raw: Any, pointer: str, use: str | None = None) -> Schema:
        """The schema ``raw`` that stands at ``pointer``; ``use`` is where a reference to what holds it is written."""
        return self.child((Part(raw, pointer),), use, ())

    def properties(self, raw: Mapping[str, Any], pointer: str, places: Mapping[str, str] = EMPTY) -> Schema:
        """An object schema whose properties are the members of ``raw``, which stands at ``pointer``.

        ``places`` are the pointers of those that do not stand below ``raw``.
        """
        self.context.few(len(raw), "properties of an object", pointer)
        core = Core((Part(raw, pointer),))
        core.types = ("object",)
        members = {name: [Part(value, places.get(name) or join(pointer, name))] for name, value in raw.items()}
        set_properties(core, members, set())
        return self.make(core, Location(pointer), ())

    def child(self, parts: tuple[Part, ...], use: str | None, chain: tuple[int, ...]) -> Schema:
        """The schema in which all ``parts`` hold; ``chain`` are the identities of what it lies in."""
        raw, pointer, _ = parts[0]
        self.context.visit(pointer)
        location = Location(pointer, use)
        if len(parts) == 1 and isinstance(raw, dict):
            if "type" in raw and COMPOUND.isdisjoint(raw):
                # most schemas: nothing below them that would have to be kept
                types, null = read_types(raw["type"], pointer, self.context)
                keywords = readable(raw, pointer, self.context)
                nullable = null or raw.get("nullable") is True
                return Schema(location, types, keywords, nullable, identity=next(NUMBERS))
            if (ref := reference(raw)) is not None:
                end = self.follow(raw, pointer)
                if end.use is not None:
                    location = Location(end.pointer, end.use)
                    if len(raw) == 1 and end.raw is not None:  # nothing beside the reference: what it leads to, itself
                        parts = (self.target(ref, pointer) or end,)
        return self.make(self._core(parts), location, chain)

    def make(self, core: Core, location: Location, chain: tuple[int, ...]) -> Schema:
        """One use of a definition."""
        stated = (location, core.types, core.keywords, core.nullable, core.required)
        if core.is_leaf:
            return Schema(*stated, False, core.identity)
        if core.identity in chain:
            return Schema(*stated, True, core.identity)
        if len(chain) == DEEPEST:
            self.context.note(f"schemas more than {DEEPEST} deep in each other are not looked at", location.pointer)
            return Schema(*stated, True, core.identity)
        children = Children(self, core, location.use or core.via, (*chain, core.identity))
        return Schema(*stated, False, core.identity, children)

    def _core(self, parts: tuple[Part, ...]) -> Core:
        key = id(parts[0].raw) if len(parts) == 1 else tuple(id(part.raw) for part in parts)
        core = self._cores.get(key)
        if core is None:
            if len(parts) == 1 and self._link(parts[0]):
                return self._linked(parts[0])
            # entered before it is complete: a definition that contains itself meets the unfinished one
            core = self._cores[key] = Core(parts)
            Merge(self, core).run()
        return core

    def _link(self, part: Part) -> tuple[Part, bool] | None:
        """The one schema that ``part`` stands for, but for bounds and texts; and whether it may be null, too."""
        raw, pointer, _ = part
        structure = STRUCTURE & raw.keys() if isinstance(raw, dict) else ()
        if len(structure) != 1:
            return None
        (keyword,) = structure
        if keyword in REFERENCES and (ref := reference(raw)) is not None:
            target = self.target(ref, pointer)
            return Part(target.raw, target.pointer, pointer) if target else Part(None, pointer), False
        if keyword in UNIONS:
            shapes, null = self.branches(raw[keyword], join(pointer, keyword), None)
            return (shapes[0], null) if len(shapes) == 1 else None
        if keyword == "allOf" and isinstance(raw[keyword], list) and len(raw[keyword]) == 1:
            return Part(raw[keyword][0], join(pointer, keyword, 0)), False
        return None

    def _linked(self, part: Part) -> Core:
        """The definition at the end of a chain of links, under what each of them says beside it."""
        chain: list[tuple[Part, bool, str | None]] = []
        seen: set[int] = set()
        while id(part.raw) not in self._cores and (link := self._link(part)):
            chain.append((part, link[1], link[0].use))
            seen.add(id(part.raw))
            if id(link[0].raw) in seen:
                self.note_circle(chain[0][0].raw, chain[0][0].pointer)
                part = Part(None, part.pointer)
            else:
                part = link[0]
        core = self._core((part,))
        for (raw, pointer, _), null, use in reversed(chain):
            base, core = core, Core((Part(raw, pointer),))
            core.same_shape(base)
            core.keywords = base.keywords
            if len(raw) > 1 or part.raw is None:  # a reference that leads nowhere stays, as all that is known
                core.keywords = merge_keywords(readable(raw, pointer, self.context), base.keywords)
            core.nullable = core.nullable or null or raw.get("nullable") is True
            core.via = use or core.via
            self._cores[id(raw)] = core
        return core

    def branches(self, branches: Any, pointer: str, use: str | None) -> tuple[list[Part], bool]:
        """The branches of a union that are not null, and whether one is."""
        if branches is None:
            return [], False
        if not isinstance(branches, list):
            self.context.expected("a list of schemas", branches, pointer)
        self.context.few(len(branches), "branches of a schema", pointer)
        parts = [
            Part(branch, join(pointer, index), use)
            for index, branch in enumerate(branches)
            if not (isinstance(branch, dict) and branch and CONSTRAINTS.issuperset(branch))
        ]
        shapes = [part for part in parts if not is_null(part.raw)]
        return shapes, len(shapes) < len(parts)

    def infer(self, core: Core) -> tuple[str, ...]:
        """The types of a definition that does not state them."""
        if core.properties:
            return ("object",)
        if core.items or core.places:
            return ("array",)
        values = core.keywords.get("enum")
        if not isinstance(values, list):
            values = [core.keywords["const"]] if "const" in core.keywords else []
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


class Merge:
    """Merges the parts of one definition into its core."""

    def __init__(self, resolver: Resolver, core: Core) -> None:
        self.resolver = resolver
        self.context = resolver.context
        self.core = core
        self.keywords: Mapping[str, Any] | None = None
        self.types: tuple[str, ...] | None = None
        self.required: set[str] = set()
        self.properties: dict[str, list[Part]] = {}
        self.items: list[Part] = []
        self.places: list[Part] = []
        self.additional: list[Part] = []
        self.alternatives: list[Part] = []
        self.todo: list[Part] = list(reversed(core.parts))

    def run(self) -> None:
        core, seen = self.core, set[int]()
        while self.todo:
            part = self.todo.pop()
            if isinstance(part.raw, dict):
                if id(part.raw) not in seen:
                    seen.add(id(part.raw))
                    self.context.visit(part.pointer)
                    self._values(part)
                    self._members(part)
                    self._combinations(part)
            elif part.raw is not None and not isinstance(part.raw, bool):
                self.context.expected("a schema (an object, true or false)", part.raw, part.pointer)
        if self.keywords is not None:
            core.keywords = self.keywords
        set_properties(core, self.properties, self.required)
        core.items, core.places = tuple(self.items), tuple(self.places)
        core.additional, core.alternatives = tuple(self.additional), tuple(self.alternatives)
        core.types = self.types if self.types is not None else self.resolver.infer(core)

    def _values(self, part: Part) -> None:
        raw, pointer, _ = part
        own = readable(raw, pointer, self.context)
        self.keywords = own if self.keywords is None else merge_keywords(self.keywords, own)
        if "type" in raw:
            stated, null = read_types(raw["type"], pointer, self.context)
            self.core.nullable = self.core.nullable or null
            if stated:
                common = tuple(t for t in self.types or () if t in stated)
                self.types = common or self.types or stated
        self.core.nullable = self.core.nullable or raw.get("nullable") is True
        names = raw.get("required")
        required = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
        self.required.update(required)
        if names is not None and not isinstance(names, bool) and required != names:
            self.context.note("required is no list of names, and only its names are counted", join(pointer, "required"))

    def _members(self, part: Part) -> None:
        raw, pointer, use = part
        if members := self._object(part, "properties"):
            below = join(pointer, "properties")
            self.context.few(len(self.properties) + len(members), "properties of an object", below)
            for name, value in members.items():
                self.properties.setdefault(name, []).append(Part(value, join(below, name), use))
        if isinstance(more := raw.get("additionalProperties"), dict) and more:
            self.additional.append(Part(more, join(pointer, "additionalProperties"), use))
        patterns = self._object(part, "patternProperties")
        self.context.few(len(self.additional) + len(patterns), "patterns of an object", pointer)
        for name, value in patterns.items():
            self.additional.append(Part(value, join(pointer, "patternProperties", name), use))
        for keyword in ("items", "prefixItems"):
            if isinstance(value := raw.get(keyword), list):
                self.context.few(len(self.places) + len(value), "places of an array", join(pointer, keyword))
                self.places.extend(Part(v, join(pointer, keyword, index), use) for index, v in enumerate(value))
            elif value is not None:
                self.items.append(Part(value, join(pointer, keyword), use))

    def _object(self, part: Part, keyword: str) -> Mapping[str, Any]:
        value = part.raw.get(keyword)
        if value is None:
            return EMPTY
        if value == []:  # as PHP writes an empty object
            place = join(part.pointer, keyword)
            self.context.note(f"{keyword} is an empty list, which is read as an empty object", place)
            return EMPTY
        if not isinstance(value, dict):
            self.context.expected("an object of schemas", value, join(part.pointer, keyword))
        return value

    def _combinations(self, part: Part) -> None:
        raw, pointer, use = part
        for keyword in UNIONS:
            if keyword in raw:
                shapes, null = self.resolver.branches(raw[keyword], join(pointer, keyword), use)
                self.core.nullable = self.core.nullable or null
                (self.todo if len(shapes) == 1 else self.alternatives).extend(shapes)
        if (branches := raw.get("allOf")) is not None:
            if not isinstance(branches, list):
                self.context.expected("a list of schemas", branches, join(pointer, "allOf"))
            self.context.few(len(self.todo) + len(branches), "branches of a schema", join(pointer, "allOf"))
            together = [Part(branch, join(pointer, "allOf", index), use) for index, branch in enumerate(branches)]
            self.todo.extend(reversed(together))
        if (ref := reference(raw)) is not None:
            target = self.resolver.target(ref, pointer)
            if target is not None:
                self.todo.append(Part(target.raw, target.pointer, use or pointer))


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
        return self.resolver.child(parts, self.use or parts[0].use, self.chain)

    def properties(self) -> Mapping[str, Schema]:
        if self._properties is None:
            self._properties = {name: self._child(parts) for name, parts in self.core.properties.items()}
        return self._properties

    def items(self) -> Schema | None:
        if self._items is None and self.core.items:
            self._items = self._child(self.core.items)
        elif self._items is None and self.core.places:
            first = self.core.places[0]
            item = Core(self.core.places)
            item.alternatives = self.core.places
            self._items = self.resolver.make(item, Location(first.pointer, self.use or first.use), self.chain)
        return self._items

    def additional(self) -> Schema | None:
        if self._additional is None and self.core.additional:
            self._additional = self._child(self.core.additional)
        return self._additional

    def alternatives(self) -> tuple[Schema, ...]:
        if self._alternatives is None:
            self._alternatives = tuple(self._child((part,)) for part in self.core.alternatives)
        return self._alternatives


def set_properties(core: Core, properties: Mapping[str, list[Part]], required: Iterable[str]) -> None:
    """Give ``core`` its properties, without those that may not be there (``false``)."""
    # "required": true on the property itself is JSON Schema draft 3, and common in hand-written definitions
    names = set(required)
    for name, parts in properties.items():
        for part in parts:
            if isinstance(part.raw, dict) and part.raw.get("required") is True:
                names.add(name)
    core.required = frozenset(names)
    core.properties = {name: tuple(parts) for name, parts in properties.items() if parts[0].raw is not False}


def is_null(raw: Any) -> bool:
    """Whether a schema allows nothing but null."""
    if not isinstance(raw, dict):
        return False
    return raw.get("type") in ("null", "NULL", ["null"]) or raw.get("enum") == [None] or raw.get("const", 0) is None
