"""One file: read, loaded, held against the rules, divided by its ignores, placed.

A function of its bytes and the plan, so that files can be scanned in any order and in any process.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from dowbench import forked, loaders, source
from dowbench.errors import DowbenchError, SourceError, UnrecognizedError
from dowbench.fingerprint import fingerprinted
from dowbench.inputs import open_regular
from dowbench.loaders.sniff import looks_like
from dowbench.model import FileScan, Finding, Note, Related, Suppressed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dowbench.discover import Target
    from dowbench.model import ToolSet
    from dowbench.plan import Plan
    from dowbench.source import Document, Limits, Source

    Loaded = tuple[Document, ToolSet]


class Job(NamedTuple):
    """A file to scan."""

    target: Target
    data: bytes | None = None
    """Its bytes, where they are not to be read from it."""
    earlier: bytes | None = None
    """Its bytes at an earlier revision, where only changes are asked for; empty: it was not there."""


class FileOutcome(NamedTuple):
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
    left_out: tuple[Finding, ...] = ()
    """Findings that the settings do not ask for, and those on unchanged tools."""


def scan_file(job: Job, plan: Plan) -> FileOutcome:
    """Everything about one file that needs no other file. Never raises for what is in it."""
    target = job.target
    try:
        with source.collector_paused():
            return _scan_source(_source(job, plan), job, plan)
    except UnrecognizedError as error:
        return _unrecognized(target, error)
    except DowbenchError as error:
        return FileOutcome(errors=(_noted(error, target.path),))
    except MemoryError:
        return FileOutcome(errors=(Note(target.path, "there is not enough memory to scan it"),))
    except Exception as error:  # a fault of ours in one file must neither hide the others nor look clean
        import traceback

        message = f"internal error, please report it: {type(error).__name__}: {error}"
        return FileOutcome(errors=(Note(target.path, message, detail=traceback.format_exc()),))


def _noted(error: DowbenchError, path: str) -> Note:
    return Note(path, error.message, error.line, error.column)


def _read(target: Target, limits: Limits) -> bytes:
    try:
        with open_regular(target.file) as file:
            size = os.fstat(file.fileno()).st_size
            if size > limits.bytes:
                raise source.too_large(target.path, limits, size)
            return file.read(limits.bytes + 1)
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror}", path=target.path) from None


def _unrecognized(target: Target, error: UnrecognizedError) -> FileOutcome:
    note = _noted(error, target.path)
    if target.named:
        return FileOutcome(errors=(note._replace(message=f"{error.message} (--skip-unrecognized passes over it)"),))
    warnings = (note._replace(message=f"not scanned: {error.message}"),) if error.doubtful else ()
    return FileOutcome(skipped=(note,), warnings=warnings)


def _source(job: Job, plan: Plan) -> Source:
    """The file, read. Its bytes are not kept."""
    target = job.target
    data = job.data if job.data is not None else _read(target, plan.limits)
    mark = "yes" if target.named else looks_like(data)
    if mark == "no" and not loaders.has_plugins():
        raise UnrecognizedError("no tool definitions")
    try:
        return source.read(target.path, data, plan.limits)
    except SourceError as error:
        if mark != "yes":
            raise UnrecognizedError(
                f"no tool definitions: {error.message}", line=error.line, column=error.column
            ) from None
        raise


def _scan_source(read: Source, job: Job, plan: Plan) -> FileOutcome:
    target = job.target
    outcomes: list[FileOutcome] = []
    toolsets: list[Loaded] = []
    for document in read.documents:
        try:
            toolsets.append((document, _load(document, target, plan)))
        except UnrecognizedError as error:
            if len(read.documents) == 1:
                raise
            outcomes.append(_unrecognized(target, error))
        except SourceError as error:
            outcomes.append(FileOutcome(errors=(_noted(error, target.path),)))
    if toolsets:
        outcomes.append(_scan_tools(job, read, toolsets, plan))
    elif all(outcome.skipped for outcome in outcomes):
        note = Note(target.path, "no tool definitions in any of its documents")
        return merged(outcomes)._replace(skipped=(note,))
    return merged(outcomes)


def _load(document: Document, target: Target, plan: Plan) -> ToolSet:
    """The tools of a document. Errors leave with line and column."""
    if not target.named and not loaders.may_be(plan.config.loader, document.value):
        raise UnrecognizedError(f"no tool definitions of the format {plan.config.loader}", path=target.path)
    try:
        return loaders.load(
            document.value,
            path=target.path,
            document=document.index,
            format=plan.config.loader,
            limits=plan.limits,
        )
    except SourceError as error:
        raise _with_line(error, document) from None


def _with_line(error: SourceError, document: Document) -> SourceError:
    if error.line is None and error.pointer is not None:
        span = document.span(error.pointer)
        error.line, error.column = span.line, span.column
    return error


def _scan_tools(job: Job, read: Source, toolsets: Sequence[Loaded], plan: Plan) -> FileOutcome:
    warnings = list(read.warnings)
    errors: list[Note] = []
    found: list[Finding] = []
    scanned: list[Loaded] = []
    for document, toolset in toolsets:
        try:
            run = forked.run(plan.pack, toolset, plan.limits.seconds)
        except SourceError as error:  # schemas are read when a rule asks for them
            errors.append(_noted(_with_line(error, document), job.target.path))
            continue
        scanned.append((document, toolset))
        found += run.findings
        errors += run.errors
        notes = dict.fromkeys((*toolset.notes, *run.notes))
        document.expect(_pointers(run.findings, notes))
        # In the order of the text: schemas are followed in that of the rules, in two processes at once.
        warnings += sorted((_placed_note(note, document) for note in notes), key=_place)
        if plan.validate:
            from dowbench.loaders.validate import validate

            faults = validate(document.value, job.target.path, document.index)
            errors += [
                _placed_note(note._replace(message=f"not valid OpenAPI: {note.message}"), document) for note in faults
            ]
    in_force = plan.ids
    split = divided(job.target.file, scanned, read, [f for f in fingerprinted(found) if f.rule in in_force], plan)
    wanted = [finding for finding in split.findings if plan.wants(finding)]
    changed = wanted if job.earlier is None else _changes(job, scanned, wanted, plan)
    places = {document.index: document for document, _ in scanned}
    return FileOutcome(
        files=tuple(FileScan(job.target.path, toolset.format, len(toolset.tools)) for _, toolset in scanned),
        findings=tuple(_placed(f, places[f.document]) for f in changed),
        suppressed=tuple(
            s._replace(finding=_placed(s.finding, places[s.finding.document]))
            for s in split.suppressed
            if plan.wants(s.finding)
        ),
        errors=tuple(errors),
        warnings=(*warnings, *split.warnings),
        waivers=split.waivers,
        unchanged=len(wanted) - len(changed),
        left_out=_without(split.findings, changed),
    )


def _without(findings: Iterable[Finding], some: Iterable[Finding]) -> tuple[Finding, ...]:
    """``findings`` that are not among ``some`` of them."""
    kept = {id(finding) for finding in some}
    return tuple(finding for finding in findings if id(finding) not in kept)


def divided(
    file: str, toolsets: Sequence[tuple[Any, ToolSet]], source: Source | None, findings: list[Finding], plan: Plan
) -> FileOutcome:
    """``findings`` divided by the ignores in the documents of ``toolsets`` and by the config's exceptions.

    ``source``: the file that the documents are of, ``None`` where they are only in memory.
    """
    if not plan.waivers and source is not None and "dowbench" not in source.text:
        return FileOutcome(findings=tuple(findings))
    from dowbench import suppress

    standing: list[Finding] = []
    suppressed: list[Suppressed] = []
    warnings: list[Note] = []
    ignores = suppress.collect([document for document, _ in toolsets], source)
    by_document = _by_document(findings)
    for (document, toolset), own in zip(toolsets, ignores, strict=True):
        outcome = suppress.apply(
            by_document.get(document.index, ()),
            own,
            document=document,
            tools={tool.name: tool.location.pointer for tool in toolset.tools},
            known=plan.known,
            judged=plan.ids,
            now=plan.today,
        )
        standing += outcome.findings
        suppressed += outcome.suppressed
        warnings += [Note(toolset.path, fault.message, fault.line or None) for fault in outcome.faults]
    waived = suppress.waive(standing, file, plan.waivers, plan.today)
    return FileOutcome(
        findings=waived.findings,
        suppressed=(*suppressed, *waived.suppressed),
        warnings=tuple(warnings),
        waivers=waived.used,
    )


def _by_document(findings: Iterable[Finding]) -> dict[int, list[Finding]]:
    found: dict[int, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.document, []).append(finding)
    return found


def _changes(job: Job, toolsets: Sequence[Loaded], findings: list[Finding], plan: Plan) -> list[Finding]:
    """``findings`` on tools that differ from what they were, on sets that hold such tools or have lost some, and those
    that the file ignored when it was what it was.
    """
    from dowbench.changed import Changes

    read, earlier = _earlier_tools(job, plan)
    changes = Changes(
        ((document.value, tools) for document, tools in earlier),
        ((document.value, tools) for document, tools in toolsets),
    )
    numbers = {document.index: number for number, (document, _) in enumerate(toolsets)}
    ignored = _ignored(job, read, earlier, plan)
    return [
        finding
        for finding in findings
        if changes.concern(numbers[finding.document], finding) or _identity(finding) in ignored
    ]


def _identity(finding: Finding) -> tuple[str, str | None, str | None]:
    return finding.rule, finding.tool, finding.parameter


def _ignored(
    job: Job, read: Source | None, toolsets: Sequence[Loaded], plan: Plan
) -> set[tuple[str, str | None, str | None]]:
    """What an earlier version of a file ignored; an ignore that is gone since may have stood outside of any tool."""
    if read is None or "dowbench" not in read.text:
        return set()
    found: list[Finding] = []
    for _, toolset in toolsets:
        try:
            found += forked.run(plan.pack, toolset, plan.limits.seconds).findings
        except SourceError:  # it is what it was that cannot be read
            continue
    split = divided(job.target.file, toolsets, read, found, plan)
    return {_identity(s.finding) for s in split.suppressed if s.by == "inline"}


def _pointers(findings: Iterable[Finding], notes: Iterable[Note]) -> Iterator[str]:
    """All that are looked up for a report of these."""
    for finding in findings:
        yield finding.pointer
        yield from (related.pointer for related in finding.related)
    yield from (note.pointer for note in notes if note.pointer is not None)


def _place(note: Note) -> tuple[bool, int, int]:
    return note.line is None, note.line or 0, note.column or 0


def _placed_note(note: Note, document: Document) -> Note:
    if note.line is not None or note.pointer is None:
        return note
    span = document.span(note.pointer)
    return note._replace(line=span.line, column=span.column)


def _placed(finding: Finding, document: Document) -> Finding:
    """``finding`` with its spans. Where a YAML alias led to the place, the alias is a related place."""
    related = tuple(r._replace(span=document.span(r.pointer)) for r in finding.related)
    use = document.use_span(finding.pointer)
    if use is not None:
        related += (Related(finding.pointer, "used here through an alias", use),)
    return finding._replace(span=document.span(finding.pointer), related=related)


def _earlier_tools(job: Job, plan: Plan) -> tuple[Source | None, list[Loaded]]:
    """The file and its tools as they were; none where that cannot be read, so that all count as changed."""
    if not job.earlier:
        return None, []
    try:
        read = source.read(job.target.path, job.earlier, plan.limits)
        return read, [(document, _load(document, job.target, plan)) for document in read.documents]
    except SourceError:
        return None, []


def merged(outcomes: Iterable[FileOutcome]) -> FileOutcome:
    """All of ``outcomes`` in one, in their order."""
    outcomes = tuple(outcomes)
    return FileOutcome(
        **{
            name: tuple(item for outcome in outcomes for item in getattr(outcome, name))
            for name in ("files", "findings", "suppressed", "skipped", "errors", "warnings", "left_out")
        },
        unchanged=sum(outcome.unchanged for outcome in outcomes),
        waivers=frozenset().union(*(outcome.waivers for outcome in outcomes)),
    )
