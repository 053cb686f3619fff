"""The pipeline, top to bottom: files → tools → findings → what is suppressed → places → result."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dowbench import engine, loaders
from dowbench.config import ALL, Config
from dowbench.discover import STDIN, discover
from dowbench.errors import UsageError
from dowbench.fingerprint import fingerprinted
from dowbench.globs import Globs
from dowbench.inputs import shown, working_directory
from dowbench.model import SEVERITIES, FileScan, Finding, Note, ScanResult, Severity, Span
from dowbench.parallel import scan_all
from dowbench.plan import Plan, make_plan
from dowbench.scanfile import FileOutcome, Job, divided, merged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dowbench.baseline import Baseline, Judged
    from dowbench.discover import Discovery, Target

Paths = str | bytes | os.PathLike[str] | os.PathLike[bytes]
MEMORY = "<python>"
"""Path of what was never a file."""
NOWHERE = Span(0, 0, 0, 0)


def scan_paths(paths: Paths | Iterable[Paths] = (), config: Config | None = None) -> ScanResult:
    """Scan files, folders and globs, or one of them, and return what was found.

    Without ``paths``: the config's ``files``, else what git tracks below the working directory. No configuration file
    is looked for; ``dowbench.configfile.load`` reads one. A file that cannot be scanned is in ``errors`` of the result
    and stops nothing else. Raises ``UsageError`` for paths that are none and settings that make no sense, ``RuleError``
    for a broken rule pack.
    """
    return scan(_arguments(paths), _checked(config))


def _arguments(paths: Any) -> list[str]:
    given = [paths] if isinstance(paths, str | bytes | os.PathLike) else paths
    try:
        return [os.fsdecode(path) for path in given]
    except TypeError as error:
        raise UsageError(f"expected paths (texts or path objects): {error}") from None


def _checked(config: Any) -> Config:
    """``config``, or the defaults, whose values nobody has looked at yet."""
    if config is None:
        return Config()
    from dowbench.configfile import check_config

    return check_config(config)


def scan_tools(tools: Iterable[Any], format: str = "auto", config: Config | None = None) -> ScanResult:
    """Scan tool definitions in memory: dicts of any format, or the tool objects of a framework (``langchain``).

    Findings have pointers into the list of tools and no lines; ignores in the definitions and the config's exceptions
    hold. Raises ``SourceError`` for what is not a tool or exceeds a limit, ``UsageError`` and ``RuleError`` as
    ``scan_paths`` does.
    """
    from dowbench.loaders.objects import definitions

    plan = make_plan(_checked(config))
    value = definitions(tools, MEMORY, plan.limits)
    toolset = loaders.load(value, path=MEMORY, format=format, limits=plan.limits)
    run = engine.run(plan.pack, toolset, plan.limits.seconds)
    in_force = plan.ids
    found = [finding for finding in fingerprinted(run.findings) if finding.rule in in_force]
    split = divided(MEMORY, [(InMemory(value), toolset)], None, found, plan)
    return ScanResult(
        files=(FileScan(MEMORY, toolset.format, len(toolset.tools)),),
        findings=tuple(sorted((f for f in split.findings if plan.wants(f)), key=_order)),
        suppressed=tuple(s for s in split.suppressed if plan.wants(s.finding)),
        errors=tuple(run.errors),
        warnings=(*plan.pack.notes, *toolset.notes, *split.warnings),
        rules=plan.rules,
        known=plan.known,
    )


class InMemory:
    """A document without places."""

    index = 0

    def __init__(self, value: Any) -> None:
        self.value = value

    def span(self, pointer: str) -> Span:
        """Nowhere."""
        return NOWHERE

    def key_span(self, pointer: str) -> Span | None:
        """Nowhere."""
        return None


def scan(
    arguments: Sequence[str],
    config: Config,
    *,
    validate: bool = False,
    changed_since: str | None = None,
    known: Baseline | None = None,
) -> ScanResult:
    """Scan files, folders, globs and ``-`` (standard input), or what ``config`` and git name.

    ``validate`` adds the errors of an OpenAPI validator, ``changed_since`` leaves only findings on tools that differ
    from that git revision, ``known`` are findings that count as suppressed. Raises ``UsageError`` and ``RuleError``.
    """
    working_directory()
    plan = make_plan(config, validate=validate)
    found = discover(arguments or configured(config), exclude=Globs(config.exclude, config.base))
    # A named file is then judged like one that a folder led to.
    targets = [target._replace(named=target.named and not config.skip_unrecognized) for target in found.targets]
    jobs = [Job(target, _standard_input(plan) if target.file == STDIN else None) for target in targets]
    if changed_since is not None:
        jobs = _with_earlier(jobs, changed_since)
    outcomes = scan_all(jobs, plan)
    result = _joined(outcomes, found, plan)
    return less_known(result, known) if known is not None else result


def _standard_input(plan: Plan) -> bytes:
    if sys.stdin is None:
        raise UsageError("standard input is closed")
    try:
        return sys.stdin.buffer.read(plan.limits.bytes + 1)
    except OSError as error:
        raise UsageError(f"standard input cannot be read: {error.strerror}") from None


def exit_code(result: ScanResult, fail_on: Severity | Literal["none"]) -> int:
    """0: nothing at or above ``fail_on``; 1: such findings; 2: something could not be scanned.

    Raises ``UsageError`` for a ``fail_on`` that is none.
    """
    if fail_on not in (*SEVERITIES, "none"):
        raise UsageError(f"fail_on must be one of {', '.join(SEVERITIES)}, none, not {fail_on!r}")
    if result.errors:
        return 2
    return int(fail_on != "none" and any(result.count(s) for s in SEVERITIES[: SEVERITIES.index(fail_on) + 1]))


def files_read(result: ScanResult, config: Config) -> list[str]:
    """The files that were read and are somebody's work: definitions, also broken ones, configuration and rules."""
    packs = [config.base / folder for folder in config.rule_packs]
    return [
        *(file.path for file in result.files),
        *(error.path for error in result.errors),
        *([config.path] if config.path else []),
        *(str(file) for pack in packs for file in pack.iterdir()),
    ]


