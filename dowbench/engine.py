"""Rules over tools."""

from __future__ import annotations

import math
import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from dowbench.errors import DowbenchError, SourceError
from dowbench.model import Finding, Note, Related
from dowbench.rulepack.matching import Search
from dowbench.rulepack.view import PLAIN_INPUTS, SetView, ToolView, Witness

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dowbench.model import ToolSet
    from dowbench.rulepack import Rule, RulePack
    from dowbench.rulepack.rule import Shape
    from dowbench.rulepack.template import Template
    from dowbench.rulepack.view import Fact, Match, ParameterTest


NAME_AS_REQUIRED = "The tool is `strict`: name each new parameter in `required`, too."


class Run(NamedTuple):
    """What the rules found in one tool set."""

    path: str
    findings: list[Finding]
    """In the order of tools, then of rule ids; without spans."""
    failures: Mapping[str, tuple[str, int]]
    """Rules that failed: the first message of each, and on how many tools. The tool set is then not to be called clean.
    """
    notes: tuple[Note, ...] = ()
    """Notes on schemas that only another process has followed; ``toolset.notes`` has the others."""

    @property
    def errors(self) -> list[Note]:
        """One note for all failures of a rule: a fault on every tool of a large file is still one fault."""
        return [
            Note(self.path, message + (f" (and on {count - 1} more)" if count > 1 else ""))
            for message, count in self.failures.values()
        ]


def joined(runs: Sequence[Run]) -> Run:
    """Runs over parts of one tool set in the order of its tools, as if they were one."""
    findings = [finding for run in runs for finding in run.findings]
    failures: dict[str, tuple[str, int]] = {}
    for run in runs:
        for rule, (message, count) in run.failures.items():
            first, before = failures.get(rule, (message, 0))
            failures[rule] = first, before + count
    return Run(
        runs[0].path,
        [*(f for f in findings if f.tool is not None), *(f for f in findings if f.tool is None)],
        failures,
        tuple(note for run in runs for note in run.notes),
    )


def run(pack: RulePack, toolset: ToolSet, seconds: float = math.inf, part: slice = slice(None)) -> Run:
    """Every rule of the pack over every tool, and over the set; with ``part`` over these tools only.

    A rule that fails on one of them is an error note, and the others go on. A ``DowbenchError`` is passed on: the
    document itself cannot be read, as when a schema that is followed lazily exceeds its limits, or when the rules take
    longer than ``seconds``.
    """
    deadline = time.monotonic() + seconds
    covered = {rule.id: rule.covered_by for rule in pack.rules if rule.covered_by}
    whole = SetView(toolset, pack.lexicon, pack.limits)
    findings: list[Finding] = []
    failures: dict[str, tuple[str, int]] = {}
    for scope, targets in (("tool", whole.tools[part]), ("toolset", () if part.start else (whole,))):
        shapes = [(rule, shape) for rule in pack.rules for shape in rule.shapes if shape.scope == scope]
        for target in targets:
            if time.monotonic() > deadline:
                raise _late(seconds, toolset, target)
            found: list[Finding] = []
            for rule, shape in shapes:
                try:
                    match = shape.match(target)  # type: ignore[arg-type]
                    if match is not None and (shape.unless is None or shape.unless(target) is None):  # type: ignore[arg-type]
                        found.extend(_findings(pack, rule, shape, target, match))
                except DowbenchError:
                    raise
                except Exception as error:
                    on = f" on tool `{target.tool.name}`" if isinstance(target, ToolView) else ""
                    message = f"rule {rule.id} ({rule.path}) failed{on}: {type(error).__name__}: {error}"
                    first, before = failures.get(rule.id, (message, 0))
                    failures[rule.id] = first, before + 1
            findings.extend(_one_a_cause(found, covered) if covered else found)
            whole.settle()
    whole.forget()
    return Run(toolset.path, findings, failures)


def _one_a_cause(findings: list[Finding], covered: Mapping[str, tuple[str, ...]]) -> Iterator[Finding]:
    """The findings on one tool without those whose cause another one has; a pedantic one stands for no other."""
    tiers = {finding.rule: finding.tier for finding in findings}
    for finding in findings:
        others = {tiers.get(name) for name in covered.get(finding.rule, ())} - {None}
        if not others or (others == {"pedantic"} and finding.tier != "pedantic"):
            yield finding


def _late(seconds: float, toolset: ToolSet, target: ToolView | SetView) -> SourceError:
    return SourceError(
        f"the rules took more than {seconds:g} s (source_limits.seconds)",
        path=toolset.path,
        pointer=(target.tool if isinstance(target, ToolView) else toolset).location.pointer,
        document=toolset.document,
    )


