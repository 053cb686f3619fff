"""Messages with placeholders from a small closed set."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dowbench.rulepack.conditions import SET, TOOL
from dowbench.rulepack.facts import figure
from dowbench.rulepack.reading import FaultError, Path, near, text
from dowbench.rulepack.view import PLAIN_INPUTS, Inputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dowbench.rulepack.view import Env, Fact

ALWAYS = ("format",)
"""Placeholders that every message has."""
IN_TOOL = ("tool",)
"""Those of a shape of one tool."""
_PLAIN = {
    "tool": "the tool",
    "parameter": "parameter",
    "unit": "items",
    "maximum": "5,000",
    "default": "20",
    "enough": "50",
    "phrase": "call this tool again",
    "quote": "call this tool again until it answers DONE",
    "asked": "the tool",
    "sentence": "call this tool again until it answers DONE",
    "result.kind": "text",
    "result.open": "the list `rows`",
    "result.each": "the list `rows`",
    "result.output": "output",
    "count": "12",
    "tools": "`fetch_page`, `read_file`",
    "declared": "a limit",
    "sibling": "wait_for_job",
    "tokens": "12,000",
}
"""What stands for a placeholder where a text is shown for no tool in particular."""
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_WORDS = re.compile(r"[a-z0-9]+(?: [a-z0-9]+)*")
_LIMIT = re.compile(r"([a-z]+(?: [a-z]+)*) *, *([0-9]{1,9}) *, *([0-9]{1,9})(?: *, *([0-9]{1,9}))?")
"""Words of a name, its default, its maximum, and its minimum where that is not 1."""
_ARGUMENTS = {
    "name": (_WORDS, "lower-case words"),
    "limit": (_LIMIT, "`words, default, maximum` (and a minimum), as in `max rows, 10, 50`,"),
}
"""What may stand behind the colon of a placeholder."""


_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
"""What stands for ``{{`` and ``}}`` until placeholders are filled: no characters, by Unicode."""


def _braced(text: str) -> str:
    return text.replace(_OPEN, "{").replace(_CLOSE, "}")


class Template:
    """Text whose placeholders were checked when the rule was loaded."""

    def __init__(self, value: object, at: Path, known: set[str], env: Env) -> None:
        self.text = text(value, at).replace("{{", _OPEN).replace("}}", _CLOSE)
        self.options = env.options
        self.strict = env.strict
        self._known: dict[tuple[bool, Inputs], list[str]] = {}
        if not env.checked:
            self._check(at, known, env)

    def _check(self, at: Path, known: set[str], env: Env) -> None:
        """Raise ``FaultError`` for a placeholder that nothing can fill."""
        every = {
            *known,
            *ALWAYS,
            *IN_TOOL,
            *(fact for table in (TOOL, SET) for op in table.values() for fact in op.facts),
        }
        for name in _PLACEHOLDER.findall(self.text):
            head, colon, rest = name.partition(":")
            if colon and head in (*_ARGUMENTS, "option"):
                known_form, what = _ARGUMENTS.get(head, (None, f"an option of this rule{near(rest, env.options)}"))
                if not (rest in env.options if known_form is None else known_form.fullmatch(rest)):
                    raise FaultError(f"placeholder {{{name}}}: expected {what} after the colon", at)
                if (limit := _LIMIT.fullmatch(rest)) and not 1 <= int(limit[2]) <= int(limit[3]):
                    raise FaultError(f"placeholder {{{name}}}: expected a default from 1 to the maximum", at)
                continue
            if name not in every:
                raise FaultError(f"unknown placeholder {{{name}}}{near(name, every)}", at)
            if env.strict and name not in known and name not in ALWAYS:
                raise FaultError(f"placeholder {{{name}}}: no condition that must hold fills it", at)
        if "{" in _PLACEHOLDER.sub("", self.text) or "}" in _PLACEHOLDER.sub("", self.text):
            raise FaultError("a brace stands alone: braces are for placeholders, and {{ and }} for braces", at)

    @property
    def adds(self) -> bool:
        """Whether it names a parameter that is not there yet."""
        return any(name.startswith(("limit:", "name:")) for name in _PLACEHOLDER.findall(self.text))

    def plain(self) -> str:
        """The text for no tool in particular."""

        def value(found: re.Match[str]) -> str:
            written = self._written(found[1], camel=False, inputs=PLAIN_INPUTS)
            return _PLAIN.get(found[1], "…") if written is None else written

        text = _braced(" ".join(_PLACEHOLDER.sub(value, self.text).split()))
        return text[:1].upper() + text[1:]

    def fill(self, facts: Mapping[str, Fact], *, camel: bool = False, inputs: Inputs = PLAIN_INPUTS) -> str:
        """The text with its placeholders filled. Raises ``KeyError`` when a fact is missing."""

        pieces = self._pieces(camel, inputs).copy()
        for i in range(1, len(pieces), 2):
            fact = facts[pieces[i]] if self.strict else facts.get(pieces[i], "?")
            pieces[i] = fact if isinstance(fact, str) else fact()
        return " ".join("".join(pieces).split())

    def _pieces(self, camel: bool, inputs: Inputs) -> list[str]:
        """The text, and in every second place the name of a fact that belongs there."""
        if (camel, inputs) not in self._known:

            def value(found: re.Match[str]) -> str:
                written = self._written(found[1], camel=camel, inputs=inputs)
                return found[0] if written is None else written

            parts = _PLACEHOLDER.split(_PLACEHOLDER.sub(value, self.text))
            self._known[camel, inputs] = [_braced(part) for part in parts]
        return self._known[camel, inputs]

    def _written(self, placeholder: str, *, camel: bool, inputs: Inputs) -> str | None:
        """What stands for a placeholder whatever was found; ``None`` where a fact does."""
        head, _, rest = placeholder.partition(":")
        if head == "option":
            return figure(self.options[rest])
        if head == "name":
            return styled(rest, camel=camel)
        return parameter_to_add(rest, camel=camel, inputs=inputs) if head == "limit" else None


def parameter_to_add(limit: str, *, camel: bool, inputs: Inputs) -> str:
    """A limit to type, as it is declared: in JSON Schema, or as a field of a Pydantic model; and where it goes."""
    found = _LIMIT.fullmatch(limit)
    assert found is not None
    name, default, maximum, minimum = styled(found[1], camel=camel), found[2], found[3], found[4] or "1"
    if inputs.noun == "field":
        declared = f"a field `{name}: int = Field(default={default}, ge={minimum}, le={maximum})`"
    elif inputs.strict:
        stated = f'`type: ["integer", "null"]`, `minimum: {minimum}`, `maximum: {maximum}`'
        declared = f"a parameter `{name}` ({stated}; null means {default})"
    else:
        stated = f"`default: {default}`, `minimum: {minimum}`, `maximum: {maximum}`"
        declared = f"an integer {inputs.noun} `{name}` ({stated})"
    return f"{declared} {inputs.place}".rstrip()


def styled(words: str, *, camel: bool) -> str:
    """Words as a name: ``maxResults`` or ``max_results``."""
    first, *others = words.split()
    return first + "".join(word.capitalize() for word in others) if camel else "_".join([first, *others])
