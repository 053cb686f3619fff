"""What the parts of the benchmark hand to each other: frozen data and the protocols of its seams.

Tokens are whole numbers, money is USD, durations are seconds. ``None`` means unknown or not applicable, never zero.
Everything that is recorded has a plain JSON form; ``codec`` turns the one into the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

Kind = Literal["benign", "attack", "control"]
Status = Literal["completed", "truncated", "aborted", "censored", "errored"]
StopReason = Literal["end_turn", "tool_use", "max_tokens", "refusal", "other"]
Vector = Literal["tool_result", "user_prompt", "tool_description"]

KINDS: tuple[Kind, ...] = ("benign", "attack", "control")
STATUSES: tuple[Status, ...] = ("completed", "truncated", "aborted", "censored", "errored")
STOP_REASONS: tuple[StopReason, ...] = ("end_turn", "tool_use", "max_tokens", "refusal", "other")
VECTORS: tuple[Vector, ...] = ("tool_result", "user_prompt", "tool_description")
UNDEFENDED = "none"
"""The label of the undefended agent, which every plan has exactly once."""


# ------------------------------------------------------------------------------------------- the conversation


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is offered it. ``parameters`` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that the model asked for."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """One message. Consecutive ``tool`` messages answer the parallel calls of one assistant turn.

    Messages are compared and digested by identity first, so rewrite by making a new one.
    """

    role: Literal["user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    """Assistant only."""
    tool_call_id: str | None = None
    """Tool only: the call that is answered."""
    name: str | None = None
    """Tool only: the tool that was called."""
    opaque: Any = None
    """Assistant only: the turn as the provider gave it (JSON), sent back verbatim: thinking blocks, signatures."""


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that shapes one call of the model."""

    model: str
    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    max_tokens: int
    """Upper bound of what the call may produce, thinking included."""
    seed: int = 0
    """The episode's seed. A provider sends it only where its API has one and ``options`` asks for it."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Sampling and switches (temperature, thinking …) as the configuration sets them, none by default."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Disjoint counters of billed tokens. Their sum is what is billed; reasoning is billed at the output rate."""

    input_tokens: int = 0
    """Prompt tokens that neither came from a cache nor were written to one."""
    output_tokens: int = 0
    """Visible output."""
    reasoning_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    @property
    def total(self) -> int:
        """All billed tokens."""
        return sum(self.counters().values())

    def counters(self) -> dict[str, int]:
        """The counters by name."""
        return {name: getattr(self, name) for name in Usage.__slots__}

    def __add__(self, other: Usage) -> Usage:
        return Usage(**{name: count + getattr(other, name) for name, count in self.counters().items()})


@dataclass(frozen=True, slots=True)
class Response:
    """What came back from one call."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    stop_reason: StopReason
    usage: Usage
    """Mapped from ``raw_usage`` by the provider's mapper."""
    raw_usage: Mapping[str, Any]
    """The usage object exactly as the provider reported it."""
    served_model: str | None
    """The model version that says it answered."""
    latency_s: float
    """From sending to the whole answer. A simulated provider states a simulated latency."""
    opaque: Any = None
    """See ``Message.opaque``."""


# ------------------------------------------------------------------------------------------------- providers


class ProviderError(Exception):
    """A call failed. ``billed`` is False only where the provider is known not to bill such a failure."""

    def __init__(self, message: str, *, billed: bool) -> None:
        super().__init__(message)
        self.billed = billed


class TransientError(ProviderError):
    """Worth another try: 408, 409, 425, 429, 5xx, a connection that failed before the request was sent."""

    def __init__(self, message: str, *, retry_after: float | None = None, billed: bool = False) -> None:
        super().__init__(message, billed=billed)
        self.retry_after = retry_after
        """Seconds that the provider asked to wait (``Retry-After``)."""


class UsageError(ProviderError):
    """The reported usage cannot be mapped with certainty (an unknown field, a sum that does not add up).

    Whoever maps raises it without ``raw_usage``; the provider adds what it got, so that the call is recorded.
    """

    def __init__(self, message: str, *, raw_usage: Mapping[str, Any] | None = None) -> None:
        super().__init__(message, billed=True)
        self.raw_usage = raw_usage


Mapper = Callable[[Mapping[str, Any]], Usage]
"""From a provider's raw usage to the counters. Raises ``UsageError`` for whatever it does not know."""


@runtime_checkable
class Provider(Protocol):
    """One way to call models. Both methods are called from several threads at once.

    A provider is a class found in the table of ``providers`` or through the entry-point group ``dowbench.providers``.
    Its module imports no SDK before ``create`` is called.
    """

    name: ClassVar[str]
    simulated: ClassVar[bool]
    """True: no model answers, and nothing it says is a result."""
    key_variable: ClassVar[str | None]
    """The environment variable that holds its key, ``None`` where it needs none."""

    @classmethod
    def create(cls, options: Mapping[str, Any]) -> Provider:
        """Make one from ``provider_options`` of the configuration. Raises ``dowbench.errors.UsageError``."""
        ...

    def count(self, request: Request) -> int:
        """A proven upper bound of the prompt tokens that ``request`` would be billed for, cached ones included."""
        ...

    def complete(self, request: Request) -> Response:
        """Call the model once: no retry inside. Raises ``ProviderError``."""
        ...


# ------------------------------------------------------------------------------------- scenario, tasks, attacks


