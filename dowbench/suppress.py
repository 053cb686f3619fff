"""Findings that somebody decided not to be told about: ignores in the document, exceptions in the configuration.

An ignore covers the node it stands on and everything below that node. It always says in the report that it was used;
one that was not used, has expired, or cannot be understood is a warning, and the findings stay.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dowbench.config import ALL, is_date
from dowbench.model import Suppressed
from dowbench.pointer import join, upwards

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from dowbench.config import Waiver
    from dowbench.globs import Globs
    from dowbench.model import Finding, Span

    class Source(Protocol):
        """A file (``source.Source``)."""

        @property
        def text(self) -> str: ...
        @property
        def kind(self) -> str: ...

    class Document(Protocol):
        """A document whose places are known (``source.Document``)."""

        value: Any

        def span(self, pointer: str) -> Span: ...
        def key_span(self, pointer: str) -> Span | None: ...


KEY = "x-dowbench-ignore"
# Below these keys, a key is the name of something and not a keyword.
_NAMES = frozenset(
    ("properties", "patternProperties", "$defs", "definitions", "schemas", "example", "examples", "default")
)
_COMMENT = re.compile(r"#[ \t]*dowbench:[ \t]*ignore(?P<rest>[^\r\n]*)")
_RULES = re.compile(r"\[(?P<rules>[^\]]*)\](?P<reason>.*)")
_UNTIL = re.compile(r"\buntil\b[ \t:]*+(?P<date>[^\s),.;]*+)\)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ignore:
    """One ignore, wherever it was written."""

    rules: tuple[str, ...]
    reason: str = ""
    until: str | None = None
    pointer: str | None = None
    """The node it stands on; ``None`` for a comment, which is found by its lines."""
    line: int = 0
    """Where it is written."""
    next_line: int | None = None
    """Comments: the line on which the node that it covers begins."""

    def covers(self, rule: str) -> bool:
        """Whether it speaks of ``rule``."""
        return rule in self.rules or ALL in self.rules


class Fault(NamedTuple):
    """Something wrong with an ignore, and the line it is on."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What ignores did to the findings of one file."""

    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]
    faults: tuple[Fault, ...]


def collect(documents: Sequence[Document], source: Source | None) -> list[list[Ignore | Fault]]:
    """The ignores of each of ``documents``, those in the comments of ``source``, their file, among them."""
    keyed = source is None or KEY in source.text
    collected: list[list[Ignore | Fault]] = [list(in_values(document)) if keyed else [] for document in documents]
    if source is not None and source.kind == "yaml" and _COMMENT.search(source.text):
        begins = [document.span("").line for document in documents]
        for item in in_comments(source.text):
            # A comment belongs to the last document that has begun where the node it covers begins.
            line = (item.next_line if isinstance(item, Ignore) else None) or item.line
            collected[max(bisect_right(begins, line) - 1, 0)].append(item)
    return collected


def in_values(document: Document) -> Iterator[Ignore | Fault]:
    """Every ``x-dowbench-ignore`` in a document's value, and what is wrong with those that are not usable."""
    stack: list[tuple[Any, str, bool]] = [(document.value, "", False)]
    seen: set[int] = set()
    while stack:
        node, pointer, names = stack.pop()
        if id(node) in seen:
            continue
        if isinstance(node, dict):
            seen.add(id(node))
            if KEY in node and not names:
                yield from _from_value(node[KEY], pointer, document, join(pointer, KEY))
            for key, item in node.items():
                if isinstance(item, dict | list) and (names or key != KEY):
                    stack.append((item, join(pointer, str(key)), not names and key in _NAMES))
        elif isinstance(node, list):
            seen.add(id(node))
            stack.extend(
                (item, join(pointer, index), False) for index, item in enumerate(node) if isinstance(item, dict | list)
            )


def _from_value(value: Any, pointer: str, document: Document, place: str) -> Iterator[Ignore | Fault]:
    """The ignores that ``value`` at ``place`` is: one, or a list of some, in which rule ids are one together."""
    if not isinstance(value, list | str | dict):
        yield Fault(
            document.span(place).line, f"{KEY} must be a list of rules, or an object with rules, reason and until"
        )
        return
    items = value if isinstance(value, list) else [value]
    if ids := [item for item in items if not isinstance(item, dict)]:
        yield _ignore({"rules": ids}, pointer, document.span(place).line)
    elif not items:
        yield _ignore({}, pointer, document.span(place).line)
    for index, item in enumerate(items):
        if isinstance(item, dict):
            own = join(place, index) if isinstance(value, list) else place
            yield _ignore(item, pointer, document.span(own).line)


