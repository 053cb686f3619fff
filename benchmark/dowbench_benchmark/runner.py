"""Runs a plan: in one directory, under one lock, one budget and one limiter, with any number of episodes at once."""

from __future__ import annotations

import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dowbench.errors import DowbenchError, UsageError
from dowbench_benchmark import arrange, damage, ledger, lock, recording, results, runfile, store
from dowbench_benchmark.budget import Budget, BudgetReached, show_usd
from dowbench_benchmark.cassette import Digests, DriftError, Replayed
from dowbench_benchmark.episode import perform
from dowbench_benchmark.ledger import Spend
from dowbench_benchmark.loop import Halt
from dowbench_benchmark.metering import Interrupted, Line, Live
from dowbench_benchmark.model import TransientError
from dowbench_benchmark.ratelimit import DailyLimitReached, Limiter
from dowbench_benchmark.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from dowbench_benchmark.model import Episode, EpisodeSpec, Provider
    from dowbench_benchmark.plan import Plan
    from dowbench_benchmark.recording import Recording

PATIENCE = 3
"""After so many episodes in a row that failed for the same reason the run stops."""
AGENT_FACTOR = 2
"""A user's own agent is held to its ceiling only after the call that crosses it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may spend. ``partial``: start although the worst case does not fit, and stop at the budget."""

    attousd: int | None = None
    """Units of 1e-18 USD."""
    tokens: int | None = None
    partial: bool = False


@dataclass(slots=True)
class Progress:
    """Where a run is."""

    planned: int
    done: int
    """Episodes with a row, those of earlier runs included."""
    errored: int = 0
    failed: int = 0
    """Left without a row by a transient failure."""
    spent: Spend = field(default_factory=Spend)
    """Of all runs in the directory."""
    begun: int = 0
    """Episodes with a row when this run started."""
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Result:
    """How a run ended."""

    code: int
    """Exit code: 0 done, 1 something errored, 3 a limit was reached, 130 interrupted."""
    message: str | None
    """Why it stopped before the end of the plan."""
    progress: Progress
    summary: results.Written | None
    """What was written, once every planned episode has its row."""
    notices: tuple[str, ...]
    how: str = ""
    """What the same command needs to go on."""


def run(
    plan: Plan,
    directory: Path,
    make_provider: Callable[[], Provider],
    *,
    simulated: bool,
    limits: Limits,
    resume: bool = True,
    break_lock: bool = False,
    concurrency: int | None = None,
    stop: threading.Event | None = None,
    watch: Callable[[Progress], None] = lambda progress: None,
) -> Result:
    """Run what of ``plan`` has no row in ``directory`` yet. ``watch`` is called from this thread, now and then.

    ``break_lock`` says that no other run goes on, where the system cannot tell. ``stop``, when set, ends the run after
    the calls in flight. Raises ``UsageError`` for what is refused, before a provider is made, and ``StoreError`` where
    a file cannot be written.
    """
    _make(directory)
    plan, earlier, sealed = _earlier(plan, directory, resume=resume)
    preflight(plan, earlier, limits, simulated=simulated)
    with lock.held(directory, takeover=break_lock) as before:
        plan, earlier, sealed = _earlier(plan, directory, resume=resume)
        preflight(plan, earlier, limits, simulated=simulated)
        files = store.Store(directory, durable=not simulated)
        if before is not None:
            files.notices.append(f"{directory / lock.NAME}: taken over from {before}, which is gone")
        try:
            files.mend(store.LOGS)
            stop = stop or threading.Event()
            return _Run(plan, directory, files, earlier, sealed, limits, make_provider, simulated, stop, watch).go(
                concurrency or plan.config.concurrency
            )
        finally:
            files.close()


def _earlier(plan: Plan, directory: Path, *, resume: bool) -> tuple[Plan, Recording, Mapping[str, str] | None]:
    """The plan with the prices recorded here, what is recorded, and the sha256 of the logs of a run that was done;
    ``None`` where it was, and nobody noted them."""
    plan, _ = runfile.resumed(plan, directory)
    earlier = recording.read(directory, plan.prices)
    if earlier.used and not resume:
        message = "holds a run already; leave out --no-resume to go on with it, or take another directory"
        raise UsageError(message, path=str(directory))
    if not store.exists(directory / store.RUN):
        if earlier.used:
            raise UsageError(
                f"holds rows of a run, and no {store.RUN} that says of which; choose another directory with --out",
                path=str(directory),
            )
        return plan, earlier, {}
    run = runfile.read(directory)
    for what in damage.beyond_repair(directory, run, earlier):
        raise UsageError(f"{what}; nothing is touched: bring the file back, or choose another directory with --out")
    return plan, earlier, None if any(damage.unsealed(directory, run)) else run.files


