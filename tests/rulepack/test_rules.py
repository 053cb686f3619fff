"""The rules that ship: they pass their own tests, and every branch of them is needed."""

from dowbench import loaders
from dowbench.rulepack import builtin_directory
from dowbench.rulepack.selftest import test_pack as run_pack


def load(document, format):
    return loaders.load(document, path="<test>", document=0, format=format)


def test_every_rule_passes_its_own_tests_and_needs_every_branch():
    report = run_pack([builtin_directory()], load)
    assert not report.failures, "\n".join(map(str, report.failures))
    assert report.rules and report.tests >= 4 * report.rules
