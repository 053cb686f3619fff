"""PATHS, globs, folders or a git work tree → the files to scan. What is passed over is said, with its reason."""

from __future__ import annotations

# os.path where a folder may be closed to us: it answers "no" where pathlib raises PermissionError.
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dowbench.globs import compile_part, is_pattern, onward_from, passing
from dowbench.inputs import is_readable, kind, shown
from dowbench.model import Note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dowbench.globs import Globs

STDIN = "-"
STDIN_NAME = "<stdin>"
SUFFIXES = (".json", ".yaml", ".yml")
"""What a walk looks at. A file that is named may be called anything."""
MOST_WARNINGS = 10
"""Of files in folders that are not opened. Where links lead to what is fetched later, there are thousands."""
SKIPPED_FOLDERS = frozenset(
    (".git", ".hg", ".svn", "node_modules", "__pycache__", "site-packages", ".tox", ".nox", ".mypy_cache")
)


class Target(NamedTuple):
    """A file to scan."""

    file: str
    """Where to open it; ``-`` is standard input."""
    path: str
    """How reports call it: relative to the working directory, with forward slashes."""
    origins: tuple[str, ...]
    """The arguments that led to it."""
    size: int = 0
    """In bytes, when it was found."""
    named: bool = True
    """Whether one of them is this file itself, and not a folder or a glob around it."""
    links: int = 0
    """How far its name is from the file's own: 1 through a folder that is a link, 2 where it is a link itself."""


class Container(NamedTuple):
    """An argument that is a folder or a glob, or what git tracks."""

    argument: str
    empty: str = "no tool definitions found here"
    """What to say if no tools come of it."""


class Discovery(NamedTuple):
    """What the arguments stand for."""

    targets: tuple[Target, ...] = ()
    skipped: tuple[Note, ...] = ()
    errors: tuple[Note, ...] = ()
    warnings: tuple[Note, ...] = ()
    """Of what was skipped, what may well have been meant to be scanned."""
    containers: tuple[Container, ...] = ()


def discover(arguments: Iterable[str], *, exclude: Globs) -> Discovery:
    """The files that ``arguments`` (files, folders, globs, ``-``) stand for, each once, in order.

    Without arguments: what git tracks below the working directory, or a walk outside git.
    """
    finder = _Finder(exclude)
    arguments = tuple(arguments)
    for argument in arguments:
        finder.argument(argument)
    if not arguments:
        finder.tracked()
    return Discovery(
        targets=tuple(finder.targets.values()),
        skipped=(*finder.skipped, *finder.doubles()),
        errors=tuple(finder.errors),
        warnings=tuple(_few([*finder.unopened, *finder.hidden()])),
        containers=tuple(finder.containers),
    )


def _few(notes: Sequence[Note]) -> Iterator[Note]:
    """The first ``MOST_WARNINGS`` of ``notes``, and how many more there are."""
    yield from notes[:MOST_WARNINGS]
    if (more := len(notes) - MOST_WARNINGS) > 0:
        yield Note(os.curdir, f"and {more} more files like these were not scanned; --verbose names them")


