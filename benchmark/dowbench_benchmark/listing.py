"""What a configuration can name, as rows for ``dowbench list``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowbench_benchmark import attacks, config, defenses, prices, providers
from dowbench_benchmark.scenario import load_scenario, scenarios

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

Row = tuple[str, ...]


def sections(scenario: str | None = None, price_file: Path | None = None) -> Mapping[str, Callable[[], list[Row]]]:
    """Kind to the function that gives its rows. Raises what loading them raises."""
    return {
        "attacks": lambda: _attacks(scenario),
        "tasks": lambda: _tasks(scenario),
        "defenses": _defenses,
        "providers": _providers,
        "models": lambda: _models(price_file),
        "scenarios": lambda: [(name, load_scenario(name).title) for name in scenarios()],
        "configs": lambda: [(name,) for name in config.shipped()],
    }


def columns(rows: Sequence[Row], indent: int = 0) -> str:
    """Rows in columns; the last one is as long as it is."""
    widths: list[int] = []
    for row in rows:
        for index, text in enumerate(row[:-1]):
            widths[index : index + 1] = [max([len(text), *widths[index : index + 1]])]
    out = []
    for row in rows:
        cells = [text.ljust(width) for text, width in zip(row[:-1], widths, strict=False)]
        out.append(" " * indent + "  ".join([*cells, row[-1]]).rstrip())
    return "\n".join(out)


def _attacks(scenario: str | None) -> list[Row]:
    found = attacks.load_attacks(load_scenario(scenario) if scenario else None)
    return [(a.id, a.family, a.vector, a.task_id, f"{a.summary} [{a.source}]") for a in found.values()]


def _tasks(scenario: str | None) -> list[Row]:
    return [
        (task.id, name, f"{len(task.wordings)} wordings", task.wordings[0])
        for name in ([scenario] if scenario else scenarios())
        for task in load_scenario(name).tasks.values()
    ]


def _defenses() -> list[Row]:
    rows: list[Row] = [("none", "", "the undefended agent, under the ceiling only")]
    for name in defenses.names():
        kind = defenses.describe(name)
        shown = ", ".join(f"{key}={value}" for key, value in defenses.parameters(kind).items())
        rows.append((name, shown, kind.summary))
    return rows


def _providers() -> list[Row]:
    rows: list[Row] = []
    for name in providers.known():
        kind = providers.provider_class(name)
        key = f"key in {kind.key_variable}" if kind.key_variable else "no key"
        rows.append((name, key, "simulated" if kind.simulated else "real"))
    return rows


def _models(price_file: Path | None) -> list[Row]:
    rows: list[Row] = [("provider", "model", "input", "output", "cache read", "cache write", "read on, USD per Mtok")]
    for price in prices.load(price_file).values():
        rates = tuple(f"{rate:g}" for rate in price.rates)
        note = "simulated" if price.simulated else f"{price.retrieved} {price.source}"
        rows.append((price.provider, price.model, *rates, note))
    return rows
