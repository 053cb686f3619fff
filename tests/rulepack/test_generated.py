"""Pages, schema and pack.json are what the rules say now."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from probe_rule import RULE

from dowbench.errors import RuleError
from dowbench.rulepack import builtin_directory, load_pack
from dowbench.rulepack.docs import page, pages
from dowbench.rulepack.document import read
from dowbench.rulepack.files import Directory
from dowbench.rulepack.pack import DATA, rule_names
from dowbench.rulepack.schema import rule_schema

DOCS = Path(__file__).resolve().parents[2] / "docs" / "rules"
RULES = builtin_directory()


def test_pages_are_as_generated():
    made = pages(load_pack())
    assert {path.name for path in DOCS.iterdir()} == set(made)
    for name, text in made.items():
        assert (DOCS / name).read_text("utf-8") == text, f"docs/rules/{name}: run `dowbench rules docs`"


def test_pack_json_is_as_generated():
    text = Directory(RULES).generate(rule_names(RULES), list(DATA))
    assert (RULES / "pack.json").read_text("utf-8") == text, "run `dowbench rules docs`"


def test_schema_is_as_generated_and_valid():
    schema = json.loads((RULES / "schema.json").read_text("utf-8"))
    assert schema == rule_schema(), "run `dowbench rules docs`"
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("name", rule_names(RULES))
def test_every_rule_is_valid_by_the_schema(name):
    value = read((RULES / name).read_text("utf-8"), name)
    errors = [f"{error.json_path}: {error.message}" for error in Draft202012Validator(rule_schema()).iter_errors(value)]
    assert not errors


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("fix:", "colour: red\nfix:"),
        ("severity: medium", "severity: critical"),
        ("{words: [fetch]}", "{word: [fetch]}"),
        ("{words: [fetch]}", "[fetch]"),
        ("name: {words", "nome: {words"),
        ("family: tool_loop", "family: nothing"),
        ("tool: {name: fetch_page}", "tool: {nme: x}"),
        ("message:", "adjust: [{severity: low}]\nmessage:"),
    ],
)
def test_the_schema_refuses_what_loading_refuses(probe, old, new):
    text = RULE.replace(old, new, 1)
    assert text != RULE
    probe.write(text)
    validator = Draft202012Validator(rule_schema())
    assert validator.is_valid(read(RULE, "probe.yaml"))
    assert not validator.is_valid(read(text, "probe.yaml"))
    if "nme" not in new:
        with pytest.raises(RuleError):
            probe.pack()


def test_a_page_says_everything():
    pack = load_pack()
    rule = next(rule for rule in pack.rules if rule.id == "unbounded-pagination")
    text = page(pack, rule)
    for part in (
        "# unbounded-pagination",
        "| medium | high | default | `tool_loop` | tool |",
        "## Why it costs",
        "reported: ",
        "arXiv 2605.05846",
        "Before:",
        '"name": "list_tickets"',
        "`ToolCallLimitMiddleware(run_limit=20)`",
        "## Tests in the rule",
        "\nmatch:\n  any:\n",
        '"x-dowbench-ignore"',
        "https://cwe.mitre.org/data/definitions/770.html",
    ):
        assert part in text, part
    assert "<parameter>" not in text  # would be read as HTML


def test_the_index_names_every_rule():
    pack = load_pack()
    index = pages(pack)["README.md"]
    assert all(f"[{rule.id}]({rule.id}.md)" in index for rule in pack.rules)