def configured(config: Config) -> list[str]:
    """The config's ``files`` as arguments, relative to the working directory."""
    base = os.path.relpath(config.base) if config.base.is_absolute() else str(config.base)
    return [file if base == os.curdir else os.path.join(base, file) for file in config.files]  # noqa: PTH118


def _with_earlier(jobs: list[Job], revision: str) -> list[Job]:
    from dowbench import git

    earlier = git.contents(Path.cwd(), revision, [job.target.file for job in jobs if job.target.file != STDIN])
    return [job._replace(earlier=earlier.get(job.target.file, b"")) for job in jobs]


def _joined(outcomes: Sequence[FileOutcome], found: Discovery, plan: Plan) -> ScanResult:
    all_files = merged(outcomes)
    config = plan.config
    errors = [*found.errors, *all_files.errors]
    if not config.skip_unrecognized:
        pairs = zip(found.targets, outcomes, strict=True)
        fruitful = {origin for target, o in pairs if o.files or o.errors for origin in target.origins}
        errors += [
            Note(shown(origin), f"{empty} (--skip-unrecognized accepts that)")
            for origin, empty in found.containers
            if origin not in fruitful and not any(note.path == shown(origin) for note in errors)
        ]
    return ScanResult(
        files=all_files.files,
        findings=tuple(sorted(all_files.findings, key=_order)),
        suppressed=tuple(sorted(all_files.suppressed, key=lambda s: _order(s.finding))),
        skipped=tuple(sorted((*found.skipped, *all_files.skipped), key=lambda note: note.path)),
        errors=tuple(errors),
        warnings=(
            *_unread(config),
            *plan.pack.notes,
            *found.warnings,
            *all_files.warnings,
            *_idle_waivers(found.targets, all_files, plan),
        ),
        rules=plan.rules,
        unchanged=all_files.unchanged,
        left_out=all_files.left_out,
        known=plan.known,
    )


def _order(finding: Finding) -> tuple[str, int, str, int, int, str]:
    span = finding.span
    return (
        finding.path,
        span.line if span else 0,
        finding.rule,
        span.column if span else 0,
        finding.document,
        finding.parameter or "",
    )


def _unread(config: Config) -> Iterator[Note]:
    """Configurations that were passed over."""
    for file in config.unread:
        yield Note(file, f"not read: the configuration is {config.path}, and there can be one")


def _idle_waivers(targets: Sequence[Target], outcome: FileOutcome, plan: Plan) -> Iterator[Note]:
    """Exceptions that have expired, or that covered nothing though files they speak of were scanned."""
    ids = plan.ids
    scanned = {file.path for file in outcome.files}
    for index, (waiver, files) in enumerate(plan.waivers):
        where = plan.config.path or "exceptions"
        if waiver.until is not None and waiver.until < plan.today:
            yield Note(where, f"exception expired on {waiver.until}", waiver.line)
            continue
        judged = ALL in waiver.rules or ids.intersection(waiver.rules)
        spoken_of = any(t.path in scanned and (not waiver.files or files.match(t.file)) for t in targets)
        if judged and spoken_of and index not in outcome.waivers:
            yield Note(where, f"unused exception: it covers no finding of {', '.join(waiver.rules)}", waiver.line)


def judged(result: ScanResult, *, skipped: bool = False) -> Judged:
    """What a scan can say of a baseline's entries; with ``skipped``, also of files that it passed over."""
    from dowbench import baseline

    passed_over = {note.path for note in result.skipped} if skipped else set()
    return baseline.Judged(
        paths={file.path for file in result.files} | passed_over,
        rules={rule.id for rule in result.rules},
        known=result.known,
    )


def less_known(result: ScanResult, known: Baseline) -> ScanResult:
    """``result`` with the findings that a baseline knows among the suppressed."""
    from dowbench import baseline

    split = baseline.apply(
        known,
        result.findings,
        [*(s.finding for s in result.suppressed), *result.left_out],
        judged(result),
    )
    return result._replace(
        findings=split.new,
        suppressed=tuple(sorted((*result.suppressed, *split.known), key=lambda s: _order(s.finding))),
        warnings=(*result.warnings, *split.gone),
    )
