"""The JSON forms of what is recorded, and digests over them.

Lines are UTF-8 JSON with sorted keys and no blanks, on every system. Messages and tool lists are content-addressed:
a long conversation is stored once, not once a turn.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from dowbench_benchmark import mask
from dowbench_benchmark.model import (
    KINDS,
    STATUSES,
    STOP_REASONS,
    Episode,
    Message,
    Request,
    Response,
    ToolCall,
    ToolSpec,
    Usage,
)
from dowbench_benchmark.recorded import MOST, Recorded, optional

if TYPE_CHECKING:
    from dowbench_benchmark.model import Kind, Status, StopReason

LEAST_USD = 1e-18
"""One token at a millionth of a millionth USD a million."""
MOST_USD = 1e15

_strict = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


def canonical(value: Any) -> str:
    """Canonical JSON: sorted keys, no blanks, characters as they are. What JSON cannot say becomes text (``"nan"``)."""
    try:
        return _strict(value)
    except ValueError:
        return _strict(_sayable(value))


def _sayable(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _sayable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_sayable(item) for item in value]
    return value


def encode(text: str) -> bytes:
    """UTF-8 with keys masked; a lone surrogate, which JSON can carry and UTF-8 cannot, becomes its escape."""
    try:
        plain = text.encode()
    except UnicodeEncodeError:
        plain = "".join(c if not "\ud800" <= c <= "\udfff" else f"\\u{ord(c):04x}" for c in text).encode()
    return mask.data(plain)


def line(row: Mapping[str, Any]) -> bytes:
    """One line of a JSON Lines file."""
    return encode(canonical(row)) + b"\n"


def digest(value: Any) -> str:
    """sha256 of the canonical JSON, as hex."""
    return hashlib.sha256(encode(canonical(value))).hexdigest()


def text_digest(text: bytes) -> str:
    """sha256 of encoded canonical JSON, as hex."""
    return hashlib.sha256(text).hexdigest()


def part_digest(text: bytes) -> str:
    """The name under which a message or a tool list is stored: half a sha256, as hex."""
    return hashlib.sha256(text).hexdigest()[:32]


def call_json(call: ToolCall) -> dict[str, Any]:
    """A tool call."""
    return {"id": call.id, "name": call.name, "arguments": call.arguments}


def message_json(message: Message) -> dict[str, Any]:
    """A message without the fields that its role does not have."""
    out: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.role == "assistant":
        out["tool_calls"] = [call_json(call) for call in message.tool_calls]
        out["opaque"] = message.opaque
    elif message.role == "tool":
        out["tool_call_id"] = message.tool_call_id
        out["name"] = message.name
    return out


def tools_json(tools: tuple[ToolSpec, ...]) -> list[dict[str, Any]]:
    """A tool list."""
    return [{"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools]


def request_json(request: Request) -> dict[str, Any]:
    """A whole request, for reading and comparing."""
    return {
        "model": request.model,
        "system": request.system,
        "messages": [message_json(message) for message in request.messages],
        "tools": tools_json(request.tools),
        "max_tokens": request.max_tokens,
        "seed": request.seed,
        "options": request.options,
    }


def response_json(response: Response) -> dict[str, Any]:
    """A response, its raw usage and opaque turn included."""
    return {
        "text": response.text,
        "tool_calls": [call_json(call) for call in response.tool_calls],
        "stop_reason": response.stop_reason,
        "usage": response.usage.counters(),
        "raw_usage": response.raw_usage,
        "served_model": response.served_model,
        "latency_s": response.latency_s,
        "opaque": response.opaque,
    }


def usage_from(row: Recorded) -> Usage:
    """The counters of ``usage_json``; one that is missing is 0, as dowbench 0.1.0 has it. Raises a located error."""
    counters = row.mapping((), Usage.__slots__)
    return Usage(**{name: counter.integer(minimum=0, maximum=MOST) for name, counter in counters.items()})


def response_from(row: Recorded) -> Response:
    """The response that ``response_json`` was made from. Raises a located error."""
    return Response(
        text=row.at("text").characters(),
        tool_calls=tuple(
            ToolCall(call.at("id").characters(), call.at("name").characters(), call.at("arguments").object())
            for call in row.at("tool_calls").items()
        ),
        stop_reason=cast("StopReason", row.at("stop_reason").choice(STOP_REASONS)),
        usage=usage_from(row.at("usage")),
        raw_usage=row.at("raw_usage").object(),
        served_model=optional(row, "served_model", Recorded.characters, None),
        latency_s=row.at("latency_s").number(minimum=0),
        opaque=row.at("opaque").plain(),
    )


def episode_json(episode: Episode) -> dict[str, Any]:
    """A row of ``episodes.jsonl``."""
    row = {name: getattr(episode, name) for name in Episode.__slots__}
    row["usage"] = episode.usage.counters()
    return row


def episode_from(row: Recorded) -> Episode:
    """An episode from its row, dowbench 0.1.0's included. Raises a located error."""
    return Episode(
        episode_id=row.at("episode_id").text(),
        model=row.at("model").text(),
        defense=row.at("defense").text(),
        kind=cast("Kind", row.at("kind").choice(KINDS)),
        item_id=row.at("item_id").text(),
        benign_task_id=row.at("benign_task_id").text(),
        repeat=row.at("repeat").count(),
        status=cast("Status", row.at("status").choice(STATUSES)),
        reason=optional(row, "reason", Recorded.characters, None),
        turns=row.at("turns").count(),
        usage=usage_from(row.at("usage")),
        cost_usd=cost_from(row.at("cost_usd")),
        simulated=row.at("simulated").boolean(),
        attempt=optional(row, "attempt", lambda node: node.text(blank=True), ""),
        wording=optional(row, "wording", Recorded.count, 0),
        answered=optional(row, "answered", Recorded.boolean, None),
    )


def cost_from(node: Recorded) -> float | None:
    """USD, or ``None`` for null: 0, or from the least that a price can make of a token. Raises a located error."""
    if node.null:
        return None
    cost = node.number(minimum=0, maximum=MOST_USD)
    if 0 < cost < LEAST_USD:
        node.fail(f"expected 0 or at least {LEAST_USD:g}, found {cost!r}")
    return cost


def attempt_number(attempt: str) -> int:
    """The number at the end of an attempt's name, 0 where there is none."""
    number = attempt.rpartition("-")[2]
    return int(number) if re.fullmatch("[0-9]{1,9}", number) else 0


class Digester:
    """Digests of requests. Each message and tool list is encoded once, however many requests carry it.

    Not thread-safe: one a conversation.
    """

    def __init__(self) -> None:
        self._parts: dict[int, tuple[Any, str, bytes]] = {}

    def part(self, value: Message | tuple[ToolSpec, ...]) -> tuple[str, bytes]:
        """Digest and canonical JSON of a message or a tool list."""
        known = self._parts.get(id(value))
        if known is None:
            plain = message_json(value) if isinstance(value, Message) else tools_json(value)
            text = encode(canonical(plain))
            known = self._parts[id(value)] = (value, part_digest(text), text)
        return known[1], known[2]

    def frame(self, request: Request) -> dict[str, Any]:
        """The request with its messages and tools as digests."""
        return {
            "model": request.model,
            "system": request.system,
            "messages": [self.part(message)[0] for message in request.messages],
            "tools": self.part(request.tools)[0],
            "max_tokens": request.max_tokens,
            "seed": request.seed,
            "options": request.options,
        }
