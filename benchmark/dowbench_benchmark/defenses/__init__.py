"""Defenses: bounds that an agent's harness can keep, whatever model it runs.

One module holds one defense. A defense from another package is an entry point of the group ``dowbench.defenses``. The
same objects serve a user's own agent: see ``guard``.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from dowbench.errors import UsageError
from dowbench_benchmark import plugins
from dowbench_benchmark.model import Defense

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GROUP = "dowbench.defenses"
_HERE = "dowbench_benchmark.defenses"

DEFENSES: Mapping[str, str] = {
    "token_budget": f"{_HERE}.token_budget:TokenBudget",
    "turn_limit": f"{_HERE}.turn_limit:TurnLimit",
    "loop_detect": f"{_HERE}.loop_detect:LoopDetect",
    "result_cap": f"{_HERE}.result_cap:ResultCap",
    "tool_quota": f"{_HERE}.tool_quota:ToolQuota",
    "total_result_cap": f"{_HERE}.total_result_cap:TotalResultCap",
    "result_summary": f"{_HERE}.result_summary:ResultSummary",
    "similar_loop": f"{_HERE}.similar_loop:SimilarLoop",
    "no_progress": f"{_HERE}.no_progress:NoProgress",
    "error_breaker": f"{_HERE}.error_breaker:ErrorBreaker",
    "spend_velocity": f"{_HERE}.spend_velocity:SpendVelocity",
    "description_cap": f"{_HERE}.description_cap:DescriptionCap",
    "description_pin": f"{_HERE}.description_pin:DescriptionPin",
    "context_clearing": f"{_HERE}.context_clearing:ContextClearing",
    "depth_budget": f"{_HERE}.depth_budget:DepthBudget",
}
"""Name to ``module:class``; imported when it is built."""


def names() -> tuple[str, ...]:
    """Every known defense: built-in ones, then those of installed plug-ins."""
    return plugins.names(GROUP, DEFENSES)


def describe(name: str) -> type[Defense]:
    """The class of a defense: ``summary`` says what it bounds. Raises ``UsageError`` for an unknown name."""
    found = plugins.load(GROUP, DEFENSES, name)
    if not (isinstance(found, type) and issubclass(found, Defense)):
        raise UsageError(f"{GROUP}: {name!r} is no subclass of dowbench_benchmark.model.Defense, but {found!r}")
    return found


def parameters(kind: type[Defense]) -> dict[str, Any]:
    """The parameters of a defense and their defaults; ``None`` also stands for a bound that is off."""
    fields = dataclasses.fields(kind) if "__dataclass_fields__" in vars(kind) else ()  # type: ignore[arg-type]
    return {
        field.name: field.default_factory() if callable(field.default_factory) else field.default
        for field in fields
        if field.init
    }


def build(name: str, params: Mapping[str, Any]) -> Defense:
    """A new defense, for one episode. Raises ``UsageError`` that names the parameter and what was expected."""
    kind = describe(name)
    known = parameters(kind)
    for parameter in params:
        if parameter not in known:
            listed = f"its parameters are {', '.join(known)}" if known else "it has none"
            raise UsageError(f"defense {name!r} has no parameter {parameter!r}; {listed}")
    try:
        return kind(**params)
    except (ValueError, TypeError) as error:
        raise UsageError(f"defense {name!r}: {error}") from error


def build_stack(stack: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[Defense, ...]:
    """New defenses for one episode, in the order in which they are asked."""
    return tuple(build(name, params) for name, params in stack)
