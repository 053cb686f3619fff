"""Every condition of the language, on tools that have it and on tools that do not."""

# ruff: noqa: E501
import pytest

from dowbench.rulepack import Settings

SCHEMA = {"type": "integer", "maximum": 50}


def tool(name="t", description="", annotations=None, **parameters):
    made = {"name": name, "description": description, "parameters": parameters}
    return made if annotations is None else {**made, "annotations": annotations}


@pytest.mark.parametrize(
    ("condition", "names", "found"),
    [
        ("{words: [fetch]}", ["fetchPage", "page_fetch", "prefetch", "fetched"], ["fetchPage", "page_fetch"]),
        ("{words: [get all]}", ["get_all_users", "GetAll", "get_users_all"], ["get_all_users", "GetAll"]),
        ("{starts: [list, get all]}", ["list_users", "user_list", "getAll"], ["list_users", "getAll"]),
        ("{ends: [status]}", ["job_status", "status_of_job"], ["job_status"]),
        ("{words: [list], without: [short]}", ["list_all", "short_list"], ["list_all"]),
        ("{words: [base64]}", ["to_base64", "base"], ["to_base64"]),
    ],
)
def test_name(probe, condition, names, found):
    probe.rule(f"{{name: {condition}}}")
    assert probe.found(*(tool(name) for name in names)) == found


@pytest.mark.parametrize(
    ("condition", "text", "phrase"),
    [
        ("{phrases: [call ... again]}", "After that, call the tool again.", "call the tool again"),
        ("{phrases: [call ... again]}", "Do not call the tool again.", None),
        ("{phrases: [call ... again]}", "Don’t ever call it again!", None),
        ("{phrases: [call ... again]}", "Never, under any load, call it again.", "call it again"),
        ("{phrases: [call ... again]}", "Call it. Ask again.", None),
        ("{phrases: [call ... again]}", "Call one two three four five six seven again.", None),
        ("{phrases: [calls again]}", "It calls\n again.", "calls again"),
        ("{phrases: [calls again]}", "Finishes without waiting. It calls again.", "calls again"),
        ("{phrases: [returns all]}", "Returns allocations.", None),
        ("{phrases: [returns all]}", "It does not truncate but returns all rows.", "returns all"),
        ("{phrases: [returns all]}", "Not only returns all rows.", "returns all"),
        ("{phrases: [next cursor]}", "Pass `nextCursor` or next_cursor.", "nextCursor"),
        ("{phrases: [get items], also: [[page]]}", "Get items of a page.", "Get items"),
        ("{phrases: [get items], also: [[page], [user]]}", "Get items of a page.", None),
        ("{phrases: [get items], also: [[page]]}", "Get items. One page.", None),
        ("{phrases: [get items], without: [one]}", "Get items, but only one.", None),
        ("{phrases: [get items], without: [one]}", "Get items. One is fine.", "Get items"),
        ("{phrases: [get items], without: [one], within: clause}", "Get items, but only one.", "Get items"),
        ("{phrases: [get items], first: 1}", "Get items. Sort them.", "Get items"),
        ("{phrases: [get items], first: 1}", "Sort them. Get items.", None),
        ("{phrases: [get items], first: 2}", "Sort them. Get items.", "Get items"),
        ("{phrases: [the $things]}", "Give the next thing.", "the next thing"),
        ("{phrases: [the $things]}", "Give the thing.", None),
    ],
)
def test_description(probe, condition, text, phrase):
    probe.rule(f"{{description: {condition}}}", message='"says {phrase}"', words="{things: [next thing, item]}")
    found = [finding.message for finding in probe.run(tool(description=text))]
    assert found == ([f"says {phrase}"] if phrase else [])


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Works. Poll until the deployment is done. Stop.", "Poll until the deployment is done"),
        ("You may, in short, poll it, then stop.", "poll it"),
        ("Poll it, and wait, until it is done.", "Poll it"),
        ("Poll it until it is done, or has failed.", "Poll it until it is done, or has failed"),
        ("Say **poll it** or nothing", "Say **poll it** or nothing"),
        ('Wait, and poll it until it is "done".', 'Wait, and poll it until it is "done"'),
        ("Poll it until it is done, or until it fails, then stop.", "Poll it until it is done, or until it fails"),
        ("If the user names a harbour, poll it, then answer.", "If the user names a harbour, poll it"),
        ("Works, in short. If it fails, mend it, load it, and poll it.", "If it fails, mend it, load it, and poll it"),
        ("Poll it (by its id) until it ends.", "Poll it (by its id) until it ends"),
        ("Poll it (by its id, or name).", "Poll it"),
        ("Poll it (if you can), log the outcome, and tell Bob (or Ann) about it.", "Poll it (if you can)"),
        ("First, ask with ask(at='a') and poll, now.", "ask with ask(at='a') and poll"),
        ("Here, poll it, while it runs; then stop.", "poll it, while it runs"),
        ("Go on, poll with it as `range`.", "poll with it as `range`"),
        (
            f"{' '.join(['early'] * 31)} poll {' '.join(['behind'] * 31)}",
            f"… {' '.join(['early'] * 30)} poll {' '.join(['behind'] * 30)} …",
        ),
    ],
)
def test_a_quotation_is_the_clause_around_the_phrase(probe, text, quote):
    probe.rule("{description: {phrases: [poll]}}", message='"{quote}"')
    assert [f.message for f in probe.run(tool(description=text))] == [quote]
    probe.rule("{parameter: {any: [{about: {phrases: [poll]}}]}}", message='"{quote}"')
    assert [f.message for f in probe.run(tool(p={"description": text}))] == [quote]


