"""What the stages of a scan hand to each other: frozen data, no behaviour beyond look-up.

Lines and columns are 1-based; columns count Unicode code points. Pointers are JSON pointers (RFC 6901) into one
document of a file; the empty string is the whole document. ``None`` means unknown or not stated, never zero.

They are named tuples: frozen data classes take four times as long to define, which every start does, and to make.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Severity = Literal["high", "medium", "low"]
Confidence = Literal["high", "medium", "low"]
Tier = Literal["default", "pedantic"]
Scope = Literal["tool", "toolset"]

SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low")
"""The worst first."""
CONFIDENCES: tuple[Confidence, ...] = ("high", "medium", "low")
"""The surest first."""
EMPTY: Mapping[str, Any] = MappingProxyType({})


class Span(NamedTuple):
    """A stretch of text: from (line, column) up to, and not including, (end_line, end_column)."""

    line: int
    column: int
    end_line: int
    end_column: int


class Location(NamedTuple):
    """A place in a document. ``use`` is where a definition behind a ``$ref`` is referred to, else ``None``."""

    pointer: str
    use: str | None = None


class Children(Protocol):
    """What lies below a schema, made when it is asked for."""

    def properties(self) -> Mapping[str, Schema]:
        """The declared properties."""

    def items(self) -> Schema | None:
        """The schema of an array's items."""

    def alternatives(self) -> tuple[Schema, ...]:
        """The branches of a union."""

    def additional(self) -> Schema | None:
        """The schema of a map's values."""


class NoChildren:
    """What lies below a schema of a single value."""

    def properties(self) -> Mapping[str, Schema]:
        """None."""
        return EMPTY

    def items(self) -> Schema | None:
        """None."""
        return None

    def alternatives(self) -> tuple[Schema, ...]:
        """None."""
        return ()

    def additional(self) -> Schema | None:
        """None."""
        return None


NO_CHILDREN = NoChildren()


REFERENCES = frozenset(("$ref", "$dynamicRef", "$recursiveRef"))
"""Keywords of JSON Schema that refer to another schema."""


class Schema(NamedTuple):
    """One JSON Schema node with local ``$ref`` followed, ``allOf`` merged and ``null`` unions unwrapped.

    Children are resolved when asked for, so a recursive or enormous schema costs only what is looked at.
    """

    location: Location
    types: tuple[str, ...]
    """Lower-case JSON types without ``null``; empty: anything."""
    keywords: Mapping[str, Any]
    """The merged keywords with their raw values (``maximum``, ``maxItems``, ``enum``, ``description`` …)."""
    nullable: bool = False
    required: frozenset[str] = frozenset()
    circular: bool = False
    """Following this node led back to itself; it has no children."""
    identity: int = 0
    """The same for each use of one definition, so that a walk can visit a definition once; 0: not known."""
    children: Children = NO_CHILDREN

    @property
    def description(self) -> str:
        """The schema's own description, empty when it has none."""
        text = self.keywords.get("description")
        return text if isinstance(text, str) else ""

    @property
    def unread(self) -> bool:
        """Whether it is a reference that is not followed, so that nothing is known of it."""
        return not self.types and not REFERENCES.isdisjoint(self.keywords)

    @property
    def properties(self) -> Mapping[str, Schema]:
        """Declared properties by name, in source order."""
        return self.children.properties()

    @property
    def items(self) -> Schema | None:
        """The schema of an array's items, ``None`` when not stated."""
        return self.children.items()

    @property
    def alternatives(self) -> tuple[Schema, ...]:
        """The non-null branches of ``anyOf``/``oneOf`` where more than one is left."""
        return self.children.alternatives()

    @property
    def additional(self) -> Schema | None:
        """The schema under ``additionalProperties``, where it is a schema."""
        return self.children.additional()

    def get(self, keyword: str) -> Any:
        """The raw value of ``keyword``, or ``None``."""
        return self.keywords.get(keyword)


class Parameter(NamedTuple):
    """One input of a tool. Properties of nested objects are parameters too; ``path`` leads to them."""

    name: str
    path: tuple[str, ...]
    """Names from the tool's input down to this one: ``("request", "limit")``."""
    schema: Schema
    required: bool
    description: str
    """The parameter's own description (OpenAPI), else its schema's."""
    place: str | None = None
    """OpenAPI: ``query``, ``path``, ``header``, ``cookie`` or ``body``; else ``None``."""
    location: Location = Location("")
    """Where it is defined (behind any ``$ref``), and where it is used."""

    @property
    def nested(self) -> bool:
        """Whether it lies inside an object or an array item of another parameter."""
        return len(self.path) > 1


class Tool(NamedTuple):
    """One tool as the model is offered it."""

    name: str
    location: Location
    description: str
    """What the model reads, joined from title, summary and description; empty when there is none."""
    parameters: tuple[Parameter, ...]
    """Every input, nested ones after the one that holds them."""
    output: Schema | None = None
    """The declared output (MCP ``outputSchema``, an OpenAPI 2xx response, Gemini ``response``)."""
    output_media: tuple[str, ...] = ()
    """OpenAPI: media types of the 2xx responses."""
    hints: Mapping[str, Any] = EMPTY
    """MCP tool annotations as given: claims of the server, not facts."""
    meta: Mapping[str, Any] = EMPTY
    """MCP ``_meta``."""
    method: str | None = None
    """OpenAPI: the HTTP method in lower case."""
    definition: Any = None
    """The raw value at ``location``, for estimating what its text costs on every turn."""
    description_location: Location | None = None
    unread: bool = False
    """Whether its inputs stand behind a reference that is not followed, so that nothing is known of them."""
    listed: bool = False
    """Whether it is the entry of a registry's list, which names arguments and states nothing of them but a type."""
    strict: bool = False
    """OpenAI: whether every argument has to be given, so that each parameter stands in ``required``."""

    @property
    def inputs(self) -> tuple[Parameter, ...]:
        """Only the parameters at the top level."""
        return tuple([p for p in self.parameters if len(p.path) == 1])


