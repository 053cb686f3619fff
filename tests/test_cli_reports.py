"""Reports that are written to files, and what they replace."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from workbench import PROBE, found, tool, write

from dowbench.report import REPORTS


def test_outputs_are_further_reports_from_one_scan(folder, probe):
    write(folder / "tools.json", tool())
    run = probe("tools.json", "-o", "json=out.json", "-o", "markdown=out.md", "-o", "sarif=out.sarif", format="text")
    assert run.out.startswith("tools.json:2:3  HIGH  probe-tool  probe_one\n")
    assert json.loads((folder / "out.json").read_text(encoding="utf-8"))["findings"][0]["tool"] == "probe_one"
    assert (folder / "out.md").read_text(encoding="utf-8").startswith("## dowbench: 1 high")
    assert json.loads((folder / "out.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"
    assert sorted(path.name for path in folder.iterdir() if path.is_file()) == [
        "out.json",
        "out.md",
        "out.sarif",
        "tools.json",
    ]


@pytest.mark.parametrize("value", ["out.json", "xml=out.xml", "json=", "json=-"])
def test_output_wants_format_and_path(folder, probe, value):
    write(folder / "tools.json", tool())
    run = probe("tools.json", "-o", value)
    assert run.code == 2
    assert "is not FORMAT=PATH" in run.err or "--format json writes to standard output" in run.err
    assert sorted(folder.glob("*.*")) == [folder / ".git", folder / "tools.json"]


def test_report_that_cannot_be_written_is_an_error_and_leaves_the_old_one(folder, probe):
    write(folder / "tools.json", tool())
    run = probe("tools.json", "-o", "json=missing/out.json")
    assert (run.code, run.err) == (2, "error: missing/out.json: cannot be written: No such file or directory\n")
    assert run.found == [("probe-tool", "tools.json:2", "probe_one", None)]


def test_one_report_that_cannot_be_written_loses_no_other(folder, probe):
    write(folder / "tools.json", tool())
    (folder / "is-a-folder").mkdir()
    run = probe("tools.json", "-o", "json=is-a-folder", "-o", "json=out.json", "-o", "json=missing/x.json")
    assert run.code == 2
    assert run.err == (
        "error: is-a-folder: cannot be written: not a regular file\n"
        "error: missing/x.json: cannot be written: No such file or directory\n"
    )
    assert (folder / "out.json").read_text(encoding="utf-8") == run.out


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX files")
def test_report_goes_neither_through_a_link_nor_into_a_pipe(folder, probe, tmp_path):
    write(folder / "tools.json", tool())
    (tmp_path / "theirs").write_text("theirs", encoding="utf-8")
    (folder / "out.json").symlink_to(tmp_path / "theirs")
    (folder / "nowhere.json").symlink_to("nothing")
    os.mkfifo(folder / "pipe")
    run = probe("tools.json", "-o", "json=out.json", "-o", "json=nowhere.json", "-o", "json=pipe", "-o", "json=good")
    assert run.code == 2
    assert run.err == (
        "error: out.json: cannot be written: a symbolic link; name the file that it leads to\n"
        "error: nowhere.json: cannot be written: a symbolic link; name the file that it leads to\n"
        "error: pipe: cannot be written: not a regular file\n"
    )
    assert (folder / "out.json").is_symlink()
    assert (tmp_path / "theirs").read_text(encoding="utf-8") == "theirs"
    assert (folder / "good").read_text(encoding="utf-8") == run.out


def test_nothing_that_was_read_is_written_over(folder, dowbench):
    write(folder / "tools.json", tool())
    write(folder / "found" / "tools.json", tool())
    (folder / "broken.json").write_text('{"tools": [{"name": 5, "inputSchema": {}}]}', encoding="utf-8")
    (folder / "dowbench.yaml").write_text("fail_on: none\n", encoding="utf-8")
    shutil.copytree(PROBE, folder / "pack")
    (folder / "known.json").write_text('{"schema": "dowbench.baseline/1", "findings": []}', encoding="utf-8")
    (folder / "link.json").symlink_to("tools.json")
    (folder / "same.json").hardlink_to(folder / "tools.json")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    own = ("tools.json", "found/tools.json", "broken.json", "dowbench.yaml", "same.json", "known.json")
    written = [*own, "pack/" + next(path.name for path in PROBE.glob("*.yaml"))]
    arguments = ("tools.json", "found", "broken.json", "--rules", "pack", "--baseline", "known.json", "-f", "json")
    run = dowbench("scan", *arguments, *(part for name in written for part in ("-o", f"sarif={name}")))
    assert run.code == 2
    assert [line for line in run.err.splitlines() if "not written" in line] == [
        f"error: {name}: not written: it is one of the files that were read" for name in written
    ]
    assert [file["path"] for file in run.json["files"]] == ["tools.json", "found/tools.json"]
    run = dowbench("scan", "tools.json", "--write-baseline", "tools.json", "-f", "json")
    assert (run.code, run.err) == (2, "error: tools.json: not written: it is one of the files that were read\n")
    assert [file["path"] for file in run.json["files"]] == ["tools.json"]
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_report_of_the_last_scan_is_replaced_though_it_lies_in_the_folder(folder, probe):
    write(folder / "tools.json", tool())
    for report in ("json", "sarif"):
        for _ in range(2):
            assert (probe(".", "-o", f"{report}={report}.json").code, (folder / f"{report}.json").exists()) == (0, True)


def test_a_file_that_is_no_report_is_not_replaced(folder, probe):
    write(folder / "tools.json", tool())
    known = '{"schema": "dowbench.baseline/1", "findings": []}'
    texts = {"package.json": '{"name": "x"}', "README.md": "# x\n", "values.yaml": "a: 1\n", "known.json": known}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
        message = f"error: {name}: not written: there is a file that dowbench did not write; remove it, or name another"
        for report in REPORTS:
            run = probe("tools.json", "-o", f"{report}={name}")
            assert (run.code, found(run), run.err) == (2, {("probe-tool", "probe_one")}, f"{message}\n")
        if name != "known.json":
            run = probe("tools.json", "--write-baseline", name)
            assert (run.code, found(run)) == (2, {("probe-tool", "probe_one")})
            assert run.err.startswith(f"error: {name}:")
            assert "not a baseline" in run.err
        assert (folder / name).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("old", REPORTS)
@pytest.mark.parametrize("tools", [(), (tool(),)])
def test_any_report_and_an_empty_file_are_replaced_by_a_report(folder, probe, old, tools):
    write(folder / "tools.json", tool("fine"), *tools)
    (folder / "out").touch()
    for report in (old, "json", old):
        assert probe("tools.json", "-o", f"{report}=out").code == 0
    assert (folder / "out").read_text(encoding="utf-8") == probe("tools.json", format=old).out


def test_two_reports_do_not_go_to_one_file(folder, probe):
    write(folder / "tools.json", tool())
    for arguments in (("-o", "json=out", "-o", "sarif=./out"), ("-o", "json=out", "--write-baseline", "out")):
        run = probe("tools.json", *arguments)
        assert (run.code, run.out) == (2, "")
        assert run.err == "error: out: two reports would be written to it\n"
        assert not (folder / "out").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_a_replaced_report_keeps_its_permissions(folder, probe):
    write(folder / "tools.json", tool())
    (folder / "out.json").touch()
    (folder / "out.json").chmod(0o600)
    assert probe("tools.json", "-o", "json=out.json").code == 0
    assert (folder / "out.json").stat().st_mode & 0o777 == 0o600


def test_a_name_as_long_as_a_name_may_be(folder, probe):
    write(folder / "tools.json", tool())
    assert probe("tools.json", "-o", f"json={'x' * 255}").code == 0
    assert (folder / ("x" * 255)).exists()


def test_report_replaces_the_old_one_in_one_step(folder, probe, monkeypatch):
    write(folder / "tools.json", tool())
    (folder / "out.json").write_text("::error ::old", encoding="utf-8")

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    run = probe("tools.json", "-o", "json=out.json")
    assert (run.code, run.err) == (2, "error: out.json: cannot be written: No space left on device\n")
    assert (folder / "out.json").read_bytes() == b"::error ::old"
    assert sorted(path.name for path in folder.iterdir() if path.is_file()) == ["out.json", "tools.json"]