def _ignore(given: dict[str, Any], pointer: str, line: int) -> Ignore | Fault:
    unknown = [key for key in given if key not in ("rules", "reason", "until")]
    if unknown:
        return Fault(line, f"unknown key {unknown[0]!r} in {KEY}; known are rules, reason, until")
    rules = given.get("rules")
    rules = [rules] if isinstance(rules, str) else rules
    if not isinstance(rules, list) or not rules or not all(isinstance(rule, str) for rule in rules):
        return Fault(line, f'{KEY} names no rules; give their ids, or "all"')
    reason, until = given.get("reason", ""), given.get("until")
    if not isinstance(reason, str) or not isinstance(until, str | None):
        return Fault(line, f"reason and until of {KEY} must be strings")
    return Ignore(tuple(rules), reason, until, pointer, line)


def in_comments(text: str) -> Iterator[Ignore | Fault]:
    """Every ``# dowbench: ignore[rule, …] reason (until YYYY-MM-DD)`` of a YAML text.

    The comment covers nodes that start on its line or, if it stands alone, on the next line that holds more than a
    comment.
    """
    inside = _scalars(text)
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    following = _following(text.split("\n"))
    for match in _COMMENT.finditer(text):
        before = bisect_right(inside, (match.start(), len(text))) - 1
        if before >= 0 and match.start() < inside[before][1]:
            continue
        line = bisect_right(starts, match.start())
        parts = _RULES.match(match["rest"].strip())
        rules = tuple(rule.strip() for rule in parts["rules"].split(",") if rule.strip()) if parts else ()
        if parts is None or not rules:
            yield Fault(line, "an ignore names its rules in brackets: # dowbench: ignore[unbounded-result] reason")
            continue
        reason, until = parts["reason"].strip(), None
        limits = list(_UNTIL.finditer(reason))
        if dated := next((limit for limit in limits if is_date(limit["date"])), limits[0] if limits else None):
            lead = re.sub(r"[(,;]\Z", "", reason[: dated.start()].rstrip()).rstrip()
            until, reason = dated["date"], (lead + reason[dated.end() :]).strip()
        alone = not text[starts[line - 1] : match.start()].strip(" \t\ufeff")
        yield Ignore(rules, reason, until, None, line, following[line] if alone else line)


def _following(lines: list[str]) -> list[int | None]:
    """For each line the number of the next one, from 1, that holds more than a comment or the start of a document."""
    found: list[int | None] = [None] * (len(lines) + 1)
    for number in range(len(lines) - 1, 0, -1):
        content = lines[number].strip()
        plain = content and not content.startswith(("#", "---"))
        found[number] = number + 1 if plain else found[number + 1]
    return found


def _scalars(text: str) -> list[tuple[int, int]]:
    """Where the scalars of a YAML text are; block scalars from their second line on: a comment may follow ``|``."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    places = []
    for token in yaml.scan(text, loader):
        if isinstance(token, yaml.ScalarToken):
            start: int = token.start_mark.index
            if token.style in ("|", ">"):
                start = text.find("\n", start)
            places.append((start, token.end_mark.index))
    return places


def apply(
    findings: Sequence[Finding],
    ignores: Iterable[Ignore | Fault],
    *,
    document: Document,
    tools: Mapping[str, str],
    known: Collection[str],
    judged: Collection[str],
    now: str,
) -> Outcome:
    """Divide ``findings`` of one document into those that stand and those that an ignore covers.

    ``tools`` leads from a tool's name to its pointer. ``known`` are the ids that an ignore may name, ``judged`` those
    in force, whose ignores are unused when they cover nothing. ``now`` is the date, ``YYYY-MM-DD``.
    """
    live, faults = _usable(ignores, known, now)
    used: set[tuple[int, str]] = set()
    standing: list[Finding] = []
    suppressed: list[Suppressed] = []
    placed = _Placed(live)
    for finding in findings:
        covering = placed.over(finding, tools, document)
        if not covering:
            standing.append(finding)
            continue
        used.update((id(ignore), rule) for ignore in covering for rule in (finding.rule, ALL))
        suppressed.append(Suppressed(finding, "inline", covering[0].reason))
    for ignore in live:
        faults.extend(
            Fault(ignore.line, f"unused ignore: no {'' if rule == ALL else rule + ' '}finding here")
            for rule in ignore.rules
            if (rule in judged or rule == ALL) and (id(ignore), rule) not in used
        )
    return Outcome(tuple(standing), tuple(suppressed), tuple(sorted(faults)))


def _usable(ignores: Iterable[Ignore | Fault], known: Collection[str], now: str) -> tuple[list[Ignore], list[Fault]]:
    """The ignores that are in force, and what is wrong with any of them."""
    faults: list[Fault] = []
    live: list[Ignore] = []
    for item in ignores:
        if isinstance(item, Fault):
            faults.append(item)
            continue
        faults.extend(
            Fault(item.line, f"ignore names the unknown rule {rule!r}")
            for rule in item.rules
            if rule != ALL and rule not in known
        )
        if item.until is not None and not is_date(item.until):
            faults.append(
                Fault(item.line, f"until must be a date as YYYY-MM-DD, not {item.until!r}; the ignore is void")
            )
        elif item.until is not None and item.until < now:
            faults.append(Fault(item.line, f"ignore expired on {item.until}"))
        else:
            live.append(item)
    return live, faults


class Waived(NamedTuple):
    """Findings divided by the configuration's exceptions."""

    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]
    used: frozenset[int]
    """Positions of the exceptions that covered one."""


