"""What a scan asks of the system: no network, no program but git, no file but those it was given and Python's own."""

from __future__ import annotations

import json
import os
import re
import sys
import sysconfig
from typing import TYPE_CHECKING, NamedTuple

import kit
import pytest

if TYPE_CHECKING:
    from pathlib import Path

CALLS = "%network,execve,execveat,open,openat,openat2,creat,rename,renameat,renameat2,unlink,unlinkat,link,symlink"
_CALL = re.compile(r"^(?P<process>\d+) +(?P<name>\w+)\((?P<arguments>.*)\) = (?P<result>-?\d+)")
REPORTS = ("text", "json", "markdown", "sarif", "github")


class Call(NamedTuple):
    """One system call that succeeded."""

    process: str
    name: str
    arguments: str

    @property
    def path(self) -> str:
        return re.findall(r'"((?:[^"\\]|\\.)*)"', self.arguments)[0]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A repository of tools whose references lead elsewhere, with a configuration, a rule pack and a baseline."""
    folder = tmp_path / "work"
    (folder / "agents").mkdir(parents=True)
    (tmp_path / "secret.json").write_text('{"type": "integer"}')
    refs = ("../../secret.json", "file:///etc/hostname", "http://127.0.0.1:9/x", "beside.json", "//example.com/x")
    properties = {f"p{number}": {"$ref": ref} for number, ref in enumerate(refs)}
    tool = {"name": "list_notes", "description": "Lists all notes.", "input_schema": {"properties": properties}}
    (folder / "agents" / "tools.json").write_text(json.dumps([tool]))
    (folder / "agents" / "beside.json").write_text('{"type": "integer"}')
    (folder / "agents" / "more.yaml").write_text(
        "tools:\n- name: read_page\n  inputSchema: {type: object, x: !!python/object/apply:os.system [touch owned]}\n"
    )
    (folder / "dowbench.yaml").write_text("fail_on: none\nbaseline: known.json\n")
    (folder / "known.json").write_text('{"schema": "dowbench.baseline/1", "findings": []}')
    return kit.repository(folder)


def traced(strace: tuple[str, ...], folder: Path, *arguments: str) -> list[Call]:
    """The system calls of a scan in ``folder``."""
    log = folder.parent / "calls"
    python = (sys.executable, "-I", "-B", "-m", "dowbench")
    home = {"HOME": str(folder.parent / "home"), "GIT_CONFIG_NOSYSTEM": "1"}
    command = (*strace, "-f", "-qq", "-s", "4096", "-e", f"trace={CALLS}", "-o", log, *python, "scan", *arguments)
    done = kit.run(*command, cwd=folder, **home)
    assert done.returncode == 0, done.stderr
    assert "is not followed" in done.stderr
    matches = (_CALL.match(line) for line in log.read_text(errors="replace").splitlines())
    calls = [Call(m["process"], m["name"], m["arguments"]) for m in matches if m and int(m["result"]) >= 0]
    assert any(call.name == "execve" for call in calls)
    return calls


def split(calls: list[Call]) -> tuple[list[Call], list[Call]]:
    """The calls of the scan itself, and those of git after it was started."""
    programs: dict[str, str] = {}
    own, of_git = [], []
    for call in calls:
        if call.name == "execve":
            programs[call.process] = os.path.basename(call.path)  # noqa: PTH119
        (of_git if programs.get(call.process) == "git" else own).append(call)
    return own, of_git


def theirs(folder: Path, calls: list[Call]) -> set[str]:
    """Files that were opened, apart from those of Python, of this project and of the system's libraries."""
    ours = {sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), str(kit.ROOT), "/usr/lib", "/lib", "/lib64"}
    ours |= {"/etc/ld.so.cache", "/etc/localtime", "/usr/share/locale", "/usr/share/zoneinfo", "/dev/null"}
    found = set()
    for call in calls:
        if call.name.startswith("open"):
            path = os.path.normpath(os.path.join(folder, call.path))  # noqa: PTH118
            if not any(path == place or path.startswith(place + os.sep) for place in ours):
                found.add(os.path.relpath(path, folder))
    return found


@pytest.mark.parametrize("report", REPORTS)
def test_a_scan_of_named_files(report: str, strace: tuple[str, ...], work: Path) -> None:
    calls = traced(strace, work, "--no-config", "--format", report, "agents/tools.json", "agents/more.yaml")
    assert [call for call in calls if call.name in ("socket", "connect", "bind", "sendto")] == []
    assert [call.path for call in calls if call.name == "execve"] == [sys.executable]
    assert theirs(work, calls) == {"agents/tools.json", "agents/more.yaml"}
    assert not [call for call in calls if re.search("O_WRONLY|O_RDWR|O_CREAT", call.arguments)]


def test_a_scan_of_what_git_tracks(strace: tuple[str, ...], work: Path) -> None:
    calls = traced(strace, work, "--changed-since", "HEAD", "-o", "sarif=out.sarif")
    own, of_git = split(calls)
    assert [call for call in calls if call.name in ("socket", "connect", "bind", "sendto")] == []
    assert {os.path.basename(call.path) for call in of_git if call.name == "execve"} == {"git"}  # noqa: PTH119
    assert [call.path for call in own if call.name == "execve"] == [sys.executable]
    found = {path for path in theirs(work, own) if not path.startswith(".dowbench-")}
    scanned = {"agents/tools.json", "agents/more.yaml", "agents/beside.json"}
    assert found <= {*scanned, "dowbench.yaml", "known.json", "."}
    assert scanned <= found
    assert all(path == "." or path.startswith(".git") for path in theirs(work, of_git) if not path.startswith("../"))
    assert "../secret.json" not in theirs(work, calls)
    written = [call.path for call in own if re.search("O_WRONLY|O_RDWR|O_CREAT", call.arguments)]
    assert all(os.path.basename(path).startswith(".dowbench-") or path == "/dev/null" for path in written)  # noqa: PTH119
    assert not (work / "owned").exists()
