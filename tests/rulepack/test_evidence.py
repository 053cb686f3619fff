"""Where a figure comes from, and what a severity needs."""

# ruff: noqa: E501
import json

import pytest
from probe_rule import RULE

from dowbench.errors import RuleError
from dowbench.model import Evidence
from dowbench.rulepack import builtin_directory, load_pack
from dowbench.rulepack.evidence import GATE, carries_high

ENTRY = {
    "rule": "probe",
    "family": "tool_loop",
    "attack": "loop-1",
    "defense": "none",
    "model": "m-1",
    "n": 30,
    "amplification": 7.25,
    "lower": 6.04,
    "upper": 9.0,
    "control": 1.02,
    "run": "benchmark/evidence/r1",
}


def evidence(probe, *entries, rule=RULE):
    probe.write(rule)
    (probe.folder / "evidence.json").write_text(json.dumps({"schema": "dowbench.evidence/1", "entries": entries}))
    return load_pack([probe.folder], builtin=False).evidence["probe"]


def test_nothing_known_is_said_as_such(probe):
    assert evidence(probe) == (Evidence("none", "not measured yet"),)
    assert evidence(probe, {**ENTRY, "rule": "another"}) == (Evidence("none", "not measured yet"),)
    assert evidence(probe, {**ENTRY, "amplification": None}) == (Evidence("none", "not measured yet"),)


def test_a_measured_figure_comes_with_interval_n_model_and_control(probe):
    (found,) = evidence(probe, ENTRY)
    assert found == Evidence(
        "measured",
        "7.2× [6.0, 9.0], n = 30, m-1, loop-1; control 1.0×",
        "benchmark/evidence/r1",
        7.25,
        6.04,
    )


def test_the_recommended_defense_is_shown_beside_it(probe):
    rule = RULE.replace("family:", "defense: loop_detect\nfamily:")
    defended = {**ENTRY, "defense": "loop_detect", "amplification": 1.5, "lower": 1.4, "upper": 1.6}
    other = {**ENTRY, "defense": "turn_limit", "amplification": 1.1}
    (found,) = evidence(probe, ENTRY, other, defended, rule=rule)
    assert found.text.endswith("control 1.0×; with loop_detect 1.5× [1.4, 1.6]")


def test_the_surest_figures_come_first_and_three_at_most(probe):
    entries = [{**ENTRY, "model": f"m-{i}", "lower": low} for i, low in enumerate((2.0, None, 5.0, 3.0))]
    assert [e.lower for e in evidence(probe, *entries)] == [5.0, 3.0, 2.0]


def test_measured_comes_before_reported(probe):
    (probe.folder / "reported.yaml").write_text(
        "paper:\n  title: T\n  source: https://x.example\n  text: up to 9×\n  amplification: 9\n"
    )
    found = evidence(probe, ENTRY, rule=RULE.replace("match:", "evidence: [paper]\nmatch:"))
    assert [e.provenance for e in found] == ["measured", "reported"]
    assert found[1] == Evidence("reported", "up to 9× (T)", "https://x.example", 9.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "expected {"),
        ('{"schema": "dowbench.evidence/2", "entries": []}', "dowbench.evidence/1"),
        (json.dumps({"schema": "dowbench.evidence/1", "entries": [{"rule": "x"}]}), "entries.0: `amplification` is missing"),
        (json.dumps({"schema": "dowbench.evidence/1", "entries": [{**ENTRY, "x": 1}]}), "entries.0: unknown key `x`"),
        (json.dumps({"schema": "dowbench.evidence/1", "entries": [{**ENTRY, "n": "30"}]}), "entries.0: `n`: expected a number"),
        (json.dumps({"schema": "dowbench.evidence/1", "entries": [{**ENTRY, "model": 4}]}), "entries.0: `model`: expected text"),
    ],
)  # fmt: skip
def test_a_broken_evidence_file_is_an_error(probe, text, message):
    probe.write()
    (probe.folder / "evidence.json").write_text(text)
    with pytest.raises(RuleError) as error:
        _ = probe.pack().evidence
    assert error.value.path == str(probe.folder / "evidence.json")
    assert message in str(error.value)


def test_a_broken_reported_file_is_a_located_error(probe):
    probe.write()
    path = probe.write("paper:\n  title: T\n  source: S\n  text: U\n  amplification: much\n", "reported.yaml")
    with pytest.raises(RuleError) as error:
        probe.pack()
    assert (error.value.path, error.value.line) == (str(path), 5)


def test_high_needs_a_figure():
    """The gate: a rule of the pack that can say high has a measured or reported amplification of at least 5×."""
    pack = load_pack()
    reaching = {rule.id for rule in pack.rules if carries_high(pack.evidence[rule.id])}
    high = {rule.id for rule in pack.rules if "high" in rule.severities}
    assert high
    assert high <= reaching, f"high without a figure of {GATE}×: {sorted(high - reaching)}"


def test_the_gate_reads_figures_not_words():
    assert carries_high((Evidence("reported", "9×", None, 5.0),))
    assert not carries_high((Evidence("reported", "9×", None, 4.99), Evidence("none", "not measured yet")))
    assert not carries_high((Evidence("reported", "very much", None, None),))


def test_every_reported_figure_names_its_source_and_is_used():
    pack = load_pack()
    assert all(figure.source for figure in pack.reported.values())
    assert set(pack.reported) == {name for rule in pack.rules for name in rule.reported}


def test_the_benchmark_file_is_of_this_format():
    data = json.loads((builtin_directory() / "evidence.json").read_text("utf-8"))
    assert data["schema"] == "dowbench.evidence/1"
