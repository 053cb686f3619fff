"""What an attack, or its control, lays over a scenario: text in a tool's result, in the prompt or in a description.

An injection is data and pure functions. ``n`` counts, from 1, the calls of the tools whose results carry it; for one in
a description it counts all tool calls, so that what a server offers may change under way.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from dowbench_benchmark.model import VECTORS
from dowbench_benchmark.template import fill

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dowbench_benchmark.located import Node
    from dowbench_benchmark.model import ToolCall, ToolSpec, Vector

Place = Literal["after", "before", "instead"]
MOST_REPEATS = 10_000
"""Of a padding, at the first call and more with each further one."""
PLACES: tuple[Place, ...] = get_args(Place)


@dataclass(frozen=True, slots=True)
class Padding:
    """Text that makes an injection long: ``repeat`` times, and ``growth`` times more with each further call.

    ``{i}`` counts the repeats; it goes on where the last call ended, so that pages differ.
    """

    text: str
    repeat: int
    growth: int = 0

    def render(self, n: int) -> str:
        """The padding of the ``n``-th call."""
        before = sum(self._count(call) for call in range(1, n))
        return "\n".join(self.text.replace("{i}", str(before + index + 1)) for index in range(self._count(n)))

    def _count(self, n: int) -> int:
        return self.repeat + self.growth * (n - 1)


@dataclass(frozen=True, slots=True)
class Injection:
    """A text and how it is laid into a world.

    Placeholders of ``text``: ``{n}`` and ``{next}``; ``{relay}``, the tool to go on with; a name in ``cycle``, whose
    values take turns; a parameter of the tool that was called.
    """

    vector: Vector
    text: str
    tools: tuple[str, ...] = ()
    """Tools whose results or descriptions carry it; empty for ``user_prompt``."""
    place: Place = "after"
    """Where it stands, seen from the tool's own result (or the task's prompt, or the description)."""
    padding: Padding | None = None
    cycle: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    relay: str | None = None
    """A second tool: results of both carry the text, and ``{relay}`` is the one that was not just called."""
    withheld: str | None = None
    """For the vector ``tool_description``: what the tools return in place of their own result, the same for the
    control. So the answer is out of reach, and what the description adds can be told from that."""

    def prompt(self, prompt: str) -> str:
        """The user's prompt under this injection."""
        return self._join(prompt, self.render()) if self.vector == "user_prompt" else prompt

    def specs(self, tools: tuple[ToolSpec, ...], n: int = 1) -> tuple[ToolSpec, ...]:
        """The tools on offer under this injection, before the ``n``-th tool call of the episode."""
        if self.vector != "tool_description":
            return tools
        return tuple(
            replace(tool, description=self._join(tool.description, self.render(n, tool.name)))
            if tool.name in self.tools
            else tool
            for tool in tools
        )

    def carries(self, tool: str) -> bool:
        """Whether results of ``tool`` are touched."""
        if self.vector == "tool_result":
            return tool in self.tools or tool == self.relay
        return self.withheld is not None and tool in self.tools

    def result(self, call: ToolCall, text: str, n: int) -> str:
        """The ``n``-th result of a tool that carries it, given the tool's own ``text``."""
        if self.vector == "tool_result":
            return self._join(text, self.render(n, call.name, call.arguments))
        if self.withheld is not None:
            return fill(self.withheld, self._values(n, call.name, call.arguments))
        return text

    def render(self, n: int = 1, tool: str = "", arguments: Mapping[str, Any] = MappingProxyType({})) -> str:
        """The text of the ``n``-th time, padding included."""
        text = fill(self.text, self._values(n, tool, arguments))
        return f"{text}\n{self.padding.render(n)}" if self.padding else text

    def record(self) -> dict[str, Any]:
        """Everything that shapes what it does, as JSON; ``injection_from_record`` makes it again."""
        return {
            "vector": self.vector,
            "text": self.text,
            "tools": list(self.tools),
            "place": self.place,
            "padding": [self.padding.text, self.padding.repeat, self.padding.growth] if self.padding else None,
            "cycle": {name: list(values) for name, values in self.cycle.items()},
            "relay": self.relay,
            "withheld": self.withheld,
        }

    def _join(self, own: str, injected: str) -> str:
        if self.place == "instead":
            return injected
        return f"{injected}\n{own}" if self.place == "before" else f"{own}\n{injected}"

    def _values(self, n: int, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = dict(arguments)
        values |= {name: options[(n - 1) % len(options)] for name, options in self.cycle.items()}
        values |= {"n": str(n), "next": str(n + 1)}
        if self.relay is not None:
            values["relay"] = self.relay if tool != self.relay else self.tools[0]
        return values


def injection_from_record(node: Node) -> Injection:
    """The injection that ``Injection.record`` was made from. Raises a located error."""
    entries = node.mapping(("vector", "text", "tools", "place", "padding", "cycle", "relay", "withheld"))
    relay, withheld = entries["relay"], entries["withheld"]
    tools = entries["tools"].texts(at_least=0 if entries["vector"].value == "user_prompt" else 1)
    if not relay.null and not tools:
        relay.fail("expected a second tool beside a single one whose results carry the text")
    return Injection(
        vector=cast("Vector", entries["vector"].choice(VECTORS)),
        text=entries["text"].text(),
        tools=tools,
        place=cast("Place", entries["place"].choice(PLACES)),
        padding=None if entries["padding"].null else _padding(entries["padding"]),
        cycle=MappingProxyType(
            {name: values.texts(at_least=1) for name, values in entries["cycle"].entries().items()},
        ),
        relay=None if relay.null else relay.text(),
        withheld=None if withheld.null else withheld.text(),
    )


def _padding(node: Node) -> Padding:
    if len(node.items()) != 3:
        node.fail("expected a text, its repeats and their growth")
    text, repeat, growth = node.items()
    return Padding(
        text.text(), repeat.integer(minimum=1, maximum=MOST_REPEATS), growth.integer(minimum=0, maximum=MOST_REPEATS)
    )
