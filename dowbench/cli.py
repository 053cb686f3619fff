"""The command line: parse, call, print, exit code."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

from dowbench import __version__, output
from dowbench.errors import DowbenchError, UsageError
from dowbench.report import REPORTS, ReportOptions, render
from dowbench.report.escape import inert, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dowbench.baseline import Baseline
    from dowbench.config import Config
    from dowbench.model import Note, ScanResult

FAILED = 2
INTERRUPTED = 130


class Lazy(NamedTuple):
    """A command whose module is imported when it is called; it is in that module's ``COMMANDS``, by its name."""

    module: str
    help: str


COMMANDS: dict[str, Lazy] = {
    "rules": Lazy("dowbench.rulepack.commands", "List, show, test and document the rules."),
    "list": Lazy("dowbench_benchmark.cli", "List attacks, defenses, tasks and providers."),
    "estimate": Lazy("dowbench_benchmark.cli", "Say what a run may cost at most."),
    "run": Lazy("dowbench_benchmark.cli", "Run a configuration and record it."),
    "replay": Lazy("dowbench_benchmark.cli", "Repeat a recorded run without a provider."),
    "audit": Lazy("dowbench_benchmark.cli", "Recompute a run's figures from its raw usage."),
    "report": Lazy("dowbench_benchmark.cli", "Write the report of a run."),
}


