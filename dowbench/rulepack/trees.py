"""Trees of ``all``, ``any`` and ``not`` over conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from dowbench.rulepack.facts import QUOTATION
from dowbench.rulepack.parameters import speaks
from dowbench.rulepack.reading import FaultError, Path, kind_of, mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dowbench.rulepack.view import Env, Match


class Operator(NamedTuple):
    """One condition of the language."""

    compile: Callable[[Any, Path, Env], Any]
    about: str
    """What it holds for, in one line of the reference."""
    facts: tuple[str, ...] = ()
    """The placeholders its witnesses fill."""


def compile_tree(value: Any, at: Path, env: Env, operators: Mapping[str, Operator]) -> Any:
    """A tree of ``all``, ``any``, ``not`` over ``operators``, as one function. Several keys must all hold."""
    keys = mapping(value, at, ("all", "any", "not", *operators))
    if env.strict and not keys:
        raise FaultError("expected a condition, found none", at)
    parts = []
    for key, part in keys.items():
        place = (*at, key)
        if key in ("all", "any"):
            if not isinstance(part, list):
                raise FaultError(f"expected a list of conditions, found {kind_of(part)}", place)
            if env.strict and not part:
                raise FaultError("expected a list of conditions, found an empty one", place)
            branches = [compile_tree(branch, (*place, i), env, operators) for i, branch in enumerate(part)]
            parts.append(every(branches) if key == "all" else _any(branches))
        elif key == "not":
            parts.append(_not(compile_tree(part, place, env, operators)))
        else:
            parts.append(operators[key].compile(part, place, env))
    return parts[0] if len(parts) == 1 else every(parts)


def supplied(value: Any, operators: Mapping[str, Operator]) -> set[str]:
    """The placeholders that a tree can fill when it holds; what is under ``not`` fills none."""
    found: set[str] = set()
    for key, part in value.items() if isinstance(value, dict) else ():
        if key in ("all", "any"):
            for branch in part if isinstance(part, list) else ():
                found |= supplied(branch, operators)
        elif key in operators:
            found.update(operators[key].facts)
            if key == "parameter" and speaks(part):
                found.update(QUOTATION)
    return found


def every(parts: list[Any]) -> Any:
    """A condition that holds where all ``parts`` do, with the witnesses of all."""

    def holds(view: Any) -> Match | None:
        found: Match = ()
        for part in parts:
            match = part(view)
            if match is None:
                return None
            found += match
        return found

    return holds


def _any(parts: list[Any]) -> Any:
    def holds(view: Any) -> Match | None:
        for part in parts:
            match: Match | None = part(view)
            if match is not None:
                return match
        return None

    return holds


def _not(part: Any) -> Any:
    return lambda view: () if part(view) is None else None