def test_what_the_tool_says_of_a_parameter_is_quoted_too(probe):
    probe.rule("{parameter: {any: [{about: {phrases: [poll]}}]}}", message='"{parameter}: {phrase}, {quote}"')
    (finding,) = probe.run(
        tool("fetch", "Fetches. With job_id, poll it until it ends.", job_id="string", other="string")
    )
    assert finding.message == "job_id: poll, poll it until it ends"


@pytest.mark.parametrize(
    ("condition", "output", "message"),
    [
        ("true", {"rows": "list"}, "the list `rows` of the output"),
        ("list", {"rows": "list", "text": "text"}, "the list `rows` of the output"),
        ("text", {"text": "text", "rows": "list"}, "the text `text` of the output"),
        ("true", {"rows": "list", "notes": "list", "text": "text"}, "the lists `rows`, `notes` of the output"),
        ("text", {"rows": "list", "text": "text"}, None),
        ("false", {"rows": "list"}, None),
        ("false", {"id": "id"}, "nothing of the output"),
    ],
)
def test_the_open_part_of_a_declared_output(probe, condition, output, message):
    schemas = {"list": {"type": "array"}, "text": {"type": "string"}, "id": {"type": "integer"}}
    schema = {"type": "object", "properties": {name: schemas[kind] for name, kind in output.items()}}
    probe.rule(
        f"{{name: {{words: [list]}}, result: {{open_output: {condition}}}}}",
        message='"{result.open} of the {result.output}"',
    )
    found = probe.run({**tool("list_rows", "Lists the rows."), "outputSchema": schema})
    assert [f.message for f in found] == ([message] if message else [])


