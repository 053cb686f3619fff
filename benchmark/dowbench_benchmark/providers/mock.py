"""A simulated model that does whatever it is told, so that the benchmark can be run, tested and shown offline.

Nothing it says is a result. It answers from the request alone: the same request gives the same answer, in any order,
in any thread. Its models differ in whose instructions they follow, for how long, and in whether they cache prompts. A
token is taken to be four bytes of UTF-8; the latency it states is made up from the tokens.
"""

from __future__ import annotations

import json
import math
import threading
import time
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, TypeVar, cast, get_args

from dowbench.errors import UsageError as BadOption
from dowbench_benchmark.located import known_names
from dowbench_benchmark.mappers import counters
from dowbench_benchmark.model import ProviderError, Request, Response, ToolCall, ToolSpec, TransientError, UsageError
from dowbench_benchmark.providers.promptcache import cached
from dowbench_benchmark.providers.reading import Profile, Reading, call_tokens, tokens
from dowbench_benchmark.providers.wishes import Interface

if TYPE_CHECKING:
    from collections.abc import Callable

    from dowbench_benchmark.model import Message

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
_MESSAGE_OVERHEAD = 4
FaultKind = Literal["rate_limited", "overloaded", "connection", "timeout", "unmappable"]
PROFILES: Mapping[str, Profile] = {
    "mock-susceptible": Profile(frozenset({"tool_result", "tool_description", "user_prompt"})),
    "mock-partial": Profile(frozenset({"tool_result", "tool_description", "user_prompt"}), limit=3),
    "mock-results-only": Profile(frozenset({"tool_result"})),
    "mock-resistant": Profile(frozenset(), limit=0),
    "mock-caching": Profile(frozenset({"tool_result", "tool_description", "user_prompt"}), caches=True),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure to act out: about one request in ``every`` fails, ``times`` times, and then succeeds."""

    kind: FaultKind
    every: int = 5
    times: int = 1


class MockProvider:
    """See the module. ``latency_s`` really passes before each answer; ``fault`` makes some calls fail."""

    name: ClassVar[str] = "mock"
    simulated: ClassVar[bool] = True
    key_variable: ClassVar[str | None] = None

    def __init__(self, latency_s: float = 0.0, fault: Fault | None = None) -> None:
        self._latency_s = latency_s
        self._fault = fault
        self._offers: _Remembered[tuple[ToolSpec, ...], _Offer] = _Remembered(_offer)
        self._calls: _Remembered[ToolCall, int] = _Remembered(lambda call: call_tokens(call.name, call.arguments))
        self._failed: Counter[int] = Counter()
        self._lock = threading.Lock()

    @classmethod
    def create(cls, options: Mapping[str, Any]) -> MockProvider:
        """From ``latency_s`` (seconds, at least 0) and ``fault`` (``kind``, ``every``, ``times``)."""
        known = ("latency_s", "fault")
        for name in sorted(set(options).difference(known)):
            raise BadOption(f"provider_options.{name}: unknown key; {known_names(name, known, ' here')}")
        latency = options.get("latency_s", 0.0)
        if not isinstance(latency, int | float) or isinstance(latency, bool) or not 0 <= latency < math.inf:
            raise BadOption(f"provider_options.latency_s: expected seconds of at least 0, found {latency!r}")
        return cls(float(latency), _fault(options["fault"]) if options.get("fault") is not None else None)

    def count(self, request: Request) -> int:
        """The prompt tokens of ``request``, exactly."""
        return self._head(request) + sum(self._message(message) for message in request.messages)

    def complete(self, request: Request) -> Response:
        """Answer. Raises ``UsageError`` of the model's seam for an unknown model, and what ``fault`` asks for."""
        profile = PROFILES.get(request.model)
        if profile is None:
            raise ProviderError(
                f"no such model {request.model!r}; {known_names(request.model, PROFILES)}", billed=False
            )
        if self._latency_s:
            time.sleep(self._latency_s)
        if self._fault is not None:
            self._fail(self._fault, request)
        text, calls, thought, stop = Reading(request, profile, self._offers.of(request.tools).interfaces).answer()
        visible = tokens(text) + sum(call_tokens(call.name, call.arguments) for call in calls)
        raw = {"input_tokens": self.count(request), "output_tokens": visible, "reasoning_tokens": thought}
        opaque = None
        if profile.caches:
            read, digest = cached(request, self._head(request), self._message)
            raw |= {"input_tokens": 0, "cache_read_tokens": read, "cache_write_tokens": raw["input_tokens"] - read}
            opaque = {"prompt": digest}
        latency = self._latency_s or round(0.2 + 0.01 * (visible + thought), 3)
        return Response(text, calls, stop, counters(raw), raw, request.model, latency, opaque)

    def _head(self, request: Request) -> int:
        """Tokens of what stands before the messages."""
        return tokens(request.system) + self._offers.of(request.tools).tokens

    def _message(self, message: Message) -> int:
        calls = sum(self._calls.of(call) for call in message.tool_calls)
        return _MESSAGE_OVERHEAD + tokens(message.content) + calls

    def _fail(self, fault: Fault, request: Request) -> None:
        key = zlib.crc32(repr((request.model, request.messages, request.tools, request.max_tokens)).encode())
        if key % fault.every:
            return
        with self._lock:
            if self._failed[key] >= fault.times:
                return
            self._failed[key] += 1
        if fault.kind == "rate_limited":
            raise TransientError("429 rate limited (simulated)", retry_after=0.01)
        if fault.kind == "overloaded":
            raise TransientError("503 overloaded (simulated)")
        if fault.kind == "connection":
            raise TransientError("connection refused (simulated)")
        if fault.kind == "timeout":
            raise TransientError("no answer after the request was sent (simulated)", billed=True)
        raise UsageError("unknown field 'surprise_tokens' (simulated)", raw_usage={"surprise_tokens": 7})


class _Offer(NamedTuple):
    """What is needed of a list of tools on every call."""

    tokens: int
    interfaces: tuple[Interface, ...]


def _offer(tools: tuple[ToolSpec, ...]) -> _Offer:
    shown = [[tool.name, tool.description, tool.parameters] for tool in tools]
    interfaces = tuple(Interface.of(tool.name, tool.parameters) for tool in tools)
    return _Offer(tokens(json.dumps(shown, ensure_ascii=False)) if tools else 0, interfaces)


class _Remembered(Generic[_Key, _Value]):
    """A function of an immutable object, remembered by its identity; forgets everything when it has grown."""

    _SIZE = 4096

    def __init__(self, function: Callable[[_Key], _Value]) -> None:
        self._function = function
        self._found: dict[int, tuple[_Key, _Value]] = {}

    def of(self, key: _Key) -> _Value:
        found = self._found.get(id(key))
        if found is not None and found[0] is key:
            return found[1]
        value = self._function(key)
        if len(self._found) >= self._SIZE:
            self._found = {}
        self._found[id(key)] = (key, value)
        return value


def _fault(value: Any) -> Fault:
    if not isinstance(value, Mapping) or set(value) - {"kind", "every", "times"}:
        raise BadOption(f"provider_options.fault: expected a mapping of kind, every and times, found {value!r}")
    kind, kinds = value.get("kind"), get_args(FaultKind)
    if kind not in kinds:
        raise BadOption(f"provider_options.fault.kind: expected one of {', '.join(kinds)}, found {kind!r}")
    for name in ("every", "times"):
        number = value.get(name, 1)
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise BadOption(f"provider_options.fault.{name}: expected a whole number of at least 1, found {number!r}")
    return Fault(cast("FaultKind", kind), value.get("every", 5), value.get("times", 1))
