"""From a JSON pointer to the place in the text, for both languages."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

from dowbench.pointer import split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

NO_KEY = 0xFFFFFFFF


class Found(NamedTuple):
    """Where a pointer led."""

    node: int
    complete: bool
    alias: int | None
    """The first YAML alias on the way."""


class Index:
    """The nodes of a document in the order they are written, each known by its ordinal.

    Parallel arrays keep it at 20 bytes a node. Node ``n`` is ``text[start[n]:end[n]]``; the nodes inside it are those
    from ``n + 1`` to, and not including, ``after[n]``. Where it is an object's member, its key is
    ``text[key_start[n]:key_end[n]]``; else both are ``NO_KEY``.
    """

    def __init__(self) -> None:
        self.start = array("I")
        self.end = array("I")
        self.after = array("I")
        self.key_start = array("I")
        self.key_end = array("I")
        self.aliases: dict[int, int] = {}
        """YAML: ordinal of an alias to the ordinal of the anchored node."""
        self.merges: dict[int, list[int]] = {}
        """YAML: ordinal of a mapping to those of the nodes its ``<<`` keys name, the winning one first."""
        self.key: Callable[[int], str] = lambda node: ""
        """The key of a member."""
        self._children: dict[int, Mapping[str, int]] = {}

    def add(self, start: int, end: int, after: int, key_start: int, key_end: int) -> None:
        """Append a node."""
        self.start.append(start)
        self.end.append(end)
        self.after.append(after)
        self.key_start.append(key_start)
        self.key_end.append(key_end)

    def nodes_in(self, node: int) -> Iterator[int]:
        """Ordinals of the direct children, duplicates included."""
        after = self.after
        child, last = node + 1, after[node]
        while child < last:
            yield child
            child = after[child]

    def _children_of(self, node: int) -> Mapping[str, int]:
        known = self._children.get(node)
        if known is None:
            children = list(self.nodes_in(node))
            if node in self.merges:
                merged = frozenset(self.merges[node])
                children = [child for child in children if child not in merged]
            if children and self.key_start[children[0]] != NO_KEY:
                known = {self.key(child): child for child in children}
            else:
                known = {str(position): child for position, child in enumerate(children)}
            self._children[node] = known
        return known

    def _child(self, node: int, part: str) -> tuple[int | None, int | None]:
        """The child of ``node`` that ``part`` names, and the alias by which it is reached."""
        pending: list[tuple[int, int | None]] = [(node, None)]
        seen = set()
        while pending:
            node, alias = pending.pop()
            if node in self.aliases:
                node, alias = self.aliases[node], node if alias is None else alias
            if node in seen:
                continue
            seen.add(node)
            child = self._children_of(node).get(part)
            if child is not None:
                return child, alias
            for source in reversed(self.merges.get(node, ())):
                target = self.aliases.get(source, source)
                via = source if alias is None and target != source else alias
                nodes = reversed(list(self.nodes_in(target))) if self._is_sequence(target) else [target]
                pending += [(merged, via) for merged in nodes]
        return None, None

    def _is_sequence(self, node: int) -> bool:
        return self.after[node] > node + 1 and self.key_start[node + 1] == NO_KEY

    def place(self, pointer: str) -> tuple[int, int]:
        """Where the node at ``pointer``, or its nearest ancestor, begins and ends: behind an alias, if it is one."""
        node = self.find(pointer).node
        node = self.aliases.get(node, node)
        return self.start[node], self.end[node]

    def find(self, pointer: str) -> Found:
        """The node at ``pointer`` or, where there is none, its nearest ancestor."""
        node, alias = 0, None
        plain = not (self.aliases or self.merges)
        for part in split(pointer):
            child, via = (self._children_of(node).get(part), None) if plain else self._child(node, part)
            if child is None:
                return Found(node, False, alias)
            node, alias = child, via if alias is None else alias
        return Found(node, True, node if alias is None and node in self.aliases else alias)
