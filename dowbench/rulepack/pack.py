"""A directory of rule files, loaded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowbench.errors import RuleError, UsageError
from dowbench.model import RuleInfo
from dowbench.rulepack import evidence as evidences
from dowbench.rulepack.parameters import compile_lists, compile_roles
from dowbench.rulepack.reading import FaultError, located, mapping, near, read
from dowbench.rulepack.rule import TAIL_KEYS, Rule, compile_rule
from dowbench.rulepack.settings import LIMITS, Settings
from dowbench.rulepack.view import Env

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from dowbench.model import Evidence
    from dowbench.rulepack.frameworks import Frameworks

LEXICON, REPORTED, FRAMEWORKS, MEASURED = "lexicon.yaml", "reported.yaml", "frameworks.yaml", "evidence.json"
_DATA = frozenset({LEXICON, REPORTED, FRAMEWORKS})


@dataclass(frozen=True, eq=False)
class RulePack:
    """The rules in force, in the order of their ids."""

    rules: tuple[Rule, ...]
    env: Env
    """The lexicon, compiled."""
    directories: tuple[Path, ...]
    limits: Mapping[str, float]
    """What the configuration declared that the agent's harness enforces."""
    reported: Mapping[str, Evidence]
    """Published figures by id."""

    @cached_property
    def lexicon(self) -> Mapping[str, tuple[tuple[str, ...], ...]]:
        """Word lists as word sequences."""
        return {name: tuple(tuple(text.split()) for text in phrases.texts) for name, phrases in self.env.lists.items()}

    @cached_property
    def measured(self) -> tuple[Mapping[str, Any], ...]:
        """What the benchmark measured."""
        found: list[Mapping[str, Any]] = []
        for directory in self.directories:
            path = directory / MEASURED
            if path.is_file():
                found.extend(evidences.load_measured(_text(path), str(path)))
        return tuple(found)

    @cached_property
    def frameworks(self) -> Frameworks:
        """Settings of agent frameworks."""
        from dowbench.rulepack.frameworks import load_frameworks

        path = builtin_directory() / FRAMEWORKS
        return load_frameworks(_text(path), str(path))

    @cached_property
    def evidence(self) -> Mapping[str, tuple[Evidence, ...]]:
        """What is known of the shape of each rule, by rule id."""
        return {rule.id: evidences.of_rule(rule, self.measured, self.reported) for rule in self.rules}

    @cached_property
    def infos(self) -> tuple[RuleInfo, ...]:
        """What reports need to know of every rule in force."""
        return tuple(self._info(rule) for rule in self.rules)

    def _info(self, rule: Rule) -> RuleInfo:
        before, after = example(Path(rule.path))
        return RuleInfo(
            id=rule.id,
            title=rule.title,
            severity=rule.fixed_severity or rule.severity,
            confidence=rule.confidence,
            tier=rule.tier,
            family=rule.family,
            why=rule.why,
            fix=rule.shapes[0].fix.plain(),
            taxonomy=rule.taxonomy,
            evidence=self.evidence[rule.id],
            frameworks=self.frameworks.answering(rule.topics),
            example_before=before,
            example_after=after,
        )