class _Finder:
    def __init__(self, exclude: Globs) -> None:
        self.targets: dict[str, Target] = {}
        self.skipped: list[Note] = []
        self.errors: list[Note] = []
        self.unopened: list[Note] = []
        self.containers: list[Container] = []
        self._links: dict[str, str] = {}
        self._folder_links: dict[str, str] = {}
        self._walked: set[str] = set()
        self._matched_in: set[str] = set()
        self._exclude = exclude

    def doubles(self) -> Iterator[Note]:
        """Links that led to a file which is scanned under another name."""
        for link, file in self._links.items():
            path = self.targets[file].path
            if link != path:
                yield Note(link, f"symbolic link to a file that is scanned as {path}")

    def hidden(self) -> Iterator[Note]:
        """Links to folders that are not looked into under another name, and do not lead up again."""
        if not self._folder_links:
            return
        walked, matched_in = ({*map(os.path.realpath, folders)} for folders in (self._walked, self._matched_in))
        for link, real in self._folder_links.items():
            above = _upwards(os.path.realpath(os.path.dirname(link)))  # noqa: PTH120
            if real not in above and real not in matched_in and walked.isdisjoint(_upwards(real)):
                yield Note(shown(link), f"not scanned: {_FOLDER_LINK}; name it to scan what is in it")

    def argument(self, argument: str) -> None:
        if argument == STDIN:
            self.targets.setdefault(STDIN, Target(STDIN, STDIN_NAME, (argument,)))
            return
        if not argument:
            self.errors.append(Note("''", "cannot be read: the path is empty"))
            return
        try:
            status = os.stat(argument)  # noqa: PTH116
        except (OSError, ValueError) as error:
            self._missing(argument, error)
            return
        if stat.S_ISDIR(status.st_mode):
            if self._exclude.match(argument):
                self.skipped.append(Note(shown(argument), "excluded by the configuration"))
                return
            self.containers.append(Container(argument))
            self._walk(argument, argument)
        else:
            self._file(argument, argument, status, named=True)

    def _missing(self, argument: str, error: OSError | ValueError) -> None:
        if not is_pattern(argument):
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            self.errors.append(Note(shown(argument), f"cannot be read: {reason}"))
            return
        drive, path = os.path.splitdrive(argument.replace(os.sep, "/"))
        root = "/" if path.startswith("/") else ""
        parts = [part for part in path.split("/") if part not in ("", os.curdir)]
        literal = next(n for n, part in enumerate(parts) if is_pattern(part))
        folder = drive + root + "/".join(parts[:literal]) or os.curdir
        matches = list(self._matching(folder, parts[literal:])) if os.path.isdir(folder) else []  # noqa: PTH112
        if not matches:
            self.errors.append(Note(shown(argument), "no file matches this pattern"))
        else:
            self.containers.append(Container(argument))
        for match in matches:
            if os.path.isdir(match) and not os.path.islink(match):  # noqa: PTH112, PTH114
                self._walk(match, argument)
            else:
                self._maybe(match, argument, folder)

    def _matching(self, folder: str, parts: Sequence[str]) -> Iterator[str]:
        """What in ``folder`` a pattern's ``parts`` match. Each folder is looked into once, and no link is followed."""
        pattern = [compile_part(part) for part in parts]
        hidden = any(part.startswith(".") for part in parts)
        pending = [(folder, passing({0}, pattern))]
        while pending:
            folder, reached = pending.pop()
            if len(pattern) in reached:
                yield folder
                continue
            try:
                with os.scandir(folder) as entries:
                    inside = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                self._unreadable(error)
                continue
            self._matched_in.add(folder)
            below = []
            for entry in inside:
                if entry.name.startswith(".") and not hidden:
                    continue
                onward = onward_from(reached, entry.name, pattern)
                if len(pattern) in onward:
                    yield _join(folder, entry.name)
                elif onward and os.path.isdir(_join(folder, entry.name)):  # noqa: PTH112
                    anywhere = None in pattern or entry.is_symlink()
                    if not (anywhere and self._passed_over(folder, entry.name)):
                        below.append((_join(folder, entry.name), onward))
            pending += reversed(below)

    def tracked(self) -> None:
        """What git tracks here; without git, a walk."""
        from dowbench import git

        tracked = git.tracked(Path.cwd())
        if tracked is None:
            self.containers.append(Container(os.curdir))
            self._walk(os.curdir, os.curdir)
            return
        files, submodules, links = tracked
        suited = [file for file in files if file.lower().endswith(SUFFIXES)]
        self.containers.append(Container(os.curdir, f"{_tracking(len(files), len(suited))}; {_INSTEAD}"))
        for folder in submodules:
            self._unopened(folder, "a git submodule; name it to scan what is in it")
        self._walked.add(os.curdir)
        for link in links:
            if not link.lower().endswith(SUFFIXES) and os.path.isdir(link):  # noqa: PTH112
                self._passed_over(*os.path.split(link))
        for file in suited:
            self._maybe(file, os.curdir, os.curdir)

    def _walk(self, folder: str, origin: str) -> None:
        self._walked.add(folder)
        for parent, folders, files in os.walk(folder, onerror=self._unreadable):
            folders[:] = sorted(name for name in folders if not self._passed_over(parent, name))
            for name in sorted(files):
                if name.lower().endswith(SUFFIXES):
                    self._maybe(_join(parent, name), origin, folder)

    def _passed_over(self, parent: str, name: str) -> bool:
        folder = _join(parent, name)
        if name in SKIPPED_FOLDERS or os.path.exists(_join(folder, "pyvenv.cfg")):  # noqa: PTH110
            return True
        if self._exclude.match(folder):
            self.skipped.append(Note(shown(folder), "excluded by the configuration"))
            return True
        if os.path.islink(folder):  # noqa: PTH114
            real = os.path.realpath(folder)
            if os.path.basename(real) not in SKIPPED_FOLDERS and folder not in self._folder_links:  # noqa: PTH119
                self.skipped.append(Note(shown(folder), _FOLDER_LINK))
                self._folder_links[folder] = real
            return True
        return False

    def _unreadable(self, error: OSError) -> None:
        self.errors.append(Note(shown(str(error.filename)), f"folder cannot be read: {error.strerror}"))

    def _maybe(self, file: str, origin: str, root: str) -> None:
        """A file that was not named: scanned if it is a regular one inside ``root``."""
        try:
            status = os.lstat(file)
        except FileNotFoundError as error:  # git tracks it, and it is not checked out
            self.skipped.append(Note(shown(file), f"cannot be opened: {error.strerror}"))
            return
        except OSError as error:
            self.errors.append(Note(shown(file), f"cannot be opened: {error.strerror}"))
            return
        if stat.S_ISLNK(status.st_mode):
            if os.path.isdir(file):  # noqa: PTH112
                self._passed_over(*os.path.split(file))
                return
            if not _inside(file, root):
                self._unopened(file, "symbolic link out of the scanned folder, not followed")
                return
            try:
                status = os.stat(file)  # noqa: PTH116
            except OSError as error:
                self._unopened(file, f"symbolic link that leads nowhere: {error.strerror}")
                return
        if stat.S_ISREG(status.st_mode):
            self._file(file, origin, status, named=False)
        elif not stat.S_ISDIR(status.st_mode):
            self._unopened(file, f"{kind(status.st_mode)}, not a regular file")

    def _unopened(self, file: str, why: str) -> None:
        if self._exclude.match(file):
            self.skipped.append(Note(shown(file), "excluded by the configuration"))
            return
        self.skipped.append(Note(shown(file), why))
        self.unopened.append(Note(shown(file), f"not scanned: {why}"))

    def _file(self, file: str, origin: str, status: os.stat_result, *, named: bool) -> None:
        mode = status.st_mode
        if self._exclude.match(file):
            self.skipped.append(Note(shown(file), "excluded by the configuration"))
        elif not stat.S_ISREG(mode) and not (named and is_readable(file, mode)):
            self.errors.append(Note(shown(file), f"{kind(mode)}, not a regular file"))
        else:
            key = os.path.realpath(file)
            target = Target(file, shown(file), (origin,), status.st_size, named, _links(file, key))
            if target.links > 1:
                self._links[target.path] = key
            known = self.targets.get(key)
            self.targets[key] = target if known is None else _joined(known, target)