@dataclass(frozen=True, slots=True)
class Task:
    """A benign task of a scenario."""

    id: str
    wordings: tuple[str, ...]
    """The prompt, then paraphrases that ask for the same."""
    expected: tuple[str, ...] = ()
    """Texts, any of which a right final answer contains (case ignored); empty: the answer is not judged."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a tool gave back."""

    text: str
    delegate: str | None = None
    """A prompt for a sub-agent with the same tools; its final answer takes the place of ``text``."""


class World(Protocol):
    """The simulated surroundings of one episode; made new for each, so it may keep state."""

    prompt: str
    """What the user asks (the payload included, for the vector user_prompt)."""
    system: str

    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools on offer now. Asked before each call: a hostile server may change its list."""
        ...

    def execute(self, call: ToolCall) -> ToolOutcome:
        """Run a tool. An unknown tool or bad arguments give an outcome that says so, never an exception."""
        ...


class Injection(Protocol):
    """What is laid into a world, by an attack or by its control. ``attacks`` says how it is made from data."""

    vector: Vector


class Attack(Protocol):
    """An entry of the attack catalogue. Found in ``attacks/`` or through the entry-point group ``dowbench.attacks``."""

    id: str
    family: str
    vector: Vector
    task_id: str
    """The paired benign task."""
    summary: str
    """One line: what it makes the agent do."""
    source: str
    """Where the mechanism is described."""
    payload: Injection
    control: Injection
    """The neutral counterpart: same vector, same length, no instruction."""

    def record(self) -> Mapping[str, Any]:
        """Everything that shapes its episodes, as JSON; ``attacks.from_record`` makes the attack again."""
        ...


class Scenario(Protocol):
    """Tools, documents and tasks of a simulated agent's surroundings."""

    id: str
    digest: str
    """sha256 over everything that shapes its episodes."""
    system_prompt: str
    tasks: Mapping[str, Task]

    def world(self, task: Task, wording: int, injection: Injection | None, system: str) -> World:
        """The surroundings of one episode. ``system`` is the system prompt in force."""
        ...


# ------------------------------------------------------------------------------------------------- defenses


@dataclass(frozen=True, slots=True)
class Abort:
    """A hook's answer: end the episode here. What was spent is billed all the same."""

    reason: str


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A ``before_call`` hook's answer: change the request. ``None`` leaves a part as it is."""

    messages: tuple[Message, ...] | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """What a hook may know of the episode so far."""

    model: str
    turns: int
    """Calls of the model that were billed so far, the defense's own included."""
    depth: int
    """0 in the agent, 1 in a sub-agent it started, and so on."""
    usage: Usage
    """Billed so far."""
    cost_usd: float | None
    """USD billed so far, ``None`` in an unpriced run."""
    elapsed_s: float
    """Sum of the latencies of the calls so far; the same in a replay."""
    pinned_tools: tuple[ToolSpec, ...]
    """The tools as they were when the user approved them (the scenario's own)."""
    ask: Callable[[Request], Response] = field(repr=False)
    """Calls the model on the defense's behalf: billed to the episode, bound by its ceiling, recorded."""


class Defense:
    """Base of every defense: hooks that leave all as it is. One instance serves one episode and may keep state.

    Subclasses are frozen or plain dataclasses whose fields are the parameters; ``__post_init__`` raises ``ValueError``
    naming the parameter and what was expected. Found in the table of ``defenses`` or through the entry-point group
    ``dowbench.defenses``.
    """

    name: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    """One line: what it bounds."""

    def on_tools(self, tools: tuple[ToolSpec, ...], context: Context) -> tuple[ToolSpec, ...] | Abort | None:
        """Before the first call, and whenever the list on offer changed. The only hook that may change tools."""
        return None

    def before_call(self, request: Request, context: Context) -> Rewrite | Abort | None:
        """Before each call. Model and tools cannot be changed here."""
        return None

    def after_call(self, request: Request, response: Response, context: Context) -> Abort | None:
        """After each call of the agent, before its tools run. ``context`` includes the call."""
        return None

    def on_tool_result(self, call: ToolCall, result: str, context: Context) -> str | Abort | None:
        """For each result, before the model sees it."""
        return None


# --------------------------------------------------------------------------------------------- plan and episodes


@dataclass(frozen=True, slots=True)
class DefenseSpec:
    """A defense, or a stack applied in order, under the label that results carry."""

    label: str
    stack: tuple[tuple[str, Mapping[str, Any]], ...]
    """(name, parameters) pairs; empty for ``none``."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """What no episode may pass, whatever its defense."""

    max_turns: int = 12
    max_tokens_per_call: int = 1024
    max_total_tokens: int = 50_000


@dataclass(frozen=True, slots=True)
class EpisodeSpec:
    """One planned episode."""

    id: str
    """First 16 hex digits of the sha256 of the canonical JSON of all that shapes the episode."""
    index: int
    """Its place in the plan."""
    model: str
    defense: DefenseSpec
    kind: Kind
    item_id: str
    """The task's id for a benign episode, else the attack's."""
    task_id: str
    """The benign task, which for an attack or control is the paired one."""
    wording: int
    """Which wording of the task, 0 first."""
    repeat: int
    seed: int


@dataclass(frozen=True, slots=True)
class Episode:
    """One finished episode, as ``episodes.jsonl`` holds it."""

    episode_id: str
    model: str
    defense: str
    kind: Kind
    item_id: str
    benign_task_id: str
    repeat: int
    status: Status
    reason: str | None
    turns: int
    usage: Usage
    cost_usd: float | None
    """``None`` in an unpriced run."""
    simulated: bool
    attempt: str
    wording: int = 0
    answered: bool | None = None
    """Whether the final answer has what the task expects; ``None`` where there is no answer or nothing to judge."""
