"""The settings of a scan, and where a file with them is looked for."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from dowbench import git
from dowbench.errors import UsageError
from dowbench.inputs import read_settings, shown
from dowbench.pointer import split

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dowbench.model import Confidence, Severity, Tier

FILENAMES = ("dowbench.yaml", "dowbench.yml")
ALL = "all"
"""Every rule, where an ignore or an exception names rules."""


class Waiver(NamedTuple):
    """One of the config's ``exceptions``: findings not to be reported, why, and until when."""

    rules: tuple[str, ...]
    reason: str
    files: tuple[str, ...] = ()
    """Globs relative to the folder of the config; empty: all files."""
    tools: tuple[str, ...] = ()
    """Names; empty: all tools."""
    until: str | None = None
    """Last day, ``YYYY-MM-DD``."""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """Every setting of a scan, with its default. Paths and globs are relative to ``base``."""

    files: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    loader: str = "auto"
    skip_unrecognized: bool = False
    fail_on: Severity | Literal["none"] = "none"
    tier: Tier = "default"
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    min_severity: Severity = "low"
    min_confidence: Confidence = "low"
    baseline: str | None = None
    exceptions: tuple[Waiver, ...] = ()
    rule_packs: tuple[str, ...] = ()
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    source_limits: Mapping[str, int] = field(default_factory=dict)
    base: Path = Path()
    """Folder of the file that was read; the working directory without one."""
    path: str | None = None
    """The file that was read, for messages."""
    unread: tuple[str, ...] = ()
    """Configurations beside it that were not, because it was found first."""
    lines: Mapping[str, int] = field(default_factory=dict)
    """Line of a setting by its JSON pointer, for messages about values that only a scan can judge."""
    overruled: Config | None = None
    """What the file says, where the command line says otherwise: it must make sense all the same."""

    def under(self, **given: Any) -> Config:
        """These settings under what a command says instead."""
        lines = {pointer: line for pointer, line in self.lines.items() if split(pointer)[0] not in given}
        return replace(self, **given, lines=lines, overruled=self)

    def error(self, message: str, pointer: str) -> UsageError:
        """An error about the setting at ``pointer``, which the file has or the command line."""
        line = self.lines.get(pointer)
        return UsageError(message, path=None if line is None else self.path, line=line)


def find(start: Path) -> Path | None:
    """The nearest ``dowbench.yaml`` or ``pyproject.toml`` with ``[tool.dowbench]``, going up from ``start``.

    The search ends at the root of a git work tree, at the home directory, or at the root of the file system. Raises
    ``UsageError`` for what cannot be read, and for a link out of the work tree, or out of its folder where there is
    none: a stranger's configuration must not be a file of the machine, of which messages would then tell.
    """
    home = Path.home() if str(Path("~").expanduser()) != "~" else None
    top = git.root(start)
    for folder in (start, *start.parents):
        for name in (*FILENAMES, "pyproject.toml"):
            file = folder / name
            if not os.path.lexists(file):
                continue
            if name not in FILENAMES and not _has_table(file):
                continue
            target, inside = os.path.realpath(file), os.path.realpath(top or folder)
            if os.path.commonpath((target, inside)) != inside:
                message = "a link out of the repository is not followed; name it with --config"
                raise UsageError(message, path=shown(str(file)))
            return file
        if folder in (home, top):
            return None
    return None


def unread(found: Path) -> tuple[str, ...]:
    """Which configurations ``find`` did not look at for the one that it ``found`` in the same folder."""
    names = (*FILENAMES, "pyproject.toml")
    others = [found.with_name(name) for name in names[names.index(found.name) + 1 :]]
    return tuple(shown(str(file)) for file in others if os.path.lexists(file) and _is_meant(file))


def _is_meant(file: Path) -> bool:
    try:
        return file.name in FILENAMES or _has_table(file)
    except UsageError:  # not of use now
        return False


def _has_table(pyproject: Path) -> bool:
    try:
        data = read_settings(pyproject, name := shown(str(pyproject)))
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", path=name) from None
    if b"dowbench" not in data:
        return False
    import tomllib  # slow to import

    try:
        tool = tomllib.loads(data.decode()).get("tool")
    except (ValueError, RecursionError):
        return b"tool.dowbench" in data  # which is an error once it is read
    return isinstance(tool, dict) and "dowbench" in tool


def is_date(text: str) -> bool:
    """Whether ``text`` is a calendar date written ``YYYY-MM-DD``."""
    import datetime

    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
