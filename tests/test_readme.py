"""What the README shows is what happens."""

from __future__ import annotations

import importlib.util
import json
import re
import sys

import pytest
from workbench import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def generate():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def test_generated_parts_are_what_the_programs_print():
    module = generate()
    for name in module.PARTS:
        assert f"<!-- generated: {name} -->" in README
    assert module.generated(README) == README, "run: make docs"


def test_demo_is_the_support_agent_with_three_high_two_medium_one_low():
    assert "Scanned 5 tools in 1 file: 3 high, 2 medium, 1 low. 0 suppressed, 0 skipped." in generate().demo()


def test_demo_findings_by_tool(dowbench, monkeypatch):
    monkeypatch.chdir(ROOT)
    findings = dowbench("scan", "--no-config", "--format", "json", generate().DEMO).json["findings"]
    assert {(f["rule"], f["severity"], f["tool"], f["parameter"]) for f in findings} == {
        ("unbounded-result", "high", "web_search", None),
        ("unbounded-result", "high", "read_page", None),
        ("unbounded-result", "high", "list_tickets", None),
        ("unbounded-pagination", "medium", "list_tickets", "cursor"),
        ("result-relay", "medium", "draft_reply", "history"),
        ("no-call-budget", "low", None, None),
    }


@pytest.mark.parametrize("code", blocks("python"))
def test_python_examples_run(code, folder, capsys):
    exec(compile(code, "README.md", "exec"), {})


def test_written_out_tools_are_scanned(folder, dowbench):
    (code,) = (block for block in blocks("python") if "json.dump" in block)
    exec(compile(code, "README.md", "exec"), {})
    assert ("unbounded-result", "tools.json:2", "web_search", None) in dowbench(
        "scan", "tools.json", "--format", "json"
    ).found


def test_configuration_example_is_valid(folder):
    from dowbench import configfile

    (text,) = (block for block in blocks("yaml") if block.startswith("files:"))
    (folder / "dowbench.yaml").write_text(text, encoding="utf-8")
    config = configfile.load(folder / "dowbench.yaml")
    assert config.limits == {"max_calls": 20, "max_result_chars": 20000}
    assert config.exceptions[0].tools == ("read_log",)


def test_ignore_examples_ignore(folder, dowbench, monkeypatch):
    monkeypatch.setattr("time.strftime", lambda form: "2026-12-01")  # the examples have a last day
    (text,) = (block for block in blocks("json") if "x-dowbench-ignore" in block)
    example = json.loads(text)
    definition = {"name": "read_log", "description": "Reads the log file of a server.", "input_schema": {}}
    (folder / "a.json").write_text(json.dumps([{**definition, **example}]), encoding="utf-8")
    (comment,) = (block for block in blocks("yaml") if "# dowbench: ignore" in block)
    more = "  description: Reads the log file of a server.\n  input_schema: {}\n"
    (folder / "b.yaml").write_text(comment + more, encoding="utf-8")
    report = dowbench("scan", "a.json", "b.yaml", "--format", "json", "--select", "unbounded-result").json
    assert [(s["path"], s["tool"], s["reason"]) for s in report["suppressed"]] == [
        ("a.json", "read_log", "the gateway cuts results"),
        ("b.yaml", "read_log", "the gateway cuts results"),
    ]
    assert report["findings"] == []


def test_baseline_in_three_lines(folder, dowbench):
    (text,) = (block for block in blocks("console") if block.startswith("$ dowbench scan --write-baseline"))
    first, second, third = text.splitlines()
    definition = {"name": "read_log", "description": "Reads the log file of a server.", "input_schema": {}}
    (folder / "tools.json").write_text(json.dumps([definition]), encoding="utf-8")
    assert dowbench("scan", "tools.json", "--fail-on", "high").code == 1
    assert dowbench(*first.split()[2:3], "tools.json", *first.split()[3:]).code == 0
    line = re.search(r"echo '(.*)' >> (.*)", second)
    (folder / line[2]).write_text(line[1] + "\n", encoding="utf-8")
    assert dowbench("scan", "tools.json", "--fail-on", "high").code == 0
    assert set(third.split()[3:]) == {"dowbench-baseline.json", "dowbench.yaml"}


def test_commands_of_the_command_line_section_name_options_that_exist(dowbench):
    from dowbench.cli import scan

    known = {option for parameter in scan.params for option in (*parameter.opts, *parameter.secondary_opts)}
    for block in blocks("console"):
        for line in block.splitlines():
            if line.startswith("$") and "dowbench scan" in line and "docker" not in line:
                assert set(re.findall(r"(?<= )--?[a-z][a-z-]*", line.partition("#")[0])) <= known | {"--help"}, line


def test_links_lead_somewhere():
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", README):
        assert (ROOT / target).exists(), target
    headings = {
        re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in re.findall(r"^#+ (.*)$", README, re.MULTILINE)
    }
    for anchor in re.findall(r"\]\(#([^)]+)\)", README):
        assert anchor in headings, anchor


def test_tables_name_every_loader_and_exit_code():
    from dowbench.loaders import LOADERS

    options = " ".join(README.partition("<!-- generated: options -->")[2].partition("<!-- end -->")[0].split())
    for name in LOADERS:
        assert f"| `{name}` |" in README, name
        assert f" {name}, " in options, name
    assert [code for code in ("0", "1", "2", "130") if f"\n| {code} |" not in README] == []


def test_python_version_is_the_one_of_the_package():
    assert "Python 3.11 or later" in README
    assert sys.version_info >= (3, 11)
    assert 'requires-python = ">=3.11"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
