"""Findings: what they are put on, what they say, what stands beside them."""

import pytest
from probe_rule import RULE, load

from dowbench import engine
from dowbench.errors import SourceError
from dowbench.rulepack import Settings
from dowbench.rulepack.notation import document, tool

PAGES = {"name": "fetch", "parameters": {"cursor": "string", "page": "integer", "other": "string"}}
WORDS = "{parameter: {name: {words: [cursor, page]}}}"


def test_a_finding_is_on_the_tool_unless_the_rule_says_otherwise(probe):
    probe.rule(WORDS, message='"{tool} has {parameter}"')
    (finding,) = probe.run({"name": "first"}, PAGES)
    assert (finding.rule, finding.tool, finding.parameter, finding.pointer) == ("probe", "fetch", None, "/tools/1")
    assert finding.message == "fetch has cursor"
    assert [(r.pointer, r.message) for r in finding.related] == [
        ("/tools/1/inputSchema/properties/cursor", "parameter `cursor`"),
        ("/tools/1/inputSchema/properties/page", "parameter `page`"),
    ]
    assert (finding.severity, finding.confidence, finding.tier, finding.family) == (
        "medium",
        "high",
        "default",
        "tool_loop",
    )
    assert [e.provenance for e in finding.evidence] == ["none"]


def test_a_finding_on_a_parameter_is_one_and_names_the_others_as_related(probe):
    probe.rule(WORDS, report="parameter", message='"{parameter}"')
    (finding,) = probe.run(PAGES)
    assert (finding.parameter, finding.pointer) == ("cursor", "/tools/0/inputSchema/properties/cursor")
    assert [r.pointer for r in finding.related] == ["/tools/0/inputSchema/properties/page"]


def test_each_parameter_gets_its_finding_but_not_those_of_other_conditions(probe):
    probe.rule(
        "{all: [{parameter: {name: {words: [cursor, page]}}}, {parameter: {name: {words: [other]}}}]}",
        report="each parameter",
        message='"{parameter}"',
    )
    findings = probe.run(PAGES)
    assert [(f.parameter, f.message) for f in findings] == [("cursor", "cursor"), ("page", "page")]
    assert "/tools/0/inputSchema/properties/other" in [r.pointer for r in findings[0].related]


def test_a_finding_on_the_description(probe):
    probe.rule("{description: {phrases: [again]}}", report="description")
    (finding,) = probe.run({"name": "t", "description": "Call again."})
    assert finding.pointer == "/tools/0/description"


def test_an_adjustment_can_look_at_the_sentence_that_is_quoted(probe):
    probe.rule(
        "{description: {phrases: [again]}}",
        report="description",
        message='"{quote}"',
        adjust="[{on: {phrases: [again], also: [error], without: [twice]}, severity: low}]",
    )
    texts = ("Call again. An error ends it.", "Call again on an error.", "Call again on an error, twice.")
    found = probe.run(*({"name": f"t{i}", "description": text} for i, text in enumerate(texts)))
    assert [(f.message, f.severity) for f in found] == [
        ("Call again", "medium"),
        ("Call again on an error", "low"),
        ("Call again on an error", "medium"),
    ]


def test_a_parameter_behind_a_reference_is_placed_at_its_definition_and_related_to_its_use(probe):
    probe.rule("{parameter: {name: {words: [cursor]}}}", report="parameter")
    schema = {
        "type": "object",
        "properties": {"cursor": {"$ref": "#/$defs/c"}},
        "$defs": {"c": {"type": "string"}},
    }
    (finding,) = probe.run({"name": "t", "inputSchema": schema})
    assert (finding.parameter, finding.pointer) == ("cursor", "/tools/0/inputSchema/$defs/c")
    assert [(r.pointer, r.message) for r in finding.related] == [
        ("/tools/0/inputSchema/properties/cursor", "where it is used")
    ]


