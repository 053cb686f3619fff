"""Limits and continuations: which parameters are some, by what they are bounded, and what looks like one."""

from __future__ import annotations

from typing import Any

import pytest
from tools_of import LEXICON, definition, result, tools

from dowbench.result import describe, shows_snapshots, upper_bound

READS = ("list_tickets", "Lists tickets.")


def limits(*named: str, **parameters: Any) -> list[tuple[str, float | None, str]]:
    """(path, maximum, source) of the limits of a tool that lists."""
    found = result(*(named or READS), **parameters).limits
    return [(".".join(limit.parameter.path), limit.maximum, limit.source) for limit in found]


@pytest.mark.parametrize(
    "name",
    [
        "limit", "Limit", "page_size", "pageSize", "per_page", "perPage", "maxResults", "max_results", "max_items",
        "top_k", "topK", "k", "n", "count", "first", "last", "num_results", "numResults", "number_of_results",
        "row_limit", "hitsPerPage", "max_chars", "maxLength", "max_tokens", "tail_lines", "head", "size", "rows",
        "max_comments", "results_per_page", "pagesize", "retmax", "maxrows", "max_number_of_rows", "limited_num",
        "tail", "ticket_count",
    ],
)  # fmt: skip
def test_limits_by_their_names(name: str) -> None:
    assert limits(**{name: "integer"}) == [(name, None, "none")]


