"""From a configuration to the list of episodes, in order, each with an id that covers everything that shapes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowbench.errors import DowbenchError, UsageError
from dowbench_benchmark import attacks as catalogue
from dowbench_benchmark import codec, defenses, prices, providers, store
from dowbench_benchmark.config import MOST_EPISODES
from dowbench_benchmark.final_answer import FINAL_ANSWER
from dowbench_benchmark.located import known_names
from dowbench_benchmark.model import EpisodeSpec, Kind
from dowbench_benchmark.scenario import load_scenario, scenario_from

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dowbench_benchmark.attacks import Attack
    from dowbench_benchmark.config import Config
    from dowbench_benchmark.located import Node
    from dowbench_benchmark.model import DefenseSpec
    from dowbench_benchmark.prices import Price
    from dowbench_benchmark.runfile import Run
    from dowbench_benchmark.scenario import Scenario

PROTOCOL = 1
"""Version of the agent loop. Raised when the loop would do something else with the same inputs."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be run."""

    config: Config
    scenario: Scenario
    attacks: Mapping[str, Attack]
    """The planned ones, in plan order."""
    episodes: tuple[EpisodeSpec, ...]
    prices: Mapping[str, Price]
    """By model; empty in an unpriced run."""

    @property
    def system(self) -> str:
        """The system prompt in force."""
        return self.config.system_prompt if self.config.system_prompt is not None else self.scenario.system_prompt


def make(config: Config, root: Node | None = None, price_file: Path | None = None) -> Plan:
    """The plan of a configuration. ``root`` is the YAML it came from, which places what is refused.

    Raises ``UsageError`` for names that nothing has, parameters that a defense refuses and models without a price.
    """
    scenario = _scenario(config, root)
    _check(config, scenario, root)
    attacks = _attacks(config, scenario, root)
    table = {} if config.unpriced else _prices(config, root, price_file)
    return Plan(config, scenario, attacks, _episodes(config, scenario, attacks, root), table)


def from_run(run: Run) -> Plan:
    """The plan that ``run.json`` recorded: its own attacks and prices, whatever the catalogue says today.

    Raises a located error where something in it is wrong, and ``UsageError`` where the scenario is another one by now.
    """
    config, table = run.settings()
    root = run.row.at("config")
    recorded = run.row.at("scenario").get("content")
    scenario = _scenario(config, root) if recorded is None else _in_order(scenario_from(recorded), run)
    digest = run.row.at("scenario").at("digest")
    if scenario.digest != digest.text():
        digest.fail(
            f"the scenario {scenario.id!r} is not the one that was recorded "
            f"(sha256 {scenario.digest[:12]}…, recorded {digest.text()[:12]}…)"
        )
    attacks: dict[str, Attack] = {}
    for node in run.row.at("attacks").items():
        attack = catalogue.from_record(node)
        node.at("task").choice(scenario.tasks)
        if attack.id in attacks:
            node.fail(f"{attack.id} is listed twice")
        attacks[attack.id] = attack
    _check(config, scenario, root)
    by_model = {} if config.unpriced else _priced(config, root, table, store.RUN)
    return Plan(config, scenario, attacks, _episodes(config, scenario, attacks, root), by_model)


def _in_order(scenario: Scenario, run: Run) -> Scenario:
    """``scenario`` with its tasks in the order of the plan, which the sorted keys of ``run.json`` have lost."""
    planned = dict.fromkeys(item.at("benign_task_id").text() for item in run.row.at("plan").items())
    names = [name for name in planned if name in scenario.tasks]
    return replace(scenario, tasks={name: scenario.tasks[name] for name in (*names, *scenario.tasks)})


def _scenario(config: Config, root: Node | None) -> Scenario:
    try:
        return load_scenario(config.scenario, None if root is None else Path(root.path))
    except UsageError as error:
        raise _placed(root, "scenario", config.scenario, error) from None


def _check(config: Config, scenario: Scenario, root: Node | None) -> None:
    """Raise ``UsageError`` for names that nothing has, and parameters that a defense refuses."""
    try:
        providers.provider_class(config.provider)
    except UsageError as error:
        raise _placed(root, "provider", config.provider, error) from None
    if config.agent is not None:
        message = "a user's own agent cannot be measured by this version"
        raise _placed(root, "agent", config.agent, UsageError(message))
    if config.final_answer and FINAL_ANSWER.name in scenario.catalogue:
        message = f"the scenario {scenario.id!r} has a tool of the name {FINAL_ANSWER.name!r} itself"
        raise _placed(root, "final_answer", config.final_answer, UsageError(message))
    for name in config.benign_tasks:
        if name not in scenario.tasks:
            message = f"unknown task {name!r}; {known_names(name, scenario.tasks)}"
            raise _placed(root, "benign_tasks", name, UsageError(message))
    for task in scenario.tasks.values():
        if config.paraphrases > len(task.wordings):
            message = f"paraphrases: task {task.id!r} has {len(task.wordings)} wordings, not {config.paraphrases}"
            raise _placed(root, "paraphrases", config.paraphrases, UsageError(message))
    for spec in config.defenses:
        for name, params in spec.stack:
            try:
                defenses.build(name, params)
            except DowbenchError as error:
                raise _placed(root, "defenses", name, error) from None


