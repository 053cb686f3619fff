"""One file: read, loaded, held against the rules, divided by its ignores, placed.

A function of its bytes and the plan, so that files can be scanned in any order and in any process.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dowbench import engine, loaders, source
from dowbench.changed import Earlier
from dowbench.discover import looks_like
from dowbench.errors import DowbenchError, SourceError, UnrecognizedError
from dowbench.fingerprint import fingerprinted
from dowbench.model import FileScan, Finding, Note, Related, Suppressed
from dowbench.suppress import apply, collect, waive

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dowbench.discover import Target
    from dowbench.model import ToolSet
    from dowbench.plan import Plan
    from dowbench.source import Document, Limits, Source


@dataclass(frozen=True, slots=True)
class Job:
    """A file to scan."""

    target: Target
    data: bytes | None = None
    """Its bytes, where they are not to be read from it."""
    earlier: bytes | None = None
    """Its bytes at an earlier revision, where only changes are asked for; empty: it was not there."""


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What became of one file."""

    files: tuple[FileScan, ...] = ()
    findings: tuple[Finding, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    skipped: tuple[Note, ...] = ()
    errors: tuple[Note, ...] = ()
    warnings: tuple[Note, ...] = ()
    waivers: frozenset[int] = frozenset()
    """Positions of the config's exceptions that covered a finding."""
    unchanged: int = 0


def scan_file(job: Job, plan: Plan) -> FileOutcome:
    """Everything about one file that needs no other file. Never raises for what is in it."""
    target = job.target
    try:
        data = job.data if job.data is not None else _read(target, plan.source_limits)
        return _scan_data(job, data, plan)
    except UnrecognizedError as error:
        return _unrecognized(target, error, plan)
    except DowbenchError as error:
        return FileOutcome(errors=(Note(target.path, error.message, error.line, error.column),))
    except Exception as error:  # a fault of ours in one file must neither hide the others nor look clean
        import traceback

        message = f"internal error, please report it: {type(error).__name__}: {error}"
        return FileOutcome(errors=(Note(target.path, message, detail=traceback.format_exc()),))


def _read(target: Target, limits: Limits) -> bytes:
    try:
        with open(target.file, "rb") as file:  # noqa: PTH123
            return file.read(limits.bytes + 1)
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror}", path=target.path) from None


def _unrecognized(target: Target, error: UnrecognizedError, plan: Plan) -> FileOutcome:
    note = Note(target.path, error.message, error.line, error.column)
    if target.named and not plan.config.skip_unrecognized:
        return FileOutcome(errors=(replace(note, message=f"{error.message} (--skip-unrecognized passes over it)"),))
    return FileOutcome(skipped=(note,))


def _scan_data(job: Job, data: bytes, plan: Plan) -> FileOutcome:
    target = job.target
    mark = "yes" if target.named else looks_like(data)
    if mark == "no":
        raise UnrecognizedError("no tool definitions")
    try:
        read = source.read(target.path, data, plan.source_limits)
    except SourceError as error:
        if mark == "maybe":
            raise UnrecognizedError(
                f"no tool definitions: {error.message}", line=error.line, column=error.column
            ) from None
        raise
    outcomes: list[FileOutcome] = []
    toolsets: list[tuple[Document, ToolSet]] = []
    for document in read.documents:
        try:
            toolsets.append((document, _load(document, target, plan)))
        except UnrecognizedError as error:
            if len(read.documents) == 1:
                raise
            outcomes.append(_unrecognized(target, error, plan))
        except SourceError as error:
            outcomes.append(FileOutcome(errors=(Note(target.path, error.message, error.line, error.column),)))
    if toolsets:
        outcomes.append(_scan_tools(job, read, toolsets, plan))
    elif all(outcome.skipped for outcome in outcomes):
        raise UnrecognizedError("no tool definitions in any of its documents")
    return merged(outcomes)


def _load(document: Document, target: Target, plan: Plan) -> ToolSet:
    """The tools of a document. Errors leave with line and column."""
    try:
        return loaders.load(
            document.value,
            path=target.path,
            document=document.index,
            format=plan.config.loader,
            limits=plan.loader_limits,
        )
    except SourceError as error:
        if error.line is None and error.pointer is not None:
            span = document.span(error.pointer)
            error.line, error.column = span.line, span.column
        raise


