"""The live way to a model: record(retry(limit(call))), under the run's budget."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from dowbench.errors import DowbenchError
from dowbench_benchmark import codec, ledger, mask, recorded
from dowbench_benchmark.ledger import Call, Sent
from dowbench_benchmark.loop import Halt
from dowbench_benchmark.model import ProviderError, TransientError, UsageError

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from dowbench_benchmark.budget import Budget
    from dowbench_benchmark.cassette import Digests
    from dowbench_benchmark.config import Retry
    from dowbench_benchmark.loop import Role
    from dowbench_benchmark.model import EpisodeSpec, Provider, Request, Response
    from dowbench_benchmark.prices import Price
    from dowbench_benchmark.ratelimit import Limiter
    from dowbench_benchmark.recorder import Recorder

T = TypeVar("T")
MAX_RETRY_AFTER_S = 120.0
"""A provider that asks for a longer wait is taken at its word, by giving up for now."""


class Interrupted(Halt):
    """Somebody asked the run to stop."""


class BoundBroken(Halt):
    """A provider billed more than it said a call could cost: no budget can be kept with it."""


@dataclass(frozen=True, slots=True)
class Line:
    """What all episodes of a run share on their way to the model."""

    provider: Provider
    recorder: Recorder
    budget: Budget
    limiter: Limiter | None
    retry: Retry
    stop: threading.Event
    """Set when no further call may leave."""
    dated: bool
    """Whether requests carry their time; those of simulated runs do not, so that their files never differ."""


class Live:
    """The meter of one attempt. ``calls`` requests and ``turns`` answers of it are recorded already."""

    def __init__(
        self, line: Line, spec: EpisodeSpec, attempt: str, price: Price | None, digests: Digests, calls: int, turns: int
    ) -> None:
        self._line = line
        self._spec = spec
        self._attempt = attempt
        self._price = price
        self._digests = digests
        self._calls = calls
        self._turns = turns
        self.alarm: str | None = None
        """Why the run must stop after this episode."""

    def count(self, request: Request) -> int:
        """Ask the provider for an upper bound of the prompt. Raises ``ProviderError`` and ``Halt``."""
        recorder = self._line.recorder
        try:
            counted = self._retrying(lambda: _asked(self._line.provider.count, request))
        except TransientError:
            raise
        except ProviderError as error:
            recorder.counted(self._spec, self._attempt, request, self._digests, None, str(error))
            raise
        recorder.counted(self._spec, self._attempt, request, self._digests, counted, None)
        return counted

    def complete(self, request: Request, counted: int, role: Role, depth: int) -> Response:
        """Call the model. Raises ``ProviderError`` and ``Halt``; whatever may have been billed is recorded before."""
        response, sent = self._retrying(lambda: self._send(request, counted, role, depth))
        self._turns += 1
        call = ledger.answered(self._spec, sent, request, response, self._price, self._turns, depth, role)
        self._line.recorder.answered(self._spec, call, request, self._digests, response)
        output = response.usage.output_tokens + response.usage.reasoning_tokens
        prompt = response.usage.total - output
        if prompt > counted or output > request.max_tokens:
            raise BoundBroken(
                f"{self._line.provider.name} billed {prompt} prompt and {output} output tokens for a call bounded by "
                f"{counted} and {request.max_tokens}: no budget can be kept with it"
            )
        return response

    def _send(self, request: Request, counted: int, role: Role, depth: int) -> tuple[Response, Sent]:
        line = self._line
        worst = ledger.worst(counted, request.max_tokens, self._price)
        line.budget.reserve(worst, line.stop.is_set)
        billed = worst
        try:
            sent_at = time.time() if line.limiter is None else line.limiter.acquire(counted)
            at = datetime.fromtimestamp(sent_at, UTC).isoformat(timespec="milliseconds") if line.dated else None
            if line.stop.is_set():
                billed = ledger.Spend()
                raise Interrupted("interrupted")
            sent = Sent(self._attempt, self._calls + 1, self._spec.id, request.model, counted, request.max_tokens, at)
            line.recorder.sent(sent)
            self._calls += 1
            try:
                response = _recordable(_asked(line.provider.complete, request))
            except ProviderError as error:
                if not error.billed:
                    billed = ledger.Spend()
                self._failed(sent, request, role, depth, error)
                raise
            billed = ledger.of_usage(response.usage, self._price)
            return response, sent
        except Halt:
            billed = ledger.Spend()
            raise
        finally:
            line.budget.settle(worst, billed)

    def _failed(self, sent: Sent, request: Request, role: Role, depth: int, error: ProviderError) -> None:
        raw = error.raw_usage if isinstance(error, UsageError) else None
        call = Call(
            attempt=sent.attempt,
            call=sent.call,
            episode_id=sent.episode_id,
            turn=self._turns + 1,
            depth=depth,
            role=role,
            model=request.model,
            counted=sent.counted,
            max_tokens=sent.max_tokens,
            usage=None,
            raw_usage=raw,
            cost_usd=None,
            stop_reason=None,
            served_model=None,
            latency_s=None,
            error=str(error),
            billed=error.billed,
        )
        if isinstance(error, UsageError):
            self.alarm = f"the usage of a call cannot be mapped: {error}"
        if isinstance(error, TransientError):
            self._line.recorder.billed(call)
        else:
            self._line.recorder.answered(self._spec, call, request, self._digests, None)

    def _retrying(self, send: Callable[[], T]) -> T:
        policy = self._line.retry
        delay = policy.base_delay_s
        for left in range(policy.max_attempts - 1, -1, -1):
            if self._line.stop.is_set():
                raise Interrupted("interrupted")
            try:
                return send()
            except TransientError as error:
                wait = error.retry_after if error.retry_after is not None else min(delay, policy.max_delay_s)
                if error.billed or not left or wait > MAX_RETRY_AFTER_S:
                    raise
            delay *= 2
            if self._line.stop.wait(wait):
                raise Interrupted("interrupted")
        raise AssertionError("a retry policy has at least one attempt")


def _recordable(response: Response) -> Response:
    """``response``, if a recording of it can be read again. Raises ``ProviderError``."""
    if recorded.too_deep({"response": codec.response_json(response)}):
        raise ProviderError(f"the answer holds {recorded.TOO_DEEP}", billed=True)
    if not 0 <= response.latency_s < math.inf:
        raise ProviderError(f"the answer has a latency of {response.latency_s} s", billed=True)
    return response


def _asked(ask: Callable[[Request], T], request: Request) -> T:
    """Ask the provider. Messages come back with keys masked; an unforeseen error may have been billed."""
    try:
        return ask(request)
    except ProviderError as error:
        error.args = (mask.text(str(error)),)
        raise
    except DowbenchError as error:
        error.message = mask.text(error.message)
        raise
    except Exception as error:
        raise ProviderError(mask.text(f"raised {type(error).__name__}: {error}"), billed=True) from error
