"""A tool and a tool set as conditions look at them: what several rules ask is worked out once."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from dowbench import words
from dowbench.model import EMPTY, NO_CHILDREN, Location
from dowbench.prose import Mentions, Sentence, sentences
from dowbench.result import Lexicon, describe, shows_snapshots, upper_bound
from dowbench.result.arguments import argument_texts

if TYPE_CHECKING:
    from collections.abc import Hashable

    from dowbench.model import Parameter, Schema, Tool, ToolSet
    from dowbench.result import Result
    from dowbench.result.bounds import Limit

_IN_PYTHON = frozenset({"crewai", "langchain"})
"""Formats whose tools are declared as Python classes."""
CHARACTERS_PER_TOKEN = 4
"""Rule of thumb for English and JSON; OpenAI's help pages give it ("What are tokens and how to count them?")."""
_NOT_SENT = frozenset({"outputSchema", "output_schema", "annotations", "_meta"})
"""Parts of a definition that a model is not offered, so that nobody is billed for them."""
_OPERATION = frozenset({"operationId", "summary", "description", "parameters", "requestBody"})
"""Parts of an OpenAPI operation that a tool is made from."""

_ALIKE = 20
"""So many names are looked at for the word that all begin with."""
MOST_KINDS = 200_000
"""Kinds of parameters that are remembered from one tool to the next."""


Fact = str | Callable[[], str]
"""A text, or what makes it when a message has it."""


class Witness(NamedTuple):
    """An element that made a condition true."""

    location: Location
    what: str
    """What it is, for the message at a related place."""
    tool: Tool | None = None
    parameter: Parameter | None = None
    facts: Mapping[str, Fact] = EMPTY
    """Values for the placeholders of a message."""
    kind: str = "tool"
    """``tool``, ``parameter``, ``output``, ``description``, ``sibling``, ``limit`` or ``set``."""
    group: int = 0
    """Which condition of the rule it comes from, where that made several."""
    sentence: Sentence | None = None
    """What a description says, where it was found for that."""


Match = tuple[Witness, ...]


class Inputs(NamedTuple):
    """How a tool declares its inputs, as a fix says where to add one."""

    noun: str = "parameter"
    """``parameter``, ``query parameter``, ``property`` or ``field``."""
    place: str = ""
    """Where it goes, where that is not plain."""
    strict: bool = False
    """Whether each input has to be named in ``required``."""


PLAIN_INPUTS = Inputs()
FIELDS = Inputs("field", "in the arguments class (`args_schema`)")
LISTED = Inputs("parameter", "in the server's own `inputSchema` (this listing has no place for it)")
QUERY = Inputs("query parameter")
BODY = Inputs("property", "in the request body")
STRICT = Inputs(strict=True)


class _Known:
    """What remembers what was found in it."""

    def __init__(self) -> None:
        self._known: dict[int, Any] = {}

    def once(self, search: Callable[[Any], Any], argument: Any) -> Any:
        """What a search gives for something that is always the same for this view, looked for once."""
        key = id(search)
        if key not in self._known:
            self._known[key] = search(argument)
        return self._known[key]


