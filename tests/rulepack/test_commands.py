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
            "text": "not measured yet",
            "source": None,
            "amplification": None,
            "lower": None,
        }
    ]


def test_only_a_built_in_rule_has_a_page_on_the_web(probe):
    probe.write()
    listed = json.loads(run("list", "--json", "--rules", probe.folder).stdout)
    pages = {rule["id"]: rule["page"] for rule in listed}
    assert pages.pop("probe") is None
    assert all(page.endswith(f"/docs/rules/{rule}.md") for rule, page in pages.items())


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
    assert (result.exit_code, result.stdout) == (0, "1 rule, 2 tests, 1 branch, 0 failures.\n")


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


@pytest.mark.parametrize("text", ["[", "{}", "5", '{"probe.yaml": 5}', "<<<<<<< ours\n{\n=======\n"])
def test_docs_repair_a_broken_pack_json(probe, tmp_path, text):
    probe.write()
    output = tmp_path / "docs"
    run("docs", probe.folder, "-o", output)
    generated = (probe.folder / "pack.json").read_text()
    (probe.folder / "pack.json").write_text(text)
    check = run("docs", probe.folder, "-o", output, "--check")
    assert (check.exit_code, "pack.json: not as generated" in check.stderr) == (1, True)
    run("docs", probe.folder, "-o", output)
    assert (probe.folder / "pack.json").read_text() == generated
    assert [rule.id for rule in probe.pack().rules] == ["probe"]


def test_docs_write_what_the_rules_say_and_not_what_pack_json_says(probe, tmp_path):
    probe.write()
    run("docs", probe.folder, "-o", tmp_path / "docs")
    generated = (probe.folder / "pack.json").read_text()
    (probe.folder / "pack.json").write_text(generated.replace("A probe", "A forgery"))
    run("docs", probe.folder, "-o", tmp_path / "docs")
    assert (probe.folder / "pack.json").read_text() == generated


@pytest.mark.parametrize("name", ["README.md", "probe.md"])
def test_docs_replace_no_file_that_they_did_not_write(probe, tmp_path, name):
    probe.write()
    output = tmp_path / "docs"
    output.mkdir()
    (output / name).write_text("mine")
    with pytest.raises(UsageError, match="not written: there is a file that dowbench did not write") as caught:
        run("docs", probe.folder, "-o", output)
    assert caught.value.path == (output / name).as_posix()
    assert {p.name: p.read_text() for p in output.iterdir()} == {name: "mine"}
    assert not (probe.folder / "pack.json").exists()


def test_docs_do_not_write_through_a_link(probe, tmp_path):
    probe.write()
    output = tmp_path / "docs"
    output.mkdir()
    (tmp_path / "elsewhere.md").write_text("")
    (output / "README.md").symlink_to(tmp_path / "elsewhere.md")
    with pytest.raises(UsageError, match="a symbolic link"):
        run("docs", probe.folder, "-o", output)
    assert (tmp_path / "elsewhere.md").read_text() == ""


def test_docs_into_an_empty_name_are_a_mistake(probe):
    probe.write()
    result = run("docs", probe.folder, "-o", "")
    assert (result.exit_code, "the value is empty" in result.stderr) == (2, True)


def test_rules_that_are_not_read_are_named(probe):
    path = probe.write()
    for name in ("sub/deeper/one.yaml", ".git/hidden.yaml", "docs/settings.yaml", "probe_two.YAML"):
        (probe.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (probe.folder / name).write_text("a: 1\n" if "settings" in name else path.read_text())
    for command in (("list", "--rules", probe.folder), ("test", probe.folder), ("docs", probe.folder, "--check")):
        warnings = [line for line in run(*command).stderr.splitlines() if line.startswith("warning: ")]
        assert [line.partition(": not read: ")[0].rpartition("pack/")[2] for line in warnings] == [
            "probe_two.YAML",
            "sub/deeper/one.yaml",
        ]
