"""One rule: what its file says, compiled."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from dowbench.model import CONFIDENCES, SEVERITIES
from dowbench.rulepack.conditions import SET, TOOL, compile_set, compile_tool
from dowbench.rulepack.files import EXAMPLE, TESTS
from dowbench.rulepack.matching import description
from dowbench.rulepack.parameters import compile_lists, compile_test
from dowbench.rulepack.reading import (
    FaultError,
    Path,
    choice,
    kind_of,
    mapping,
    near,
    number,
    text,
    texts,
)  # fmt: skip
from dowbench.rulepack.taxonomy import DEFENSES, FAMILIES, TAXONOMY
from dowbench.rulepack.template import IN_TOOL, Template
from dowbench.rulepack.trees import every, supplied
from dowbench.rulepack.view import Env

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from dowbench.model import Confidence, Scope, Severity, Tier
    from dowbench.rulepack.files import RuleFile
    from dowbench.rulepack.matching import Search
    from dowbench.rulepack.settings import Settings
    from dowbench.rulepack.view import ParameterTest, SetCondition, ToolCondition

TIERS = ("default", "pedantic")
SCOPES = ("tool", "toolset")
PLACES = ("tool", "parameter", "each parameter", "description", "output")
SHAPE_KEYS = ("match", "unless", "adjust", "report", "message", "fix")
ADJUST_KEYS = ("when", "on", "severity", "confidence", "tier", "message", "fix", "note", "fix_note")
KEYS = (
    "id", "title", "why", "severity", "confidence", "tier", "family", "scope", "defense", "frameworks", "taxonomy",
    "evidence", "covered_by", "options", "words", *SHAPE_KEYS, "toolset", EXAMPLE, TESTS,
)  # fmt: skip
REQUIRED = ("id", "title", "why", "severity", "confidence", "family", "scope", "taxonomy", "match", "message", "fix")


class Option(NamedTuple):
    """A threshold that a configuration can set."""

    default: float
    about: str


class Adjustment(NamedTuple):
    """What changes about a finding when a further condition holds."""

    when: ToolCondition | SetCondition
    on: ParameterTest | Search | None = None
    """What the parameter, or the sentence of the description, that is reported must meet as well."""
    severity: Severity | None = None
    confidence: Confidence | None = None
    tier: Tier | None = None
    message: Template | None = None
    fix: Template | None = None
    note: Template | None = None
    """Put behind the message."""
    fix_note: Template | None = None
    """Put behind the fix."""


class Shape(NamedTuple):
    """A pattern, and what is said when it is found."""

    scope: Scope
    match: ToolCondition | SetCondition
    unless: ToolCondition | SetCondition | None
    adjustments: Callable[[], tuple[Adjustment, ...]]
    """Compiled when they are asked for, if they were checked before: only a finding needs them."""
    tiers: frozenset[Tier]
    """Those that an adjustment may give it."""
    report: str
    """What the finding is put on, one of ``PLACES``."""
    message: Template
    fix: Template

    @property
    def adjust(self) -> tuple[Adjustment, ...]:
        """What changes the finding, and where."""
        return self.adjustments()


class Rule(NamedTuple):
    """A rule in force."""

    id: str
    title: str
    why: str
    severity: Severity
    confidence: Confidence
    tier: Tier
    family: str
    defense: str | None
    """The defense of the benchmark that answers the shape."""
    topics: tuple[str, ...]
    """Topics of ``frameworks.yaml`` whose settings answer the shape."""
    taxonomy: tuple[str, ...]
    reported: tuple[str, ...]
    """Ids in ``reported.yaml``."""
    covered_by: tuple[str, ...]
    """Ids of rules whose finding on the same tool has the same cause, and is enough."""
    options: Mapping[str, Option]
    shapes: tuple[Shape, ...]
    file: RuleFile
    fixed_severity: Severity | None = None
    """What a configuration says, whatever the rule would."""

    @property
    def path(self) -> str:
        """The file it stands in."""
        return self.file.path

    @property
    def first_tier(self) -> Tier:
        """``default`` where a finding of this rule can be reported unasked."""
        adjusted = [tier for shape in self.shapes for tier in shape.tiers]
        return "default" if "default" in (self.tier, *adjusted) else "pedantic"

    @property
    def severities(self) -> frozenset[Severity]:
        """Every severity a finding of this rule can have."""
        adjusted = {a.severity for shape in self.shapes for a in shape.adjust if a.severity}
        return frozenset({self.severity, *adjusted})


def compile_rule(
    file: RuleFile, env: Env, settings: Settings, reported: Collection[str], *, strict: bool = True
) -> Rule:
    """A rule from its file. Raises ``FaultError`` with the place of what is wrong.

    Not ``strict``: a message may name what no condition fills, as when a branch was deleted to see what it is for.
    """
    keys = mapping(file.value, (), KEYS, REQUIRED)
    name = text(keys["id"], ("id",))
    if not all(part.isalnum() and part == part.lower() for part in name.split("-")) or not name[0].isalpha():
        raise FaultError(f"expected a kebab-case id, found `{name}`", ("id",))
    severity: Severity = choice(keys["severity"], ("severity",), SEVERITIES)
    confidence: Confidence = choice(keys["confidence"], ("confidence",), CONFIDENCES)
    scope: Scope = choice(keys["scope"], ("scope",), SCOPES)
    options = _options(keys.get("options", {}), ("options",))
    chosen = settings.options.get(name, {})
    env = env._replace(checked=file.checked)
    lists = compile_lists(keys.get("words", {}), ("words",), env, settings.words)
    values = {option: chosen.get(option, options[option].default) for option in options}
    env = Env(lists, env.roles, values, file.checked, strict)
    shapes = [_shape(keys, (), scope, env, confidence)]
    if "toolset" in keys:
        if scope != "tool":
            raise FaultError("only a rule with scope tool has a second shape for the whole set", ("toolset",))
        whole = mapping(keys["toolset"], ("toolset",), SHAPE_KEYS, ("match", "message", "fix"))
        shapes.append(_shape(whole, ("toolset",), "toolset", env, confidence))
    return Rule(
        id=name,
        title=text(keys["title"], ("title",)),
        why=" ".join(text(keys["why"], ("why",)).split()),
        severity=severity,
        confidence=confidence,
        tier=choice(keys.get("tier", "default"), ("tier",), TIERS),
        family=choice(keys["family"], ("family",), FAMILIES),
        defense=choice(keys["defense"], ("defense",), DEFENSES) if "defense" in keys else None,
        topics=texts(keys.get("frameworks", []), ("frameworks",)),
        taxonomy=_known(keys["taxonomy"], ("taxonomy",), tuple(TAXONOMY)),
        reported=_known(keys.get("evidence", []), ("evidence",), reported),
        covered_by=texts(keys.get("covered_by", []), ("covered_by",)),
        options=options,
        shapes=tuple(shapes),
        file=file,
        fixed_severity=settings.severity.get(name),
    )


def _known(value: Any, at: Path, known: Collection[str]) -> tuple[str, ...]:
    found = texts(value, at)
    for i, entry in enumerate(found):
        if entry not in known:
            raise FaultError(f"unknown `{entry}`{near(entry, known)}", (*at, i))
    return found


def _options(value: Any, at: Path) -> dict[str, Option]:
    if not isinstance(value, dict):
        raise FaultError(f"expected a mapping of options, found {kind_of(value)}", at)
    found = {}
    for name, part in value.items():
        keys = mapping(part, (*at, name), ("default", "about"), ("default", "about"))
        found[name] = Option(number(keys["default"], (*at, name, "default")), text(keys["about"], (*at, name, "about")))
    return found


def _shape(keys: dict[str, Any], at: Path, scope: Scope, env: Env, confidence: Confidence) -> Shape:
    operators = TOOL if scope == "tool" else SET
    compiled: Any = compile_tool if scope == "tool" else compile_set
    for key in ("match", "unless"):
        if key in keys and not env.checked:
            _no_hints(keys[key], (*at, key))
    facts = supplied(keys["match"], operators)
    report = choice(keys.get("report", "tool"), (*at, "report"), PLACES)
    if scope == "toolset" and "report" in keys:
        raise FaultError("a finding on a tool set is reported at the set", (*at, "report"))
    adjust = keys.get("adjust", [])
    if not isinstance(adjust, list):
        raise FaultError(f"expected a list, found {kind_of(adjust)}", (*at, "adjust"))
    known = {*facts, *IN_TOOL} if scope == "tool" else facts

    @cache
    def adjustments() -> tuple[Adjustment, ...]:
        return tuple(
            _adjustment(part, (*at, "adjust", i), compiled, operators, known, env, confidence, report)
            for i, part in enumerate(adjust)
        )

    if not env.checked:
        adjustments()
    return Shape(
        scope=scope,
        match=compiled(keys["match"], (*at, "match"), env),
        unless=compiled(keys["unless"], (*at, "unless"), env) if "unless" in keys else None,
        adjustments=adjustments,
        tiers=frozenset(part["tier"] for part in adjust if "tier" in part),
        report=report,
        message=Template(keys["message"], (*at, "message"), known, env),
        fix=Template(keys["fix"], (*at, "fix"), known, env),
    )


def _adjustment(
    value: Any,
    at: Path,
    compiled: Any,
    operators: Any,
    known: set[str],
    env: Env,
    confidence: Confidence,
    report: str,
) -> Adjustment:
    keys = mapping(value, at, ADJUST_KEYS)
    if keys.keys() <= {"when", "on"}:
        raise FaultError("nothing is adjusted", at)
    if not {"when", "on"} & keys.keys():
        raise FaultError("expected `when` or `on`, which say where it holds", at)
    if "on" in keys and operators is SET:
        raise FaultError("a finding on a tool set is on no parameter", (*at, "on"))
    when = keys.get("when", {})
    facts = known | supplied(when, operators)

    def one_of(key: str, known: tuple[str, ...]) -> Any:
        return choice(keys[key], (*at, key), known) if key in keys else None

    test_of: Any = description if report == "description" else compile_test
    chosen = one_of("confidence", CONFIDENCES)
    if _hints(when, (*at, "when")):
        lower = chosen is not None and CONFIDENCES.index(chosen) > CONFIDENCES.index(confidence)
        if not lower or not {"when", "on", "confidence", "note"}.issuperset(keys):
            raise FaultError("hints are claims of the server: they may only lower the confidence", at)

    def template(key: str) -> Template | None:
        return Template(keys[key], (*at, key), facts, env) if key in keys else None

    return Adjustment(
        when=compiled(when, (*at, "when"), env) if "when" in keys else every([]),
        on=test_of(keys["on"], (*at, "on"), env) if "on" in keys else None,
        severity=one_of("severity", SEVERITIES),
        confidence=chosen,
        tier=one_of("tier", TIERS),
        message=template("message"),
        fix=template("fix"),
        note=template("note"),
        fix_note=template("fix_note"),
    )


def _hints(value: Any, at: Path) -> Path | None:
    """Where a tree uses ``hint``."""
    if isinstance(value, dict):
        for key, part in value.items():
            found = (*at, key) if key == "hint" else _hints(part, (*at, key))
            if found:
                return found
    elif isinstance(value, list):
        for i, part in enumerate(value):
            found = _hints(part, (*at, i))
            if found:
                return found
    return None


def _no_hints(value: Any, at: Path) -> None:
    found = _hints(value, at)
    if found:
        raise FaultError("hints are claims of the server: use them in `adjust`, to lower the confidence", found)
