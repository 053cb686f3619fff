"""Run configurations: ``configs/*.yaml`` or a user's own file, validated whole before anything is built."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowbench.errors import UsageError
from dowbench_benchmark import store
from dowbench_benchmark.located import Node, read_yaml
from dowbench_benchmark.model import UNDEFENDED, Ceiling, DefenseSpec
from dowbench_benchmark.packagedata import data_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DEFAULT_SCENARIO = "parts-desk"
MAX_CONCURRENCY = 64
MOST_EPISODES = 100_000
MOST_TOKENS = 10**9
MOST_DELAY_S = 3600.0
RESERVED = frozenset(
    (
        "model", "models", "messages", "input", "contents", "prompt", "system", "systeminstruction", "instructions",
        "tools", "stream", "n", "bestof", "candidatecount", "maxtokens", "maxtokenstosample", "maxoutputtokens",
        "maxcompletiontokens", "maxnewtokens", "servicetier",
    )
)  # fmt: skip
"""What ``options`` may not name, in any spelling: what is asked of whom, how much may come back and at which rate."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a transient failure is tried again. The wait doubles from ``base_delay_s`` up to ``max_delay_s``."""

    max_attempts: int = 3
    """The first try included."""
    base_delay_s: float = 0.5
    max_delay_s: float = 8.0


@dataclass(frozen=True, slots=True)
class RateLimit:
    """What the provider allows; ``None`` is no limit. Not applied to simulated runs and replays."""

    rpm: int | None = None
    """Requests a minute."""
    tpm: int | None = None
    """Prompt tokens a minute."""
    rpd: int | None = None
    """Requests a day."""
    timezone: str = "UTC"
    """Where the provider's midnight is."""


@dataclass(frozen=True, slots=True)
class Config:
    """One run configuration."""

    run_name: str
    provider: str
    models: tuple[str, ...]
    attacks: tuple[str, ...] | None = None
    """Ids; ``None`` means all that are made for the scenario."""
    benign_tasks: tuple[str, ...] = ()
    """Tasks to run besides those that the attacks are paired with."""
    defenses: tuple[DefenseSpec, ...] = (DefenseSpec(UNDEFENDED, ()),)
    repeats: int = 1
    paraphrases: int = 1
    """How many wordings of each task are run."""
    controls: bool = True
    """Whether every attack is accompanied by its neutral control."""
    seed: int = 0
    scenario: str = DEFAULT_SCENARIO
    system_prompt: str | None = None
    """In place of the scenario's own."""
    final_answer: bool = False
    """Whether agents are offered a tool that ends their task with an answer."""
    ceiling: Ceiling = Ceiling()  # noqa: RUF009 (frozen)
    success_threshold: float = 5.0
    unpriced: bool = False
    agent: str | None = None
    """``module:attribute`` of a user's own agent."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Sampling and switches that are sent with every request."""
    provider_options: Mapping[str, Any] = field(default_factory=dict)
    rate_limit: RateLimit | None = None
    retry: Retry = Retry()
    concurrency: int = 1

    @property
    def baseline(self) -> str:
        """The label of the undefended agent."""
        return next(defense.label for defense in self.defenses if not defense.stack)

    def record(self) -> dict[str, Any]:
        """As JSON, for ``run.json``; ``parse`` reads it as it reads a file."""
        return {
            "run_name": self.run_name,
            "provider": self.provider,
            "provider_options": dict(self.provider_options),
            "models": list(self.models),
            "attacks": "all" if self.attacks is None else list(self.attacks),
            "benign_tasks": list(self.benign_tasks),
            "defenses": [
                {"label": spec.label, "stack": [{"name": name, "params": dict(params)} for name, params in spec.stack]}
                for spec in self.defenses
            ],
            "repeats": self.repeats,
            "paraphrases": self.paraphrases,
            "controls": self.controls,
            "seed": self.seed,
            "scenario": self.scenario,
            "system_prompt": self.system_prompt,
            "final_answer": self.final_answer,
            "ceiling": {
                "max_turns": self.ceiling.max_turns,
                "max_tokens_per_call": self.ceiling.max_tokens_per_call,
                "max_total_tokens": self.ceiling.max_total_tokens,
            },
            "success_threshold": self.success_threshold,
            "unpriced": self.unpriced,
            "agent": self.agent,
            "options": dict(self.options),
            "rate_limit": None
            if self.rate_limit is None
            else {key: getattr(self.rate_limit, key) for key in ("rpm", "tpm", "rpd", "timezone")},
            "retry": {key: getattr(self.retry, key) for key in ("max_attempts", "base_delay_s", "max_delay_s")},
            "concurrency": self.concurrency,
        }


