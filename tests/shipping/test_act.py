"""A whole workflow that uses the Action, run by act, in the form that a release has: the image is named, not built."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from engine import base_name
from kit import repository, run
from workbench import BOUNDED, SEARCH
from workspaces import mcp

if TYPE_CHECKING:
    from pathlib import Path

    from engine import Engine

WORKFLOW = """\
on: push
jobs:
  scan:
    runs-on: ubuntu-latest
    steps:
      - id: scan
        uses: dowbench/dowbench@v0
        with:
          paths: |
            {path}
          sarif-file: reports/out.sarif
      - if: ${{{{ always() }}}}
        env:
          OUTCOME: ${{{{ steps.scan.outcome }}}}
          CONCLUSION: ${{{{ steps.scan.outputs.conclusion }}}}
          HIGH: ${{{{ steps.scan.outputs.high-count }}}}
          SARIF: ${{{{ steps.scan.outputs.sarif-file }}}}
        run: |
          echo "seen: $OUTCOME $CONCLUSION $HIGH $SARIF"
          test -s "$SARIF" && echo "report is there"
"""


@pytest.fixture(scope="module")
def released(image: str, tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository at a release: action.yml names the published image."""
    folder = tmp_path_factory.mktemp("released")
    text = (tree / "action.yml").read_text()
    assert text.count("  image: Dockerfile\n") == 1
    (folder / "action.yml").write_text(text.replace("  image: Dockerfile\n", f"  image: docker://{image}\n"))
    return repository(folder)


@pytest.mark.parametrize(
    ("path", "tool", "seen", "code"),
    [
        ("tools.json", SEARCH, "failure fail 1 reports/out.sarif", 1),
        ("tools.json", BOUNDED, "success pass 0 reports/out.sarif", 0),
        ('-it\'s "été" tools.json', SEARCH, "failure fail 1 reports/out.sarif", 1),
    ],
    ids=["findings", "none", "odd path"],
)
def test_workflow(
    engine: Engine,
    released: Path,
    tools: Path,
    tmp_path: Path,
    path: str,
    tool: dict[str, str],
    seen: str,
    code: int,
) -> None:
    workspace = tmp_path / "consumer"
    (workspace / ".github/workflows").mkdir(parents=True)
    (workspace / ".github/workflows/scan.yml").write_text(WORKFLOW.format(path=path))
    (workspace / path).write_text(mcp(tool))
    repository(workspace)
    done = run(
        *(tools / "act", "push", "--platform", f"ubuntu-latest={base_name()}", "--pull=false"),
        *("--bind", "--rm", "--network", "host"),
        *("--local-repository", f"dowbench/dowbench@v0={released}", "--container-daemon-socket", "-"),
        *("--action-cache-path", tmp_path / "actions", "--cache-server-path", tmp_path / "cache", "--no-cache-server"),
        cwd=workspace,
        HOME=str(tmp_path),
        **engine.environment,
    )
    log = done.stdout + done.stderr
    assert f"seen: {seen}" in log, log
    assert "report is there" in log
    assert done.returncode == code, log
    assert ("unbounded-result" in log) == bool(code)
    assert bool(re.search(r"(?i)error.*unbounded-result", log)) == bool(code), log
