"""Recomputes a run's costs, metric and summary from the usage that the provider reported, without the agent loop.

Reads our run directories and those of dowbench 0.1.0, whose ``run.json`` names no format and no prices.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dowbench.errors import DowbenchError, UsageError
from dowbench_benchmark import codec, damage, mappers, metrics, prices, results, runfile, store
from dowbench_benchmark.cassette import first_difference
from dowbench_benchmark.model import Episode, Usage
from dowbench_benchmark.model import UsageError as MappingError
from dowbench_benchmark.recorded import optional

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from dowbench_benchmark.prices import Table
    from dowbench_benchmark.recorded import Recorded
    from dowbench_benchmark.runfile import Run


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found."""

    run_name: str
    simulated: bool
    summary: Mapping[str, Any]
    data: bytes
    """The recomputed ``summary.json``."""
    at_most: frozenset[str]
    """Attack episodes whose A is an upper bound (``metrics.at_most``)."""
    recorded_sha256: str | None
    calls: int
    usage: Usage
    """Of all calls, those of abandoned attempts included."""
    usd: float | None
    """Cost of all calls; ``None`` in an unpriced run."""
    redecided: bool
    """Another threshold or other prices than the recorded ones were asked for."""
    differences: tuple[str, ...]
    """Where recorded figures are not what the raw usage gives."""
    notices: tuple[str, ...]

    @property
    def sha256(self) -> str:
        """Of the recomputed ``summary.json``."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def equal(self) -> bool:
        """Whether it is the recorded one, byte for byte."""
        return self.sha256 == self.recorded_sha256


@dataclass(frozen=True, slots=True)
class Billed:
    """An answered call."""

    attempt: str
    model: str
    raw: Recorded
    """The usage as the provider reported it."""
    recorded: Usage | None
    """The usage as it was mapped then."""
    failed: bool
    """Whether it could not be mapped then."""


def audit(directory: Path, *, threshold: float | None = None, price_file: Path | None = None) -> Audit:
    """Audit one run directory. Raises a located error for what cannot be read."""
    run = runfile.read(directory)
    notices: list[str] = []
    rows = in_plan(run, [] if run.planned == 0 else recorded_episodes(directory), notices)
    differences = list(damage.torn(directory))
    if damage.finished(directory, run):
        differences += damage.lost(directory, run, rows)
        altered = list(damage.changed(directory, run))
    else:
        notices += differences
        differences.clear()
        altered = []
    notices += damage.unsealed(directory, run)
    billed = list(billed_calls(directory, rows)) if rows else []
    models = dict.fromkeys([*(row.model for row in rows), *(call.model for call in billed)])
    table = {} if run.unpriced else _prices(run, models, price_file, notices)
    used = _mapped(billed, run, rows, notices, differences)
    by_attempt: dict[str, Usage] = {}
    total, usd = Usage(), 0.0
    for call, usage in zip(billed, used, strict=True):
        by_attempt[call.attempt] = by_attempt.get(call.attempt, Usage()) + usage
        total = total + usage
        usd += 0.0 if run.unpriced else table[run.provider, call.model].usd(usage)
    episodes = []
    for row in rows:
        usage = by_attempt.get(row.attempt or row.episode_id, Usage())
        cost = None if run.unpriced else table[run.provider, row.model].usd(usage)
        if usage != row.usage:
            differences.append(f"episode {row.episode_id}: usage is {_shown(usage)}, recorded {_shown(row.usage)}")
        elif cost != row.cost_usd and price_file is None:
            differences.append(f"episode {row.episode_id}: cost is {cost!r} USD, recorded {row.cost_usd!r}")
        episodes.append(replace(row, usage=usage, cost_usd=cost))
    if not run.ours and run.spent_tokens not in (None, total.total):
        notices.append(f"the calls at hand have {total.total} tokens, the run says that it spent {run.spent_tokens}")
    how = settings(run, rows)
    summary = metrics.summarize(episodes, **(how if threshold is None else {**how, "threshold": threshold}))
    data, recorded = metrics.to_bytes(summary), results.recorded_sha256(directory)
    redecided = price_file is not None or (threshold is not None and threshold != run.threshold)
    if recorded is not None and not redecided and recorded != hashlib.sha256(data).hexdigest():
        differences.append(_summaries(directory / store.SUMMARY, data))
    differences += altered
    return Audit(
        run_name=run.name,
        simulated=run.simulated or how["simulated"],
        summary=summary,
        data=data,
        at_most=metrics.at_most(episodes, how["baseline"], how["measure"]),
        recorded_sha256=recorded,
        calls=len(billed),
        usage=total,
        usd=None if run.unpriced else usd,
        redecided=redecided,
        differences=tuple(differences),
        notices=tuple(notices),
    )


def _summaries(path: Path, data: bytes) -> str:
    """Where the recorded summary first differs from the recomputed one."""
    try:
        before = store.read_json(path).value
    except DowbenchError as error:
        return str(error)
    now = json.loads(data)
    return f"{path}: {first_difference(before, now) if before != now else 'the same values, written in another way'}"


def settings(run: Run, episodes: Iterable[Episode]) -> dict[str, Any]:
    """What ``metrics.summarize`` and ``stats.compute`` need to know of a run, beside its episodes."""
    return {
        "run_name": run.name,
        "simulated": run.simulated if run.ours else any(episode.simulated for episode in episodes),
        "threshold": run.threshold,
        "baseline": run.baseline,
        # 0.1.0 left an unpriced run without a metric.
        "measure": results.measure(run.unpriced and run.ours),
    }


def recorded_episodes(directory: Path) -> list[Episode]:
    """The rows of ``episodes.jsonl``, the last of each id. Raises a located error for what is none, and for no file."""
    path = directory / store.EPISODES
    if not store.exists(path):
        raise UsageError("has no episodes", path=str(path))
    return list({episode.episode_id: episode for episode in map(codec.episode_from, store.rows(path))}.values())


def in_plan(run: Run, rows: list[Episode], notices: list[str]) -> list[Episode]:
    """The rows that belong to the plan, in its order. 0.1.0 recorded none, but its files are in order."""
    planned = run.planned
    if run.plan is not None:
        by_id = {row.episode_id: row for row in rows}
        found = [by_id[episode_id] for episode_id in run.plan if episode_id in by_id]
    elif planned is not None and len(rows) > planned:
        # An episode that was planned otherwise before has another id and stands further up.
        fitting = [row for row in rows if _fits(run, row)]
        tasks = {*run.benign_tasks, *(row.benign_task_id for row in fitting if row.kind != "benign")}
        last = {
            (row.model, row.defense, row.repeat, row.kind, row.item_id): row.episode_id
            for row in fitting
            if row.benign_task_id in tasks
        }
        ids = set(last.values())
        found = [row for row in rows if row.episode_id in ids]
    else:
        found = rows
    if len(found) < len(rows):
        notices.append(f"{len(rows) - len(found)} recorded episode(s) are not planned any more and left out")
    if planned is not None and len(found) < planned:
        yet = " yet" if run.complete is False else ""
        notices.append(f"{planned - len(found)} planned episode(s) are not recorded{yet}")
    return found


def _fits(run: Run, row: Episode) -> bool:
    attacks = run.attacks is None or row.kind == "benign" or row.item_id in run.attacks
    return attacks and row.model in run.models and row.defense in run.defenses and row.repeat < run.repeats


def billed_calls(directory: Path, episodes: Sequence[Episode]) -> Iterator[Billed]:
    """Every answered call, from ``calls.jsonl`` where there is one, else from the cassette. Raises a located error."""
    models = {episode.attempt or episode.episode_id: episode.model for episode in episodes}
    if store.exists(directory / store.CALLS):
        for row in store.rows(directory / store.CALLS):
            raw = row.get("raw_usage")
            if raw is not None:
                yield Billed(
                    _attempt(row), row.at("model").text(), raw, _usage(row), failed=row.get("error") is not None
                )
        return
    if not store.exists(directory / store.CASSETTE):
        raise UsageError(
            f"has neither {store.CALLS} nor {store.CASSETTE}: nothing to recompute from", path=str(directory)
        )
    for row in store.rows(directory / store.CASSETTE):
        response = row.get("response")
        if row.at("kind").value == "complete" and response is not None:
            attempt, request = _attempt(row), row.get("request")
            if request is None and attempt not in models:
                row.fail(f"expected an attempt that {store.EPISODES} has, found {attempt!r}")
            raw = whole.at("usage") if (whole := response.get("raw")) else response.at("raw_usage")
            model = request.at("model").text() if request else models[attempt]
            yield Billed(attempt, model, raw, _usage(response), failed=False)


def _attempt(row: Recorded) -> str:
    """What a call belongs to; before 0.1.0 attempts had no names."""
    attempt = row.get("attempt")
    return attempt.text() if attempt and attempt.value != "" else row.at("episode_id").text()


def _usage(row: Recorded) -> Usage | None:
    return optional(row, "usage", codec.usage_from, None)


def _mapped(
    billed: Sequence[Billed], run: Run, rows: Sequence[Episode], notices: list[str], differences: list[str]
) -> list[Usage]:
    """The usage of each call, mapped anew; what was recorded for one that cannot be, which is a difference."""
    try:
        mapper = mappers.mapper(run.provider)
    except UsageError as error:
        run.row.at("config").at("provider").fail(error.message)
    errored = {row.attempt or row.episode_id for row in rows if row.status == "errored"}
    found, taken = [], 0
    for call in billed:
        if call.failed or (not run.ours and not call.raw.object() and call.attempt in errored):
            # Billed, but nobody could say what: its episode is errored and its cost a lower bound.
            taken += 1
            found.append(call.recorded or Usage())
            continue
        try:
            usage = mapper(call.raw.object())
        except MappingError as error:
            if call.recorded is None:
                call.raw.fail(str(error))
            differences.append(f"{_place(call)}: {error}; what was recorded is taken: {_shown(call.recorded)}")
            usage = call.recorded
        if call.recorded is not None and usage != call.recorded:
            differences.append(f"{_place(call)}: usage is {_shown(usage)}, recorded {_shown(call.recorded)}")
        found.append(usage)
    if taken:
        notices.append(f"{taken} call(s) had no usage that could be mapped; they count with what was recorded")
    return found


def _place(call: Billed) -> str:
    return ":".join(str(part) for part in call.raw.place().values())


def _prices(run: Run, models: Iterable[str], price_file: Path | None, notices: list[str]) -> Table:
    today = prices.load(price_file)
    if price_file is not None:
        source, where = today, str(price_file)
    elif run.prices is not None:
        source, where = run.prices, store.RUN
    else:
        source, where = today, "pricing.yaml"
        notices.append("the run recorded no prices; those of pricing.yaml are used")
    try:
        used = {(run.provider, model): prices.find(source, run.provider, model, where) for model in models}
    except UsageError as error:
        raise UsageError(error.message, path=str(run.path)) from None
    notices += prices.changes(used.values(), today)
    return used


def _shown(usage: Usage) -> str:
    return ", ".join(f"{name} {count}" for name, count in usage.counters().items() if count) or "nothing"
