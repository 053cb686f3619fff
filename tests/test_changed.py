"""``--changed-since``: only findings on tools that differ from a revision, and what is said where none can be had."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from workbench import found, tool, warned, write

CHANGED_OUTSIDE = "error: --changed-since: the working directory is in no git work tree, so nothing can be compared\n"


@pytest.fixture
def repository(folder):
    """The working directory as a git work tree; the value commits what is in it."""
    (folder / ".git").rmdir()

    def commit(*arguments: str) -> None:
        for command in (["add", "-A"], ["commit", "-q", "-m", "x"]):
            subprocess.run(
                ["git", "-c", "user.name=x", "-c", "user.email=x@example.com", *command],
                cwd=folder, check=True, capture_output=True,
            )  # fmt: skip

    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return commit


def test_only_findings_on_tools_that_changed(folder, probe, repository):
    write(folder / "a.json", tool("probe_a"), tool("probe_b"))
    write(folder / "same.json", tool("probe_same"))
    repository()
    write(folder / "a.json", tool("probe_new"), tool("probe_b", knob=True), tool("probe_a"))
    write(folder / "added.json", tool("probe_added"))
    run = probe("a.json", "same.json", "added.json", "--changed-since", "HEAD")
    assert found(run) == {
        ("probe-tool", "probe_new"), ("probe-tool", "probe_b"), ("probe-parameter", "probe_b"), ("probe-set", None),
        ("probe-tool", "probe_added"),
    }  # fmt: skip
    assert run.json["summary"]["unchanged"] == 2
    assert "2 on unchanged tools not shown" in probe(".", "--changed-since", "HEAD", format="text").out


def test_reformatting_and_moving_is_no_change(folder, probe, repository):
    write(folder / "a.json", tool("probe_a"), tool("probe_b"))
    repository()
    text = json.dumps([tool("probe_b"), tool("probe_a")], sort_keys=True)
    (folder / "a.json").write_text("\n\n" + text, encoding="utf-8")
    run = probe("a.json", "--changed-since", "HEAD")
    assert (found(run), run.json["summary"]["unchanged"]) == (set(), 3)


def test_a_tool_that_went_away_changes_the_set(folder, probe, repository):
    write(folder / "a.json", tool("probe_a"), tool("probe_b"), tool("c"))
    repository()
    write(folder / "a.json", tool("probe_a"), tool("probe_b"))
    assert found(probe("a.json", "--changed-since", "HEAD")) == {("probe-set", None)}


def test_change_behind_a_reference_is_a_change_of_the_tool(folder, probe, repository):
    text = """\
openapi: 3.0.3
info: {title: t, version: "1"}
paths:
  /a:
    parameters: [{name: q, in: query, schema: {type: string}}]
    get:
      operationId: probe_a
      responses: {"200": {description: ok}}
  /b:
    get:
      operationId: probe_b
      parameters: [{$ref: '#/components/parameters/P'}]
      responses: {"200": {description: ok}}
components:
  parameters:
    P: {name: p, in: query, schema: {$ref: '#/components/schemas/S'}}
  schemas:
    S: {type: string}
