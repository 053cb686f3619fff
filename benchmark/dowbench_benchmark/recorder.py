"""Writes what happens in a run to its files, in an order that a kill at any instant leaves usable.

Before a request: its row in ``requests.jsonl``. After it: the cassette's event, then the call row; a call row that is
missing behind an event is made good from it. The episode row is last.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from dowbench_benchmark import codec, store
from dowbench_benchmark.cassette import Digests, event_row, part_line
from dowbench_benchmark.ledger import Call, Sent, call_json, sent_json

if TYPE_CHECKING:
    from dowbench_benchmark.model import Episode, EpisodeSpec, Request, Response


class Recorder:
    """Thread-safe. ``parts`` are the digests that the cassette holds already; ``served`` gathers, by model, which
    versions answered."""

    def __init__(self, files: store.Store, parts: set[str], served: dict[str, set[str]]) -> None:
        self._served = served
        self._files = files
        self._parts = parts
        self._lock = threading.Lock()

    def sent(self, sent: Sent) -> None:
        """A request is about to leave."""
        self._files.append(store.REQUESTS, codec.line(sent_json(sent)))

    def counted(
        self, spec: EpisodeSpec, attempt: str, request: Request, digests: Digests, tokens: int | None, error: str | None
    ) -> None:
        """A count came back, or a failure that a replay has to repeat."""
        fields = {"input_tokens": tokens, "error": error}
        self._event(request, digests, event_row("count", spec, attempt, digests.request(request), **fields))

    def answered(
        self, spec: EpisodeSpec, call: Call, request: Request, digests: Digests, response: Response | None
    ) -> None:
        """An answer came back, or a failure that a replay has to repeat (then ``call.error`` says what)."""
        fields: dict[str, Any] = {
            "call": call.call,
            "turn": call.turn,
            "depth": call.depth,
            "role": call.role,
            "counted": call.counted,
            "error": call.error,
            "raw_usage": call.raw_usage if response is None else None,
            "response": None if response is None else codec.response_json(response),
        }
        self._event(request, digests, event_row("complete", spec, call.attempt, digests.request(request), **fields))
        self.billed(call)

    def billed(self, call: Call) -> None:
        """A request is settled."""
        if call.served_model is not None:
            with self._lock:
                self._served.setdefault(call.model, set()).add(call.served_model)
        self._files.append(store.CALLS, codec.line(call_json(call)))

    def episode(self, episode: Episode) -> None:
        """An episode is over."""
        self._files.append(store.EPISODES, codec.line(codec.episode_json(episode)))

    def _event(self, request: Request, digests: Digests, event: dict[str, Any]) -> None:
        with self._lock:
            new = [(digest, text) for digest, text in digests.parts(request) if digest not in self._parts]
            data = b"".join(part_line(digest, text) for digest, text in new) + codec.line(event)
            self._files.append(store.CASSETTE, data)
            self._parts.update(digest for digest, _ in new)