@pytest.mark.parametrize(
    "name",
    [
        "limit_price", "rate_limit", "time_limit", "credit_limit", "max_price", "max_depth", "timeout", "max_wait",
        "maxRetries", "max_age", "temperature", "page_id", "offset", "max_distance", "context_lines", "max_score",
        "retry_count", "year", "max_latitude", "image_size", "limit_to_shelf_of_kind", "lower_limit", "limit_high",
        "min_count", "total_thoughts", "average_count_of_tickets",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_limit(name: str) -> None:
    assert limits(**{name: "integer"}) == []


def test_a_bare_count_is_a_limit_only_where_things_are_read() -> None:
    assert limits("read_messages", "Reads messages.", count="integer") == [("count", None, "none")]
    assert limits("buy_parts", "Buys parts.", count="integer") == []
    told = {"type": "integer", "description": "Number of results to return."}
    assert limits("start_search", "Starts a search.", count=told) == [("count", None, "none")]
    people = {"type": "integer", "description": "Number of guests."}
    assert limits("search_tables", "Searches free tables.", count=people) == []


def test_a_number_that_is_said_to_be_that_of_the_results_is_a_limit_whatever_its_name() -> None:
    told = {"type": "integer", "description": "How many tickets should be returned"}
    assert limits(breadth=told) == [("breadth", None, "none")]
    assert limits(breadth={**told, "type": "string"}) == []
    for text in ("Number of results to skip", "Only tickets whose number of results is higher", "Shelf number"):
        assert limits(offset={"type": "integer", "description": text}) == []
    assert limits(width={"type": "integer", "description": "Width of results"}) == []
    assert limits(depth={"type": "integer", "description": "Number of levels to return"}) == []


def test_days_are_a_limit_on_a_series_only() -> None:
    assert limits("get_forecast", "Gets the forecast.", days="integer") == [("days", None, "none")]
    assert limits("get_logs", "Gets logs.", days="integer") == []


@pytest.mark.parametrize(
    ("schema", "maximum", "source"),
    [
        ({"type": "integer", "maximum": 50}, 50, "schema"),
        ({"type": "integer", "exclusiveMaximum": 51}, 50, "schema"),
        ({"type": "integer", "enum": [10, 20]}, 20, "schema"),
        ({"type": "string", "enum": ["10", "20"]}, 20, "schema"),
        ({"type": "string", "enum": ["all", "few"]}, None, None),
        ({"const": 10}, 10, "schema"),
        ({"type": ["integer", "null"], "maximum": 50}, 50, "schema"),
        ({"anyOf": [{"type": "integer", "maximum": 50}, {"type": "null"}]}, 50, "schema"),
        ({"anyOf": [{"type": "integer", "maximum": 50}, {"type": "string"}]}, None, "none"),
        ({"type": "integer", "description": "1 to 50, between 1 and 50"}, 50, "documented"),
        ({"type": "integer", "default": 20}, None, "none"),
        ({"type": "integer", "description": "Bytes to return; cannot be exceeded."}, None, "documented"),
        ({"type": "integer", "description": "The value is capped by the server."}, None, "documented"),
        ({"type": "integer", "maximum": 2**31 - 1}, None, "none"),
        ({"type": "integer", "maximum": 2**53 - 1}, None, "none"),
        ({"type": "integer", "maximum": 2**63 - 1}, None, "none"),
        ({"type": "integer", "maximum": 2**53 - 1, "description": "max 100"}, 100, "documented"),
        ({"type": "integer", "maximum": 999_999}, 999_999, "schema"),
        ({}, None, "none"),
        ({"type": "boolean"}, None, None),
        ({"type": "array"}, None, None),
        ({"type": "object"}, None, None),
    ],
)
def test_the_maximum_of_a_limit(schema: dict[str, Any], maximum: float | None, source: str | None) -> None:
    found = limits(limit=schema)
    assert found == ([] if source is None else [("limit", maximum, source)])


def test_a_limit_may_be_wrapped_and_a_number_in_a_string() -> None:
    inner = {"type": "object", "properties": {"limit": {"type": "string"}}}
    assert limits(request=inner) == [("request.limit", None, "none")]


def test_the_limit_of_an_option_is_none_beside_one_of_the_result() -> None:
    deep = {"type": "object", "properties": {"pdf": {"type": "object", "properties": {"max_pages": {"maximum": 9}}}}}
    assert limits(limit="integer", options=deep) == [("limit", None, "none")]
    assert limits(url="string", options=deep) == []
    assert limits(options=deep) == [("options.pdf.max_pages", 9, "schema")]


def test_options_of_something_else_bound_no_result() -> None:
    pages = {"type": "object", "properties": {"max_pages": {"maximum": 9}}}
    assert limits("scrape_page", "Scrapes a page.", url="string", pdf_options=pages) == []
    assert limits("scrape_page", "Scrapes a page.", url="string", scrape_options=pages) != []
    assert limits("scrape_page", "Scrapes a page.", url="string", output_options=pages) != []


def test_the_page_of_a_write_is_a_place_not_a_number() -> None:
    page = {"type": "string", "description": "The page to watch."}
    assert result("create_watch", "Creates a watch.", page=page).continuations == ()


def test_an_example_of_a_call_describes_no_arguments() -> None:
    text = 'Lists tickets.\n\n- limit: How many (1-50)\n\nExample:\n{\n  "limit": 700\n}\n'
    (limit,) = result("list_tickets", text, limit="integer").limits
    assert (limit.maximum, limit.source) == (50, "documented")


def test_a_docstring_describes_its_arguments() -> None:
    text = """Lists tickets.

    Args:
        status (str, optional): The status
            of the tickets.
        limit (int): How many (1-50, default 20)
        cursor: Where to go on
    """
    found = result("list_tickets", text, status="string", limit="integer", cursor="string")
    (limit,) = found.limits
    assert (limit.parameter.name, limit.maximum, limit.source, limit.default) == ("limit", 50, "documented", 20)
    assert found.bound == "documented"


def test_the_text_of_the_tool_caps_an_open_limit() -> None:
    assert limits("list_tickets", "Lists tickets, at most 100 per call.", limit="integer") == [
        ("limit", 100, "documented")
    ]
    assert limits("list_tickets", "Lists the first 20 tickets.", limit="integer") == [("limit", None, "none")]


def test_turns_are_work_and_bound_no_result() -> None:
    found = result("list_tickets", "Lists tickets.", max_turns="integer")
    assert [limit.unit for limit in found.limits] == ["work"]
    assert found.bound == "none"


def test_a_range_of_lines_bounds_what_is_read_and_is_no_limit() -> None:
    found = result("read_file", "Reads a file.", path="string", start_line="integer", end_line="integer")
    assert (found.bound, found.limits) == ("open", ())


@pytest.mark.parametrize(
    ("bound", "cap", "more"),
    [
        ("parameter", 50, {"limit": {"type": "integer", "maximum": 50}, "page_size": "integer"}),
        ("documented", 50, {"limit": {"type": "integer", "description": "max 50"}}),
        ("declared", 9000, {"meta": {"anthropic/maxResultSizeChars": 9000}}),
        (
            "declared",
            9000,
            {"meta": {"anthropic/maxResultSizeChars": 9000}, "limit": {"type": "integer", "default": 5}},
        ),
        ("default", None, {"limit": {"type": "integer", "default": 5}}),
        ("open", None, {"limit": "integer"}),
        ("none", None, {}),
    ],
)
def test_the_strongest_bound_decides(bound: str, cap: float | None, more: dict[str, Any]) -> None:
    found = result(*READS, **more)
    assert (found.bound, found.cap) == (bound, cap)


def test_a_size_of_each_file_bounds_one_file_and_not_all() -> None:
    one = result("get_attachment", "Downloads an attachment. Files larger than 5 MB are not returned.")
    every = result("get_attachments", "Downloads all attachments. Files larger than 5 MB are not returned.")
    assert (one.bound, every.bound) == ("documented", "none")


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("cursor", "string"),
        ("next_token", "string"),
        ("pageToken", "string"),
        ("starting_after", "string"),
        ("page", "integer"),
        ("pageNumber", "integer"),
        ("offset", "integer"),
        ("skip", "integer"),
        ("after", {"type": "integer", "description": "A Unix timestamp. Returns what lies after this cursor."}),
        ("start_index", "integer"),
        ("startindex", "integer"),
        ("retstart", "integer"),
        ("current_offset", "integer"),
        ("cursorMark", "string"),
        ("orders_cursor", "string"),
        ("list_page_token", "string"),
        ("token", {"type": "string", "description": "The token of the previous response."}),
        ("after", {"type": "string", "description": "Cursor of the last entry of the previous page."}),
        ("start", {"type": "integer", "description": "Zero-based offset of the first result."}),
    ],
)
def test_continuations_by_their_names(name: str, schema: Any) -> None:
    assert [p.name for p in result(*READS, **{name: schema}).continuations] == [name]


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("after", {"type": "string", "description": "Only those created after this date."}),
        ("after", "string"),
        ("before", {"type": "string", "format": "date-time"}),
        ("start", {"type": "string", "description": "Start of the interval."}),
        ("from", {"type": "string", "description": "The sender."}),
        ("page", {"type": "string", "description": "Name of the wiki article."}),
        ("page_id", "string"),
        ("token", "string"),
        ("token", {"type": "string", "description": "Bearer token for authorization."}),
        ("token", {"type": "string", "description": "Your API token."}),
        ("token", {"type": "string", "description": "The CSRF token of the page before."}),
        ("has_cursor", "boolean"),
        ("utc_offset", "integer"),
        ("access_token", "string"),
        ("page", "object"),
    ],
)
def test_what_only_looks_like_a_continuation(name: str, schema: Any) -> None:
    assert result(*READS, **{name: schema}).continuations == ()


