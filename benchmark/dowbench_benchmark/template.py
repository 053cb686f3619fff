"""Texts with ``{placeholders}``: names of lower-case letters and ``_``, so that JSON may stand in a text as it is."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dowbench_benchmark.located import Node

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


def placeholders(template: str) -> tuple[str, ...]:
    """The names that stand for something in ``template``."""
    return tuple(_PLACEHOLDER.findall(template))


def check(node: Node, known: Iterable[str], what: str = "stands for nothing here") -> str:
    """The text of ``node``, with no placeholder but the ``known``, and each of them closed. Raises a located error."""
    text, known = node.text(), sorted(known)
    there = f"known: {', '.join(known)}" if known else "there are no placeholders here"
    for name in placeholders(text):
        if name not in known:
            node.fail(f"{{{name}}} {what}; {there}")
    opened = re.search(r"\{(?:" + "|".join(known) + r")\b(?!\})[^}\s]{0,20}\}?", text) if known else None
    if opened is not None:
        node.fail(f"{opened[0]!r} is no placeholder: a name is followed by '}}', without a format")
    return text


def fill(template: str, values: Mapping[str, Any], *, limit: int | None = 80) -> str:
    """``template`` with every placeholder replaced, unknown ones by nothing.

    At most ``limit`` characters of a value are shown, so that what a model sends cannot blow up what it gets.
    """
    return _PLACEHOLDER.sub(lambda match: plain(values.get(match[1], ""))[:limit], template)


def plain(value: Any) -> str:
    """A value as a reader would write it: text as it is, ``3.0`` as ``3``, everything else as JSON."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
