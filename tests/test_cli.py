"""The command line: what it reads, what it prints where, and its exit codes."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import types

import pytest
from workbench import PROBES, ROOT, found, tool, write

from dowbench import cli, scanfile


def test_report_goes_to_standard_output_and_messages_to_standard_error(folder, probe):
    write(folder / "good.json", tool())
    (folder / "bad.json").write_text('{"tools": [', encoding="utf-8")
    run = probe("good.json", "bad.json")
    assert run.found == [("probe-tool", "good.json:2", "probe_one", None)]
    assert run.err.startswith("error: bad.json:1:")
    assert len(run.err.splitlines()) == 1
    assert run.code == 2


@pytest.mark.parametrize(("fail_on", "code"), [("high", 0), ("medium", 1), ("low", 1), ("none", 0)])
@pytest.mark.parametrize("format", ["text", "markdown", "json", "sarif", "github"])
def test_fail_on_decides_the_exit_code_whatever_the_format(folder, probe, fail_on, code, format):
    write(folder / "tools.json", tool("quiet", knob=True))
    assert probe("tools.json", "--fail-on", fail_on, format=format).code == code


def test_findings_do_not_hide_that_something_could_not_be_scanned(folder, probe):
    write(folder / "good.json", tool())
    assert probe("good.json", "missing.json", "--fail-on", "low").code == 2


def test_bad_input_between_good_ones_leaves_the_good_ones_scanned(folder, probe):
    write(folder / "a.json", tool("probe_a"))
    (folder / "b.json").write_text("[1, 2", encoding="utf-8")
    write(folder / "c.json", tool("probe_c"))
    run = probe("a.json", "b.json", "c.json")
    assert [found[2] for found in run.found] == ["probe_a", "probe_c"]
    assert [error["path"] for error in run.json["errors"]] == ["b.json"]


def test_named_file_without_tools_is_an_error_unless_skipped(folder, probe):
    (folder / "package.json").write_text('{"name": "x", "version": "1"}', encoding="utf-8")
    run = probe("package.json")
    assert run.code == 2
    assert run.json["errors"][0]["path"] == "package.json"
    assert "--skip-unrecognized" in run.json["errors"][0]["message"]
    run = probe("package.json", "--skip-unrecognized")
    assert run.code == 0
    assert [skipped["path"] for skipped in run.json["skipped"]] == ["package.json"]
    assert run.json["errors"] == []


def test_broken_file_is_an_error_even_when_unrecognized_ones_are_skipped(folder, probe):
    (folder / "broken.json").write_text('[{"name": "a", "input_schema": {', encoding="utf-8")
    assert probe("broken.json", "--skip-unrecognized").code == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tsconfig.json", '{\n  // strict\n  "compilerOptions": {"strict": true},\n}'),
        ("templates/tool.yaml", "{{- if .Values.on }}\nkind: {{ .Values.kind }}\n{{- end }}\n"),
        ("empty.json", ""),
        ("twice.yaml", "a: 1\na: 2\n"),
        ("latin.json", '{"a": "caf\udce9"}'),
    ],
)
def test_a_named_file_is_judged_like_one_in_a_folder_where_unrecognized_ones_are_skipped(folder, probe, name, text):
    write(folder / "tools.json", tool())
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    assert probe(name).code == 2
    named, found_there = probe(name, "tools.json", "--skip-unrecognized"), probe(".")
    assert (named.code, found_there.code) == (0, 0)
    assert named.json["skipped"] == found_there.json["skipped"]
    assert [note["path"] for note in named.json["skipped"]] == [name]
    assert found(named) == {("probe-tool", "probe_one")}


def test_standard_input(folder, probe, monkeypatch):
    text = json.dumps([tool()])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    run = probe("-", "--format-in", "anthropic")
    assert run.found == [("probe-tool", "<stdin>:1", "probe_one", None)]
    assert run.json["files"] == [{"path": "<stdin>", "format": "anthropic", "tools": 1}]


def test_standard_input_that_is_closed_or_fails(folder, probe, monkeypatch):
    class Failing:
        def read(self, size):
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(sys, "stdin", None)
    assert (probe("-", "--loader", "auto").code, probe("-", "--loader", "auto").err) == (
        2,
        "error: standard input is closed\n",
    )
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=Failing()))
    run = probe("-", "--loader", "auto")
    assert (run.code, run.err) == (2, "error: standard input cannot be read: Input/output error\n")


def test_standard_input_needs_a_format(folder, probe):
    run = probe("-")
    assert run.code == 2
    assert run.err == "error: standard input needs --format-in FORMAT (auto decides from the content)\n"


def test_format_in_is_the_loader(folder, probe):
    write(folder / "tools.json", tool())
    run = probe("tools.json", "--loader", "openai")
    assert run.code == 2
    assert run.err.startswith("error: tools.json:")
    run = probe("tools.json", "--loader", "opanai")
    assert run.code == 2
    assert "'opanai'" in run.err
    assert "anthropic" in run.err


def test_unknown_rule_is_a_usage_error_with_the_nearest(folder, dowbench):
    write(folder / "tools.json", tool())
    for option in ("--select", "--ignore"):
        run = dowbench("scan", "tools.json", option, "no-call-budgt")
        assert (run.code, run.out) == (2, "")
        assert "unknown rule 'no-call-budgt'; did you mean 'no-call-budget'?" in run.err


def test_select_and_ignore(folder, probe):
    write(folder / "tools.json", tool(knob=True))
    assert {found[0] for found in probe("tools.json").found} == {"probe-tool", "probe-parameter"}
    assert {found[0] for found in probe("tools.json", "--ignore", "probe-tool").found} == {"probe-parameter"}
    assert {found[0] for found in probe("tools.json", "--min-severity", "high").found} == {"probe-tool"}
    assert {found[0] for found in probe("tools.json", "--min-confidence", "high").found} == {"probe-tool"}


def test_pedantic_rules_are_shown_on_request(folder, dowbench):
    write(folder / "tools.json", tool("one"), tool("two"))
    arguments = ("scan", "tools.json", "--rules", PROBES[1], "--format", "json", "--ignore", "no-call-budget")
    assert "probe-set" not in {found[0] for found in dowbench(*arguments).found}
    assert "probe-set" in {found[0] for found in dowbench(*arguments, "--tier", "pedantic").found}
    assert "probe-set" in {found[0] for found in dowbench(*arguments, "--select", "probe-set").found}


@pytest.mark.parametrize(
    "option",
    [
        *("--loader", "--format", "--output", "--fail-on", "--config", "--rules", "--select", "--ignore", "--tier"),
        *("--min-severity", "--min-confidence", "--baseline", "--write-baseline", "--changed-since"),
    ],
)
@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_value_is_a_mistake(folder, dowbench, option, value):
    write(folder / "tools.json", tool())
    run = dowbench("scan", "tools.json", option, value)
    assert (run.code, run.out) == (2, "")
    assert option in run.err


def test_an_empty_path_is_named_and_the_others_are_scanned(folder, probe):
    write(folder / "tools.json", tool())
    run = probe("", "tools.json")
    assert (run.code, run.err) == (2, "error: '': cannot be read: the path is empty\n")
    assert run.found == [("probe-tool", "tools.json:2", "probe_one", None)]


def test_quiet_prints_errors_only(folder, probe):
    (folder / "tools.json").write_text('[{"name": "probe_a", "input_schema": {}, "name": "probe_b"}]', encoding="utf-8")
    run = probe("tools.json", "--fail-on", "high", "--quiet")
    assert (run.code, run.out, run.err) == (1, "", "")
    assert "missing.json" in probe("missing.json", "--quiet").err


def test_duplicate_key_is_a_warning(folder, probe):
    (folder / "tools.json").write_text('[{"name": "a", "input_schema": {},\n "name": "probe_b"}]', encoding="utf-8")
    run = probe("tools.json")
    assert run.code == 0
    assert run.err.startswith("warning: tools.json:2:2: duplicate key")
    assert run.json["warnings"][0]["line"] == 2


def test_crash_in_one_file_is_one_line_and_the_rest_is_scanned(folder, probe, monkeypatch):
    write(folder / "a.json", tool("probe_a"))
    write(folder / "b.json", tool("probe_b"))
    real = scanfile.loaders.load

    def load(value, *, path, **options):
        if path == "a.json":
            raise ZeroDivisionError("boom")
        return real(value, path=path, **options)

    monkeypatch.setattr(scanfile.loaders, "load", load)
    run = probe("a.json", "b.json")
    assert run.code == 2
    assert [found[2] for found in run.found] == ["probe_b"]
    assert run.err == (
        "error: a.json: internal error, please report it: ZeroDivisionError: boom (--verbose shows where)\n"
    )
    assert "Traceback" in probe("a.json", "b.json", "--verbose").err


def test_help_lists_every_command_without_importing_the_benchmark(folder):
    script = (
        "import sys; from dowbench.cli import run; code = run(['--help']);"
        "print(sorted(m for m in sys.modules if m.startswith('dowbench')), file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=True)
    for name in ("scan", *cli.COMMANDS):
        assert f"\n  {name} " in run.stdout
    assert "dowbench_benchmark" not in run.stderr
    assert "dowbench.scan'" not in run.stderr


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_of_the_table_is_there(name, dowbench):
    run = dowbench(name, "--help")
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith(f"Usage: dowbench {name} ")


def test_unknown_command_and_option(folder, dowbench):
    assert dowbench("scam").code == 2
    run = dowbench("scan", "--fail-on", "hihg")
    assert run.code == 2
    assert "'hihg' is not one of" in run.err


@pytest.mark.parametrize("arguments", [("##[error]x",), ("scan", "--fail-on", "##[error]x"), ("scan", "--##[error]x")])
def test_usage_errors_give_no_workflow_command(dowbench, arguments):
    run = dowbench(*arguments)
    assert (run.code, run.out, "##[" in run.err) == (2, "", False)
    assert "\\u0023#[error]x" in run.err


def test_version(dowbench):
    from dowbench import __version__

    run = dowbench("--version")
    assert (run.code, run.out) == (0, f"dowbench {__version__}\n")
    assert ROOT.joinpath("dowbench", "__init__.py").read_text(encoding="utf-8").count(f'"{__version__}"') == 1