class Commands(click.Group):
    """The commands; those of ``COMMANDS`` cost nothing until they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return ["scan", *COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        lazy = COMMANDS.get(cmd_name)
        if lazy is None:
            return super().get_command(ctx, cmd_name)
        command: click.Command = import_module(lazy.module).COMMANDS[cmd_name]
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        scanner = [("scan", scan.get_short_help_str(limit=70)), ("rules", COMMANDS["rules"].help)]
        with formatter.section("Scanner"):
            formatter.write_dl(scanner)
        with formatter.section("Benchmark"):
            formatter.write_dl([(name, command.help) for name, command in COMMANDS.items() if name != "rules"])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dowbench", message="%(prog)s %(version)s")
def cli() -> None:
    """Find LLM agent tool definitions through which an attacker, or bad luck, can run up the bill."""


class Output(NamedTuple):
    """A report and the file it goes to."""

    format: str
    path: Path


def _outputs(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[Output, ...]:
    outputs = []
    for value in values:
        name, equals, path = value.partition("=")
        if name not in REPORTS or not equals or not path:
            raise click.BadParameter(f"{value!r} is not FORMAT=PATH with FORMAT one of {', '.join(REPORTS)}")
        if path == "-":
            raise click.BadParameter(f"--format {name} writes to standard output")
        outputs.append(Output(name, Path(path)))
    return tuple(outputs)


def _filled(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """``value`` of an option, unless it is empty, as that of a variable which is not set: that is a mistake."""
    texts = (value,) if isinstance(value, str) else value or ()
    if not all(text.strip(" ,") for text in texts):
        raise click.BadParameter("the value is empty")
    return value


_text = partial(click.option, callback=_filled)
_LEVEL = click.Choice(["high", "medium", "low"])


@cli.command(short_help="Report shapes of tool definitions that can run up a bill.")
@click.argument("paths", nargs=-1)
@_text(
    "--loader",
    "--format-in",
    metavar="FORMAT",
    help="Input format: auto, openai, anthropic, mcp, gemini, bedrock, langchain, crewai, openapi, or one of a "
    "plug-in. auto (the default) decides from the content. Standard input needs it.",
)
@click.option(
    "-f", "--format", "format_", type=click.Choice(list(REPORTS)), default="text", show_default=True,
    help="What goes to standard output.",
)  # fmt: skip
@click.option(
    "-o", "--output", "outputs", multiple=True, metavar="FORMAT=PATH", callback=_outputs,
    help="Write a further report to a file. Repeatable.",
)  # fmt: skip
@click.option(
    "--fail-on", type=click.Choice(["high", "medium", "low", "none"]),
    help="Exit with 1 when a finding is at or above this severity. Default: none.",
)  # fmt: skip
@_text("--config", "config_file", metavar="FILE", help="Configuration. Default: the nearest one, going up.")
@click.option("--no-config", is_flag=True, help="Use no configuration file.")
@_text("--rules", "rule_packs", multiple=True, metavar="DIR", help="A folder with further rules. Repeatable.")
@_text("--select", multiple=True, metavar="ID", help="Only this rule. Repeatable, or a list with commas.")
@_text("--ignore", multiple=True, metavar="ID", help="Not this rule. Repeatable, or a list with commas.")
@click.option("--tier", type=click.Choice(["default", "pedantic"]), help="pedantic adds rules shown on request only.")
@click.option("--min-severity", type=_LEVEL, help="Report findings of at least this severity.")
@click.option("--min-confidence", type=_LEVEL, help="Report findings of at least this confidence.")
@_text("--baseline", metavar="FILE", help="Known findings, which are counted and do not fail the run.")
@_text(
    "--write-baseline",
    metavar="FILE",
    help="Write the findings of this scan as a baseline; they are then known.",
)
@click.option("--skip-unrecognized", is_flag=True, default=None, help="Named files are judged like those in folders.")
@_text("--changed-since", metavar="REV", help="Only findings on tools that changed since HEAD left this git revision.")
@click.option(
    "--validate", is_flag=True, help="Also report what an OpenAPI validator says. Needs the extra [validate]."
)
@click.option("-q", "--quiet", is_flag=True, help="No report and no warnings; errors and exit code stay.")
@click.option("--no-color", is_flag=True, help="No colour on a terminal, either. NO_COLOR does the same.")
@click.option("-v", "--verbose", is_flag=True, help="Long lists in full, what was skipped, tracebacks.")
def scan(
    paths: tuple[str, ...],
    format_: str,
    outputs: tuple[Output, ...],
    config_file: str | None,
    no_config: bool,
    baseline: str | None,
    write_baseline: str | None,
    changed_since: str | None,
    validate: bool,
    quiet: bool,
    no_color: bool,
    verbose: bool,
    **settings: Any,
) -> int:
    """Report shapes of tool definitions that can run up a bill.

    PATHS are files, folders, globs, or - for standard input. Without PATHS: the files of the configuration, else every
    file that git tracks here and that is recognised as tool definitions.

    \b
    Exit codes: 0 nothing at or above --fail-on; 1 such findings;
    2 usage error, or something could not be scanned; 130 interrupted.
    """
    from dowbench import scan as pipeline

    if "-" in paths and settings["loader"] is None:
        raise UsageError("standard input needs --format-in FORMAT (auto decides from the content)")
    if write_baseline and changed_since is not None:
        raise UsageError("--write-baseline takes all findings, --changed-since leaves some out: use one of them")
    if no_config and config_file:
        raise UsageError("--config and --no-config exclude each other")
    config = _config(config_file, no_config, settings)
    known_file = Path(baseline) if baseline else config.base / config.baseline if config.baseline else None
    rewritten = Path(write_baseline) if write_baseline else None
    _different(outputs, rewritten)
    known = _known(known_file, rewritten)
    result = pipeline.scan(
        paths,
        config,
        validate=validate,
        changed_since=changed_since,
        known=None if rewritten else known,
    )
    unwritten: list[UsageError] = []
    inputs = pipeline.files_read(result, config)
    if rewritten:
        with _collected(unwritten):
            result = _write_baseline(rewritten, result, inputs)
    if known_file:
        inputs.append(str(known_file))
    _print_messages(result, quiet=quiet, verbose=verbose)
    for report in outputs:
        with _collected(unwritten):
            text = render(report.format, result, ReportOptions(verbose=verbose))
            from dowbench.report.written import is_report

            output.write_file(report.path, text, inputs, is_report)
    if not quiet:
        options = ReportOptions(output.colour() and not no_color, verbose, messages=False, width=output.width())
        with _collected(unwritten):
            output.write_out(render(format_, result, options))
    for error in unwritten:
        _print_error(error)
    return FAILED if unwritten else pipeline.exit_code(result, config.fail_on)


def _different(outputs: Sequence[Output], baseline: Path | None) -> None:
    """Raise ``UsageError`` if two things would be written to one file."""
    files = [report.path for report in outputs] + ([baseline] if baseline else [])
    absolute = [os.path.abspath(file) for file in files]  # noqa: PTH100 - a link is not followed
    for at, file in enumerate(files):
        if absolute[at] in absolute[:at]:
            raise UsageError("two reports would be written to it", path=file.as_posix())


def _known(file: Path | None, rewritten: Path | None) -> Baseline | None:
    """The baseline; none where it is only now to be written."""
    if file is None or (rewritten and not file.exists() and file.absolute() == rewritten.absolute()):
        return None
    from dowbench.baseline import load

    return load(file)


@contextmanager
def _collected(errors: list[UsageError]) -> Iterator[None]:
    """Keep an error for later: what is written elsewhere goes on."""
    try:
        yield
    except UsageError as error:
        errors.append(error)


def _config(file: str | None, none: bool, settings: dict[str, Any]) -> Config:
    """The configuration with what the command line says put over it."""
    from dataclasses import replace

    from dowbench.config import Config, find, unread
    from dowbench.inputs import working_directory

    path = Path(file) if file else None if none else find(working_directory())
    config = Config()
    if path is not None:
        from dowbench import configfile
        from dowbench.inputs import shown

        config = configfile.load(path, shown=shown(str(path)))
        if not file:
            config = replace(config, unread=unread(path))
    packs = tuple(str(Path(folder).absolute()) for folder in settings.pop("rule_packs"))
    given = {key: value for key, value in settings.items() if value not in (None, ())}
    for key in ("select", "ignore"):
        if key in given:
            given[key] = tuple(part.strip() for value in given[key] for part in value.split(",") if part.strip())
    chosen = config.under(**given) if given else config
    return replace(chosen, rule_packs=(*config.rule_packs, *packs))


def _write_baseline(file: Path, result: ScanResult, inputs: Sequence[str]) -> ScanResult:
    from dowbench import baseline
    from dowbench.scan import judged, less_known

    if result.errors:
        click.echo(f"{file.as_posix()}: not written, because something could not be scanned", err=True)
        return result
    output.check_replaceable(file, inputs)
    earlier = baseline.load(file) if baseline.is_there(file) else None
    kept = baseline.kept(earlier, result.left_out, judged(result, skipped=True)) if earlier else {}
    reasons = earlier.reasons if earlier else {}
    output.write_file(file, baseline.dump(file, result.findings, reasons, kept), inputs)
    count = len(result.findings)
    others = f"; {sum(kept.values())} kept of what this scan did not judge" if kept else ""
    click.echo(f"{file.as_posix()}: {count} finding{'s' * (count != 1)} written, known from now on{others}", err=True)
    return less_known(result, baseline.load(file))


def _print_messages(result: ScanResult, *, quiet: bool, verbose: bool) -> None:
    if not quiet:
        for note in result.warnings:
            click.echo(f"warning: {_located(note)}", err=True)
    for note in result.errors:
        hint = " (--verbose shows where)" if note.detail and not verbose else ""
        click.echo(f"error: {_located(note)}{hint}", err=True)
        if note.detail and verbose:
            click.echo(note.detail, err=True)


def _print_error(error: DowbenchError) -> None:
    click.echo(inert(f"error: {visible(str(error))}"), err=True)


def _located(note: Note) -> str:
    return inert(visible(str(DowbenchError(note.message, path=note.path, line=note.line, column=note.column))))


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit. Expected errors are one line; so are crashes, unless ``--verbose`` was given."""
    output.open_standard_streams()
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["scan"]:
        gc.disable()  # ``parallel`` collects between files, and nothing else of a scan outlives its use
    code = run(given)
    gc.freeze()  # the process ends: its objects need not be looked at once more
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit code."""
    arguments = list(arguments)
    try:
        code = cli.main(args=arguments, prog_name="dowbench", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.ClickException as error:
        shown = StringIO()
        error.show(shown)
        click.echo(inert(shown.getvalue()), err=True, nl=False)
        return FAILED
    except DowbenchError as error:
        _print_error(error)
        return FAILED
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except Exception as error:
        if "--verbose" in arguments or "-v" in arguments:
            import traceback

            traceback.print_exc()
        else:
            click.echo(
                f"error: internal error, please report it: {type(error).__name__}: {visible(str(error), 300)} "
                "(--verbose shows where)",
                err=True,
            )
        return FAILED
