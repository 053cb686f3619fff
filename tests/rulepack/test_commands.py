"""``dowbench rules``."""

import json

import pytest
from click.testing import CliRunner
from probe_rule import RULE

from dowbench.errors import RuleError, UsageError
from dowbench.rulepack.commands import rules


def run(*arguments):
    return CliRunner().invoke(rules, [str(a) for a in arguments], catch_exceptions=False)


def test_list_has_a_line_for_each_rule(probe):
    probe.write()
    result = run("list", "--rules", probe.folder)
    lines = {line.split()[0]: line.split(maxsplit=3)[1:] for line in result.stdout.splitlines()}
    assert lines["probe"] == ["medium", "high", "A probe"]
    assert lines["no-call-budget"][:2] == ["low", "high"]


def test_list_as_json_has_everything_known(probe):
    probe.write()
    (found,) = [
        rule for rule in json.loads(run("list", "--json", "--rules", probe.folder).stdout) if rule["id"] == "probe"
    ]
    assert (found["severity"], found["why"], found["taxonomy"]) == ("medium", "It costs.", ["CWE-770"])
    assert found["evidence"] == [
        {
            "provenance": "none",
            "text": "no test of this is known",
            "source": None,
            "amplification": None,
            "lower": None,
        }
    ]


def test_show_prints_the_page(probe):
    probe.write()
    assert run("show", "unbounded-result").stdout.startswith("# unbounded-result\n")
    assert "A probe" in run("show", "probe", "--rules", probe.folder).stdout


def test_show_of_an_unknown_rule_is_an_error():
    with pytest.raises(UsageError, match="unknown rule `unbounded-reslt`; did you mean `unbounded-result`"):
        run("show", "unbounded-reslt")


def test_test_of_a_good_pack(probe):
    probe.write()
    result = run("test", probe.folder)
    assert (result.exit_code, result.stdout) == (0, "1 rules, 2 tests, 1 branches, 0 failures.\n")


def test_test_of_a_bad_pack_names_the_place_and_exits_1(probe):
    path = probe.write(RULE.replace("[fetch]}", "[fetch], without: [dog]}"))
    result = run("test", probe.folder)
    assert result.exit_code == 1
    assert (
        result.stderr == f"{path}:10: match.name.without: no test fails when this is deleted: add one, or delete it\n"
    )


def test_docs_of_a_pack_are_written_checked_and_cleaned(probe, tmp_path):
    probe.write()
    output = tmp_path / "docs"
    assert run("docs", probe.folder, "-o", output, "--check").exit_code == 1
    assert not output.exists()
    assert run("docs", probe.folder, "-o", output).exit_code == 0
    assert sorted(p.name for p in output.iterdir()) == ["README.md", "probe.md"]
    assert (probe.folder / "pack.json").is_file()
    assert run("docs", probe.folder, "-o", output, "--check").exit_code == 0
    (output / "old.md").write_text("<!-- Generated from old.yaml by `dowbench rules docs`. -->")
    (output / "mine.md").write_text("Written by hand.")
    result = run("docs", probe.folder, "-o", output, "--check")
    assert (result.exit_code, result.stderr) == (
        1,
        f"{output / 'old.md'}: not as generated; run `dowbench rules docs`\n",
    )
    run("docs", probe.folder, "-o", output)
    assert sorted(p.name for p in output.iterdir()) == ["README.md", "mine.md", "probe.md"]


BAD = "example:\n  before: {name: x, parameters: {q: 5}}\n  after: {name: x}\ntests:"


@pytest.mark.parametrize("command", [("list",), ("list", "--json"), ("show", "probe")])
def test_a_fault_in_an_example_has_its_place(probe, command):
    path = probe.write(RULE.replace("tests:", BAD))
    with pytest.raises(RuleError, match=r"probe\.yaml:14:34: example\.before\.parameters\.q: ") as caught:
        run(*command, "--rules", probe.folder)
    assert caught.value.path == str(path)


@pytest.mark.parametrize(
    ("text", "name"),
    [(RULE.replace("scope:", "frameworks: [nope]\nscope:"), "probe.yaml"), ("settings: [5]\n", "frameworks.yaml")],
)
def test_a_pack_that_no_scan_can_load_does_not_pass_its_tests(probe, text, name):
    probe.write()
    probe.write(text, name)
    with pytest.raises(RuleError, match=name):
        run("test", probe.folder)


def test_docs_where_nothing_can_be_written_are_an_error(probe, tmp_path):
    probe.write()
    (tmp_path / "taken").write_text("")
    with pytest.raises(UsageError, match=r"taken: cannot be written: "):
        run("docs", probe.folder, "-o", tmp_path / "taken")
    assert (tmp_path / "taken").read_text() == ""
