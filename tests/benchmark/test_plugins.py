"""A package that is installed beside dowbench adds a provider, its mapper, a defense and an attack."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from dowbench_benchmark import plugins
from dowbench_benchmark.attacks import load_attacks

from dowbench.errors import UsageError

PACKAGE = Path(__file__).parents[2] / "fixtures" / "plugin" / "benchmark"
CONFIG = """\
run_name: parrot
provider: parrot
models: [grey]
attacks: [parrot-chatter-01]
defenses: [none, {name: answer_cap, params: {max_tokens: 10}}]
unpriced: true
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, installed for real and offline, into a directory of its own."""
    base = tmp_path_factory.mktemp("plugin")
    source = shutil.copytree(PACKAGE, base / "source")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
    options = ["--no-deps", "--no-index", "--no-build-isolation", "--target", str(base / "site")]
    done = subprocess.run([*pip, *options, str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return base / "site"


def dowbench(site: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site), "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, "-m", "dowbench", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=environment,
    )


def test_an_installed_package_is_listed(installed: Path, tmp_path: Path) -> None:
    listed = dowbench(installed, tmp_path, "list")
    assert listed.returncode == 0, listed.stderr
    for name in ("parrot-chatter-01", "answer_cap", "parrot", "stale-copy-01", "loop_detect", "mock"):
        assert any(line.split()[:1] == [name] for line in listed.stdout.splitlines()), name
    assert "answer_cap" not in dowbench(tmp_path, tmp_path, "list").stdout


def test_what_it_adds_runs_replays_and_is_audited(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "parrot.yaml").write_text(CONFIG, encoding="utf-8")
    run = dowbench(installed, tmp_path, "run", "parrot.yaml", "--out", "out", "--budget-tokens", "1000000")
    assert run.returncode == 0, run.stderr
    rows = [json.loads(line) for line in (tmp_path / "out" / "episodes.jsonl").read_text().splitlines()]
    output = {(row["kind"], row["defense"]): row["usage"]["output_tokens"] for row in rows}
    assert output["attack", "none"] > output["benign", "none"] + 300
    assert output["attack", "answer_cap"] == 11
    for command in (("replay", "out"), ("audit", "out")):
        done = dowbench(installed, tmp_path, *command)
        assert done.returncode == 0, done.stderr
        assert "equal" in done.stdout


def test_without_the_package_its_names_are_unknown(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "parrot.yaml").write_text(CONFIG, encoding="utf-8")
    run = dowbench(tmp_path, tmp_path, "run", "parrot.yaml", "--out", "out", "--budget-tokens", "1000000")
    assert run.returncode == 2
    assert "unknown" in run.stderr
    assert not (tmp_path / "out" / "episodes.jsonl").exists()


@pytest.fixture
def entry_points(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    """Entry points of packages that are not there."""
    points: list[EntryPoint] = []

    def found(*, group: str) -> list[EntryPoint]:
        return [point for point in points if point.group == group]

    monkeypatch.setattr("importlib.metadata.entry_points", found)
    plugins.installed.cache_clear()
    return points


@pytest.fixture(autouse=True)
def no_cached_entry_points() -> Any:
    yield
    plugins.installed.cache_clear()


def test_a_built_in_name_cannot_be_taken(entry_points: list[EntryPoint]) -> None:
    entry_points.append(EntryPoint("mock", "nowhere:Mock", "dowbench.providers"))
    built_in = {"mock": "dowbench_benchmark.providers.mock:MockProvider"}
    assert plugins.load("dowbench.providers", built_in, "mock").__name__ == "MockProvider"
    assert plugins.names("dowbench.providers", built_in) == ("mock",)


def test_two_packages_with_one_name_are_an_error(entry_points: list[EntryPoint]) -> None:
    entry_points.append(EntryPoint("x", "a:X", "dowbench.defenses"))
    entry_points.append(EntryPoint("x", "b:X", "dowbench.defenses"))
    with pytest.raises(UsageError, match=r"dowbench\.defenses: 'x' is defined twice, as a:X and as b:X"):
        plugins.names("dowbench.defenses", {})


def test_a_broken_package_is_named(entry_points: list[EntryPoint]) -> None:
    entry_points.append(EntryPoint("x", "no_such_module_here:X", "dowbench.defenses"))
    with pytest.raises(UsageError, match="the plug-in 'x' cannot be loaded: ModuleNotFoundError: No module named"):
        plugins.load("dowbench.defenses", {}, "x")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("math:pi", "the plug-in 'x' gives no directory of YAML files, but 3.14"),
        ("os:linesep", "the plug-in 'x' gives no directory of YAML files, but"),
        ("json:loads", "the plug-in 'x' cannot give its directory: TypeError: "),
    ],
)
def test_attacks_must_be_a_directory(entry_points: list[EntryPoint], value: str, said: str) -> None:
    entry_points.append(EntryPoint("x", value, "dowbench.attacks"))
    with pytest.raises(UsageError, match=said):
        load_attacks()