def shipped() -> tuple[str, ...]:
    """Names of the configurations that come with the package."""
    return tuple(sorted(path.stem for path in data_directory("configs").glob("*.yaml")))


def load(name: str) -> tuple[Config, Node]:
    """A configuration from a path, or a shipped one by its name, and the YAML that it came from.

    Raises a located error for whatever is wrong.
    """
    path = Path(name)
    known = store.exists(path)
    if known and not path.is_dir():
        root = read_yaml(path, shown=name)
    elif name in shipped():
        root = read_yaml(data_directory("configs") / f"{name}.yaml", shown=f"configs/{name}.yaml")
    else:
        what = "is a folder" if known else "no such file"
        raise UsageError(f"{what}, and no configuration of that name; shipped: {', '.join(shipped())}", path=name)
    return parse(root), root


def parse(root: Node) -> Config:
    """A configuration from its YAML. Names are checked against what exists when the plan is made."""
    required, follows = ("run_name", "provider", "models"), "agent"
    optional = [name for name in Config.__dataclass_fields__ if name not in (*required, follows)]
    # What no version can run yet is known where it was written, as every run.json does, and offered to nobody.
    entries = root.mapping(required, optional if follows not in root.entries() else [*optional, follows])

    def get(key: str, read: Callable[[Node], Any]) -> Any:
        node = entries.get(key)
        return Config.__dataclass_fields__[key].default if node is None else read(node)

    if not _NAME.fullmatch(entries["run_name"].text()):
        entries["run_name"].fail("expected up to 100 letters, digits, '_', '.' and '-', the first a letter or digit")
    return Config(
        run_name=entries["run_name"].text(),
        provider=entries["provider"].text(),
        models=entries["models"].texts(at_least=1),
        attacks=get("attacks", lambda node: None if node.value == "all" else node.texts()),
        benign_tasks=get("benign_tasks", lambda node: node.texts()),
        defenses=get("defenses", _defenses),
        repeats=get("repeats", lambda node: node.integer(minimum=1, maximum=MOST_EPISODES)),
        paraphrases=get("paraphrases", lambda node: node.integer(minimum=1, maximum=MOST_EPISODES)),
        controls=get("controls", lambda node: node.boolean()),
        seed=get("seed", lambda node: node.integer(minimum=0, maximum=2**31 - 1)),
        scenario=get("scenario", lambda node: node.text()),
        system_prompt=get("system_prompt", lambda node: None if node.null else node.text()),
        final_answer=get("final_answer", lambda node: node.boolean()),
        ceiling=get("ceiling", _ceiling),
        success_threshold=get("success_threshold", lambda node: node.number(above=1)),
        unpriced=get("unpriced", lambda node: node.boolean()),
        agent=get("agent", lambda node: None if node.null else node.text()),
        options=_options(entries.get("options")),
        provider_options=_plain(entries.get("provider_options")),
        rate_limit=get("rate_limit", _rate_limit),
        retry=get("retry", _retry),
        concurrency=get("concurrency", lambda node: node.integer(minimum=1, maximum=MAX_CONCURRENCY)),
    )


def _plain(node: Node | None) -> dict[str, Any]:
    if node is None or node.null:
        return {}
    node.entries()
    _finite(node)
    plain: dict[str, Any] = node.plain()
    return plain


def _options(node: Node | None) -> dict[str, Any]:
    """Sampling and switches; nothing that would change what the budget, the prices and the recording count on."""
    plain = _plain(node)
    if node is not None and not node.null:
        inner = [entry for entry in node.entries().values() if isinstance(entry.value, dict)]
        for entries in (node.entries(), *(entry.entries() for entry in inner)):
            for name, entry in entries.items():
                if name.lower().replace("_", "").replace("-", "") in RESERVED:
                    entry.fail("is set by the benchmark: budget, prices and recording count on it")
    return plain


