"""Small plans and awkward providers for tests of the machinery."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
import yaml
from dowbench_benchmark import config, plan, runfile, runner, store
from dowbench_benchmark.located import read_yaml
from dowbench_benchmark.model import ProviderError, Request, Response, TransientError, UsageError
from dowbench_benchmark.providers.mock import MockProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dowbench_benchmark.plan import Plan
    from dowbench_benchmark.runner import Result

PILOT = Path(__file__).resolve().parents[2].parent / "shared" / "upstream" / "pilot-v2"
"""A run that dowbench 0.1.0 recorded."""
recorded_pilot = pytest.mark.skipif(not PILOT.is_dir(), reason="../shared/upstream/pilot-v2 is not here")

BASE: Mapping[str, Any] = {
    "run_name": "test",
    "provider": "mock",
    "models": ["mock-susceptible"],
    "attacks": ["stale-copy-01", "open-cursor-01"],
    "defenses": ["none", "turn_limit"],
}


QUICK = {"retry": {"max_attempts": 3, "base_delay_s": 0, "max_delay_s": 0}}
"""Three tries, no waiting."""


def make_plan(**changes: Any) -> Plan:
    """A plan of 12 episodes, with ``changes`` to its configuration."""
    root = read_yaml("test.yaml", yaml.safe_dump({**BASE, **changes}, sort_keys=False))
    return plan.make(config.parse(root), root)


def run_plan(made: Plan, directory: Path, provider: Any = None, **changes: Any) -> Result:
    """Run a plan with the mock, or with ``provider``."""
    settings: dict[str, Any] = {"simulated": True, "limits": runner.Limits(), **changes}
    return runner.run(made, directory, lambda: provider or MockProvider(), **settings)


def files(directory: Path) -> dict[str, bytes]:
    """The bytes of a run directory, without ``run.json``, which names how it was run."""
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir()) if path.name != "run.json"}


def episodes(directory: Path) -> list[dict[str, Any]]:
    return [row.value for row in store.rows(directory / "episodes.jsonl")]


def calls(directory: Path) -> list[dict[str, Any]]:
    return [row.value for row in store.rows(directory / "calls.jsonl")]


def said(directory: Path) -> dict[str, Any]:
    run: dict[str, Any] = json.loads((directory / "run.json").read_bytes())
    return run


class Wrapped(MockProvider):
    """The mock, with something done before each call, and what was billed and how many ran at once."""

    simulated: ClassVar[bool] = True

    def __init__(
        self, before: Callable[[int, Request], None] = lambda number, request: None, latency_s: float = 0.0
    ) -> None:
        super().__init__(latency_s)
        self.before = before
        self.calls = 0
        self.most = 0
        self.billed: list[Response] = []
        self.by_request: Counter[str] = Counter()
        self._running = 0
        self._guard = threading.Lock()

    def complete(self, request: Request) -> Response:
        with self._guard:
            self.calls += 1
            number = self.calls
            self._running += 1
            self.most = max(self.most, self._running)
        try:
            self.before(number, request)
            response = super().complete(request)
            with self._guard:
                self.billed.append(response)
            return response
        finally:
            with self._guard:
                self._running -= 1


def failing(error: Callable[[], Exception], *numbers: int) -> Callable[[int, Request], None]:
    """Raise ``error`` at the calls with these numbers."""

    def before(number: int, request: Request) -> None:
        if number in numbers:
            raise error()

    return before


def unmappable() -> Exception:
    """Usage with a field that no mapper knows."""
    return UsageError("unknown usage field 'surprise'", raw_usage={"input_tokens": 5, "surprise": 7})


def overloaded() -> Exception:
    """A failure that is not billed and worth another try."""
    return TransientError("503 overloaded", billed=False)


def timed_out() -> Exception:
    """A failure that may have been billed."""
    return TransientError("no answer", billed=True)


def refused() -> Exception:
    """A failure that another try would not mend."""
    return ProviderError("400 bad request", billed=False)


def slow(seconds: float) -> Callable[[int, Request], None]:
    """Let time pass before each call."""
    return lambda number, request: time.sleep(seconds)


def without(made: Plan, count: int) -> Plan:
    """The plan without its last episodes."""
    return replace(made, episodes=made.episodes[:-count])


def run_part(made: Plan, directory: Path, part: Plan, provider: Any = None) -> None:
    """Run a part of a plan, and leave the directory as a run does that was stopped there."""
    result = run_plan(part, directory, provider)
    said = {"simulated": True, "replayed": False, "complete": False, "served": {}, "spent": result.progress.spent}
    runfile.write(directory, runfile.record(made, **said), durable=False)
    for name in (store.SUMMARY, store.STATS):
        (directory / name).unlink(missing_ok=True)
