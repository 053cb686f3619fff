"""Packs of rules, loaded."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowbench import __url__
from dowbench.errors import RuleError, UsageError
from dowbench.model import RuleInfo
from dowbench.rulepack.files import ENDINGS, EXAMPLE, Directory
from dowbench.rulepack.parameters import compile_lists, compile_roles
from dowbench.rulepack.reading import FaultError, mapping, near
from dowbench.rulepack.rule import compile_rule
from dowbench.rulepack.settings import LIMITS, Settings
from dowbench.rulepack.view import Env

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dowbench.model import Evidence, Note
    from dowbench.rulepack.files import RuleFile
    from dowbench.rulepack.frameworks import Frameworks
    from dowbench.rulepack.rule import Rule

LEXICON, REPORTED, FRAMEWORKS, MEASURED = "lexicon.yaml", "reported.yaml", "frameworks.yaml", "evidence.json"
DATA = (LEXICON, REPORTED, FRAMEWORKS)
"""YAML files of a pack that are no rules."""


class RulePack:
    """The rules in force, in the order of their ids, and what is known besides."""

    def __init__(
        self,
        rules: tuple[Rule, ...],
        env: Env,
        directories: tuple[Directory, ...],
        limits: Mapping[str, float],
        reported: Mapping[str, Evidence],
    ) -> None:
        self.rules = rules
        self.env = env
        """The lexicon, compiled."""
        self.directories = directories
        self.limits = limits
        """What the configuration declared that the agent's harness enforces."""
        self.reported = reported
        """Published figures by id."""

    def only(self, rule: Rule, limits: Mapping[str, float]) -> RulePack:
        """This pack with one rule in force, and other declared limits."""
        return RulePack((rule,), self.env, self.directories, limits, self.reported)

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """What lies in the folders of packs and looks like rules that are not read."""
        return tuple(note for directory in self.directories[1:] for note in directory.passed_over())

    @cached_property
    def lexicon(self) -> Mapping[str, tuple[str, ...]]:
        """The phrases of each word list, a space between their words."""
        return {
            name: tuple(text if text.isalpha() else " ".join(text.split()) for text in phrases.texts)
            for name, phrases in self.env.lists.items()
        }

    @cached_property
    def measured(self) -> tuple[Mapping[str, Any], ...]:
        """What the benchmark measured."""
        from dowbench.rulepack.evidence import load_measured

        paths = [directory.path / MEASURED for directory in self.directories if directory.has(MEASURED)]
        return tuple(entry for path in paths for entry in load_measured(path))

    @cached_property
    def frameworks(self) -> Frameworks:
        """Settings of agent frameworks; those of a later pack stand first."""
        from dowbench.rulepack.frameworks import NO_FRAMEWORKS, load_frameworks

        found = NO_FRAMEWORKS
        for directory in self.directories:
            if directory.has(FRAMEWORKS):
                found = load_frameworks(directory.load(FRAMEWORKS), found)
        return found

    @cached_property
    def evidence(self) -> Mapping[str, tuple[Evidence, ...]]:
        """What is known of the shape of each rule, by rule id."""
        from dowbench.rulepack.evidence import of_rule

        return {rule.id: of_rule(rule, self.measured, self.reported) for rule in self.rules}

    @cached_property
    def infos(self) -> tuple[RuleInfo, ...]:
        """What reports need to know of every rule in force."""
        return tuple(self._info(rule) for rule in self.rules)

    def _is_builtin(self, rule: Rule) -> bool:
        return Path(rule.path).parent == self.directories[0].path

    def _info(self, rule: Rule) -> RuleInfo:
        for topic in rule.topics:
            if topic not in self.frameworks.topics:
                fault = FaultError(f"unknown topic `{topic}`{near(topic, self.frameworks.topics)}", ("frameworks",))
                raise rule.file.error(fault)
        before, after = example(rule)
        return RuleInfo(
            id=rule.id,
            title=rule.title,
            severity=rule.fixed_severity or rule.severity,
            confidence=rule.confidence,
            tier=rule.first_tier,
            family=rule.family,
            why=rule.why,
            fix=rule.shapes[0].fix.plain(),
            taxonomy=rule.taxonomy,
            evidence=self.evidence[rule.id],
            frameworks=self.frameworks.common(rule.topics),
            example_before=before,
            example_after=after,
            page=f"{__url__}/blob/main/docs/rules/{rule.id}.md" if self._is_builtin(rule) else None,
        )


