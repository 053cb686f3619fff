"""The tool ``final_answer``, through which an agent may end its task.

Small models that keep calling tools where they should stop and write answer well by a call. The harness offers the tool
beside the scenario's own where the configuration asks for it. Defenses neither see nor change it, and what they are
shown of a turn that calls it is the answer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dowbench_benchmark.model import ToolSpec

if TYPE_CHECKING:
    from dowbench_benchmark.model import Response

FINAL_ANSWER = ToolSpec(
    "final_answer",
    "Hands over the final answer to the task, which ends it.",
    {
        "type": "object",
        "properties": {"answer": {"type": "string", "description": "The whole answer"}},
        "required": ["answer"],
    },
)


def as_text(response: Response) -> Response:
    """A turn that calls the tool as one that says the answer; other calls of that turn are dropped, not executed.

    Whatever is no text under ``answer`` leaves the text that the model wrote beside the call.
    """
    call = next((call for call in response.tool_calls if call.name == FINAL_ANSWER.name), None)
    if call is None:
        return response
    answer = call.arguments.get("answer")
    stop = "end_turn" if response.stop_reason == "tool_use" else response.stop_reason
    text = answer if isinstance(answer, str) else response.text
    return replace(response, text=text, tool_calls=(), stop_reason=stop)
