"""``context_clearing``: old tool results are taken out of the conversation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dowbench_benchmark.defenses.checks import whole
from dowbench_benchmark.model import Abort, Context, Defense, Request, Rewrite

CLEARED = "[an earlier result, cleared]"


@dataclass(slots=True)
class ContextClearing(Defense):
    """Once the results in the conversation are long together, replaces all but the last ones by a note.

    What is cleared is not billed again; with a prompt cache, each clearing makes the rest be written anew.
    """

    name: ClassVar[str] = "context_clearing"
    summary: ClassVar[str] = "characters of tool results that are sent again with every turn"
    trigger_chars: int = 4000
    """Clear when the results in the conversation have more characters than this."""
    keep: int = 2
    """How many of the last results always stay."""

    def __post_init__(self) -> None:
        whole("trigger_chars", self.trigger_chars)
        whole("keep", self.keep, minimum=0)

    def before_call(self, request: Request, context: Context) -> Rewrite | Abort | None:
        """Clear old results where they are long together."""
        results = [index for index, message in enumerate(request.messages) if message.role == "tool"]
        if sum(len(request.messages[index].content) for index in results) <= self.trigger_chars:
            return None
        old = set(results[: len(results) - self.keep])
        if all(request.messages[index].content == CLEARED for index in old):
            return None
        return Rewrite(
            messages=tuple(
                replace(message, content=CLEARED) if index in old else message
                for index, message in enumerate(request.messages)
            )
        )
