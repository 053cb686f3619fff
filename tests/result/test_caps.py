"""Caps in prose: what is one, how large, and what only looks like one."""

from __future__ import annotations

import pytest

from dowbench.result.caps import in_parameter, on_result

OF_PARAMETERS = [
    ("Maximum 50", 50),
    ("Maximum: 50.", 50),
    ("Maximum: `50`.", 50),
    ("max 50", 50),
    ("max. 50", 50),
    ("(max=50)", 50),
    ("Tickets per page (max: 100, default: 20)", 100),
    ("Tickets per page (default: 20, max: 100)", 100),
    ("default 10, maximum 25", 25),
    ("Defaults to 50 and max is 500.", 500),
    ("The default is 50, and the maximum is 1000.", 1000),
    ("Maximum value is 1,000.", 1000),
    ("The maximum allowed value: 5000", 5000),
    ("Maximum of 50 entries", 50),
    ("Maximum number of entries to return (1-50)", 50),
    ("How many (1–100)", 100),
    ("How many [1, 100]: a value from 1 to 100", 100),
    ("How many (1..100)", 100),
    ("between 1 and 100", 100),
    ("Between 1 and 1,000, inclusive.", 1000),
    ("Must be within the range of 3 to 100.", 100),
    ("An integer from 1 to 50", 50),
    ("Range: 1-10.", 10),
    ("1 <= n <= 40", 40),
    ("1 ≤ n ≤ 40", 40),
    ("up to 50", 50),
    ("Up to a maximum of 50 rows", 50),
    ("at most 50", 50),
    ("at most five results", 5),
    ("no more than 50", 50),
    ("must not exceed 50", 50),
    ("Cannot be more than 50", 50),
    ("can't exceed 50", 50),
    ("less than or equal to 200", 200),
    ("<= 100", 100),
    ("50 or fewer", 50),
    ("100 max", 100),
    ("20 at most", 20),
    ("Capped at 50", 50),
    ("Limited to 50 rows", 50),
    ("hard limit of 50", 50),
    ("Values over 500 are cut to 500", 500),
    ("limit: 10", 10),
    ("top 5", 5),
    ("max 25k characters", 25_000),
    ("at most 2 MB", 2_000_000),
    ("max 30 days", 30),
    ("Maximum results", None),
    ("Maximum number of results (default: 10)", None),
    ("Maximum number of rows to return. Defaults to 20.", None),
    ("Defaults to 100 if omitted.", None),
    ("Number of results, e.g. 10", None),
    ("For example, to get 5 results, set the limit to 5.", None),
    ("Higher values (100-1000) give more detail.", None),
    ("Recommended range: 10-50", None),
    ("at least 100", None),
    ("minimum 1", None),
    ("must be greater than 0", None),
    ("A date such as 2024-01-10", None),
    ("Zero-based index", None),
    ("up to 3 levels", None),
    ("up to 30 seconds", None),
    ("Keep it up to date.", None),
    ("HTTP 404 when missing", None),
    ("", None),
]


@pytest.mark.parametrize(("text", "expected"), OF_PARAMETERS)
def test_a_parameter_says_how_large_it_may_be(text: str, expected: float | None) -> None:
    cap = in_parameter(text)
    assert (cap.value if cap else None) == expected


OF_TOOLS = [
    ("Searches parts. Returns at most 20 matches.", 20),
    ("Searches parts and returns up to 1,000 items.", 1000),
    ("Searches parts. Max 100 matches.", 100),
    ("Returns the first 20 results.", 20),
    ("Returns the 10 most recent messages.", 10),
    ("Returns 10 entries per page.", 10),
    ("Runs a command. Output cap: 20,000 bytes.", 20_000),
    ("Reads a file; output longer than 2000 lines is truncated.", 2000),
    ("Lists rows. It fails when there are more than 500 rows.", 500),
    ("Reads a file. Files larger than 50 MB are not returned.", 50_000_000),
    ("The response is truncated to 2,000 characters.", 2000),
    ("Default page size 16, maximum 32.", 32),
    ("The text of the page, cut to the first 500 words.", 500),
    ("A 25,000 token limit applies to the response.", 25_000),
    ("Uploads up to 10 files.", None),
    ("Accepts up to 20 URLs and returns their pages.", None),
    ("Supports files up to 10 MB.", None),
    ("Reads events of the last 24 hours.", None),
    ("Lists folders up to 3 levels deep.", None),
    ("Returns entries; the default limit is 20.", None),
    ("Returns all entries since version 2.", None),
    ("Returns one page.", None),
    ("Lists parts.", None),
    ("Lists offices. The office of parts holds 2 shelves.", None),
    ("Lists offices. A page contains 50 entries.", 50),
    ("Similar books, more by the author, up to 20 each.", 20),
    ("Searches parts. Returns at most\n    20 matches.", 20),
    ("Searches parts. Example:\n    found = search(name, max_items=25)", None),
    ("Returns up to 10 segments of a road.", 10),
    ("Lists links. Up to 500 per call.", 500),
]


@pytest.mark.parametrize(("text", "expected"), OF_TOOLS)
def test_a_tool_says_how_much_it_returns(text: str, expected: float | None) -> None:
    cap = on_result(text)
    assert (cap.value if cap else None) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Long output is truncated.",
        "The log may be truncated.",
        "Truncates the output where it is long.",
        "Returns a truncated preview.",
        "Reads a log. Saves to a file for large logs.",
        "Reads a log. Large logs are saved to disk.",
        "Runs a query. A result of more than\n    MAX_ROWS rows is refused.",
        "Runs a query; says whether the row limit was reached.",
        "Lists a limited number of parts.",
        "Runs a program; long output is cut.",
        "Runs a program. Output that is long is cut in the middle.",
        "Long lines are elided.",
    ],
)
def test_truncation_without_a_number_is_a_cap_without_a_value(text: str) -> None:
    cap = on_result(text)
    assert cap is not None
    assert cap.value is None


@pytest.mark.parametrize(
    "text",
    [
        "The log is never truncated.",
        "Output is never cut.",
        "A board is cut to size.",
        "Returns the text without truncation.",
        "Truncates a table.",
        "Large parts come first.",
        "Returns a few lines around each hit.",
    ],
)
def test_what_is_not_cut_has_no_cap(text: str) -> None:
    assert on_result(text) is None


def test_a_cap_quotes_its_words_and_counts_something() -> None:
    cap = on_result("Reads a log. Returns at most 2,000 lines of it.")
    assert cap is not None
    assert (cap.unit, cap.text) == ("line", "at most 2,000")
    assert cap.is_maximum
    first = on_result("Returns the first 20 results.")
    assert first is not None
    assert not first.is_maximum


def test_a_text_without_a_full_stop_is_read_in_pieces() -> None:
    assert in_parameter("word " * 5000 + "max 50").value == 50  # type: ignore[union-attr]
    assert on_result("1 to " * 5000) is None
    assert in_parameter("max ⟦7⟧").value == 7  # type: ignore[union-attr]


def test_the_largest_of_several_caps_counts() -> None:
    assert in_parameter("Up to 50, for administrators up to 200").value == 200  # type: ignore[union-attr]