def _scan_tools(job: Job, read: Source, toolsets: Sequence[tuple[Document, ToolSet]], plan: Plan) -> FileOutcome:
    path = job.target.path
    warnings = list(read.warnings)
    errors: list[Note] = []
    found: list[Finding] = []
    for document, toolset in toolsets:
        run = engine.run(plan.pack, toolset)
        found += run.findings
        errors += run.errors
        warnings += [_placed_note(note, document) for note in toolset.notes]
    found = [f for f in fingerprinted(found) if f.rule not in plan.config.ignore]
    documents = [document for document, _ in toolsets]
    ignores = collect(read.text, read.kind, documents)
    findings: list[Finding] = []
    suppressed: list[Suppressed] = []
    used: set[int] = set()
    in_force = {rule.id for rule in plan.rules}
    earlier = _earlier_tools(job, plan) if job.earlier is not None else None
    unchanged = 0
    for (document, toolset), own in zip(toolsets, ignores, strict=True):
        mine = [f for f in found if f.document == document.index]
        if own:
            outcome = apply(
                mine,
                own,
                document=document,
                tools={tool.name: tool.location.pointer for tool in toolset.tools},
                known=plan.known,
                judged=in_force,
                now=plan.today,
            )
            mine = list(outcome.findings)
            suppressed += outcome.suppressed
            warnings += [Note(path, fault.message, fault.line) for fault in outcome.faults]
        waived = waive(mine, job.target.file, plan.waivers, plan.today)
        suppressed += waived.suppressed
        used |= waived.used
        mine = [f for f in waived.findings if plan.wants(f)]
        if earlier is not None:
            changed = earlier.changed(document.value, toolset)
            differs = bool(changed) or earlier.shrunk(toolset)
            kept = [f for f in mine if (differs if f.tool is None else f.tool in changed)]
            unchanged += len(mine) - len(kept)
            mine = kept
        findings += mine
    places = {document.index: document for document in documents}
    return FileOutcome(
        files=tuple(FileScan(path, toolset.format, len(toolset.tools)) for _, toolset in toolsets),
        findings=tuple(_placed(f, places[f.document]) for f in findings),
        suppressed=tuple(
            replace(s, finding=_placed(s.finding, places[s.finding.document]))
            for s in suppressed
            if plan.wants(s.finding)
        ),
        errors=tuple(errors),
        warnings=tuple(warnings),
        waivers=frozenset(used),
        unchanged=unchanged,
    )


def _placed_note(note: Note, document: Document) -> Note:
    if note.line is not None or note.pointer is None:
        return note
    span = document.span(note.pointer)
    return replace(note, line=span.line, column=span.column)


def _placed(finding: Finding, document: Document) -> Finding:
    """``finding`` with its spans. Where a YAML alias led to the place, the alias is a related place."""
    related = tuple(replace(r, span=document.span(r.pointer)) for r in finding.related)
    use = document.use_span(finding.pointer)
    if use is not None:
        related += (Related(finding.pointer, "used here through an alias", use),)
    return replace(finding, span=document.span(finding.pointer), related=related)


def _earlier_tools(job: Job, plan: Plan) -> Earlier:
    """The tools as they were; none where the earlier file cannot be read, so that all count as changed."""
    if not job.earlier:
        return Earlier(())
    try:
        documents = source.read(job.target.path, job.earlier, plan.source_limits).documents
        return Earlier((document.value, _load(document, job.target, plan)) for document in documents)
    except SourceError:
        return Earlier(())


def merged(outcomes: Iterable[FileOutcome]) -> FileOutcome:
    outcomes = tuple(outcomes)
    return FileOutcome(
        **{
            name: tuple(item for outcome in outcomes for item in getattr(outcome, name))
            for name in ("files", "findings", "suppressed", "skipped", "errors", "warnings")
        },
        unchanged=sum(outcome.unchanged for outcome in outcomes),
        waivers=frozenset().union(*(outcome.waivers for outcome in outcomes)),
    )