def preflight(plan: Plan, earlier: Recording, limits: Limits, *, simulated: bool) -> Spend:
    """Check that the run may start; the worst case of what is pending. Raises ``UsageError``."""
    if plan.config.unpriced:
        if limits.attousd is not None:
            raise UsageError("an unpriced run has no USD: give --budget-tokens instead of --budget-usd")
        if limits.tokens is None and not simulated:
            raise UsageError("an unpriced run needs --budget-tokens")
    elif limits.attousd is None and not simulated:
        raise UsageError("a run that costs money needs --budget-usd")
    pending = earlier.pending(plan)
    worst = worst_case(plan, pending)
    if not limits.partial:
        already = spent_before(plan, earlier)
        total = already + worst
        advice = f"for {len(pending)} episode(s); raise it, plan less, or stop there: --partial"
        if limits.attousd is not None and total.attousd > limits.attousd:
            raise UsageError(
                f"the budget of {show_usd(limits.attousd)} does not cover {show_usd(already.attousd)} spent and a "
                f"worst case of {show_usd(worst.attousd)} {advice}"
            )
        if limits.tokens is not None and total.tokens > limits.tokens:
            raise UsageError(
                f"the budget of {limits.tokens:,} tokens does not cover {already.tokens:,} spent and a worst case of "
                f"{worst.tokens:,} {advice}"
            )
    return worst


def worst_case(plan: Plan, pending: list[EpisodeSpec]) -> Spend:
    """The most that ``pending`` can cost: every ceiling reached, every token at its model's highest rate."""
    factor = AGENT_FACTOR if plan.config.agent else 1
    tokens = plan.config.ceiling.max_total_tokens * factor
    attousd = sum(tokens * price.highest for spec in pending if (price := plan.prices.get(spec.model)) is not None)
    return Spend(tokens * len(pending), attousd)


def spent_before(plan: Plan, earlier: Recording) -> Spend:
    """What was billed, or may have been, in the runs recorded so far."""
    return ledger.spent(earlier.every_call, earlier.sent, plan.prices)


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UsageError("is no directory", path=str(directory)) from None
    except OSError as error:
        raise UsageError(f"cannot be made: {error.strerror}", path=str(directory)) from None


