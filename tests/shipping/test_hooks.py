"""The hooks, installed by pre-commit from a clone of this repository."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING

import pytest
from kit import repository, run
from workbench import BOUNDED, SEARCH
from workspaces import mcp

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps what it installed: once for all of these tests."""
    return tmp_path_factory.mktemp("pre-commit")


def try_repo(
    tools: Path, tree: Path, home: Path, workspace: Path, hook: str, *options: str
) -> subprocess.CompletedProcess[str]:
    config = f"""\
repos:
  - repo: {tree}
    rev: {run("git", "rev-parse", "HEAD", cwd=tree).stdout.strip()}
    hooks:
      - id: {hook}
"""
    (workspace / ".pre-commit-config.yaml").write_text(config)
    repository(workspace)
    return run(tools / "pre-commit", "run", "--all-files", *options, cwd=workspace, PRE_COMMIT_HOME=str(home))


def test_try_repo(tools: Path, tree: Path, home: Path, tmp_path: Path) -> None:
    """``pre-commit try-repo``, the way somebody looks at a hook before using it."""
    (tmp_path / "mcp-tools.json").write_text(mcp(SEARCH))
    repository(tmp_path)
    command = (tools / "pre-commit", "try-repo", tree, "dowbench", "--files")
    bad = run(*command, "mcp-tools.json", cwd=tmp_path, PRE_COMMIT_HOME=str(home))
    assert bad.returncode == 1, bad.stdout + bad.stderr
    assert re.search(r"^mcp-tools\.json:3:5 +HIGH +unbounded-result +web_search", bad.stdout, re.M), bad.stdout
    (tmp_path / "mcp-tools.json").write_text(mcp(BOUNDED))
    good = run(*command, "mcp-tools.json", cwd=tmp_path, PRE_COMMIT_HOME=str(home))
    assert good.returncode == 0, good.stdout + good.stderr
    assert re.search(r"^dowbench\.+Passed$", good.stdout, re.M), good.stdout


def test_lines_of_the_bad_files_are_named_among_good_ones(tools: Path, tree: Path, home: Path, tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    for name, tool in (("a b.json", SEARCH), ("good.json", BOUNDED), ("-c.json", SEARCH)):
        (tmp_path / "tools" / name).write_text(mcp(BOUNDED, tool))
    done = try_repo(tools, tree, home, tmp_path, "dowbench")
    assert done.returncode == 1, done.stdout + done.stderr
    found = re.findall(r"^(\S.*):(\d+):\d+ +HIGH +unbounded-result", done.stdout, re.M)
    assert {name for name, _ in found} == {"tools/a b.json", "tools/-c.json"}
    assert "good.json" not in done.stdout
    assert len(done.stdout.splitlines()) < 40
    assert "x-dowbench-ignore" in "".join(done.stdout.rstrip().splitlines()[-5:])


@pytest.mark.parametrize("hook", ["dowbench", "dowbench-all"])
def test_thousands_of_files_that_are_no_tools(
    tools: Path, tree: Path, home: Path, tmp_path: Path, hook: str, say: Callable[[str], None]
) -> None:
    (tmp_path / "data").mkdir()
    for number in range(2_000):
        (tmp_path / f"data/{number}.json").write_text(json.dumps({"id": number, "values": list(range(50))}))
    try_repo(tools, tree, home, tmp_path, hook)  # installs
    started = time.monotonic()
    done = run(tools / "pre-commit", "run", "--all-files", cwd=tmp_path, PRE_COMMIT_HOME=str(home))
    seconds = time.monotonic() - started
    say(f"hook {hook}: {seconds:.1f} s on 2,000 JSON files that are no tools")
    assert done.returncode == 0, done.stdout
    assert ("(no files to check)" in done.stdout) == (hook == "dowbench"), done.stdout


def test_a_file_that_is_no_json_at_all_fails_the_hook(tools: Path, tree: Path, home: Path, tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text('{"tools": [{"name": "x", "inputSchema": }]}')
    done = try_repo(tools, tree, home, tmp_path, "dowbench")
    assert done.returncode != 0
    assert "tools.json:1:" in done.stdout, done.stdout


def test_excludes_of_the_configuration_hold_for_the_hook(tools: Path, tree: Path, home: Path, tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/vendor.json").write_text(mcp(SEARCH))
    (tmp_path / "dowbench.yaml").write_text("exclude: [tools/vendor.json]\n")
    done = try_repo(tools, tree, home, tmp_path, "dowbench")
    assert done.returncode == 0, done.stdout


def test_a_path_is_never_read_as_an_option(tools: Path, tree: Path, home: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "--output=json=..").mkdir(parents=True)
    (workspace / "--output=json=../tools.json").write_text(mcp(BOUNDED))
    done = try_repo(tools, tree, home, workspace, "dowbench-all")
    assert done.returncode == 0, done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["workspace"]


def test_start_up(tools: Path, tree: Path, home: Path, tmp_path: Path, say: Callable[[str], None]) -> None:
    """Prints how long the installed hook takes on one small file; a machine's speed decides no test."""
    (tmp_path / "tools.json").write_text(mcp(BOUNDED))
    try_repo(tools, tree, home, tmp_path, "dowbench")
    (program,) = home.glob("repo*/py_env-*/bin/dowbench")

    def best(*command: str | Path) -> float:
        times = []
        for _ in range(15):
            started = time.perf_counter()
            assert run(*command, cwd=tmp_path).returncode == 0
            times.append(time.perf_counter() - started)
        return min(times)

    imports = best(program.with_name("python"), "-c", "import click, yaml")
    hook = best(program, "scan", "--skip-unrecognized", "--fail-on", "high", "tools.json")
    say(
        f"installed hook on one small file: {hook * 1000:.0f} ms, {hook / imports:.2f} times "
        f"`python -c 'import click, yaml'` ({imports * 1000:.0f} ms); best of 15"
    )
