"""The closed set of conditions, compiled to functions that return what made them true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from dowbench.model import Location
from dowbench.result import Bound, Kind
from dowbench.rulepack import matching
from dowbench.rulepack.parameters import compile_test, said_of, searches, speaks, threshold
from dowbench.rulepack.reading import FaultError, Path, boolean, choices, kind_of, mapping
from dowbench.rulepack.settings import LIMITS
from dowbench.rulepack.view import Env, Match, SetView, ToolView, Witness

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dowbench.model import Parameter
    from dowbench.result import OpenPart, Result
    from dowbench.rulepack.matching import Search
    from dowbench.rulepack.view import SetCondition, ToolCondition

KINDS: tuple[str, ...] = get_args(Kind)
BOUNDS: tuple[str, ...] = get_args(Bound)
FORMATS = ("openai", "anthropic", "mcp", "gemini", "bedrock", "langchain", "crewai", "openapi")
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
FLAGS: Mapping[str, Callable[[Result], bool]] = {
    "external": lambda result: result.external,
    "media": lambda result: result.media,
    "reads": lambda result: result.reads,
    "query": lambda result: result.query is not None,
    "recursive": lambda result: result.recursive,
    "unfinished": lambda result: result.unfinished,
    "pages": lambda result: bool(result.continuations),
}
"""What a condition on the result may ask for with true or false."""
RESULT_KEYS = ("kind", "bound", *FLAGS, "open_output")
OPEN_PARTS = ("list", "text")
KIND_WORDS: Mapping[str, str] = {
    "list": "a list",
    "text": "text",
    "document": "text",
    "record": "a record",
    "ack": "an acknowledgement",
    "scalar": "a value",
    "media": "media",
    "generation": "what a model wrote",
    "unknown": "data of unknown size",
}
"""How a message names a kind of result."""


class Operator(NamedTuple):
    """One condition of the language."""

    compile: Callable[[Any, Path, Env], Any]
    about: str
    """What it holds for, in one line of the reference."""
    facts: tuple[str, ...] = ()
    """The placeholders its witnesses fill."""


def figure(value: float | None) -> str:
    """A number as messages print it."""
    if value is None:
        return "not stated"
    if abs(value) >= _COUNTABLE:
        return f"{'-' if value < 0 else ''}{_COUNTABLE:,} or more"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,}"


_COUNTABLE = 2**53
"""From here on a ``float`` does not hold every whole number."""


def compile_tree(value: Any, at: Path, env: Env, operators: Mapping[str, Operator]) -> Any:
    """A tree of ``all``, ``any``, ``not`` over ``operators``, as one function. Several keys must all hold."""
    keys = mapping(value, at, ("all", "any", "not", *operators))
    parts = []
    for key, part in keys.items():
        place = (*at, key)
        if key in ("all", "any"):
            if not isinstance(part, list):
                raise FaultError(f"expected a list of conditions, found {kind_of(part)}", place)
            branches = [compile_tree(branch, (*place, i), env, operators) for i, branch in enumerate(part)]
            parts.append(_all(branches) if key == "all" else _any(branches))
        elif key == "not":
            parts.append(_not(compile_tree(part, place, env, operators)))
        else:
            parts.append(operators[key].compile(part, place, env))
    return parts[0] if len(parts) == 1 else _all(parts)


def supplied(value: Any, operators: Mapping[str, Operator]) -> set[str]:
    """The placeholders that a tree can fill when it holds; what is under ``not`` fills none."""
    found: set[str] = set()
    for key, part in value.items() if isinstance(value, dict) else ():
        if key in ("all", "any"):
            for branch in part if isinstance(part, list) else ():
                found |= supplied(branch, operators)
        elif key in operators:
            found.update(operators[key].facts)
            if key == "parameter" and speaks(part):
                found.update(QUOTATION)
    return found


def _all(parts: list[Any]) -> Any:
    def holds(view: Any) -> Match | None:
        found: Match = ()
        for part in parts:
            match = part(view)
            if match is None:
                return None
            found += match
        return found

    return holds


def _any(parts: list[Any]) -> Any:
    def holds(view: Any) -> Match | None:
        for part in parts:
            match: Match | None = part(view)
            if match is not None:
                return match
        return None

    return holds


def _not(part: Any) -> Any:
    return lambda view: () if part(view) is None else None


# Conditions on a tool


def _name(value: Any, at: Path, env: Env) -> ToolCondition:
    test = matching.name(value, at, env)
    return lambda view: () if test(view.name) else None


def _description(value: Any, at: Path, env: Env) -> ToolCondition:
    search = matching.description(value, at, env)

    def holds(view: ToolView) -> Match | None:
        mention = search(view.sentences)
        if mention is None:
            return None
        tool = view.tool
        place = tool.description_location or tool.location
        facts = {"phrase": mention.text, "quote": mention.context}
        return (Witness(place, f"says “{mention.text}”", tool, facts=facts, kind="description"),)

    return holds


def _parameter(value: Any, at: Path, env: Env) -> ToolCondition:
    test = compile_test(value, at, env)
    quoted = searches(value, env)
    group = id(test)

    def holds(view: ToolView) -> Match | None:
        found = view.meeting(test)
        return tuple(_quoting(parameter_witness(view, p, group), view, quoted) for p in found) if found else None

    return holds


def parameter_witness(view: ToolView, parameter: Parameter, group: int = 0) -> Witness:
    """A parameter as a witness, with what its schema states."""
    path = ".".join(parameter.path)
    limit = view.bound(parameter)
    default = parameter.schema.get("default")
    facts = {
        "parameter": path,
        "maximum": figure(limit.maximum),
        "default": figure(default) if isinstance(default, (int, float)) else str(default),
        "unit": limit.unit,
        "enough": _ENOUGH.get(limit.unit, _ENOUGH["items"]),
    }
    return Witness(parameter.location, f"parameter `{path}`", view.tool, parameter, facts, "parameter", group)


def _quoting(witness: Witness, view: ToolView, quoted: Sequence[Search]) -> Witness:
    """A parameter with the words for which it was found, where it was found for words."""
    assert witness.parameter is not None
    for search in quoted:
        mention = said_of(search, view, witness.parameter)
        if mention is not None:
            return witness._replace(facts={**witness.facts, "phrase": mention.text, "quote": mention.context})
    return witness


_ENOUGH = {
    "items": "50",
    "rows": "50",
    "lines": "500 lines",
    "characters": "20,000 characters",
    "bytes": "20,000 bytes",
    "words": "3,000 words",
    "tokens": "5,000 tokens",
    "time": "7",
    "work": "10",
}
"""What a fix names as an example of a maximum, by unit."""


def _result(value: Any, at: Path, env: Env) -> ToolCondition:
    keys = mapping(value, at, RESULT_KEYS)
    kinds = choices(keys["kind"], (*at, "kind"), KINDS) if "kind" in keys else None
    bounds = choices(keys["bound"], (*at, "bound"), BOUNDS) if "bound" in keys else None
    flags = {k: boolean(keys[k], (*at, k)) for k in FLAGS if k in keys}
    opened = _open_kinds(keys["open_output"], (*at, "open_output")) if "open_output" in keys else None

    def holds(view: ToolView) -> Match | None:
        result = view.result
        if (kinds is not None and result.kind not in kinds) or (bounds is not None and result.bound not in bounds):
            return None
        for flag, wanted in flags.items():
            if FLAGS[flag](result) != wanted:
                return None
        part = result.unbounded_output[0] if result.unbounded_output else None
        if opened is not None and (part.kind if part else None) not in opened:
            return None
        facts = {
            "result.kind": KIND_WORDS[result.kind],
            "result.reason": result.reason,
            "result.cap": figure(result.cap),
            "result.unit": result.unit,
            "result.open": _open_parts(result.unbounded_output),
            "result.output": "response" if view.tool.method is not None else "output",
        }
        tool = view.tool
        found: Match = (Witness(tool.location, "the tool", tool, facts=facts),)
        if flags.get("query") and result.query is not None:
            found += (parameter_witness(view, result.query),)
        if flags.get("pages"):
            found += tuple(parameter_witness(view, parameter) for parameter in result.continuations)
        if opened:
            found += tuple(
                Witness(open_part.schema.location, "nothing bounds this part of the output", tool, kind="output")
                for open_part in result.unbounded_output
            )
        return found

    return holds


def _open_kinds(value: Any, at: Path) -> frozenset[str | None]:
    """What the first open part of a declared output may be; ``None`` stands for no such part."""
    if isinstance(value, bool):
        return frozenset(OPEN_PARTS if value else (None,))
    return choices(value, at, OPEN_PARTS)


def _open_parts(parts: Sequence[OpenPart]) -> str:
    """How a message names the open parts of the declared output: those of the kind of the first."""
    if not parts:
        return "nothing"
    kind = parts[0].kind
    names = list(dict.fromkeys(".".join(part.path) for part in parts if part.kind == kind and part.path))
    return f"the {kind}{'s' if len(names) > 1 else ''} {_listed(names)}" if names else f"a {kind}"


def _definition(value: Any, at: Path, env: Env) -> ToolCondition:
    keys = mapping(value, at, ("tokens_above",), ("tokens_above",))
    limit = threshold(keys["tokens_above"], (*at, "tokens_above"), env)

    def holds(view: ToolView) -> Match | None:
        if view.tokens <= limit:
            return None
        facts = {"tokens": figure(view.tokens)}
        return (Witness(view.tool.location, f"about {figure(view.tokens)} tokens", view.tool, facts=facts),)

    return holds


def _hint(value: Any, at: Path, env: Env) -> ToolCondition:
    keys = mapping(value, at, HINTS)
    wanted = {k: boolean(v, (*at, k)) for k, v in keys.items()}
    return lambda view: () if all(view.tool.hints.get(k) is v for k, v in wanted.items()) else None


def _method(value: Any, at: Path, env: Env) -> ToolCondition:
    wanted = choices(value, at, METHODS)
    return lambda view: () if view.tool.method in wanted else None


def _sibling(value: Any, at: Path, env: Env) -> ToolCondition:
    inner = compile_tree(value, at, env, TOOL)

    def holds(view: ToolView) -> Match | None:
        for other in view.among.meeting(inner):
            if other is not view:
                facts = {"sibling": other.tool.name}
                return (
                    Witness(other.tool.location, f"tool `{other.tool.name}`", other.tool, facts=facts, kind="sibling"),
                )
        return None

    return holds


# Conditions that a tool and a tool set share


def _set_of(view: ToolView | SetView) -> SetView:
    return view if isinstance(view, SetView) else view.among


def _format(value: Any, at: Path, env: Env) -> Callable[[ToolView | SetView], Match | None]:
    wanted = choices(value, at, FORMATS)
    return lambda view: () if _set_of(view).toolset.format in wanted else None


def _limits(value: Any, at: Path, env: Env) -> Callable[[ToolView | SetView], Match | None]:
    keys = mapping(value, at, ("any_of",), ("any_of",))
    wanted = choices(keys["any_of"], (*at, "any_of"), LIMITS)

    def holds(view: ToolView | SetView) -> Match | None:
        limits = {name: limit for name, limit in _set_of(view).limits.items() if name in wanted}
        if not limits:
            return None
        text = " and ".join(f"{name} {figure(limit)}" for name, limit in limits.items())
        return (Witness(Location(""), "declared limit", facts={"declared": text}, kind="limit"),)

    return holds


# Conditions on a tool set


def _tools(value: Any, at: Path, env: Env) -> SetCondition:
    keys = mapping(value, at, ("at_least", "where"), ("at_least",))
    least = threshold(keys["at_least"], (*at, "at_least"), env)
    where = compile_tree(keys["where"], (*at, "where"), env, TOOL) if "where" in keys else _all([])

    def holds(view: SetView) -> Match | None:
        found = [tool for tool in view.tools if where(tool) is not None]
        if len(found) < least:
            return None
        facts = {"count": figure(len(found)), "tools": _listed([tool.tool.name for tool in found])}
        witnesses: Match = (Witness(view.toolset.location, "the tool set", facts=facts, kind="set"),)
        if "where" in keys:
            witnesses += tuple(
                Witness(tool.tool.location, f"tool `{tool.tool.name}`", tool.tool, kind="sibling") for tool in found
            )
        return witnesses

    return holds


def _listed(names: list[str], most: int = 3) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {figure(len(names) - most)} more"


def _definitions(value: Any, at: Path, env: Env) -> SetCondition:
    keys = mapping(value, at, ("tokens_above",), ("tokens_above",))
    limit = threshold(keys["tokens_above"], (*at, "tokens_above"), env)

    def holds(view: SetView) -> Match | None:
        if view.tokens <= limit:
            return None
        facts = {"tokens": figure(view.tokens), "count": figure(len(view.tools))}
        return (Witness(view.toolset.location, f"about {figure(view.tokens)} tokens", facts=facts, kind="set"),)

    return holds


SHARED: Mapping[str, Operator] = {
    "format": Operator(_format, "the document has one of these formats"),
    "limits": Operator(_limits, "the configuration declares one of these limits of the harness", ("declared",)),
}
QUOTATION = ("phrase", "quote")
PARAMETER_FACTS = ("parameter", "maximum", "default", "unit", "enough")
TOOL: Mapping[str, Operator] = {
    "name": Operator(_name, "the tool's name has one of the words"),
    "description": Operator(_description, "a sentence of the description says it, unnegated", QUOTATION),
    "parameter": Operator(_parameter, "one and the same parameter meets all keys", PARAMETER_FACTS),
    "result": Operator(
        _result,
        "what a call returns, and what bounds it",
        ("result.kind", "result.reason", "result.cap", "result.unit", "result.open", "result.output", *PARAMETER_FACTS),
    ),
    "definition": Operator(_definition, "the definition is larger than so many tokens (estimated)", ("tokens",)),
    "hint": Operator(_hint, "MCP annotations; only to lower the confidence"),
    "method": Operator(_method, "OpenAPI: the HTTP method"),
    "sibling": Operator(_sibling, "another tool of the same set meets the conditions", ("sibling",)),
    **SHARED,
}
SET: Mapping[str, Operator] = {
    "tools": Operator(_tools, "the set has at least so many tools (that meet `where`)", ("count", "tools")),
    "definitions": Operator(_definitions, "all definitions together are larger (estimated)", ("tokens", "count")),
    **SHARED,
}


def compile_tool(value: Any, at: Path, env: Env) -> ToolCondition:
    """The conditions of a rule with scope ``tool``."""
    condition: ToolCondition = compile_tree(value, at, env, TOOL)
    return condition


def compile_set(value: Any, at: Path, env: Env) -> SetCondition:
    """The conditions of a rule with scope ``toolset``."""
    condition: SetCondition = compile_tree(value, at, env, SET)
    return condition
