"""Scenarios: the tools, documents and tasks of a simulated agent's surroundings, read from ``scenarios/*.yaml``.

A tool answers from a list of replies: the first whose ``when`` fits the arguments. A reply with several ``texts`` gives
one after the other, then the last for ever: a job that is done at the third look. ``{parameter}`` in a text stands for
the argument. Nothing is random or looks at the clock: the same calls in the same order give the same results.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from dowbench.errors import UsageError
from dowbench_benchmark import mask, store
from dowbench_benchmark.located import Node, known_names, read_yaml
from dowbench_benchmark.model import Task, ToolCall, ToolOutcome, ToolSpec
from dowbench_benchmark.packagedata import data_directory
from dowbench_benchmark.recorded import Recorded
from dowbench_benchmark.template import check, fill, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dowbench_benchmark.injection import Injection

MINIMUM_WORDINGS = 3
_SHOWN_ARGUMENT = 80
_JSON_TYPES = ("string", "integer", "number", "boolean", "array", "object")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool answers when the arguments fit ``when``: equal values, or any of some words in a text."""

    when: Mapping[str, Any]
    """Parameter to value, or to a tuple of lower-case words of which the argument must hold one."""
    texts: tuple[str, ...]
    """What it says the first time it fits in an episode, the second, and so on; the last one stays."""

    def fits(self, arguments: Mapping[str, Any]) -> bool:
        """Whether a call with these arguments gets this reply. Text is compared without case and outer blanks."""
        for name, wanted in self.when.items():
            given = arguments.get(name)
            if isinstance(wanted, tuple):
                words = re.findall(r"[a-z0-9-]+", str(given).lower())
                if not any(word in words for word in wanted):
                    return False
            elif plain(given) != plain(wanted):
                return False
        return True


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool and how it answers."""

    spec: ToolSpec
    replies: tuple[Reply, ...]
    otherwise: str
    delegate: str | None = None
    """Template of the prompt for a sub-agent; then there are no replies."""

    def answer(self, arguments: Mapping[str, Any], given_before: Counter[tuple[str, int]]) -> ToolOutcome:
        """What the tool gives back. Wrong arguments give a text that says so, never an exception.

        ``given_before`` counts the replies of the episode by tool and index, and is counted up.
        """
        properties = self.spec.parameters["properties"]
        given = {name: schema["default"] for name, schema in properties.items() if "default" in schema}
        given.update(arguments)
        for name in self.spec.parameters.get("required", ()):
            if given.get(name) is None:
                return ToolOutcome(f"error: {self.spec.name} needs a value for {name!r}")
        unknown = [name for name in arguments if name not in properties]
        if unknown:
            return ToolOutcome(f"error: {self.spec.name} has no parameter {str(unknown[0])[:_SHOWN_ARGUMENT]!r}")
        if self.delegate is not None:
            return ToolOutcome("", delegate=fill(self.delegate, given, limit=None))
        text = self.otherwise
        for index, reply in enumerate(self.replies):
            if reply.fits(given):
                text = reply.texts[min(given_before[self.spec.name, index], len(reply.texts) - 1)]
                given_before[self.spec.name, index] += 1
                break
        return ToolOutcome(fill(text, given))


class World:
    """The surroundings of one episode: the scenario's tools, and whatever an injection lays over them."""

    def __init__(self, tools: tuple[Tool, ...], prompt: str, system: str, injection: Injection | None) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._specs = tuple(tool.spec for tool in tools)
        self._injection = injection
        self._calls = 0
        self._executed = 0
        self._given: Counter[tuple[str, int]] = Counter()
        self.system = system
        self.prompt = injection.prompt(prompt) if injection else prompt

    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools on offer now; those of an injection may differ after each call."""
        return self._injection.specs(self._specs, self._executed + 1) if self._injection else self._specs

    def execute(self, call: ToolCall) -> ToolOutcome:
        """Run a tool; calls of tools that carry an injection are counted from 1."""
        self._executed += 1
        tool = self._tools.get(call.name)
        if tool is None:
            return ToolOutcome(
                f"error: there is no tool {call.name[:_SHOWN_ARGUMENT]!r}; there are: {', '.join(self._tools)}"
            )
        outcome = tool.answer(call.arguments, self._given)
        if self._injection is not None and self._injection.carries(call.name) and outcome.delegate is None:
            self._calls += 1
            return replace(outcome, text=self._injection.result(call, outcome.text, self._calls))
        return outcome


@dataclass(frozen=True)
class Scenario:
    """Tools and tasks. ``offers`` names the tools of each task, in the order in which they are offered."""

    id: str
    title: str
    system_prompt: str
    catalogue: Mapping[str, Tool]
    tasks: Mapping[str, Task]
    offers: Mapping[str, tuple[str, ...]]
    content: Mapping[str, Any] | None = None
    """All of it as JSON, of a scenario that comes from a file of somebody's own."""

    @cached_property
    def digest(self) -> str:
        """sha256 over the canonical JSON of everything that shapes an episode."""
        tools = {
            name: {
                "description": tool.spec.description,
                "parameters": tool.spec.parameters,
                "replies": [[dict(reply.when), list(reply.texts)] for reply in tool.replies],
                "otherwise": tool.otherwise,
                "delegate": tool.delegate,
            }
            for name, tool in self.catalogue.items()
        }
        tasks = {
            task.id: [list(task.wordings), list(task.expected), list(self.offers[task.id])]
            for task in self.tasks.values()
        }
        record = {"id": self.id, "system_prompt": self.system_prompt, "tools": tools, "tasks": tasks}
        canonical = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def tools(self, task_id: str) -> tuple[ToolSpec, ...]:
        """The tools that a task is offered, untouched."""
        return tuple(self.catalogue[name].spec for name in self.offers[task_id])

    def world(self, task: Task, wording: int, injection: Injection | None, system: str) -> World:
        """The surroundings of one episode. ``system`` is the system prompt in force."""
        tools = tuple(self.catalogue[name] for name in self.offers[task.id])
        return World(tools, task.wordings[wording], system, injection)


