"""The rules that ship: they pass their own tests, and every branch of them is needed."""

import pytest
import yaml

from dowbench import loaders
from dowbench.rulepack import LIMITS, builtin_directory, load_pack
from dowbench.rulepack.selftest import test_pack as run_pack
from dowbench.words import split

IN_PARTS = {"other_trees": {"a11y"}}
"""Words with digits, which are taken apart in a name, and are put together again where they are looked up."""


def load(document, format):
    return loaders.load(document, path="<test>", document=0, format=format)


def test_every_rule_passes_its_own_tests_and_needs_every_branch():
    report = run_pack([builtin_directory()], load)
    assert not report.failures, "\n".join(map(str, report.failures))
    assert report.rules and report.tests >= 4 * report.rules


@pytest.mark.parametrize("name", sorted(load_pack().lexicon))
def test_every_word_of_a_list_can_stand_in_a_name(name):
    words = {word for phrase in load_pack().lexicon[name] for word in phrase.split()}
    assert {word for word in words if split(word) != (word,)} - {"..."} == IN_PARTS.get(name, set())


def asked_limits(part):
    """The limits that conditions ask for, at any depth of a rule."""
    if isinstance(part, dict):
        limits = part.get("limits")
        if isinstance(limits, dict):
            yield from limits.get("any_of", ())
        part = list(part.values())
    if isinstance(part, list):
        for item in part:
            yield from asked_limits(item)


def test_every_limit_that_can_be_declared_is_asked_for_by_a_rule():
    rules = (yaml.safe_load(path.read_text(encoding="utf-8")) for path in builtin_directory().glob("*.yaml"))
    assert {limit for rule in rules for limit in asked_limits(rule)} == set(LIMITS)
