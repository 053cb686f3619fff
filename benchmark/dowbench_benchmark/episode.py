"""One planned episode: its world, its defenses, the loop, and the row that is left of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowbench_benchmark import defenses
from dowbench_benchmark.loop import Meter, Outcome, run_episode
from dowbench_benchmark.model import Episode

if TYPE_CHECKING:
    from dowbench_benchmark.model import EpisodeSpec, Task
    from dowbench_benchmark.plan import Plan


def perform(plan: Plan, spec: EpisodeSpec, attempt: str, meter: Meter, *, simulated: bool) -> Episode:
    """Run the episode through ``meter``. Raises what ``run_episode`` raises."""
    task = plan.scenario.tasks[spec.task_id]
    injection = None
    if spec.kind != "benign":
        attack = plan.attacks[spec.item_id]
        injection = attack.payload if spec.kind == "attack" else attack.control
    price = plan.prices.get(spec.model)
    outcome = run_episode(
        plan.scenario.world(task, spec.wording, injection, plan.system),
        [defenses.build(name, params) for name, params in spec.defense.stack],
        meter,
        model=spec.model,
        seed=spec.seed,
        options=plan.config.options,
        ceiling=plan.config.ceiling,
        price=price,
        pinned_tools=plan.scenario.tools(spec.task_id),
        final_answer=plan.config.final_answer,
    )
    return Episode(
        episode_id=spec.id,
        model=spec.model,
        defense=spec.defense.label,
        kind=spec.kind,
        item_id=spec.item_id,
        benign_task_id=spec.task_id,
        repeat=spec.repeat,
        status=outcome.status,
        reason=outcome.reason,
        turns=outcome.turns,
        usage=outcome.usage,
        cost_usd=None if price is None else price.usd(outcome.usage),
        simulated=simulated,
        attempt=attempt,
        wording=spec.wording,
        answered=answered(task, outcome),
    )


def answered(task: Task, outcome: Outcome) -> bool | None:
    """Whether the final answer has any of the texts that the task expects, case ignored."""
    if outcome.answer is None or not task.expected:
        return None
    answer = outcome.answer.casefold()
    return any(text.casefold() in answer for text in task.expected)