@pytest.mark.parametrize(
    ("condition", "parameters", "found"),
    [
        ("{name: {words: [limit]}}", {"limit": "integer", "pageLimit": "string", "limits": "integer"}, ["limit", "pageLimit"]),
        ("{type: integer}", {"a": "integer", "b": "string", "c": {"type": ["integer", "null"]}}, ["a", "c"]),
        ("{type: integer}", {"a": {"anyOf": [{"type": "integer"}, {"type": "string"}]}}, ["a"]),
        ("{type: [array, untyped]}", {"a": {}, "b": "string[]", "c": "string"}, ["a", "b"]),
        ("{items: object}", {"a": "object[]", "b": "string[]", "c": "object"}, ["a"]),
        ("{required: true}", {"a": "string!", "b": "string"}, ["a"]),
        ("{has: default}", {"a": {"type": "integer", "default": 0}, "b": "integer"}, ["a"]),
        ("{lacks: [maximum, enum]}", {"a": SCHEMA, "b": {"enum": [1, 2]}, "c": "integer"}, ["c"]),
        ("{bound: none, type: integer}", {"a": SCHEMA, "b": "integer"}, ["b"]),
        ("{bound: schema, type: integer}", {"a": SCHEMA, "b": "integer"}, ["a"]),
        ("{bound: {above: 49}}", {"a": SCHEMA, "b": "integer"}, ["a"]),
        ("{bound: {above: 50}}", {"a": SCHEMA}, []),
        ("{bound: {at_most: 50}}", {"a": SCHEMA, "b": "integer"}, ["a"]),
        ("{bound: none, type: array}", {"a": {"type": "array", "maxItems": 5}, "b": "string[]"}, ["b"]),
        ("{description: {phrases: [whole text]}}", {"a": {"type": "string", "description": "The whole text."}, "b": "string"}, ["a"]),
        ("{about: {phrases: [word for word]}}", {"a": {"type": "string", "description": "Word for word."}, "b_c": "string", "b_d": "string"}, ["a", "b_c"]),
        ("{about: {phrases: [of silver]}}", {"ring": "string", "box": "string"}, ["ring"]),
        ("{any: [{name: {words: [a]}}, {type: integer}]}", {"a": "string", "b": "integer", "c": "string"}, ["a", "b"]),
        ("{all: [{name: {words: [a]}}, {type: integer}]}", {"a": "integer", "ab": "string"}, ["a"]),
        ("{choice: {words: [list]}}", {"a": {"enum": ["add", "list_all"]}, "b": {"enum": ["add", 1]}, "c": {"enum": "list"}}, ["a"]),
        ("{choice: {without: [list]}}", {"a": {"enum": ["add", "list"]}, "b": {"enum": ["list", 1]}, "c": "string"}, ["a"]),
        ("{type: string, not: {name: {words: [a]}}}", {"a": "string", "b": "string"}, ["b"]),
        ("{nested: true, type: string}", {"a": {"type": "object", "properties": {"b": {"type": "string"}}}, "c": "string"}, ["a.b"]),
    ],
)  # fmt: skip
def test_parameter(probe, condition, parameters, found):
    probe.rule(f"{{parameter: {condition}}}", report="each parameter", message='"{parameter}"')
    text = "Gives b_c word for word. Gives b_d as it is.\n\nArgs:\n    ring: What is made of silver.\n    box: Where it is."
    made = tool(description=text, **parameters)
    assert [finding.parameter for finding in probe.run(made)] == found


def test_one_parameter_must_meet_all_keys(probe):
    probe.rule("{parameter: {name: {words: [limit]}, type: integer}}")
    assert probe.found(tool(limit="string", other="integer")) == []


def test_openapi_conditions(probe):
    from probe_rule import load

    from dowbench import engine

    document = {
        "openapi": "3.0.0",
        "info": {"title": "T", "version": "1"},
        "paths": {
            "/a": {
                "get": {
                    "operationId": "read",
                    "parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}],
                    "responses": {"200": {"description": "ok"}},
                },
                "post": {"operationId": "write", "responses": {"200": {"description": "ok"}}},
            }
        },
    }
    for condition, found in (
        ("{method: get}", ["read"]),
        ("{method: [post, put]}", ["write"]),
        ("{parameter: {place: query}}", ["read"]),
        ("{parameter: {place: [header, body]}}", []),
        ("{format: openapi}", ["read", "write"]),
    ):
        probe.rule(condition)
        assert [f.tool for f in engine.run(probe.pack(), load(document, "openapi")).findings] == found, condition


