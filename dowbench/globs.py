"""Patterns of paths. The pattern and the path may both be a stranger's, so that matching must not backtrack."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from dowbench.inputs import relative

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class Globs:
    """Patterns as of ``.gitignore`` without its negation: ``**`` crosses folders, no slash means any depth.

    A pattern that matches a folder matches everything in it.
    """

    def __init__(self, patterns: Sequence[str], base: Path) -> None:
        self._base = str(base.absolute())
        self._patterns = [_compiled(pattern) for pattern in patterns]

    def match(self, file: str) -> bool:
        """Whether ``file``, as one opens it, is matched."""
        if not self._patterns:
            return False
        names = relative(file, self._base).split("/")
        return any(_covers(pattern, names) for pattern in self._patterns)


def fault(pattern: str) -> str | None:
    """Why ``pattern`` does not match what it seems to; ``None`` where it does."""
    if pattern.startswith("!"):
        return "a pattern cannot be negated"
    if "\\" in pattern and os.sep == "/":
        return "a backslash escapes nothing, and folders are divided by /"
    if not set(pattern) - set("./"):
        return "it names no file"
    import fnmatch

    for part in pattern.split("/"):
        if "[" in re.sub(r"\[!?+\]?+[^\]]*+\]", "", part):
            return "a [ has no ]; [[] matches the character"
        if "(?!)" in fnmatch.translate(part):
            return "a range in [ ] holds no character"
    return None


Pattern = list[re.Pattern[str] | None]
"""The parts of a pattern between slashes; ``None`` is ``**``."""


def _compiled(pattern: str) -> Pattern:
    path = pattern.replace(os.sep, "/").removeprefix("./")
    parts = [compile_part(part) for part in path.split("/") if part not in ("", os.curdir)]
    return parts if "/" in path.rstrip("/") else [None, *parts]


def compile_part(part: str) -> re.Pattern[str] | None:
    """What stands between two slashes of a pattern."""
    import fnmatch

    return None if part == "**" else re.compile(fnmatch.translate(part))


def _covers(pattern: Pattern, names: Sequence[str]) -> bool:
    """Whether ``pattern`` matches the path of ``names`` or a folder on the way."""
    reached = passing({0}, pattern)
    for name in names:
        if len(pattern) in reached:
            return True
        reached = onward_from(reached, name, pattern)
    return len(pattern) in reached


def onward_from(reached: set[int], name: str, pattern: Pattern) -> set[int]:
    """Where in ``pattern`` one is behind ``name``, coming from any of ``reached``."""
    onward = set()
    for at in reached:
        part = pattern[at]
        if part is None:
            onward.add(at)
        elif part.match(name):
            onward.add(at + 1)
    return passing(onward, pattern)


def passing(reached: set[int], pattern: Pattern) -> set[int]:
    """``reached`` and what ``**`` lets one reach from there without a name."""
    for at in sorted(reached):
        while at < len(pattern) and pattern[at] is None:
            at += 1
            reached.add(at)
    return reached


def is_pattern(text: str) -> bool:
    """Whether ``text`` is more than the name of a file, unless a file has that name."""
    return re.search(r"[*?\[]", text) is not None
