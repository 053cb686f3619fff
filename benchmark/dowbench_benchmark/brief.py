"""The few lines about a run that a terminal shows: what kind of figures these are, and the table of defenses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dowbench_benchmark import metrics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def banner(*, simulated: bool, replayed: bool = False) -> str | None:
    """What must stand over every figure of the run; ``None`` for a live run of a real model."""
    if simulated:
        return "SIMULATED: no model answered. These figures show how the benchmark works and are no result."
    return "REPLAYED: recomputed from a recording, no provider was called." if replayed else None


def table(summary: Mapping[str, Any]) -> str:
    """The cells of a summary, one a line."""
    head = ("model", "defense", "episodes", "ASR", "95 % interval", "median A", "censored", "benign done", "overhead")
    figures: dict[tuple[str, str], list[tuple[float, bool]]] = {}
    for attack in summary["attacks"]:
        if attack["amplification"] is not None:
            bound = attack["status"] in metrics.LOWER_BOUND
            figures.setdefault((attack["model"], attack["defense"]), []).append((attack["amplification"], bound))
    rows = [head, *(_row(cell, figures.get((cell["model"], cell["defense"]), [])) for cell in summary["defenses"])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    return "\n".join(_line(row, widths) for row in rows)


def _row(cell: Mapping[str, Any], figures: Sequence[tuple[float, bool]]) -> tuple[str, ...]:
    interval, amplification, censored = cell["asr_ci95"], cell["median_amplification"], cell["censored"]
    bound = "≥ " if metrics.median_is_bound(figures) else ""
    return (
        cell["model"],
        cell["defense"],
        str(cell["attack_episodes"]),
        _percent(cell["asr"]),
        "-" if interval is None else f"{interval[0]:.2f}-{interval[1]:.2f}",
        "-" if amplification is None else f"{bound}{amplification:.2f}",
        str(censored),
        _percent(cell["benign_completion_rate"]),
        "-" if cell["benign_overhead"] is None else f"{cell['benign_overhead']:+.1%}".replace("%", " %"),
    )


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}".replace("%", " %")


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    left = [text.ljust(width) for text, width in zip(row[:2], widths[:2], strict=True)]
    right = [text.rjust(width) for text, width in zip(row[2:], widths[2:], strict=True)]
    return "  ".join([*left, *right]).rstrip()
