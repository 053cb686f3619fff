"""Every mistake in a YAML file is one line with file, line, column, key and what was expected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from dowbench_benchmark.located import DataError, Node, read_yaml

if TYPE_CHECKING:
    from pathlib import Path


def read(text: str) -> Node:
    return read_yaml("plan.yaml", text)


def test_scalars_follow_yaml_1_2() -> None:
    node = read("a: no\nb: 1:30\nc: 012\nd: true\ne: 1e3\nf: ~\ng: '7'\nh: 0x1F\n")
    assert node.plain() == {
        "a": "no", "b": "1:30", "c": 12, "d": True, "e": 1000.0, "f": None, "g": "7", "h": "0x1F"
    }  # fmt: skip


def test_places_are_those_of_the_keys() -> None:
    node = read("name: x\nceiling:\n  max_turns: 12\nlist:\n  - one\n  - two\n")
    turns = node.entries()["ceiling"].entries()["max_turns"]
    assert (turns.line, turns.column, turns.key) == (3, 3, "ceiling.max_turns")
    second = node.entries()["list"].items()[1]
    assert (second.line, second.column, second.key) == (6, 5, "list[1]")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\na: 2\n", "plan.yaml:2:1: the key 'a' is already on line 1"),
        ("a: [1\n", "plan.yaml:2:1: broken YAML: while parsing a flow sequence"),
        ("a: 1\n---\nb: 2\n", "plan.yaml:1: expected one YAML document, found 2"),
        ("", "plan.yaml:1: expected one YAML document, found 0"),
        ("a: !x 1\n", "plan.yaml:1:4: tags such as !x are not used here"),
        ("? [a]\n: 1\n", "plan.yaml:1:3: expected a plain key"),
        ("a: &a [*a]\n", "plan.yaml:1:4: nested too deeply, or an alias of itself"),
        ("a: " + "[" * 5000 + "]" * 5000, "plan.yaml"),
        ("a: " + "[" * 500 + "]" * 500, "plan.yaml:1:104: nested too deeply"),
        ("a: *b\n", "plan.yaml:1:4: broken YAML: found undefined alias"),
        ("a: 'x\x00'\n", "plan.yaml"),
    ],
)
def test_broken_files(text: str, said: str) -> None:
    with pytest.raises(DataError) as caught:
        read(text)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "call", "said"),
    [
        ("x: 1", lambda n: n.mapping(["name"]), "plan.yaml:1:1: x: unknown key; known here: name"),
        ("name: {x: 1}", lambda n: n.entries()["name"].mapping(["y"]), "name.x: unknown key; known here: y"),
        ("name: {}", lambda n: n.entries()["name"].mapping(["y"]), "name: the key 'y' is missing"),
        ("a: 1", lambda n: n.entries()["a"].text(), "a: expected text, found 1"),
        ("a: '  '", lambda n: n.entries()["a"].text(), "a: expected text, found none"),
        ("a: A b", lambda n: n.entries()["a"].name(), "a: expected a name of lower-case letters"),
        ("a: true", lambda n: n.entries()["a"].integer(), "a: expected a whole number, found True"),
        ("a: 0", lambda n: n.entries()["a"].integer(minimum=1), "a: expected a whole number of at least 1, found 0"),
        ("a: 9", lambda n: n.entries()["a"].integer(minimum=1, maximum=3), "expected a whole number from 1 to 3"),
        ("a: .nan", lambda n: n.entries()["a"].number(), "a: expected a finite number, found nan"),
        ("a: -.inf", lambda n: n.entries()["a"].number(), "a: expected a finite number, found -inf"),
        ("a: 1" + "0" * 399, lambda n: n.entries()["a"].number(), "a: expected a finite number"),
        ("a: 1", lambda n: n.entries()["a"].number(above=1), "a: expected a finite number above 1, found 1"),
        ("a: yes", lambda n: n.entries()["a"].boolean(), "a: expected true or false, found 'yes'"),
        ("a: c", lambda n: n.entries()["a"].choice(["d", "e"]), "a: expected one of d, e, found 'c'"),
        ("a: {}", lambda n: n.entries()["a"].items(), "a: expected a list, found a mapping"),
        ("a: [x]", lambda n: n.entries()["a"].items(at_least=3), "a: expected at least 3 items, found 1"),
        ("a: [x, x]", lambda n: n.entries()["a"].texts(), "a[1]: 'x' is listed twice"),
        ("a: {b: [.nan]}", lambda n: n.plain(), "a.b[0]: expected a finite number, found nan"),
        ("a: -1", lambda n: n.entries()["a"].integer(minimum=0, maximum=2**31 - 1), "from 0 to 2147483647, found -1"),
        ("- 1", lambda n: n.mapping(), "plan.yaml:1:1: expected a mapping, found a list"),
    ],
)
def test_wrong_values(text: str, call: object, said: str) -> None:
    assert callable(call)
    with pytest.raises(DataError) as caught:
        call(read(text))
    assert said in str(caught.value)
    assert caught.value.line == 1


def test_aliases_that_write_out_to_a_flood() -> None:
    """Each line holds the one above ten times."""
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 20))]
    with pytest.raises(DataError, match=r"plan\.yaml:1: has more than 100000 values, aliases written out"):
        read("\n".join(lines))
    assert len(read("\n".join(lines[:4])).entries()["a3"].items()) == 10


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"missing\.yaml: cannot read the file: No such file"):
        read_yaml(tmp_path / "missing.yaml")
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"a: caf\xe9\n")
    with pytest.raises(DataError, match="expected UTF-8, found byte 0xe9"):
        read_yaml(latin)
    marked = tmp_path / "bom.yaml"
    marked.write_bytes(b"\xef\xbb\xbfa: 1\r\n")
    assert read_yaml(marked).plain() == {"a": 1}