def _findings(pack: RulePack, rule: Rule, shape: Shape, target: ToolView | SetView, match: Match) -> Iterator[Finding]:
    changes = [(a, found) for a in shape.adjust if (found := a.when(target)) is not None]  # type: ignore[arg-type]
    for primary in _primaries(shape, match, target):
        applied = [(a, found) for a, found in changes if a.on is None or _is_on(a.on, target, primary)]
        severity, confidence, tier = rule.severity, rule.confidence, rule.tier
        message: tuple[Template, Match] = (shape.message, ())
        fix: tuple[Template, Match] = (shape.fix, ())
        notes, fix_notes = [], []
        for change, found in applied:
            severity, confidence = change.severity or severity, change.confidence or confidence
            tier = change.tier or tier
            message = (change.message, found) if change.message else message
            fix = (change.fix, found) if change.fix else fix
            if change.note:
                notes.append((change.note, found))
            if change.fix_note:
                fix_notes.append((change.fix_note, found))
        every = tuple(witness for _, found in applied for witness in found)
        said = partial(_said, target, (*match, *every), primary)
        added = partial(_said, target, (primary, *match, *every), None)
        set_view = target.among if isinstance(target, ToolView) else target
        yield Finding(
            rule=rule.id,
            severity=rule.fixed_severity or severity,
            confidence=confidence,
            tier=tier,
            family=rule.family,
            message=" ".join((said(message), *map(added, notes))),
            fix=" ".join((said(fix), *map(added, fix_notes), *_demanded(target, fix, *fix_notes))),
            path=set_view.toolset.path,
            pointer=primary.location.pointer,
            tool=target.tool.name if isinstance(target, ToolView) else None,
            parameter=".".join(primary.parameter.path) if primary.parameter else None,
            evidence=pack.evidence[rule.id],
            related=_related(primary, match),
            document=set_view.toolset.document,
        )


def _demanded(target: ToolView | SetView, *fixes: tuple[Template, Match]) -> tuple[str, ...]:
    """What a fix that adds a parameter must not leave out, by how the tool declares its inputs."""
    strict = isinstance(target, ToolView) and target.inputs.strict
    return (NAME_AS_REQUIRED,) if strict and any(template.adds for template, _ in fixes) else ()


def _said(target: ToolView | SetView, others: Match, primary: Witness | None, part: tuple[Template, Match]) -> str:
    """A text, filled with what is reported (a note is not), what made it be said, then what else was found."""
    template, own = part
    camel, inputs = (target.camel, target.inputs) if isinstance(target, ToolView) else (False, PLAIN_INPUTS)
    first = (primary, *own) if primary else own
    return template.fill(_facts(target, (*first, *others)), camel=camel, inputs=inputs)


def _is_on(test: ParameterTest | Search, target: ToolView | SetView, primary: Witness) -> bool:
    """Whether what is reported, a parameter or a sentence, meets a test of such."""
    if isinstance(test, Search):
        return primary.sentence is not None and test((primary.sentence,)) is not None
    return isinstance(target, ToolView) and primary.parameter is not None and test(target, primary.parameter)


def _primaries(shape: Shape, match: Match, target: ToolView | SetView) -> tuple[Witness, ...]:
    """What findings are put on: the whole tool or set, or the first witness of a kind, or each of the first group."""
    if shape.scope == "tool" and shape.report != "tool":
        kind = "parameter" if "parameter" in shape.report else shape.report
        found = [witness for witness in match if witness.kind == kind]
        if found:
            return (
                tuple(w for w in found if w.group == found[0].group)
                if shape.report == "each parameter"
                else (found[0],)
            )
    if isinstance(target, ToolView):
        return (Witness(target.tool.location, "the tool", target.tool),)
    return (Witness(target.toolset.location, "the tool set", kind="set"),)


def _facts(target: ToolView | SetView, witnesses: tuple[Witness, ...]) -> dict[str, Fact]:
    toolset = target.among.toolset if isinstance(target, ToolView) else target.toolset
    facts: dict[str, Fact] = {"format": toolset.format}
    if isinstance(target, ToolView):
        facts["tool"] = target.tool.name
    for witness in witnesses:
        for name, value in witness.facts.items():
            facts.setdefault(name, value)
    return facts


def _related(primary: Witness, match: Match) -> tuple[Related, ...]:
    """Further places: where a definition behind a reference is used, and the other witnesses."""
    found: dict[str, str] = {}
    if primary.location.use is not None:
        found[primary.location.use] = "where it is used"
    for witness in match:
        if witness.kind not in ("limit", "tool", "set") and witness.location.pointer != primary.location.pointer:
            found.setdefault(witness.location.pointer, witness.what)
    return tuple(Related(pointer, message) for pointer, message in found.items())
