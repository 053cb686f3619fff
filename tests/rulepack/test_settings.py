"""What a configuration changes, and what it may not say."""

# ruff: noqa: E501
import pytest

from dowbench.errors import UsageError
from dowbench.rulepack import LIMITS, Settings, load_pack

LONG = {"name": "fetch", "description": "word " * 100}


def test_a_disabled_rule_is_not_in_force():
    pack = load_pack(settings=Settings(disabled=frozenset({"unbounded-result"})))
    ids = [rule.id for rule in pack.rules]
    assert "unbounded-result" not in ids
    assert "no-call-budget" in ids
    assert [info.id for info in pack.infos] == ids


def test_an_option_replaces_the_threshold(probe):
    probe.rule(
        "{definition: {tokens_above: $most}}",
        options="{most: {default: 1000, about: tokens}}",
        message='"{tokens} of {option:most}"',
    )
    assert probe.run(LONG) == []
    (finding,) = probe.run(LONG, settings=Settings(options={"probe": {"most": 50}}))
    assert finding.message == "146 of 50"


def test_words_are_added_to_a_list_of_the_lexicon_and_of_a_rule(probe):
    probe.write("lists: {verbs: [get], keys: [token]}\nroles: {key: {name: {words: $keys}}}\n", "lexicon.yaml")
    probe.rule("{name: {words: [$verbs, $own]}, parameter: {role: key}}", words="{own: [read]}")
    tools = [
        {"name": name, "parameters": {key: "string"}} for name in ("get", "pull", "peek") for key in ("token", "pin")
    ]
    assert probe.found(*tools) == ["get"]
    settings = Settings(words={"verbs": ("pull",), "own": ("peek",), "keys": ("pin",)})
    assert probe.found(*tools, settings=settings) == ["get", "get", "pull", "pull", "peek", "peek"]


def test_severity_from_the_configuration_is_in_the_infos():
    pack = load_pack(settings=Settings(severity={"unbounded-result": "low"}))
    assert {info.id: info.severity for info in pack.infos}["unbounded-result"] == "low"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (Settings(disabled=frozenset({"unbounded-results"})), "unknown rule `unbounded-results`; did you mean `unbounded-result`?"),
        (Settings(severity={"zzz": "low"}), "unknown rule `zzz` (known: "),
        (Settings(options={"no-call-budget": {"tool": 1}}), "unknown option `tool` of rule `no-call-budget`; did you mean `tools`?"),
        (Settings(words={"nothing_like_it": ("a",)}), "unknown word list `nothing_like_it`"),
        (Settings(limits={"max_cals": 1}), "unknown limit `max_cals`; did you mean `max_calls`?"),
    ],
)  # fmt: skip
def test_a_setting_that_does_not_exist_is_an_error(settings, message):
    with pytest.raises(UsageError) as error:
        load_pack(settings=settings)
    assert message in str(error.value)


def test_the_configuration_knows_the_same_limits():
    import json
    from pathlib import Path

    import dowbench

    schema = json.loads((Path(dowbench.__file__).parent / "config.schema.json").read_text("utf-8"))
    assert set(schema["properties"]["limits"]["properties"]) == set(LIMITS)
