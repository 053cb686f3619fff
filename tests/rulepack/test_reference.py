"""The reference in docs/writing-rules.md knows every word of the language, and its example works."""

import re
from pathlib import Path

import pytest
from probe_rule import load

from dowbench.rulepack import parameters
from dowbench.rulepack.conditions import BOUNDS, KINDS, RESULT_KEYS, SET, TOOL
from dowbench.rulepack.matching import DESCRIPTION_KEYS, NAME_KEYS
from dowbench.rulepack.rule import ADJUST_KEYS, KEYS, PLACES
from dowbench.rulepack.selftest import CASE_KEYS
from dowbench.rulepack.selftest import test_pack as run_pack

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "writing-rules.md").read_text("utf-8")
WORDS = {
    *KEYS,
    *TOOL,
    *SET,
    *NAME_KEYS,
    *DESCRIPTION_KEYS,
    *parameters.PARAMETER_KEYS,
    *parameters.TYPES,
    *parameters.SOURCES,
    *parameters.COMPARISONS,
    *parameters.RESULT_ROLES,
    *RESULT_KEYS,
    *KINDS,
    *BOUNDS,
    *ADJUST_KEYS,
    *PLACES,
    *CASE_KEYS,
    *("{" + fact + "}" for operator in (*TOOL.values(), *SET.values()) for fact in operator.facts),
}


@pytest.mark.parametrize("word", sorted(WORDS))
def test_it_is_explained(word):
    assert re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", TEXT), f"docs/writing-rules.md does not mention {word}"


def test_the_example_is_a_rule_that_passes_its_tests(tmp_path):
    example = re.search(r"## A whole rule\n\n```yaml\n(.*?)```", TEXT, re.DOTALL)
    assert example
    (tmp_path / "unbounded-export.yaml").write_text(example[1], encoding="utf-8")
    report = run_pack([tmp_path], load)
    assert not report.failures, "\n".join(map(str, report.failures))
    assert (report.rules, report.tests) == (1, 4)
