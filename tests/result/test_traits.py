"""Text that is run, trees that are walked, media, and open parts of a declared output."""

from __future__ import annotations

from typing import Any

import pytest
from tools_of import result

from dowbench.loaders.schema import Resolver

QUERIES = [
    ("run_sql", "Runs a SQL query and returns the rows.", {"sql": "string!"}, "sql"),
    ("query", "Run a read-only SQL query", {"sql": "string"}, "sql"),
    ("query_graph", "Runs a query against a Neo4j database.", {"query": "string!"}, "query"),
    ("terminal", "Runs commands on the machine.", {"commands": "array"}, "commands"),
    ("execute", "Executes a script in the page.", {"script": "string!"}, "script"),
    ("cypher", "Runs Cypher against the graph.", {"query": "string!"}, "query"),
    (
        "shell",
        "Runs a command.",
        {"command": {"type": "string", "description": "The command to execute."}, "env": {"type": "object"}},
        "command",
    ),
    ("run_python", "Runs Python code.", {"code": "string!"}, "code"),
    (
        "interact",
        "Interact with a page.\n- prompt: What to do (this or code)\n- code: Code to execute in the page",
        {"prompt": "string", "code": "string"},
        "code",
    ),
    (
        "ask_graph",
        "Executes a query against the graph.",
        {"query": {"type": "string", "description": "Cypher text"}},
        "query",
    ),
    ("execute", "Executes a statement.", {"params": {"properties": {"sql": {"type": "string"}}}}, "sql"),
    ("query_events", "Runs an XyzQL query.", {"xyzql": "string!"}, "xyzql"),
    ("run_report", "Runs a report with a query.", {"query": {"type": "string", "description": "In NRQL."}}, "query"),
    ("cloud", "Runs a command of the cloud CLI.", {"cli_command": "string!"}, "cli_command"),
]
NO_QUERIES = [
    ("act", "Acts on a page.", {"code": {"type": "string", "description": "The code of the country."}}),
    ("search_parts", "Searches parts.", {"query": "string!"}),
    (
        "boats",
        "Operations on boats.",
        {
            "command": {"type": "string", "description": "The command to execute against the tool."},
            "parameters": {"type": "object"},
        },
    ),
    ("create_table", "Creates a table.", {"query": {"type": "string", "description": "SQL"}}),
    ("text_to_sql", "Writes a SQL query for a question.", {"question": "string"}),
    ("check_sql", "Checks a SQL query.", {"sql": "string"}),
    ("get_country", "Gets a country by its code.", {"code": "string"}),
    ("run_job", "Runs a job.", {"job_id": "string"}),
    ("run_task", "Runs a command.", {"command": {"type": "string", "enum": ["lint", "test"]}}),
    ("start_container", "Runs a container.", {"image": "string", "command": "string"}),
    (
        "memory",
        "Operates on notes.",
        {"command": {"type": "string", "description": "The sub-command to execute: create, rename or delete."}},
    ),
    (
        "notes",
        "Operates on notes.",
        {"command": {"type": "string", "description": "What to execute: 'create', 'rename', 'delete' or 'insert'."}},
    ),
    ("run_search", "Runs a search of tickets.", {"jql": "string!"}),
    ("query_log_stats", "Returns statistics on lines that match a LogQL selector.", {"logql": "string!"}),
    ("run_operation", "Runs an operation of the API.", {"operation": "string!", "parameters": "object"}),
    ("send", "Makes a request.", {"method": {"type": "string", "enum": ["GET", "POST"]}, "query": "object"}),
]


@pytest.mark.parametrize(("name", "description", "parameters", "query"), QUERIES)
def test_text_that_is_run(name: str, description: str, parameters: dict[str, Any], query: str) -> None:
    found = result(name, description, **parameters)
    assert found.query is not None
    assert found.query.name == query
    assert found.kind == "text"
    assert found.recursive is False


@pytest.mark.parametrize(("name", "description", "parameters"), NO_QUERIES)
def test_text_that_is_not_run(name: str, description: str, parameters: dict[str, Any]) -> None:
    assert result(name, description, **parameters).query is None