class ToolSet(NamedTuple):
    """The tools of one document, which an agent is offered together."""

    path: str
    format: str
    tools: tuple[Tool, ...]
    document: int = 0
    """Index of the YAML document in the file."""
    location: Location = Location("")
    """The list that holds the tools."""
    expand_notes: Callable[[], tuple[Note, ...]] = lambda: ()

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was found on the way and is unknown, such as a ``$ref`` to another file.

        Schemas are resolved when asked for, so more may be found while rules run: read it afterwards.
        """
        return self.expand_notes()


class Evidence(NamedTuple):
    """What a shape cost somewhere. ``provenance``: measured, reported, or none (nobody measured it)."""

    provenance: Literal["measured", "reported", "none"]
    text: str
    """One line a reader can check: value, interval, n, model; or the source's own words for the figure."""
    source: str | None = None
    """URL or identifier of the source, or the run folder."""
    amplification: float | None = None
    """Cost of the attacked episode over the benign one."""
    lower: float | None = None
    """Lower end of the 95 % interval of ``amplification``, where one was given."""

    @property
    def further(self) -> str:
        """The source where the text does not name it, else nothing."""
        return self.source if self.source and self.source not in self.text else ""


UNMEASURED = Evidence("none", "not measured yet")


class Related(NamedTuple):
    """A further place that belongs to a finding, and what it has to do with it."""

    pointer: str
    message: str
    span: Span | None = None


class Finding(NamedTuple):
    """A pattern match: what the tool has, why that shape costs, what to change. Never a forecast."""

    rule: str
    severity: Severity
    confidence: Confidence
    tier: Tier
    family: str
    message: str
    fix: str
    path: str
    pointer: str
    tool: str | None
    """``None`` for a finding on a whole tool set."""
    parameter: str | None = None
    """Dotted path of the parameter, where the finding is on one."""
    evidence: tuple[Evidence, ...] = ()
    related: tuple[Related, ...] = ()
    document: int = 0
    span: Span | None = None
    """Filled by ``scan`` for findings that are reported."""
    fingerprint: str = ""
    """sha256 over rule, path, tool, parameter (and an ordinal for repeats); filled by ``scan``."""


class Suppressed(NamedTuple):
    """A finding that somebody decided not to be told about."""

    finding: Finding
    by: Literal["inline", "baseline", "config"]
    reason: str


class Note(NamedTuple):
    """Something to know about a file that is no finding: an error, a warning, a reason for skipping."""

    path: str
    message: str
    line: int | None = None
    column: int | None = None
    pointer: str | None = None
    """Where, in document number ``document``, until it has a line."""
    document: int = 0
    detail: str = ""
    """The traceback behind an internal error; shown on request only."""


class FileScan(NamedTuple):
    """A file that was read."""

    path: str
    format: str
    tools: int


class FrameworkSetting(NamedTuple):
    """A setting of an agent framework that answers a rule."""

    framework: str
    code: str
    """What to type; numbers in it are examples."""
    caveat: str = ""
    """What it does not do, in a few words."""
    formats: tuple[str, ...] = ()
    """Formats of tool definitions that it can apply to; empty for all."""


class RuleInfo(NamedTuple):
    """What a reporter needs to know of a rule that was in force, whether or not it fired."""

    id: str
    title: str
    severity: Severity
    confidence: Confidence
    tier: Tier
    family: str
    why: str
    fix: str
    taxonomy: tuple[str, ...]
    """``CWE-770``, ``OWASP LLM10:2025`` …"""
    evidence: tuple[Evidence, ...] = ()
    frameworks: tuple[FrameworkSetting, ...] = ()
    example_before: str = ""
    example_after: str = ""
    page: str | None = None
    """Where its page is on the web; ``None`` for a rule of somebody's own."""


class ScanResult(NamedTuple):
    """Everything a report is made from."""

    files: tuple[FileScan, ...] = ()
    findings: tuple[Finding, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    skipped: tuple[Note, ...] = ()
    errors: tuple[Note, ...] = ()
    """What could not be scanned. Any entry makes the exit code 2."""
    warnings: tuple[Note, ...] = ()
    """Duplicate JSON keys, unused or expired ignores, baseline entries that no longer match."""
    rules: tuple[RuleInfo, ...] = ()
    unchanged: int = 0
    """Findings left out because ``--changed-since`` saw no change in their tool."""
    left_out: tuple[Finding, ...] = ()
    """These, and findings that the settings do not ask for: they exist, which a baseline has to know."""
    known: frozenset[str] = frozenset()
    """Ids of all rules there are, in force or not."""

    @property
    def tools(self) -> int:
        """How many tools were read."""
        return sum(f.tools for f in self.files)

    def count(self, severity: Severity) -> int:
        """How many findings have this severity."""
        return sum(f.severity == severity for f in self.findings)