def scenarios() -> tuple[str, ...]:
    """Ids of the scenarios that come with the package."""
    return tuple(sorted(path.stem for path in data_directory("scenarios").glob("*.yaml")))


def load_scenario(name: str | Path, beside: Path | None = None) -> Scenario:
    """A scenario by its id, or from a path that ends in ``.yaml`` or ``.yml``, seen from the folder of ``beside``.

    Raises ``UsageError`` for an unknown id or file and ``DataError``, with the place, for a file that is wrong.
    """
    if isinstance(name, Path) or name.endswith((".yaml", ".yml")):
        path = Path(name) if beside is None else beside.parent / name
        if not store.exists(path):
            raise UsageError(f"no such file: {path}")
        root = read_yaml(path)
        return _recordable(root)
    if name not in scenarios():
        raise UsageError(f"unknown scenario {name!r}; {known_names(name, scenarios())}")
    scenario = _scenario(read_yaml(data_directory("scenarios") / f"{name}.yaml"))
    if scenario.id != name:
        raise UsageError(f"scenario {name!r} calls itself {scenario.id!r}")
    return scenario


def _recordable(root: Node) -> Scenario:
    """The scenario of a file as its recording will have it: with keys masked, from the start."""
    content = root.plain()
    masked = json.loads(mask.text(json.dumps(content, ensure_ascii=False)))
    if masked == content:
        return replace(_scenario(root), content=content)
    _scenario(root)
    return scenario_from(Recorded(masked, root.path))


def scenario_from(content: Node) -> Scenario:
    """The scenario that ``Scenario.content`` was taken from. Raises a located error."""
    return replace(_scenario(content), content=content.plain())


def _scenario(root: Node) -> Scenario:
    entries = root.mapping(("id", "title", "system_prompt", "tools", "tasks"))
    tools = {name: _tool(name, node) for name, node in entries["tools"].entries().items()}
    tasks: dict[str, Task] = {}
    offers: dict[str, tuple[str, ...]] = {}
    for name, node in entries["tasks"].entries().items():
        task = node.mapping(("tools", "wordings"), ("expected",))
        offers[name] = task["tools"].texts(at_least=1)
        for item in task["tools"].items():
            if item.value not in tools:
                item.fail(f"there is no tool {item.value!r}; there are: {', '.join(tools)}")
        expected = task["expected"].texts(at_least=1) if "expected" in task else ()
        tasks[name] = Task(name, task["wordings"].texts(at_least=MINIMUM_WORDINGS), expected)
    if not tasks:
        entries["tasks"].fail("expected at least one task, found none")
    return Scenario(
        id=entries["id"].name(),
        title=entries["title"].text(),
        system_prompt=entries["system_prompt"].text().strip(),
        catalogue=MappingProxyType(tools),
        tasks=MappingProxyType(tasks),
        offers=MappingProxyType(offers),
    )


def _tool(name: str, node: Node) -> Tool:
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name):
        node.fail("expected a tool name of 1 to 64 letters, digits, '_' and '-'")
    entries = node.mapping(("description", "parameters"), ("replies", "otherwise", "delegate"))
    parameters = _parameters(entries["parameters"])
    spec = ToolSpec(name, entries["description"].text().strip(), parameters)
    known = parameters["properties"]
    if "delegate" in entries:
        if "replies" in entries or "otherwise" in entries:
            entries["delegate"].fail("a tool that delegates has no replies")
        return Tool(spec, (), "", _template(entries["delegate"], known))
    if "otherwise" not in entries:
        node.fail("the key 'otherwise' is missing: what the tool answers when no reply fits")
    replies = []
    for item in entries["replies"].items() if "replies" in entries else ():
        reply = item.mapping(("when",), ("text", "texts"))
        if ("text" in reply) == ("texts" in reply):
            item.fail("expected either 'text' or 'texts'")
        texts = [reply["text"]] if "text" in reply else reply["texts"].items(at_least=2)
        when = {key: _wanted(key, value, known) for key, value in reply["when"].entries().items()}
        if not when:
            reply["when"].fail("expected at least one parameter; a reply for every call belongs under 'otherwise'")
        replies.append(Reply(MappingProxyType(when), tuple(_template(text, known) for text in texts)))
    return Tool(spec, tuple(replies), _template(entries["otherwise"], known))


def _parameters(node: Node) -> Mapping[str, Any]:
    entries = node.mapping(("type", "properties"), ("required", "additionalProperties"))
    entries["type"].choice(("object",))
    for schema in entries["properties"].entries().values():
        kind = schema.entries().get("type")
        if kind is None:
            schema.fail("the key 'type' is missing")
        kind.choice(_JSON_TYPES)
    for item in entries["required"].items() if "required" in entries else ():
        if item.text() not in entries["properties"].entries():
            item.fail(f"there is no property {item.value!r}")
    plain: dict[str, Any] = node.plain()
    return plain


def _wanted(name: str, node: Node, known: Mapping[str, Any]) -> Any:
    if name not in known:
        node.fail(f"there is no such parameter; there are: {', '.join(known)}")
    if isinstance(node.value, dict):
        return tuple(word.lower() for word in node.mapping(("any_word",))["any_word"].texts(at_least=1))
    if isinstance(node.value, list) or node.null:
        node.fail("expected a text, a number or a mapping with any_word")
    return node.value


def _template(node: Node, known: Mapping[str, Any]) -> str:
    return check(node, known, "names no parameter")
