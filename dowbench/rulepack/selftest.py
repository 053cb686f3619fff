"""A rule's own tests, and the proof that they test it: every branch, taken away, must make one of them fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from dowbench import engine
from dowbench.model import CONFIDENCES, SEVERITIES, ToolSet
from dowbench.rulepack import notation
from dowbench.rulepack.conditions import FORMATS
from dowbench.rulepack.document import read
from dowbench.rulepack.pack import load_pack
from dowbench.rulepack.reading import (
    FaultError,
    choice,
    kind_of,
    mapping,
    number,
    text,
    texts,
)  # fmt: skip
from dowbench.rulepack.reading import Path as Place
from dowbench.rulepack.rule import TIERS, compile_rule
from dowbench.rulepack.settings import LIMITS, Settings

if TYPE_CHECKING:
    from pathlib import Path

    from dowbench.model import Finding
    from dowbench.rulepack.files import RuleFile
    from dowbench.rulepack.pack import RulePack
    from dowbench.rulepack.rule import Rule

Load = Callable[[Any, str], ToolSet]
"""From a document and the name of its format (or ``auto``) to its tools: the loaders, handed in."""

_EXPECT: Mapping[str, Callable[[Any, Place], Any]] = {
    "severity": lambda value, at: choice(value, at, SEVERITIES),
    "confidence": lambda value, at: choice(value, at, CONFIDENCES),
    "tier": lambda value, at: choice(value, at, TIERS),
    "parameter": text,
    "which": text,
    "message": texts,
    "fix": texts,
}
EXPECTATIONS = tuple(_EXPECT)
CASE_KEYS = ("reason", "tool", "tools", "document", "format", "limits", "options", *EXPECTATIONS)
_WHOLE = frozenset({"at_least", "tokens_above", "any_of", "phrases"})
"""Keys without which a condition means nothing: the whole condition is deleted with them."""
_BRANCHING = frozenset({"all", "any", "also", "has", "lacks"})
"""Lists whose items are branches; the items of other lists are words."""
_GONE = object()


class Failure(NamedTuple):
    """A test that fails, or a branch that no test needs."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class Report:
    """What came of testing a pack."""

    rules: int
    tests: int
    mutants: int
    failures: tuple[Failure, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One inline test."""

    at: Place
    flagged: bool
    toolset: ToolSet
    settings: Settings
    expected: dict[str, Any]
    reason: str


def test_pack(directories: Sequence[Path], load: Load) -> Report:
    """Run the inline tests of every rule in ``directories``, then delete each branch in turn.

    Raises ``RuleError`` where a file cannot be used at all.
    """
    pack = load_pack(directories, builtin=False)
    tests, mutants, failures = 0, 0, []
    for rule in pack.rules:
        value = read(rule.file.text, rule.path)
        try:
            cases = list(_cases(value, rule.id, load))
            wrong = [failure for case in cases for failure in _wrong(pack, rule, case, value)]
        except FaultError as fault:
            raise rule.file.error(fault) from None
        tests += len(cases)
        failures += [_failure(at, message, rule.file) for at, message in wrong]
        if wrong:
            continue
        for at, mutant in mutations(value):
            mutants += 1
            if not any(True for case in cases for _ in _wrong(pack, rule, case, mutant)):
                message = "no test fails when this is deleted: add one, or delete it"
                failures.append(_failure(at, message, rule.file))
    return Report(len(pack.rules), tests, mutants, tuple(failures))


def _failure(at: Place, message: str, file: RuleFile) -> Failure:
    error = file.error(FaultError(message, at))
    return Failure(file.path, error.line or 1, error.message)


def _cases(value: Any, rule: str, load: Load) -> Iterator[Case]:
    tests = mapping(value["tests"], ("tests",), ("flagged", "not_flagged"), ("flagged", "not_flagged"))
    for kind, cases in tests.items():
        if not isinstance(cases, list) or not cases:
            raise FaultError("expected a list of tests", ("tests", kind))
        for i, case in enumerate(cases):
            yield _case(case, ("tests", kind, i), rule, load, flagged=kind == "flagged")
    shown = value.get("example")
    if isinstance(shown, dict):
        mapping(shown, ("example",), ("before", "after"), ("before", "after"))
        for key, flagged in (("before", True), ("after", False)):
            if isinstance(shown[key], dict):
                case = {"tool": shown[key], "reason": f"the example {key} the fix"}
                yield _case(case, ("example", key), rule, load, flagged=flagged, shown=True)


def _case(value: Any, at: Place, rule: str, load: Load, *, flagged: bool, shown: bool = False) -> Case:
    keys = mapping(value, at, CASE_KEYS, ("reason",))
    kinds = [key for key in ("tool", "tools", "document") if key in keys]
    if len(kinds) != 1:
        raise FaultError("a test has one of `tool`, `tools` and `document`", at)
    if not flagged and (unused := next((k for k in EXPECTATIONS if k in keys and k != "which"), None)):
        raise FaultError("a tool that is not flagged has nothing to expect", (*at, unused))
    where = at if shown else (*at, kinds[0])
    name = choice(keys.get("format", "mcp" if kinds[0] != "document" else "auto"), (*at, "format"), (*FORMATS, "auto"))
    if kinds[0] == "document":
        toolset = load(keys["document"], name)
    else:
        values = [keys["tool"]] if kinds[0] == "tool" else keys["tools"]
        if not isinstance(values, list):
            raise FaultError(f"expected a list of tools, found {kind_of(values)}", where)
        tools = [notation.tool(v, where if kinds[0] == "tool" else (*where, i)) for i, v in enumerate(values)]
        toolset = load(notation.document(tools), "mcp")._replace(format=name)
    limits = mapping(keys.get("limits", {}), (*at, "limits"), LIMITS)
    options = keys.get("options", {})
    settings = Settings(
        limits={k: number(v, (*at, "limits", k)) for k, v in limits.items()},
        options={rule: {k: number(v, (*at, "options", k)) for k, v in options.items()}},
    )
    expected = {key: _EXPECT[key](keys[key], (*at, key)) for key in EXPECTATIONS if key in keys}
    return Case(at, flagged, toolset, settings, expected, text(keys["reason"], (*at, "reason")))


def _wrong(pack: RulePack, rule: Rule, case: Case, value: Any) -> Iterator[tuple[Place, str]]:
    """What is not as the test expects, with the place of the test."""
    file = rule.file._replace(value=value, checked=False)
    compiled = compile_rule(file, pack.env, case.settings, pack.reported, strict=False)
    run = engine.run(pack.only(compiled, case.settings.limits), case.toolset)
    if run.errors:
        yield case.at, run.errors[0].message
        return
    on = case.expected.get("which")
    found = [f for f in run.findings if on is None or f.tool == on]
    if not case.flagged:
        if found:
            yield case.at, f"flagged, and should not be ({case.reason})"
        return
    if not found:
        yield case.at, f"not flagged, and should be ({case.reason})"
        return
    if any(not list(_differences(finding, case)) for finding in found):
        return
    for key, wanted in _differences(found[0], case):
        yield case.at, f"{key}: expected {wanted}, found {getattr(found[0], key)} ({case.reason})"


def _differences(finding: Finding, case: Case) -> Iterator[tuple[str, Any]]:
    """What a finding has and a test does not expect."""
    for key, wanted in case.expected.items():
        if key in ("message", "fix"):
            yield from ((key, part) for part in wanted if part not in getattr(finding, key))
        elif key != "which" and getattr(finding, key) != wanted:
            yield key, wanted


def mutations(value: Any) -> Iterator[tuple[Place, Any]]:
    """The rule with one branch deleted, once for each branch of ``match``, ``unless`` and ``adjust``."""
    seen = {repr(value)}
    for place, mutant in _mutants(value, ()):
        if repr(mutant) not in seen:
            seen.add(repr(mutant))
            yield place, mutant


def _mutants(shape: dict[str, Any], at: Place) -> Iterator[tuple[Place, Any]]:
    for place, match in _without_one(shape["match"], (*at, "match")):
        yield place, {**shape, "match": {} if match is _GONE else match}
    for place, unless in _without_one(shape.get("unless", {}), (*at, "unless")):
        yield place, _with(shape, "unless", unless)
    entries = shape.get("adjust", [])
    for i, entry in enumerate(entries):
        yield (*at, "adjust", i), {**shape, "adjust": [*entries[:i], *entries[i + 1 :]]}
        conditions = {key: entry[key] for key in ("when", "on") if key in entry}
        for key, condition in conditions.items():
            for place, part in _without_one(condition, (*at, "adjust", i, key)):
                if part is not _GONE or len(conditions) > 1:
                    yield place, {**shape, "adjust": [*entries[:i], _with(entry, key, part), *entries[i + 1 :]]}
    if "toolset" in shape:
        for place, whole in _mutants(shape["toolset"], (*at, "toolset")):
            yield place, {**shape, "toolset": whole}


def _without_one(node: Any, at: Place) -> Iterator[tuple[Place, Any]]:
    """The node with one branch deleted, with every parent that this leaves empty."""
    if isinstance(node, dict):
        for key, part in node.items():
            gone = _GONE if key in _WHOLE else _with(node, key, _GONE)
            yield (*at, key), gone
            if isinstance(part, dict) or (isinstance(part, list) and key in _BRANCHING):
                for place, mutant in _without_one(part, (*at, key)):
                    yield place, _with(node, key, mutant) if mutant is not _GONE else gone
    elif isinstance(node, list):
        for i, part in enumerate(node):
            rest = [*node[:i], *node[i + 1 :]]
            yield (*at, i), rest or _GONE
            for place, mutant in _without_one(part, (*at, i)) if isinstance(part, dict) else ():
                yield place, [*node[:i], mutant, *node[i + 1 :]] if mutant is not _GONE else rest or _GONE


def _with(node: dict[str, Any], key: str, value: Any) -> Any:
    if value is not _GONE:
        return {**node, key: value}
    return {k: v for k, v in node.items() if k != key} or _GONE
