"""The Action's entry point as the runner calls it: environment in, files and exit code out."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from workbench import BOUNDED, SEARCH

from dowbench import action
from dowbench.report.markdown import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the Action runs in a container of Linux")

ROOT = Path(__file__).parents[1]
DECLARED = yaml.safe_load((ROOT / "action.yml").read_text())


def tools(*definitions: Mapping[str, Any]) -> str:
    return json.dumps({"tools": definitions}, indent=1)


class Runner:
    """What actions/runner does around one docker action, without the container."""

    def __init__(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.workspace = folder / "work space"
        self.workspace.mkdir()
        (self.workspace / ".git").mkdir()
        self.files = {name: folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        self._capfd = capfd
        self.log = ""

    def run(self, **given: str) -> int:
        for file in self.files.values():
            file.write_text("")
        environment = {"GITHUB_WORKSPACE": str(self.workspace), **{k: str(v) for k, v in self.files.items()}}
        inputs = {name: declared.get("default", "") for name, declared in DECLARED["inputs"].items()}
        inputs |= {name.replace("_", "-"): value for name, value in given.items()}
        environment |= {f"INPUT_{name.replace(' ', '_').upper()}": value for name, value in inputs.items()}
        code = action.run(environment)
        self.log = self._capfd.readouterr().out
        return code

    @property
    def outputs(self) -> dict[str, str]:
        text = self.files["GITHUB_OUTPUT"].read_text()
        found = re.findall(r"^([\w-]+)<<(\S+)\n(.*?)\n\2$", text, flags=re.M | re.S)
        assert len({delimiter for _, delimiter, _ in found}) == len(found)
        return {name: value for name, _, value in found}

    @property
    def summary(self) -> str:
        return self.files["GITHUB_STEP_SUMMARY"].read_text()

    def annotations(self, level: str = "error") -> list[str]:
        return [line for line in self.log.splitlines() if line.startswith(f"::{level} ")]


@pytest.fixture
def runner(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Runner:
    monkeypatch.chdir(tmp_path)
    return Runner(tmp_path, capfd)


def test_outputs_are_those_that_are_declared(runner: Runner) -> None:
    (runner.workspace / "tools.json").write_text(tools(BOUNDED))
    assert runner.run() == 0
    assert set(runner.outputs) == set(DECLARED["outputs"])


def test_inputs_that_are_declared_are_those_that_are_read() -> None:
    asked: set[str] = set()

    class Asked(dict[str, str]):
        def get(self, key: str, default: Any = None) -> Any:
            asked.add(key)
            return default

    action.Inputs.read(Asked())
    assert asked == {f"INPUT_{name.upper()}" for name in DECLARED["inputs"]}


def test_declared_defaults_are_the_codes_own() -> None:
    declared = {f"INPUT_{name.upper()}": given["default"] for name, given in DECLARED["inputs"].items()}
    assert action.Inputs.read(declared) == action.Inputs.read({})


def test_the_readme_knows_every_input_and_output() -> None:
    section = (ROOT / "README.md").read_text().partition("## GitHub Action")[2].partition("\n## ")[0]
    table = dict(re.findall(r"^\| `([\w-]+)` \| (.*?) \|", section, flags=re.M))
    assert set(table) == set(DECLARED["inputs"])
    for name, declared in DECLARED["inputs"].items():
        if declared["default"]:
            assert f"`{declared['default']}`" in table[name], name
    outputs = section.partition("Outputs:")[2].partition("\n\n")[0]
    assert set(re.findall(r"`([\w-]+)`", outputs)) >= set(DECLARED["outputs"])


def test_a_finding_at_the_threshold_fails_after_all_reports_were_written(runner: Runner) -> None:
    (runner.workspace / "tools.json").write_text(tools(SEARCH, BOUNDED))
    assert runner.run() == 1
    assert runner.outputs["conclusion"] == "fail"
    assert runner.outputs["findings-count"] == "1"
    assert runner.outputs["high-count"] == "1"
    assert runner.outputs["sarif-file"] == "dowbench.sarif"
    (annotation,) = runner.annotations()
    assert annotation.startswith("::error file=tools.json,line=3,")
    assert "unbounded-result" in runner.summary
    (result,) = json.loads((runner.workspace / "dowbench.sarif").read_text())["runs"][0]["results"]
    assert (result["ruleId"], result["properties"]["tool"]) == ("unbounded-result", "web_search")
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "tools.json"


def test_no_finding_passes(runner: Runner) -> None:
    (runner.workspace / "tools.json").write_text(tools(BOUNDED))
    assert runner.run() == 0
    assert runner.outputs["conclusion"] == "pass"
    assert runner.outputs["findings-count"] == "0"
    assert runner.annotations() == []
    assert json.loads((runner.workspace / "dowbench.sarif").read_text())["runs"][0]["results"] == []


def test_findings_below_the_threshold_are_reported_and_pass(runner: Runner) -> None:
    (runner.workspace / "tools.json").write_text(tools(SEARCH))
    assert runner.run(fail_on="none") == 0
    assert runner.outputs["conclusion"] == "pass"
    assert runner.outputs["high-count"] == "1"
    assert len(runner.annotations()) == 1


def test_a_file_that_cannot_be_scanned_is_an_error_and_the_rest_is_scanned(runner: Runner) -> None:
    (runner.workspace / "good.json").write_text(tools(SEARCH))
    (runner.workspace / "bad.json").write_text('{"tools": [\n{"name": }\n]}')
    assert runner.run(paths="good.json\nbad.json") == 2
    assert runner.outputs["conclusion"] == "error"
    assert runner.outputs["high-count"] == "1"
    assert any(line.startswith("::error file=bad.json,line=2,") for line in runner.annotations())
    run = json.loads((runner.workspace / "dowbench.sarif").read_text())["runs"][0]
    assert [r["ruleId"] for r in run["results"]] == ["unbounded-result"]
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert [n["level"] for n in notes] == ["error"]


@pytest.mark.parametrize(
    "name",
    ["-rf.json", "--fail-on=none.json", "a b.json", 'it\'s "quoted".json', "工具-été.json", "-", "$(touch owned).json"],
)
def test_a_path_is_a_value_whatever_it_looks_like(runner: Runner, name: str) -> None:
    (runner.workspace / name).write_text(tools(SEARCH))
    (runner.workspace / "other.json").write_text(tools(SEARCH))
    assert runner.run(paths=f"\n  {name}\n") == 1
    assert runner.outputs["findings-count"] == "1"
    (annotation,) = runner.annotations()
    assert annotation.startswith(f"::error file={name},line=")
    assert not (runner.workspace / "owned").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"fail_on": "--help"}, "input fail-on: expected high, medium, low or none, not '--help'"),
        ({"annotations": "yes"}, "input annotations: expected true or false, not 'yes'"),
        ({"summary": "1"}, "input summary: expected true or false, not '1'"),
        ({"config": "nowhere.yaml"}, "nowhere.yaml"),
        ({"baseline": "nowhere.json"}, "nowhere.json"),
        ({"loader": "cobol"}, "cobol"),
        ({"paths": "nowhere.json"}, "nowhere.json"),
        ({"sarif_file": "../out.sarif"}, "input sarif-file: expected a file inside the workspace, not '../out.sarif'"),
        ({"sarif_file": "/tmp/out.sarif"}, "input sarif-file: expected a file inside the workspace"),
        ({"sarif_file": ".."}, "input sarif-file: expected a file inside the workspace"),
        ({"sarif_file": "link/out.sarif"}, "input sarif-file: expected a file inside the workspace"),
    ],
)
def test_bad_input_is_one_clear_error(runner: Runner, given: dict[str, str], said: str) -> None:
    (runner.workspace / "tools.json").write_text(tools(BOUNDED))
    (runner.workspace / "link").symlink_to("..")
    before = sorted(runner.workspace.parent.iterdir())
    assert runner.run(**given) == 2
    assert runner.outputs["conclusion"] == "error"
    (annotation,) = runner.annotations()
    assert said.replace(":", "%3A") in annotation or said in annotation
    assert "Traceback" not in runner.log
    assert sorted(runner.workspace.parent.iterdir()) == sorted({*before, *runner.files.values()})


def test_a_setting_of_the_configuration_is_named_with_its_line(runner: Runner) -> None:
    (runner.workspace / "dowbench.yaml").write_text("tier: default\nselekt: [x]\n")
    assert runner.run() == 2
    (annotation,) = runner.annotations()
    assert annotation.startswith("::error file=dowbench.yaml,line=2,")
    assert runner.outputs["findings-count"] == ""
    assert runner.outputs["sarif-file"] == ""
    assert "dowbench: error" in runner.summary


def test_an_input_that_is_wrong_is_not_looked_for_in_the_configuration(runner: Runner) -> None:
    (runner.workspace / "tools.json").write_text(tools(BOUNDED))
    (runner.workspace / "dowbench.yaml").write_text("tier: default\nloader: mcp\n")
    assert runner.run(loader="cobol") == 2
    (annotation,) = runner.annotations()
    assert "there is no format 'cobol'" in annotation
    assert "dowbench.yaml" not in annotation
    (runner.workspace / "dowbench.yaml").write_text("tier: default\nloader: cobol\n")
    assert runner.run(loader="mcp") == 2
    (annotation,) = runner.annotations()
    assert annotation.startswith("::error file=dowbench.yaml,line=2,")


def test_a_configuration_that_another_one_hides_is_named(runner: Runner) -> None:
    (runner.workspace / "tools.json").write_text(tools(BOUNDED))
    for name in ("dowbench.yaml", "dowbench.yml"):
        (runner.workspace / name).touch()
    assert runner.run() == 0
    assert "dowbench.yml: not read: the configuration is dowbench.yaml" in runner.log
    assert "`dowbench.yml` not read: " in runner.summary


def test_the_report_in_the_log_cannot_give_commands(runner: Runner) -> None:
    (runner.workspace / "tools.json").write_text(tools({**SEARCH, "name": "web_search\n::notice::pages"}))
    assert runner.run() == 1
    inside = re.search(r"^::stop-commands::(\w+)\n(.*)^::\1::$", runner.log, flags=re.M | re.S)
    assert inside
    assert "unbounded-result" in inside[2]
    assert not re.search(r"^\s*::notice::pages", runner.log, flags=re.M)


def test_reports_can_be_switched_off(runner: Runner) -> None:
    (runner.workspace / "tools.json").write_text(tools(SEARCH))
    assert runner.run(annotations="false", summary="False", sarif_file="") == 1
    assert runner.annotations() == []
    assert runner.summary == ""
    assert runner.outputs["sarif-file"] == ""
    assert sorted(p.name for p in runner.workspace.iterdir()) == [".git", "tools.json"]


def test_the_sarif_file_may_lie_in_a_new_folder(runner: Runner) -> None:
    (runner.workspace / "tools.json").write_text(tools(SEARCH))
    assert runner.run(sarif_file="./reports/new/r.sarif") == 1
    assert runner.outputs["sarif-file"] == "reports/new/r.sarif"
    assert (runner.workspace / "reports/new/r.sarif").is_file()
    assert [p.name for p in (runner.workspace / "reports/new").iterdir()] == ["r.sarif"]


def test_the_name_of_the_sarif_file_may_be_as_long_as_a_name_may_be(runner: Runner) -> None:
    (runner.workspace / "tools.json").write_text(tools(SEARCH))
    assert runner.run(sarif_file="x" * 255) == 1
    assert (runner.workspace / ("x" * 255)).is_file()


def test_a_link_in_the_place_of_the_report_is_replaced_and_not_followed(runner: Runner, tmp_path: Path) -> None:
    (runner.workspace / "tools.json").write_text(tools(BOUNDED))
    (tmp_path / "precious").write_text("kept")
    (runner.workspace / "dowbench.sarif").symlink_to(tmp_path / "precious")
    assert runner.run() == 0
    assert (tmp_path / "precious").read_text() == "kept"
    assert not (runner.workspace / "dowbench.sarif").is_symlink()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away")
def test_what_is_written_belongs_to_the_workspaces_owner(runner: Runner) -> None:
    (runner.workspace / "tools.json").write_text(tools(SEARCH))
    os.chown(runner.workspace, 1234, 2345)
    assert runner.run(sarif_file="reports/r.sarif") == 1
    for path in (runner.workspace / "reports", runner.workspace / "reports/r.sarif"):
        assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)
    assert (runner.workspace / "reports/r.sarif").stat().st_mode & 0o444 == 0o444


def test_a_report_that_cannot_be_written_is_an_error_and_the_findings_are_still_told(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    (runner.workspace / "tools.json").write_text(tools(SEARCH))

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(action.Path, "replace", refuse)
    assert runner.run() == 2
    assert runner.outputs["conclusion"] == "error"
    assert runner.outputs["high-count"] == "1"
    assert runner.outputs["sarif-file"] == ""
    assert "::error file=dowbench.sarif,title=dowbench::dowbench.sarif: the report cannot be written: Read-only" in (
        runner.log
    )
    assert "unbounded-result" in runner.summary


def test_a_summary_that_is_too_long_is_cut(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    action._append_summary({"GITHUB_STEP_SUMMARY": str(runner.files["GITHUB_STEP_SUMMARY"])}, "é" * 600_000)
    data = runner.files["GITHUB_STEP_SUMMARY"].read_bytes()
    assert len(data) <= MAX_BYTES
    assert data.decode().endswith("it was too long for a summary.\n")


def test_many_findings_are_all_counted_and_none_is_lost_without_a_word(runner: Runner) -> None:
    (runner.workspace / "tools.json").write_text(tools(*({**SEARCH, "name": f"search_web_{i}"} for i in range(40))))
    assert runner.run(paths="tools.json") == 1
    assert runner.outputs["high-count"] == "40"
    assert len(runner.annotations()) == 10
    rest = runner.annotations("notice")[-1]
    assert "not shown as annotations (30 error" in rest
    results = json.loads((runner.workspace / "dowbench.sarif").read_text())["runs"][0]["results"]
    assert sum(r["ruleId"] == "unbounded-result" for r in results) == 40


def test_known_findings_pass_and_are_counted(runner: Runner) -> None:
    (runner.workspace / "tools.json").write_text(tools(SEARCH))
    (runner.workspace / "known.json").write_text(
        json.dumps(
            {
                "schema": "dowbench.baseline/1",
                "findings": [
                    {"rule": "unbounded-result", "path": "tools.json", "tool": "web_search", "parameter": None}
                ],
            }
        )
    )
    assert runner.run(paths="tools.json", baseline="known.json") == 0
    assert runner.outputs["findings-count"] == "0"
    (result,) = json.loads((runner.workspace / "dowbench.sarif").read_text())["runs"][0]["results"]
    assert result["suppressions"][0]["kind"] == "external"


def test_only_what_changed_since_a_revision(runner: Runner) -> None:
    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        done = subprocess.run(["git", *identity, *arguments], cwd=runner.workspace, capture_output=True, check=True)
        return done.stdout.decode().strip()

    (runner.workspace / ".git").rmdir()
    git("init", "-q")
    (runner.workspace / "tools.json").write_text(tools(SEARCH))
    git("add", ".")
    git("commit", "-q", "-m", "one")
    base = git("rev-parse", "HEAD")
    (runner.workspace / "tools.json").write_text(tools(BOUNDED, SEARCH, {**SEARCH, "name": "fetch_news"}))
    assert runner.run(changed_since=base) == 1
    (annotation,) = runner.annotations()
    assert "fetch_news" in annotation
    assert runner.run(changed_since="--output=x") == 2
    assert "'--output=x' is no revision" in runner.log
    assert not (runner.workspace / "x").exists()


@pytest.mark.parametrize("name", ["./tools.json", "same.json", "broken.json", "dowbench.yaml", "known.json"])
def test_the_report_replaces_no_file_that_was_read(runner: Runner, name: str) -> None:
    (runner.workspace / "tools.json").write_text(tools(BOUNDED))
    (runner.workspace / "same.json").hardlink_to(runner.workspace / "tools.json")
    (runner.workspace / "broken.json").write_text('{"tools": [')
    (runner.workspace / "dowbench.yaml").write_text("baseline: known.json\n")
    (runner.workspace / "known.json").write_text(json.dumps({"schema": "dowbench.baseline/1", "findings": []}))
    before = (runner.workspace / name).read_bytes()
    assert runner.run(paths="tools.json\nbroken.json", sarif_file=name) == 2
    assert (runner.workspace / name).read_bytes() == before
    assert "not written: it is one of the files that were read" in runner.log
    assert runner.outputs["conclusion"] == "error"


def test_the_report_replaces_a_report_and_no_file_of_the_project(runner: Runner) -> None:
    (runner.workspace / "tools.json").write_text(tools(BOUNDED))
    (runner.workspace / "package.json").write_text('{"name": "x"}')
    assert runner.run(sarif_file="package.json") == 2
    assert "package.json: not written: there is a file that dowbench did not write" in runner.log
    assert (runner.workspace / "package.json").read_text() == '{"name": "x"}'
    for _ in range(2):
        assert runner.run(sarif_file="out.sarif") == 0


def test_the_scanned_folder_decides_nothing_about_imports(tmp_path: Path) -> None:
    """In isolated mode, as action.yml starts it, a file of the repository is never imported."""
    for name in ("dowbench.py", "yaml.py", "click.py", "json.py"):
        (tmp_path / name).write_text("raise SystemExit('the repository was imported')")
    (tmp_path / "tools.json").write_text(tools(BOUNDED))
    assert DECLARED["runs"]["args"][0] == "-I"
    done = subprocess.run(
        [sys.executable, *DECLARED["runs"]["args"]],
        cwd=tmp_path,
        env={**os.environ, "GITHUB_WORKSPACE": str(tmp_path), "PYTHONPATH": str(tmp_path), "INPUT_SARIF-FILE": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the repository was imported" not in done.stdout + done.stderr
