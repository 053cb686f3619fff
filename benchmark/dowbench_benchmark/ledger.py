"""What was sent and what was billed: the rows of ``requests.jsonl`` and ``calls.jsonl``, and the spend they add up to.

A request row is on disk before the request leaves, its call row when the answer is there. A request without a call row
was in flight when the run was killed: it may have been billed, so it counts with the most it can have cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from dowbench_benchmark import codec
from dowbench_benchmark.loop import ROLES
from dowbench_benchmark.model import STOP_REASONS
from dowbench_benchmark.prices import UNIT
from dowbench_benchmark.recorded import Recorded, optional

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dowbench_benchmark.cassette import Event
    from dowbench_benchmark.loop import Role
    from dowbench_benchmark.model import EpisodeSpec, Request, Response, Usage
    from dowbench_benchmark.prices import Price


@dataclass(frozen=True, slots=True)
class Sent:
    """A request on its way."""

    attempt: str
    call: int
    """Number of the request within its attempt, 1 first; a retry has a number of its own."""
    episode_id: str
    model: str
    counted: int
    """Upper bound of its prompt tokens."""
    max_tokens: int
    at: str | None
    """When, ISO 8601 in UTC; ``None`` in a simulated run, whose files say the same every time."""

    @property
    def key(self) -> tuple[str, int]:
        """What it is known by, and its answer."""
        return self.attempt, self.call


@dataclass(frozen=True, slots=True)
class Call:
    """A request and what it cost."""

    attempt: str
    call: int
    episode_id: str
    turn: int
    """Number of the answered call within the episode, 1 first."""
    depth: int
    role: Role
    model: str
    counted: int
    max_tokens: int
    usage: Usage | None
    """``None`` where the call failed or its usage could not be mapped."""
    raw_usage: Mapping[str, Any] | None
    cost_usd: float | None
    stop_reason: str | None
    served_model: str | None
    latency_s: float | None
    error: str | None = None
    billed: bool = True
    """False for a failure that the provider is known not to bill."""

    @property
    def key(self) -> tuple[str, int]:
        """What it is known by, and the request."""
        return self.attempt, self.call


@dataclass(frozen=True, slots=True)
class Spend:
    """Billed tokens, and money in units of 1e-18 USD, both exact. Money is 0 in an unpriced run."""

    tokens: int = 0
    attousd: int = 0

    def __add__(self, other: Spend) -> Spend:
        return Spend(self.tokens + other.tokens, self.attousd + other.attousd)

    def __sub__(self, other: Spend) -> Spend:
        return Spend(self.tokens - other.tokens, self.attousd - other.attousd)

    @property
    def usd(self) -> float:
        """The money in USD, for showing."""
        return self.attousd / UNIT


def of_usage(usage: Usage, price: Price | None) -> Spend:
    """What ``usage`` costs."""
    return Spend(usage.total, price.amount(usage) if price else 0)


def worst(counted: int, max_tokens: int, price: Price | None) -> Spend:
    """The most that one call can cost."""
    return Spend(counted + max_tokens, price.worst(counted, max_tokens) if price else 0)


def spent(calls: Iterable[Call], sent: Iterable[Sent], prices: Mapping[str, Price]) -> Spend:
    """Everything billed or possibly billed: errored, orphaned and in-flight calls included."""
    total = Spend()
    settled: set[tuple[str, int]] = set()
    for call in calls:
        settled.add(call.key)
        price = prices.get(call.model)
        if call.usage is not None:
            total += of_usage(call.usage, price)
        elif call.billed:
            total += worst(call.counted, call.max_tokens, price)
    for request in sent:
        if request.key not in settled:
            total += worst(request.counted, request.max_tokens, prices.get(request.model))
    return total


def answered(
    spec: EpisodeSpec,
    sent: Sent,
    request: Request,
    response: Response,
    price: Price | None,
    turn: int,
    depth: int,
    role: Role,
) -> Call:
    """The call row of an answer."""
    return Call(
        attempt=sent.attempt,
        call=sent.call,
        episode_id=spec.id,
        turn=turn,
        depth=depth,
        role=role,
        model=request.model,
        counted=sent.counted,
        max_tokens=request.max_tokens,
        usage=response.usage,
        raw_usage=response.raw_usage,
        cost_usd=price.usd(response.usage) if price else None,
        stop_reason=response.stop_reason,
        served_model=response.served_model,
        latency_s=response.latency_s,
    )


def from_event(event: Event, sent: Sent, price: Price | None) -> Call:
    """The call row that belongs to a ``complete`` event of the cassette."""
    response = event.response
    usage = None if response is None else response.usage
    return Call(
        attempt=sent.attempt,
        call=sent.call,
        episode_id=sent.episode_id,
        turn=event.turn,
        depth=event.depth,
        role=event.role,
        model=sent.model,
        counted=sent.counted,
        max_tokens=sent.max_tokens,
        usage=usage,
        raw_usage=event.raw_usage if response is None else response.raw_usage,
        cost_usd=price.usd(usage) if price and usage else None,
        stop_reason=None if response is None else response.stop_reason,
        served_model=None if response is None else response.served_model,
        latency_s=None if response is None else response.latency_s,
        error=event.error,
    )


def sent_json(sent: Sent) -> dict[str, Any]:
    """A row of ``requests.jsonl``."""
    return {name: getattr(sent, name) for name in Sent.__slots__}


def sent_from(row: Recorded) -> Sent:
    """A request from its row. Raises a located error."""
    return Sent(
        attempt=row.at("attempt").text(),
        call=row.at("call").count(),
        episode_id=row.at("episode_id").text(),
        model=row.at("model").text(),
        counted=row.at("counted").count(),
        max_tokens=row.at("max_tokens").count(),
        at=optional(row, "at", _time, None),
    )


def _time(node: Recorded) -> str:
    try:
        known = datetime.fromisoformat(node.text()).astimezone(UTC).year >= 1970
    except (ValueError, OverflowError):
        known = False
    if not known:
        node.fail(f"expected a time such as 2026-01-31T12:00:00.000+00:00, found {node.text()[:60]!r}")
    return node.text()


def call_json(call: Call) -> dict[str, Any]:
    """A row of ``calls.jsonl``."""
    row = {name: getattr(call, name) for name in Call.__slots__}
    row["usage"] = None if call.usage is None else call.usage.counters()
    return row


def call_from(row: Recorded) -> Call:
    """A call from its row. Raises a located error."""
    return Call(
        attempt=row.at("attempt").text(),
        call=row.at("call").count(),
        episode_id=row.at("episode_id").text(),
        turn=row.at("turn").count(),
        depth=row.at("depth").count(),
        role=cast("Role", row.at("role").choice(ROLES)),
        model=row.at("model").text(),
        counted=row.at("counted").count(),
        max_tokens=row.at("max_tokens").count(),
        usage=optional(row, "usage", codec.usage_from, None),
        raw_usage=optional(row, "raw_usage", Recorded.object, None),
        cost_usd=codec.cost_from(row.at("cost_usd")),
        stop_reason=optional(row, "stop_reason", lambda node: node.choice(STOP_REASONS), None),
        served_model=optional(row, "served_model", Recorded.characters, None),
        latency_s=optional(row, "latency_s", lambda node: node.number(minimum=0), None),
        error=optional(row, "error", Recorded.characters, None),
        billed=row.at("billed").boolean(),
    )