RECURSIVE = [
    ("walk_archive", "Walks a folder and everything below it.", {"path": "string"}),
    ("directory_tree", "Returns the tree of a directory.", {"path": "string"}),
    ("get_structure", "Gets the tree structure of a repository.", {}),
    ("list_folder", "Lists a folder.", {"recursive": "boolean"}),
    ("list_folder", "Recursively lists a folder.", {}),
    ("glob", "Finds files that match a glob.", {"pattern": "string"}),
    ("crawl", "Crawls a website.", {"url": "string"}),
    ("get_pages", "Gets all pages of a site, by a crawl.", {"url": "string"}),
    ("find_file", "Finds all files of a name in a folder.", {"file_name": "string", "dir": "string"}),
]
NOT_RECURSIVE = [
    ("directory_tree", "Returns the tree of a directory.", {"max_depth": "integer"}),
    ("list_folder", "Lists a folder.", {"recursive": "boolean", "cursor": "string"}),
    ("list_folder", "Lists the files of a folder.", {"path": "string"}),
    ("page_state", "Gets the accessibility tree of the page.", {}),
    ("get_a11y_tree", "Gets the a11y tree of the page.", {}),
    ("git_status", "Shows the status of the working tree.", {}),
    ("decision_tree", "Gets a decision tree.", {}),
    ("remove_tree", "Removes a tree of folders.", {"path": "string"}),
    ("crawl_status", "Checks the status of a crawl.", {"id": "string"}),
    ("stored_sites", "Retrieves a list of sites (whole sites or crawl folders).", {"ids": "array"}),
    ("list_crawls", "Lists the crawls of a site.", {"site": "string"}),
    ("complex_search", "Searches notes with a rule. Supports 'and', 'or', 'glob' in rules.", {"rule": "object"}),
]


@pytest.mark.parametrize(("name", "description", "parameters"), RECURSIVE)
def test_trees_that_are_walked_to_the_end(name: str, description: str, parameters: dict[str, Any]) -> None:
    assert result(name, description, **parameters).recursive


@pytest.mark.parametrize(("name", "description", "parameters"), NOT_RECURSIVE)
def test_trees_with_an_end_and_trees_that_are_none(name: str, description: str, parameters: dict[str, Any]) -> None:
    assert not result(name, description, **parameters).recursive


MEDIA = [
    ("take_screenshot", "Takes a screenshot of the page.", {}),
    ("get_logo", "Returns a small image of the logo.", {}),
    ("get_page_images", "Gets all images of a page as inline image content.", {}),
    ("page_snapshot", "Captures an accessibility snapshot of the page.", {}),
    ("export_book", "Returns the workbook as base64-encoded bytes.", {}),
    ("speak", "Turns text into speech, providing the resulting audio.", {"text": "string"}),
    ("download", "Downloads an attachment of a mail.", {"id": "string"}),
    ("screenshot", "Captures the screen.", {"format": {"type": "string", "enum": ["path", "base64"]}}),
    ("draw", "Draws a picture and returns it.", {"prompt": "string"}),
    ("pages", "Renders the pages as images and returns them.", {}),
    ("render_pages", "Renders pages to images.", {"path": "string"}),
    ("export_node", "Exports a node as an image.", {"id": "string"}),
    ("get_clip", "Downloads a video of a camera.", {"id": "string"}),
]
NO_MEDIA = [
    ("search_images", "Searches for similar images.", {"query": "string"}),
    ("get_image_url", "Returns the URL of an image.", {}),
    ("draw_image", "Generates an image and returns its link.", {"prompt": "string"}),
    ("take_screenshot", "Takes a screenshot and saves it to a file.", {"path": "string"}),
    ("export_slide", "Exports a slide as an image and saves it to the drive.", {}),
    ("upload_image", "Uploads an image as base64.", {"base64": "string"}),
    ("describe_image", "Describes the picture at a URL.", {"url": "string"}),
    ("read_page", "Reads a page.", {"include_image": {"type": "boolean", "default": False}}),
    ("get_image", "Gets an image of the container registry.", {"id": "string"}),
    ("pull_image", "Pulls a Docker image.", {"name": "string"}),
    ("video_facts", "Returns the codec and length of a video.", {"path": "string"}),
    ("push_files", "Pushes files.", {"encoding": {"type": "string", "enum": ["text", "base64"]}}),
    ("draw", "Draws a line and returns it.", {}),
    ("trending", "Gets trending videos of a region.", {}),
    ("picture_of_the_day", "Gets the picture of the day with its text and the URL of the file.", {}),
]


@pytest.mark.parametrize(("name", "description", "parameters"), MEDIA)
def test_media_come_back(name: str, description: str, parameters: dict[str, Any]) -> None:
    assert result(name, description, **parameters).media


@pytest.mark.parametrize(("name", "description", "parameters"), NO_MEDIA)
def test_no_media_come_back(name: str, description: str, parameters: dict[str, Any]) -> None:
    assert not result(name, description, **parameters).media


