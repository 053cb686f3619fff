"""action.yml, workflows, hooks and Dockerfile before the programs that know their rules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import yaml
from kit import ROOT, run

if TYPE_CHECKING:
    from pathlib import Path

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def assert_clean(*command: str | Path) -> None:
    done = run(*command, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_workflows() -> None:
    assert {path.name for path in WORKFLOWS} >= {"ci.yml", "dogfood.yml", "release.yml"}


@pytest.mark.parametrize(
    ("schema", "paths"),
    [
        ("vendor.github-workflows", WORKFLOWS),
        ("vendor.github-actions", [ROOT / "action.yml"]),
        ("vendor.dependabot", [ROOT / ".github/dependabot.yml"]),
    ],
)
def test_schema(tools: Path, schema: str, paths: list[Path]) -> None:
    assert_clean(tools / "check-jsonschema", "--builtin-schema", schema, *paths)


def test_zizmor(tools: Path) -> None:
    others = ("action.yml", ".github/dependabot.yml", ".pre-commit-hooks.yaml")
    assert_clean(tools / "zizmor", "--offline", "--no-progress", "--strict-collection", *WORKFLOWS, *others)


def test_hadolint(tools: Path) -> None:
    assert_clean(tools / "hadolint", "Dockerfile")


def test_hooks_manifest(tools: Path) -> None:
    assert_clean(tools / "pre-commit", "validate-manifest", ".pre-commit-hooks.yaml")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_foreign_actions_are_pinned_by_commit_with_their_version(path: Path) -> None:
    used = re.findall(r"uses: (.+)", path.read_text())
    assert used
    for use in used:
        assert use.startswith("./ ") or re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use), use


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_permissions_are_given_job_by_job(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {}
    for job in workflow["jobs"].values():
        assert job["permissions"]
        assert job["timeout-minutes"] <= 45


def test_workflow_of_the_readme(tools: Path, tmp_path: Path) -> None:
    blocks = re.findall(r"^```yaml\n(.*?)^```", (ROOT / "README.md").read_text(), flags=re.M | re.S)
    (workflow,) = [block for block in blocks if block.startswith("name:")]
    (tmp_path / "workflow.yml").write_text(workflow)
    assert_clean(tools / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", tmp_path / "workflow.yml")
    used = re.findall(r"uses: (\S+)@(.*)", "".join(blocks))
    assert {name for name, _ in used} >= {"dowbench/dowbench", "github/codeql-action/upload-sarif"}
    for name, version in used:
        pattern = r"v\d+" if name == "dowbench/dowbench" else r"[0-9a-f]{40} # v\d+\.\d+\.\d+"
        assert re.fullmatch(pattern, version), name
