"""Reports: one module a format, each with ``render(result, options) -> str``, imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from dowbench.model import ScanResult

REPORTS: dict[str, str] = {
    "text": "dowbench.report.text",
    "markdown": "dowbench.report.markdown",
    "json": "dowbench.report.json_report",
    "sarif": "dowbench.report.sarif",
    "github": "dowbench.report.github",
}


class ReportOptions(NamedTuple):
    """How a report is written down; never what is in it."""

    colour: bool = False
    verbose: bool = False
    """Show everything: long lists in full, skipped files one by one."""
    messages: bool = True
    """Text only: repeat errors and warnings in the report. False where they are printed beside it."""
    width: int = 80
    """Text only: columns of the page."""
    root: Path = Path()
    """The folder that the paths in the result are relative to."""


class Report(Protocol):
    """What a report module holds."""

    def render(self, result: ScanResult, options: ReportOptions) -> str:
        """The whole report, ending in a newline."""


def render(name: str, result: ScanResult, options: ReportOptions) -> str:
    """The report called ``name``, a key of ``REPORTS``. Only ``github`` holds workflow commands."""
    report = cast("Report", import_module(REPORTS[name])).render(result, options)
    if name == "github":
        return report
    from dowbench.report.escape import inert

    return inert(report)
