"""Look-up of what can be added from outside: a table of built-in names first, then entry points of other packages."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dowbench.errors import UsageError
from dowbench_benchmark.located import known_names

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.metadata import EntryPoint


def load(group: str, built_in: Mapping[str, str], name: str) -> Any:
    """The object behind ``name``: from ``built_in`` (name to ``module:attribute``), else from an entry point.

    Raises ``UsageError`` for a name that neither has, listing the known ones, and for a plug-in that cannot be loaded.
    """
    if name in built_in:
        module, _, attribute = built_in[name].partition(":")
        return getattr(import_module(module), attribute)
    found = installed(group)
    if name not in found:
        kind = group.removeprefix("dowbench.").removesuffix("s")
        raise UsageError(f"unknown {kind} {name!r}; {known_names(name, names(group, built_in))}")
    return _load(found[name])


def load_all(group: str) -> dict[str, Any]:
    """Every object of a group that other packages bring, by name. Raises ``UsageError`` as ``load`` does."""
    return {name: _load(point) for name, point in installed(group).items()}


def names(group: str, built_in: Mapping[str, str]) -> tuple[str, ...]:
    """All known names, the built-in ones first. A plug-in cannot take a built-in name."""
    return (*built_in, *(name for name in installed(group) if name not in built_in))


@cache
def installed(group: str) -> Mapping[str, EntryPoint]:
    """The entry points of a group by name, sorted. Two packages with the same name are an error, not a race."""
    from importlib.metadata import entry_points  # slow, and not needed by most runs

    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=group):
        other = found.get(point.name)
        if other is not None and other.value != point.value:
            raise UsageError(f"{group}: {point.name!r} is defined twice, as {other.value} and as {point.value}")
        found[point.name] = point
    return dict(sorted(found.items()))


def _load(point: EntryPoint) -> Any:
    try:
        return point.load()
    except Exception as error:  # a plug-in's import may raise anything
        raise UsageError(
            f"{point.group}: the plug-in {point.name!r} cannot be loaded: {type(error).__name__}: {error}"
        ) from error