def test_definition_counts_what_is_sent(probe):
    probe.rule("{definition: {tokens_above: 100}}", message='"{tokens} tokens"')
    small, large = tool("a", "word " * 20), tool("b", "word " * 200)
    (finding,) = probe.run(small, large)
    assert (finding.tool, finding.message) == ("b", "270 tokens")
    assert probe.found({**small, "outputSchema": {"type": "object", "description": "word " * 200}}) == []


def test_sibling_is_another_tool(probe):
    probe.rule("{name: {ends: [status]}, sibling: {name: {starts: [wait]}}}", message='"{tool} beside {sibling}"')
    assert probe.found(tool("job_status")) == []
    assert probe.found(tool("wait_status")) == []
    (finding,) = probe.run(tool("job_status"), tool("wait_for_job"))
    assert finding.message == "job_status beside wait_for_job"
    assert [(related.pointer, related.message) for related in finding.related] == [("/tools/1", "tool `wait_for_job`")]


def test_format_and_limits(probe):
    probe.rule("{format: [openai], limits: {any_of: [max_calls, max_turns]}}", message='"{declared} in {format}"')
    declared = Settings(limits={"max_calls": 2000, "max_pages": 3})
    assert [f.message for f in probe.run(tool(), format="openai", settings=declared)] == ["max_calls 2,000 in openai"]
    assert probe.found(tool(), format="mcp", settings=declared) == []
    assert probe.found(tool(), format="openai", settings=Settings(limits={"max_pages": 3})) == []


def test_hints_lower_the_confidence(probe):
    probe.rule(
        "{name: {words: [fetch]}}",
        adjust="[{when: {hint: {readOnlyHint: true}}, confidence: low, note: A claim.}]",
    )
    for annotations, confidence in ((None, "high"), ({"readOnlyHint": False}, "high"), ({"readOnlyHint": True}, "low")):
        (finding,) = probe.run(tool("fetch", annotations=annotations))
        assert finding.confidence == confidence
        assert finding.message.endswith("A claim.") == (confidence == "low")


def test_trees(probe):
    probe.rule("{any: [{name: {words: [a]}}, {all: [{name: {words: [b]}}, {not: {name: {words: [c]}}}]}]}")
    assert probe.found(tool("a"), tool("b"), tool("b_c"), tool("c")) == ["a", "b"]


def test_toolset_conditions(probe):
    probe.rule(
        "{tools: {at_least: 2, where: {name: {starts: [read]}}}}",
        scope="toolset",
        message='"{count}: {tools}"',
    )
    assert probe.run(tool("read_a"), tool("write_b")) == []
    (finding,) = probe.run(tool("read_a"), tool("write_b"), tool("read_c"))
    assert (finding.tool, finding.pointer, finding.message) == (None, "/tools", "2: `read_a`, `read_c`")
    assert [related.pointer for related in finding.related] == ["/tools/0", "/tools/2"]
    many = [tool(f"read_{i}") for i in range(5)]
    assert probe.run(*many)[0].message == "5: `read_0`, `read_1`, `read_2` and 2 more"


def test_definitions_of_a_set(probe):
    probe.rule("{definitions: {tokens_above: 100}}", scope="toolset", message='"{count} tools, {tokens} tokens"')
    assert probe.run(tool("a", "word " * 30)) == []
    (finding,) = probe.run(tool("a", "word " * 30), tool("b", "word " * 50))
    assert finding.message == "2 tools, 139 tokens"


def test_names_that_conditions_take_are_those_of_the_loaders():
    from dowbench.loaders import LOADERS, mcp, openapi
    from dowbench.rulepack import conditions

    assert set(conditions.FORMATS) == set(LOADERS)
    assert conditions.METHODS == openapi.METHODS
    assert set(conditions.HINTS) == mcp.HINTS
