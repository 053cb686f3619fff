"""The command line: parse, call, print, exit code."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TextIO

import click

from dowbench import __version__
from dowbench.errors import DowbenchError, UsageError
from dowbench.report import REPORTS, ReportOptions, render
from dowbench.report.escape import inert, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

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


_LEVEL = click.Choice(["high", "medium", "low"])


@cli.command(short_help="Report shapes of tool definitions that can run up a bill.")
@click.argument("paths", nargs=-1)
@click.option(
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
@click.option("--config", "config_file", metavar="FILE", help="Configuration. Default: the nearest one, going up.")
@click.option("--no-config", is_flag=True, help="Use no configuration file.")
@click.option("--rules", "rule_packs", multiple=True, metavar="DIR", help="A folder with further rules. Repeatable.")
@click.option("--select", multiple=True, metavar="ID", help="Only this rule. Repeatable, or a list with commas.")
@click.option("--ignore", multiple=True, metavar="ID", help="Not this rule. Repeatable, or a list with commas.")
@click.option("--tier", type=click.Choice(["default", "pedantic"]), help="pedantic adds rules shown on request only.")
@click.option("--min-severity", type=_LEVEL, help="Report findings of at least this severity.")
@click.option("--min-confidence", type=_LEVEL, help="Report findings of at least this confidence.")
@click.option("--baseline", metavar="FILE", help="Known findings, which are counted and do not fail the run.")
@click.option(
    "--write-baseline", metavar="FILE", help="Write the findings of this scan as a baseline; they are then known."
)
@click.option(
    "--skip-unrecognized", is_flag=True, default=None, help="Named paths without tool definitions are no error."
)
@click.option("--changed-since", metavar="REV", help="Only findings on tools that differ from this git revision.")
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
    known = None
    if known_file and not (rewritten and not known_file.exists() and known_file.absolute() == rewritten.absolute()):
        from dowbench.baseline import load

        known = load(known_file)
    result = pipeline.scan(
        paths,
        config,
        validate=validate,
        changed_since=changed_since,
        known=None if rewritten else known,
    )
    if rewritten:
        result = _write_baseline(rewritten, result, known)
    _print_messages(result, quiet=quiet, verbose=verbose)
    unwritten = [
        error
        for output in outputs
        if (error := _write(output.path, render(output.format, result, ReportOptions(verbose=verbose))))
    ]
    if not quiet:
        colour = sys.stdout.isatty() and not no_color and not os.environ.get("NO_COLOR")
        _print(render(format_, result, ReportOptions(colour, verbose, messages=False, width=_width())))
    for error in unwritten:
        click.echo(f"error: {visible(str(error))}", err=True)
    return FAILED if unwritten else pipeline.exit_code(result, config.fail_on)


def _config(file: str | None, none: bool, settings: dict[str, Any]) -> Config:
    """The configuration with what the command line says put over it."""
    from dataclasses import replace

    from dowbench.config import Config, find

    path = Path(file) if file else None if none else find(Path.cwd())
    config = Config()
    if path is not None:
        from dowbench import configfile
        from dowbench.discover import shown

        config = configfile.load(path, shown=shown(str(path)))
    packs = tuple(str(Path(folder).absolute()) for folder in settings.pop("rule_packs"))
    given = {key: value for key, value in settings.items() if value not in (None, ())}
    lines = dict(config.lines)
    for key in ("select", "ignore"):
        if key in given:
            given[key] = tuple(part.strip() for value in given[key] for part in value.split(",") if part.strip())
    for key in given:
        lines = {pointer: line for pointer, line in lines.items() if pointer.split("/")[1] != key}
    return replace(config, **given, rule_packs=(*config.rule_packs, *packs), lines=lines)


def _write_baseline(file: Path, result: ScanResult, known: Baseline | None) -> ScanResult:
    from dowbench import baseline
    from dowbench.scan import less_known

    if result.errors:
        click.echo(f"{file.as_posix()}: not written, because something could not be scanned", err=True)
        return result
    reasons = known.reasons if known and known.file.absolute() == file.absolute() else {}
    error = _write(file, baseline.dump(file, result.findings, reasons))
    if error:
        raise error
    click.echo(f"{file.as_posix()}: {len(result.findings)} findings written, known from now on", err=True)
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


def _located(note: Note) -> str:
    return inert(visible(str(DowbenchError(note.message, path=note.path, line=note.line, column=note.column))))


def _width() -> int:
    if not sys.stdout.isatty():
        return 80
    return min(max(os.get_terminal_size().columns, 60), 120)


def _print(text: str) -> None:
    """To standard output, as UTF-8 whatever the locale: reports hold names from anywhere."""
    stream = sys.stdout
    if stream is None:
        raise UsageError("the report cannot be written: standard output is closed")
    buffer = getattr(stream, "buffer", None)
    try:
        if buffer is None:
            stream.write(text)
        else:
            stream.flush()
            buffer.write(text.encode("utf-8", errors="backslashreplace"))
        stream.flush()
    except BrokenPipeError:
        # Who read the report has had enough of it; the exit code still tells the outcome. What the stream still holds
        # would be tried once more at exit.
        _forget(stream)
    except OSError as error:
        _forget(stream)
        raise UsageError(f"the report cannot be written to standard output: {error.strerror}") from None


def _forget(stream: TextIO) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _write(path: Path, text: str) -> UsageError | None:
    """Put ``text`` into ``path`` in one step: the file is the old one or the whole new one. Or the error."""
    data = text.encode("utf-8", errors="backslashreplace")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        if path.as_posix().startswith(("/dev/", "/proc/")):
            path.write_bytes(data)
            return None
        if path.exists() and not path.is_file():
            return UsageError("cannot be written: not a regular file", path=path.as_posix())
        # A name that somebody laid out beforehand, such as a link, is not written through.
        with open(temporary, "xb") as file:  # noqa: PTH123
            try:
                file.write(data)
                file.close()
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
    except OSError as error:
        return UsageError(f"cannot be written: {error.strerror}", path=path.as_posix())
    return None


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit. Expected errors are one line; so are crashes, unless ``--verbose`` was given."""
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
        error.show()
        return FAILED
    except DowbenchError as error:
        click.echo(inert(f"error: {visible(str(error))}"), err=True)
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
