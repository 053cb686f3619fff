"""The recording of a run: every count and every answer, in order, with the requests that led to them.

``cassette.jsonl`` holds parts (messages, tool lists and request frames under their digests, each once) and events
(``count`` and ``complete``, naming the request's digest). A replayed loop must ask exactly what was recorded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from dowbench.errors import DowbenchError
from dowbench_benchmark import codec, recorded, store
from dowbench_benchmark.loop import ROLES
from dowbench_benchmark.model import ProviderError
from dowbench_benchmark.recorded import Recorded, optional
from dowbench_benchmark.store import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dowbench_benchmark.loop import Meter, Role
    from dowbench_benchmark.model import EpisodeSpec, Request, Response

_CONTEXT = 40
_REQUEST = 64
"""Length of the digest of a request; other parts have half of it."""
_PART = re.compile(rb'\{"digest":"((?:[0-9a-f]{32}){1,2})","kind":"part","value":')


class DriftError(DowbenchError):
    """The loop asks for something else than was recorded."""


@dataclass(frozen=True, slots=True)
class Event:
    """A count or an answer, or why there was none."""

    kind: Literal["count", "complete"]
    attempt: str
    episode_id: str
    digest: str
    """Of the request."""
    error: str | None
    """The failure that a replay has to repeat."""
    text: bytes
    """Its line, without the end."""
    input_tokens: int = 0
    """What was counted, of a count without error."""
    call: int = 0
    turn: int = 0
    depth: int = 0
    role: Role = "agent"
    response: Response | None = None
    """Of a complete without error."""
    raw_usage: Mapping[str, Any] | None = None
    """Of one that failed because its usage could not be mapped."""


def event_from(row: Recorded, text: bytes) -> Event:
    """An event from its row. Raises a located error."""
    kind = row.at("kind").choice(("count", "complete"))
    digest = row.at("digest").text()
    if not re.fullmatch("[0-9a-f]{64}", digest):
        row.at("digest").fail("expected a sha256")
    error = optional(row, "error", Recorded.characters, None)
    event = Event(
        kind=cast("Literal['count', 'complete']", kind),
        attempt=row.at("attempt").text(),
        episode_id=row.at("episode_id").text(),
        digest=digest,
        error=error,
        text=text,
    )
    if kind == "count":
        return replace(event, input_tokens=row.at("input_tokens").count() if error is None else 0)
    response = optional(row, "response", codec.response_from, None)
    if (response is None) == (error is None):
        row.fail("expected either a response or an error")
    return replace(
        event,
        call=row.at("call").count(),
        turn=row.at("turn").count(),
        depth=row.at("depth").count(),
        role=cast("Role", row.at("role").choice(ROLES)),
        response=response,
        raw_usage=optional(row, "raw_usage", Recorded.object, None),
    )


class Cassette:
    """A recording, read: each event as a whole, each part by its digest; it is decoded when asked for.

    Raises a located error for a line that is neither.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.parts: dict[str, bytes] = {}
        """Digest to the line that holds the part."""
        self.events: dict[str, list[Event]] = {}
        """Attempt to its events, in order."""
        self._lines: dict[str, int] = {}
        for number, text in enumerate(store.lines(path), 1):
            part = _PART.match(text)
            if part is not None:
                digest = part[1].decode()
                if text[-1:] != b"}" or not codec.text_digest(text[part.end() : -1]).startswith(digest):
                    raise StoreError("was changed: the value has another digest", path=str(path), line=number)
                self.parts[digest] = text
                self._lines[digest] = number
                if len(digest) == _REQUEST:
                    self.needs(digest)
            elif text.strip():
                event = event_from(recorded.parse(text, path, number), text)
                self.events.setdefault(event.attempt, []).append(event)

    def part(self, digest: str) -> Any:
        """What is stored under ``digest``, ``None`` where nothing is. Raises a located error."""
        row = self._row(digest)
        return None if row is None else row.plain()

    def needs(self, digest: str) -> tuple[str, ...]:
        """The parts that a request consists of, itself the last; only itself where it is not stored."""
        frame = self._row(digest)
        if frame is None:
            return (digest,)
        return (frame.at("tools").text(), *(message.text() for message in frame.at("messages").items()), digest)

    def request(self, digest: str) -> dict[str, Any] | None:
        """A recorded request in full, ``None`` where it is not stored."""
        frame = self._row(digest)
        if frame is None:
            return None
        tools, *messages, _ = self.needs(digest)
        return {**frame.object(), "messages": [self.part(message) for message in messages], "tools": self.part(tools)}

    def _row(self, digest: str) -> Recorded | None:
        text = self.parts.get(digest)
        return None if text is None else recorded.parse(text, self.path, self._lines[digest]).at("value")


