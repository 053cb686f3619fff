"""Settings of agent frameworks that answer a finding, from ``frameworks.yaml``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dowbench.model import FrameworkSetting
from dowbench.rulepack.conditions import FORMATS
from dowbench.rulepack.reading import FaultError, Path, boolean, choice, choices, kind_of, mapping, text, texts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from dowbench.rulepack.files import RuleFile

VERIFIED = ("package", "source", "documentation", "third party")


class Setting(NamedTuple):
    """One setting of one framework."""

    framework: str
    version: str | None
    """The version it was read in, ``None`` where nobody noted one."""
    code: str
    """What to type."""
    default: str
    """What holds when nothing is typed; ``unknown`` where it was not read."""
    verified: str
    """How it is known, one of ``VERIFIED``: read in the installed package, in its source, in its documentation …"""
    topics: tuple[str, ...]
    note: str = ""
    checked: tuple[str, ...] = ()
    """``module:object(parameter=default)``: what a test looks up in the installed package."""
    common: bool = False
    """Whether it is printed with findings, and not only on the page of the rule."""
    caveat: str = ""
    """What is printed behind it there: what it does not do, in a few words."""
    formats: tuple[str, ...] = ()
    """Formats of tool definitions that it can apply to; empty for all."""


class Frameworks(NamedTuple):
    """All settings, and the topics they answer."""

    topics: Mapping[str, str]
    settings: tuple[Setting, ...]

    def answering(self, topics: tuple[str, ...]) -> tuple[Setting, ...]:
        """Every setting that answers one of the topics: by topic, then pack, the last one first, then in file order."""
        return tuple(dict.fromkeys(s for topic in topics for s in self.settings if topic in s.topics))

    def common(self, topics: tuple[str, ...]) -> tuple[FrameworkSetting, ...]:
        """The first common setting of each framework that answers one of the topics."""
        chosen: dict[str, FrameworkSetting] = {}
        for s in self.answering(topics):
            if s.common:
                chosen.setdefault(s.framework, FrameworkSetting(s.framework, s.code, s.caveat, s.formats))
        return tuple(chosen.values())


NO_FRAMEWORKS = Frameworks({}, ())


def load_frameworks(file: RuleFile, known: Frameworks = NO_FRAMEWORKS) -> Frameworks:
    """The values of a ``frameworks.yaml``, before those that are ``known`` from earlier packs. Raises ``RuleError``."""
    try:
        keys = mapping(file.value, (), ("topics", "settings"))
        topics = {**known.topics, **_topics(keys.get("topics", {}), ("topics",), known)}
        listed = keys.get("settings", [])
        if not isinstance(listed, list):
            raise FaultError(f"expected a list of settings, found {kind_of(listed)}", ("settings",))
        settings = tuple(_setting(part, ("settings", i), topics) for i, part in enumerate(listed))
        return Frameworks(topics, settings + known.settings)
    except FaultError as fault:
        raise file.error(fault) from None


def _topics(value: Any, at: Path, known: Frameworks) -> dict[str, str]:
    names = mapping(value, at, value if isinstance(value, dict) else ())
    for name in names:
        if name in known.topics:
            raise FaultError(f"a topic `{name}` exists already", (*at, name))
    return {name: text(about, (*at, name)) for name, about in names.items()}


def _setting(value: Any, at: Path, topics: Mapping[str, str]) -> Setting:
    required = ("framework", "set", "default", "verified", "topics")
    keys = mapping(value, at, (*required, "version", "note", "checked", "common", "caveat", "formats"), required)
    for i, topic in enumerate(texts(keys["topics"], (*at, "topics"))):
        choice(topic, (*at, "topics", i), tuple(topics))
    return Setting(
        framework=text(keys["framework"], (*at, "framework")),
        version=text(keys["version"], (*at, "version")) if "version" in keys else None,
        code=text(keys["set"], (*at, "set")),
        default=text(keys["default"], (*at, "default")),
        verified=choice(keys["verified"], (*at, "verified"), VERIFIED),
        topics=texts(keys["topics"], (*at, "topics")),
        note=text(keys["note"], (*at, "note")) if "note" in keys else "",
        checked=texts(keys["checked"], (*at, "checked")) if "checked" in keys else (),
        common=boolean(keys.get("common", False), (*at, "common")),
        caveat=text(keys["caveat"], (*at, "caveat")) if "caveat" in keys else "",
        formats=tuple(sorted(choices(keys["formats"], (*at, "formats"), FORMATS))) if "formats" in keys else (),
    )
