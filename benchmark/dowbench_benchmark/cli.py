"""The benchmark's commands: parse, call, print, exit code. Imported when one of them is called."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowbench.errors import UsageError
from dowbench.output import write_file, write_out
from dowbench_benchmark import brief
from dowbench_benchmark.terminal import note, say, warn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import FrameType

    from dowbench_benchmark.estimate import Estimate, Pace
    from dowbench_benchmark.ledger import Spend
    from dowbench_benchmark.located import Node
    from dowbench_benchmark.model import Provider
    from dowbench_benchmark.plan import Plan

KINDS = ("attacks", "tasks", "defenses", "providers", "models", "scenarios", "configs")


class _Named(click.Path):
    """A path; not an empty one, as a variable gives that is not set: it would be the working directory."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("the value is empty", param, ctx)
        return super().convert(value, param, ctx)


NAMED = _Named(path_type=Path)
_PRICES = click.option(
    "--prices",
    "price_file",
    type=NAMED,
    metavar="FILE",
    help="A price table in place of the shipped one.",
)
_OUT = click.option("--out", type=NAMED, metavar="DIR", help="The run directory. Default: runs/<run_name>.")


def _plan(name: str, price_file: Path | None, out: Path | None) -> tuple[Plan, Node, Path, list[str]]:
    """Plan, its YAML, its directory and notices; on a used directory the prices that are recorded there hold."""
    from dowbench_benchmark import config, plan, runfile

    configuration, root = config.load(name)
    made = plan.make(configuration, root, price_file)
    directory = out if out is not None else runfile.RUNS / configuration.run_name
    made, notices = runfile.resumed(made, directory, price_file)
    return made, root, directory, notices


@click.command("estimate", short_help="What a run may cost at most, and how long it takes. No key, no SDK.")
@click.argument("config")
@_OUT
@_PRICES
def estimate(config: str, out: Path | None, price_file: Path | None) -> None:
    """Print episodes, calls, worst and expected cost of CONFIG, a file or the name of a shipped configuration."""
    from dowbench_benchmark import estimate as estimating
    from dowbench_benchmark import providers, recording

    plan, _, directory, notices = _plan(config, price_file, out)
    simulated = providers.provider_class(plan.config.provider).simulated
    earlier = recording.read(directory, plan.prices)
    say(*_estimate_lines(plan, estimating.estimate(plan, earlier), simulated))
    note(notices)


def _estimate_lines(plan: Plan, found: Estimate, simulated: bool) -> list[str]:
    from dowbench_benchmark.budget import show_usd

    def money(spend: Spend) -> str:
        tokens = f"{spend.tokens:,} tokens"
        return tokens if plan.config.unpriced else f"{tokens}, {show_usd(spend.attousd)}"

    mark = brief.banner(simulated=simulated)
    lines = [mark] if mark else []
    lines += [
        f"episodes: {found.planned} planned, {found.pending} pending",
        f"calls: at most {found.most_calls:,}, each counted first, tries after a failure apart",
        f"worst case: {money(found.worst)}",
    ]
    lines += [f"expected case: {text}" for text in _expected_lines(found, money)]
    lines.append(f"already spent here: {money(found.spent)}")
    if plan.config.rate_limit is not None and simulated:
        lines.append("rate limits: not applied, the provider is simulated")
    elif found.pace is not None:
        lines.append(f"rate limits: at most {_pace(found.pace)}")
        if found.expected_pace is not None:
            lines[-1] += f"; expected {_pace(found.expected_pace)}"
    return lines


def _expected_lines(found: Estimate, money: Callable[[Spend], str]) -> list[str]:
    expected, pending = found.expected, found.pending
    if expected is None:
        return ["unknown, none of these tasks and attacks is recorded yet"] if pending else ["nothing is pending"]
    known = f"{money(expected.spend)} in {expected.calls:,.0f} calls, from {expected.recorded} recorded episode(s)"
    if expected.covered == pending:
        return [known]
    return [
        f"unknown for {pending - expected.covered} pending episode(s): none of the same task or attack is recorded yet",
        f"for the other {expected.covered}, {known}",
    ]


def _pace(pace: Pace) -> str:
    from dowbench_benchmark.progress import duration

    parts = [] if pace.minutes is None else [duration(pace.minutes * 60)]
    parts += [] if pace.days is None else [f"{pace.days} day(s) of the daily limit"]
    return ", ".join(parts) or "no time worth naming"