class Replayed:
    """A meter that answers from a recorded attempt. With ``then``, it goes on there when the recording is used up."""

    def __init__(
        self, spec: EpisodeSpec, cassette: Cassette, attempt: str, digester: Digests, then: Meter | None = None
    ) -> None:
        self._spec = spec
        self._cassette = cassette
        self._events = cassette.events.get(attempt, [])
        self._digester = digester
        self._then = then
        self._position = 0

    def count(self, request: Request) -> int:
        """The recorded count, or the recorded failure. Raises ``DriftError``."""
        if self._then is not None and self._position >= len(self._events):
            return self._then.count(request)
        event = self._next("count", request)
        if event.error is not None:
            raise ProviderError(event.error, billed=False)
        return event.input_tokens

    def complete(self, request: Request, counted: int, role: Role, depth: int) -> Response:
        """The recorded answer, or the recorded failure. Raises ``DriftError``."""
        if self._then is not None and self._position >= len(self._events):
            return self._then.complete(request, counted, role, depth)
        event = self._next("complete", request)
        if event.response is None:
            raise ProviderError(str(event.error), billed=True)
        return event.response

    def finish(self) -> None:
        """Raise ``DriftError`` where the recording goes on and the loop does not."""
        left = len(self._events) - self._position
        if left:
            event = self._events[self._position]
            raise self._drift(f"the recording has {left} more event(s), first a {event.kind}")

    def _next(self, kind: str, request: Request) -> Event:
        if self._position >= len(self._events):
            raise self._drift(f"the loop asks for a {kind}, the recording has ended")
        event = self._events[self._position]
        if event.kind != kind:
            raise self._drift(f"the loop asks for a {kind}, recorded is a {event.kind}")
        if event.digest != self._digester.request(request):
            before = self._cassette.request(event.digest)
            if before is None:
                raise self._drift(f"the recorded request {event.digest[:12]}… is not in the cassette")
            raise self._drift("the request differs: " + first_difference(before, codec.request_json(request)))
        self._position += 1
        return event

    def _drift(self, what: str) -> DriftError:
        spec = self._spec
        who = f"{spec.kind} {spec.item_id}, {spec.model}, {spec.defense.label}, repeat {spec.repeat}"
        return DriftError(
            f"episode {spec.id} ({who}), event {self._position + 1}: {what}",
            path=str(self._cassette.path),
        )


class Digests:
    """Digests of requests within one conversation, and the parts they are made of. Not thread-safe."""

    def __init__(self) -> None:
        self._digester = codec.Digester()
        self._last: tuple[Request, str, bytes] | None = None

    def request(self, request: Request) -> str:
        """The digest of a request."""
        return self._frame(request)[0]

    def parts(self, request: Request) -> list[tuple[str, bytes]]:
        """(digest, canonical JSON) of everything that a request consists of, the frame last."""
        found = [self._digester.part(request.tools)]
        found += [self._digester.part(message) for message in request.messages]
        return [*found, self._frame(request)]

    def _frame(self, request: Request) -> tuple[str, bytes]:
        if self._last is None or self._last[0] is not request:
            text = codec.encode(codec.canonical(self._digester.frame(request)))
            self._last = (request, codec.text_digest(text), text)
        return self._last[1], self._last[2]


def part_line(digest: str, text: bytes) -> bytes:
    """The line of a part. Keys are in order, so that the digest leads it."""
    return b'{"digest":"%s","kind":"part","value":%s}\n' % (digest.encode(), text)


def event_row(kind: str, spec: EpisodeSpec, attempt: str, digest: str, **fields: Any) -> dict[str, Any]:
    """An event."""
    return {"kind": kind, "attempt": attempt, "episode_id": spec.id, "digest": digest, **fields}


def first_difference(recorded: Any, now: Any, at: str = "") -> str:
    """Where two JSON values first differ, in words."""
    if isinstance(recorded, dict) and isinstance(now, dict):
        for key in sorted({*recorded, *now}):
            place = f"{at}.{key}" if at else key
            if key not in recorded:
                return f"{place} is new: {_short(now[key])}"
            if key not in now:
                return f"{place} is gone, recorded {_short(recorded[key])}"
            if recorded[key] != now[key]:
                return first_difference(recorded[key], now[key], place)
    if isinstance(recorded, list) and isinstance(now, list):
        for index, (a, b) in enumerate(zip(recorded, now, strict=False)):
            if a != b:
                return first_difference(a, b, f"{at}[{index}]")
        if len(recorded) != len(now):
            return f"{at} has {len(now)} item(s), recorded {len(recorded)}"
    if isinstance(recorded, str) and isinstance(now, str) and recorded != now:
        start = next((i for i, (a, b) in enumerate(zip(recorded, now, strict=False)) if a != b), None)
        start = min(len(recorded), len(now)) if start is None else start
        cut = slice(max(0, start - 10), start + _CONTEXT)
        return f"{at} from character {start + 1}: recorded {recorded[cut]!r}, now {now[cut]!r}"
    return f"{at}: recorded {_short(recorded)}, now {_short(now)}"


def _short(value: Any) -> str:
    text = codec.canonical(value)
    return text if len(text) <= 80 else text[:77] + "…"
