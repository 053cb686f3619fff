"""Where a ``$ref`` leads, inside one document. References to other files and addresses are never followed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from dowbench.loaders.context import quote
from dowbench.loaders.keywords import reference
from dowbench.model import REFERENCES
from dowbench.pointer import follow, join, split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dowbench.loaders.context import Context


class Part(NamedTuple):
    """A raw value, where it stands, and where a reference to it was written (if it was reached by one)."""

    raw: Any
    pointer: str
    use: str | None = None


class References:
    """Follows the references below one root, the value that ``#`` stands for.

    A reference that leads nowhere from there is tried from the root of the document.
    """

    def __init__(self, context: Context, root: Any, base: str = "") -> None:
        self.context = context
        self.root = root
        self.base = base
        self._targets: dict[str, Part | None] = {}
        self._anchors: dict[str, Part] | None = None

    def follow(self, raw: Any, pointer: str) -> Part:
        """Where the references that start at ``raw`` end. ``use`` is ``pointer`` if there was one, ``raw`` the target.

        A reference that cannot be followed ends in ``None``.
        """
        part = Part(raw, pointer)
        if not isinstance(raw, dict) or REFERENCES.isdisjoint(raw):
            return part
        seen = set[int]()
        while isinstance(part.raw, dict) and (ref := reference(part.raw)) is not None:
            target = self.target(ref, part.pointer)
            if id(part.raw) in seen:
                self.note_circle(raw, pointer)
                return Part(None, part.pointer, part.use)
            if target is None:
                return Part(None, part.pointer, part.use)
            seen.add(id(part.raw))
            part = Part(target.raw, target.pointer, pointer)
        return part

    def note_circle(self, raw: Any, pointer: str) -> None:
        """Note that ``raw`` at ``pointer`` leads to nothing but itself."""
        what = f"$ref {quote(ref, 120)}" if (ref := reference(raw)) is not None else "a schema"
        self.context.note(f"{what} leads in a circle; what it defines is unknown", pointer)

    def target(self, ref: str, pointer: str) -> Part | None:
        """What ``ref``, written at ``pointer``, refers to; ``None``, and a note, if that is not in this document."""
        if ref not in self._targets:
            found = self._targets[ref] = self._find(ref)
            if found is None:
                why = "leads nowhere" if ref.startswith("#") else "is not followed"
                self.context.note(f"$ref {quote(ref, 120)} {why}; what it defines is unknown", pointer)
        return self._targets[ref]

    def _find(self, ref: str) -> Part | None:
        name, _, fragment = ref.partition("#")
        if name and name != (self.root.get("$id") if isinstance(self.root, dict) else None):
            return self._anchor(ref)
        if fragment and not fragment.startswith("/"):
            return self._anchor("#" + fragment)
        if "%" in fragment:
            from urllib.parse import unquote

            fragment = unquote(fragment)
        tokens = split(fragment)
        found = walk(self.root, tokens, self.base)
        return found or (walk(self.context.root, tokens, "") if self.base else None)

    def _anchor(self, name: str) -> Part | None:
        if self._anchors is None:
            self._anchors, todo = {}, [Part(self.root, self.base)]
            while todo:
                raw, pointer, _ = todo.pop()
                if isinstance(raw, dict):
                    self.context.visit(pointer)
                    for keyword in ("$anchor", "$dynamicAnchor", "$id", "id"):
                        if isinstance(label := raw.get(keyword), str):
                            label = label if keyword in ("$id", "id") else "#" + label
                            self._anchors.setdefault(label, Part(raw, pointer))
                    todo.extend(Part(value, join(pointer, key)) for key, value in raw.items())
                elif isinstance(raw, list):
                    todo.extend(Part(value, join(pointer, index)) for index, value in enumerate(raw))
        return self._anchors.get(name)


def walk(value: Any, tokens: Sequence[str], pointer: str) -> Part | None:
    """What the unescaped ``tokens`` of a pointer lead to below ``value``, which stands at ``pointer``."""
    found = follow(value, tokens)
    return Part(found[0], join(pointer, *tokens)) if found else None
