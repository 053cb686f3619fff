"""The image as somebody runs it by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from engine import base_name
from workbench import BOUNDED, SEARCH
from workspaces import mcp

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from engine import Engine

LOCKED_DOWN = ("--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")


def test_it_is_a_small_layer_on_its_base(engine: Engine, image: str, say: Callable[[str], None]) -> None:
    sizes = [int(engine("image", "inspect", "--format", "{{.Size}}", name)) for name in (image, base_name())]
    added = sizes[0] - sizes[1]
    say(f"image: {sizes[0]:,} bytes, {added:,} over its base")
    assert 0 < added < 20_000_000


def test_it_is_labelled(engine: Engine, image: str) -> None:
    labels = json.loads(engine("image", "inspect", "--format", "{{json .Config.Labels}}", image))
    for name in ("title", "description", "licenses", "source", "version", "revision", "base.name"):
        assert labels[f"org.opencontainers.image.{name}"]


def test_it_scans_without_network_and_without_a_writable_file_system(
    engine: Engine, image: str, tmp_path: Path
) -> None:
    (tmp_path / "tools.json").write_text(mcp(SEARCH, BOUNDED))
    mounted = (*LOCKED_DOWN, "--rm", "--volume", f"{tmp_path}:/src:ro", image)
    done = engine.run("run", *mounted, "scan", "--fail-on", "high", "--format", "json")
    assert done.returncode == 1, done.stderr
    (finding,) = json.loads(done.stdout)["findings"]
    assert (finding["rule"], finding["tool"], finding["path"]) == ("unbounded-result", "web_search", "tools.json")
    assert engine.run("run", *mounted).returncode == 0


def test_it_scans_for_any_user(engine: Engine, image: str, tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(mcp(SEARCH))
    tmp_path.chmod(0o755)
    done = engine.run("run", *LOCKED_DOWN, "--rm", "--user", "1234:1234", "--volume", f"{tmp_path}:/src:ro", image)
    assert done.returncode == 0, done.stderr
    assert "unbounded-result" in done.stdout


def test_what_the_scanner_does_not_need_is_not_in_it(engine: Engine, image: str) -> None:
    listed = engine("run", "--rm", "--entrypoint", "/bin/sh", image, "-c", "find / -xdev -type f")
    paths = listed.splitlines()
    for program in ("gcc", "cc", "git-remote-https"):
        assert not [path for path in paths if path.endswith(f"/{program}")], program
    ours = [path for path in paths if path.startswith(("/opt/", "/src/"))]
    for part in ("dowbench_benchmark", ".git", "Dockerfile", "tests", "fixtures", "pip"):
        assert not [path for path in ours if part in path.split("/")], part
    assert any(path.endswith("/dowbench/scan.py") for path in paths)
    assert any(path.endswith("/dowbench/__pycache__/scan.cpython-313.pyc") for path in paths)


def test_git_works_as_far_as_it_is_needed(engine: Engine, image: str, tree: Path) -> None:
    git = ("run", *LOCKED_DOWN, "--rm", "--volume", f"{tree}:/src:ro", "--entrypoint", "/usr/bin/git", image)
    trusted = ("-c", "safe.directory=*")
    assert "action.yml" in engine(*git, *trusted, "ls-files")
    assert len(engine(*git, *trusted, "rev-parse", "HEAD").strip()) == 40
    assert "using: docker" in engine(*git, *trusted, "cat-file", "blob", "HEAD:action.yml")
