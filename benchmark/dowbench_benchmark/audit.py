"""Recomputes a run's costs, metric and summary from the usage that the provider reported, without the agent loop.

Reads our run directories and those of dowbench 0.1.0, whose ``run.json`` names no format and no prices.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dowbench.errors import UsageError
from dowbench_benchmark import codec, mappers, metrics, prices, results, runfile, store
from dowbench_benchmark.model import UNDEFENDED, Episode, Usage
from dowbench_benchmark.model import UsageError as MappingError
from dowbench_benchmark.store import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from dowbench_benchmark.metrics import Measure
    from dowbench_benchmark.prices import Table


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found."""

    run_name: str
    simulated: bool
    summary: Mapping[str, Any]
    data: bytes
    """The recomputed ``summary.json``."""
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
    raw: Mapping[str, Any]
    mapped: Mapping[str, Any] | None
    place: tuple[str, int]


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run's figures depend on."""

    provider: str
    threshold: float
    baseline: str
    measure: Measure
    unpriced: bool
    ours: bool
    """Whether it is of our format, not that of 0.1.0."""


def audit(directory: Path, *, threshold: float | None = None, price_file: Path | None = None) -> Audit:
    """Audit one run directory. Raises ``UsageError`` or ``StoreError`` for what cannot be read."""
    run = runfile.read(directory)
    try:
        settings = settings_of(run)
        name, simulated = str(run["run_name"]), bool(run["simulated"])
    except (KeyError, TypeError, StopIteration) as error:
        raise UsageError(f"is no run of a known format: {error!r}", path=str(directory / store.RUN)) from None
    notices: list[str] = []
    rows = in_plan(run, recorded_episodes(directory), notices)
    billed = list(billed_calls(directory, {row.attempt: row.model for row in rows}))
    table = {} if settings.unpriced else _prices(run, settings.provider, rows, price_file, notices)
    by_attempt, total, usd, differences = _map(billed, settings, table)
    episodes = []
    for row in rows:
        usage = by_attempt.get(row.attempt, Usage())
        cost = None if settings.unpriced else table[settings.provider, row.model].usd(usage)
        if usage != row.usage:
            differences.append(f"episode {row.episode_id}: usage is {_shown(usage)}, recorded {_shown(row.usage)}")
        elif cost != row.cost_usd and price_file is None:
            differences.append(f"episode {row.episode_id}: cost is {cost!r} USD, recorded {row.cost_usd!r}")
        episodes.append(replace(row, usage=usage, cost_usd=cost))
    if not settings.ours and run.get("spent_tokens") not in (None, total.total):
        notices.append(f"the calls at hand have {total.total} tokens, the run says that it spent {run['spent_tokens']}")
    summary = metrics.summarize(
        episodes,
        run_name=name,
        simulated=simulated,
        threshold=settings.threshold if threshold is None else threshold,
        baseline=settings.baseline,
        measure=settings.measure,
    )
    return Audit(
        run_name=name,
        simulated=simulated,
        summary=summary,
        data=metrics.to_bytes(summary),
        recorded_sha256=results.recorded_sha256(directory),
        calls=len(billed),
        usage=total,
        usd=None if settings.unpriced else usd,
        redecided=price_file is not None or (threshold is not None and threshold != settings.threshold),
        differences=tuple(differences),
        notices=tuple(notices),
    )


def settings_of(run: Mapping[str, Any]) -> Settings:
    """From ``run.json``. Raises ``KeyError``, ``TypeError`` or ``StopIteration`` for another shape."""
    config = run["config"]
    unpriced = bool(config["unpriced"])
    ours = "format" in run
    if ours:
        baseline = next(spec["label"] for spec in config["defenses"] if not spec["stack"])
    else:
        baseline = next(spec["label"] or spec["name"] for spec in config["defenses"] if spec["name"] == UNDEFENDED)
    return Settings(
        provider=config["provider"],
        threshold=float(config["success_threshold"]),
        baseline=baseline,
        # 0.1.0 left an unpriced run without a metric.
        measure=results.measure(unpriced and ours),
        unpriced=unpriced,
        ours=ours,
    )


