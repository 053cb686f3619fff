"""Reading a usage object strictly: what is not understood is refused, since it may be billed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dowbench_benchmark.model import UsageError
from dowbench_benchmark.recorded import MOST

if TYPE_CHECKING:
    from collections.abc import Iterable


def whole(raw: Mapping[str, Any], name: str) -> int:
    """A counter: missing and null are zero. Raises ``UsageError`` for anything but a whole number from 0."""
    value = raw.get(name)
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST:
        raise UsageError(f"usage field {name!r} is {value!r}, expected a whole number up to {MOST}")
    return value


def given(raw: Mapping[str, Any], *names: str) -> None:
    """Raise ``UsageError`` where one of ``names`` is missing or null."""
    for name in names:
        if raw.get(name) is None:
            raise UsageError(f"usage without {name}")


def only(raw: Mapping[str, Any], known: Iterable[str], informative: Iterable[str] = ()) -> None:
    """Raise ``UsageError`` for a field outside ``known`` and ``informative`` that is not empty."""
    names = {*known, *informative}
    for name, value in raw.items():
        if name not in names and not _empty(value):
            raise UsageError(f"unknown usage field {name!r} = {value!r}: it may be billed")


def details(
    raw: Mapping[str, Any], name: str, known: Iterable[str], informative: Iterable[str] = ()
) -> Mapping[str, Any]:
    """The object under ``name``, checked as by ``only``; missing and null are empty. Raises ``UsageError``."""
    value = raw.get(name)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise UsageError(f"usage field {name!r} is {value!r}, expected an object")
    try:
        only(value, known, informative)
    except UsageError as error:
        raise UsageError(f"in {name}: {error}") from None
    return value


def word(raw: Mapping[str, Any], name: str, standard: str) -> None:
    """Raise ``UsageError`` where the field says anything but ``standard``: other tiers have other prices."""
    if raw.get(name) not in (None, "", standard):
        raise UsageError(f"usage with {name} {raw[name]!r}, which is billed at other rates than {standard!r}")


def rest(total: int, of: str, **parts: int) -> int:
    """What is left of ``total`` tokens ``of`` a kind without its parts. Raises ``UsageError`` where they are more."""
    left = total - sum(parts.values())
    if left < 0:
        named = " and ".join(f"{count} {name.replace('_', ' ')}" for name, count in parts.items() if count)
        raise UsageError(f"usage with {named} tokens among {total} {of} tokens")
    return left


def _empty(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(_empty(item) for item in value.values())
    return value in (None, 0, "", [])
