"""The Action, built and run as a runner does."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from kit import ROOT, repository, run
from runner import Step, step
from workbench import BOUNDED, SEARCH
from workspaces import mcp, searches

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from engine import Engine

    Run = Callable[..., Step]

OWNER = 1234


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def run_step(engine: Engine, image: str, tree: Path, workspace: Path) -> Run:
    """Run the Action on ``workspace``, made somebody else's first where that is possible."""

    def started(*options: str, **inputs: str) -> Step:
        if os.geteuid() == 0:
            for path in (workspace, *workspace.rglob("*")):
                os.chown(path, OWNER, OWNER, follow_symlinks=False)
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        done = step(engine, image, tree, workspace, *options, inputs=given)
        owner = workspace.stat().st_uid
        assert {path.lstat().st_uid for path in (workspace, *workspace.rglob("*"))} == {owner}
        return done

    return started


def results(workspace: Path, name: str = "dowbench.sarif") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((workspace / name).read_text())["runs"][0]["results"]
    return found


def test_findings_fail_the_step_after_everything_was_reported(run_step: Run, workspace: Path) -> None:
    (workspace / "tools.json").write_text(mcp(SEARCH, BOUNDED))
    repository(workspace)
    done = run_step()
    assert done.conclusion == "failure", done.log
    assert done.outputs == {
        "findings-count": "1",
        "high-count": "1",
        "medium-count": "0",
        "low-count": "0",
        "sarif-file": "dowbench.sarif",
        "conclusion": "fail",
    }
    (annotation,) = done.annotations
    assert (annotation.level, annotation.properties["file"], annotation.properties["line"]) == (
        "error",
        "tools.json",
        "3",
    )
    assert "unbounded-result" in done.summary
    (result,) = results(workspace)
    assert (result["ruleId"], result["properties"]["tool"]) == ("unbounded-result", "web_search")


def test_no_findings_pass(run_step: Run, workspace: Path) -> None:
    (workspace / "tools.json").write_text(mcp(BOUNDED))
    repository(workspace)
    done = run_step()
    assert (done.conclusion, done.outputs["conclusion"], done.emitted) == ("success", "pass", 0), done.log
    assert results(workspace) == []


@pytest.mark.parametrize("name", ["-rf tools.json", 'it\'s "the" tools.json', "outils-été/工具.json", "--help"])
def test_odd_paths(run_step: Run, workspace: Path, name: str) -> None:
    path = workspace / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(mcp(SEARCH))
    done = run_step(paths=name)
    assert done.conclusion == "failure", done.log
    assert [a.properties["file"] for a in done.annotations] == [name]
    assert done.outputs["findings-count"] == "1"


def test_ten_of_forty_findings_are_annotated_and_the_rest_named(run_step: Run, workspace: Path) -> None:
    (workspace / "tools.json").write_text(searches(40))
    done = run_step(paths="tools.json")
    assert done.outputs["high-count"] == "40", done.log
    errors = [a for a in done.annotations if a.level == "error"]
    assert len(errors) == 10
    assert len(done.annotations) == done.emitted, "the runner dropped one"
    (rest,) = [a for a in done.annotations if "not shown as annotations" in a.message]
    shown = {int(a.properties["line"]) for a in errors}
    named = {
        int(word.strip(",;")) for word in rest.message.rpartition("lines")[2].split() if word.strip(",;").isdigit()
    }
    assert len(named) == 30
    assert not shown & named
    assert sum(f"web_search_{number}" in done.summary for number in range(40)) == 40
    assert sum(r["ruleId"] == "unbounded-result" for r in results(workspace)) == 40


def test_a_read_only_workspace_is_a_clear_error(
    engine: Engine, image: str, tree: Path, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "tools.json").write_text(mcp(SEARCH))
    done = step(
        engine, image, tree, workspace, "--volume", f"{workspace}:/read-only:ro", "--env", "GITHUB_WORKSPACE=/read-only"
    )
    assert done.code == 2
    assert done.outputs["conclusion"] == "error"
    assert done.outputs["sarif-file"] == ""
    assert done.outputs["high-count"] == "1"
    assert any("the report cannot be written: Read-only file system" in a.message for a in done.annotations), done.log
    assert sorted(path.name for path in workspace.iterdir()) == ["tools.json"]


def test_only_changed_tools_in_a_repository_that_is_somebody_elses(run_step: Run, workspace: Path) -> None:
    (workspace / "tools.json").write_text(mcp(SEARCH))
    repository(workspace)
    (workspace / "tools.json").write_text(mcp(BOUNDED, SEARCH, {**SEARCH, "name": "fetch_news"}))
    done = run_step(changed_since="HEAD")
    assert done.outputs["conclusion"] == "fail", done.log
    assert [a.properties["title"].rpartition(" ")[2] for a in done.annotations] == ["fetch_news"]


def test_a_revision_that_a_shallow_clone_lacks_is_explained(run_step: Run, workspace: Path, tmp_path: Path) -> None:
    origin = tmp_path / "origin"
    origin.mkdir()
    (origin / "tools.json").write_text(mcp(SEARCH))
    repository(origin)
    base = run("git", "rev-parse", "HEAD", cwd=origin).stdout.strip()
    (origin / "tools.json").write_text(mcp(BOUNDED))
    repository(origin)
    assert run("git", "clone", "--quiet", "--depth", "1", f"file://{origin}", workspace).returncode == 0
    done = run_step(changed_since=base)
    assert done.outputs["conclusion"] == "error"
    assert any("fetch-depth: 0" in a.message for a in done.annotations), done.log


def test_nothing_of_the_repository_is_run(run_step: Run, workspace: Path) -> None:
    (workspace / "tools.json").write_text(mcp(BOUNDED))
    for name in ("dowbench", "yaml", "click", "json", "sitecustomize"):
        (workspace / f"{name}.py").write_text("open('/github/workspace/owned', 'w')\n")
    repository(workspace)
    hook = workspace / ".git/hooks/fsmonitor-watchman"
    hook.write_text("#!/bin/sh\ntouch /github/workspace/owned\n")
    hook.chmod(0o755)
    run("git", "config", "core.fsmonitor", ".git/hooks/fsmonitor-watchman", cwd=workspace)
    done = run_step(changed_since="HEAD")
    assert done.conclusion == "success", done.log
    assert not (workspace / "owned").exists()


REFERENCE = ROOT.parent / "shared/tools/gha_emul.py"


@pytest.mark.skipif(not REFERENCE.exists(), reason="../shared/tools/gha_emul.py is not here")
def test_another_emulator_sees_the_same(engine: Engine, image: str, tree: Path, workspace: Path) -> None:
    (workspace / "tools.json").write_text(searches(12))
    ours = step(engine, image, tree, workspace)
    import sys

    done = run(
        sys.executable, REFERENCE, tree, workspace, "--image", image, "--engine", engine.client, **engine.environment
    )
    theirs = json.loads(done.stdout)
    assert theirs["conclusion"] == ours.conclusion == "failure"
    assert theirs["outputs"] == ours.outputs
    assert theirs["summary"] == ours.summary
    assert [a["message"] for a in theirs["annotations"]] == [a.message for a in ours.annotations]
    shutil.rmtree(workspace)
