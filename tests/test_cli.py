"""The command line: what it reads, what it prints where, and its exit codes."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import types
from pathlib import Path

import pytest
import yaml
from workbench import PROBE, PROBES, ROOT, found, tool, write

from dowbench import cli, scanfile
from dowbench.report import REPORTS


def python(*arguments: str, cwd: Path, **options):
    """``python -m dowbench`` as another process."""
    return subprocess.run(
        [sys.executable, "-m", "dowbench", *arguments], cwd=cwd, capture_output=True, text=True, check=False, **options
    )


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


def test_outputs_are_further_reports_from_one_scan(folder, probe):
    write(folder / "tools.json", tool())
    run = probe("tools.json", "-o", "json=out.json", "-o", "markdown=out.md", "-o", "sarif=out.sarif", format="text")
    assert run.out.startswith("tools.json:2:3  HIGH  probe-tool  probe_one\n")
    assert json.loads((folder / "out.json").read_text(encoding="utf-8"))["findings"][0]["tool"] == "probe_one"
    assert (folder / "out.md").read_text(encoding="utf-8").startswith("## dowbench: 1 high")
    assert json.loads((folder / "out.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"
    assert sorted(path.name for path in folder.iterdir() if path.is_file()) == [
        "out.json",
        "out.md",
        "out.sarif",
        "tools.json",
    ]


@pytest.mark.parametrize("value", ["out.json", "xml=out.xml", "json=", "json=-"])
def test_output_wants_format_and_path(folder, probe, value):
    write(folder / "tools.json", tool())
    run = probe("tools.json", "-o", value)
    assert run.code == 2
    assert "is not FORMAT=PATH" in run.err or "--format json writes to standard output" in run.err
    assert sorted(folder.glob("*.*")) == [folder / ".git", folder / "tools.json"]


def test_report_that_cannot_be_written_is_an_error_and_leaves_the_old_one(folder, probe):
    write(folder / "tools.json", tool())
    run = probe("tools.json", "-o", "json=missing/out.json")
    assert (run.code, run.err) == (2, "error: missing/out.json: cannot be written: No such file or directory\n")
    assert run.found == [("probe-tool", "tools.json:2", "probe_one", None)]


def test_one_report_that_cannot_be_written_loses_no_other(folder, probe):
    write(folder / "tools.json", tool())
    (folder / "is-a-folder").mkdir()
    run = probe("tools.json", "-o", "json=is-a-folder", "-o", "json=out.json", "-o", "json=missing/x.json")
    assert run.code == 2
    assert run.err == (
        "error: is-a-folder: cannot be written: not a regular file\n"
        "error: missing/x.json: cannot be written: No such file or directory\n"
    )
    assert (folder / "out.json").read_text(encoding="utf-8") == run.out


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX files")
def test_report_goes_neither_through_a_link_nor_into_a_pipe(folder, probe, tmp_path):
    write(folder / "tools.json", tool())
    (tmp_path / "theirs").write_text("theirs", encoding="utf-8")
    (folder / "out.json").symlink_to(tmp_path / "theirs")
    (folder / "nowhere.json").symlink_to("nothing")
    os.mkfifo(folder / "pipe")
    run = probe("tools.json", "-o", "json=out.json", "-o", "json=nowhere.json", "-o", "json=pipe", "-o", "json=good")
    assert run.code == 2
    assert run.err == (
        "error: out.json: cannot be written: a symbolic link; name the file that it leads to\n"
        "error: nowhere.json: cannot be written: a symbolic link; name the file that it leads to\n"
        "error: pipe: cannot be written: not a regular file\n"
    )
    assert (folder / "out.json").is_symlink()
    assert (tmp_path / "theirs").read_text(encoding="utf-8") == "theirs"
    assert (folder / "good").read_text(encoding="utf-8") == run.out


def test_nothing_that_was_read_is_written_over(folder, dowbench):
    write(folder / "tools.json", tool())
    write(folder / "found" / "tools.json", tool())
    (folder / "broken.json").write_text('{"tools": [{"name": 5, "inputSchema": {}}]}', encoding="utf-8")
    (folder / "dowbench.yaml").write_text("fail_on: none\n", encoding="utf-8")
    shutil.copytree(PROBE, folder / "pack")
    (folder / "known.json").write_text('{"schema": "dowbench.baseline/1", "findings": []}', encoding="utf-8")
    (folder / "link.json").symlink_to("tools.json")
    (folder / "same.json").hardlink_to(folder / "tools.json")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    own = ("tools.json", "found/tools.json", "broken.json", "dowbench.yaml", "same.json", "known.json")
    written = [*own, "pack/" + next(path.name for path in PROBE.glob("*.yaml"))]
    arguments = ("tools.json", "found", "broken.json", "--rules", "pack", "--baseline", "known.json", "-f", "json")
    run = dowbench("scan", *arguments, *(part for name in written for part in ("-o", f"sarif={name}")))
    assert run.code == 2
    assert [line for line in run.err.splitlines() if "not written" in line] == [
        f"error: {name}: not written: it is one of the files that were read" for name in written
    ]
    assert [file["path"] for file in run.json["files"]] == ["tools.json", "found/tools.json"]
    run = dowbench("scan", "tools.json", "--write-baseline", "tools.json", "-f", "json")
    assert (run.code, run.err) == (2, "error: tools.json: not written: it is one of the files that were read\n")
    assert [file["path"] for file in run.json["files"]] == ["tools.json"]
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_report_of_the_last_scan_is_replaced_though_it_lies_in_the_folder(folder, probe):
    write(folder / "tools.json", tool())
    for report in ("json", "sarif"):
        for _ in range(2):
            assert (probe(".", "-o", f"{report}={report}.json").code, (folder / f"{report}.json").exists()) == (0, True)


def test_a_file_that_is_no_report_is_not_replaced(folder, probe):
    write(folder / "tools.json", tool())
    known = '{"schema": "dowbench.baseline/1", "findings": []}'
    texts = {"package.json": '{"name": "x"}', "README.md": "# x\n", "values.yaml": "a: 1\n", "known.json": known}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
        message = f"error: {name}: not written: there is a file that dowbench did not write; remove it, or name another"
        for report in REPORTS:
            run = probe("tools.json", "-o", f"{report}={name}")
            assert (run.code, found(run), run.err) == (2, {("probe-tool", "probe_one")}, f"{message}\n")
        if name != "known.json":
            run = probe("tools.json", "--write-baseline", name)
            assert (run.code, found(run)) == (2, {("probe-tool", "probe_one")})
            assert run.err.startswith(f"error: {name}:")
            assert "not a baseline" in run.err
        assert (folder / name).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("old", REPORTS)
@pytest.mark.parametrize("tools", [(), (tool(),)])
def test_any_report_and_an_empty_file_are_replaced_by_a_report(folder, probe, old, tools):
    write(folder / "tools.json", tool("fine"), *tools)
    (folder / "out").touch()
    for report in (old, "json", old):
        assert probe("tools.json", "-o", f"{report}=out").code == 0
    assert (folder / "out").read_text(encoding="utf-8") == probe("tools.json", format=old).out


def test_two_reports_do_not_go_to_one_file(folder, probe):
    write(folder / "tools.json", tool())
    for arguments in (("-o", "json=out", "-o", "sarif=./out"), ("-o", "json=out", "--write-baseline", "out")):
        run = probe("tools.json", *arguments)
        assert (run.code, run.out) == (2, "")
        assert run.err == "error: out: two reports would be written to it\n"
        assert not (folder / "out").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_a_replaced_report_keeps_its_permissions(folder, probe):
    write(folder / "tools.json", tool())
    (folder / "out.json").touch()
    (folder / "out.json").chmod(0o600)
    assert probe("tools.json", "-o", "json=out.json").code == 0
    assert (folder / "out.json").stat().st_mode & 0o777 == 0o600


def test_a_name_as_long_as_a_name_may_be(folder, probe):
    write(folder / "tools.json", tool())
    assert probe("tools.json", "-o", f"json={'x' * 255}").code == 0
    assert (folder / ("x" * 255)).exists()


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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, which only some systems have")
@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize(
    ("arguments", "code", "reports"),
    [
        (("tools.json", "missing.json", "-o", "json=out.json"), 2, True),
        (("tools.json", "--fail-on", "high", "-o", "json=out.json"), 1, True),
        (("tools.json", "-o", "json=out.json"), 0, True),
        (("tools.json", "--write-baseline", "known.json"), 0, True),
        (("tools.json", "--select", "nothing"), 2, False),
        (("--nothing",), 2, False),
    ],
)
def test_standard_error_that_takes_nothing_changes_nothing(folder, arguments, code, reports, closed):
    (folder / "tools.json").write_text('[{"name": "a", "input_schema": {}, "name": "probe_b"}]', encoding="utf-8")
    shell = '"$@" 2>&-' if closed else '"$@" 2>/dev/full'
    command = [sys.executable, "-m", "dowbench", "scan", *PROBES[:2], *arguments]
    run = subprocess.run(["sh", "-c", shell, "sh", *command], cwd=folder, stdout=subprocess.PIPE, check=False)
    assert run.returncode == code
    assert (b"Scanned 1 tool in 1 file" in run.stdout) is reports
    assert (folder / "out.json").exists() is ("json=out.json" in arguments)
    assert b"Traceback" not in run.stdout


def test_streams_that_are_closed_are_not_files_of_the_scan(folder):
    write(folder / "tools.json", tool())
    command = [sys.executable, "-m", "dowbench", "scan", *PROBES, "tools.json", "-o", "json=out.json"]
    run = subprocess.run(["sh", "-c", '"$@" <&- >&- 2>&-', "sh", *command], cwd=folder, check=False)
    assert run.returncode == 2
    assert json.loads((folder / "out.json").read_bytes())["findings"][0]["tool"] == "probe_one"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_an_interrupt_while_it_starts_is_no_traceback(folder):
    write(folder / "tools.json", tool())
    # As the program imports its modules one after the other, each is a place where the signal may come.
    script = (
        "import os, signal, sys\n"
        "from dowbench.__main__ import main\n"
        "class Finder:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == {name!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "sys.argv = ['dowbench', 'scan', 'tools.json']\n"
        "main()"
    )
    for name in ("dowbench.cli", "click", "dowbench.report"):
        run = subprocess.run(
            [sys.executable, "-c", script.format(name=name)], cwd=folder, capture_output=True, check=False
        )
        assert (run.returncode, run.stdout, run.stderr) == (-signal.SIGINT, b"", b""), name
    run = subprocess.run(
        [sys.executable, "-c", script.format(name="dowbench.scan")], cwd=folder, capture_output=True, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (130, b"", b"\ninterrupted\n")


@pytest.mark.parametrize("name", ["click", "yaml", "json", "typing", "re", "signal", "__future__", "dataclasses"])
def test_nothing_is_imported_from_the_folder_that_is_scanned(folder, name):
    write(folder / "tools.json", tool())
    for module in (folder / f"{name}.py", folder / "tools" / f"{name}.py"):
        module.parent.mkdir(exist_ok=True)
        module.write_text("raise SystemExit('the folder was imported')", encoding="utf-8")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    run = subprocess.run(
        [sys.executable, "-m", "dowbench", "scan", "--no-config", "tools.json"],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (run.returncode, run.stderr) == (0, "")
    assert "Scanned 1 tool" in run.stdout


@pytest.mark.skipif(not Path(sys.executable).with_name("dowbench").exists(), reason="the command is not installed")
def test_the_command_imports_nothing_from_the_folder_that_is_scanned(folder):
    write(folder / "tools.json", tool())
    for name in ("dowbench", "click", "yaml", "json", "typing", "re"):
        (folder / f"{name}.py").write_text("raise SystemExit('the folder was imported')", encoding="utf-8")
    run = subprocess.run(
        [Path(sys.executable).with_name("dowbench"), "scan", "--no-config", "tools.json"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (run.returncode, run.stderr) == (0, "")
    assert "Scanned 1 tool" in run.stdout


def test_the_command_and_the_hook_start_where_the_folder_is_not_on_the_path():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] == {"dowbench": "dowbench.__main__:main"}
    for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")):
        assert (hook["language"], hook["entry"].split()[0]) == ("python", "dowbench")


def test_report_replaces_the_old_one_in_one_step(folder, probe, monkeypatch):
    write(folder / "tools.json", tool())
    (folder / "out.json").write_text("::error ::old", encoding="utf-8")

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    run = probe("tools.json", "-o", "json=out.json")
    assert (run.code, run.err) == (2, "error: out.json: cannot be written: No space left on device\n")
    assert (folder / "out.json").read_bytes() == b"::error ::old"
    assert sorted(path.name for path in folder.iterdir() if path.is_file()) == ["out.json", "tools.json"]


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


def test_crash_of_the_command_is_one_line(folder, dowbench, monkeypatch):
    def discover(*arguments, **options):
        raise ZeroDivisionError("boom")

    monkeypatch.setattr("dowbench.scan.discover", discover)
    run = dowbench("scan", "tools.json")
    assert (run.code, run.out) == (2, "")
    assert run.err == "error: internal error, please report it: ZeroDivisionError: boom (--verbose shows where)\n"
    assert "Traceback" in dowbench("scan", "tools.json", "-v").err


def test_interrupt(folder, dowbench, monkeypatch):
    def discover(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("dowbench.scan.discover", discover)
    run = dowbench("scan", "tools.json")
    assert (run.code, run.out, run.err) == (130, "", "\ninterrupted\n")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_interrupt_of_a_process_that_waits_for_input(folder):
    with subprocess.Popen(
        [sys.executable, "-m", "dowbench", "scan", "-", "--loader", "auto"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        stat = Path(f"/proc/{process.pid}/wchan")
        for _ in range(200):
            if not stat.exists() or b"pipe" in stat.read_bytes():
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, b"\ninterrupted\n")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
def test_reader_that_goes_away_is_no_traceback(folder):
    write(folder / "tools.json", *(tool(f"probe_{n}") for n in range(3000)))
    read, written = os.pipe()
    with (
        (folder / "err").open("wb") as err,
        subprocess.Popen(
            [sys.executable, "-m", "dowbench", "scan", *PROBES, "tools.json", "--verbose", "--fail-on", "high"],
            cwd=folder,
            stdout=written,
            stderr=err,
        ) as process,
    ):
        os.close(written)
        os.read(read, 10)
        os.close(read)
        process.wait(timeout=60)
    assert (process.returncode, (folder / "err").read_bytes()) == (1, b"")


def test_colour_on_a_terminal_only(folder, dowbench, monkeypatch):
    write(folder / "tools.json", tool())
    assert "\x1b" not in dowbench("scan", *PROBES, "tools.json").out
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size((100, 40)))
    monkeypatch.setenv("TERM", "xterm")

    def terminal(*arguments: str) -> str:
        monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
        return dowbench("scan", *PROBES, "tools.json", *arguments).out

    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[31;1mHIGH\x1b[0m" in terminal()
    assert "\x1b" not in terminal("--no-color")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in terminal()
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in terminal()


def test_module_and_script_are_the_same_command(folder):
    write(folder / "tools.json", tool())
    run = python("scan", *PROBES, "tools.json", "--fail-on", "high", cwd=folder)
    assert run.returncode == 1
    assert run.stdout.startswith("tools.json:2:3  HIGH  probe-tool  probe_one\n")
    assert run.stderr == ""


def test_output_is_utf8_whatever_the_locale(folder):
    write(folder / "tools.json", tool("probe_ünï"))
    run = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-m", "dowbench", "scan", *PROBES, "tools.json"],
        cwd=folder,
        capture_output=True,
        check=True,
        env={**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"},
    )
    assert "probe_ünï is a probe." in run.stdout.decode("utf-8")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, which only some systems have")
def test_standard_output_that_takes_nothing_is_one_line(folder):
    write(folder / "tools.json", tool("probe_one"))
    command = [sys.executable, "-m", "dowbench", "scan", "--no-config", "tools.json"]
    with Path("/dev/full").open("wb") as full:
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert run.returncode == 2
    assert run.stderr == "error: the report cannot be written to standard output: No space left on device\n"


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