class ToolView(_Known):
    """One tool among those it is offered with."""

    def __init__(self, tool: Tool, among: SetView) -> None:
        super().__init__()
        self.tool = tool
        self.among = among
        self.roles: dict[tuple[int, str], bool] = {}

    @cached_property
    def name(self) -> tuple[str, ...]:
        """The words of its name."""
        return words.split(self.tool.name)

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """Its description."""
        return sentences(self.tool.description, self.tool.name)

    @cached_property
    def mentions(self) -> Mentions:
        """The identifiers that its description mentions."""
        return Mentions(self.sentences)

    def told(self, parameter: Parameter) -> str:
        """What is said of a parameter: its description, else the line about it in the tool's own text."""
        if parameter.description or parameter.nested:
            return parameter.description
        return self._argument_texts.get(parameter.name, "")

    @cached_property
    def _argument_texts(self) -> Mapping[str, str]:
        return argument_texts(self.tool.description)

    @cached_property
    def result(self) -> Result:
        """What a call returns."""
        return describe(self.tool, self.among.lexicon, lambda: self.among.shows_snapshots, self.among.namespace)

    @cached_property
    def limits(self) -> Mapping[int, Limit]:
        """Its limit-like parameters, by the identity of the parameter."""
        return {id(limit.parameter): limit for limit in self.result.limits}

    def result_roles(self, role: str) -> frozenset[int]:
        """Identities of the parameters that limit the result, or that continue it."""
        return self._limiting if role == "result_limit" else self._continuing

    @cached_property
    def _limiting(self) -> frozenset[int]:
        return frozenset(self.limits)

    @cached_property
    def _continuing(self) -> frozenset[int]:
        return frozenset(id(parameter) for parameter in self.result.continuations)

    def bound(self, parameter: Parameter) -> Limit:
        """The upper bound of a parameter's value."""
        return self.limits.get(id(parameter)) or upper_bound(parameter)

    def meeting(self, test: ParameterTest) -> list[Parameter]:
        """Its parameters that meet a test, in their order."""
        asked, met = self.among.answers[id(test)]
        kinds, parameters = self._kinds, self.tool.parameters
        if not asked.issuperset(kinds):
            for kind, parameter in zip(kinds, parameters, strict=True):
                if kind not in asked:
                    if test(self, parameter):
                        met.add(kind)
                    asked.add(kind)
        if met.isdisjoint(kinds):  # nearly always
            return []
        return [parameter for kind, parameter in zip(kinds, parameters, strict=True) if kind in met]

    @cached_property
    def _kinds(self) -> list[int]:
        """A number for each parameter, the same for all that no test can tell from each other.

        Tools of one set have many parameters in common, and every rule looks at all of them.
        """
        limits, continuations, text = self.limits, self.result_roles("continuation"), self.tool.description
        found = []
        for parameter in self.tool.parameters:
            name, path, schema, required, _, place, _ = parameter
            limit = limits.get(id(parameter))
            role = (limit.maximum, limit.source, limit.unit) if limit else id(parameter) in continuations
            # What the tool's text says of one of its parameters is about no other tool's.
            spoken_of = name in text and bool(self.mentions.of(name))
            alike = (
                name,
                len(path) > 1,
                schema.types,
                required,
                self.told(parameter),
                place,
                role,
                spoken_of and id(self),
            )
            found.append(self.among.kind(alike, schema))
        return found

    @cached_property
    def listed(self) -> bool:
        """Whether it is an entry of a registry's list, which may say nothing at all of a tool without arguments."""
        return self.tool.listed or (not self.tool.parameters and self.among.listing)

    @cached_property
    def inputs(self) -> Inputs:
        """Where a parameter would be added to it."""
        tool, top = self.tool, self.tool.inputs
        if self.among.toolset.format in _IN_PYTHON:
            return FIELDS
        if self.listed:
            return LISTED
        if tool.strict:
            return STRICT
        if tool.method is not None:
            return BODY if any(p.place == "body" for p in tool.parameters) else QUERY
        wrapped = len(top) == 1 and top[0].schema.types == ("object",) and len(tool.parameters) > 1
        return Inputs("property", f"inside `{top[0].name}`") if wrapped else PLAIN_INPUTS

    @cached_property
    def tokens(self) -> int:
        """Estimate of what its definition costs on every turn, in tokens."""
        return estimate_tokens(self.tool.definition, self.among.toolset.format)

    @cached_property
    def camel(self) -> bool:
        """Whether its names are written like ``maxResults``, not ``max_results``."""
        names = [p.name for p in self.tool.parameters] or [self.tool.name]
        return any(_camel(n) for n in names) and not any("_" in n for n in names)


def _camel(name: str) -> bool:
    return name[:1].islower() and not name.islower() and "_" not in name and "-" not in name


