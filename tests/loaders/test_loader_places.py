"""From the bytes of a file to line and column, through anchors, references, CRLF and a byte order mark."""

from __future__ import annotations

from pathlib import Path

import pytest

from dowbench.loaders import load
from dowbench.source import Document, read

CASE = Path(__file__).parents[2] / "fixtures" / "openapi" / "anchors_crlf" / "input.yaml"


@pytest.fixture
def document() -> Document:
    data = CASE.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    assert data.count(b"\r\n") == data.count(b"\n")
    (found,) = read("input.yaml", data).documents
    return found


def text_at(document: Document, pointer: str) -> tuple[int, str]:
    """Line number and the rest of the line at the place of a pointer, as an editor shows it."""
    span = document.span(pointer)
    line = CASE.read_text(encoding="utf-8-sig").splitlines()[span.line - 1]
    return span.line, line[span.column - 1 :]


def test_a_parameter_behind_two_references_and_an_anchor(document: Document) -> None:
    tools = {tool.name: tool for tool in load(document.value, path="input.yaml").tools}
    (rows,) = [p for p in tools["listPlants"].parameters if p.name == "max_rows"]
    assert rows.location.pointer == "/components/parameters/MaxRows"
    assert text_at(document, rows.location.pointer) == (41, "name: max_rows")
    # written through the alias *paging, so it is used where the anchor has it
    assert rows.location.use is not None
    assert text_at(document, rows.location.use) == (14, '$ref: "#/components/parameters/Rows"')
    use = document.use_span(rows.location.use)
    assert use is not None
    assert (use.line, use.column) == (28, 19)
    assert text_at(document, rows.schema.location.pointer) == (54, "type: integer")


def test_a_nested_parameter_behind_two_references(document: Document) -> None:
    (tool, _) = load(document.value, path="input.yaml").tools
    (beds,) = [p for p in tool.parameters if p.path == ("filter", "beds")]
    assert (beds.schema.types, beds.description) == (("array",), "Beds to look at — all of them, if none is named.")
    assert text_at(document, beds.location.pointer) == (50, "type: array")
    assert beds.location.use is not None
    assert text_at(document, beds.location.use) == (13, '$ref: "#/components/schemas/BedList"')


def test_what_a_merge_key_brings(document: Document) -> None:
    (_, tool) = load(document.value, path="input.yaml").tools
    assert (tool.name, tool.description) == ("listArchive", "Lists plants that are no longer grown.")
    assert tool.description_location is not None
    assert text_at(document, tool.description_location.pointer)[1] == "Lists plants that are no longer grown."
    assert tool.output is not None
    assert text_at(document, tool.output.location.pointer)[1] == "type: array"
