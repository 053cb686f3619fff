"""The closed set of conditions, compiled to functions that return what made them true."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from dowbench.model import Location
from dowbench.result import Bound, Kind
from dowbench.rulepack import matching
from dowbench.rulepack.asked import asked
from dowbench.rulepack.facts import (
    KIND_WORDS,
    PARAMETER_FACTS,
    QUOTATION,
    each_open_part,
    figure,
    listed,
    open_parts,
    parameter_witness,
    quotation,
    quoting,
)
from dowbench.rulepack.parameters import compile_test, searches, threshold
from dowbench.rulepack.reading import Path, boolean, choices, mapping
from dowbench.rulepack.settings import LIMITS
from dowbench.rulepack.trees import Operator, compile_tree, every
from dowbench.rulepack.view import Env, Match, SetView, ToolView, Witness

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dowbench.result import Result
    from dowbench.rulepack.view import Fact, SetCondition, ToolCondition

KINDS: tuple[str, ...] = get_args(Kind)
BOUNDS: tuple[str, ...] = get_args(Bound)
FORMATS = ("openai", "anthropic", "mcp", "gemini", "bedrock", "langchain", "crewai", "openapi")
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
LISTINGS = ("bare", "named")
"""Lists of a registry: without arguments for any tool, and with some."""
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
_OPEN = {"list": "a list without `maxItems`", "text": "a text without `maxLength`"}


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
        facts: dict[str, Fact] = {**quotation(mention), "asked": partial(asked, mention, view)}
        what = f"says “{mention.context}”"
        return (Witness(place, what, tool, facts=facts, kind="description", sentence=mention.sentence),)

    return holds


def _parameter(value: Any, at: Path, env: Env) -> ToolCondition:
    test = compile_test(value, at, env)
    quoted = searches(value, env)
    group = id(test)

    def holds(view: ToolView) -> Match | None:
        found = view.meeting(test)
        return tuple(quoting(parameter_witness(view, p, group), view, quoted) for p in found) if found else None

    return holds


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
            "result.open": open_parts(result.unbounded_output),
            "result.each": each_open_part(result.unbounded_output),
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
                Witness(open_part.schema.location, _OPEN[open_part.kind], tool, kind="output")
                for open_part in result.unbounded_output
            )
        return found

    return holds


def _open_kinds(value: Any, at: Path) -> frozenset[str | None]:
    """What the first open part of a declared output may be; ``None`` stands for no such part."""
    if isinstance(value, bool):
        return frozenset(OPEN_PARTS if value else (None,))
    return choices(value, at, OPEN_PARTS)


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


def _listing(value: Any, at: Path, env: Env) -> ToolCondition:
    wanted = choices(value, at, LISTINGS)

    def holds(view: ToolView) -> Match | None:
        if not view.listed:
            return None
        return () if ("bare" if view.among.bare else "named") in wanted else None

    return holds


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


def _tools(value: Any, at: Path, env: Env) -> SetCondition:
    keys = mapping(value, at, ("at_least", "where"), ("at_least",))
    least = threshold(keys["at_least"], (*at, "at_least"), env)
    where = compile_tree(keys["where"], (*at, "where"), env, TOOL) if "where" in keys else every([])

    def holds(view: SetView) -> Match | None:
        found = [tool for tool in view.tools if where(tool) is not None]
        if len(found) < least:
            return None
        facts = {"count": figure(len(found)), "tools": listed([tool.tool.name for tool in found])}
        witnesses: Match = (Witness(view.toolset.location, "the tool set", facts=facts, kind="set"),)
        if "where" in keys:
            witnesses += tuple(
                Witness(tool.tool.location, f"tool `{tool.tool.name}`", tool.tool, kind="sibling") for tool in found
            )
        return witnesses

    return holds


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
TOOL: Mapping[str, Operator] = {
    "name": Operator(_name, "the tool's name has one of the words"),
    "description": Operator(_description, "a sentence of the description says it, unnegated", (*QUOTATION, "asked")),
    "parameter": Operator(_parameter, "one and the same parameter meets all keys", PARAMETER_FACTS),
    "result": Operator(
        _result,
        "what a call returns, and what bounds it",
        (
            "result.kind",
            "result.reason",
            "result.cap",
            "result.unit",
            "result.open",
            "result.each",
            "result.output",
            *PARAMETER_FACTS,
        ),
    ),
    "definition": Operator(_definition, "the definition is larger than so many tokens (estimated)", ("tokens",)),
    "hint": Operator(_hint, "MCP annotations; only to lower the confidence"),
    "method": Operator(_method, "OpenAPI: the HTTP method"),
    "listing": Operator(_listing, "it is an entry of a registry's list"),
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
