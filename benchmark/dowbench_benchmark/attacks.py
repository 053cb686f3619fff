"""The attack catalogue: ``attacks/*.yaml``, one file a family, and directories that other packages bring.

Every attack has a payload and a control of the same length, laid in the same place, that asks for nothing. A merged
attack is frozen: its digest is kept by a test, and a changed one gets a new id.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from dowbench.errors import UsageError
from dowbench_benchmark import plugins
from dowbench_benchmark.injection import MOST_REPEATS, PLACES, Injection, Padding, Place, injection_from_record
from dowbench_benchmark.located import Node, read_yaml
from dowbench_benchmark.model import VECTORS, Vector
from dowbench_benchmark.packagedata import data_directory, rule_ids
from dowbench_benchmark.scenario import Scenario, load_scenario
from dowbench_benchmark.template import check

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

LENGTH_TOLERANCE = 0.02
"""By how much of its characters a control may differ from its payload."""
FAMILIES = (
    "context_bloat",
    "tool_loop",
    "growing_arguments",
    "mcp_chain",
    "delegation",
    "polling",
    "output_flood",
    "fan_out",
    "schema_bloat",
    "reasoning_bomb",
    "error_retry",
    "cache_bust",
    "cross_agent",
    "multimodal",
    "model_escalation",
    "paid_tool",
    "schedule",
)
"""The families of rules and attacks. A plug-in's attack belongs to one of them, too, or no finding could name it."""
UNMEASURED: Mapping[str, str] = MappingProxyType(
    {
        "model_escalation": "a run asks one model, and what this costs is the price of another",
        "paid_tool": "a run bills tokens, and what this costs are fees for calls of tools",
        "schedule": "an episode ends with its task, and what this costs are runs that begin later",
    }
)
"""Families that have no attack here, and why: it would cost what no episode shows."""
_REQUIRED = ("summary", "source", "signal", "rules", "task", "vector", "text", "control")
_RECORDED = ("id", "family", "scenario", "task", *_REQUIRED[:4], "amplifying", "payload", "control")
_OPTIONAL = ("tools", "place", "padding", "cycle", "relay", "withheld", "amplifying")


