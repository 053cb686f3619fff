"""Where a scanned file lies in its repository, which is how code scanning and annotations name it.

The paths of a result are relative to the working directory, and that may be a folder inside the repository.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from dowbench import git


@lru_cache(maxsize=8)
def _root(folder: str) -> str:
    """The work tree around ``folder``; ``folder`` itself where there is none."""
    return str(git.root(Path(folder)) or folder)


def repository_path(path: str, root: Path) -> str:
    """``path`` (relative to ``root``) relative to the repository's root, with forward slashes.

    Never empty and never absolute: a file outside the repository keeps its whole path without the leading separator,
    and standard input is ``stdin``.
    """
    if path == "<stdin>":
        return "stdin"
    folder = os.path.abspath(root)  # noqa: PTH100 - resolve() would follow links out of the repository
    full = os.path.normpath(os.path.join(folder, path))  # noqa: PTH118 - one string operation for each finding
    repository = _root(folder)
    if full.startswith(repository.rstrip(os.sep) + os.sep):
        full = full[len(repository.rstrip(os.sep)) + 1 :]
    return full.replace(os.sep, "/").lstrip("/") or "."