def _attacks(config: Config, scenario: Scenario, root: Node | None) -> dict[str, Attack]:
    found = catalogue.load_attacks(scenario, config.attacks)
    if config.attacks is None:
        return found
    for name in config.attacks:
        if name not in found:
            message = f"unknown attack {name!r}; {known_names(name, found, f' for {scenario.id}')}"
            raise _placed(root, "attacks", name, UsageError(message))
    return {name: found[name] for name in config.attacks}


def _priced(config: Config, root: Node | None, table: prices.Table, where: str) -> dict[str, Price]:
    found: dict[str, Price] = {}
    for model in config.models:
        try:
            found[model] = prices.find(table, config.provider, model, where)
        except UsageError as error:
            raise _placed(root, "models", model, error) from None
    return found


def _prices(config: Config, root: Node | None, price_file: Path | None) -> dict[str, Price]:
    where = str(price_file) if price_file else "pricing.yaml"
    found = _priced(config, root, prices.load(price_file), where)
    for model in config.models:
        tier = found[model].max_prompt_tokens
        if tier is not None and config.ceiling.max_total_tokens > tier:
            message = (
                f"ceiling.max_total_tokens is {config.ceiling.max_total_tokens}, above the {tier} prompt tokens "
                f"up to which the price of {config.provider}/{model} holds"
            )
            raise _placed(root, "ceiling", config.ceiling.max_total_tokens, UsageError(message))
    return found


def _episodes(
    config: Config, scenario: Scenario, attacks: Mapping[str, Attack], root: Node | None
) -> tuple[EpisodeSpec, ...]:
    """Model → defense → repeat → (benign, attacks, controls), each in all planned wordings."""
    paired = {attack.task_id for attack in attacks.values()}
    tasks = [task for task in scenario.tasks if task in paired or task in config.benign_tasks]
    items: list[tuple[Kind, str, str]] = [("benign", task, task) for task in tasks]
    items += [("attack", attack.id, attack.task_id) for attack in attacks.values()]
    if config.controls:
        items += [("control", attack.id, attack.task_id) for attack in attacks.values()]
    total = len(items) * len(config.models) * len(config.defenses) * config.repeats * config.paraphrases
    if not 0 < total <= MOST_EPISODES:
        said = f"{total:,} episodes are planned, expected 1 to {MOST_EPISODES:,}"
        key = "repeats" if total else "attacks"
        raise _placed(root, key, getattr(config, key), UsageError(f"{key}: {said}"))
    system = config.system_prompt if config.system_prompt is not None else scenario.system_prompt
    shared = codec.digest(
        {
            "protocol": PROTOCOL,
            "scenario": scenario.digest,
            "system": system,
            "provider": config.provider,
            "provider_options": config.provider_options,
            "options": config.options,
            "agent": config.agent,
            "ceiling": config.record()["ceiling"],
            **({"final_answer": codec.tools_json((FINAL_ANSWER,))} if config.final_answer else {}),
        }
    )
    specs: list[EpisodeSpec] = []
    for model in config.models:
        for defense in config.defenses:
            for repeat in range(config.repeats):
                for kind, item, task in items:
                    attack = None if kind == "benign" else attacks[item].digest
                    for wording in range(config.paraphrases):
                        shape = (shared, model, _shape(defense), repeat, kind, item, attack, task, wording, config.seed)
                        specs.append(
                            EpisodeSpec(
                                id=codec.digest(shape)[:16],
                                index=len(specs),
                                model=model,
                                defense=defense,
                                kind=kind,
                                item_id=item,
                                task_id=task,
                                wording=wording,
                                repeat=repeat,
                                seed=config.seed + repeat,
                            )
                        )
    return tuple(specs)


def _shape(defense: DefenseSpec) -> list[Any]:
    return [defense.label, [[name, params] for name, params in defense.stack]]


def _placed(root: Node | None, key: str, value: Any, error: DowbenchError) -> UsageError:
    """``error`` at the place in the configuration where ``value`` stands under ``key``."""
    if root is not None and error.path is None and key in root.entries():
        top = root.entries()[key]
        node = _find(top, value) or top
        return UsageError(error.message, **node.place())
    return UsageError(error.message, path=error.path, line=error.line, column=error.column)


def located(root: Node, error: UsageError) -> UsageError:
    """``error`` at the place of the configuration's keys that its message begins with."""
    node = root
    for key in error.message.partition(":")[0].split("."):
        if not isinstance(node.value, dict) or key not in node.value:
            break
        node = node.entries()[key]
    return error if node is root or error.path is not None else UsageError(error.message, **node.place())


def _find(node: Node, value: Any) -> Node | None:
    children: Iterable[Node]
    if isinstance(node.value, list):
        children = node.items()
    elif isinstance(node.value, dict):
        children = node.entries().values()
    else:
        return node if node.value == value else None
    return next((found for child in children if (found := _find(child, value))), None)
