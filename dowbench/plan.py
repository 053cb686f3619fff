"""The settings of a scan, held to the rules that exist: what every file of it is scanned with."""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING, NamedTuple

from dowbench import loaders
from dowbench.config import ALL
from dowbench.errors import UsageError, did_you_mean
from dowbench.globs import Globs, fault
from dowbench.model import CONFIDENCES, SEVERITIES
from dowbench.pointer import join, split
from dowbench.rulepack import load_pack
from dowbench.rulepack.settings import Settings
from dowbench.source import DEFAULT_LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dowbench.config import Config, Waiver
    from dowbench.model import Finding, RuleInfo
    from dowbench.rulepack import RulePack
    from dowbench.source import Limits


class Plan(NamedTuple):
    """Everything that scanning a file needs besides the file."""

    config: Config
    pack: RulePack
    rules: tuple[RuleInfo, ...]
    """Those in force: what select, ignore and tier leave of the pack."""
    known: frozenset[str]
    """Ids of the whole pack."""
    waivers: tuple[tuple[Waiver, Globs], ...]
    limits: Limits
    validate: bool
    today: str
    """The date that ignores expire by."""

    @property
    def ids(self) -> frozenset[str]:
        """Of the rules in force."""
        return frozenset(rule.id for rule in self.rules)

    def wants(self, finding: Finding) -> bool:
        """Whether the settings ask for ``finding``."""
        return (
            in_force(finding.rule, finding.tier, self.config)
            and SEVERITIES.index(finding.severity) <= SEVERITIES.index(self.config.min_severity)
            and CONFIDENCES.index(finding.confidence) <= CONFIDENCES.index(self.config.min_confidence)
        )


def make_plan(config: Config, *, validate: bool = False) -> Plan:
    """Load the rules and hold the settings to them. Raises ``RuleError`` and ``UsageError``."""
    for index, folder in enumerate(config.rule_packs):
        if not os.path.isdir(config.base / folder):  # noqa: PTH112  (pathlib raises where a path cannot be)
            raise config.error(f"no such directory of rules: {config.base / folder}", join("/rule_packs", index))
    try:
        pack = load_pack([config.base / folder for folder in config.rule_packs], _rule_settings(config))
    except UsageError as error:
        raise _placed(error, config) from None
    settings = config.rules.items()
    known = {rule.id for rule in pack.rules}.union(rule for rule, own in settings if own.get("enabled") is False)
    for stated in (config.overruled, config):
        if stated is not None:
            _check_names(stated, known)
    _check_patterns(config)
    rules = tuple(info for info in pack.infos if in_force(info.id, info.tier, config))
    if not rules:
        raise config.error("select, ignore and rules leave no rule in force", _emptied(config))
    return Plan(
        config=config,
        pack=pack,
        rules=rules,
        known=frozenset(known),
        waivers=tuple((waiver, Globs(waiver.files, config.base)) for waiver in config.exceptions),
        limits=DEFAULT_LIMITS._replace(**config.source_limits),
        validate=validate,
        today=time.strftime("%Y-%m-%d"),
    )


def _check_names(config: Config, known: set[str]) -> None:
    """Raise ``UsageError`` for a rule or a loader that there is not."""
    for rule in config.rules:
        if rule not in known:
            raise config.error(f"rules: {_unknown(rule, known)}", join("/rules", rule))
    for setting in ("select", "ignore"):
        for index, rule in enumerate(getattr(config, setting)):
            if rule not in known:
                raise config.error(f"{setting}: {_unknown(rule, known)}", join("", setting, index))
    for number, waiver in enumerate(config.exceptions):
        for index, rule in enumerate(waiver.rules):
            if rule != ALL and rule not in known:
                pointer = join("/exceptions", number, "rules", index)
                raise config.error(f"exceptions[{number}].rules: {_unknown(rule, known)}", pointer)
    if config.loader != "auto":
        try:
            loaders.named(config.loader)
        except UsageError as error:
            raise config.error(error.message, "/loader") from None


def _check_patterns(config: Config) -> None:
    settings = [("exclude", "/exclude", config.exclude)]
    for index, waiver in enumerate(config.exceptions):
        settings.append((f"exceptions[{index}].files", join("/exceptions", index, "files"), waiver.files))
    for setting, pointer, patterns in settings:
        for index, pattern in enumerate(patterns):
            if (why := fault(pattern)) is not None:
                message = f"{setting}: the pattern {pattern!r} matches nothing: {why}"
                raise config.error(message, join(pointer, index))


def _emptied(config: Config) -> str:
    """The setting to look at where no rule is in force."""
    return "/ignore" if config.ignore else "/select" if config.select else "/rules"


def _unknown(rule: str, known: Iterable[str]) -> str:
    return f"unknown rule {rule!r}; {did_you_mean(rule, sorted(known))}"


def _placed(error: UsageError, config: Config) -> UsageError:
    """An error about a setting, with the line of the setting that it quotes first."""
    lines = {split(pointer)[-1]: line for pointer, line in config.lines.items()}
    line = next((lines[name] for name in re.findall(r"`([^`]+)`", error.message) if name in lines), None)
    return UsageError(error.message, path=error.path or config.path, line=error.line or line)


def _rule_settings(config: Config) -> Settings:
    rules = config.rules.items()
    return Settings(
        disabled=frozenset(rule for rule, settings in rules if settings.get("enabled") is False),
        severity={rule: settings["severity"] for rule, settings in rules if "severity" in settings},
        options={rule: settings["options"] for rule, settings in rules if "options" in settings},
        words=config.words,
        limits=config.limits,
    )


def in_force(rule: str, tier: str, config: Config) -> bool:
    """A rule that is selected by name is in force whatever its tier."""
    if rule in config.ignore or (config.select and rule not in config.select):
        return False
    return tier == "default" or config.tier == "pedantic" or rule in config.select
