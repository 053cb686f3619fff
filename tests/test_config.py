"""The configuration: where it is found, what it sets, and how it is refused."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from workbench import PROBE, tool, write

from dowbench import configfile
from dowbench.config import Config, Waiver, find
from dowbench.errors import UsageError
from dowbench.rulepack import LIMITS
from dowbench.source import DEFAULT_LIMITS


def load(folder: Path, text: str, name: str = "dowbench.yaml") -> Config:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return configfile.load(path, shown=name)


def refused(folder: Path, text: str, name: str = "dowbench.yaml") -> str:
    with pytest.raises(UsageError) as error:
        load(folder, text, name)
    return str(error.value)


EVERYTHING = """\
files: [tools/*.json]
exclude: [vendor]
loader: mcp
skip_unrecognized: true
fail_on: high
tier: pedantic
select: [a]
ignore: [b]
min_severity: medium
min_confidence: high
baseline: known.json
exceptions:
  - rules: [a]
    files: [x.json]
    tools: [t]
    reason: because
    until: 2027-01-31
rule_packs: [rules]
rules:
  a: {enabled: false, severity: low, options: {items: 5}}
words:
  result_limit: [batchy]
limits: {max_calls: 20, max_cost_usd: 0.5}
source_limits: {bytes: 100}
"""


def test_every_setting_arrives(folder):
    config = load(folder, EVERYTHING)
    assert dataclasses.replace(config, lines={}) == Config(
        files=("tools/*.json",),
        exclude=("vendor",),
        loader="mcp",
        skip_unrecognized=True,
        fail_on="high",
        tier="pedantic",
        select=("a",),
        ignore=("b",),
        min_severity="medium",
        min_confidence="high",
        baseline="known.json",
        exceptions=(Waiver(("a",), "because", ("x.json",), ("t",), "2027-01-31", 13),),
        rule_packs=("rules",),
        rules={"a": {"enabled": False, "severity": "low", "options": {"items": 5}}},
        words={"result_limit": ("batchy",)},
        limits={"max_calls": 20, "max_cost_usd": 0.5},
        source_limits={"bytes": 100},
        base=folder,
        path="dowbench.yaml",
        lines={},
    )


def test_pyproject_says_the_same(folder):
    toml = """\
[tool.other]
files = 3

[tool.dowbench]
files = ["tools/*.json"]
fail_on = "high"
limits = {max_calls = 20}

[tool.dowbench.rules.a]
severity = "low"

[[tool.dowbench.exceptions]]
rules = ["a"]
reason = "because"
until = 2027-01-31
"""
    config = load(folder, toml, "pyproject.toml")
    assert (config.files, config.fail_on, config.limits) == (("tools/*.json",), "high", {"max_calls": 20})
    assert config.rules == {"a": {"severity": "low"}}
    assert config.exceptions == (Waiver(("a",), "because", until="2027-01-31", line=12),)


def test_empty_file_sets_nothing(folder):
    for text in ("", "# nothing yet\n", "{}"):
        config = load(folder, text)
        assert dataclasses.replace(config, base=Path(), path=None) == Config()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fail-on: high\n", "dowbench.yaml:1: unknown key \"fail-on\" in the configuration; did you mean 'fail_on'?"),
        ("tier: default\nfrobnicate: 1\n", 'dowbench.yaml:2: unknown key "frobnicate" in the configuration; known are'),
        ("limits:\n  max_cals: 3\n", "dowbench.yaml:2: unknown key \"max_cals\" in limits; did you mean 'max_calls'?"),
        ("limits:\n  max_calls: many\n", "dowbench.yaml:2: limits.max_calls must be an integer"),
        ("limits:\n  max_calls: 0\n", "dowbench.yaml:2: limits.max_calls must be a finite number of at least 1"),
        ("limits: {max_cost_usd: .inf}\n", "dowbench.yaml:1: limits.max_cost_usd must be a finite number above 0"),
        ("limits: {max_cost_usd: .nan}\n", "dowbench.yaml:1: limits.max_cost_usd must be a finite number above 0"),
        (
            "source_limits:\n  nesting: 1000000\n",
            "dowbench.yaml:2: source_limits.nesting must be a finite number of at least 1 and at most 500",
        ),
        ("limits: {max_calls: true}\n", "dowbench.yaml:1: limits.max_calls must be an integer"),
        ("fail_on: severe\n", 'dowbench.yaml:1: fail_on must be one of high, medium, low, none, not "severe"'),
        ("fail_on:\n", "dowbench.yaml:1: fail_on must be one of high, medium, low, none, not null"),
        ("select: unbounded-result\n", "dowbench.yaml:1: select must be a list"),
        ("select:\n  - a\n  - 3\n", "dowbench.yaml:3: select[1] must be a string"),
        ("exclude: ['']\n", "dowbench.yaml:1: exclude[0] must not be empty"),
        ("rules:\n  a:\n    enabled: maybe\n", "dowbench.yaml:3: rules.a.enabled must be true or false"),
        ("rules: {a: {options: {x: y}}}\n", "dowbench.yaml:1: rules.a.options.x must be a number"),
        ("exceptions:\n  - rules: [a]\n", "dowbench.yaml:2: exceptions[0] needs the key 'reason'"),
        ("exceptions: [{rules: [], reason: x}]\n", "dowbench.yaml:1: exceptions[0].rules must not be empty"),
        (
            "exceptions: [{rules: [a], reason: x, until: soon}]\n",
            'dowbench.yaml:1: exceptions[0].until must be a date as YYYY-MM-DD, not "soon"',
        ),
        ("- a\n", "dowbench.yaml:1: a configuration must be a mapping"),
        ("a: 1\n---\nb: 2\n", "dowbench.yaml: a configuration is one YAML document, this file holds several"),
        ("tier: default\ntier: pedantic\n", "dowbench.yaml:2:1: duplicate key"),
        ("tier: [\n", "dowbench.yaml:2:1: "),
    ],
)
def test_faults_are_one_line_with_their_place(folder, text, message):
    assert refused(folder, text).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.dowbench]\ntier = 'default'\nfoo = 1\n", 'pyproject.toml:3: unknown key "foo"'),
        (
            "[tool.dowbench]\n\n[tool.dowbench.limits]\nmax_calls = 0\n",
            "pyproject.toml:4: limits.max_calls must be a finite number of at least 1",
        ),
        ("[tool]\ndowbench.fail_on = 'x'\n", "pyproject.toml:2: fail_on must be one of"),
        ("[tool.dowbench.rules.'a-b']\nseverity = 'x'\n", "pyproject.toml:2: rules.a-b.severity must be one of"),
        ("[tool.dowbench]\nselect = [\n 'a',\n 3,\n]\n", "pyproject.toml:2: select[1] must be a string"),
        ("[tool.dowbench\n", "pyproject.toml:1: not valid TOML: "),
        ("[tool]\ndowbench = 3\n", "pyproject.toml:2: the configuration must be a mapping"),
    ],
)
def test_faults_in_pyproject_have_their_line(folder, text, message):
    assert refused(folder, text, "pyproject.toml").startswith(message)


def test_named_pyproject_without_the_table(folder):
    assert refused(folder, "[tool.other]\n", "pyproject.toml") == "pyproject.toml: no table [tool.dowbench]"


def test_missing_file(folder, dowbench):
    run = dowbench("scan", "--config", "missing.yaml")
    assert (run.code, run.err) == (2, "error: missing.yaml: cannot be read: No such file or directory\n")


def test_nearest_one_is_found_going_up(folder):
    inner = folder / "a" / "b"
    inner.mkdir(parents=True)
    assert find(inner) is None
    (folder / "pyproject.toml").write_text("[tool.dowbench]\n", encoding="utf-8")
    assert find(inner) == folder / "pyproject.toml"
    (folder / "a" / "pyproject.toml").write_text("[project]\nname = 'dowbench-user'\n", encoding="utf-8")
    assert find(inner) == folder / "pyproject.toml"
    (folder / "dowbench.yaml").touch()
    assert find(inner) == folder / "dowbench.yaml"
    (inner / "dowbench.yml").touch()
    assert find(inner) == inner / "dowbench.yml"


ONE = "and there can be one"


@pytest.mark.parametrize(
    ("others", "read", "unread"),
    [
        ({"dowbench.yml": ""}, "dowbench.yaml", ["dowbench.yml"]),
        ({"pyproject.toml": "[tool.dowbench]\n"}, "dowbench.yaml", ["pyproject.toml"]),
        ({"pyproject.toml": "tool = {dowbench = {}}\n", "dowbench.yml": ""}, "dowbench.yaml",
         ["dowbench.yml", "pyproject.toml"]),
        ({"pyproject.toml": "# tool.dowbench is in dowbench.yaml\n[project]\nname = 'a'\n"}, "dowbench.yaml", []),
        ({"pyproject.toml": "not [ toml\n", "dowbench.json": "{}"}, "dowbench.yaml", []),
        ({"../dowbench.yml": "fail_on: high\n"}, "dowbench.yaml", []),
        ({}, "dowbench.yml", []),
        ({"pyproject.toml": "[tool.dowbench]\n"}, "dowbench.yml", ["pyproject.toml"]),
    ],
)  # fmt: skip
def test_a_configuration_that_another_one_hides_is_named(folder, probe, monkeypatch, others, read, unread):
    (folder / "sub").mkdir()
    write(folder / "sub" / "tools.json", tool("probe_a"))
    monkeypatch.chdir("sub")
    Path(read).write_text("fail_on: low\n", encoding="utf-8")
    for name, text in others.items():
        Path(name).write_text(text, encoding="utf-8")
    run = probe("tools.json")
    assert run.code == 1
    assert run.err.splitlines() == [f"warning: {name}: not read: the configuration is {read}, {ONE}" for name in unread]
    assert [note["path"] for note in run.json["warnings"]] == unread
    for chosen in (("--config", read), ("--no-config",)):
        assert probe(*chosen, "tools.json").err == ""


def test_a_mention_of_the_table_is_no_configuration(folder):
    (folder / "pyproject.toml").write_text("# no tool.dowbench here\n", encoding="utf-8")
    assert find(folder) is None
    (folder / "pyproject.toml").write_text("[tool.dowbench\n", encoding="utf-8")
    assert find(folder) == folder / "pyproject.toml"


def test_search_ends_at_the_work_tree_and_at_home(folder, tmp_path, monkeypatch):
    (tmp_path / "dowbench.yaml").touch()
    assert find(folder) is None
    (folder / ".git").rmdir()
    assert find(folder) == tmp_path / "dowbench.yaml"
    monkeypatch.setattr(Path, "home", lambda: folder)
    assert find(folder) is None


def test_paths_are_relative_to_the_file(folder, probe, monkeypatch):
    write(folder / "tools" / "a.json", tool("probe_a"))
    write(folder / "other" / "b.json", tool("probe_b"))
    (folder / "dowbench.yaml").write_text("files: ['tools/*.json']\n", encoding="utf-8")
    (folder / "sub").mkdir()
    assert [found[1] for found in probe().found] == ["tools/a.json:2"]
    monkeypatch.chdir("sub")
    assert [found[1] for found in probe().found] == ["../tools/a.json:2"]


def test_the_command_line_wins(folder, probe):
    write(folder / "tools.json", tool("probe_a"))
    (folder / "dowbench.yaml").write_text("fail_on: none\nselect: [unbounded-result]\n", encoding="utf-8")
    assert probe("tools.json", "--fail-on", "high").code == 1
    (folder / "dowbench.yaml").write_text("fail_on: high\n", encoding="utf-8")
    assert probe("tools.json").code == 1
    assert probe("tools.json", "--no-config").code == 0


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("select:\n- nope\n", ("--select", "unbounded-result"), "dowbench.yaml:2: select: unknown rule 'nope'"),
        ("ignore: [nope]\n", ("--ignore", "unbounded-result"), "dowbench.yaml:1: ignore: unknown rule 'nope'"),
        ("loader: nope\n", ("--loader", "mcp"), "dowbench.yaml:1: there is no format 'nope'"),
        ("tier: default\n", ("--select", "nope"), "select: unknown rule 'nope'"),
        ("tier: default\n", ("--loader", "nope"), "there is no format 'nope'"),
        ("tier: default\n", ("--rules", "nope"), "no such directory of rules: "),
    ],
)
def test_what_is_wrong_is_said_where_it_stands_in_the_file_or_the_command(folder, dowbench, text, arguments, message):
    write(folder / "tools.json", tool())
    (folder / "dowbench.yaml").write_text(text, encoding="utf-8")
    run = dowbench("scan", "tools.json", *arguments)
    assert (run.code, run.out, len(run.err.splitlines())) == (2, "", 1)
    assert run.err.startswith(f"error: {message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tier: default\nselect:\n  - probe-tol\n", "dowbench.yaml:3: select: unknown rule 'probe-tol'; did you mean"),
        ("ignore: [probe-tol]\n", "dowbench.yaml:1: ignore: unknown rule 'probe-tol'"),
        ("rules:\n  probe-tol: {severity: low}\n", "dowbench.yaml:2: unknown rule `probe-tol`"),
        ("rules:\n  probe-set:\n    options:\n      size: 3\n", "dowbench.yaml:4: unknown option `size`"),
        ("words:\n  no_such_list: [x]\n", "dowbench.yaml:2: unknown word list `no_such_list`"),
        (
            "exceptions:\n- rules: [all]\n  reason: x\n- rules: [probe-tol]\n  reason: x\n",
            "dowbench.yaml:4: exceptions[1].rules: unknown rule",
        ),
        ("loader: opanai\n", "dowbench.yaml:1: there is no format 'opanai'"),
        ("rule_packs: [nowhere]\n", "dowbench.yaml:1: no such directory of rules: "),
    ],
)
def test_settings_that_only_the_rules_can_judge_have_their_line(folder, dowbench, text, message):
    write(folder / "tools.json", tool())
    (folder / "dowbench.yaml").write_text(text, encoding="utf-8")
    run = dowbench("scan", "tools.json", "--rules", str(PROBE))
    assert run.code == 2
    assert run.err.startswith(f"error: {message}")
    assert len(run.err.splitlines()) == 1


def test_rules_can_be_disabled_regraded_and_set(folder, probe):
    write(folder / "tools.json", tool("probe_a", knob=True), tool("other"))
    assert {f["rule"]: f["severity"] for f in probe("tools.json").json["findings"]} == {
        "probe-tool": "high", "probe-parameter": "medium", "probe-set": "low",
    }  # fmt: skip
    (folder / "dowbench.yaml").write_text(
        "rules:\n  probe-tool: {severity: low}\n  probe-parameter: {enabled: false}\n"
        "  probe-set: {options: {tools: 3}}\n",
        encoding="utf-8",
    )
    assert {f["rule"]: f["severity"] for f in probe("tools.json").json["findings"]} == {"probe-tool": "low"}


def test_declared_limits_answer_the_rules_they_cover(folder, dowbench):
    definitions = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("a", "b", "c")]
    (folder / "tools.json").write_text(json.dumps(definitions), encoding="utf-8")
    arguments = ("scan", "tools.json", "--format", "json", "--select", "no-call-budget")
    assert [found[0] for found in dowbench(*arguments).found] == ["no-call-budget"]
    (folder / "dowbench.yaml").write_text("limits: {max_calls: 20}\n", encoding="utf-8")
    assert dowbench(*arguments).found == []


def test_schema_and_dataclass_name_the_same_settings_and_defaults():
    properties = configfile.schema()["properties"]
    fields = {
        f.name: f for f in dataclasses.fields(Config) if f.name not in ("base", "path", "lines", "unread", "overruled")
    }
    assert set(properties) == set(fields)
    default = Config()
    for name, schema in properties.items():
        value = getattr(default, name)
        expected = schema.get("default")
        assert (list(value) if isinstance(value, tuple) else value) == expected, name
    assert set(properties["limits"]["properties"]) == set(LIMITS)
    bounds = {name: schema["default"] for name, schema in properties["source_limits"]["properties"].items()}
    assert bounds == DEFAULT_LIMITS._asdict()
    waiver = properties["exceptions"]["items"]["properties"]
    assert set(waiver) == {*Waiver._fields} - {"line"}


def test_schema_is_a_json_schema_that_judges_as_the_loader_does(folder):
    schema = configfile.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    judge = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    good = json.loads(json.dumps(dict(configfile._read_yaml(_file(folder, EVERYTHING), "x")[0])))
    assert [error.message for error in judge.iter_errors(good)] == []
    assert list(configfile.check(good, schema)) == []
    for change in (
        {"frob": 1}, {"files": "a"}, {"files": [""]}, {"fail_on": None}, {"limits": {"max_calls": 0}},
        {"limits": {"max_cost_usd": 0}}, {"limits": {"x": 1}}, {"rules": {"a": {"enabled": 1}}}, {"words": {"a": "b"}},
        {"exceptions": [{"rules": ["a"]}]}, {"exceptions": [{"rules": [], "reason": "x"}]},
        {"exceptions": [{"rules": ["a"], "reason": "x", "until": "2027-02-30"}]}, {"source_limits": {"bytes": 1.5}},
        {"skip_unrecognized": "yes"}, {"rules": {"a": {"options": {"x": "y"}}}}, {"baseline": ""},
    ):  # fmt: skip
        bad = {**good, **change}
        assert not judge.is_valid(bad), change
        assert list(configfile.check(bad, schema)), change


def _file(folder: Path, text: str) -> Path:
    path = folder / "everything.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_schema_uses_only_keywords_that_the_loader_checks():
    known = {
        "$schema", "title", "description", "default", "type", "enum", "properties", "additionalProperties", "required",
        "items", "minItems", "minLength", "minimum", "exclusiveMinimum", "maximum", "format",
    }  # fmt: skip

    def walk(node):
        assert set(node) <= known, set(node) - known
        for child in node.get("properties", {}).values():
            walk(child)
        for key in ("items", "additionalProperties"):
            if isinstance(node.get(key), dict):
                walk(node[key])

    walk(configfile.schema())


def test_schema_is_in_the_package():
    script = (
        "import importlib.resources as r, json;"
        "print(json.loads(r.files('dowbench').joinpath('config.schema.json').read_text('utf-8'))['title'])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "dowbench configuration\n"


def test_reference_has_a_row_for_each_setting():
    rows = configfile.reference()
    first = rows.partition("\n\n")[0]
    for name in configfile.schema()["properties"]:
        assert first.count(f"\n| `{name}` |") == 1, name
    for name in (*LIMITS, *DEFAULT_LIMITS._fields):
        assert f"\n| `{name}` |" in rows, name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.dowbench]\nx = " + "[" * 100_000, "not valid TOML: "),
        ("[tool.dowbench]\nx = " + "9" * 5_000, "not valid TOML: Exceeds the limit"),
        ("tool = 5\n", "no table [tool.dowbench]"),
        ("[tool]\ndowbench = 5\n", "the configuration must be a mapping"),
        ("[tool.dowbench.limits]\nmax_calls = nan\n", "max_calls must be an integer"),
    ],
)
def test_hostile_toml(folder, dowbench, text, message):
    write(folder / "tools.json", tool())
    (folder / "hostile.toml").write_text(text, encoding="utf-8")
    run = dowbench("scan", "tools.json", "--config", "hostile.toml")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("error: hostile.toml:")
    assert message in run.err
    assert len(run.err.splitlines()) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_settings_are_read_from_files_that_end(folder, dowbench):
    write(folder / "tools.json", tool())
    os.mkfifo(folder / "pipe")
    for name, kind in (("pipe", "a pipe"), ("/dev/zero", "a device"), (".", "a folder")):
        for option, said in (("--config", ""), ("--baseline", "baseline ")):
            run = dowbench("scan", "tools.json", option, name)
            assert (run.code, run.out) == (2, "")
            assert run.err.endswith(f"{name}: {said}cannot be read: {kind}, not a regular file\n")
    (folder / "dowbench.yaml").write_text("baseline: pipe\n", encoding="utf-8")
    wanted = "error: pipe: baseline cannot be read: a pipe, not a regular file\n"
    assert dowbench("scan", "tools.json").err == wanted
    assert dowbench("scan", "tools.json", "--config", os.devnull).code == 0


def test_a_configuration_that_is_a_link_out_of_the_repository_is_not_read(folder, dowbench, tmp_path):
    write(folder / "tools.json", tool())
    (folder / "shared").mkdir()
    (folder / "shared" / "own.yaml").write_text("fail_on: none\n", encoding="utf-8")
    (folder / "dowbench.yaml").symlink_to("shared/own.yaml")
    assert dowbench("scan", "tools.json").code == 0
    (tmp_path / "secret").write_text("secret-key: 5\n[tool.dowbench]\n", encoding="utf-8")
    for name in ("dowbench.yaml", "pyproject.toml"):
        (folder / "dowbench.yaml").unlink(missing_ok=True)
        (folder / name).symlink_to(tmp_path / "secret")
        run = dowbench("scan", "tools.json")
        assert (run.code, run.out) == (2, "")
        assert run.err == f"error: {name}: a link out of the repository is not followed; name it with --config\n"
    (tmp_path / "secret").write_text("[project]\n", encoding="utf-8")
    assert dowbench("scan", "tools.json").code == 0


def test_a_working_directory_that_is_gone(folder, dowbench, monkeypatch, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    tools = write(folder / "tools.json", tool())
    monkeypatch.chdir(gone)
    gone.rmdir()
    for arguments in ((), (".",), (str(tools),), (str(tools), "--no-config")):
        run = dowbench("scan", *arguments)
        assert (run.code, run.out) == (2, "")
        assert run.err == "error: the working directory cannot be entered: No such file or directory\n"


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("[", "a [ has no ]; [[] matches the character"),
        ("a/[bc/d]", "a [ has no ]; [[] matches the character"),
        ("[!]x", "a [ has no ]; [[] matches the character"),
        ("x[z-a]", "a range in [ ] holds no character"),
        ("!keep.json", "a pattern cannot be negated"),
        ("vendor\\*", "a backslash escapes nothing, and folders are divided by /"),
        ("/", "it names no file"),
        ("./", "it names no file"),
    ],
)
def test_patterns_that_match_nothing_are_refused(folder, dowbench, pattern, why):
    write(folder / "tools.json", tool())
    quoted = json.dumps(pattern)
    said = f"the pattern {pattern!r} matches nothing: {why}"
    (folder / "dowbench.yaml").write_text(f"tier: default\nexclude:\n- vendor\n- {quoted}\n", encoding="utf-8")
    run = dowbench("scan", "tools.json")
    assert (run.code, run.out, run.err) == (2, "", f"error: dowbench.yaml:4: exclude: {said}\n")
    waiver = f"exceptions:\n- rules: [all]\n  reason: x\n  files:\n  - {quoted}\n"
    (folder / "dowbench.yaml").write_text(waiver, encoding="utf-8")
    run = dowbench("scan", "tools.json")
    assert (run.code, run.out, run.err) == (2, "", f"error: dowbench.yaml:5: exceptions[0].files: {said}\n")


@pytest.mark.parametrize("pattern", ["[[]", "[]]", "[!]]", "a[!b-c]", "**/[ab].json", "x]", "/vendor", "../x", "a.b"])
def test_patterns_that_may_match_are_taken(folder, dowbench, pattern):
    write(folder / "tools.json", tool())
    (folder / "dowbench.yaml").write_text(f"exclude: [{json.dumps(pattern)}]\n", encoding="utf-8")
    run = dowbench("scan", "tools.json")
    assert (run.code, run.err) == (0, "")


