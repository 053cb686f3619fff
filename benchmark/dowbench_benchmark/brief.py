"""The few lines about a run that a terminal shows: what kind of figures these are, and the table of defenses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from dowbench_benchmark import metrics

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Mapping, Sequence


def banner(*, simulated: bool, replayed: bool = False) -> str | None:
    """What must stand over every figure of the run; ``None`` for a live run of a real model."""
    if simulated:
        return "SIMULATED: no model answered. These figures show how the benchmark works and are no result."
    return "REPLAYED: recomputed from a recording, no provider was called." if replayed else None


def table(summary: Mapping[str, Any], at_most: Container[str] = ()) -> str:
    """The cells of a summary, one a line. ``at_most`` are the episodes whose A is an upper bound."""
    head = ("model", "defense", "episodes", "ASR", "95 % interval", "median A", "censored", "benign done", "overhead")
    attacks: dict[tuple[str, str], list[_Attack]] = {}
    for row in summary["attacks"]:
        if row["amplification"] is not None:
            cut, bounded = row["status"] in metrics.LOWER_BOUND, row["episode_id"] in at_most
            attacks.setdefault((row["model"], row["defense"]), []).append(
                _Attack(row["amplification"], row["success"] is True, cut, bounded)
            )
    rows = [head, *(_row(cell, attacks.get((cell["model"], cell["defense"]), [])) for cell in summary["defenses"])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    return "\n".join(_line(row, widths) for row in rows)


def about(at_most: Collection[str]) -> list[str]:
    """What must be said beside a table with such episodes."""
    where = "stand against a task that was censored itself"
    said = f"{len(at_most)} attack episode(s) {where}: their A is at most what is shown, and fewer may have succeeded"
    return [said] if at_most else []


class _Attack(NamedTuple):
    amplification: float
    success: bool
    at_least: bool
    at_most: bool


def _row(cell: Mapping[str, Any], attacks: Sequence[_Attack]) -> tuple[str, ...]:
    interval, amplification, censored = cell["asr_ci95"], cell["median_amplification"], cell["censored"]
    lower = metrics.median_is_bound((one.amplification, one.at_least) for one in attacks)
    upper = metrics.median_is_upper_bound((one.amplification, one.at_most) for one in attacks)
    bound = "≥ " if lower else "≤ " if upper else ""
    fewer = any(one.success and one.at_most for one in attacks)
    return (
        cell["model"],
        cell["defense"],
        str(cell["attack_episodes"]),
        ("≤ " if fewer else "") + _percent(cell["asr"]),
        "-" if interval is None or fewer else f"{interval[0]:.2f}-{interval[1]:.2f}",
        "-" if amplification is None or (lower and upper) else f"{bound}{amplification:.2f}",
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