def test_a_fix_that_adds_a_parameter_says_what_a_strict_tool_demands(probe):
    def fixed(fix, **declared):
        probe.rule("{name: {words: [fetch]}}", fix=fix)
        schema = {"type": "object", "properties": {"a": {"type": "string"}}}
        value = [{"type": "function", "name": "fetch", "parameters": schema, **declared}]
        (finding,) = engine.run(probe.pack(), load(value, "openai")).findings
        return finding.fix

    named = '"Add `{name:max pages}`."'
    assert fixed(named, strict=True) == f"Add `max_pages`. {engine.NAME_AS_REQUIRED}"
    assert fixed(named, strict=False) == "Add `max_pages`."
    assert fixed('"Stop."', strict=True) == "Stop."
    noted = f'"Stop."\nadjust: [{{when: {{name: {{words: [fetch]}}}}, fix_note: {named}}}]'
    assert fixed(noted, strict=True) == f"Stop. Add `max_pages`. {engine.NAME_AS_REQUIRED}"
    assert '`type: ["integer", "null"]`' in fixed('"Add {limit:max rows, 10, 50}."', strict=True)


def test_unless_takes_it_back(probe):
    probe.rule("{name: {words: [fetch]}}", unless="{parameter: {name: {words: [limit]}}}")
    assert probe.found({"name": "fetch"}, {"name": "fetch_2", "parameters": {"limit": "integer"}}) == ["fetch"]


def test_one_cause_is_one_finding(probe):
    probe.rule("{name: {words: [fetch]}}")
    other = RULE.replace("id: probe", "id: other\ncovered_by: [probe]").replace("[fetch]", "[fetch, page]")
    probe.write(other, "other.yaml")

    def found(**options):
        return [(f.rule, f.tool) for f in probe.run({"name": "fetch"}, {"name": "page"}, **options)]

    assert found() == [("probe", "fetch"), ("other", "page")]
    assert found(settings=Settings(disabled=frozenset({"probe"}))) == [("other", "fetch"), ("other", "page")]
    probe.rule("{name: {words: [fetch]}}", tier="pedantic")
    assert found() == [("other", "fetch"), ("probe", "fetch"), ("other", "page")]


def test_adjustments_apply_in_order_and_their_notes_are_appended(probe):
    probe.rule(
        "{name: {words: [fetch]}}",
        adjust="[{when: {name: {words: [page]}}, severity: low, tier: pedantic, note: One.},"
        " {when: {name: {words: [all]}}, severity: high, message: '{tool} again.', fix: Else., note: Two.}]",
    )
    findings = probe.run({"name": "fetch"}, {"name": "fetch_page"}, {"name": "fetch_all_page"})
    assert [(f.severity, f.tier, f.message, f.fix) for f in findings] == [
        ("medium", "default", "fetch was found.", "Do something."),
        ("low", "pedantic", "fetch_page was found. One.", "Do something."),
        ("high", "pedantic", "fetch_all_page again. One. Two.", "Else."),
    ]


def test_doubled_braces_are_braces(probe):
    probe.rule("{name: {words: [fetch]}}", message='"{tool}: `{{max: 5}}` in {{ {tool} }}"')
    (finding,) = probe.run({"name": "fetch"})
    assert finding.message == "fetch: `{max: 5}` in { fetch }"
    assert probe.pack().rules[0].shapes[0].message.plain() == "The tool: `{max: 5}` in { the tool }"


def test_an_adjustment_can_look_at_the_parameter_that_is_reported(probe):
    probe.rule(
        "{parameter: {bound: none, name: {words: [text]}}}",
        report="each parameter",
        adjust="[{on: {name: {words: [old]}}, severity: low, note: 'Drop {parameter}.'},"
        " {when: {name: {words: [send]}}, on: {type: array}, severity: high}]",
    )
    parameters = {"old": "string", "old_text": "string", "new_text": "string", "texts_text": "string[]"}
    findings = probe.run(*({"name": name, "parameters": parameters} for name in ("keep", "send")))
    assert [(f.tool, f.parameter, f.severity) for f in findings] == [
        ("keep", "old_text", "low"),
        ("keep", "new_text", "medium"),
        ("keep", "texts_text", "medium"),
        ("send", "old_text", "low"),
        ("send", "new_text", "medium"),
        ("send", "texts_text", "high"),
    ]
    assert findings[0].message.endswith("Drop old_text.")


