"""``similar_loop``: an end to calls that are nearly the same."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from dowbench_benchmark.defenses.checks import choice, share, whole
from dowbench_benchmark.defenses.similarity import jaccard, ngrams
from dowbench_benchmark.model import Abort, Context, Defense, ToolCall


class Grams(NamedTuple):
    """The n-grams of one call."""

    arguments: frozenset[str]
    result: frozenset[str]


@dataclass(slots=True)
class SimilarLoop(Defense):
    """Compares each call of a tool with its earlier ones, by arguments and results, and ends a run of similar ones."""

    name: ClassVar[str] = "similar_loop"
    summary: ClassVar[str] = "calls of one tool with similar arguments and results"
    max_similar_calls: int = 3
    """How many similar calls of one tool are allowed, the first included."""
    similarity: float = 0.8
    """From which Jaccard index on two texts are similar."""
    ngram: int = 3
    """Characters of an n-gram."""
    basis: str = "both"
    """What must be similar: ``arguments``, ``results``, ``both`` or ``either``."""
    _seen: dict[str, list[Grams]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        whole("max_similar_calls", self.max_similar_calls)
        share("similarity", self.similarity)
        whole("ngram", self.ngram)
        choice("basis", self.basis, ("arguments", "results", "both", "either"))

    def on_tool_result(self, call: ToolCall, result: str, context: Context) -> str | Abort | None:
        """Count the earlier calls that are similar to this one."""
        arguments = json.dumps(call.arguments, sort_keys=True, ensure_ascii=False, default=str)
        this = Grams(ngrams(arguments, self.ngram), ngrams(result, self.ngram))
        earlier = self._seen.setdefault(call.name, [])
        similar = 1 + sum(self._similar(this, other) for other in earlier)
        earlier.append(this)
        if similar > self.max_similar_calls:
            return Abort(f"{similar} calls of {call.name} were alike")
        return None

    def _similar(self, left: Grams, right: Grams) -> bool:
        arguments = jaccard(left.arguments, right.arguments) >= self.similarity
        results = jaccard(left.result, right.result) >= self.similarity
        if self.basis == "both":
            return arguments and results
        if self.basis == "either":
            return arguments or results
        return arguments if self.basis == "arguments" else results
