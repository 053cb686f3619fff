"""``error_breaker``: an end to trying again after errors."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, ClassVar

from dowbench_benchmark.defenses.checks import names, whole
from dowbench_benchmark.model import Abort, Context, Defense, ToolCall


@dataclass(slots=True)
class ErrorBreaker(Defense):
    """Ends the episode when one tool has failed too often in a row.

    A result is an error when it begins with one of ``prefixes`` (case ignored), or is a JSON object with ``isError``
    or ``is_error`` true, ``error`` not empty, or a ``status`` of 400 or more.
    """

    name: ClassVar[str] = "error_breaker"
    summary: ClassVar[str] = "errors of one tool in a row"
    max_consecutive_errors: int = 3
    prefixes: tuple[str, ...] = ("error", "traceback", "exception", "failed")
    _errors: dict[str, int] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        whole("max_consecutive_errors", self.max_consecutive_errors)
        self.prefixes = names("prefixes", self.prefixes)

    def on_tool_result(self, call: ToolCall, result: str, context: Context) -> str | Abort | None:
        """Count errors; a success starts the count anew."""
        if not self._failed(result):
            self._errors[call.name] = 0
            return None
        self._errors[call.name] = self._errors.get(call.name, 0) + 1
        if self._errors[call.name] >= self.max_consecutive_errors:
            return Abort(f"{call.name} failed {self._errors[call.name]} times in a row")
        return None

    def _failed(self, result: str) -> bool:
        text = result.lstrip()
        if text.lower().startswith(tuple(prefix.lower() for prefix in self.prefixes)):
            return True
        if not text.startswith("{"):
            return False
        try:
            value: Any = json.loads(text)
        except ValueError:
            return False
        status = value.get("status")
        return bool(
            value.get("isError") is True
            or value.get("is_error") is True
            or value.get("error")
            or (isinstance(status, int) and not isinstance(status, bool) and status >= 400)
        )
