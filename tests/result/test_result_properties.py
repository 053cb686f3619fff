"""Whatever a definition holds, reading it ends in a result and never in an exception."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tools_of import LEXICON

from dowbench.loaders import load
from dowbench.result import describe, upper_bound
from dowbench.result.cap_forms import FORMS
from dowbench.result.caps import in_parameter, on_result
from dowbench.result.english import base_forms, phrase, plural

_WORDS = (
    "get list all the of tickets page limit max 10 2,000 between and up to returns its content not e.g. tree recursive "
    "run sql `query` (1-50) <= 5 most recent — saves file image base64 with comments agent prompt . , : \n "
    "⟦9⟧ **max** 1,2,3"
)
_DECISIVE = sorted({word for phrases in LEXICON.values() for text in phrases for word in text.split()})
_JOINING = "for of by with a an the to from in and or that which all returns single specific: , . name id"
WORDS = st.one_of(*(st.sampled_from(words) for words in (_WORDS.split(" "), _DECISIVE, _JOINING.split(" "))))
TEXTS = st.one_of(st.text(max_size=80), st.lists(WORDS, max_size=25).map(" ".join))
NAMES = st.one_of(
    st.text(max_size=20),
    st.lists(WORDS, min_size=1, max_size=4).map("_".join),
    st.sampled_from(["limit", "cursor", "page", "sql", "path", "recursive", "depth", "url", "prompt", "after"]),
)
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9), st.lists(st.integers(), max_size=3)
)
_BOUNDING = ("maximum", "exclusiveMaximum", "maxItems", "maxLength", "enum", "const", "default", "format", "pattern")
KEYWORDS = st.sampled_from(_BOUNDING)
TYPES = st.sampled_from(["string", "integer", "number", "array", "object", "boolean", "null"])
LEAVES = st.builds(
    lambda kind, more, text: {**more, **({"type": kind} if kind else {}), "description": text},
    st.one_of(st.none(), TYPES, st.lists(TYPES, min_size=1, max_size=3, unique=True)),
    st.dictionaries(KEYWORDS, VALUES, max_size=3),
    TEXTS,
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(lambda p: {"type": "object", "properties": p}, st.dictionaries(NAMES, inner, max_size=3)),
        st.builds(lambda i: {"type": "array", "items": i}, inner),
        st.builds(lambda a: {"anyOf": a}, st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=6,
)
TOOLS = st.builds(
    lambda name, text, properties, output, meta: {
        "name": name if name.strip() else "x",
        "description": text,
        "inputSchema": {"type": "object", "properties": properties, "required": list(properties)[:1]},
        **({"outputSchema": output} if output else {}),
        **({"_meta": {"anthropic/maxResultSizeChars": meta}} if meta is not None else {}),
    },
    NAMES,
    TEXTS,
    st.dictionaries(NAMES, SCHEMAS, max_size=4),
    st.one_of(st.none(), SCHEMAS),
    VALUES,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(TOOLS, min_size=1, max_size=3))
def test_every_tool_has_a_result(definitions: list[dict[str, Any]]) -> None:
    tools = load({"tools": definitions}, path="tools.json", format="mcp").tools
    for tool in tools:
        found = describe(tool, LEXICON, lambda: True)
        assert found == describe(tool, LEXICON, lambda: True)
        assert found.query is None or found.query in tool.parameters
        told = (*(limit.parameter for limit in found.limits), *found.continuations)
        assert {id(parameter) for parameter in told} <= {id(parameter) for parameter in tool.parameters}
        for limit in (*found.limits, *(upper_bound(p) for p in tool.parameters)):
            assert (limit.maximum is None) == (limit.source == "none")


@given(TEXTS)
def test_caps_are_numbers_that_stand_in_the_text(text: str) -> None:
    for cap in (in_parameter(text), on_result(text)):
        assert cap is None or cap.value is None or cap.value >= 0


@given(st.lists(st.text("abcdeings", min_size=1, max_size=8), max_size=12), st.integers(0, 12))
def test_a_phrase_is_a_part_of_the_words(words: list[str], start: int) -> None:
    noun, end = phrase(words, start)
    assert start <= end
    assert all(word in words for word in noun)
    for word in words:
        assert word in base_forms(word)
        assert plural(word) in {True, False}


@pytest.mark.parametrize(("stems", "form"), FORMS)
@given(data=st.data())
def test_a_form_stands_nowhere_without_one_of_its_stems(stems, form, data):
    stated, _, _ = form.partition("(?=")  # hypothesis does not look ahead
    text = data.draw(st.from_regex(re.compile(stated, re.IGNORECASE), fullmatch=True))
    if text.isascii() or not set("ſK") & set(text):  # which are s and k where case does not count
        assert any(stem in text.lower() for stem in stems.split("|")), text