ITEMS = {"type": "array", "items": {"type": "object"}}


def inside(schema: dict[str, Any], *names: str) -> dict[str, Any]:
    """An output that holds a schema under a path of names, each object of which is one of two."""
    for name in reversed(names):
        other = {"type": "object", "properties": {"id": {"type": "integer"}}}
        schema = {"oneOf": [{"type": "object", "properties": {name: schema}}, other]}
    return schema


@pytest.mark.parametrize(
    ("output", "pointers"),
    [
        (ITEMS, [""]),
        ({"type": "array", "maxItems": 20, "items": {"type": "object"}}, []),
        ({"type": "array", "maxItems": 2**53 - 1, "items": {"type": "object"}}, [""]),
        ({"type": "object", "properties": {"tickets": ITEMS, "next": {"type": "string"}}}, ["/properties/tickets"]),
        (
            {"type": "object", "properties": {"data": {"type": "object", "properties": {"tickets": ITEMS}}}},
            ["/properties/data/properties/tickets"],
        ),
        ({"type": "object", "properties": {"text": {"type": "string"}}}, ["/properties/text"]),
        ({"type": "object", "properties": {"text": {"type": "string", "maxLength": 99}}}, []),
        ({"type": "object", "properties": {"id": {"type": "string"}}}, []),
        ({"anyOf": [ITEMS, {"type": "null"}]}, [""]),
        ({"anyOf": [ITEMS, {"type": "object"}]}, ["/anyOf/0"]),
        (
            inside(ITEMS, "hall", "shelf", "crates"),
            ["/oneOf/0/properties/hall/oneOf/0/properties/shelf/oneOf/0/properties/crates"],
        ),
        (inside(ITEMS, "port", "hall", "shelf", "crates"), []),
    ],
)
def test_open_parts_of_a_declared_output(output: dict[str, Any], pointers: list[str]) -> None:
    found = result("list_tickets", "Lists tickets.", output=output)
    places = [part.schema.location.pointer for part in found.unbounded_output]
    assert [place.removeprefix("/tools/0/outputSchema") for place in places] == pointers


def test_open_parts_behind_references_to_one_union() -> None:
    either = {"anyOf": [ITEMS, {"type": "integer"}]}
    output = {"type": "object", "properties": {name: {"$ref": "#/$defs/x"} for name in "ab"}, "$defs": {"x": either}}
    found = result("list_tickets", "Lists tickets.", output=output)
    assert [part.path for part in found.unbounded_output] == [("a",), ("b",)]


@pytest.mark.parametrize(
    "shape",
    [
        lambda parts: {"anyOf": parts},
        lambda parts: {"type": "object", "properties": {f"part_{n}": part for n, part in enumerate(parts)}},
    ],
    ids=["unions", "objects"],
)
def test_an_output_is_looked_at_once_however_often_it_is_referred_to(
    shape: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = 0
    child = Resolver.child

    def counted(*arguments: Any) -> Any:
        nonlocal made
        made += 1
        return child(*arguments)

    monkeypatch.setattr(Resolver, "child", counted)
    inner, outer = shape([{"type": "integer"}] * 60), shape([{"$ref": "#/$defs/inner"}] * 60)
    for top, paths in (
        ({"type": "object", "properties": {"outer": outer, "rows": ITEMS}}, [("rows",)]),
        (outer, []),
    ):
        made = 0
        found = result("list_tickets", "Lists tickets.", output={**top, "$defs": {"inner": inner}})
        assert [part.path for part in found.unbounded_output] == paths
        assert 60 < made < 400


def test_the_output_of_an_acknowledgement_is_not_looked_at() -> None:
    assert result("close_tickets", "Closes tickets.", output=ITEMS).unbounded_output == ()


def test_an_output_can_say_that_work_goes_on() -> None:
    def told(**status: Any) -> bool:
        output = {"type": "object", "properties": {"id": {"type": "string"}, **status}}
        return result("get_import", "Gets an import.", output=output).unfinished

    assert told(status={"type": "string", "enum": ["IN_PROGRESS", "COMPLETED"]})
    assert told(state={"anyOf": [{"enum": ["running", "failed"]}, {"type": "null"}]})
    assert not told(status={"type": "string", "enum": ["draft", "completed"]})
    assert not told(status={"type": "string", "enum": ["running", "stopped"]})
    assert not told(kind={"type": "string", "enum": ["running", "done"]})
    assert not result("get_import", "Gets an import.").unfinished