@click.command("run", short_help="Run a configuration and record every call.")
@click.argument("config")
@_OUT
@click.option("--budget-usd", metavar="USD", help="What all runs in the directory may cost together.")
@click.option("--budget-tokens", metavar="N", help="The same in billed tokens; for unpriced runs.")
@click.option("--partial", is_flag=True, help="Start although the worst case is above the budget, and stop there.")
@click.option("--resume/--no-resume", default=True, help="Go on with a used directory (default), or refuse it.")
@click.option("--concurrency", type=click.IntRange(1, 64), help="Episodes at once, in place of the configuration's.")
@_PRICES
@click.option("--break-lock", is_flag=True, help="No other run goes on here: for the lock of one on another machine.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def run(
    config: str,
    out: Path | None,
    budget_usd: str | None,
    budget_tokens: str | None,
    partial: bool,
    resume: bool,
    concurrency: int | None,
    price_file: Path | None,
    break_lock: bool,
    quiet: bool,
) -> int:
    """Run CONFIG, a file or the name of a shipped configuration. The same command goes on where a run stopped."""
    from dowbench_benchmark import plan as planning
    from dowbench_benchmark import progress, providers, runner

    limits = runner.Limits(_usd(budget_usd), _tokens(budget_tokens), partial)
    plan, root, directory, notices = _plan(config, price_file, out)
    kind = providers.provider_class(plan.config.provider)

    def provider() -> Provider:
        try:
            return kind.create(plan.config.provider_options)
        except UsageError as error:
            raise planning.located(root, error) from None

    mark = brief.banner(simulated=kind.simulated)
    if mark:
        say(mark)
    note(notices)
    plain = not sys.stderr.isatty() or bool(os.environ.get("CI"))
    meter = progress.Meter(sys.stderr, unpriced=plan.config.unpriced, plain=plain, simulated=kind.simulated)
    with _signals() as stop:
        try:
            result = runner.run(
                plan,
                directory,
                provider,
                simulated=kind.simulated,
                limits=limits,
                resume=resume,
                break_lock=break_lock,
                concurrency=concurrency,
                stop=stop,
                watch=(lambda _: None) if quiet else meter,
            )
        finally:
            meter.finish()
    note(result.notices)
    lines = [meter.text(result.progress)]
    if result.summary is not None:
        written = result.summary
        note(brief.about(written.at_most))
        lines += [brief.table(written.summary, written.at_most), f"summary.json sha256 {written.sha256}"]
    try:
        say(*lines, *([mark] if mark else []), f"recorded in {directory}")
    except UsageError as error:
        warn(f"error: {error}")  # the run is what it is, whoever hears of it
    if result.message is not None:
        ended = "" if result.summary is not None else f"; the same command {result.how}goes on"
        warn(f"stopped: {result.message}{ended}")
    return result.code


