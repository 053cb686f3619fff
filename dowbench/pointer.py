"""JSON pointers (RFC 6901): how a place in a document is named. The empty pointer is the whole document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def join(pointer: str, *tokens: str | int) -> str:
    """The pointer of what ``tokens``, keys and positions, lead to below ``pointer``."""
    for token in tokens:
        text = token if isinstance(token, str) else str(token)
        if "~" in text or "/" in text:
            text = text.replace("~", "~0").replace("/", "~1")
        pointer = f"{pointer}/{text}"
    return pointer


def split(pointer: str) -> list[str]:
    """The unescaped tokens of a pointer."""
    if "~" not in pointer:
        return pointer.split("/")[1:]
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]


def parent(pointer: str) -> str:
    """The pointer of what holds the value at ``pointer``; the whole document holds itself."""
    return pointer.rpartition("/")[0]


def upwards(pointer: str) -> Iterator[str]:
    """``pointer``, then that of each holder up to the whole document."""
    yield pointer
    while pointer:
        pointer = parent(pointer)
        yield pointer


def follow(value: Any, tokens: Iterable[str]) -> tuple[Any] | None:
    """What the unescaped ``tokens`` of a pointer lead to below ``value``, as ``step`` gives it."""
    found = (value,)
    for token in tokens:
        after = step(found[0], token)
        if after is None:
            return None
        found = after
    return found


def step(value: Any, token: str) -> tuple[Any] | None:
    """What ``token`` leads to below ``value``, in a tuple since it may be ``None``; ``None`` where it leads nowhere."""
    if isinstance(value, dict):
        return (value[token],) if token in value else None
    # More digits than these are no position, and int() may refuse them.
    if isinstance(value, list) and token.isascii() and token.isdecimal() and len(token) < 10:
        return (value[int(token)],) if int(token) < len(value) else None
    return None
