"""What GitHub's runner does around one docker action, as far as the action can tell.

After ContainerActionHandler and FileCommandManager of actions/runner: inputs become variables, the workspace and the
command files are mounted, and only a part of what the action says is kept.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from kit import run

if TYPE_CHECKING:
    from engine import Engine

KEPT = 10
"""Annotations of a level that the runner keeps for a step."""
SUMMARY_LIMIT = 1024 * 1024
_COMMAND = re.compile(r"::(error|warning|notice)(?: ([^\r\n]*?))?::(.*)")
_FILES = ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY")


@dataclass(frozen=True)
class Annotation:
    """What stands beside a line of a pull request."""

    level: str
    message: str
    properties: dict[str, str]


@dataclass(frozen=True)
class Step:
    """What became of the step."""

    code: int
    outputs: dict[str, str]
    annotations: list[Annotation]
    """Only those that the runner keeps."""
    emitted: int
    """How many there were before that."""
    summary: str
    log: str

    @property
    def conclusion(self) -> str:
        return "failure" if self.code else "success"


def step(
    engine: Engine, image: str, action: Path, workspace: Path, *options: str, inputs: dict[str, str] | None = None
) -> Step:
    """Run the action in ``action`` (a folder with action.yml), already built as ``image``, on ``workspace``."""
    declared: dict[str, Any] = yaml.safe_load((action / "action.yml").read_text())
    values = {name: str((given or {}).get("default", "")) for name, given in declared["inputs"].items()}
    unknown = set(inputs or {}) - set(values)
    assert not unknown, f"the action declares no input {unknown}"
    values |= inputs or {}
    with tempfile.TemporaryDirectory(prefix="dowbench-runner-", ignore_cleanup_errors=True) as temporary:
        folders = {name: Path(temporary) / name for name in ("home", "workflow", "file_commands", "runner_temp")}
        for folder in folders.values():
            folder.mkdir()
        for file in _FILES:
            (folders["file_commands"] / file).touch()
        variables = {
            **{f"INPUT_{name.replace(' ', '_').upper()}": value for name, value in values.items()},
            **{file: f"/github/file_commands/{file}" for file in _FILES},
            "HOME": "/github/home",
            "GITHUB_WORKSPACE": "/github/workspace",
            "GITHUB_ACTIONS": "true",
            "CI": "true",
            "GITHUB_EVENT_NAME": "push",
            "RUNNER_OS": "Linux",
            "RUNNER_TEMP": "/github/runner_temp",
        }
        mounts = {**folders, "workspace": workspace}
        done = run(
            *(
                engine.client,
                "run",
                "--rm",
                "--workdir",
                "/github/workspace",
                "--entrypoint",
                declared["runs"]["entrypoint"],
            ),
            *(part for name in variables for part in ("--env", name)),
            *(part for name, folder in mounts.items() for part in ("--volume", f"{folder}:/github/{name}")),
            *options,
            image,
            *declared["runs"].get("args", []),
            **engine.environment,
            **variables,
        )
        log = done.stdout + done.stderr
        outputs = _file_command((folders["file_commands"] / "GITHUB_OUTPUT").read_text())
        summary = (folders["file_commands"] / "GITHUB_STEP_SUMMARY").read_text()
        untouched = ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE")
        assert not any((folders["file_commands"] / file).read_text() for file in untouched)
        assert not [*folders["home"].iterdir(), *folders["runner_temp"].iterdir(), *folders["workflow"].iterdir()]
    assert set(outputs) <= set(declared["outputs"]), "an output that is not declared"
    assert len(summary.encode()) <= SUMMARY_LIMIT, "the runner drops such a summary"
    annotations, emitted = _annotations(log)
    return Step(done.returncode, outputs, annotations, emitted, summary, log)


def _file_command(text: str) -> dict[str, str]:
    """``NAME=VALUE`` lines and ``NAME<<DELIMITER`` blocks."""
    found: dict[str, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        name, mark, rest = re.match(r"([^=<]+)(=|<<)(.*)", line).groups()  # type: ignore[union-attr]
        if mark == "<<":
            block = []
            for inner in lines:
                if inner == rest:
                    break
                block.append(inner)
            else:
                raise AssertionError(f"no end of the value of {name}")
            rest = "\n".join(block)
        found[name] = rest
    return found


def _annotations(log: str) -> tuple[list[Annotation], int]:
    """Commands outside of ``stop-commands``, of each level the first ten, each message cut to 4,096 characters."""
    kept: list[Annotation] = []
    seen = dict.fromkeys(("error", "warning", "notice"), 0)
    stopped: str | None = None
    for line in log.splitlines():
        line = line.lstrip()
        if stopped:
            stopped = None if line == f"::{stopped}::" else stopped
            continue
        if line.startswith("::stop-commands::"):
            stopped = line.removeprefix("::stop-commands::")
        elif match := _COMMAND.fullmatch(line):
            level, given, message = match.groups()
            properties = {k: _unescape(v) for k, _, v in (part.partition("=") for part in (given or "").split(","))}
            seen[level] += 1
            if seen[level] <= KEPT:
                kept.append(Annotation(level, _unescape(message)[:4096], properties))
    return kept, sum(seen.values())


def _unescape(text: str) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, character)
    return text
