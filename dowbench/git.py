"""What git knows, asked without letting a repository's own configuration run anything or reach a network."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from dowbench.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

PATIENCE = 120.0
"""Seconds that git may take for an answer. A repository that somebody unpacked may hold pipes, which git waits for."""
_LINK, _SUBMODULE = b"120000", b"160000"
_SETTINGS = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "protocol.allow=never")
_ENVIRONMENT = {"GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


def root(folder: Path) -> Path | None:
    """The work tree that ``folder`` lies in, found without starting git."""
    # os.path answers "no" where a folder is closed to us and pathlib raises.
    return next((parent for parent in (folder, *folder.parents) if os.path.exists(parent / ".git")), None)  # noqa: PTH110


class Tracked(NamedTuple):
    """What git tracks below a folder, relative to it."""

    files: list[str]
    submodules: list[str]
    links: list[str]
    """Those of ``files`` that are symbolic links."""


def tracked(folder: Path) -> Tracked | None:
    """What git tracks below ``folder``; ``None`` outside a work tree or without git."""
    if root(folder) is None:
        return None
    try:
        output = _run(folder, "ls-files", "-z", "--cached", "--stage")
    except UsageError:
        return None
    found = Tracked([], [], [])
    for entry in filter(None, output.split(b"\0")):
        mode, name = entry.split(b" ", 1)[0], os.fsdecode(entry.split(b"\t", 1)[1])
        (found.submodules if mode == _SUBMODULE else found.files).append(name)
        if mode == _LINK:
            found.links.append(name)
    return found


def contents(folder: Path, revision: str, files: Iterable[str]) -> dict[str, bytes]:
    """The bytes of ``files`` (relative to ``folder``) at ``revision``; a file that was not there is left out.

    Where ``HEAD`` does not descend from the revision, at their common ancestor. A link is what it led to; a file that
    git sees as renamed since then is what it was under its earlier name. Raises ``UsageError`` outside a work tree,
    without git, and for an unknown revision.
    """
    top = root(folder)
    if top is None:
        raise UsageError("--changed-since: the working directory is in no git work tree, so nothing can be compared")
    commit = _fork(folder, _commit(folder, top, revision))
    prefix = folder.resolve().relative_to(top.resolve()).as_posix()
    names = {file: os.path.normpath(f"{prefix}/{file}").replace(os.sep, "/") for file in files}
    names = {file: name for file, name in names.items() if not name.startswith("../")}
    found = _blobs(folder, commit, names)
    if len(found) < len(names):
        earlier = _renamed(folder, commit)
        others = {file: earlier[name] for file, name in names.items() if file not in found and name in earlier}
        found |= _blobs(folder, commit, others)
    return found


def _commit(folder: Path, top: Path, revision: str) -> bytes:
    try:
        return _run(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").strip()
    except _FailedError:
        _run(folder, "rev-parse", "--git-dir")  # where git cannot work at all, this says why
        shallow = "; this clone is shallow, fetch its history first (actions/checkout: fetch-depth: 0)"
        hint = shallow if (top / ".git" / "shallow").exists() else ""
        raise UsageError(f"--changed-since: {revision!r} is no revision of this repository{hint}") from None


def _fork(folder: Path, commit: bytes) -> bytes:
    """Where the history of ``HEAD`` left that of a commit; the commit itself where they share none that is here."""
    try:
        return _run(folder, "merge-base", commit.decode(), "HEAD").strip()
    except _FailedError:
        return commit


def _blobs(folder: Path, commit: bytes, names: Mapping[str, str]) -> dict[str, bytes]:
    """The files called ``names`` (from the top) in a commit; one that is not there is left out."""
    found: dict[str, bytes] = {}
    asked = {file: commit + b":" + os.fsencode(name) for file, name in names.items()}
    # Only for such a name: git knows -z since 2.38.
    end, options = (b"\0", ["-z"]) if any("\n" in name for name in names.values()) else (b"\n", [])
    answer = _run(
        folder, "cat-file", "--batch", "--follow-symlinks", *options, given=b"".join(a + end for a in asked.values())
    )
    at = 0
    for file, name in asked.items():
        missing = name + b" missing\n"
        if answer.startswith(missing, at):
            at += len(missing)
            continue
        line = answer.index(b"\n", at)
        header, at = answer[at:line].split(b" "), line + 1
        size = int(header[-1])  # of a blob or a tree, or of the text that says where a link leads instead
        if header[1] == b"blob":
            found[file] = answer[at : at + size]
        at += size + 1
    return found


def _renamed(folder: Path, commit: bytes) -> dict[str, str]:
    """Names of files now and in a commit, both from the top, where git sees that they differ."""
    # The index and not the work tree, for which git would run the filters of the repository's configuration.
    options = ("--cached", "--find-renames", "--diff-filter=R", "--name-status", "-z")
    parts = _run(folder, "diff-index", *options, commit.decode(), "--").split(b"\0")
    pairs = zip(parts[1::3], parts[2::3], strict=False)
    return {os.fsdecode(new): os.fsdecode(old) for old, new in pairs}


class _FailedError(UsageError):
    """Git ran, and said no."""


def _run(folder: Path, *arguments: str, given: bytes = b"") -> bytes:
    import subprocess

    # In a container the work tree belongs to someone else, whom git would otherwise refuse to serve.
    safe = f"safe.directory={(root(folder.resolve()) or folder).as_posix()}"
    where = ("-C", str(folder))
    try:
        done = subprocess.run(
            [_program(), *(part for setting in (*_SETTINGS, safe) for part in ("-c", setting)), *where, *arguments],
            input=given,
            capture_output=True,
            check=False,
            timeout=PATIENCE,
            env={**os.environ, **_ENVIRONMENT},
        )
    except OSError as error:
        raise UsageError(f"git is needed and cannot be run: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"git {arguments[0]}: no answer in {PATIENCE:g} seconds") from None
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().splitlines()
        detail = reason[-1] if reason else f"exit status {done.returncode}"
        raise _FailedError(f"git {arguments[0]}: {detail}")
    return done.stdout


def _program() -> str:
    """Where git is. A folder on PATH that depends on the working directory could be the scanned one."""
    for folder in filter(os.path.isabs, os.get_exec_path()):
        for name in ("git", "git.exe"):
            if os.access(program := os.path.join(folder, name), os.X_OK):  # noqa: PTH118
                return program
    raise UsageError("git is needed and is not installed")
