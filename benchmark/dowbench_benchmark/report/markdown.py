"""The report as GitHub-flavoured Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowbench.report.escape import markdown
from dowbench_benchmark import brief
from dowbench_benchmark.report import tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dowbench_benchmark.report.data import Report
    from dowbench_benchmark.report.tables import Table


def render(report: Report) -> str:
    """The whole page; the text ends with a newline."""
    return "\n\n".join(_blocks(report)) + "\n"


def _blocks(report: Report) -> Iterator[str]:
    banner = brief.banner(simulated=report.simulated, replayed=report.run.replayed)
    yield f"# Benchmark run {markdown(report.run.name, 200)}"
    if banner:
        yield f"> **{markdown(banner)}**"
    yield from (markdown(warning) for warning in tables.warnings(report))
    yield "\n".join(f"- **{markdown(term)}**: {markdown(meaning)}" for term, meaning in tables.TERMS)
    for model in report.models:
        yield f"## Model {markdown(model, 200)}"
        yield from _table(tables.defenses(report, model), report)
        for table in (tables.against_none(report, model), tables.controls(report, model)):
            if table:
                yield from _table(table, report)
        for cell in report.cells(model):
            yield from _table(tables.attacks(report, model, cell["defense"]), report)
        yield from _table(tables.curve(report, model, every=7), report)
        by_turn = tables.turns(report, model)
        if by_turn:
            yield from _table(by_turn, report)
    yield "## How the figures were made"
    yield "\n".join(f"- {markdown(line)}" for line in tables.methods(report))
    yield "\n".join(f"- {markdown(name)}: {markdown(value, 1000)}" for name, value in tables.facts(report))
    if banner:
        yield f"> **{markdown(banner)}**"


def _table(table: Table, report: Report) -> Iterator[str]:
    mark = "SIMULATED: " if report.simulated else ""
    yield f"### {mark}{markdown(table.title, 200)}"
    if not table.rows:
        yield "Nothing was recorded for this table."
        return
    rule = ["---" if place < table.words else "---:" for place in range(len(table.head))]
    rows = [[markdown(cell, 200) for cell in row] for row in (table.head, *table.rows)]
    yield "\n".join(f"| {' | '.join(row)} |" for row in (rows[0], rule, *rows[1:]))
    if table.note:
        yield markdown(table.note)
