"""Where the data that travels with the package lies: in the wheel beside the code, in a checkout beside the package."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def data_directory(name: str) -> Path:
    """The directory ``scenarios``, ``attacks`` or ``configs``."""
    installed = _PACKAGE / "data" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def data_file(name: str) -> Path:
    """A single file, such as ``pricing.yaml``."""
    installed = _PACKAGE / "data" / name
    return installed if installed.is_file() else _PACKAGE.parent.parent / name
