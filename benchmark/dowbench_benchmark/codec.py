"""The JSON forms of what is recorded, and digests over them.

Lines are UTF-8 JSON with sorted keys and no blanks, on every system. Messages and tool lists are content-addressed:
a long conversation is stored once, not once a turn.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

from dowbench_benchmark import mask
from dowbench_benchmark.model import KINDS, STATUSES, Episode, Message, Request, Response, ToolCall, ToolSpec, Usage

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


def usage_json(usage: Usage) -> dict[str, int]:
    """The counters by name."""
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
    }


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
        "usage": usage_json(response.usage),
        "raw_usage": response.raw_usage,
        "served_model": response.served_model,
        "latency_s": response.latency_s,
        "opaque": response.opaque,
    }


def response_from(row: Mapping[str, Any]) -> Response:
    """The response that ``response_json`` was made from. Raises ``KeyError`` or ``TypeError`` for another shape."""
    return Response(
        text=row["text"],
        tool_calls=tuple(ToolCall(c["id"], c["name"], c["arguments"]) for c in row["tool_calls"]),
        stop_reason=row["stop_reason"],
        usage=Usage(**row["usage"]),
        raw_usage=row["raw_usage"],
        served_model=row["served_model"],
        latency_s=row["latency_s"],
        opaque=row["opaque"],
    )


def episode_json(episode: Episode) -> dict[str, Any]:
    """A row of ``episodes.jsonl``."""
    row = {name: getattr(episode, name) for name in Episode.__slots__}
    row["usage"] = usage_json(episode.usage)
    return row


def episode_from(row: Mapping[str, Any]) -> Episode:
    """An episode from its row, dowbench 0.1.0's included. Raises ``KeyError`` or ``TypeError`` for another shape."""
    episode = Episode(**{**row, "usage": Usage(**row["usage"])})
    for name in ("episode_id", "model", "defense", "item_id", "benign_task_id", "attempt"):
        if not isinstance(getattr(episode, name), str):
            raise TypeError(f"{name!r}: expected text")
    if episode.kind not in KINDS or episode.status not in STATUSES:
        raise TypeError(f"expected a known kind and status, found {episode.kind!r}, {episode.status!r}")
    counts = usage_json(episode.usage) | {name: getattr(episode, name) for name in ("repeat", "turns", "wording")}
    for name, count in counts.items():
        if type(count) is not int or count < 0:
            raise TypeError(f"{name!r}: expected a whole number of at least 0, found {count!r}")
    cost = episode.cost_usd
    if cost is not None and not (type(cost) in (int, float) and 0 <= cost < math.inf):
        raise TypeError(f"'cost_usd': expected a number of at least 0, found {cost!r}")
    return episode


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