def test_a_pedantic_rule_that_can_report_unasked_is_in_force_by_default(probe):
    probe.rule("{name: {words: [fetch]}}", tier="pedantic")
    assert [info.tier for info in probe.pack().infos] == ["pedantic"]
    probe.rule(
        "{name: {words: [fetch]}}",
        tier="pedantic",
        adjust="[{when: {name: {words: [all]}}, tier: default}]",
    )
    assert [info.tier for info in probe.pack().infos] == ["default"]
    assert [f.tier for f in probe.run({"name": "fetch"}, {"name": "fetch_all"})] == ["pedantic", "default"]


def test_names_in_a_fix_are_in_the_style_of_the_tool(probe):
    probe.rule("{name: {words: [fetch]}}", fix="Add `{name:max results}`.")
    camel = {"name": "fetch", "parameters": {"pageToken": "string"}}
    snake = {"name": "fetch", "parameters": {"page_token": "string", "pageToken": "string"}}
    fixes = [f.fix for f in probe.run(camel, snake, {"name": "fetch_page"}, {"name": "fetchPage"})]
    assert fixes == [
        "Add `maxResults`.",
        "Add `max_results`.",
        "Add `max_results`.",
        "Add `maxResults`.",
    ]


def test_a_second_shape_looks_at_the_whole_set(probe):
    probe.rule(
        "{definition: {tokens_above: 100}}",
        toolset="{match: {definitions: {tokens_above: 200}}, message: '{count} tools, {tokens}.', fix: Fewer.}",
    )
    long = "word " * 80
    findings = probe.run({"name": "a", "description": long}, {"name": "b"})
    assert [(f.tool, f.pointer) for f in findings] == [("a", "/tools/0")]
    findings = probe.run({"name": "a", "description": long}, {"name": "b", "description": long})
    assert [(f.tool, f.pointer, f.fix) for f in findings] == [
        ("a", "/tools/0", "Do something."),
        ("b", "/tools/1", "Do something."),
        (None, "/tools", "Fewer."),
    ]


def test_a_configured_severity_stands_whatever_the_rule_says(probe):
    probe.rule("{name: {words: [fetch]}}", adjust="[{when: {name: {words: [page]}}, severity: high}]")
    settings = Settings(severity={"probe": "low"})
    assert [f.severity for f in probe.run({"name": "fetch_page"}, settings=settings)] == ["low"]


def test_a_rule_that_fails_is_an_error_and_the_others_go_on(probe, monkeypatch):
    probe.rule("{name: {words: [fetch]}}")
    pack = probe.pack()
    (rule,) = pack.rules

    def fail(view):
        raise ZeroDivisionError("no such number")

    broken = rule._replace(id="broken", shapes=(rule.shapes[0]._replace(match=fail),))
    pack.rules = (broken, rule)
    run = engine.run(pack, load(document([tool({"name": "fetch"}, ())])))
    assert [f.rule for f in run.findings] == ["probe"]
    (error,) = run.errors
    assert error.path == "tools.json"
    assert "rule broken" in error.message
    assert "on tool `fetch`: ZeroDivisionError: no such number" in error.message
    assert rule.path in error.message


def test_a_document_that_cannot_be_followed_is_passed_on(probe):
    probe.rule("{name: {words: [fetch]}}")
    pack = probe.pack()
    (rule,) = pack.rules

    def fail(view):
        raise SourceError("too many nodes")

    pack.rules = (rule._replace(shapes=(rule.shapes[0]._replace(match=fail),)),)
    with pytest.raises(SourceError, match="too many nodes"):
        engine.run(pack, load(document([tool({"name": "fetch"}, ())])))


def test_findings_come_in_the_order_of_tools_then_rules(probe):
    probe.rule("{name: {words: [fetch]}}")
    text = (probe.folder / "probe.yaml").read_text()
    probe.write(text.replace("id: probe", "id: another"), "another.yaml")
    findings = probe.run({"name": "fetch_b"}, {"name": "fetch_a"})
    assert [(f.tool, f.rule) for f in findings] == [
        ("fetch_b", "another"),
        ("fetch_b", "probe"),
        ("fetch_a", "another"),
        ("fetch_a", "probe"),
    ]
