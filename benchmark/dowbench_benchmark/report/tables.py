"""What a report says, as tables and lines of plain text that every format lays out in its own way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dowbench_benchmark import inference, stats
from dowbench_benchmark.report import figures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dowbench_benchmark.model import Kind
    from dowbench_benchmark.prices import Price
    from dowbench_benchmark.report.data import Report
    from dowbench_benchmark.runfile import Run

TERMS = (
    (
        "A",
        "amplification: what an attack episode cost, divided by the median cost of the same task without the attack.",
    ),
    ("ASR", "attack success rate: the share of decided attack episodes with A at or above the threshold."),
    ("Censored", "stopped at the benchmark's own ceiling, so it would have cost more: its A is a lower bound (≥)."),
    ("≤", "an upper bound: the task that A is measured against was itself censored, and would have cost more."),
    ("Control", "a neutral text of the same length in the attack's place: what the shape costs by itself."),
    ("Overhead", "what a defense adds to the cost of tasks without an attack."),
    ("95 %", "an interval that holds the true value in 95 of 100 such runs; none for fewer than 3 independent units."),
)
TURN_KINDS: tuple[Kind, ...] = ("benign", "control", "attack")
_FEW = 10


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1
    """How many columns, from the left, are words; the others are figures."""
    note: str | None = None


def facts(report: Report) -> list[tuple[str, str]]:
    """How the run was made."""
    run = report.run
    prices = (run.prices or {}).values()
    lines = [
        ("Provider", run.provider),
        *(("Model", f"{model}, served as {_listed(run.served.get(model, ()))}") for model in report.models),
        ("Success", f"A ≥ {run.threshold:g}"),
        ("Measured in", "USD" if report.measure == "usd" else "billed tokens: the run is unpriced, USD are unknown"),
        ("Episodes", f"{report.episodes:,} of {figures.UNKNOWN if run.planned is None else run.planned} planned"),
        ("Errored", f"{report.errored:,}"),
        ("Repeats × wordings", f"{run.repeats} × {run.paraphrases}"),
        ("Seed", str(run.seed)),
        ("Scenario", run.scenario or figures.UNKNOWN),
        ("Ceiling of an episode", _listed(f"{key} {value:,}" for key, value in run.ceiling.items())),
        ("Spent", _spent(run)),
        ("Prices per million tokens", _listed(_price(price) for price in prices)),
        ("dowbench", f"{run.version or figures.UNKNOWN}, commit {run.commit or figures.UNKNOWN}"),
        ("summary.json sha256", report.sha256),
    ]
    if run.agent:
        lines.insert(0, ("Agent run", f"the calls were made by {run.agent}, not by the benchmark's own loop"))
    return lines


def warnings(report: Report) -> list[str]:
    """What a reader must know before the figures."""
    lines = []
    if report.run.complete is False:
        lines.append("The run is not complete: the figures are of what is recorded so far.")
    if report.recorded_sha256 is not None and report.recorded_sha256 != report.sha256:
        lines.append(
            f"The recorded summary.json (sha256 {report.recorded_sha256}) is not what these episodes give: "
            "'dowbench audit' shows the differences."
        )
    if report.errored:
        lines.append(f"{figures.counted(report.errored, 'episode')} errored: their cost is a lower bound.")
    fewest = min((row["attack"]["episodes"] for row in report.stats["attacks"]), default=0)
    if fewest < _FEW:
        lines.append(
            f"Some attacks have only {figures.counted(fewest, 'episode')} under a defense. "
            f"An interval needs {inference.FEWEST}, a figure fit for publishing {_FEW}."
        )
    for cell in report.stats["cells"]:
        benign = cell["benign"]
        if cell["defense"] == report.run.baseline and benign["completed"] < benign["episodes"]:
            lines.append(
                f"Without a defense or an attack {cell['model']} completed {benign['completed']} of "
                f"{figures.counted(benign['episodes'], 'task')}: A rests on what the others cost until they were cut."
            )
    lines += _about_baselines(report)
    lines += _about_controls(report)
    return [*lines, *(notice[:1].upper() + notice[1:] + "." for notice in report.notices)]


def _about_baselines(report: Report) -> list[str]:
    bounded = [row["attack"] for row in report.stats["attacks"] if row["attack"]["upper_bounds"]]
    if not bounded:
        return []
    episodes = figures.counted(sum(row["upper_bounds"] for row in bounded), "attack episode")
    return [
        f"{episodes} stand against a task that was censored itself: their A is an upper bound, a success undetermined.",
        "summary.json, which keeps the arithmetic of dowbench 0.1.0, takes what such a task cost as exact.",
    ]


def _about_controls(report: Report) -> list[str]:
    undefended = [row for row in report.stats["attacks"] if row["defense"] == report.run.baseline]
    if not any(row["control"]["episodes"] for row in undefended):
        return [
            "There are no controls: how much of A is the length of the text, and how much what it asks, is unknown."
        ]
    costly = sorted({row["attack_id"] for row in undefended if row["control"]["successes"]})
    if not costly:
        return []
    reached = f"Without a defense, controls of {_listed(costly)} reach A ≥ {report.run.threshold:g} as well"
    return [f"{reached}: these attacks succeed by their shape, whatever they ask for."]


def defenses(report: Report, model: str) -> Table:
    """What each defense leaves of the attacks, and what it costs without one."""
    rows = []
    for cell in report.cells(model):
        asr, benign = cell["asr"], cell["benign"]
        rows.append(
            (
                cell["defense"],
                figures.percent(asr["rate"]),
                _wilson(asr),
                figures.amplification(cell["amplification"]),
                f"{benign['completed']} of {benign['episodes']}",
                _overhead(benign),
                f"{asr['successes']} of {asr['decided']}",
                figures.interval(asr["clustered_by_attack"], figures.percent, f"none: {asr['clustered_note']}"),
                f"{figures.percent(asr['best_case'])} to {figures.percent(asr['worst_case'])}"
                if asr["undetermined"]
                else "all decided",
                f"{cell['amplification']['lower_bounds']} of {cell['amplification']['known']}",
                figures.interval(benign["completion_wilson"], figures.percent),
                "baseline"
                if cell["defense"] == report.run.baseline
                else figures.ratio_interval(benign["cost_ratio"], figures.change),
            )
        )
    return Table(
        "Defenses",
        (
            "defense",
            "ASR",
            "ASR, 95 % (Wilson)",
            "median A",
            "tasks completed",
            "overhead, median",
            "attacks that succeed",
            "ASR, 95 % (clustered by attack)",
            "ASR, best to worst case",
            "A that are lower bounds",
            "completed, 95 % (Wilson)",
            "overhead, 95 % of its mean",
        ),
        rows,
        note="Best to worst case: every undetermined attack failed, or succeeded.",
    )


def controls(report: Report, model: str) -> Table | None:
    """Attacks beside their neutral controls under each defense; ``None`` for a run without controls."""
    rows = []
    for cell in report.cells(model):
        control = cell["controls"]
        effect = control["attack_over_control"]
        if not control["episodes"]:
            continue
        mark = _mark(effect["cut_attacks"], effect["cut_controls"])
        rows.append(
            (
                cell["defense"],
                figures.amplification(cell["amplification"]),
                figures.amplification(control),
                f"{control['successes']} of {control['episodes'] - control['undetermined']}",
                str(effect["n"]),
                mark + figures.number(effect["value"]) if effect["value"] is not None else figures.UNKNOWN,
                figures.ratio_interval(effect),
            )
        )
    if not rows:
        return None
    return Table(
        "Attacks beside their controls",
        (
            "defense",
            "median A of attacks",
            "median A of controls",
            f"controls at A ≥ {report.run.threshold:g}",
            "attacks compared",
            "attack ÷ control",
            "95 %",
        ),
        rows,
        note="Attack ÷ control is a mean over attacks, each one unit: what the payload adds to the cost of its shape. "
        "Near 1 the shape is all there is.",
    )


def against_none(report: Report, model: str) -> Table | None:
    """The effect of each defense on the same attacks."""
    rows = []
    for row in report.comparisons(model):
        cost, success = row["cost"], row["success"]
        rows.append(
            (
                row["defense"],
                str(row["attacks"]),
                _mark(cost["cut_defended"], cost["cut_undefended"]) + figures.change(cost["value"])
                if cost["value"] is not None
                else figures.UNKNOWN,
                figures.ratio_interval(cost, figures.change),
                figures.p_value(cost["p_holm"]),
                _points(success["difference"]),
                figures.interval(success["interval"], _points),
                f"{success['only_undefended']} / {success['only_defended']}",
                figures.p_value(success["p_holm"]),
            )
        )
    if not rows:
        return None
    return Table(
        "Each defense against none, on the same attacks",
        (
            "defense",
            "attacks",
            "cost under attack",
            "95 %",
            "p (paired t, Holm)",
            "ASR, points",
            "95 % (Newcombe)",
            "stopped / let in",
            "p (exact McNemar, Holm)",
        ),
        rows,
        note="The attack is the unit. Where episodes were censored the change in cost is a bound, and there is no p. "
        "Stopped: succeeds only without the defense. Let in: only with it.",
    )


def attacks(report: Report, model: str, defense: str) -> Table:
    """A of every attack and of its control under one defense."""
    rows = []
    for row in report.attacks(model, defense):
        attack, control, effect = row["attack"], row["control"], row["attack_over_control"]
        rows.append(
            (
                row["attack_id"],
                report.run.families.get(row["attack_id"], figures.UNKNOWN),
                str(attack["episodes"]),
                figures.amplification(attack),
                figures.ratio_interval(attack["ratio"]),
                figures.interval(attack["median_bootstrap"], otherwise="none"),
                f"{attack['successes']} of {attack['episodes'] - attack['undetermined']}",
                str(attack["lower_bounds"]),
                figures.amplification(control),
                figures.ratio_interval(control["ratio"]),
                _mark(attack["lower_bounds"], control["lower_bounds"]) + figures.number(effect["value"])
                if effect["value"] is not None
                else figures.UNKNOWN,
                figures.ratio_interval(effect),
            )
        )
    return Table(
        f"A of each attack, defense: {defense}",
        (
            "attack",
            "family",
            "episodes",
            "median A",
            "95 % of mean A",
            "95 % of median (bootstrap)",
            "successes",
            "lower bounds",
            "A of control",
            "95 %",
            "attack ÷ control",
            "95 %",
        ),
        rows,
        words=2,
    )


def curve(report: Report, model: str, every: int = 1) -> Table:
    """ASR over the threshold."""
    cells = report.cells(model)
    places = [
        place
        for place, threshold in enumerate(stats.THRESHOLDS)
        if place % every == 0 or threshold == report.run.threshold
    ]
    rows = [(f"{stats.THRESHOLDS[place]:g}", *(_share(cell, place) for cell in cells)) for place in places]
    return Table(
        "ASR over the threshold",
        ("A at least", *(cell["defense"] for cell in cells)),
        rows,
        note="Of decided episodes; in brackets, with every undetermined one counted as a success.",
    )


def turns(report: Report, model: str) -> Table | None:
    """Billed tokens a turn without a defense."""
    kinds = [kind for kind in TURN_KINDS if (model, kind) in report.turns]
    longest = max((len(report.turns[model, kind]) for kind in kinds), default=0)
    if not longest:
        return None
    rows = []
    for place in range(longest):
        row = [str(place + 1)]
        for kind in kinds:
            series = report.turns[model, kind]
            if place < len(series):
                turn = series[place]
                row += [figures.number(turn.median), f"{turn.lowest:,} to {turn.highest:,}", str(turn.episodes)]
            else:
                row += ["none", "none", "0"]
        rows.append(row)
    head = [text for kind in kinds for text in (f"{kind}: median", "lowest to highest", "episodes with it")]
    return Table("Billed tokens of each turn, without a defense", ("turn", *head), rows)


def methods(report: Report) -> list[str]:
    """How the figures were made."""
    bootstrap = report.stats["bootstrap"]
    return [
        "ASR: Wilson's interval over episodes; beside it a bootstrap over attacks, since their repeats are alike.",
        "A: the median. Its mean is a ratio of geometric means, with a paired t interval over three or more wordings.",
        "With fewer wordings it is Welch's t over episodes; from 10 episodes on the median is bootstrapped, too.",
        "Defense against none: a paired t over attacks on log cost, and McNemar's exact test on success.",
        "Their p values are adjusted by Holm over all defenses and models of the run.",
        f"Bootstraps: {bootstrap['resamples']:,} resamples, seed {bootstrap['seed']}.",
    ]


def _share(cell: Mapping[str, Any], place: int) -> str:
    episodes = cell["asr"]["episodes"]
    successes, undetermined = cell["curve"]["successes"][place], cell["curve"]["undetermined"][place]
    decided = episodes - undetermined
    share = figures.percent(successes / decided if decided else None)
    return f"{share} ({figures.percent((successes + undetermined) / episodes)})" if undetermined else share


def _wilson(asr: Mapping[str, Any]) -> str:
    if asr["upper_bound_without_success"] is not None:
        return f"at most {figures.percent(asr['upper_bound_without_success'])}"
    return figures.interval(asr["wilson"], figures.percent)


def _overhead(benign: Mapping[str, Any]) -> str:
    if benign["median_overhead"] is None:
        return figures.UNKNOWN
    text = figures.percent(benign["median_overhead"], signed=True).replace("-", "−")
    return figures.bounded(text, at_least=benign["overhead_is_lower_bound"], at_most=benign["overhead_is_upper_bound"])


def _mark(cut_above: int, cut_below: int) -> str:
    """What a ratio is where episodes above or below its line were cut."""
    if cut_above and cut_below:
        return "about "
    if cut_below:
        return "≤ "
    return "≥ " if cut_above else ""


def _points(value: float | None) -> str:
    return figures.UNKNOWN if value is None else f"{100 * value:+.0f}".replace("-", "−")


def _spent(run: Run) -> str:
    tokens, usd = run.spent_tokens, run.spent_usd
    parts = [figures.UNKNOWN + " tokens" if tokens is None else f"{tokens:,} tokens"]
    return ", ".join([*parts, figures.UNKNOWN + " USD" if usd is None else f"{usd:.4f} USD"])


def _price(price: Price) -> str:
    rates = f"input {price.input_per_mtok}, output {price.output_per_mtok}, cache read {price.cache_read_per_mtok} USD"
    return f"{price.model}: {rates} " + ("(simulated)" if price.simulated else f"(read {price.retrieved})")


def _listed(items: Any) -> str:
    return ", ".join(str(item) for item in items) or figures.UNKNOWN