class _Run:
    def __init__(
        self,
        plan: Plan,
        directory: Path,
        files: store.Store,
        earlier: Recording,
        sealed: Mapping[str, str] | None,
        limits: Limits,
        make_provider: Callable[[], Provider],
        simulated: bool,
        stop: threading.Event,
        watch: Callable[[Progress], None],
    ) -> None:
        self.plan = plan
        self.directory = directory
        self.files = files
        self.earlier = earlier
        self.sealed = sealed
        self.simulated = simulated
        self.stop = stop
        self.watch = watch
        self.make_provider = make_provider
        spent = spent_before(plan, earlier)
        self.budget = Budget(attousd=limits.attousd, tokens=limits.tokens, spent=spent)
        planned = {spec.id for spec in plan.episodes}
        self.rows = {key: episode for key, episode in earlier.episodes.items() if key in planned}
        rows = self.rows.values()
        self.progress = Progress(
            planned=len(plan.episodes),
            done=len(rows),
            errored=sum(episode.status == "errored" for episode in rows),
            spent=spent,
            begun=len(rows),
            limits=limits,
        )
        self.pending = deque(earlier.pending(plan))
        self.changed = threading.Condition()
        self.halt: BaseException | None = None
        self.quitting = threading.Event()
        """No further call may leave: somebody asked, or something ended the run."""
        self.served = runfile.served(earlier.every_call)
        self.working = 0
        self.streak: tuple[str, int] = ("", 0)

    def go(self, concurrency: int) -> Result:
        if self.pending or not store.exists(self.directory / store.RUN):
            self._write_run(complete=False)
        parts = set(self.earlier.cassette.parts) if self.earlier.cassette else set()
        recorder = Recorder(self.files, parts, self.served)
        for call in self.earlier.unbilled:
            recorder.billed(call)
        if self.pending:
            limit = None if self.simulated else self.plan.config.rate_limit
            line = Line(
                provider=self.make_provider(),
                recorder=recorder,
                budget=self.budget,
                limiter=Limiter(limit, self.earlier.sent, wait=self._wait) if limit else None,
                retry=self.plan.config.retry,
                stop=self.quitting,
                dated=not self.simulated,
            )
            self._work(line, recorder, min(concurrency, len(self.pending)))
        if self.halt is not None and not isinstance(self.halt, Halt):
            with suppress(DowbenchError):
                self.files.sync()
                self._write_run(complete=False)
            raise self.halt
        self.files.sync()
        ordered = concurrency == 1 and not self.earlier.used
        return self._finish(ordered, self.halt)

    def _work(self, line: Line, recorder: Recorder, concurrency: int) -> None:
        threads = [
            threading.Thread(target=self._worker, args=(line, recorder), name=f"episode-{number}", daemon=True)
            for number in range(concurrency)
        ]
        self.working = len(threads)
        for thread in threads:
            thread.start()
        while True:
            with self.changed:
                if self.working:
                    self.changed.wait(0.1)
                working = self.working
            if self.stop.is_set():
                self.quitting.set()
            self.progress.spent = self.budget.spent
            self.watch(self.progress)
            if not working:
                break
        for thread in threads:
            thread.join()

    def _worker(self, line: Line, recorder: Recorder) -> None:
        try:
            while not self.quitting.is_set() and not self.stop.is_set():
                with self.changed:
                    if not self.pending:
                        return
                    spec = self.pending.popleft()
                self._episode(line, recorder, spec)
        except BaseException as error:
            with self.changed:
                if self.halt is None or isinstance(self.halt, Interrupted):
                    self.halt = error
            self.quitting.set()
        finally:
            with self.changed:
                self.working -= 1
                self.changed.notify_all()

    def _episode(self, line: Line, recorder: Recorder, spec: EpisodeSpec) -> None:
        try:
            episode, alarm = self._attempt(line, spec)
        except TransientError as error:
            with self.changed:
                self.progress.failed += 1
            self._streak(f"{error}")
            return
        recorder.episode(episode)
        with self.changed:
            self.rows[spec.id] = episode
            self.progress.done += 1
            self.progress.errored += episode.status == "errored"
        if alarm is not None:
            raise _Alarm(alarm)
        self._streak(episode.reason or "errored" if episode.status == "errored" else "")

    def _attempt(self, line: Line, spec: EpisodeSpec) -> tuple[Episode, str | None]:
        """Run an episode, going on from what an interrupted attempt has recorded."""
        price = self.plan.prices.get(spec.model)
        number = self.earlier.attempt(spec)
        if number and self.earlier.cassette is not None:
            attempt = f"{spec.id}-{number}"
            digests = Digests()
            calls = sum(sent.attempt == attempt for sent in self.earlier.sent)
            turns = sum(event.response is not None for event in self.earlier.cassette.events.get(attempt, []))
            live = Live(line, spec, attempt, price, digests, calls, turns)
            meter = Replayed(spec, self.earlier.cassette, attempt, digests, then=live)
            try:
                return perform(self.plan, spec, attempt, meter, simulated=self.simulated), live.alarm
            except DriftError:
                number += 1
        attempt = f"{spec.id}-{number or 1}"
        live = Live(line, spec, attempt, price, Digests(), 0, 0)
        return perform(self.plan, spec, attempt, live, simulated=self.simulated), live.alarm

    def _streak(self, reason: str) -> None:
        with self.changed:
            self.streak = (reason, self.streak[1] + 1 if reason == self.streak[0] else 1)
            if reason and self.streak[1] >= PATIENCE and self.pending:
                raise _Alarm(f"{PATIENCE} episodes in a row failed: {reason}")

    def _wait(self, seconds: float) -> None:
        self.quitting.wait(seconds)
        if self.quitting.is_set():
            raise Interrupted("interrupted")

    def _finish(self, ordered: bool, halt: Halt | None) -> Result:
        written = None
        complete = self.progress.done == self.progress.planned
        if complete and not ordered:
            self.files.close()
            arrange.arrange(self.directory, self.plan, durable=not self.simulated)
        self._write_run(complete=False)
        if complete:
            episodes = [self.rows[spec.id] for spec in self.plan.episodes]
            written = results.write(self.plan, self.directory, episodes, simulated=self.simulated)
            # What logs were when the run was done first stands: going over it again would hide what has changed since.
            if self.sealed is not None:
                now = store.digests(self.directory)
                self.sealed = {**now, **self.sealed, store.STATS: now[store.STATS]}
            self._write_run(complete=True)
        code, message = self._verdict(halt, complete)
        how = "with a larger budget " if isinstance(halt, BudgetReached) else ""
        return Result(code, message, self.progress, written, tuple(self.files.notices), how)

    def _verdict(self, halt: Halt | None, complete: bool) -> tuple[int, str | None]:
        if not complete and (self.stop.is_set() or isinstance(halt, Interrupted)):
            return 130, "interrupted"
        if isinstance(halt, BudgetReached | DailyLimitReached):
            return 3, str(halt)
        if halt is not None:
            return 1, str(halt)
        if self.progress.failed:
            return 1, f"{self.progress.failed} episode(s) failed for now and are run again by the same command"
        return (1 if self.progress.errored else 0), None

    def _write_run(self, *, complete: bool) -> None:
        content = runfile.record(
            self.plan,
            simulated=self.simulated,
            replayed=False,
            complete=complete,
            served=self.served,
            spent=self.budget.spent,
            files=self.sealed or {},
        )
        runfile.write(self.directory, content, durable=not self.simulated)


class _Alarm(Halt):
    """Something is wrong that more episodes would only repeat."""