def example(rule: Rule) -> tuple[str, str]:
    """The tool before and after the fix, as JSON or in the language of the rule; empty where it has none."""
    from dowbench.rulepack.notation import as_json

    shown = rule.file.value.get(EXAMPLE)
    if not shown:
        return "", ""
    try:
        keys = mapping(shown, (EXAMPLE,), ("before", "after"), ("before", "after"))
        return as_json(keys["before"], (EXAMPLE, "before")), as_json(keys["after"], (EXAMPLE, "after"))
    except FaultError as fault:
        raise rule.file.error(fault) from None


def builtin_directory() -> Path:
    """Where the rules of this installation are: in the package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "data" / "rules"
    return installed if installed.is_dir() else package.parent / "rules"


def load_pack(
    directories: Sequence[Path] = (),
    settings: Settings | None = None,
    *,
    builtin: bool = True,
    generated: bool = True,
) -> RulePack:
    """The built-in rules (with ``builtin``) and those of ``directories``, with a configuration's settings applied.

    Without ``generated`` no ``pack.json`` is looked at.

    A directory holds one file a rule, and may hold a ``lexicon.yaml`` that adds lists and roles, a ``reported.yaml``, a
    ``frameworks.yaml``. What has the name of something in an earlier directory is an error. Raises ``RuleError`` for
    what is wrong in a file, ``UsageError`` for what is wrong in ``settings`` or a directory that does not exist.
    """
    settings = settings or Settings()
    for directory in directories:
        if not os.path.isdir(directory):  # noqa: PTH112  (pathlib raises where a path cannot be)
            raise UsageError(f"no such directory of rules: {directory}")
    home = Directory(builtin_directory(), generated=generated)
    named: dict[Path, Path] = {}
    for directory in directories:
        named.setdefault(directory.resolve(), directory)
    chosen = [Directory(directory, generated=generated) for directory in named.values()]
    sources = (home, *(directory for directory in chosen if directory.path.resolve() != home.path.resolve()))
    env = _lexicon(sources, settings, once=builtin)
    reported = _reported(sources, once=builtin)
    loaded = [
        _load_rule(directory, name, env, settings, reported)
        for directory in ((home, *chosen) if builtin else chosen)
        for name in rule_names(directory.path)
    ]
    _check_ids(loaded)
    if builtin:
        _check_covers(loaded)
    _check_settings(settings, loaded, env)
    rules = tuple(sorted((r for r in loaded if r.id not in settings.disabled), key=lambda rule: rule.id))
    return RulePack(rules, env, sources, settings.limits, reported)


def rule_names(directory: Path) -> list[str]:
    """The names of the rule files in a directory. Raises ``UsageError`` where there are none."""
    try:
        found = os.listdir(directory)  # noqa: PTH208
    except OSError as error:
        raise UsageError(f"no rules can be read in {directory}: {error.strerror}") from None
    names = sorted(name for name in found if name.endswith(ENDINGS) and name not in DATA)
    if not names:
        raise UsageError(f"no rule files (*.yaml) in {directory}")
    return names


def _load_rule(directory: Directory, name: str, env: Env, settings: Settings, reported: Mapping[str, Evidence]) -> Rule:
    file = directory.load(name, rule=True)
    try:
        rule = compile_rule(file, env, settings, reported)
        if name.rpartition(".")[0] != rule.id:
            raise FaultError(f"a rule stands in a file of its name: {rule.id}.yaml", ("id",))
    except FaultError as fault:
        raise file.error(fault) from None
    except RecursionError:
        raise RuleError("conditions are nested too deeply", path=file.path) from None
    return rule


def _lexicon(directories: Sequence[Directory], settings: Settings, *, once: bool) -> Env:
    """All word lists and roles. Those of a pack that is not beside the built-in one may have names of that one."""
    env = Env({}, {})
    lists, roles = _Declared("word list", "lists"), _Declared("role", "roles")
    for directory in directories:
        if not directory.has(LEXICON):
            continue
        file = directory.load(LEXICON)
        try:
            keys = mapping(file.value, (), ("lists", "roles"))
            env = env._replace(checked=file.checked)
            env = env._replace(lists=compile_lists(keys.get("lists", {}), ("lists",), env, settings.words))
            env = env._replace(roles={**env.roles, **compile_roles(keys.get("roles", {}), ("roles",), env)})
            if once:
                lists.add(keys.get("lists", {}), file)
                roles.add(keys.get("roles", {}), file)
        except FaultError as fault:
            raise file.error(fault) from None
    return env


def _reported(directories: Sequence[Directory], *, once: bool) -> Mapping[str, Evidence]:
    from dowbench.rulepack.evidence import load_reported

    reported: dict[str, Evidence] = {}
    figures = _Declared("figure")
    for directory in directories:
        if directory.has(REPORTED):
            file = directory.load(REPORTED)
            own = load_reported(file)
            try:
                if once:
                    figures.add(own, file)
            except FaultError as fault:
                raise file.error(fault) from None
            reported |= own
    return reported


class _Declared:
    """Names that packs declare under a key, each once: a later pack adds, and replaces nothing unsaid."""

    def __init__(self, kind: str, *at: str) -> None:
        self._kind = kind
        self._at = at
        self._files: dict[str, RuleFile] = {}

    def add(self, names: Iterable[str], file: RuleFile) -> None:
        """Note the names in ``file``. Raises ``FaultError`` for one that an earlier file has."""
        for name in names:
            at = (*self._at, name)
            if name in self._files:
                first = self._files[name].error(FaultError("", at))
                message = f"a {self._kind} `{name}` exists already, at {first.path}:{first.line}"
                raise FaultError(message, at)
            self._files[name] = file


def _check_ids(rules: Sequence[Rule]) -> None:
    paths: dict[str, str] = {}
    for rule in rules:
        if rule.id in paths:
            fault = FaultError(f"a rule `{rule.id}` exists already, in {paths[rule.id]}", ("id",))
            raise rule.file.error(fault)
        paths[rule.id] = rule.path


def _check_covers(rules: Sequence[Rule]) -> None:
    others = {rule.id for rule in rules}
    for rule in rules:
        for i, name in enumerate(rule.covered_by):
            if name not in others - {rule.id}:
                place = ("covered_by", i) if isinstance(rule.file.value["covered_by"], list) else ("covered_by",)
                raise rule.file.error(FaultError(f"unknown rule `{name}`{near(name, others)}", place))


def _check_settings(settings: Settings, rules: Sequence[Rule], env: Env) -> None:
    by_id = {rule.id: rule for rule in rules}
    for name in (*settings.disabled, *settings.severity, *settings.options):
        if name not in by_id:
            raise UsageError(f"unknown rule `{name}`{near(name, by_id)}")
    for name, options in settings.options.items():
        for option in options:
            if option not in by_id[name].options:
                raise UsageError(f"unknown option `{option}` of rule `{name}`{near(option, by_id[name].options)}")
    lists = {*env.lists, *(name for rule in rules for name in rule.file.value.get("words", ()))}
    for name in settings.words:
        if name not in lists:
            raise UsageError(f"unknown word list `{name}`{near(name, lists)}")
    for name in settings.limits:
        if name not in LIMITS:
            raise UsageError(f"unknown limit `{name}`{near(name, LIMITS)}")
