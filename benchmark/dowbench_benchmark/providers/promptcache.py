"""The simulated prompt cache: how much of a request its conversation has sent before, word for word.

It remembers nothing. Each answer carries a digest of the prompt that led to it, and comes back with the conversation;
a prompt that still begins with what was digested reads that much from the cache and writes the rest. Real caches also
have a smallest length, a time to live, and readers in other conversations; this one has none of them.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from dowbench_benchmark.model import Message, Request


class Cached(NamedTuple):
    """What the cache makes of a prompt."""

    tokens: int
    """Prompt tokens that it reads; the others it writes."""
    digest: str
    """Of the whole prompt, for the answer to carry."""


def cached(request: Request, head_tokens: int, message_tokens: Callable[[Message], int]) -> Cached:
    """``head_tokens`` are those of the system prompt and the tools, which stand before all messages."""
    running = hashlib.sha256(_line([request.system, [[t.name, t.description, t.parameters] for t in request.tools]]))
    seen = head_tokens
    read = 0
    for message in request.messages:
        if message.role == "assistant" and message.opaque == {"prompt": running.hexdigest()}:
            read = seen
        running.update(_line([message.role, message.content, [[c.name, c.arguments] for c in message.tool_calls]]))
        seen += message_tokens(message)
    return Cached(read, running.hexdigest())


def _line(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, default=str).encode() + b"\n"
