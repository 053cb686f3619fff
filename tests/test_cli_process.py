"""The command as a process: streams, signals, imports, locale."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
import yaml
from workbench import PROBES, ROOT, tool, write


def python(*arguments: str, cwd: Path, **options):
    """``python -m dowbench`` as another process."""
    return subprocess.run(
        [sys.executable, "-m", "dowbench", *arguments], cwd=cwd, capture_output=True, text=True, check=False, **options
    )


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
