"""Where the data that travels with the package lies: in the wheel beside the code, in a checkout beside the package."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import dowbench

_PACKAGE = Path(__file__).resolve().parent


def data_directory(name: str) -> Path:
    """The directory ``scenarios``, ``attacks`` or ``configs``."""
    installed = _PACKAGE / "data" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def data_file(name: str) -> Path:
    """A single file, such as ``pricing.yaml``."""
    installed = _PACKAGE / "data" / name
    return installed if installed.is_file() else _PACKAGE.parent.parent / name


@cache
def rule_ids() -> frozenset[str]:
    """Ids of the scanner's own pack of rules; empty where it is not at hand."""
    package = Path(dowbench.__file__).resolve().parent
    installed = package / "data" / "rules"
    directory = installed if installed.is_dir() else package.parent / "rules"
    try:
        files = json.loads((directory / "pack.json").read_bytes())
    except FileNotFoundError:
        return frozenset()
    return frozenset(file["value"]["id"] for file in files.values() if "id" in file["value"])
