"""What the commands print: the names in it come from strangers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dowbench import output
from dowbench.report.escape import inert, visible

if TYPE_CHECKING:
    from collections.abc import Iterable


def say(*lines: str) -> None:
    """Lines to standard output, hidden characters escaped. Raises ``UsageError`` where it takes nothing."""
    output.write_out(inert("\n".join(visible(part) for line in lines for part in line.split("\n"))) + "\n")


def note(lines: Iterable[str]) -> None:
    """Notes to standard error, each on its line."""
    for line in lines:
        warn(f"note: {line}")


def warn(line: str) -> None:
    """A line to standard error."""
    click.echo(inert(visible(line)), err=True)
