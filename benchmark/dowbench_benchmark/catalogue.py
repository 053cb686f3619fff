"""The page on attacks and defenses, ``docs/benchmark-attacks.md``: generated from the catalogue, compared by a test.

``python -m dowbench_benchmark.catalogue`` prints it.
"""

from __future__ import annotations

import sys
from itertools import groupby
from typing import TYPE_CHECKING

from dowbench_benchmark import defenses
from dowbench_benchmark.attacks import UNMEASURED, Attack, load_directory
from dowbench_benchmark.packagedata import data_directory
from dowbench_benchmark.scenario import load_scenario, scenarios

if TYPE_CHECKING:
    from collections.abc import Iterable

_INTRODUCTION = """\
# Attacks and defenses of the benchmark

This page is generated from `benchmark/attacks`, `benchmark/scenarios` and the table of defenses (`make docs`).

Every attack is paired with a benign task of the same scenario, and accompanied by a control: text of the same length,
laid in the same place, that asks for nothing. What an attack costs above its control is what the instruction adds; what
the control costs above the task is what the shape costs by itself. Payloads are synthetic and written for this
catalogue; the source says where the mechanism is described. A merged attack is frozen, and a changed one gets a new id.

A *load* asks for nothing: what it is costs, whatever the model does. Its control is expected to cost the same, in
`cache_bust` only on a model without a prompt cache.
"""


def page() -> str:
    """The page as Markdown, ending with a newline. Built-in attacks and defenses only."""
    attacks = load_directory(data_directory("attacks")).values()
    parts = [_INTRODUCTION, _attacks(attacks), _defenses(), *(_tasks(name) for name in scenarios())]
    return "\n".join(parts)


def _attacks(attacks: Iterable[Attack]) -> str:
    lines = ["## Attacks", ""]
    for family, members in groupby(attacks, key=lambda attack: attack.family):
        lines += [f"### {family}", "", "| attack | what it does | vector | task | seen as | rules | source |"]
        lines.append("|---|---|---|---|---|---|---|")
        for attack in members:
            kind = "" if attack.amplifying else " (load)"
            rules = ", ".join(f"[{rule}](rules/{rule}.md)" for rule in attack.rules) or "none"
            cells = (
                f"`{attack.id}`{kind}", attack.summary, attack.vector, f"`{attack.task_id}`", attack.signal, rules,
                attack.source,
            )  # fmt: skip
            lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
        lines.append("")
    lines += ["These families have no attack, for it would cost what no episode shows:", ""]
    return "\n".join([*lines, *(f"- `{family}`: {why}." for family, why in UNMEASURED.items()), ""])


def _defenses() -> str:
    lines = ["## Defenses", "", "| defense | what it bounds | parameters and defaults |", "|---|---|---|"]
    for name in defenses.DEFENSES:
        kind = defenses.describe(name)
        shown = ", ".join(f"`{key}` [{_shown(value)}]" for key, value in defenses.parameters(kind).items())
        lines.append(f"| `{name}` | {_cell(kind.summary)} | {_cell(shown)} |")
    lines += ["", "A list of defenses is a stack; they are asked in its order.", ""]
    return "\n".join(lines)


def _tasks(name: str) -> str:
    scenario = load_scenario(name)
    lines = [f"## Benign tasks of {name}", "", scenario.title + ".", "", "| task | tools on offer | first wording |"]
    lines.append("|---|---|---|")
    for task in scenario.tasks.values():
        offered = ", ".join(f"`{tool}`" for tool in scenario.offers[task.id])
        lines.append(f"| `{task.id}` | {offered} | {_cell(task.wordings[0])} |")
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _shown(value: object) -> str:
    if value is None:
        return "off"
    if isinstance(value, tuple):
        return ", ".join(str(item) for item in value) or "none"
    return "none" if value == {} else str(value)


if __name__ == "__main__":
    sys.stdout.write(page())
