"""Reports about a recorded run: pure functions of the files in its directory.

``data`` reads, ``tables`` says everything in words and figures, ``plots`` draws, ``markdown`` and ``html`` lay out.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from dowbench_benchmark.report import data

if TYPE_CHECKING:
    from pathlib import Path

FORMATS = {
    "markdown": "dowbench_benchmark.report.markdown",
    "html": "dowbench_benchmark.report.html",
}


def render(directory: Path, form: str) -> str:
    """The report about ``directory`` in one of ``FORMATS``. Raises a located ``DowbenchError`` for a broken run."""
    text: str = importlib.import_module(FORMATS[form]).render(data.read(directory))
    return text