@contextmanager
def _signals() -> Iterator[threading.Event]:
    """An event that SIGINT, SIGTERM and SIGHUP set. A second one leaves at once: everything recorded is on disk.

    A run that was started to outlive its terminal (nohup) does.
    """
    stop = threading.Event()

    def handle(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        with suppress(OSError):  # not through a stream, which the signal may have interrupted at its work
            os.write(2, b"finishing the calls in flight; once more to leave at once\n")

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    numbers = [signal.SIGINT, signal.SIGTERM]
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:
        numbers.append(hangup)
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _usd(text: str | None) -> int | None:
    from dowbench_benchmark.budget import parse_usd

    if text is None:
        return None
    try:
        return parse_usd(text)
    except UsageError as error:
        raise UsageError(f"--budget-usd: {error.message}") from None


def _tokens(text: str | None) -> int | None:
    if text is None:
        return None
    plain = text.replace("_", "").replace(",", "")
    if not plain.isascii() or not plain.isdigit() or len(plain) > 15:
        shown = text if len(text) <= 40 else text[:39] + "…"
        raise UsageError(f"--budget-tokens: expected a whole number from 0 to {10**15 - 1:,}, found {shown!r}")
    return int(plain)


@click.command("replay", short_help="Run the agent loop again from a recording, without a provider.")
@click.argument("run_dir", type=NAMED)
@click.option("--out", type=NAMED, metavar="DIR", help="Where to. Default: runs/<name of RUN_DIR>.replay.")
def replay(run_dir: Path, out: Path | None) -> None:
    """Replay RUN_DIR. The first difference from the recording ends it with exit code 2."""
    from dowbench_benchmark import replay as replaying
    from dowbench_benchmark import runfile

    target = out if out is not None else runfile.RUNS / f"{run_dir.resolve().name}.replay"
    found = replaying.replay(run_dir, target)
    mark = brief.banner(simulated=found.simulated, replayed=True) or ""
    note(found.notices)
    lines = [f"{len(found.episodes)} episodes replayed without a difference"]
    if found.summary is None:
        lines[0] += f"; {found.missing} are not recorded yet"
    else:
        equal = found.summary.sha256 == found.recorded_sha256
        note(brief.about(found.summary.at_most))
        lines.insert(0, brief.table(found.summary.summary, found.summary.at_most))
        lines.append(f"summary.json sha256 {found.summary.sha256}: {'equal' if equal else 'DIFFERENT'}")
    say(mark, *lines, mark, f"written to {target}")
    if found.summary is not None and found.summary.sha256 != found.recorded_sha256:
        recorded = "is missing" if found.recorded_sha256 is None else f"has sha256 {found.recorded_sha256}"
        raise UsageError(f"the recorded summary.json {recorded}", path=str(run_dir))


@click.command("audit", short_help="Recompute a run's figures from the usage that the provider reported.")
@click.argument("run_dir", type=NAMED)
@click.option("--threshold", type=float, metavar="X", help="Decide success at A ≥ X, whatever was recorded.")
@_PRICES
@click.option("-o", "--output", type=NAMED, metavar="FILE", help="Write the recomputed summary.json.")
def audit(run_dir: Path, threshold: float | None, price_file: Path | None, output: Path | None) -> int:
    """Audit RUN_DIR, also one of dowbench 0.1.0. Exit code 1 where the recorded figures are not what comes out."""
    from dowbench_benchmark import audit as auditing

    if threshold is not None and not 1 < threshold < float("inf"):
        raise UsageError(f"--threshold: expected a number above 1, found {threshold}")
    found = auditing.audit(run_dir, threshold=threshold, price_file=price_file)
    if output is not None:
        write_file(output, found.data.decode(), _files(run_dir))
    mark = brief.banner(simulated=found.simulated)
    marks = [mark] if mark else []
    spent = f"{found.usage.total:,} billed tokens" + ("" if found.usd is None else f", {found.usd:.4f} USD")
    head = f"{found.run_name}: {found.calls} calls, {spent}, success at A ≥ {found.summary['success_threshold']:g}"
    note([*found.notices, *brief.about(found.at_most)])
    for difference in found.differences[:10]:
        warn(f"different: {difference}")
    if len(found.differences) > 10:
        warn(f"different: {len(found.differences) - 10} more")
    if found.recorded_sha256 is None:
        verdict = "the run recorded no summary.json to compare with"
    elif found.equal:
        verdict = "equal to the recorded summary.json"
    elif found.redecided:
        verdict = f"decided anew, so it is not the recorded summary.json (sha256 {found.recorded_sha256})"
    else:
        verdict = f"DIFFERENT from the recorded summary.json (sha256 {found.recorded_sha256})"
    say(*marks, head, brief.table(found.summary, found.at_most), f"summary.json sha256 {found.sha256}", *marks, verdict)
    unequal = found.recorded_sha256 is not None and not found.equal and not found.redecided
    return 1 if found.differences or unequal else 0


def _files(run_dir: Path) -> list[str]:
    """What a command read, and may not write over."""
    return [str(path) for path in run_dir.iterdir()]


@click.command("report", short_help="Write about a run: tables in Markdown, or a page with plots.")
@click.argument("run_dir", type=NAMED)
@click.option("-o", "--output", type=NAMED, metavar="FILE", help="Default: standard output.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["markdown", "html"]),
    help="Default: html for a FILE that ends with .html, else markdown.",
)
def report(run_dir: Path, output: Path | None, form: str | None) -> None:
    """Report on RUN_DIR, also one of dowbench 0.1.0. The HTML is one file that loads nothing."""
    from dowbench_benchmark import report as reporting

    if form is None:
        form = "html" if output is not None and output.suffix.lower() in (".html", ".htm") else "markdown"
    text = reporting.render(run_dir, form)
    if output is None:
        write_out(text)
        return
    write_file(output, text, _files(run_dir))
    say(f"written to {output}")


@click.command("list", short_help="List attacks, tasks, defenses, providers, models, scenarios, configurations.")
@click.argument(
    "what",
    type=click.Choice([*KINDS, "all"]),
    default="all",
)
@click.option("--scenario", metavar="ID", help="Attacks and tasks of this scenario.")
@_PRICES
def list_command(what: str, scenario: str | None, price_file: Path | None) -> None:
    """List what a configuration can name."""
    from dowbench_benchmark import listing

    sections = listing.sections(scenario, price_file)
    for name, rows in sections.items():
        if what in (name, "all"):
            if what == "all":
                say(f"{name}:")
            say(listing.columns(rows(), indent=2 if what == "all" else 0))


COMMANDS: Mapping[str, click.Command] = {
    "list": list_command,
    "estimate": estimate,
    "run": run,
    "replay": replay,
    "audit": audit,
    "report": report,
}