"""
    arguments = ("tools.yaml", "--changed-since", "HEAD", "--ignore", "probe-set")
    (folder / "tools.yaml").write_text(text, encoding="utf-8")
    repository()
    assert found(probe(*arguments)) == set()
    (folder / "tools.yaml").write_text(text.replace("S: {type: string}", "S: {type: integer}"), encoding="utf-8")
    assert found(probe(*arguments)) == {("probe-tool", "probe_b")}
    (folder / "tools.yaml").write_text(text.replace("name: q, in", "name: r, in"), encoding="utf-8")
    assert found(probe(*arguments)) == {("probe-tool", "probe_a")}


def test_changed_since_from_a_folder_below(folder, probe, repository, monkeypatch):
    write(folder / "sub" / "a.json", tool("probe_a"))
    repository()
    monkeypatch.chdir("sub")
    assert found(probe("a.json", "--changed-since", "HEAD")) == set()
    assert found(probe("../sub/a.json", "--changed-since", "HEAD~0")) == set()


def test_changed_since_a_version_that_cannot_be_read(folder, probe, repository):
    (folder / "a.json").write_text("[", encoding="utf-8")
    repository()
    write(folder / "a.json", tool("probe_a"))
    assert found(probe("a.json", "--changed-since", "HEAD")) == {("probe-tool", "probe_a")}


@pytest.mark.parametrize("revision", ["nowhere", "--help", "-1", "HEAD:a.json", "HEAD\n", "a..b"])
def test_unknown_revision(folder, probe, repository, revision):
    write(folder / "a.json", tool("probe_a"))
    repository()
    run = probe("a.json", f"--changed-since={revision}")
    assert (run.code, run.out) == (2, "")
    assert run.err == f"error: --changed-since: {revision!r} is no revision of this repository\n"


def test_changed_since_outside_git(folder, probe):
    (folder / ".git").rmdir()
    write(folder / "a.json", tool("probe_a"))
    run = probe("a.json", "--changed-since", "HEAD")
    assert (run.code, run.err) == (2, CHANGED_OUTSIDE)


def test_changed_since_without_git_and_in_a_broken_repository(folder, probe, repository, monkeypatch):
    write(folder / "a.json", tool("probe_a"))
    repository()
    monkeypatch.setenv("PATH", str(folder))
    run = probe("a.json", "--changed-since", "HEAD")
    assert (run.code, run.err) == (2, "error: git is needed and is not installed\n")
    (folder / "git").write_text("#!/bin/sh\ntouch owned\n", encoding="utf-8")
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f":.:{os.path.relpath(folder)}")
    assert probe("a.json", "--changed-since", "HEAD").err == run.err
    assert not (folder / "owned").exists()
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    (folder / ".git" / "HEAD").unlink()
    run = probe("a.json", "--changed-since", "HEAD")
    assert (run.code, run.err.startswith("error: git rev-parse: fatal: not a git repository")) == (2, True)


def test_a_renamed_file_is_compared_with_what_it_was(folder, probe, repository):
    write(folder / "a b.json", tool("probe_a"), tool("probe_b"))
    repository()
    (folder / "sub").mkdir()
    subprocess.run(["git", "mv", "a b.json", "sub/ü.json"], cwd=folder, check=True)
    run = probe("sub/ü.json", "--changed-since", "HEAD")
    assert (found(run), run.json["summary"]["unchanged"]) == (set(), 3)
    write(folder / "sub" / "ü.json", tool("probe_a", knob=True), tool("probe_b"))
    assert ("probe-parameter", "probe_a") in found(probe("sub", "--changed-since", "HEAD"))
    assert ("probe-tool", "probe_b") not in found(probe("sub", "--changed-since", "HEAD"))


def test_an_entry_on_an_unchanged_tool_is_not_gone(folder, probe, repository):
    write(folder / "a.json", tool("probe_a"), tool("probe_b"))
    probe("a.json", "--write-baseline", "known.json")
    repository()
    assert warned(probe("a.json", "--baseline", "known.json", "--changed-since", "HEAD")) == []


def test_where_git_tracks_nothing_to_scan_the_error_says_so(folder, probe, repository):
    def error(*arguments: str) -> str:
        run = probe(*arguments)
        assert run.code == 2
        return run.err

    what_to_do = "; name what to scan, such as . for all that is in this folder, or git add it"
    write(folder / "a.json", tool("probe_a"))
    assert error().startswith(f"error: .: git tracks no files here{what_to_do}")
    assert found(probe(".")) == {("probe-tool", "probe_a")}
    (folder / "a.json").rename(folder / "later")
    (folder / "readme.md").touch()
    repository()
    assert error().startswith("error: .: no JSON or YAML is among what git tracks here (2 files); name")
    (folder / "b.yaml").write_text("a: 1\n", encoding="utf-8")
    repository()
    assert error().startswith("error: .: no tool definitions in the JSON and YAML that git tracks here (1 file); name")
    assert probe("--skip-unrecognized").code == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
@pytest.mark.parametrize("name", ["HEAD", "index", "config"])
def test_git_that_waits_for_ever_is_not_waited_for(name, folder, probe, repository, monkeypatch):
    write(folder / "a.json", tool("probe_a"))
    repository()
    (folder / ".git" / name).unlink()
    os.mkfifo(folder / ".git" / name)
    monkeypatch.setattr("dowbench.git.PATIENCE", 0.2)
    assert found(probe()) == {("probe-tool", "probe_a")}
    run = probe("a.json", "--changed-since", "HEAD")
    if name != "index":  # which a comparison of files that are all there does without
        assert (run.code, run.out, run.err) == (2, "", "error: git rev-parse: no answer in 0.2 seconds\n")


def test_equal_tools_are_counted(folder, probe, repository):
    def places(run):
        return {(f["rule"], f["pointer"]) for f in run.json["findings"]}

    write(folder / "a.json", tool("probe_a", knob=True), tool("probe_a", knob=True), tool("b"))
    repository()
    assert places(probe("a.json", "--changed-since", "HEAD")) == set()
    write(folder / "a.json", *[tool("probe_a", knob=True)] * 3, tool("b"))
    added = places(probe("a.json", "--changed-since", "HEAD"))
    assert ("probe-tool", "/2") in added
    assert "probe-set" in {rule for rule, _ in added}
    assert not {pointer for _, pointer in added} & {"/0", "/1"}
    write(folder / "a.json", tool("probe_a", knob=True), tool("probe_a", knob=True, strict=True), tool("b"))
    one = places(probe("a.json", "--changed-since", "HEAD", "--ignore", "probe-set"))
    assert ("probe-tool", "/1") in one
    assert all(pointer.startswith("/1") for _, pointer in one)
    write(folder / "a.json", tool("probe_a", knob=True), tool("b"))
    assert found(probe("a.json", "--changed-since", "HEAD")) == {("probe-set", None)}


def test_documents_of_one_file_have_not_lost_each_others_tools(folder, probe, repository):
    documents = [json.dumps([tool("probe_a"), tool("b")]), json.dumps([tool("probe_c"), tool("d")])]
    (folder / "a.yaml").write_text("\n---\n".join(documents), encoding="utf-8")
    repository()
    run = probe("a.yaml", "--changed-since", "HEAD")
    assert (found(run), run.json["summary"]["unchanged"]) == (set(), 4)


@pytest.mark.skipif(os.name != "posix", reason="names with a newline")
def test_a_name_with_a_newline_is_compared(folder, probe, repository):
    write(folder / "a\nb.json", tool("probe_a"), tool("b"))
    write(folder / "c.json", tool("probe_c"))
    repository()
    write(folder / "new\n.json", tool("probe_new"))
    write(folder / "a\nb.json", tool("probe_a"), tool("b", strict=True))
    run = probe("a\nb.json", "new\n.json", "c.json", "--changed-since", "HEAD", "--ignore", "probe-set")
    assert found(run) == {("probe-tool", "probe_new")}


def test_a_link_is_compared_with_what_it_led_to(folder, probe, repository):
    write(folder / "data" / "tools", tool("probe_a"), tool("b"))
    write(folder / "data" / "others", tool("probe_c"))
    (folder / "link.json").symlink_to("data/tools")
    repository()
    assert found(probe("link.json", "--changed-since", "HEAD")) == set()
    (folder / "link.json").unlink()
    (folder / "link.json").symlink_to("data/others")
    assert ("probe-tool", "probe_c") in found(probe("link.json", "--changed-since", "HEAD"))


def test_a_finding_that_is_ignored_no_longer_is_shown(folder, probe, repository):
    tools = "- {name: probe_a, input_schema: {type: object}}\n- {name: probe_b, input_schema: {type: object}}\n"
    (folder / "comment.yaml").write_text("# dowbench: ignore[probe-tool] because\n" + tools, encoding="utf-8")
    entries = [tool("probe_c"), tool("probe_d")]
    (folder / "list.json").write_text(
        json.dumps({"x-dowbench-ignore": ["probe-set"], "tools": entries}), encoding="utf-8"
    )
    repository()
    arguments = ("comment.yaml", "list.json", "--changed-since", "HEAD")
    assert found(probe(*arguments)) == set()
    (folder / "comment.yaml").write_text(tools, encoding="utf-8")
    (folder / "list.json").write_text(json.dumps({"tools": entries}), encoding="utf-8")
    run = probe(*arguments)
    assert [(f["rule"], f["path"], f["tool"]) for f in run.json["findings"]] == [
        ("probe-tool", "comment.yaml", "probe_a"), ("probe-set", "list.json", None),
    ]  # fmt: skip


def test_what_the_other_branch_changed_is_no_change_of_this_one(folder, probe, repository):
    def git(*arguments):
        subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)

    write(folder / "a.json", tool("probe_a"), tool("probe_b"))
    repository()
    git("branch", "-M", "main")
    git("checkout", "-q", "-b", "own")
    write(folder / "a.json", tool("probe_a"), tool("probe_b"), tool("probe_own"))
    repository()
    git("checkout", "-q", "main")
    write(folder / "a.json", tool("probe_a", strict=True), tool("probe_b"))
    repository()
    assert ("probe-tool", "probe_a") in found(probe("a.json", "--changed-since", "own"))
    git("checkout", "-q", "own")
    arguments = ("a.json", "--changed-since", "main", "--ignore", "probe-set")
    assert found(probe(*arguments)) == {("probe-tool", "probe_own")}
    git("checkout", "-q", "--orphan", "alone")
    repository()
    assert found(probe(*arguments)) == {("probe-tool", "probe_a"), ("probe-tool", "probe_own")}
