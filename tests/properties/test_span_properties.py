"""Wherever a value stands, in whatever style, encoding and line ends, its span is exactly its text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from documents import ENCODINGS, MARKED, Written, join, json_files, offset, yaml_files
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dowbench.source import Document, Source, read

if TYPE_CHECKING:
    from dowbench.model import Span

MANY = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def pointers(value: Any, pointer: str = "") -> list[tuple[str, Any]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(pointer, value), *(found for key, child in inner for found in pointers(child, join(pointer, key)))]


def offsets(source: Source, span: Span | None) -> tuple[int, int]:
    assert span is not None
    return offset(source.text, span.line, span.column), offset(source.text, span.end_line, span.end_column)


def check_places(source: Source, document: Document, written: Written) -> None:
    for pointer, place in written.values.items():
        assert offsets(source, document.span(pointer)) == place, pointer
    for pointer, place in written.keys.items():
        assert offsets(source, document.key_span(pointer)) == place, pointer
    for pointer, place in written.aliases.items():
        assert offsets(source, document.use_span(pointer)) == place, pointer


def lines() -> st.SearchStrategy[Written]:
    """JSON Lines."""
    line = json_files().filter(lambda written: isinstance(written.value, dict))
    values = st.lists(line, min_size=2, max_size=4)
    return values.map(lambda written: Written("\n".join(w.text for w in written), [w.value for w in written]))


@MANY
@given(json_files(), st.sampled_from(ENCODINGS))
def test_json(written: Written, encoding: str) -> None:
    source = read("tools.json", written.text.encode(encoding))
    (document,) = source.documents
    assert (source.kind, source.text, source.warnings) == ("json", written.text, ())
    for pointer, value in pointers(document.value):
        start, end = offsets(source, document.span(pointer))
        assert json.loads(source.text[start:end]) == value
        is_member = bool(pointer) and pointer in written.keys
        assert (document.key_span(pointer) is not None) == is_member
    check_places(source, document, written)


@MANY
@given(json_files() | lines(), st.data())
def test_expected_places_are_those_of_the_whole(written: Written, data: st.DataObject) -> None:
    document, whole = (read("tools.jsonl", written.text.encode()).documents[0] for _ in range(2))
    known = [pointer for pointer, _ in pointers(whole.value)]
    nowhere = [f"{pointer}/-" for pointer in known]
    expected = data.draw(st.lists(st.sampled_from([*known, *nowhere]), max_size=4))
    document.expect(expected)
    for pointer in (*expected, *known, *nowhere):
        assert document.span(pointer) == whole.span(pointer), pointer
        assert document.key_span(pointer) == whole.key_span(pointer), pointer


@MANY
@given(yaml_files().filter(lambda written: written.value is not None), st.sampled_from(ENCODINGS))
def test_yaml(written: Written, encoding: str) -> None:
    assume(written.text[0].isascii() or encoding in MARKED)  # else nothing tells the encoding
    source = read("tools.yaml", written.text.encode(encoding), kind="yaml")
    (document,) = source.documents
    assert document.value == written.value
    check_places(source, document, written)


@MANY
@given(lines())
def test_json_lines(written: Written) -> None:
    source = read("tools.jsonl", written.text.encode())
    (document,) = source.documents
    assert document.value == written.value
    for pointer, value in pointers(document.value)[1:]:
        start, end = offsets(source, document.span(pointer))
        assert json.loads(source.text[start:end]) == value
