"""The report as one HTML file: styles and plots inside, no script, nothing that is loaded from elsewhere."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from dowbench.report.escape import visible
from dowbench_benchmark import brief
from dowbench_benchmark.report import plots, tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dowbench_benchmark.report.data import Report
    from dowbench_benchmark.report.plots import Plot
    from dowbench_benchmark.report.tables import Table

# Whatever a hostile name may get past the escaping, the browser loads nothing and runs nothing for it.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def render(report: Report) -> str:
    """The whole page; the text ends with a newline."""
    banner = brief.banner(simulated=report.simulated, replayed=report.run.replayed)
    mark = f"{banner.split(':')[0]} · " if banner else ""
    style = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
    head = (
        '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>{_text(mark + report.run.name, 200)} · dowbench</title>\n<style>\n{style}</style>"
    )
    body = "\n".join(_body(report, banner))
    return f'<!doctype html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{body}\n</body>\n</html>\n'


def _body(report: Report, banner: str | None) -> Iterator[str]:
    # A banner that stays in view: whoever scrolls to a figure still sees what it is.
    yield '<a class="skip" href="#content">Skip to the figures</a>'
    if banner:
        yield f'<aside class="banner" aria-label="What kind of figures these are">{_text(banner)}</aside>'
    yield f"<header><p>dowbench benchmark run</p><h1>{_text(report.run.name, 200)}</h1>"
    yield from (f'<p class="warning">{_text(warning)}</p>' for warning in tables.warnings(report))
    yield f"{_contents(report)}</header>"
    yield '<main id="content">'
    yield '<section aria-labelledby="terms"><h2 id="terms">What the words mean</h2>'
    yield f"{_definitions(tables.TERMS)}</section>"
    for place, model in enumerate(report.models):
        yield from _model(report, model, f"m{place}")
    yield '<section aria-labelledby="methods"><h2 id="methods">How the figures were made</h2><ul>'
    yield from (f"<li>{_text(line)}</li>" for line in tables.methods(report))
    yield f"</ul>{_definitions(tables.facts(report))}</section>"
    yield "</main>"
    if banner:
        yield f"<footer><p>{_text(banner)}</p></footer>"


def _contents(report: Report) -> str:
    links = [("terms", "What the words mean")]
    for place, model in enumerate(report.models):
        links += [
            (f"m{place}", f"Model {model}"),
            *((f"m{place}-p{n}", plot.title) for n, plot in _plots(report, place)),
        ]
    links.append(("methods", "How the figures were made"))
    items = "".join(f'<li><a href="#{target}">{_text(words, 200)}</a></li>' for target, words in links)
    return f'<nav aria-label="Contents"><ul>{items}</ul></nav>'


def _plots(report: Report, place: int) -> list[tuple[int, Plot]]:
    return list(enumerate(plots.all_of(report, report.models[place], f"m{place}")))


def _model(report: Report, model: str, identity: str) -> Iterator[str]:
    yield f'<section aria-labelledby="{identity}"><h2 id="{identity}">Model {_text(model, 200)}</h2>'
    yield _table(tables.defenses(report, model), f"{identity}-d")
    for name, table in (("n", tables.against_none(report, model)), ("k", tables.controls(report, model))):
        if table:
            yield _table(table, f"{identity}-{name}")
    by_plot = {
        "A of each attack": [tables.attacks(report, model, cell["defense"]) for cell in report.cells(model)],
        "Billed tokens of each turn": [table] if (table := tables.turns(report, model)) else [],
        "ASR over the threshold": [tables.curve(report, model)],
    }
    for number, plot in enumerate(plots.all_of(report, model, identity)):
        yield from _plot(plot, f"{identity}-p{number}", by_plot.get(plot.title, []))
    yield "</section>"


def _plot(plot: Plot, identity: str, equivalents: Sequence[Table]) -> Iterator[str]:
    yield f'<section><h3 id="{identity}">{_text(plot.title)}</h3>'
    yield f"<p>{_text(plot.about)}</p>"
    signs = "".join(f"<li>{sign} {_text(meaning)}</li>" for sign, meaning in plot.legend)
    yield f'<ul class="legend">{signs}</ul><div class="panels">'
    for heading, drawn in plot.panels:
        caption = f"<figcaption>{_text(heading, 120)}</figcaption>" if heading else ""
        yield f"<figure>{caption}{drawn}</figure>"
    yield "</div>"
    if equivalents:
        yield f"<details><summary>{_text(plot.title)}: the figures as a table</summary>"
        yield from (_table(table, f"{identity}-{place}") for place, table in enumerate(equivalents))
        yield "</details>"
    else:
        yield "<p>The tables of this model have the figures.</p>"
    yield "</section>"


def _table(table: Table, identity: str) -> str:
    if not table.rows:
        return f"<p>{_text(table.title, 200)}: nothing was recorded.</p>"
    head = "".join(
        f'<th scope="col"{_figure(place, table)}>{_text(name, 120)}</th>' for place, name in enumerate(table.head)
    )
    rows = []
    for row in table.rows:
        cells = [f'<th scope="row">{_text(row[0], 200)}</th>']
        cells += [f"<td{_figure(place, table)}>{_text(cell, 200)}</td>" for place, cell in enumerate(row) if place]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    note = f'<p class="note">{_text(table.note)}</p>' if table.note else ""
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-labelledby="{identity}">'
        f'<table><caption id="{identity}">{_text(table.title, 200)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>{note}"
    )


def _figure(place: int, table: Table) -> str:
    return ' class="figure"' if place >= table.words else ""


def _definitions(pairs: Sequence[tuple[str, str]]) -> str:
    rows = "".join(f"<div><dt>{_text(name)}</dt><dd>{_text(value, 1000)}</dd></div>" for name, value in pairs)
    return f"<dl>{rows}</dl>"


def _text(words: str, limit: int | None = None) -> str:
    return escape(visible(words, limit)).replace(" %", "&nbsp;%")