class SetView(_Known):
    """A tool set, with the limits that the agent's harness was declared to enforce."""

    def __init__(self, toolset: ToolSet, lexicon: Lexicon = EMPTY, limits: Mapping[str, float] = EMPTY) -> None:
        super().__init__()
        self.toolset = toolset
        self.lexicon = lexicon
        self.limits = limits
        self.tools: Sequence[ToolView] = tuple(ToolView(tool, self) for tool in toolset.tools)
        self.types: dict[int, frozenset[str]] = {}
        """Types of schemas that were asked for, by identity."""
        self._meeting: dict[int, list[ToolView]] = {}
        self._kinds: dict[Hashable, int] = {}
        self._forgotten = 0
        self.answers: dict[int, tuple[set[int], set[int]]] = defaultdict(lambda: (set(), set()))
        """For a test of a parameter, by its identity: the kinds it was asked of, and those of them that meet it."""

    def kind(self, alike: tuple[Hashable, ...], schema: Schema) -> int:
        """The number for what is ``alike`` and has such a schema."""
        kinds, keywords, number = self._kinds, schema.keywords, self._forgotten + len(self._kinds)
        if schema.children is NO_CHILDREN:
            values = keywords.values()
            try:
                # 1 and True are equal, and not the same to a test.
                return kinds.setdefault((*alike, *keywords, *values, *map(type, values)), number)
            except TypeError:  # a list among the values
                return kinds.setdefault((*alike, id(keywords)), number)
        return kinds.setdefault((*alike, schema.identity or id(schema), id(keywords)), number)

    def settle(self) -> None:
        """Between tools: forget the kinds of parameters where there are so many that few come again.

        A number is never given twice, since views keep theirs.
        """
        if len(self._kinds) > MOST_KINDS:
            self._forgotten += len(self._kinds)
            self._kinds.clear()
            self.answers.clear()
            self.types.clear()

    def forget(self) -> None:
        """Let go of the tools, which refer back to it: while the collector is paused they would stay."""
        self.tools = ()
        self._meeting.clear()
        self._known.clear()

    def meeting(self, condition: Callable[[ToolView], Any]) -> Sequence[ToolView]:
        """The tools that meet a condition, worked out once."""
        key = id(condition)
        if key not in self._meeting:
            self._meeting[key] = [view for view in self.tools if condition(view) is not None]
        return self._meeting[key]

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of its tools that no text has by chance, those of several words."""
        return frozenset(view.tool.name for view in self.tools if len(words.split(view.tool.name)) > 1)

    @cached_property
    def bare(self) -> bool:
        """Whether none of its tools has an input."""
        return not any(view.tool.parameters for view in self.tools)

    @cached_property
    def listing(self) -> bool:
        """Whether it is a registry's list."""
        return any(view.tool.listed for view in self.tools)

    @cached_property
    def namespace(self) -> str:
        """The word that the names of all tools begin with, where there are several: that of the product."""
        first = {words.split(tool.name)[:1] for tool in self.toolset.tools[:_ALIKE]}
        return first.pop()[0] if len(first) == 1 and len(self.toolset.tools) > 2 and () not in first else ""

    @cached_property
    def shows_snapshots(self) -> bool:
        """Whether it is a browser's, whose tools answer acts with snapshots of the page."""
        return shows_snapshots(self.toolset.tools)

    @cached_property
    def tokens(self) -> int:
        """Estimate of what all definitions together cost on every turn, in tokens."""
        return sum(view.tokens for view in self.tools)


_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode


def estimate_tokens(definition: Any, format: str) -> int:
    """Roughly how many tokens a definition is as JSON: one for every four characters, what is not sent left out."""
    if isinstance(definition, Mapping):
        sent = _OPERATION if format == "openapi" else definition.keys() - _NOT_SENT
        definition = {k: v for k, v in definition.items() if k in sent and not str(k).startswith("x-")}
    return -(-len(_json(definition)) // CHARACTERS_PER_TOKEN)


ParameterTest = Callable[["ToolView", "Parameter"], bool]
ToolCondition = Callable[[ToolView], "Match | None"]
SetCondition = Callable[[SetView], "Match | None"]


class Env(NamedTuple):
    """What conditions of one rule are compiled with."""

    lists: Mapping[str, Any]
    """Word lists by name, compiled."""
    roles: Mapping[str, Any] = EMPTY
    """Tests of a parameter, by the name of the role."""
    options: Mapping[str, float] = EMPTY
    checked: bool = False
    """Whether what is compiled was compiled before, so that words need no checking."""
    strict: bool = True
    """Whether a placeholder that no condition fills is an error."""
