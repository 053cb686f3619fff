"""What a call of a tool returns, and what bounds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from dowbench.bounds import Limit, upper_bound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dowbench.model import Parameter, Schema, Tool

__all__ = ["Bound", "Kind", "Limit", "Result", "describe", "upper_bound"]

Kind = Literal["list", "text", "document", "record", "ack", "scalar", "media", "generation", "unknown"]
Bound = Literal["none", "schema", "parameter", "documented", "declared", "default", "open"]
Lexicon = "Mapping[str, tuple[tuple[str, ...], ...]]"


@dataclass(frozen=True, slots=True)
class Result:
    """What one call returns, and the witness that decided how large that can be."""

    kind: Kind
    bound: Bound
    cap: float | None = None
    """The bound as a number, where one is stated."""
    unit: str = "items"
    reason: str = ""
    """One plain phrase for a message: what made it this kind."""
    external: bool = False
    """Whether others write what it carries: web, mail, files, logs, rows, user content."""
    media: bool = False
    reads: bool = False
    """Whether the call is made for what it returns, not for what it changes."""
    query: Parameter | None = None
    """The parameter that takes query or program text, where there is one."""
    recursive: bool = False
    """Whether it walks a tree, a glob or links, with nothing that ends it."""
    limits: tuple[Limit, ...] = ()
    continuations: tuple[Parameter, ...] = ()
    unbounded_output: tuple[Schema, ...] = ()
    witness: Parameter | Schema | None = None


def describe(
    tool: Tool,
    lexicon: Mapping[str, tuple[tuple[str, ...], ...]],
    siblings: Sequence[Tool] = (),
) -> Result:
    """Read off ``tool`` what a call returns. ``siblings`` are the tools it is offered with."""
    return Result("unknown", "none")
