"""Which files a scan reads: folders, patterns, links, and what git tracks."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from workbench import PROBE, errors, paths, reasons, tool, write

from dowbench.globs import Globs
from dowbench.loaders import LOADERS
from dowbench.loaders.sniff import looks_like

if TYPE_CHECKING:
    from pathlib import Path

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX files")


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@example.com", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
    )


def test_folder_is_walked_and_each_file_scanned_once(folder, probe):
    write(folder / "a" / "one.json", tool("probe_1"))
    write(folder / "a" / "b" / "two.json", tool("probe_2"))
    (folder / "a" / "three.yaml").write_text("tools:\n- {name: probe_3, input_schema: {}}\n", encoding="utf-8")
    write(folder / "a" / "four.txt", tool("probe_4"))
    run = probe("a", "a/one.json", "./a/b/../one.json", "a/b")
    assert paths(run) == ["a/one.json", "a/three.yaml", "a/b/two.json"]
    assert (run.code, len(run.found)) == (0, 3)


def test_folders_of_others_are_not_walked_unless_named(folder, probe):
    write(folder / "tools.json", tool("probe_mine"))
    write(folder / "node_modules" / "x" / "tools.json", tool("probe_theirs"))
    write(folder / "env" / "lib" / "tools.json", tool("probe_theirs"))
    (folder / "env" / "pyvenv.cfg").touch()
    write(folder / ".git" / "tools.json", tool("probe_theirs"))
    assert paths(probe(".")) == ["tools.json"]
    assert paths(probe("node_modules")) == ["node_modules/x/tools.json"]


def test_globs(folder, probe):
    write(folder / "a" / "one.json", tool("probe_1"))
    write(folder / "a" / "b" / "two.json", tool("probe_2"))
    (folder / "a" / "package.json").write_text("{}", encoding="utf-8")
    assert paths(probe("a/*.json")) == ["a/one.json"]
    run = probe("**/*.json")
    assert paths(run) == ["a/one.json", "a/b/two.json"]
    assert reasons(run) == {"a/package.json": "no tool definitions"}
    assert paths(probe("a/[bx]")) == ["a/b/two.json"]
    assert paths(probe("./?/**")) == ["a/one.json", "a/b/two.json"]
    assert paths(probe("**/t*.json")) == paths(probe(f"{folder}/**/b/*")) == ["a/b/two.json"]
    run = probe("c/*.json")
    assert (run.code, errors(run)) == (2, {"c/*.json": "no file matches this pattern"})


@posix
def test_globs_follow_no_links_out_and_cannot_be_led_in_circles(folder, tmp_path, probe):
    outside = write(tmp_path / "outside" / "secret.json", tool("probe_secret"))
    write(folder / "in" / "tools.json", tool("probe_1"))
    write(folder / "in" / "node_modules" / "theirs.json", tool("probe_2"))
    (folder / "in" / "out").symlink_to(outside.parent)
    (folder / "in" / "out.json").symlink_to(outside)
    for name in "abc":
        (folder / "in" / name).symlink_to(".")
    assert paths(probe("in/**/*.json")) == ["in/tools.json"]
    assert paths(probe("in/*/*.json", "--skip-unrecognized")) == ["in/node_modules/theirs.json"]
    assert paths(probe("in/[!n]*")) == ["in/tools.json"]
    assert paths(probe("in/*t*")) == ["in/tools.json"]
    assert paths(probe("**/**/**/" * 20 + "*.json")) == ["in/tools.json"]
    assert paths(probe(f"{folder}/i*/*.json")) == ["in/tools.json"]


def test_file_whose_name_looks_like_a_glob(folder, probe):
    write(folder / "tools[1].json", tool("probe_1"))
    assert paths(probe("tools[1].json")) == ["tools[1].json"]


def test_names_with_spaces_quotes_dashes_and_other_scripts(folder, probe):
    names = ["a b.json", "it's.json", "-x.json", "инструменты.json", 'qu"ote.json']
    for name in names:
        write(folder / name, tool("probe_1"))
    assert paths(probe("--", *names)) == names


def test_folder_without_tools_is_an_error_unless_skipped(folder, probe):
    (folder / "empty").mkdir()
    run = probe("empty")
    assert run.code == 2
    assert errors(run) == {"empty": "no tool definitions found here (--skip-unrecognized accepts that)"}
    assert probe("empty", "--skip-unrecognized").code == 0


def test_without_paths_what_git_tracks_is_scanned(folder, probe):
    (folder / ".git").rmdir()
    git(folder, "init", "-q")
    write(folder / "sub" / "tracked.json", tool("probe_tracked"))
    write(folder / "sub" / "untracked.json", tool("probe_untracked"))
    (folder / "package.json").write_text("{}", encoding="utf-8")
    git(folder, "add", "sub/tracked.json", "package.json")
    run = probe()
    assert paths(run) == ["sub/tracked.json"]
    assert reasons(run) == {"package.json": "no tool definitions"}
    os.chdir("sub")
    assert paths(probe()) == ["tracked.json"]


def test_without_paths_and_without_git_the_folder_is_walked(folder, probe):
    (folder / ".git").rmdir()
    write(folder / "sub" / "tools.json", tool("probe_1"))
    assert paths(probe()) == ["sub/tools.json"]


def test_tracked_file_that_is_gone_is_skipped_with_its_reason(folder, probe):
    (folder / ".git").rmdir()
    git(folder, "init", "-q")
    write(folder / "a.json", tool("probe_1"))
    write(folder / "b.json", tool("probe_2"))
    git(folder, "add", ".")
    (folder / "b.json").unlink()
    run = probe()
    assert (run.code, paths(run)) == (0, ["a.json"])
    assert reasons(run) == {"b.json": "cannot be opened: No such file or directory"}


@posix
def test_git_runs_nothing_a_repository_configures(folder, probe):
    (folder / ".git").rmdir()
    git(folder, "init", "-q")
    write(folder / "a.json", tool("probe_1"))
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "x")
    bait = folder / "bait.sh"
    bait.write_text("#!/bin/sh\ntouch bitten\n", encoding="utf-8")
    bait.chmod(0o755)
    for key in ("core.fsmonitor", "core.sshCommand", "diff.external", "core.pager", "core.editor"):
        git(folder, "config", key, str(bait))
    write(folder / "a.json", tool("probe_2"))
    assert probe().found[0][2] == "probe_2"
    assert probe("--changed-since", "HEAD").found[0][2] == "probe_2"
    assert not (folder / "bitten").exists()


@posix
def test_links_out_of_the_folder_are_not_followed(folder, tmp_path, probe):
    outside = write(tmp_path / "outside" / "secret.json", tool("probe_secret"))
    write(folder / "in" / "real.json", tool("probe_real"))
    (folder / "in" / "out.json").symlink_to(outside)
    (folder / "in" / "outside").symlink_to(outside.parent)
    (folder / "in" / "same.json").symlink_to("real.json")
    (folder / "in" / "loop").symlink_to(".")
    (folder / "in" / "circle.json").symlink_to("circle.json")
    run = probe("in")
    assert paths(run) == ["in/real.json"]
    assert reasons(run)["in/out.json"] == "symbolic link out of the scanned folder, not followed"
    assert reasons(run)["in/circle.json"].startswith("symbolic link that leads nowhere: ")
    assert [(note["path"], note["line"]) for note in run.json["warnings"]] == [
        ("in/circle.json", None), ("in/out.json", None), ("in/outside", None),
    ]  # fmt: skip
    assert reasons(run)["in/outside"] == "symbolic link to a folder, not followed"
    assert run.code == 0
    assert paths(probe("in/out.json")) == ["in/out.json"]


NOT_FOLLOWED = "symbolic link to a folder, not followed"


@posix
@pytest.mark.parametrize(
    ("arguments", "warned"),
    [
        (("in",), ["in/far", "in/near"]),
        (("in", "beside"), ["in/far"]),
        ((".",), ["in/far"]),
        (("in/*",), ["in/far", "in/near"]),
        (("in/*/*.json",), ["in/far", "in/near"]),
        (("in/**/*.json",), ["in/far", "in/near"]),
        (("**/*.json",), ["in/far"]),
        ((), ["in/far"]),
    ],
)
def test_links_to_folders_that_hide_files_are_named(folder, tmp_path, probe, arguments, warned):
    """Not those that lead to what is scanned anyway or up again, nor what is passed over by its name."""
    write(folder / "in" / "deep" / "real.json", tool("probe_real"))
    write(folder / "in" / "flat.json", tool("probe_flat"))
    write(folder / "beside" / "other.json", tool("probe_other"))
    for name in ("elsewhere", "node_modules", "env"):
        write(tmp_path / name / "far.json", tool("probe_far"))
    (tmp_path / "env" / "pyvenv.cfg").touch()
    links = {"far": "../../elsewhere", "near": "../beside", "here": "deep", "up": "..", "cut": "../../elsewhere"}
    links |= {".venv": "../../env", "env": "../../env", "node_modules": "../beside", "pkgs": "../../node_modules"}
    for name, target in links.items():
        (folder / "in" / name).symlink_to(target)
    (folder / "dowbench.yaml").write_text("exclude: [cut]\n", encoding="utf-8")
    (folder / ".git").rmdir()
    git(folder, "init", "-q")
    git(folder, "add", "--force", ".")
    run = probe(*arguments, "--skip-unrecognized")
    assert run.code == 0
    said = f"not scanned: {NOT_FOLLOWED}; name it to scan what is in it"
    assert sorted(run.err.splitlines()) == [f"warning: {path}: {said}" for path in warned]
    skipped = reasons(run)
    assert {skipped[path] for path in warned} == {NOT_FOLLOWED}
    assert skipped["in/cut"] == "excluded by the configuration"
    assert not {"in/.venv", "in/env", "in/node_modules", "in/pkgs"} & skipped.keys()
    assert "probe_far" not in run.out
    assert paths(probe("in/far")) == ["in/far/far.json"]


@posix
@pytest.mark.parametrize("arguments", [("in",), ("in/*.json",), ("in/a.json", "in"), ("in/a.json", "in/real.json"), ()])
def test_a_link_takes_nothing_over_from_the_file_that_it_leads_to(folder, probe, arguments):
    write(folder / "in" / "real.json", tool("probe_real"))
    for name in ("a.json", "z.json"):
        (folder / "in" / name).symlink_to("real.json")
    (folder / "dowbench.yaml").write_text(
        "exceptions: [{rules: [all], files: ['a*.json'], reason: not ours}]\n", encoding="utf-8"
    )
    (folder / ".git").rmdir()
    git(folder, "init", "-q")
    git(folder, "add", ".")
    run = probe(*arguments)
    assert (paths(run), run.json["suppressed"]) == (["in/real.json"], [])
    assert [place for _, place, *_ in run.found] == ["in/real.json:2"]
    links = {path: why for path, why in reasons(run).items() if path in ("in/a.json", "in/z.json")}
    assert links.pop("in/a.json") == "symbolic link to a file that is scanned as in/real.json"
    assert set(links.values()) <= {"symbolic link to a file that is scanned as in/real.json"}


@posix
def test_a_file_goes_by_the_name_it_was_given_and_by_a_link_only_where_nothing_else_names_it(folder, probe):
    write(folder / "in" / "data", tool("probe_data"))
    for name in ("a.json", "b.json"):
        (folder / "in" / name).symlink_to("data")
    assert paths(probe("in")) == ["in/a.json"]
    run = probe("in", "in/b.json")
    assert (paths(run), reasons(run)) == (
        ["in/b.json"], {"in/a.json": "symbolic link to a file that is scanned as in/b.json"},
    )  # fmt: skip
    (folder / "elsewhere").symlink_to("in")
    assert paths(probe("elsewhere/data")) == ["elsewhere/data"]
    assert paths(probe("elsewhere/data", "in/data")) == ["in/data"]


def test_a_submodule_that_is_left_out_is_named(folder, probe):
    (folder / ".git").rmdir()
    git(folder, "init", "-q")
    write(folder / "own.json", tool("probe_own"))
    for name in ("sub module", "vendor"):
        write(folder / name / "tools.json", tool("probe_sub"))
        git(folder / name, "init", "-q")
        git(folder / name, "add", ".")
        git(folder / name, "commit", "-q", "-m", "x")
    git(folder, "add", ".")
    (folder / "dowbench.yaml").write_text("exclude: [vendor]\n", encoding="utf-8")
    run = probe()
    assert (run.code, paths(run)) == (0, ["own.json"])
    why = "a git submodule; name it to scan what is in it"
    assert run.err == f"warning: sub module: not scanned: {why}\n"
    assert reasons(run) == {"sub module": why, "vendor": "excluded by the configuration"}
    assert paths(probe("sub module")) == ["sub module/tools.json"]


@posix
def test_what_is_no_regular_file_is_an_error_when_named_and_skipped_in_a_walk(folder, probe):
    write(folder / "in" / "good.json", tool("probe_good"))
    os.mkfifo(folder / "in" / "pipe.json")
    (folder / "in" / "folder.json").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir("in")  # such a name must be short
        server.bind("socket.json")
        os.chdir("..")
        run = probe("in")
        assert (run.code, paths(run)) == (0, ["in/good.json"])
        assert reasons(run) == {
            "in/pipe.json": "a pipe, not a regular file",
            "in/socket.json": "a socket, not a regular file",
        }
    run = probe("in/pipe.json", "/dev/null", "in/good.json")
    assert run.code == 2
    assert paths(run) == ["in/good.json"]
    assert set(errors(run).values()) == {"a pipe, not a regular file", "a device, not a regular file"}


@posix
@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root reads everything")
def test_unreadable_file_and_folder(folder, probe):
    write(folder / "in" / "good.json", tool("probe_good"))
    write(folder / "in" / "closed.json", tool("probe_closed")).chmod(0)
    (folder / "in" / "shut").mkdir(mode=0)
    run = probe("in")
    assert (run.code, paths(run)) == (2, ["in/good.json"])
    assert errors(run) == {
        "in/closed.json": "cannot be read: Permission denied",
        "in/shut": "folder cannot be read: Permission denied",
    }


def test_file_that_vanishes_between_finding_and_reading(folder, probe, monkeypatch):
    write(folder / "a.json", tool("probe_a"))
    write(folder / "b.json", tool("probe_b"))
    from dowbench import scan

    real = scan.discover

    def discover(*arguments, **options):
        found = real(*arguments, **options)
        (folder / "a.json").unlink()
        return found

    monkeypatch.setattr(scan, "discover", discover)
    run = probe(".")
    assert (run.code, paths(run)) == (2, ["b.json"])
    assert errors(run) == {"a.json": "cannot be read: No such file or directory"}


def test_missing_names(folder, probe):
    write(folder / "a.json", tool("probe_a"))
    run = probe("a.json", "missing.json", "a.json/b.json", "x" * 300, "nul\0.json")
    assert run.code == 2
    assert paths(run) == ["a.json"]
    assert len(errors(run)) == 4
    assert errors(run)["missing.json"] == "cannot be read: No such file or directory"


def test_broken_file_in_a_walk_is_an_error_only_where_it_looks_like_tools(folder, probe):
    write(folder / "good.json", tool("probe_good"))
    (folder / "tools.json").write_text('[{"name": "x", "input_schema": {}}', encoding="utf-8")
    (folder / "tsconfig.json").write_text('{"tools": [] // none\n}', encoding="utf-8")
    (folder / "chart.yaml").write_text("a: {{ .Values.parameters }}\nparameters: {{ x }}", encoding="utf-8")
    (folder / "other.json").write_text("{ nonsense", encoding="utf-8")
    run = probe(".")
    assert list(errors(run)) == ["tools.json"]
    assert sorted(reasons(run)) == ["chart.yaml", "other.json", "tsconfig.json"]
    assert run.code == 2


@pytest.mark.parametrize("format", LOADERS)
def test_every_fixture_is_recognised_in_a_walk(format):
    cases = list((PROBE.parent.parent / "fixtures" / format).rglob("input.*"))
    assert cases
    for case in cases:
        assert looks_like(case.read_bytes()) != "no", case


def test_every_file_of_real_tools_is_recognised_in_a_walk():
    corpus = PROBE.parent.parent.parent / "shared" / "corpus" / "files"
    if not corpus.is_dir():
        pytest.skip("needs ../shared/corpus, which clones do not have")
    files = [path for path in corpus.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if looks_like(path.read_bytes()) == "no"] == []


@pytest.mark.parametrize(
    "text",
    [
        '{"dependencies": {"a": "1"}, "scripts": {"test": "x"}}',
        '{"compilerOptions": {"strict": true}}',
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n",
        '{"type": "FeatureCollection", "features": []}',
    ],
)
def test_other_files_are_told_by_a_look(text):
    assert looks_like(text.encode()) == "no"


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("vendor", ["vendor", "vendor/a.json", "x/vendor/a.json"], ["vendors/a.json", "a/vendor.json"]),
        ("vendor/", ["vendor/a.json", "x/vendor/b/c.json"], ["vendors/a.json"]),
        ("/vendor", ["vendor/a.json"], ["x/vendor/a.json"]),
        ("*.json", ["a.json", "x/a.json"], ["a.jsonl", "a.json.bak"]),
        ("gen/*.json", ["gen/a.json"], ["gen/x/a.json", "x/gen/a.json"]),
        ("gen/**/*.json", ["gen/a.json", "gen/x/y/a.json"], ["x/gen/a.json"]),
        ("**/gen", ["gen/a.json", "x/gen/a.json"], ["agen/a.json"]),
        ("./gen/a?.json", ["gen/ab.json"], ["gen/abc.json", "gen/a/.json"]),
        ("[ab].json", ["a.json", "x/b.json"], ["c.json"]),
        ("[!ab].json", ["c.json"], ["a.json"]),
        ("a+(b).json", ["a+(b).json"], ["aab.json"]),
        ("gen/**", ["gen/a.json", "gen/x/y.json"], ["x/gen/a.json", "gent/a.json"]),
        ("a/**/b/**/c.json", ["a/b/c.json", "a/x/b/y/z/c.json"], ["a/c.json", "b/a/c.json"]),
        ("**", ["a.json", "x/y.json"], []),
        ("**/".join([""] * 60) + "x", ["/".join("a" * 200) + "/x"], ["/".join("a" * 200)]),
        ("/".join(["**", "a"] * 30) + "/x", ["/".join("a" * 200) + "/x"], ["/".join("a" * 200)]),
        ("*a" * 60 + "x", ["a" * 200 + "x"], ["a" * 200]),
    ],
)
def test_patterns(folder, pattern, matching, others):
    globs = Globs([pattern], folder)
    assert [path for path in matching if not globs.match(path)] == []
    assert [path for path in others if globs.match(path)] == []


def test_excluded_files_are_not_scanned_even_when_named(folder, probe):
    write(folder / "a.json", tool("probe_a"))
    write(folder / "vendor" / "b.json", tool("probe_b"))
    (folder / "dowbench.yaml").write_text("exclude: [vendor]\n", encoding="utf-8")
    assert paths(probe(".")) == ["a.json"]
    run = probe("a.json", "vendor/b.json")
    assert (run.code, paths(run)) == (0, ["a.json"])
    assert reasons(run) == {"vendor/b.json": "excluded by the configuration"}
    assert paths(probe("vendor/b.json", "--no-config")) == ["vendor/b.json"]
