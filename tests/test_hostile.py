"""Files that mean harm: each is read, or refused in one located line. Nothing hangs, crashes or is passed over."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from workbench import PROBE, ROOT, found, tool

from dowbench.inputs import open_regular
from dowbench.report import REPORTS

if TYPE_CHECKING:
    from workbench import Dowbench

HOSTILE = ROOT / "fixtures" / "hostile"
EXPECTED: dict[str, dict[str, Any]] = yaml.safe_load((HOSTILE / "expected.yaml").read_text())
PHRASES = [
    *(
        "a-",
        "by ",
        "(",
        ")",
        "](",
        "<example>",
        "</example>",
        "`a` ",
        '"',
        "**",
        "\n",
        "- x: y\n",
        "Args:\n",
        "Returns:\n",
    ),
    *(
        "e.g. ",
        "; ",
        "a: ",
        "...",
        "1. ",
        "| a ",
        "http://a/",
        "aA",
        "5 ",
        "5%",
        "(a) ",
        "x (str): y\n",
        ":param x: y\n",
    ),
    *("the ", "of ", "and ", "not ", "if ", "for each ", "list of ", "the single ", "all items ", "up to ", "at most "),
    *(
        "max 5 ",
        "between 1 and ",
        "limit: ",
        "returns ",
        "Returns a list. ",
        "call this tool again ",
        "until ",
        "image ",
    ),
    *("the list of the ", "pages of ", "does not ", "search_all ", "write the whole history "),
]
"""What a description is made of, again and again, in the hope that a search looks at it from each place to the end."""
HIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


@pytest.fixture
def scan(dowbench: Dowbench) -> Dowbench:
    """A scan with every rule of the pack, reported as JSON."""
    return lambda *arguments: dowbench("scan", "--no-config", "--tier", "pedantic", "--format", "json", *arguments)


def test_every_file_is_in_the_table() -> None:
    files = {path.name for path in HOSTILE.iterdir()} - {"expected.yaml"}
    assert files == set(EXPECTED)
    assert all("error" in expected or "tools" in expected for expected in EXPECTED.values())


@pytest.mark.parametrize("name", EXPECTED)
def test_file(name: str, scan: Dowbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HOSTILE)
    expected = EXPECTED[name]
    run = scan(name)
    lines = [f"error: {name}:{expected['error']}"] if "error" in expected else []
    lines = [f"warning: {name}:{warning}" for warning in expected.get("warnings", ())] + lines
    assert run.err.splitlines() == lines
    assert run.code == (2 if "error" in expected else 0)
    assert sum(file["tools"] for file in run.json["files"]) == expected.get("tools", 0)
    assert not HIDDEN.search(run.out + run.err)


def test_a_bad_file_hides_no_good_one(scan: Dowbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HOSTILE)
    run = scan(".")
    assert run.code == 2
    scanned = {file["path"] for file in run.json["files"]}
    assert scanned == {name for name, expected in EXPECTED.items() if "tools" in expected}


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("name", [name for name, expected in EXPECTED.items() if "tools" in expected])
def test_every_report_of_every_file_shows_what_is_hidden(
    name: str, report: str, dowbench: Dowbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HOSTILE)
    run = dowbench("scan", "--no-config", "--tier", "pedantic", "--format", report, name)
    assert not HIDDEN.search(run.out + run.err)
    if report == "github":
        command = r"::(error|warning|notice) (\w+=[^:,]*)(,\w+=[^:,]*)*::"
        assert all(re.match(command, line) for line in run.out.splitlines())


class TestOfAnySize:
    """Too large to be kept: made when they are needed.

    What reads schemas and holds them against rules for longer than ``source_limits.seconds`` is an error: where there
    is none, the work was bounded.
    """

    def test_fifty_megabytes_on_one_line(self, folder: Path, scan: Dowbench) -> None:
        schema = {"type": "object", "properties": {"text": {"type": "string", "default": "x " * 25_000_000}}}
        Path("one.json").write_text(json.dumps([tool(input_schema=schema)]))
        run = scan("one.json")
        assert (run.err, [file["tools"] for file in run.json["files"]]) == ("", [1])

    @pytest.mark.parametrize(
        ("name", "begin", "repeat", "end", "error"),
        [
            ("brackets.json", "", "[", "", "1:201: more than 200 levels of nesting (source_limits.nesting)"),
            ("braces.json", "", '{"a":', "", "1:1001: more than 200 levels of nesting (source_limits.nesting)"),
            ("brackets.yaml", "", "[", "", "1:1001: more than 200 levels of nesting (source_limits.nesting)"),
            ("dashes.yaml", "", "- ", "a", "1:401: more than 200 levels of nesting (source_limits.nesting)"),
            ("queries.yaml", "", "? ", "a", "1:3: expected a scalar as mapping key, found a collection"),
            (
                "string.json",
                '["',
                "a",
                "",
                "1:2: not valid JSON: expected a closing quote for the string that starts here",
            ),
            ("spaces.json", "", " ", "", "1:1: the file is empty; expected tool definitions in JSON or YAML"),
            (
                "spaces-and-more.json",
                "[1]",
                " ",
                "x",
                "1:1000004: not valid JSON: expected the end of the file",
            ),
            ("quotes.yaml", "a: x", "'", "", "1:1: no tool definitions of a known format: found an object with key a"),
            ("anchors.yaml", "", "&a ", "", "1:4: not valid YAML: "),
            ("colons.yaml", "", "a: ", "", "1:5: not valid YAML: mapping values are not allowed in this context"),
            ("percent.yaml", "", "%", "", "1:2: not valid YAML: "),
            ("numbers.json", "", "9", "", "1:1: no tool definitions of a known format: found a number"),
            ("digits.yaml", "", "9", "", "1:1: no tool definitions of a known format: found a number"),
        ],
    )
    def test_a_million_of_the_same(
        self, name: str, begin: str, repeat: str, end: str, error: str, folder: Path, scan: Dowbench
    ) -> None:
        Path(name).write_text(begin + repeat * 1_000_000 + end)
        run = scan(name)
        assert run.code == 2
        assert run.err.startswith(f"error: {name}:{error}")
        assert run.err.count("\n") == 1

    def test_ten_thousand_tools(self, folder: Path, scan: Dowbench) -> None:
        Path("many.json").write_text(json.dumps([tool(f"list_items_{n}") for n in range(10_000)], indent=1))
        run = scan("many.json")
        assert (run.err, run.json["files"][0]["tools"]) == ("", 10_000)

    @pytest.mark.parametrize(
        ("begin", "entry", "end", "error"),
        [
            ('{"tools": [', "{}", "{}]}", "1:1: no tool definitions of a known format: found an object with key tools"),
            (
                '{"tools": [',
                '"a"',
                "{}]}",
                "1:1: no tool definitions of a known format: found an object with key tools",
            ),
            (
                '{"tools": [',
                "{}",
                '{"name": "a", "inputSchema": {}}]}',
                "1:11: 200,001 entries in a list of tools, more than 100,000 (source_limits.tools)",
            ),
            (
                "[",
                '{"name": "a", "args": []}',
                '{"tools": [{"name": "a", "inputSchema": {}}]}]',
                "1:1: 200,001 entries in a list of tools, more than 100,000 (source_limits.tools)",
            ),
            (
                '{"tools": [',
                '{"name": "a", "description": "", "inputSchem": {}}',
                "{}]}",
                "1:11: 200,001 entries in a list of tools, more than 100,000 (source_limits.tools)",
            ),
        ],
    )
    def test_lists_of_more_than_there_are_tools(
        self, begin: str, entry: str, end: str, error: str, folder: Path, scan: Dowbench
    ) -> None:
        Path("many.json").write_text(begin + f"{entry}," * 200_000 + end)
        run = scan("many.json")
        assert (run.code, run.err.count("\n")) == (2, 1)
        assert run.err.startswith(f"error: many.json:{error}")

    def test_a_description_of_a_megabyte(self, folder: Path, scan: Dowbench) -> None:
        sentence = "Call this tool again, at most 5 times and not more than [once](x) per page. "
        Path("long.json").write_text(json.dumps([tool("search_all", description=sentence * 13_200)]))
        run = scan("long.json")
        message = "the descriptions of a tool have 1,003,200 characters, more than 1,000,000 (source_limits.text)"
        assert run.err == f"error: long.json:1:2: {message}\n"
        Path("long.json").write_text(json.dumps([tool("search_all", description=sentence * 2_500)]))
        run = scan("long.json")
        assert (run.err, run.json["files"][0]["tools"]) == ("", 1)
        assert len(run.out) < 100_000

    @pytest.mark.parametrize(
        "text",
        [
            "no " * 60_000,
            "a-" * 99_000,
            "1," * 99_000,
            "." * 199_000,
            "(" * 199_000,
            "<example>" * 40_000,
            "Example" + " " * 300_000 + "x",
            "Example:\n" * 40_000,
            "returns " * 40_000,
            "# " * 99_000,
            "return " + "a" * 199_000,
            "Call this tool repeatedly " + "(if a " * 30_000,
            "(if a " * 30_000 + "call this tool repeatedly",
            "Actions:\n" + "- list\n" * 20_000,
            "<a" * 60_000 + "</a>",
        ],
    )
    def test_a_description_without_sense(self, text: str, folder: Path, scan: Dowbench) -> None:
        Path("long.json").write_text(json.dumps([tool("search_all", description=text)]))
        run = scan("long.json")
        assert (run.err, run.json["files"][0]["tools"]) == ("", 1)
        assert ("heavy-definition", "search_all") in found(run)

    @pytest.mark.parametrize("phrase", PHRASES)
    def test_work_does_not_grow_with_the_square_of_a_description(
        self, phrase: str, folder: Path, dowbench: Dowbench
    ) -> None:
        """Long enough, and the limit low enough, for work that grows with the square to be seen."""
        text = phrase * (400_000 // len(phrase))
        schema = {"type": "object", "properties": {"limit": {"type": "integer", "description": text}}}
        Path("long.json").write_text(
            json.dumps([tool("search_all", description=text), tool("list_all", input_schema=schema)])
        )
        Path("limits.yaml").write_text("source_limits: {seconds: 20}\n")
        run = dowbench("scan", "--config", "limits.yaml", "--tier", "pedantic", "--format", "json", "long.json")
        assert (run.err, run.json["files"][0]["tools"]) == ("", 2)
        assert {("heavy-definition", "search_all"), ("heavy-definition", "list_all")} <= set(found(run))

    @pytest.mark.parametrize(
        "limit",
        [{"default": 10**400}, {"maximum": 10**400}, {"exclusiveMaximum": 10**400}, {"const": 10**400},
         {"enum": [5, 10**400]}, {"description": f"How many pages, at most {10**400}, default {10**400}."}],
        ids=lambda limit: next(iter(limit)),
    )  # fmt: skip
    @pytest.mark.parametrize(
        "text", ["Lists pages.", f"Lists pages. Returns at most {10**400} results, up to {10**400} MB."]
    )
    def test_numbers_that_no_float_holds(self, limit: dict[str, Any], text: str, folder: Path, scan: Dowbench) -> None:
        schema = {"type": "object", "properties": {"limit": {"type": "integer", **limit}}}
        Path("large.json").write_text(json.dumps([tool("list_pages", description=text, input_schema=schema)]))
        run = scan("large.json")
        assert "error" not in run.err
        found = [(f["rule"], f["parameter"]) for f in run.json["findings"]]
        assert ("limit-without-maximum", "limit") in found

    def test_numbers_that_no_float_holds_in_yaml(self, folder: Path, scan: Dowbench) -> None:
        for name, number in {
            "decimal": "9" * 400,
            "tagged": f"!!float {'9' * 400}",
            "based": f"0x{'f' * 9000}",
        }.items():
            Path(f"{name}.yaml").write_text(
                "tools:\n- name: list_pages\n  description: Lists pages.\n  inputSchema:\n    type: object\n"
                f"    properties: {{limit: {{type: integer, default: {number}}}}}\n"
            )
        run = scan(".")
        assert run.err == ""
        found = {(f["path"], f["rule"], f["parameter"]) for f in run.json["findings"]}
        assert found >= {(f"{name}.yaml", "limit-without-maximum", "limit") for name in ("decimal", "tagged", "based")}

    def test_very_many_references_to_one_definition(self, folder: Path, scan: Dowbench) -> None:
        properties = {f"p{n}": {"$ref": "#/$defs/Text"} for n in range(20_000)}
        schema = {"type": "object", "properties": properties, "$defs": {"Text": {"type": "string"}}}
        Path("refs.json").write_text(json.dumps([tool("save_all", input_schema=schema)]))
        run = scan("refs.json")
        assert (run.err, run.json["files"][0]["tools"]) == ("", 1)
        assert ("heavy-definition", "save_all") in found(run)

    @pytest.mark.parametrize(
        ("schema", "error"),
        [
            ({"properties": {f"p{n}": {"$ref": "#/$defs/T"} for n in range(60_000)}}, "properties of an object"),
            ({"patternProperties": {f"p{n}": {} for n in range(60_000)}}, "patterns of an object"),
            ({"oneOf": [{"$ref": "#/$defs/T"}] * 60_000}, "branches of a schema"),
            ({"allOf": [{"$ref": "#/$defs/T"}] * 60_000}, "branches of a schema"),
            ({"properties": {"a": {"items": [{}] * 60_000}}}, "places of an array"),
        ],
        ids=lambda value: value if isinstance(value, str) else next(iter(value)),
    )
    def test_more_parameters_than_a_tool_can_have(
        self, schema: dict[str, Any], error: str, folder: Path, scan: Dowbench
    ) -> None:
        schema = {"type": "object", "properties": {}, **schema, "$defs": {"T": {"type": "string"}}}
        Path("many.json").write_text(json.dumps([tool(input_schema=schema)]))
        run = scan("many.json")
        assert (run.code, run.json["files"]) == (2, [])
        assert re.fullmatch(
            rf"error: many\.json:1:\d+: 60,000 {error}, more than 50,000 \(source_limits\.parameters\)\n", run.err
        )

    def test_more_parameters_than_an_operation_can_have(self, folder: Path, scan: Dowbench) -> None:
        parameters = [{"name": f"p{n}", "in": "query"} for n in range(60_000)]
        paths = {"/a": {"get": {"operationId": "find", "parameters": parameters}}}
        Path("api.json").write_text(json.dumps({"openapi": "3.1.0", "info": {}, "paths": paths}))
        run = scan("api.json")
        said = "60,000 parameters of a tool, more than 50,000 (source_limits.parameters)"
        assert (run.code, run.err) == (2, f"error: api.json:1:96: {said}\n")

    def test_work_does_not_grow_with_the_square_of_white_space(self, folder: Path, probe: Dowbench) -> None:
        space = " " * 400_000
        Path("a.yaml").write_text(f"parameters:{space}x\n")
        Path("b.json").write_text(
            f'{{"tools":{space}[{space}1], "type":{space}"x", "parameters"{space}:{space}{{{space}}}}}'
        )
        comment = f"# dowbench: ignore[probe-tool] a{space}b until{space}2999-01-01"
        Path("c.yaml").write_text(f"{comment}\n- name: probe_one\n  input_schema: {{}}\n")
        run = probe(".")
        assert (run.code, run.err) == (0, "")
        assert [note["path"] for note in run.json["skipped"]] == ["a.yaml", "b.json"]
        assert [(s["tool"], len(s["reason"])) for s in run.json["suppressed"]] == [("probe_one", len(space) + 2)]

    def test_work_does_not_grow_with_the_square_of_enums(self, folder: Path, scan: Dowbench) -> None:
        part = {"enum": [f"a{n}" for n in range(200_000)]}
        schema = {"type": "object", "properties": {"mode": {**part, "allOf": [{"enum": ["a199999", "b"]}, part]}}}
        Path("enums.json").write_text(json.dumps([tool(input_schema=schema)]))
        run = scan("enums.json")
        assert (run.err, run.json["files"][0]["tools"]) == ("", 1)
        assert ("heavy-definition", "probe_one") in found(run)

    def test_work_does_not_grow_with_the_square_of_parameters(self, folder: Path, scan: Dowbench) -> None:
        names = [f"limit_{n}" for n in range(6_000)]
        text = " ".join(f"The maximum of {name} is 5 pages." for name in names)
        schema = {"type": "object", "properties": {name: {"type": "integer"} for name in names}}
        Path("names.json").write_text(json.dumps([tool("search_all", description=text, input_schema=schema)]))
        run = scan("names.json")
        assert (run.err, run.json["files"][0]["tools"]) == ("", 1)
        assert ("heavy-definition", "search_all") in found(run)

    def test_work_does_not_grow_with_the_square_of_ignores(self, folder: Path, probe: Dowbench) -> None:
        count = 3_000
        covered = {"x-dowbench-ignore": ["probe-tool"]}
        Path("a.json").write_text(json.dumps([tool(f"probe_{n}", **covered) for n in range(count)]))
        item = "---\n# dowbench: ignore[probe-tool]\nname: probe_{}\ninput_schema: {{}}\n"
        Path("b.yaml").write_text("".join(item.format(n) for n in range(count)))
        Path("c.yaml").write_text("- name: other\n  input_schema: {}\n" + "# dowbench: ignore[probe-tool]\n" * 50_000)
        run = probe("a.json", "b.yaml", "c.yaml")
        by_file = Counter(suppressed["path"] for suppressed in run.json["suppressed"])
        assert by_file == {"a.json": count, "b.yaml": count}
        assert {finding["tool"] for finding in run.json["findings"]} == {None}

    @pytest.mark.parametrize(
        ("limit", "error"),
        [
            ("bytes: 100", "1:1: the file has 447 bytes, more than 100 bytes (source_limits.bytes)"),
            ("nesting: 3", "more than 3 levels of nesting (source_limits.nesting)"),
            ("nodes: 20", "more than 20 values (source_limits.nodes)"),
            ("tools: 2", "3 entries in a list of tools, more than 2 (source_limits.tools)"),
            (
                "text: 4",
                "some.json:1:2: the descriptions of a tool have 8 characters, more than 4 ",
            ),
            ("parameters: 1", "2 properties of an object, more than 1 (source_limits.parameters)"),
            ("seconds: 0.000001", "took more than 1e-06 s (source_limits.seconds)"),
        ],
    )
    def test_limits_can_be_set(self, limit: str, error: str, folder: Path, dowbench: Dowbench) -> None:
        Path("dowbench.yaml").write_text(f"source_limits: {{{limit}}}\n")
        schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
        Path("some.json").write_text(json.dumps([tool(f"save_{n}", input_schema=schema) for n in range(3)]))
        run = dowbench("scan", "some.json")
        assert run.code == 2
        assert error in run.err

    def test_the_size_of_what_has_none_is_not_made_up(self, folder: Path, dowbench: Dowbench, monkeypatch: Any) -> None:
        Path("dowbench.yaml").write_text("source_limits: {bytes: 100}\n")
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b" " * 1_000)))
        run = dowbench("scan", "-", "--loader", "auto")
        assert (run.code, run.err) == (2, "error: <stdin>:1:1: there are more than 100 bytes (source_limits.bytes)\n")


class TestNotFiles:
    """What a path can be besides a file."""

    def test_a_folder_called_json(self, folder: Path, scan: Dowbench) -> None:
        Path("x.json").mkdir()
        Path("x.json/y.json").write_text(json.dumps([tool()]))
        run = scan("x.json")
        assert [file["path"] for file in run.json["files"]] == ["x.json/y.json"]
        assert run.code == 0

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
    def test_a_fifo_is_not_waited_for(self, folder: Path, scan: Dowbench) -> None:
        os.mkfifo("pipe.json")
        Path("good.json").write_text(json.dumps([tool()]))
        run = scan("pipe.json", "good.json")
        assert run.code == 2
        assert run.err == "error: pipe.json: a pipe, not a regular file\n"
        assert [file["path"] for file in run.json["files"]] == ["good.json"]

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
    def test_what_a_folder_holds_in_place_of_files_is_told(self, folder: Path, scan: Dowbench) -> None:
        Path("good.json").write_text(json.dumps([tool()]))
        Path("dangling.json").symlink_to("absent.json")
        os.mkfifo("pipe.yaml")
        run = scan(".")
        assert (run.code, [file["path"] for file in run.json["files"]]) == (0, ["good.json"])
        assert run.err.splitlines() == [
            "warning: dangling.json: not scanned: symbolic link that leads nowhere: No such file or directory",
            "warning: pipe.yaml: not scanned: a pipe, not a regular file",
        ]
        for n in range(30):
            Path(f"z{n}.json").symlink_to("absent.json")
        run = scan(".")
        assert len(run.err.splitlines()) == 11
        more = "warning: .: and 22 more files like these were not scanned; --verbose names them"
        assert run.err.splitlines()[-1] == more
        assert len(run.json["skipped"]) == 32

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
    @pytest.mark.parametrize("name", ["dowbench.yaml", "dowbench.yml", "pyproject.toml"])
    def test_a_configuration_that_is_no_file_is_not_passed_over(
        self, name: str, folder: Path, dowbench: Dowbench
    ) -> None:
        Path("good.json").write_text(json.dumps([tool()]))
        makers = {
            "a pipe, not a regular file": os.mkfifo,
            "a folder, not a regular file": os.mkdir,
            "No such file or directory": lambda name: Path(name).symlink_to("absent"),
        }
        for said, make in makers.items():
            make(name)
            run = dowbench("scan", "good.json")
            assert (run.code, run.out, run.err) == (2, "", f"error: {name}: cannot be read: {said}\n")
            assert dowbench("scan", "--no-config", "good.json").code == 0
            Path(name).rmdir() if Path(name).is_dir() else Path(name).unlink()

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
    @pytest.mark.parametrize("name", ["probe-tool.yaml", "lexicon.yaml", "reported.yaml", "evidence.json", "pack.json"])
    def test_a_rule_pack_is_not_waited_for(self, name: str, folder: Path, dowbench: Dowbench) -> None:
        Path("good.json").write_text(json.dumps([tool()]))
        shutil.copytree(PROBE, "pack")
        file = Path("pack", name)
        for make, said in ((os.mkfifo, "a pipe"), (os.mkdir, "a folder")):
            file.unlink(missing_ok=True)
            make(file)
            run = dowbench("scan", "--no-config", "--rules", "pack", "--format", "json", "good.json")
            assert (run.code, run.out) == (2, "")
            assert run.err.endswith(f"pack/{name}: cannot be read: {said}, not a regular file\n")
            assert run.err.count("\n") == 1

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
    def test_a_file_that_becomes_a_pipe_is_not_waited_for(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        Path("x.json").write_text("[]")
        regular = Path("x.json").stat()
        os.mkfifo("pipe.json")
        monkeypatch.setattr(os, "stat", lambda path: regular)
        with pytest.raises(OSError, match="a pipe, not a regular file"):
            open_regular("pipe.json")

    def test_devices_and_endless_files(self, folder: Path, scan: Dowbench) -> None:
        Path("zero.json").symlink_to("/dev/zero")
        run = scan("zero.json", "/dev/zero")
        assert run.code == 2
        assert [line.split(": ", 2)[2] for line in run.err.splitlines()] == ["a device, not a regular file"] * 2

    def test_links_in_a_circle(self, folder: Path, scan: Dowbench) -> None:
        Path("a.json").symlink_to("b.json")
        Path("b.json").symlink_to("a.json")
        Path("in").mkdir()
        Path("in/up").symlink_to("..")
        Path("in/tools.json").write_text(json.dumps([tool()]))
        run = scan("a.json", "in")
        assert run.code == 2
        assert [file["path"] for file in run.json["files"]] == ["in/tools.json"]
        assert run.err.startswith("error: a.json: ")
        assert run.err.count("\n") == 1

    def test_nothing_there(self, folder: Path, scan: Dowbench) -> None:
        run = scan("absent\u202e\n::error::x.json")
        assert run.code == 2
        assert run.err.startswith("error: absent\\u202e\\u000a::error::x.json: ")
        assert run.err.count("\n") == 1

    @pytest.mark.skipif(not hasattr(os, "setuid"), reason="POSIX users")
    def test_unreadable(self, folder: Path) -> None:
        Path("good.json").write_text(json.dumps([tool()]))
        Path("closed").mkdir()
        Path("closed/tools.json").write_text("[]")
        for name, mode in (("secret.json", 0), ("closed", 0)):
            Path(name).touch()
            Path(name).chmod(mode)
        folder.chmod(0o755)
        # Root reads everything, so root becomes nobody once all modules are there.
        script = (
            "import os; from dowbench.cli import run; run(['scan', '--no-config', '--quiet', 'good.json'])\n"
            "if os.geteuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
            "raise SystemExit(run(['scan', '--no-config', 'good.json', 'secret.json', 'closed', '.']))"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        Path("closed").chmod(0o755)
        assert done.returncode == 2
        assert set(done.stderr.splitlines()) == {
            "error: secret.json: cannot be read: Permission denied",
            "error: closed: folder cannot be read: Permission denied",
        }
        assert "Scanned 1 tool in 1 file" in done.stdout

    @pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file that fails when it is read")
    def test_a_file_that_fails_while_it_is_read(self, folder: Path, scan: Dowbench) -> None:
        Path("good.json").write_text(json.dumps([tool()]))
        run = scan("/proc/self/mem", "good.json")
        assert run.code == 2
        assert run.err.endswith("/proc/self/mem: cannot be read: Input/output error\n")
        assert [file["path"] for file in run.json["files"]] == ["good.json"]

    @pytest.mark.parametrize(
        "name", ["::error::x.json", "##[error]x.json", "a\nb.json", "\x1b[31m.json", "\u202enosj.json", "|a|`b`.json"]
    )
    def test_names_of_files_forge_nothing(self, name: str, folder: Path, dowbench: Dowbench) -> None:
        Path(name).write_text(json.dumps([tool("list_notes", description="List all notes.")]))
        Path(f"{name}.json").write_text('{"tools": [')
        for report in REPORTS:
            run = dowbench("scan", "--no-config", "--format", report, ".", f"./{name}.json")
            assert run.code == 2
            assert not HIDDEN.search(run.out + run.err)
            assert report == "github" or not re.search(r"^\s*::|##\[", run.out + run.err, re.MULTILINE)
            assert not re.search("^::error::x", run.out + run.err, re.MULTILINE)