@pytest.mark.parametrize(
    "text", ["[tool]\ndowbench.tier = 'x'\n", "[ tool . dowbench ]\ntier = 'x'\n", "tool = {dowbench = {tier = 'x'}}"]
)
def test_a_table_is_found_however_it_is_written(folder, dowbench, text):
    write(folder / "tools.json", tool())
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    run = dowbench("scan", "tools.json")
    assert (run.code, run.out) == (2, "")
    assert "tier must be one of default, pedantic" in run.err


@pytest.mark.parametrize(
    ("text", "arguments", "place"),
    [
        ("", ("--select", "unbounded-result", "--ignore", "unbounded-result"), ""),
        ("tier: default\nselect: [unbounded-result]\nignore: [unbounded-result]\n", (), "dowbench.yaml:3: "),
        ("ignore: [unbounded-result]\n", ("--select", "unbounded-result"), "dowbench.yaml:1: "),
    ],
)
def test_settings_that_leave_no_rule_are_refused(folder, dowbench, text, arguments, place):
    write(folder / "tools.json", tool())
    (folder / "dowbench.yaml").write_text(text, encoding="utf-8")
    run = dowbench("scan", "tools.json", *arguments)
    assert (run.code, run.out) == (2, "")
    assert run.err == f"error: {place}select, ignore and rules leave no rule in force\n"


def test_rules_that_are_all_switched_off_are_refused(folder, dowbench):
    write(folder / "tools.json", tool())
    every = [rule["id"] for rule in json.loads(dowbench("rules", "list", "--json").out)]
    (folder / "dowbench.yaml").write_text(
        "rules:\n" + "".join(f"  {rule}: {{enabled: false}}\n" for rule in every), encoding="utf-8"
    )
    run = dowbench("scan", "tools.json")
    assert (run.code, run.out) == (2, "")
    assert "select, ignore and rules leave no rule in force" in run.err
