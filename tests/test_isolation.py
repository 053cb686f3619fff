"""A scan opens no socket, starts no program but git, and reads only what it was given and its own installation."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from workbench import ROOT, tool

# Runs in the process that scans: every event that the interpreter audits goes to a file, opened before.
WATCH = """
import os, sys
log = open(os.environ["AUDIT_LOG"], "w", encoding="utf-8", errors="backslashreplace", buffering=1)
KINDS = ("socket.", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "open",
         "os.listdir", "os.scandir", "urllib.", "http.", "ftplib.", "ctypes.dlopen", "webbrowser.", "os.startfile")
def hook(event, arguments):
    if event.startswith(KINDS):
        log.write(repr((event, [a if isinstance(a, (str, int)) else repr(a) for a in arguments[:2]])) + "\\n")
sys.addaudithook(hook)
from dowbench.cli import run
sys.exit(run(sys.argv[1:]))
"""


def watched(folder: Path, *arguments: str) -> tuple[subprocess.CompletedProcess[str], list[tuple[str, list[str]]]]:
    """A scan in ``folder``, and the (event, arguments) that it caused."""
    log = folder.parent / "audit.log"
    environment = {"PATH": os.environ["PATH"], "AUDIT_LOG": str(log), "HOME": str(folder.parent / "home")}
    process = subprocess.run(
        [sys.executable, "-I", "-c", WATCH, *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return process, [eval(line) for line in log.read_text().splitlines()]


def opened(folder: Path, events: list[tuple[str, list[str]]]) -> set[str]:
    """Files and folders that were opened, apart from those of Python, of installed packages and of this project."""
    own = {sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), str(ROOT / "dowbench"), str(ROOT / "rules")}
    found = set()
    for event, arguments in events:
        if event not in ("open", "os.listdir", "os.scandir") or not isinstance(arguments[0], str):
            continue
        path = os.path.normpath(os.path.join(folder, arguments[0]))  # noqa: PTH118
        if path in (str(ROOT), str(ROOT / "benchmark")):  # where the import system looks in an editable installation
            continue
        if not any(path == place or path.startswith(place + os.sep) for place in own):
            found.add(os.path.relpath(path, folder))
    return found


def others(events: list[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    return [event for event in events if event[0] not in ("open", "os.listdir", "os.scandir")]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder with tools whose references lead to files beside it and to addresses."""
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "secret.json").write_text(json.dumps(tool("secret")))
    (folder / "beside.json").write_text(json.dumps({"type": "integer", "maximum": 5}))
    properties = {
        name: {"$ref": ref}
        for name, ref in {
            "a": "../secret.json",
            "b": "beside.json#/maximum",
            "c": "http://127.0.0.1:9/x.json",
            "d": "file:///etc/hostname",
            "limit": "//example.com/x",
        }.items()
    }
    (folder / "tools.json").write_text(
        json.dumps([tool("list_notes", input_schema={"type": "object", "properties": properties})])
    )
    (folder / "openapi.yaml").write_text(
        "openapi: 3.0.0\ninfo: {title: t, version: '1'}\npaths:\n  /a:\n    get:\n      operationId: list_notes\n"
        "      parameters: [{$ref: 'beside.json'}]\n      externalDocs: {url: 'http://127.0.0.1:9'}\n"
        "      responses: {200: {$ref: '../secret.json'}}\n"
    )
    return folder


@pytest.mark.parametrize("report", ["text", "json", "markdown", "sarif", "github"])
def test_only_the_named_files_are_opened(report: str, elsewhere: Path) -> None:
    process, events = watched(elsewhere, "scan", "--no-config", "-f", report, "tools.json", "openapi.yaml")
    assert process.returncode == 0, process.stderr
    assert "list_notes" in process.stdout
    assert "is not followed" in process.stderr
    assert others(events) == []
    assert opened(elsewhere, events) - {".git", "../.git"} == {"tools.json", "openapi.yaml"}


def test_with_a_configuration_a_pack_and_a_folder(elsewhere: Path) -> None:
    pack = elsewhere / "pack"
    shutil.copytree(ROOT / "tests" / "probe", pack)
    (elsewhere / "dowbench.yaml").write_text("rule_packs: [pack]\nfiles: ['*.json']\n")
    process, events = watched(elsewhere, "scan", "-o", "sarif=out.sarif", ".")
    assert process.returncode == 0, process.stderr
    assert [event for event in others(events) if event[0] != "subprocess.Popen"] == []
    assert all(Path(str(arguments[0])).name == "git" for event, arguments in others(events))
    allowed = {"tools.json", "openapi.yaml", "beside.json", "dowbench.yaml", ".", "pack"}
    allowed |= {"pack/pack.json"} | {f"pack/{path.name}" for path in pack.iterdir()}
    assert {path for path in opened(elsewhere, events) if not path.startswith(".dowbench-")} <= allowed


def test_python_objects_in_yaml_are_never_made(elsewhere: Path) -> None:
    (elsewhere / "tools.yaml").write_text(
        "tools:\n- name: list_notes\n  inputSchema:\n    type: object\n"
        "    x: !!python/object/apply:os.system ['touch owned']\n"
        "    y: !!python/object/apply:subprocess.Popen [[touch, owned]]\n"
    )
    process, events = watched(elsewhere, "scan", "--no-config", "tools.yaml")
    assert process.returncode == 0, process.stderr
    assert others(events) == []
    assert not (elsewhere / "owned").exists()


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_is_the_only_program_and_runs_nothing_of_the_repository(elsewhere: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", str(elsewhere), *arguments], check=True, capture_output=True)

    git("init", "-q")
    git("config", "core.fsmonitor", "touch owned")
    (elsewhere / ".git" / "hooks" / "post-index-change").write_text("#!/bin/sh\ntouch owned\n")
    (elsewhere / ".git" / "hooks" / "post-index-change").chmod(0o755)
    git("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "add", ".")
    who = ("-c", "user.name=t", "-c", "user.email=t@t.invalid")
    git("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", *who, "commit", "-q", "-m", "t")
    for arguments in ((), ("--changed-since", "HEAD"), (".",)):
        process, events = watched(elsewhere, "scan", *arguments)
        assert process.returncode == 0, process.stderr
        started = [event for event in others(events) if event[0] != "os.posix_spawn"]
        assert {event for event, _ in started} <= {"subprocess.Popen"}
        assert all(Path(str(program)).name == "git" for _, (program, *_) in started)
        assert not (elsewhere / "owned").exists()
