"""A scan: documents, order and places, the library's way to it, validation and limits."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from workbench import PROBE, errors, paths, tool, write

import dowbench
from dowbench.config import Config
from dowbench.model import Span


def test_documents_of_one_file_are_tool_sets_of_their_own(folder, probe):
    (folder / "tools.yaml").write_text(
        "tools:\n- {name: probe_1, input_schema: {}}\n---\n\n---\ntools:\n- {name: probe_2, input_schema: {}}\n",
        encoding="utf-8",
    )
    run = probe("tools.yaml")
    assert [(f["tool"], f["line"]) for f in run.json["findings"]] == [("probe_1", 2), ("probe_2", 7)]
    assert paths(run) == ["tools.yaml", "tools.yaml"]


def test_bad_document_behind_a_good_one_is_an_error_and_the_good_one_scanned(folder, probe):
    (folder / "tools.yaml").write_text(
        "tools:\n- {name: probe_1, input_schema: {}}\n---\nkind: other\n", encoding="utf-8"
    )
    run = probe("tools.yaml")
    assert run.code == 2
    assert [f["tool"] for f in run.json["findings"]] == ["probe_1"]
    assert [(e["path"], e["line"]) for e in run.json["errors"]] == [("tools.yaml", 4)]
    assert probe("tools.yaml", "--skip-unrecognized").code == 0


def test_document_whose_schemas_cannot_be_followed_does_not_take_the_others_with_it(folder, probe, monkeypatch):
    from dowbench import engine
    from dowbench.errors import SourceError

    real = engine.run

    def run(pack, toolset, *arguments):
        if toolset.document == 1:
            raise SourceError("too much to follow", path=toolset.path, pointer="/tools/0")
        return real(pack, toolset, *arguments)

    monkeypatch.setattr(engine, "run", run)
    document = "tools:\n- {name: probe_one, input_schema: {}}\n"
    (folder / "tools.yaml").write_text("---\n".join([document] * 3), encoding="utf-8")
    run = probe("tools.yaml")
    assert [(f["rule"], f["line"]) for f in run.json["findings"]] == [("probe-tool", 2), ("probe-tool", 8)]
    assert [(e["line"], e["message"]) for e in run.json["errors"]] == [(5, "too much to follow")]
    assert run.code == 2


def test_findings_are_in_order_of_path_line_and_rule(folder, probe):
    write(folder / "b.json", tool("probe_1", knob=True), tool("probe_2", knob=True))
    write(folder / "a.json", tool("probe_3", knob=True))
    found = [(f["path"], f["line"], f["rule"]) for f in probe("b.json", "a.json").json["findings"]]
    assert found == sorted(found)
    assert len(found) == 7


def test_places_of_tool_and_parameter(folder, probe):
    (folder / "tools.json").write_text(
        '\ufeff[\r\n {"name": "probe_é", "input_schema": {"properties":\r\n  {"knob": {"type": "string"}}}}\r\n]',
        encoding="utf-8",
    )
    findings = {f["rule"]: f for f in probe("tools.json").json["findings"]}
    place = ("line", "column", "end_line", "end_column")
    assert [findings["probe-tool"][key] for key in place] == [2, 2, 3, 33]
    assert [findings["probe-parameter"][key] for key in place] == [3, 12, 3, 30]
    assert findings["probe-parameter"]["parameter"] == "knob"


def test_alias_is_a_related_place(folder, probe):
    (folder / "tools.yaml").write_text(
        "common: &shared\n  type: object\n  properties:\n    knob: {type: string}\n"
        "tools:\n- name: one\n  input_schema: *shared\n",
        encoding="utf-8",
    )
    (finding,) = probe("tools.yaml").json["findings"]
    assert (finding["rule"], finding["line"]) == ("probe-parameter", 4)
    assert [(r["line"], r["message"]) for r in finding["related"]] == [(7, "used here through an alias")]


def test_scan_tools_from_python():
    result = dowbench.scan_tools([tool("probe_1", knob=True)], config=Config(rule_packs=(str(PROBE),), ignore=()))
    found = {(f.rule, f.pointer, f.tool, f.parameter, f.span) for f in result.findings}
    assert ("probe-tool", "/0", "probe_1", None, None) in found
    assert ("probe-parameter", "/0/input_schema/properties/knob", "probe_1", "knob", None) in found
    assert result.tools == 1


def test_scan_paths_from_python(folder):
    write(folder / "tools.json", tool("probe_1"))
    result = dowbench.scan_paths([Path("tools.json")], Config(rule_packs=(str(PROBE),), select=("probe-tool",)))
    (finding,) = result.findings
    assert (finding.rule, finding.path, finding.span) == ("probe-tool", "tools.json", Span(2, 3, 9, 4))
    assert [rule.id for rule in result.rules] == ["probe-tool"]


def test_load_tools_from_python():
    toolset = dowbench.load_tools("anthropic", [tool("one", knob=True)])
    assert [(t.name, [p.name for p in t.parameters]) for t in toolset.tools] == [("one", ["knob"])]


def test_validation_on_request(folder, probe, monkeypatch):
    (folder / "api.yaml").write_text(
        "openapi: 3.0.3\ninfo: {title: t}\npaths:\n  /a:\n    get:\n      operationId: probe_a\n"
        "      responses: {'200': {description: ok}}\n",
        encoding="utf-8",
    )
    write(folder / "tools.json", tool("probe_b"))
    assert probe("api.yaml", "tools.json").code == 0
    run = probe("api.yaml", "tools.json", "--validate")
    assert (run.code, [found[2] for found in run.found]) == (2, ["probe_a", "probe_b"])
    ((path, line, message),) = [(e["path"], e["line"], e["message"]) for e in run.json["errors"]]
    assert (path, line) == ("api.yaml", 2)
    assert message.startswith("not valid OpenAPI: ")
    assert "version" in message


def test_validation_without_the_extra_says_what_to_install(folder, probe, monkeypatch):
    (folder / "api.json").write_text(
        '{"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": {"/a": {"get": {"responses": '
        '{"200": {"description": "ok"}}}}}}',
        encoding="utf-8",
    )
    monkeypatch.setitem(sys.modules, "openapi_spec_validator", None)
    run = probe("api.json", "--validate")
    assert run.code == 2
    assert "pip install 'dowbench[validate]'" in run.err


def test_limits_of_reading_are_settings(folder, probe):
    write(folder / "tools.json", tool("probe_a"))
    (folder / "dowbench.yaml").write_text("source_limits: {bytes: 20}\n", encoding="utf-8")
    run = probe("tools.json")
    assert run.code == 2
    assert "source_limits.bytes" in errors(run)["tools.json"]


def test_a_rule_that_fails_is_named_and_the_file_not_called_clean(folder, probe, monkeypatch):
    from dowbench import engine

    real = engine._findings

    def findings(pack, rule, *arguments):
        if rule.id == "probe-parameter":
            raise ZeroDivisionError("boom")
        return real(pack, rule, *arguments)

    monkeypatch.setattr(engine, "_findings", findings)
    write(folder / "tools.json", tool("probe_a", knob=True))
    run = probe("tools.json")
    assert run.code == 2
    assert run.found == [("probe-tool", "tools.json:2", "probe_a", None)]
    assert json.dumps(run.json["errors"]).count("probe-parameter") >= 1