def recorded_episodes(directory: Path) -> list[Episode]:
    """The rows of ``episodes.jsonl``, the last of each id. Raises a located error for what is none, and for no row."""
    path = directory / store.EPISODES
    found: dict[str, Episode] = {}
    for number, row in enumerate(store.rows(path), 1):
        try:
            episode = codec.episode_from(row)
        except (KeyError, TypeError) as error:
            raise StoreError(f"is no episode: {error}", path=str(path), line=number) from None
        found[episode.episode_id] = episode
    if not found:
        raise UsageError("has no episodes", path=str(path))
    return list(found.values())


def in_plan(run: Mapping[str, Any], rows: list[Episode], notices: list[str]) -> list[Episode]:
    """The rows that belong to the plan, in its order; 0.1.0 recorded none, and its files are in order."""
    if "plan" not in run:
        return rows
    by_id = {row.episode_id: row for row in rows}
    planned = [by_id.pop(item["episode_id"]) for item in run["plan"] if item["episode_id"] in by_id]
    if by_id:
        notices.append(f"{len(by_id)} recorded episode(s) are not planned any more and left out")
    if len(planned) < len(run["plan"]):
        notices.append(f"{len(run['plan']) - len(planned)} planned episode(s) are not recorded yet")
    return planned


def billed_calls(directory: Path, models: Mapping[str, str]) -> Iterator[Billed]:
    """Every answered call, from ``calls.jsonl`` where there is one, else from the cassette."""
    path = directory / store.CALLS
    if path.is_file():
        for number, row in enumerate(store.rows(path), 1):
            if row.get("raw_usage") is not None and not (row.get("error") and row.get("usage") is None):
                try:
                    yield Billed(row["attempt"], row["model"], row["raw_usage"], row.get("usage"), (str(path), number))
                except KeyError as error:
                    raise StoreError(f"is no call: {error} is missing", path=str(path), line=number) from None
        return
    path = directory / store.CASSETTE
    if not path.is_file():
        raise UsageError(
            f"has neither {store.CALLS} nor {store.CASSETTE}: nothing to recompute from", path=str(directory)
        )
    for number, row in enumerate(store.rows(path), 1):
        response = row.get("response")
        if row.get("kind") == "complete" and response is not None:
            try:
                raw = response["raw"]["usage"] if "raw" in response else response["raw_usage"]
                model = row["request"]["model"] if "request" in row else models[row["attempt"]]
                yield Billed(row["attempt"], model, raw, response.get("usage"), (str(path), number))
            except (KeyError, TypeError) as error:
                raise StoreError(f"is no recorded call: {error!r}", path=str(path), line=number) from None


def _map(
    billed: Sequence[Billed], settings: Settings, table: Table
) -> tuple[dict[str, Usage], Usage, float, list[str]]:
    mapper = mappers.mapper(settings.provider)
    by_attempt: dict[str, Usage] = {}
    total, usd = Usage(), 0.0
    differences: list[str] = []
    for call in billed:
        try:
            usage = mapper(call.raw)
        except MappingError as error:
            raise StoreError(str(error), path=call.place[0], line=call.place[1]) from None
        if call.mapped is not None and codec.usage_json(usage) != dict(call.mapped):
            differences.append(f"{call.place[0]}:{call.place[1]}: usage is {_shown(usage)}, recorded {call.mapped}")
        by_attempt[call.attempt] = by_attempt.get(call.attempt, Usage()) + usage
        total = total + usage
        if not settings.unpriced and (price := table.get((settings.provider, call.model))) is not None:
            usd += price.usd(usage)
    return by_attempt, total, usd, differences


def _prices(
    run: Mapping[str, Any], provider: str, rows: Sequence[Episode], price_file: Path | None, notices: list[str]
) -> Table:
    today = prices.load(price_file)
    if price_file is not None:
        source, where = today, str(price_file)
    elif "prices" in run:
        source, where = prices.from_records(run["prices"]), store.RUN
    else:
        source, where = today, "pricing.yaml"
        notices.append("the run recorded no prices; those of pricing.yaml are used")
    used = {(provider, row.model): prices.find(source, provider, row.model, where) for row in rows}
    notices += prices.changes(used.values(), today)
    return used


def _shown(usage: Usage) -> str:
    return ", ".join(f"{name} {count}" for name, count in codec.usage_json(usage).items() if count) or "nothing"
