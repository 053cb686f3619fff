"""The GitHub Action: inputs from the environment, reports into files, outputs and summary for the runner.

The runner hands each input over as ``INPUT_`` and its upper-case name, hyphens kept, which a shell would drop: hence no
shell anywhere. An input is a value wherever it goes; none is ever parsed as an option. Nothing is written outside the
workspace but what the runner asked for (``GITHUB_OUTPUT``, ``GITHUB_STEP_SUMMARY``), and what is written belongs to the
workspace's owner, since the container runs as root.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from dowbench import baseline, configfile, scan
from dowbench import config as configs
from dowbench.discover import STDIN
from dowbench.errors import DowbenchError, UsageError
from dowbench.inputs import shown
from dowbench.model import SEVERITIES
from dowbench.output import check_replaceable, replace_file
from dowbench.report import ReportOptions, render
from dowbench.report.escape import markdown, visible
from dowbench.report.github import command
from dowbench.report.markdown import MAX_BYTES
from dowbench.report.written import is_report

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dowbench.config import Config
    from dowbench.model import ScanResult, Severity

CONCLUSIONS = ("pass", "fail", "error")
"""By exit code."""
_TRUTH = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the workflow asked for."""

    paths: tuple[str, ...]
    config: str
    loader: str
    fail_on: Severity | Literal["none"]
    baseline: str
    changed_since: str
    sarif_file: str
    annotations: bool
    summary: bool

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Inputs:
        """The inputs as the runner passes them. Raises ``UsageError`` for a value that is none of the allowed ones."""

        def text(name: str, default: str = "") -> str:
            return environment.get(f"INPUT_{name.upper()}", "").strip() or default

        def flag(name: str) -> bool:
            value = text(name, "true")
            if value.lower() not in _TRUTH:
                raise UsageError(f"input {name}: expected true or false, not {value!r}")
            return _TRUTH[value.lower()]

        fail_on = text("fail-on", "high")
        if fail_on not in (*SEVERITIES, "none"):
            raise UsageError(f"input fail-on: expected high, medium, low or none, not {fail_on!r}")
        return cls(
            paths=tuple(line.strip() for line in text("paths").splitlines() if line.strip()),
            config=text("config"),
            loader=text("loader", "auto"),
            fail_on=cast("Severity | Literal['none']", fail_on),
            baseline=text("baseline"),
            changed_since=text("changed-since"),
            # Here an empty value is a choice of its own: no report.
            sarif_file=environment.get("INPUT_SARIF-FILE", "dowbench.sarif").strip(),
            annotations=flag("annotations"),
            summary=flag("summary"),
        )


def main() -> None:
    """Run the Action in this process's environment and exit with its code."""
    sys.exit(run(os.environ))


def run(environment: Mapping[str, str]) -> int:
    """Run the Action and return the exit code: 0 pass, 1 fail, 2 error. Changes to the workspace's folder."""
    outputs = dict.fromkeys(
        ("findings-count", *(f"{severity}-count" for severity in SEVERITIES), "sarif-file"),
        "",
    )
    try:
        code = _run(environment, outputs)
    except DowbenchError as error:
        code = _failed(environment, error)
    except Exception as error:
        if environment.get("RUNNER_DEBUG") == "1":
            import traceback

            traceback.print_exc()
        code = _failed(environment, UsageError(f"internal error, please report it: {type(error).__name__}: {error}"))
    try:
        _append_outputs(environment, {**outputs, "conclusion": CONCLUSIONS[code]})
    except OSError as error:
        _print([command("error", f"the outputs cannot be written: {error.strerror}", title="dowbench")])
        return 2
    return code


def _run(environment: Mapping[str, str], outputs: dict[str, str]) -> int:
    inputs = Inputs.read(environment)
    workspace = Path(environment.get("GITHUB_WORKSPACE") or os.curdir)
    try:
        os.chdir(workspace)
    except OSError as error:
        raise UsageError(f"the workspace {workspace} cannot be entered: {error.strerror}") from None
    target = _inside(Path(inputs.sarif_file)) if inputs.sarif_file else None
    config = _config(inputs)
    result = _scan(inputs, config)
    options = ReportOptions(root=Path())
    code = scan.exit_code(result, config.fail_on)

    outputs["findings-count"] = str(len(result.findings))
    for severity in SEVERITIES:
        outputs[f"{severity}-count"] = str(result.count(severity))
    token = secrets.token_hex(16)  # no tool's name in the report can be taken for a workflow command
    _print([f"::stop-commands::{token}", render("text", result, options), f"::{token}::"])
    if inputs.annotations:
        _print([render("github", result, options)])
    if inputs.summary:
        _append_summary(environment, render("markdown", result, options))
    if target is not None:
        known = _baseline(inputs, config)
        read = [*scan.files_read(result, config), *([str(known)] if known else [])]
        _write(target, render("sarif", result, options), read)
        outputs["sarif-file"] = target.as_posix()
    return code