@dataclass(frozen=True)
class Attack:
    """An entry of the catalogue."""

    id: str
    family: str
    scenario: str
    """Id of the scenario it is made for."""
    task_id: str
    """The paired benign task."""
    summary: str
    """One line: what it makes the agent do."""
    source: str
    """Where the mechanism is described."""
    signal: str
    """What shows it in a trace."""
    rules: tuple[str, ...]
    """Ids of the scanner's rules that its shape belongs to."""
    amplifying: bool
    """Whether it means to raise the cost at least fivefold; False: a load, or a null result kept as such."""
    payload: Injection
    control: Injection

    def __str__(self) -> str:
        return self.id

    @property
    def vector(self) -> Vector:
        """How it reaches the agent."""
        return self.payload.vector

    @cached_property
    def digest(self) -> str:
        """sha256 over the canonical JSON of what shapes its episodes: a corrected source or summary leaves it."""
        shaping = {
            key: value for key, value in self.record().items() if key not in ("summary", "source", "signal", "rules")
        }
        canonical = json.dumps(shaping, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def record(self) -> dict[str, Any]:
        """All of it as JSON; ``from_record`` makes the attack again."""
        return {
            "id": self.id,
            "family": self.family,
            "scenario": self.scenario,
            "task": self.task_id,
            "summary": self.summary,
            "source": self.source,
            "signal": self.signal,
            "rules": list(self.rules),
            "amplifying": self.amplifying,
            "payload": self.payload.record(),
            "control": self.control.record(),
        }


def from_record(node: Node) -> Attack:
    """The attack that ``Attack.record`` was made from. Raises a located error."""
    entries = node.mapping(_RECORDED)
    return Attack(
        id=entries["id"].text(),
        family=entries["family"].text(),
        scenario=entries["scenario"].text(),
        task_id=entries["task"].text(),
        summary=entries["summary"].text(),
        source=entries["source"].text(),
        signal=entries["signal"].text(),
        rules=entries["rules"].texts(),
        amplifying=entries["amplifying"].boolean(),
        payload=injection_from_record(entries["payload"]),
        control=injection_from_record(entries["control"]),
    )


def load_attacks(scenario: Scenario | None = None, wanted: Iterable[str] | None = None) -> dict[str, Attack]:
    """The catalogue by id, in the order of its files: built-in attacks, then those of installed plug-ins.

    With a ``scenario``, only the attacks made for it. Plug-ins are not looked at where all ``wanted`` ids are built in.
    Raises ``DataError``, with the place, for a file that is wrong.
    """
    found: dict[str, Attack] = {}
    known = {scenario.id: scenario} if scenario else {}
    only = scenario.id if scenario else None
    _add(found, data_directory("attacks"), known, only)
    if wanted is None or not found.keys() >= set(wanted):
        for directory in _plugin_directories():
            _add(found, directory, known, only)
    return found


def _add(found: dict[str, Attack], directory: Path, known: dict[str, Scenario], only: str | None) -> None:
    for attack, node in _directory(directory, known, only):
        if attack.id in found:
            node.fail("another attack has this id")
        found[attack.id] = attack


def load_directory(directory: Path, scenario: Scenario | None = None) -> dict[str, Attack]:
    """The attacks of one directory, checked as ``load_attacks`` checks them."""
    known = {scenario.id: scenario} if scenario else {}
    return {attack.id: attack for attack, _ in _directory(directory, known, only=None)}


def _plugin_directories() -> list[Path]:
    directories = []
    for name, value in plugins.load_all("dowbench.attacks").items():
        try:
            path = value() if callable(value) else value
        except Exception as error:  # a plug-in may raise anything
            raise UsageError(
                f"dowbench.attacks: the plug-in {name!r} cannot give its directory: {type(error).__name__}: {error}"
            ) from error
        if not isinstance(path, str | Path) or not Path(path).is_dir():
            raise UsageError(f"dowbench.attacks: the plug-in {name!r} gives no directory of YAML files, but {path!r}")
        directories.append(Path(path))
    return directories


def _directory(directory: Path, known: dict[str, Scenario], only: str | None) -> Iterator[tuple[Attack, Node]]:
    for path in sorted(directory.glob("*.yaml")):
        root = read_yaml(path)
        entries = root.mapping(("scenario", "family", "attacks"), ("about",))
        name = entries["scenario"].name()
        if only is not None and name != only:
            continue
        if name not in known:
            try:
                known[name] = load_scenario(name)
            except UsageError as error:
                entries["scenario"].fail(error.message)
        family = entries["family"].choice(FAMILIES)
        for attack_id, node in entries["attacks"].entries().items():
            yield _attack(attack_id, family, node, known[name]), node


def _attack(attack_id: str, family: str, node: Node, scenario: Scenario) -> Attack:
    entries = node.mapping(_REQUIRED, _OPTIONAL)
    Node(attack_id, node.path, node.line, node.column, node.key).name()
    task_id = entries["task"].choice(scenario.tasks)
    payload = _injection(entries, scenario.offers[task_id], scenario)
    control = replace(payload, text=_text(entries["control"], payload, scenario))
    expected, found = len(payload.render()), len(control.render())
    if abs(expected - found) > LENGTH_TOLERANCE * len(replace(payload, padding=None).render()):
        entries["control"].fail(
            f"expected as many characters as the payload has ({expected} ± {LENGTH_TOLERANCE:.0%} of its own text), "
            f"found {found}"
        )
    return Attack(
        id=attack_id,
        family=family,
        scenario=scenario.id,
        task_id=task_id,
        summary=entries["summary"].text().strip(),
        source=entries["source"].text().strip(),
        signal=entries["signal"].text().strip(),
        rules=_rules(entries["rules"]),
        amplifying=entries["amplifying"].boolean() if "amplifying" in entries else True,
        payload=payload,
        control=control,
    )


def _rules(node: Node) -> tuple[str, ...]:
    """Ids of rules, as the scanner's own pack has them, where it is at hand."""
    known = rule_ids()
    for item in node.items():
        if known and item.text() not in known:
            item.fail(f"there is no rule {item.value!r}; 'dowbench rules list' names them")
    return node.texts()


def _injection(entries: Mapping[str, Node], offered: tuple[str, ...], scenario: Scenario) -> Injection:
    vector = cast("Vector", entries["vector"].choice(VECTORS))
    tools: tuple[str, ...] = ()
    if vector == "user_prompt":
        if "tools" in entries:
            entries["tools"].fail("a user_prompt reaches no tool")
    elif "tools" not in entries:
        entries["vector"].fail("the key 'tools' is missing: the tools that carry the text")
    else:
        tools = entries["tools"].texts(at_least=1)
        for item in entries["tools"].items():
            item.choice(offered)
            if vector == "tool_result" and scenario.catalogue[item.text()].delegate is not None:
                item.fail("its result is a sub-agent's answer, which cannot carry a text")
    relay = entries["relay"].choice(offered) if "relay" in entries else None
    if relay is not None and (vector != "tool_result" or len(tools) != 1 or relay in tools):
        entries["relay"].fail("expected a second tool beside a single one whose results carry the text")
    if "withheld" in entries and vector != "tool_description":
        entries["withheld"].fail("is for tool_description; a tool_result is withheld with 'place: instead'")
    cycle = {name: values.texts(at_least=2) for name, values in _entries(entries, "cycle").items()}
    for values in _entries(entries, "cycle").values():
        for item in values.items():
            check(item, ())
    injection = Injection(
        vector=vector,
        text="",
        tools=tools,
        place=cast("Place", entries["place"].choice(PLACES)) if "place" in entries else "after",
        padding=_padding(entries["padding"]) if "padding" in entries else None,
        cycle=MappingProxyType(cycle),
        relay=relay,
        withheld=None,
    )
    withheld = _text(entries["withheld"], injection, scenario) if "withheld" in entries else None
    return replace(injection, text=_text(entries["text"], injection, scenario), withheld=withheld)


def _entries(entries: Mapping[str, Node], key: str) -> Mapping[str, Node]:
    return entries[key].entries() if key in entries else {}


def _padding(node: Node) -> Padding:
    entries = node.mapping(("text", "repeat"), ("growth",))
    return Padding(
        text=check(entries["text"], ("i",)).strip("\n"),
        repeat=entries["repeat"].integer(minimum=1, maximum=MOST_REPEATS),
        growth=entries["growth"].integer(minimum=0, maximum=MOST_REPEATS) if "growth" in entries else 0,
    )


def _text(node: Node, injection: Injection, scenario: Scenario) -> str:
    carriers = [*injection.tools, *([injection.relay] if injection.relay else [])]
    parameters = [set(scenario.catalogue[name].spec.parameters["properties"]) for name in carriers]
    known = {"n", "next", *injection.cycle, *(set.intersection(*parameters) if parameters else ())}
    if injection.relay is not None:
        known.add("relay")
    return check(node, known).strip("\n")
