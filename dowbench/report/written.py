"""Whether a file is a report that an earlier scan wrote, so that the next one may replace it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from dowbench.inputs import open_regular
from dowbench.report.text import DISCLAIMER

if TYPE_CHECKING:
    from pathlib import Path

_END = f"{DISCLAIMER}\n".encode()
_BEGINNING = re.compile(
    rb'\{\s*"schema":\s*"dowbench\.scan/'
    rb'|\{\s*"\$schema":\s*"[^"]*",\s*"version":\s*"[^"]*",\s*"runs":\s*\[\s*'
    rb'\{\s*"tool":\s*\{\s*"driver":\s*\{\s*"name":\s*"dowbench"'
    rb"|## dowbench: |::(?:error|warning|notice) "
)
_ENOUGH = 1000
"""Bytes that the beginning of a report takes at most."""


def is_report(file: Path) -> bool:
    """Whether ``file`` is a report in one of the formats, or empty. Raises ``OSError``."""
    with open_regular(file) as stream:
        size = os.fstat(stream.fileno()).st_size
        beginning = stream.read(_ENOUGH)
        stream.seek(max(size - len(_END), 0))
        return not beginning or _BEGINNING.match(beginning) is not None or stream.read() == _END
