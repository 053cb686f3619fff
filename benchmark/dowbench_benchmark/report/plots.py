"""The four plots of a model, each a list of panels as wide as a phone. Every figure in them is also in a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dowbench_benchmark import stats
from dowbench_benchmark.report import figures, svg, tables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dowbench_benchmark.model import Kind
    from dowbench_benchmark.report.data import Report
    from dowbench_benchmark.report.svg import Scale

_GUTTER = 150
"""Room for names at the left."""
_RIGHT = svg.WIDTH - 12
_ROW = 24
_MARKS: Mapping[Kind, Callable[[float, float, str], str]] = {
    "attack": svg.disc,
    "control": svg.square,
    "benign": svg.cross,
}


@dataclass(frozen=True, slots=True)
class Plot:
    """Panels with a common legend."""

    title: str
    about: str
    legend: Sequence[tuple[str, str]]
    """(a drawn sign, what it means)."""
    panels: Sequence[tuple[str, str]]
    """(heading, SVG)."""


def all_of(report: Report, model: str, prefix: str) -> list[Plot]:
    """Every plot that the run has figures for. ``prefix`` keeps the ids of a page apart."""
    made = [
        amplification(report, model, f"{prefix}-a"),
        turns(report, model, f"{prefix}-t"),
        success(report, model, f"{prefix}-s"),
        trade(report, model, f"{prefix}-c"),
    ]
    return [plot for plot in made if plot is not None]


# --------------------------------------------------------------------------------------- A of each attack


def amplification(report: Report, model: str, prefix: str) -> Plot | None:
    """A of every attack and control under every defense, with intervals, on one logarithmic scale."""
    rows = {cell["defense"]: report.attacks(model, cell["defense"]) for cell in report.cells(model)}
    values = [1.0, report.run.threshold]
    for found in rows.values():
        for row in found:
            for part in (row["attack"], row["control"]):
                values += [v for v in (part["median"], *(part["ratio"]["interval"] or ())) if v]
    if not any(rows.values()):
        return None
    scale = svg.log_scale(values, _GUTTER, _RIGHT)
    panels = [
        (f"Defense: {defense}", _amplification_panel(report, f"{prefix}{place}", defense, found, scale))
        for place, (defense, found) in enumerate(rows.items())
        if found
    ]
    return Plot(
        "A of each attack",
        f"On a logarithmic scale. The dashed line is the threshold, {report.run.threshold:g}; the thin one is 1, the "
        "cost of the task alone. Attacks stand in the order of A without a defense.",
        (
            (_sign(svg.disc(8, 8, "attack")), "attack, median A"),
            (_sign(svg.pointer(8, 8, "attack")), "attack, a lower bound; to the left: an upper bound"),
            (_sign(svg.square(8, 8, "control")), "control: neutral text of the same length"),
            (_sign(svg.whisker(1, 15, 8, "attack-line")), "95 % interval of the mean; an end without a bar is open"),
        ),
        panels,
    )


def _amplification_panel(
    report: Report, identity: str, defense: str, rows: Sequence[Mapping[str, Any]], scale: Scale
) -> str:
    bottom = 10 + _ROW * len(rows)
    body = [
        *_x_axis(scale, bottom, 7),
        svg.line(scale(1), 6, scale(1), bottom, "axis"),
        svg.line(scale(report.run.threshold), 6, scale(report.run.threshold), bottom, "threshold"),
    ]
    said = []
    for place, row in enumerate(rows):
        y = 10 + _ROW * (place + 0.5)
        attack, control = row["attack"], row["control"]
        body.append(svg.text(row["attack_id"], _GUTTER - 8, y + 4, "end", room=_GUTTER - 8))
        if control["median"]:
            body.append(_interval(control["ratio"]["interval"], scale, y + 5, "control-line"))
            body.append(svg.square(scale(control["median"]), y + 5, "control"))
        if attack["median"]:
            body.append(_interval(attack["ratio"]["interval"], scale, y - 3, "attack-line"))
            body.append(_median(attack, scale(attack["median"]), y - 3))
        said.append(f"{row['attack_id']} {figures.amplification(attack)}")
    body.append(svg.text("A (times the cost of the task)", (_GUTTER + _RIGHT) / 2, bottom + 34, "middle", "label"))
    return svg.figure(
        identity, bottom + 56, f"A of each attack, defense {defense}", "; ".join(said), "".join(body), _stamp(report)
    )


def _median(attack: Mapping[str, Any], x: float, y: float) -> str:
    """The median A of an attack; nothing where it is unknown, with bounds on both sides."""
    lower, upper = attack["median_is_lower_bound"], attack["median_is_upper_bound"]
    if lower and upper:
        return ""
    if lower or upper:
        return svg.pointer(x, y, "attack", left=upper)
    return svg.disc(x, y, "attack")


# ------------------------------------------------------------------------------------------ tokens of each turn


def turns(report: Report, model: str, prefix: str) -> Plot | None:
    """Median billed tokens of each turn without a defense, by kind of episode."""
    series = {kind: report.turns[model, kind] for kind in tables.TURN_KINDS if (model, kind) in report.turns}
    longest = max((len(found) for found in series.values()), default=0)
    if not longest:
        return None
    x = svg.Scale(0.5, longest + 0.5, 52, _RIGHT)
    bottom = 230.0
    y = svg.log_scale([max(1.0, turn.median) for found in series.values() for turn in found], bottom, 12)
    body = []
    for tick in y.ticks(7):
        body.append(svg.line(52, y(tick), _RIGHT, y(tick), "grid"))
        body.append(svg.text(figures.number(tick) if tick < 1 else f"{tick:,.0f}", 46, y(tick) + 4, "end"))
    for tick in svg.Scale(1, max(2, longest), 0, 1).ticks(12):
        if tick == int(tick):
            body += [svg.text(f"{tick:.0f}", x(tick), bottom + 16, "middle")]
    for kind, found in series.items():
        points = [(x(turn.number), y(max(1.0, turn.median))) for turn in found]
        body.append(svg.path(points, f"{kind}-line"))
        body += [_MARKS[kind](*point, kind) for point in points]
    body.append(svg.line(52, bottom, _RIGHT, bottom, "axis"))
    body.append(svg.text("turn", (52 + _RIGHT) / 2, bottom + 34, "middle", "label"))
    said = [
        f"{kind}: {len(found)} turns, median {figures.number(found[0].median)} tokens in the first, "
        f"{figures.number(found[-1].median)} in the last"
        for kind, found in series.items()
    ]
    title = "Billed tokens of each turn"
    return Plot(
        title,
        "Without a defense: the median over the episodes that had that turn, on a logarithmic scale. Few episodes "
        "reach the last turns; the table has their number.",
        [
            (_sign(svg.path([(0, 8), (16, 8)], f"{kind}-line") + _MARKS[kind](8, 8, kind)), _KIND_WORDS[kind])
            for kind in series
        ],
        [("", svg.figure(f"{prefix}0", bottom + 56, title, "; ".join(said), "".join(body), _stamp(report)))],
    )


_KIND_WORDS: Mapping[Kind, str] = {
    "attack": "attack",
    "control": "control: neutral text of the same length",
    "benign": "the task alone",
}


# ----------------------------------------------------------------------------------------- ASR over the threshold


def success(report: Report, model: str, prefix: str) -> Plot | None:
    """ASR at every threshold, each defense beside none."""
    cells = [cell for cell in report.cells(model) if cell["asr"]["episodes"]]
    if not cells:
        return None
    undefended = next((cell for cell in cells if cell["defense"] == report.run.baseline), None)
    return Plot(
        "ASR over the threshold",
        "How many attacks succeed if success begins at another A. A defense that only pushes A under one threshold "
        f"falls there. The dashed line is this run's threshold, {report.run.threshold:g}.",
        (
            (_sign(svg.path([(0, 8), (16, 8)], "attack-line")), "with the defense, of decided episodes"),
            (_sign(svg.path([(0, 8), (16, 8)], "reference")), "without a defense"),
            (
                _sign(svg.element("rect", x=0, y=3, width=16, height=10, class_="band")),
                "best to worst case of undetermined",
            ),
        ),
        [
            (f"Defense: {cell['defense']}", _success_panel(report, f"{prefix}{place}", cell, undefended))
            for place, cell in enumerate(cells)
        ],
    )


def _success_panel(report: Report, identity: str, cell: Mapping[str, Any], undefended: Mapping[str, Any] | None) -> str:
    bottom = 170.0
    x = svg.Scale(stats.THRESHOLDS[0], stats.THRESHOLDS[-1], 52, _RIGHT)
    y = svg.Scale(0, 1, bottom, 12)
    body = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        body.append(svg.line(52, y(tick), _RIGHT, y(tick), "grid"))
        body.append(svg.text(figures.percent(tick), 46, y(tick) + 4, "end"))
    body += [svg.text(f"{tick:g}", x(tick), bottom + 16, "middle") for tick in (1.5, 5, 10, 15, 20)]
    low, middle, high = _shares(cell)
    if low != high:
        outline = [(x(t), y(v)) for t, v in zip(stats.THRESHOLDS, low, strict=True)]
        outline += [(x(t), y(v)) for t, v in reversed(list(zip(stats.THRESHOLDS, high, strict=True)))]
        body.append(svg.path(outline, "band", closed=True))
    body.append(svg.line(x(report.run.threshold), 6, x(report.run.threshold), bottom, "threshold"))
    if undefended is not None and undefended is not cell:
        body.append(_curve(_shares(undefended)[1], x, y, "reference"))
    body.append(_curve(middle, x, y, "attack-line"))
    body.append(svg.line(52, bottom, _RIGHT, bottom, "axis"))
    body.append(svg.text("success begins at A =", (52 + _RIGHT) / 2, bottom + 34, "middle", "label"))
    said = "; ".join(
        f"{figures.percent(middle[stats.THRESHOLDS.index(t)])} at {t:g}" for t in (1.5, 3.0, 5.0, 10.0, 20.0)
    )
    title = f"ASR over the threshold, defense {cell['defense']}"
    return svg.figure(identity, bottom + 56, title, said, "".join(body), _stamp(report))


def _shares(cell: Mapping[str, Any]) -> tuple[list[float], list[float | None], list[float]]:
    """At each threshold the best case, the share of decided episodes, and the worst case."""
    n, curve = cell["asr"]["episodes"], cell["curve"]
    pairs = list(zip(curve["successes"], curve["undetermined"], strict=True))
    return (
        [s / n for s, _ in pairs],
        [s / (n - u) if n > u else None for s, u in pairs],
        [(s + u) / n for s, u in pairs],
    )


def _curve(values: Sequence[float | None], x: Scale, y: Scale, class_: str) -> str:
    """A line for every unbroken run of known values."""
    runs: list[list[tuple[float, float]]] = [[]]
    for threshold, value in zip(stats.THRESHOLDS, values, strict=True):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((x(threshold), y(value)))
    return "".join(svg.path(run, class_) for run in runs if len(run) > 1)


# ------------------------------------------------------------------------------- what a defense saves and costs


def trade(report: Report, model: str, prefix: str) -> Plot | None:
    """Cost under attack against overhead and completion without one, a row a defense."""
    comparisons = {row["defense"]: row["cost"] for row in report.comparisons(model)}
    cells = [cell for cell in report.cells(model) if cell["defense"] in comparisons]
    if not cells:
        return None
    columns = ((104, 168, "under attack"), (208, 270, "tasks alone"), (304, 338, "completed"))
    attack = _change_scale([comparisons[cell["defense"]] for cell in cells], *columns[0][:2])
    benign = _change_scale([cell["benign"]["cost_ratio"] for cell in cells], *columns[1][:2])
    share = svg.Scale(0, 1, *columns[2][:2])
    top, bottom = 26, 26 + 30 * len(cells)
    body = []
    for (start, end, name), scale in zip(columns, (attack, benign, share), strict=True):
        body.append(svg.text(name, (start + end) / 2, 14, "middle"))
        body.append(svg.line(start, bottom, end, bottom, "axis"))
        for tick in (0.0, 1.0) if scale is share else _around_zero(scale):
            shown = figures.percent(tick) if scale is share else figures.percent(tick, signed=True)
            body.append(svg.line(scale(tick), top, scale(tick), bottom, "grid"))
            body.append(
                svg.text(shown.replace(".0", "").replace("-", "−"), scale(tick), bottom + 16, "middle", "small")
            )
    said = []
    for place, cell in enumerate(cells):
        y = top + 30 * (place + 0.5)
        cost, benefit = comparisons[cell["defense"]], cell["benign"]
        body.append(svg.text(cell["defense"], 96, y + 4, "end", room=94))
        body.append(_change(cost, attack, y, "attack", svg.disc))
        body.append(_change(benefit["cost_ratio"], benign, y, "benign", svg.square))
        if benefit["completion_rate"] is not None:
            low, high = benefit["completion_wilson"]
            body.append(svg.whisker(share(low), share(high), y, "benign-line"))
            body.append(svg.square(share(benefit["completion_rate"]), y, "benign"))
        said.append(
            f"{cell['defense']}: cost under attack {figures.change(cost['value'])}, cost of tasks "
            f"{figures.change(benefit['cost_ratio']['value'])}, completed {figures.percent(benefit['completion_rate'])}"
        )
    title = "What each defense saves and what it costs"
    return Plot(
        title,
        "Changes against no defense, as means over attacks and over tasks. A good defense is far left in the first "
        "column, at 0 % in the second and at 100 % in the third. A task that a defense stops is cheap, "
        "too: read the last two columns together.",
        (
            (_sign(svg.disc(8, 8, "attack")), "under attack"),
            (_sign(svg.square(8, 8, "benign")), "tasks without an attack"),
            (_sign(svg.whisker(1, 15, 8, "attack-line")), "95 % interval; an end without a bar is open"),
        ),
        [("", svg.figure(f"{prefix}0", bottom + 40, title, "; ".join(said), "".join(body), _stamp(report)))],
    )


def _change_scale(ratios: Sequence[Mapping[str, Any]], start: float, end: float) -> Scale:
    """Changes in percent of all ratios and their intervals, with 0 among them."""
    values = [0.0]
    for ratio in ratios:
        values += [v - 1 for v in (ratio["value"], *(ratio["interval"] or ())) if v is not None]
    low, high = min(values), min(max(values), 3.0)
    room = max(0.02, (high - low) * 0.1)
    return svg.Scale(low - room, high + room, start, end)


def _around_zero(scale: Scale) -> list[float]:
    """0 and a round value on each side that has room for its label."""
    ticks = scale.ticks(4)
    room = [tick for tick in ticks if abs(scale(tick) - scale(0)) >= 44]
    return [*[tick for tick in room if tick < 0][:1], 0.0, *[tick for tick in room if tick > 0][-1:]]


def _change(
    ratio: Mapping[str, Any], scale: Scale, y: float, class_: str, draw: Callable[[float, float, str], str]
) -> str:
    if ratio["value"] is None:
        return ""
    bounds = ratio["interval"] and [None if v is None else v - 1 for v in ratio["interval"]]
    return _interval(bounds, scale, y, f"{class_}-line") + draw(scale(ratio["value"] - 1), y, class_)


# ------------------------------------------------------------------------------------------------------- shared


def _x_axis(scale: Scale, bottom: float, most: int) -> list[str]:
    drawn = []
    for tick in scale.ticks(most):
        drawn.append(svg.line(scale(tick), 6, scale(tick), bottom, "grid"))
        drawn.append(svg.text(f"{tick:,g}", scale(tick), bottom + 16, "middle"))
    return [*drawn, svg.line(scale.start, bottom, scale.end, bottom, "axis")]


def _interval(bounds: Sequence[float | None] | None, scale: Scale, y: float, class_: str) -> str:
    if bounds is None:
        return ""
    low, high = bounds
    return svg.whisker(
        scale.start if low is None else scale(low),
        scale.end if high is None else scale(high),
        y,
        class_,
        ends=(low is not None, high is not None),
    )


def _sign(drawn: str) -> str:
    return svg.element("svg", drawn, viewBox="0 0 16 16", width=16, height=16, aria_hidden="true")


def _stamp(report: Report) -> str | None:
    return "SIMULATED" if report.simulated else ("REPLAYED" if report.run.replayed else None)