def waive(findings: Sequence[Finding], file: str, waivers: Sequence[tuple[Waiver, Globs]], now: str) -> Waived:
    """Divide ``findings`` of ``file`` by exceptions; the reason is that of the first that covers a finding."""
    live = [
        (index, waiver)
        for index, (waiver, files) in enumerate(waivers)
        if (waiver.until is None or waiver.until >= now) and (not waiver.files or files.match(file))
    ]
    standing: list[Finding] = []
    suppressed: list[Suppressed] = []
    used: set[int] = set()
    for finding in findings:
        covering = [
            (index, waiver)
            for index, waiver in live
            if not {finding.rule, ALL}.isdisjoint(waiver.rules) and (not waiver.tools or finding.tool in waiver.tools)
        ]
        used.update(index for index, _ in covering)
        if covering:
            suppressed.append(Suppressed(finding, "config", covering[0][1].reason))
        else:
            standing.append(finding)
    return Waived(tuple(standing), tuple(suppressed), frozenset(used))


class _Placed:
    """Ignores by the place that they stand on, since there may be as many as findings."""

    def __init__(self, ignores: Iterable[Ignore]) -> None:
        self._by_pointer: dict[str, list[tuple[int, Ignore]]] = {}
        self._by_line: dict[int, list[tuple[int, Ignore]]] = {}
        for number, ignore in enumerate(ignores):
            if ignore.pointer is not None:
                self._by_pointer.setdefault(ignore.pointer, []).append((number, ignore))
            elif ignore.next_line is not None:
                self._by_line.setdefault(ignore.next_line, []).append((number, ignore))

    def over(self, finding: Finding, tools: Mapping[str, str], document: Document) -> list[Ignore]:
        """The ignores that cover a finding, in their order."""
        covering = dict(found for found in self._places(finding, tools, document) if found[1].covers(finding.rule))
        return [covering[number] for number in sorted(covering)]

    def _places(self, finding: Finding, tools: Mapping[str, str], document: Document) -> Iterator[tuple[int, Ignore]]:
        own = {finding.pointer, tools.get(finding.tool or "", finding.pointer)}
        if finding.tool is not None and finding.tool in tools:
            # OpenAI chat and Bedrock wrap a definition in an object of its own.
            own |= {join(tools[finding.tool], wrapper) for wrapper in ("function", "toolSpec")}
        around = {place for pointer in own for place in upwards(pointer)}
        for place in around:
            yield from self._by_pointer.get(place, ())
        if self._by_line:
            lines = {line for pointer in own for line in _own_lines(pointer, document)}
            for line in lines.union(_line(place, document) for place in around):
                yield from self._by_line.get(line, ()) if line is not None else ()


def _line(pointer: str, document: Document) -> int | None:
    """The line on which a node begins: that of its key, if it has one; ``None`` for a list at the root."""
    key = document.key_span(pointer)
    if key is not None:
        return key.line
    return None if not pointer and isinstance(document.value, list) else document.span(pointer).line


def _own_lines(pointer: str, document: Document) -> set[int]:
    """Lines that a reader takes for the node itself: its key's, and where the report says it is."""
    key, span = document.key_span(pointer), document.span(pointer)
    return {place.line for place in (key, span) if place is not None}