def builtin_directory() -> Path:
    """Where the rules of this installation are: in the package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "data" / "rules"
    return installed if installed.is_dir() else package.parent / "rules"


def load_pack(directories: Sequence[Path] = (), settings: Settings | None = None, *, builtin: bool = True) -> RulePack:
    """The built-in rules (with ``builtin``) and those of ``directories``, with a configuration's settings applied.

    A directory holds one file a rule, and may hold a ``lexicon.yaml`` that adds lists and roles and a
    ``reported.yaml``. A rule with the id of an earlier one is an error. Raises ``RuleError`` for what is wrong in a
    file, ``UsageError`` for what is wrong in ``settings`` or a directory that does not exist.
    """
    settings = settings or Settings()
    every = ((builtin_directory(),) if builtin else ()) + tuple(directories)
    files: list[Path] = []
    for directory in every:
        if not directory.is_dir():
            raise UsageError(f"no such directory of rules: {directory}")
        found = sorted(path for path in directory.iterdir() if path.suffix in (".yaml", ".yml"))
        inside = [path for path in found if path.name not in _DATA]
        if not inside:
            raise UsageError(f"no rule files (*.yaml) in {directory}")
        files += inside
    sources = tuple(dict.fromkeys((builtin_directory(), *every)))
    env = _lexicon(sources, settings)
    reported = _reported(sources)
    loaded = [load_rule(path, env, settings, reported) for path in files]
    _check_ids(loaded)
    _check_settings(settings, loaded, env)
    rules = tuple(sorted((r for r in loaded if r.id not in settings.disabled), key=lambda rule: rule.id))
    return RulePack(rules, env, every, settings.limits, reported)


def load_rule(path: Path, env: Env, settings: Settings, reported: Collection[str]) -> Rule:
    """One rule file, its example and tests unread. Raises ``RuleError``."""
    text = _text(path)
    head, tail = split(text)
    value = read(head, str(path))
    try:
        rule = compile_rule(value, str(path), env, settings, reported)
    except FaultError as fault:
        raise located(fault, head, str(path)) from None
    if path.stem != rule.id:
        raise located(FaultError(f"a rule stands in a file of its name: {rule.id}.yaml", ("id",)), head, str(path))
    _check_tail(head, tail, str(path))
    return rule


def split(text: str) -> tuple[str, str]:
    """A rule file before and from its ``example:`` or ``tests:``. What is behind is not parsed on the way to a scan."""
    for key in TAIL_KEYS:
        at = 0 if text.startswith(f"{key}:") else text.find(f"\n{key}:") + 1
        if at or text.startswith(f"{key}:"):
            return text[:at], text[at:]
    return text, ""


def _check_tail(head: str, tail: str, path: str) -> None:
    """Both kinds of tests are there, and nothing stands behind them that a scan would not see."""
    first = head.count("\n") + 1
    seen = set()
    for i, line in enumerate(tail.splitlines()):
        key = line.split(":")[0]
        if line[:1] not in ("", " ", "#"):
            if key not in TAIL_KEYS:
                message = f"`{key}` must stand before {' and '.join(f'`{k}`' for k in TAIL_KEYS)}"
                raise RuleError(message, path=path, line=first + i, column=1)
            seen.add(key)
        elif line.strip() in ("flagged:", "not_flagged:"):
            seen.add(line.strip()[:-1])
    for key in ("tests", "flagged", "not_flagged"):
        if key not in seen:
            where = "tests" if key == "tests" else f"tests.{key}"
            raise RuleError(f"{where} is missing: a rule needs tests of both kinds", path=path, line=first)


def example(path: Path) -> tuple[str, str]:
    """The tool before and after the fix as JSON text; empty where a rule shows none."""
    from dowbench.rulepack.notation import as_json

    tail = split(_text(path))[1]
    if not tail.startswith("example:"):
        return "", ""
    value = read(tail[: tail.find("\ntests:") + 1], str(path))["example"]
    return as_json(value["before"]), as_json(value["after"])


def _lexicon(directories: Sequence[Path], settings: Settings) -> Env:
    env = Env({}, {})
    for directory in directories:
        path = directory / LEXICON
        if not path.is_file():
            continue
        text = _text(path)
        value = read(text, str(path))
        try:
            keys = mapping(value, (), ("lists", "roles"))
            lists = compile_lists(keys.get("lists", {}), ("lists",), env.lists, settings.words)
            inner = Env(lists)
            env = Env(lists, {**env.roles, **compile_roles(keys.get("roles", {}), ("roles",), inner)})
        except FaultError as fault:
            raise located(fault, text, str(path)) from None
    return env


def _reported(directories: Sequence[Path]) -> Mapping[str, Evidence]:
    found: dict[str, Evidence] = {}
    for directory in directories:
        path = directory / REPORTED
        if path.is_file():
            found |= evidences.load_reported(_text(path), str(path))
    return found


def _check_ids(rules: Sequence[Rule]) -> None:
    paths: dict[str, str] = {}
    for rule in rules:
        if rule.id in paths:
            raise RuleError(f"a rule `{rule.id}` exists already, in {paths[rule.id]}", path=rule.path)
        paths[rule.id] = rule.path


def _check_settings(settings: Settings, rules: Sequence[Rule], env: Env) -> None:
    by_id = {rule.id: rule for rule in rules}
    for name in (*settings.disabled, *settings.severity, *settings.options):
        if name not in by_id:
            raise UsageError(f"unknown rule `{name}`{near(name, by_id)}")
    for name, options in settings.options.items():
        for option in options:
            if option not in by_id[name].options:
                raise UsageError(f"unknown option `{option}` of rule `{name}`{near(option, by_id[name].options)}")
    for name in settings.words:
        if name not in env.lists:
            raise UsageError(f"unknown word list `{name}`{near(name, env.lists)}")
    for name in settings.limits:
        if name not in LIMITS:
            raise UsageError(f"unknown limit `{name}`{near(name, LIMITS)}")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RuleError(f"cannot be read: {error}", path=str(path)) from None