def test_the_length_of_an_argument_bounds_no_result() -> None:
    said = "Searches parts.\n\nArgs:\n    name: The name, max 100 characters"
    assert result("search_parts", said, name="string!").bound == "none"
    assert result("search_parts", f"{said}\n    limit: Results, max 20", name="string!", limit="integer").cap == 20


def test_the_maximum_of_a_setting_is_no_limit() -> None:
    assert limits("update_mailbox", "Updates a mailbox.", max_folder_size="integer") == []
    assert limits("update_mailbox", "Updates a mailbox.", max_turns="integer") == [("max_turns", None, "none")]


def test_where_to_write_is_no_continuation() -> None:
    row = {"type": "integer", "description": "0-based row to start at."}
    assert result("add_rows", "Adds rows.", start_row=row).continuations == ()
    assert [p.name for p in result("read_rows", "Reads rows.", start_row=row).continuations] == ["start_row"]
    assert [p.name for p in result("links", "Lists links, with pagination.", after="string").continuations] == ["after"]


def test_a_bare_after_continues_beside_a_limit_and_not_between_two_ends() -> None:
    assert [p.name for p in result(*READS, after="string", limit="integer").continuations] == ["after"]
    assert result("read_list", "Reads entries.", start="integer", stop="integer", limit="integer").continuations == ()


@pytest.mark.parametrize("digits", ["9" * 5000, "1" + ",000" * 2000, "٣" * 5000])
def test_a_number_of_very_many_digits_in_a_text_is_no_default(digits: str) -> None:
    text = f"How many to return. Default: {digits}."
    (tool,) = tools(definition("list_rows", "Lists rows.", limit={"type": "integer", "description": text}))
    assert upper_bound(tool.parameters[0]).default is None


def test_upper_bound_of_other_parameters() -> None:
    (tool,) = tools(
        definition(
            "post_note",
            "Posts a note.",
            text={"type": "string", "maxLength": 300},
            tags={"type": "array", "maxItems": 5},
            body={"type": "string", "description": "At most 500 characters."},
            free="string",
        )
    )
    found = {p.name: upper_bound(p) for p in tool.parameters}
    assert (found["text"].maximum, found["text"].source, found["text"].unit) == (300, "schema", "characters")
    assert (found["tags"].maximum, found["tags"].source) == (5, "schema")
    assert (found["body"].maximum, found["body"].source) == (500, "documented")
    assert (found["free"].maximum, found["free"].source) == (None, "none")


def test_siblings_tell_that_acts_answer_with_a_snapshot() -> None:
    ref = {"type": "string", "description": "Reference of the element in the page snapshot."}
    offered = tools(
        definition("page_click", "Clicks an element.", ref=ref),
        definition("page_type", "Types text into an element.", ref=ref, text="string"),
        definition("page_close", "Closes the page."),
    )
    click, _, close = (describe(tool, LEXICON, lambda: shows_snapshots(offered)) for tool in offered)
    assert (click.kind, click.bound, click.media) == ("document", "none", True)
    assert (close.kind, close.media) == ("ack", False)
    alone = describe(offered[0], LEXICON, lambda: shows_snapshots(offered[:1]))
    assert (alone.kind, alone.media) == ("ack", False)
    optional = tools(
        definition("page_click", "Clicks an element.", ref=ref, include_snapshot="boolean"),
        definition("page_type", "Types text into an element.", ref=ref, text="string"),
    )
    assert describe(optional[0], LEXICON, lambda: shows_snapshots(optional)).kind == "ack"
