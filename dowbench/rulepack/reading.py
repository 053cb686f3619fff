"""Values of rule files, checked: each function gives a value of the wanted kind or says where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dowbench.errors import closest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Path = tuple[str | int, ...]
"""Keys and indexes from the root of a rule file down to a value."""


class FaultError(Exception):
    """Something wrong in a rule file, at ``at``; becomes a ``RuleError`` once the file is known."""

    def __init__(self, message: str, at: Path) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


def near(word: str, known: Iterable[str]) -> str:
    """What was probably meant, or what there is, as the end of an error message."""
    names = sorted(known)
    guess = closest(word, names)
    known_names = f"known: {', '.join(names)}" if names else "there is none"
    return f"; did you mean `{guess}`?" if guess else f" ({known_names})"


def mapping(value: Any, at: Path, keys: Iterable[str], required: Iterable[str] = ()) -> dict[str, Any]:
    """``value`` as a mapping with only these keys."""
    if not isinstance(value, dict):
        raise FaultError(f"expected a mapping, found {kind_of(value)}", at)
    known = frozenset(keys)
    for key in value:
        if key not in known:
            raise FaultError(f"unknown key `{key}`{near(key, known)}", (*at, key))
    for key in required:
        if key not in value:
            raise FaultError(f"`{key}` is missing", at)
    return value


def text(value: Any, at: Path) -> str:
    """``value`` as text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise FaultError(f"expected text, found {kind_of(value)}", at)
    return value.strip()


def texts(value: Any, at: Path) -> tuple[str, ...]:
    """``value`` as a list of texts; one text is a list of one."""
    if isinstance(value, str):
        return (text(value, at),)
    if not isinstance(value, list):
        raise FaultError(f"expected text or a list of texts, found {kind_of(value)}", at)
    if set(map(type, value)) == {str} and all(value):  # nearly always
        return tuple(value)
    return tuple(text(item, (*at, i)) for i, item in enumerate(value))


def choice(value: Any, at: Path, known: Sequence[str]) -> Any:
    """``value`` as one of ``known``."""
    if not isinstance(value, str) or value not in known:
        found = f"`{value}`" if isinstance(value, str) else kind_of(value)
        raise FaultError(f"expected one of {', '.join(known)}, found {found}", at)
    return value


def choices(value: Any, at: Path, known: Sequence[str]) -> frozenset[str]:
    """``value`` as some of ``known``; one text is a list of one."""
    if isinstance(value, list):
        return frozenset(choice(item, (*at, i), known) for i, item in enumerate(value))
    return frozenset({choice(value, at, known)})


def boolean(value: Any, at: Path) -> bool:
    """``value`` as true or false."""
    if not isinstance(value, bool):
        raise FaultError(f"expected true or false, found {kind_of(value)}", at)
    return value


def number(value: Any, at: Path) -> float | int:
    """``value`` as a number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise FaultError(f"expected a number, found {kind_of(value)}", at)
    return value


def kind_of(value: Any) -> str:
    """What a value is, in the words of an error message."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"text `{value}`" if len(value) < 40 else "text"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    return "a list" if isinstance(value, list) else "a mapping"