def _links(file: str, real: str) -> int:
    if os.path.islink(file):  # noqa: PTH114
        return 2
    return int(os.path.abspath(file) != real)  # noqa: PTH100


def _joined(one: Target, other: Target) -> Target:
    """Two ways to one file. It goes by its own name: what is said of a link's name must not hold for the file."""
    best = min(one, other, key=lambda target: (target.links, not target.named))
    return best._replace(origins=tuple(dict.fromkeys((*one.origins, *other.origins))), named=one.named or other.named)


_FOLDER_LINK = "symbolic link to a folder, not followed"
_INSTEAD = "name what to scan, such as . for all that is in this folder, or git add it"


def _tracking(files: int, suited: int) -> str:
    if not files:
        return "git tracks no files here"
    if not suited:
        return f"no JSON or YAML is among what git tracks here ({files} file{'s' * (files > 1)})"
    return f"no tool definitions in the JSON and YAML that git tracks here ({suited} file{'s' * (suited > 1)})"


def _join(parent: str, name: str) -> str:
    return name if parent == os.curdir else os.path.join(parent, name)  # noqa: PTH118


def _upwards(folder: str) -> Iterator[str]:
    """``folder`` and what it lies in."""
    yield folder
    yield from map(str, Path(folder).parents)


def _inside(file: str, root: str) -> bool:
    target, folder = os.path.realpath(file), os.path.realpath(root)
    return target == folder or target.startswith(folder.rstrip(os.sep) + os.sep)