def _finite(node: Node) -> None:
    """Refuse numbers that no JSON can hold, at their place; ``plain`` does not look at those of recorded JSON."""
    if isinstance(node.value, dict):
        for entry in node.entries().values():
            _finite(entry)
    elif isinstance(node.value, list):
        for item in node.items():
            _finite(item)
    elif isinstance(node.value, float):
        node.number()


def _ceiling(node: Node) -> Ceiling:
    entries = node.mapping((), Ceiling.__dataclass_fields__)
    ceiling = Ceiling(**{key: value.integer(minimum=1, maximum=MOST_TOKENS) for key, value in entries.items()})
    if ceiling.max_tokens_per_call > ceiling.max_total_tokens:
        node.fail(f"max_tokens_per_call ({ceiling.max_tokens_per_call}) is above max_total_tokens")
    return ceiling


def _rate_limit(node: Node) -> RateLimit | None:
    if node.null:
        return None
    entries = node.mapping((), ("rpm", "tpm", "rpd", "timezone"))
    limits = {
        key: value.integer(minimum=1, maximum=MOST_TOKENS)
        for key, value in entries.items()
        if key != "timezone" and not value.null
    }
    return RateLimit(**limits, timezone=_timezone(entries["timezone"]) if "timezone" in entries else "UTC")


def _timezone(node: Node) -> str:
    import zoneinfo

    name = node.text()
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        node.fail(f"expected a time zone such as America/Los_Angeles, found {name!r}")
    return name


def _retry(node: Node) -> Retry:
    entries = node.mapping((), ("max_attempts", "base_delay_s", "max_delay_s"))
    default = Retry()
    return Retry(
        entries["max_attempts"].integer(minimum=1, maximum=20) if "max_attempts" in entries else default.max_attempts,
        _delay(entries["base_delay_s"]) if "base_delay_s" in entries else default.base_delay_s,
        _delay(entries["max_delay_s"]) if "max_delay_s" in entries else default.max_delay_s,
    )


def _delay(node: Node) -> float:
    return node.number(minimum=0, maximum=MOST_DELAY_S)


def _defenses(node: Node) -> tuple[DefenseSpec, ...]:
    specs: list[DefenseSpec] = []
    for item in node.items(at_least=1):
        spec = _defense(item)
        if any(spec.label == other.label for other in specs):
            item.fail(f"two defenses have the label {spec.label!r}; give one a 'label'")
        if not spec.stack and any(not other.stack for other in specs):
            item.fail("'none' is listed twice")
        specs.append(spec)
    if all(spec.stack for spec in specs):
        node.fail("'none' is missing: the undefended agent is what every defense is measured against")
    return tuple(specs)


def _defense(node: Node) -> DefenseSpec:
    """One of: a name; ``{name, label, params}``; a list of these, which is a stack; ``{label, stack}``.

    A label with an empty stack is the undefended agent.
    """
    if isinstance(node.value, list):
        return _stack(node, None)
    if isinstance(node.value, dict) and "stack" in node.value:
        entries = node.mapping(("stack",), ("label",))
        return _stack(entries["stack"], _label(entries.get("label")))
    name, params, label = _member(node, label=True)
    return DefenseSpec(label or name, () if name == UNDEFENDED else ((name, params),))


def _stack(node: Node, label: str | None) -> DefenseSpec:
    members = []
    for item in node.items(at_least=0 if label else 1):
        name, params, _ = _member(item, label=False)
        if name == UNDEFENDED:
            item.fail("'none' cannot be part of a stack")
        members.append((name, params))
    return DefenseSpec(label or "+".join(name for name, _ in members), tuple(members))


def _member(node: Node, *, label: bool) -> tuple[str, Mapping[str, Any], str | None]:
    if not isinstance(node.value, dict):
        return node.text(), {}, None
    entries = node.mapping(("name",), ("params", "label") if label else ("params",))
    name = entries["name"].text()
    params = _plain(entries.get("params"))
    if name == UNDEFENDED and params:
        entries["params"].fail("'none' has no parameters")
    return name, params, _label(entries.get("label"))


def _label(node: Node | None) -> str | None:
    if node is None or node.null:
        return None
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.+-]*", node.text()):
        node.fail("expected a label of letters, digits, '_', '.', '+' and '-'")
    return node.text()