def _config(inputs: Inputs) -> Config:
    path = Path(inputs.config) if inputs.config else configs.find(Path.cwd())
    config = configfile.load(path, shown=shown(str(path))) if path else configs.Config()
    if path and not inputs.config:
        config = replace(config, unread=configs.unread(path))
    given = {"fail_on": inputs.fail_on, **({"loader": inputs.loader} if inputs.loader != "auto" else {})}
    return config.under(**given)


def _baseline(inputs: Inputs, config: Config) -> Path | None:
    if inputs.baseline:
        return Path(inputs.baseline)
    return config.base / config.baseline if config.baseline else None


def _scan(inputs: Inputs, config: Config) -> ScanResult:
    known = _baseline(inputs, config)
    # "-" is standard input for the command line; here it can only be a file of that name.
    paths = [f"./{path}" if path == STDIN else path for path in inputs.paths]
    return scan.scan(
        paths, config, changed_since=inputs.changed_since or None, known=baseline.load(known) if known else None
    )


def _inside(path: Path) -> Path:
    """``path`` relative to the working directory. Raises ``UsageError`` when it, links followed, leads out of it."""
    here = Path.cwd().resolve()
    target = (here / path).parent.resolve() / path.name
    if not path.name or path.name == ".." or not target.is_relative_to(here) or target.is_dir():
        raise UsageError(f"input sarif-file: expected a file inside the workspace, not {str(path)!r}")
    return target.relative_to(here)


def _write(path: Path, text: str, inputs: Iterable[str]) -> None:
    """Put ``text`` into ``path``, in one step, for the workspace's owner. Raises ``UsageError``."""
    try:
        if not path.is_symlink():  # which is replaced, and not followed
            check_replaceable(path, inputs, is_report)
        owner = os.stat(os.curdir)  # noqa: PTH116
        for folder in reversed(path.parents[:-1]):
            if not folder.is_dir():
                folder.mkdir()
                _give(folder, owner)
        replace_file(path, text.encode("utf-8", "backslashreplace"), None, lambda file: _give(file, owner))
    except OSError as error:
        raise UsageError(f"the report cannot be written: {error.strerror}", path=path.as_posix()) from None


def _give(path: Path, owner: os.stat_result) -> None:
    if hasattr(os, "chown") and os.geteuid() == 0:
        os.chown(path, owner.st_uid, owner.st_gid)


def _append_outputs(environment: Mapping[str, str], outputs: Mapping[str, str]) -> None:
    file = environment.get("GITHUB_OUTPUT")
    if not file:
        return
    lines = []
    for name, value in outputs.items():
        delimiter = f"dowbench_{secrets.token_hex(16)}"
        lines.append(f"{name}<<{delimiter}\n{value}\n{delimiter}\n")
    with Path(file).open("a", encoding="utf-8", errors="backslashreplace") as stream:
        stream.writelines(lines)


def _append_summary(environment: Mapping[str, str], text: str) -> None:
    """Add a page to the summary of the job. One that is too long is cut, and says so."""
    file = environment.get("GITHUB_STEP_SUMMARY")
    if not file:
        return
    data = text.encode("utf-8", "backslashreplace")
    if len(data) > MAX_BYTES:
        note = "\n\nThis page was cut: it was too long for a summary.\n"
        data = data[: MAX_BYTES - len(note)].decode("utf-8", "ignore").encode() + note.encode()
    try:
        with Path(file).open("ab") as stream:
            stream.write(data)
    except OSError as error:
        raise UsageError(f"the summary cannot be written: {error.strerror}", path=file) from None


def _failed(environment: Mapping[str, str], error: DowbenchError) -> int:
    """Say what stopped the Action, in the log, as an annotation and in the summary."""
    properties: dict[str, str | int] = {}
    if error.path:
        properties["file"] = error.path
        if error.line is not None:
            properties["line"] = error.line
    message = error.message if error.path is None else str(error)
    _print([f"error: {visible(str(error))}", command("error", message, **properties, title="dowbench")])
    with contextlib.suppress(UsageError):
        _append_summary(environment, f"## dowbench: error\n\n{markdown(str(error))}\n")
    return 2


def _print(texts: Iterable[str]) -> None:
    """To the log, as UTF-8 whatever the locale is."""
    sys.stdout.flush()
    for text in texts:
        line = text if text.endswith("\n") or not text else text + "\n"
        sys.stdout.buffer.write(line.encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
