"""A wrong rule file is an error that names file, line and key; never a traceback, never skipped."""

import pytest
from probe_rule import RULE, Probe

from dowbench.errors import RuleError, UsageError
from dowbench.rulepack import load_pack


def changed(old, new):
    assert old in RULE
    return RULE.replace(old, new)


WRONG = {
    "unknown key": (changed("fix:", "colour: red\nfix:"), 12, "unknown key `colour`"),
    "near miss of a key": (changed("severity:", "severty:"), 4, "did you mean `severity`"),
    "missing key": (changed("family: tool_loop\n", ""), 1, "`family` is missing"),
    "duplicate key": (changed("title: A probe\n", "title: A probe\ntitle: Again\n"), 3, "duplicate key `title`"),
    "duplicate key below": (
        changed("{words: [fetch]}", "{words: [fetch], words: [get]}"),
        10,
        "duplicate key `words`",
    ),
    "unknown condition": (changed("  name: {words", "  nome: {words"), 10, "match.nome: unknown key `nome`"),
    "unknown word list": (
        changed("[fetch]", "[fetch, $retrievals]"),
        10,
        "match.name.words.1: unknown word list `$retrievals`",
    ),
    "unknown list inside a phrase": (changed("[fetch]", "[fetch the $nothing]"), 10, "unknown word list `$nothing`"),
    "word in upper case": (changed("[fetch]", "[Fetch]"), 10, "`Fetch` is no word"),
    "regular expression": (changed("[fetch]", "['fetch.*']"), 10, "`fetch.*` is no word"),
    "gap at the end": (changed("[fetch]", "['fetch ...']"), 10, "must begin and end with a word"),
    "severity that is none": (
        changed("severity: medium", "severity: critical"),
        4,
        "severity: expected one of high, medium, low",
    ),
    "family that is none": (changed("tool_loop", "tool_lop"), 6, "family: expected one of"),
    "taxonomy that is none": (changed("[CWE-770]", "[CWE-779]"), 8, "taxonomy.0: unknown `CWE-779`"),
    "evidence that nobody reported": (
        changed("match:", "evidence: [rumour]\nmatch:"),
        9,
        "evidence.0: unknown `rumour`",
    ),
    "placeholder that is none": (
        changed("{tool} was", "{toll} was"),
        11,
        "unknown placeholder {toll}; did you mean `tool`",
    ),
    "placeholder that nothing fills": (
        changed("{tool} was", "{parameter} was"),
        11,
        "no condition that must hold fills it",
    ),
    "placeholder for the tool in a rule on sets": (
        changed("scope: tool", "scope: toolset").replace("name: {words: [fetch]}", "tools: {at_least: 1}"),
        11,
        "placeholder {tool}: no condition",
    ),
    "no condition": (changed("  name: {words: [fetch]}", "  {}"), 9, "match: expected a condition, found none"),
    "no condition in a branch": (
        changed("  name: {words: [fetch]}", "  any: [{name: {words: [fetch]}}, {}]"),
        10,
        "match.any.1: expected a condition, found none",
    ),
    "no branches": (
        changed("  name: {words: [fetch]}", "  all: []"),
        10,
        "expected a list of conditions, found an empty",
    ),
    "two documents": (changed("title:", "---\ntitle:"), 2, "a file of a pack is one YAML document"),
    "a fault above what is no YAML": (
        changed("severity: medium", "severity: grave").replace("- reason: the name", "- [reason: the name"),
        16,
        "not YAML",
    ),
    "limit with a default above its maximum": (
        changed("{tool} was", "{limit:max rows, 50, 10} was"),
        11,
        "expected a default from 1 to the maximum",
    ),
    "option where there is none": (
        changed("{tool} was", "{option:most} was"),
        11,
        "expected an option of this rule (there is none)",
    ),
    "limit without numbers": (changed("{tool} was", "{limit:max rows} was"), 11, "expected `words, default, maximum`"),
    "lone brace": (changed("was found", "was {found"), 11, "a brace stands alone"),
    "option that is none": (changed("{tool} was", "{option:most} was"), 11, "an option of this rule"),
    "threshold that is no option": (
        changed("name: {words: [fetch]}", "definition: {tokens_above: $most}"),
        10,
        "match.definition.tokens_above: expected a number or `$option`, found `$most`",
    ),
    "hint in match": (
        changed("name: {words: [fetch]}", "hint: {readOnlyHint: true}"),
        10,
        "match.hint: hints are claims of the server",
    ),
    "hint that raises": (
        changed("message:", "adjust:\n  - {when: {hint: {readOnlyHint: true}}, severity: high}\nmessage:"),
        12,
        "hints are claims of the server: they may only lower the confidence",
    ),
    "hint that silences": (
        changed(
            "message:", "adjust:\n  - {when: {hint: {readOnlyHint: true}}, confidence: low, tier: pedantic}\nmessage:"
        ),
        12,
        "hints are claims of the server",
    ),
    "adjustment of nothing": (
        changed("message:", "adjust:\n  - {when: {name: {words: [page]}}}\nmessage:"),
        12,
        "adjust.0: nothing is adjusted",
    ),
    "adjustment that always holds": (
        changed("message:", "adjust:\n  - {severity: low}\nmessage:"),
        12,
        "adjust.0: expected `when` or `on`",
    ),
    "role that is none": (
        changed("name: {words: [fetch]}", "parameter: {role: kursor}"),
        10,
        "match.parameter.role: unknown role `kursor`",
    ),
    "list where a mapping is wanted": (changed("{words: [fetch]}", "[fetch]"), 10, "match.name: expected a mapping"),
    "text where true or false is wanted": (
        changed("name: {words: [fetch]}", "parameter: {required: 'yes'}"),
        10,
        "match.parameter.required: expected true or false, found text `yes`",
    ),
    "no tests": (RULE.split("tests:")[0], 13, "tests is missing: a rule needs tests of both kinds"),
    "tests of one kind": (RULE.split("  not_flagged:")[0], 13, "tests.not_flagged is missing"),
    "a key behind the tests": (RULE + "tier: pedantic\n", 20, "`tier` must stand before `tests`"),
    "id that is no id": (changed("id: probe", "id: Probe_1"), 1, "expected a kebab-case id"),
    "id of another file": (changed("id: probe", "id: other"), 1, "a rule stands in a file of its name"),
    "second shape of a rule on sets": (
        changed("scope: tool", "scope: toolset")
        .replace("name: {words: [fetch]}", "tools: {at_least: 1}")
        .replace('"{tool} was found."', "Found.")
        .replace("tests:", "toolset: {match: {tools: {at_least: 1}}, message: M, fix: F}\ntests:"),
        13,
        "only a rule with scope tool",
    ),
    "not YAML": (changed("title: A probe", "title: [A probe"), 3, "not YAML"),
    "anchor": (changed("why: It costs.", "why: &a It costs."), 3, "no anchors"),
    "alias": (changed("why: It costs.", "why: *a"), 3, "no aliases"),
    "nothing but tests": ("tests:\n  flagged:\n  not_flagged:\n", 1, "expected a mapping, found nothing"),
    "empty": ("", 1, "tests is missing"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_rule_is_a_located_error(probe, case):
    text, line, message = WRONG[case]
    path = probe.write(text)
    with pytest.raises(RuleError) as error:
        probe.pack()
    assert error.value.path == str(path)
    if line is not None:
        assert error.value.line == line, str(error.value)
    assert message in str(error.value)


@pytest.mark.parametrize("depth", [970, 3000])
def test_a_hostile_rule_ends_in_an_error(probe, depth):
    deep = "{not: " * depth + "{name: {words: [fetch]}}" + "}" * depth
    path = probe.write(changed("match:\n  name: {words: [fetch]}", f"match: {deep}"))
    with pytest.raises(RuleError, match=r"probe\.yaml:.*(nested|depth)") as error:
        probe.pack()
    assert error.value.path == str(path)


def test_invalid_utf8_is_an_error(probe):
    path = probe.write()
    path.write_bytes(RULE.encode().replace(b"A probe", b"A \xff probe"))
    with pytest.raises(RuleError, match=r"probe\.yaml: cannot be read: .*utf-8"):
        probe.pack()


def test_the_same_id_in_two_packs_is_an_error(probe, tmp_path):
    path = probe.write()
    second = tmp_path / "second"
    second.mkdir()
    (second / "probe.yaml").write_text(RULE)
    with pytest.raises(RuleError, match=r"a rule `probe` exists already, in ") as error:
        load_pack([probe.folder, second], builtin=False)
    assert error.value.path == str(second / "probe.yaml")
    assert str(path) in str(error.value)


@pytest.mark.parametrize(("names", "found"), [("[media-result, unbouded-batch]", "unbouded-batch"), ("probe", "probe")])
def test_a_rule_is_covered_by_others_that_exist(probe, names, found):
    probe.rule("{name: {words: [fetch]}}", covered_by=names)
    with pytest.raises(RuleError, match=rf"unknown rule `{found}`") as error:
        load_pack([probe.folder])
    assert error.value.line is not None
    probe.rule("{name: {words: [fetch]}}", covered_by="media-result")
    assert "probe" in {rule.id for rule in load_pack([probe.folder]).rules}


def test_a_missing_or_empty_directory_is_an_error(tmp_path):
    with pytest.raises(UsageError, match=r"no such directory of rules: .*nowhere"):
        load_pack([tmp_path / "nowhere"])
    with pytest.raises(UsageError, match=r"no rule files \(\*\.yaml\) in "):
        load_pack([tmp_path])


def test_a_pack_adds_to_the_built_in_rules_and_uses_their_lexicon(probe):
    name = next(iter(load_pack().env.lists))
    probe.write(RULE.replace("[fetch]", f"[fetch, ${name}]"))
    ids = {rule.id for rule in load_pack([probe.folder]).rules}
    assert {"probe", "unbounded-result"} <= ids


def test_a_pack_brings_its_own_lists_and_roles(probe):
    probe.write("lists:\n  verbs: [fetch, get all]\nroles:\n  secret: {name: {words: [token]}}\n", "lexicon.yaml")
    probe.rule("{name: {starts: $verbs}, parameter: {role: secret}}")
    assert probe.found({"name": "get_all", "parameters": {"token": "string"}}, {"name": "get_all"}) == ["get_all"]


@pytest.mark.parametrize(
    ("lexicon", "line", "message"),
    [
        ("lists:\n  verbs: [$later]\n  later: [get]\n", 2, "lists.verbs.0: unknown word list `$later`"),
        ("lists: [a]\n", 1, "lists: expected a mapping of word lists"),
        ("lists: {}\nroles:\n  cursor: {bound: none}\n", 3, "unknown key `bound`"),
        ("roles:\n  continuation: {type: string}\n", 2, "worked out from the whole tool"),
        ("words: {}\n", 1, "unknown key `words`"),
    ],
)
def test_a_wrong_lexicon_is_a_located_error(probe, lexicon, line, message):
    path = probe.write(lexicon, "lexicon.yaml")
    probe.write()
    with pytest.raises(RuleError) as error:
        probe.pack()
    assert (error.value.path, error.value.line) == (str(path), line)
    assert message in str(error.value)


def test_scalars_are_those_of_yaml_1_2(probe):
    probe.write(RULE.replace("title: A probe", "title: off").replace("why: It costs.", "why: 1:30"))
    rule = probe.pack().rules[0]
    assert (rule.title, rule.why) == ("off", "1:30")


LEXICON = "lists: {verbs: [fetch]}\nroles: {key: {name: {words: [token]}}}\n"
FIGURES = "shop-2026:\n  title: A shop\n  source: https://example.com/\n  text: It cost more.\n"


@pytest.mark.parametrize(
    ("name", "text", "line", "message"),
    [
        ("reported.yaml", FIGURES, 1, "a figure `shop-2026` exists already"),
        ("lexicon.yaml", LEXICON, 1, "a word list `verbs` exists already"),
        ("lexicon.yaml", "# Roles\nroles: {key: {name: {words: [token]}}}\n", 2, "a role `key` exists already"),
        ("probe.yaml", RULE, 1, "a rule `probe` exists already"),
    ],
)
def test_a_later_pack_replaces_nothing_of_an_earlier_one(probe, tmp_path, name, text, line, message):
    other = Probe(tmp_path / "other")
    other.folder.mkdir()
    for pack, rule in ((probe, "probe"), (other, "probe-two")):
        pack.write(RULE.replace("id: probe", f"id: {rule}"), f"{rule}.yaml")
    probe.write(LEXICON, "lexicon.yaml")
    probe.write(FIGURES, "reported.yaml")
    load_pack([probe.folder, other.folder])
    path = other.write(text, name)
    with pytest.raises(RuleError, match=message) as error:
        load_pack([probe.folder, other.folder])
    assert (error.value.path, error.value.line) == (str(path), line)
    assert str(probe.folder / name) in error.value.message


@pytest.mark.parametrize("limit", ["max rows, 10, 50", "max rows,10,50", "max rows , 10 ,50"])
def test_spaces_in_a_limit_to_add_say_nothing(probe, limit):
    probe.write(changed("Do something.", f"'Add {{limit:{limit}}}.'"))
    (finding,) = probe.run({"name": "fetch_page"})
    assert finding.fix == "Add an integer parameter `max_rows` (`default: 10`, `minimum: 1`, `maximum: 50`)."


def test_a_pack_that_is_named_twice_is_read_once(probe, tmp_path):
    probe.write()
    probe.write(LEXICON, "lexicon.yaml")
    (tmp_path / "link").symlink_to(probe.folder)
    pack = load_pack([probe.folder, probe.folder / ".." / probe.folder.name, tmp_path / "link"])
    assert [rule.path for rule in pack.rules if rule.id == "probe"] == [str(probe.folder / "probe.yaml")]


def test_a_second_document_of_a_lexicon_is_not_passed_over(probe):
    probe.write()
    path = probe.write("lists: {verbs: [get]}\n---\nlists: {nouns: [page]}\n", "lexicon.yaml")
    with pytest.raises(RuleError, match="one YAML document") as error:
        probe.pack()
    assert (error.value.path, error.value.line) == (str(path), 2)


class TestGenerated:
    """``pack.json`` is used for unchanged files only."""

    def test_a_changed_file_is_parsed(self, probe):
        from dowbench.rulepack.files import Directory

        path = probe.write()
        directory = Directory(probe.folder)
        (probe.folder / "pack.json").write_text(directory.generate(["probe.yaml"], []))
        assert probe.pack().rules[0].title == "A probe"
        path.write_text(RULE.replace("A probe", "Changed"))
        assert probe.pack().rules[0].title == "Changed"

    def test_an_unchanged_file_is_not_parsed(self, probe, monkeypatch):
        from dowbench.rulepack import document
        from dowbench.rulepack.files import Directory

        probe.write()
        (probe.folder / "pack.json").write_text(Directory(probe.folder).generate(["probe.yaml"], []))

        def refuse(text, path):
            assert not path.endswith("probe.yaml"), "parsed again"
            return parse(text, path)

        parse = document.read
        monkeypatch.setattr(document, "read", refuse)
        assert probe.pack().rules[0].title == "A probe"

    def test_an_error_in_an_unchanged_file_keeps_its_line(self, probe):
        import json
        from binascii import crc32

        text = RULE.replace("severity: medium", "severity: grave")
        path = probe.write(text)
        value = {"probe.yaml": {"crc32": crc32(text.encode()), "value": {"id": "probe", **_head(text)}}}
        (probe.folder / "pack.json").write_text(json.dumps(value))
        with pytest.raises(RuleError) as error:
            probe.pack()
        assert (error.value.path, error.value.line) == (str(path), 4)

    @pytest.mark.parametrize("text", ["{", "[]", "\xff", '{"probe.yaml": 5}', '{"probe.yaml": {"crc32": 1}}'])
    def test_a_broken_one_is_an_error(self, probe, text):
        probe.write()
        (probe.folder / "pack.json").write_bytes(text.encode("latin-1"))
        with pytest.raises(RuleError, match=r"pack\.json: .*`dowbench rules docs` writes it"):
            probe.pack()


def _head(text):
    from dowbench.rulepack.document import read
    from dowbench.rulepack.files import split

    return read(split(text)[0], "probe.yaml")
