"""Reading files: what is understood, what is refused, and the line that says so."""

from __future__ import annotations

import gc
import math
import subprocess
import sys
from typing import Any

import pytest

from dowbench.errors import SourceError
from dowbench.model import Span
from dowbench.source import DEFAULT_LIMITS, Limits, read


def value(text: str | bytes, path: str = "tools.yaml") -> Any:
    (document,) = read(path, text.encode() if isinstance(text, str) else text).documents
    return document.value


def refusal(text: str | bytes, path: str = "tools.yaml", limits: Limits = DEFAULT_LIMITS) -> str:
    with pytest.raises(SourceError) as caught:
        read(path, text.encode() if isinstance(text, str) else text, limits)
    return str(caught.value)


class TestLanguage:
    @pytest.mark.parametrize("path", ["tools.json", "tools.yaml", "tools", "tools.txt", "-"])
    def test_json_is_json_whatever_the_file_is_called(self, path: str) -> None:
        # A tab before a value and an escaped slash: valid JSON that PyYAML refuses.
        source = read(path, b'{\t"a":\t"\\/"}')
        assert (source.kind, source.documents[0].value) == ("json", {"a": "/"})

    def test_flow_yaml_in_a_yaml_file(self) -> None:
        assert read("a.yaml", b"{a: [1, b]}").kind == "yaml"
        assert value("{a: [1, b]}") == {"a": [1, "b"]}

    def test_a_json_file_is_never_read_as_yaml(self) -> None:
        assert refusal("{a: 1}", "a.json") == "a.json:1:2: not valid JSON: expected a key in double quotes, found 'a'"

    def test_the_caller_may_know_better_than_the_suffix(self) -> None:
        with pytest.raises(SourceError, match="not valid JSON"):
            read("a.yaml", b"a: 1", kind="json")
        assert read("a.json", b"a: 1", kind="yaml").documents[0].value == {"a": 1}

    def test_json_lines_are_one_list(self) -> None:
        source = read("a.jsonl", b'{"a": 1}\n\n{"b": [2]}\r\n')
        assert source.documents[0].value == [{"a": 1}, {"b": [2]}]
        assert source.documents[0].span("/1/b/0") == Span(3, 8, 3, 9)

    def test_a_second_value_on_the_same_line_is_an_error(self) -> None:
        assert refusal("{} {}", "a.json") == "a.json:1:4: not valid JSON: expected the end of the file, found '{'"

    def test_a_bad_later_line_is_named(self) -> None:
        message = "a.jsonl:3:7: not valid JSON: expected a value, found '}'"
        assert refusal('{"a": 1}\n{"b": 2}\n{"c": }\n', "a.jsonl") == message

    def test_documents_of_a_stream(self) -> None:
        source = read("a.yaml", b"# no value\n---\n---\na: 1\n---\n- b\n...\n---\n")
        assert [(document.index, document.value) for document in source.documents] == [(1, {"a": 1}), (2, ["b"])]
        assert source.documents[1].span("/0") == Span(6, 3, 6, 4)

    @pytest.mark.parametrize("path", ["a.json", "a.yaml", "a"])
    @pytest.mark.parametrize("text", ["", " \n\t\n", "\ufeff", "\ufeff\n"])
    def test_empty_files_are_errors(self, path: str, text: str) -> None:
        assert refusal(text, path) == f"{path}:1:1: the file is empty; expected tool definitions in JSON or YAML"

    @pytest.mark.parametrize("text", ["# only a comment\n", "---\n", "null", "---\n---\n", "~ # nothing"])
    def test_yaml_without_a_value_is_an_error(self, text: str) -> None:
        assert refusal(text) == "tools.yaml:1:1: the file holds no value; expected tool definitions"


class TestJson:
    def test_duplicate_keys_are_warnings_at_the_later_place(self) -> None:
        source = read("a.json", b'{\n "a": 1,\n "b": {"\\u0061": 2, "a": 3},\n "a": 4\n}')
        assert source.documents[0].value == {"a": 4, "b": {"a": 3}}
        assert [(note.line, note.column, note.message) for note in source.warnings] == [
            (3, 21, 'duplicate key "a"; the last one counts, the first is at 3:8'),
            (4, 2, 'duplicate key "a"; the last one counts, the first is at 2:2'),
        ]
        assert source.documents[0].span("/a") == Span(4, 7, 4, 8)

    def test_many_duplicates_are_summed_up(self) -> None:
        source = read("a.json", ("{" + ", ".join(['"a": 1'] * 50) + "}").encode())
        assert len(source.warnings) == 21
        assert source.warnings[-1].message == "29 more duplicate keys"

    def test_numbers_beyond_every_reader(self) -> None:
        read_value = value(
            "[1e400, -1e400, {}, -{}, NaN, Infinity, -Infinity, 1]".format("9" * 5000, "9" * 5000), "a.json"
        )
        assert read_value[:4] == [math.inf, -math.inf, math.inf, -math.inf]
        assert math.isnan(read_value[4])
        assert read_value[5:] == [math.inf, -math.inf, 1]

    def test_lone_surrogates_and_long_keys_are_kept(self) -> None:
        assert value('{"\\ud800": "\\udfff"}', "a.json") == {"\ud800": "\udfff"}
        key = "k" * 1_000_000
        source = read("a.json", f'{{"{key}": 1}}'.encode())
        assert source.documents[0].span(f"/{key}") == Span(1, 1_000_006, 1, 1_000_007)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ('{"a": 1,\n "b"; 2}', "2:5: not valid JSON: expected ':', found ';'"),
            ('{"a": 1\n "b": 2}', "2:2: not valid JSON: expected ',' or a closing bracket, found '\"'"),
            ("[1,\n2", "2:2: not valid JSON: expected ',' or a closing bracket, found the end of the file"),
            ('["a\n"]', r"1:4: not valid JSON: expected control characters in strings to be escaped"),
            ('["a', "1:2: not valid JSON: expected a closing quote for the string that starts here"),
            ("# x", "1:1: not valid JSON: expected a value, found '#'"),
            ('["\\x"]', '1:3: not valid JSON: expected one of \\" \\\\ \\/ \\b \\f \\n \\r \\t \\u'),
        ],
    )
    def test_errors_say_where_and_what_was_expected(self, text: str, message: str) -> None:
        assert refusal(text, "a.json") == f"a.json:{message}"


class TestYaml:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            *((text, text) for text in ("on", "off", "yes", "no", "y", "n", "1:30", "12:30:45", "0b1", "1_000", "=")),
            *((text, text) for text in ("2001-12-14", "nULL", "0x", "0o8", "+", ".", "1e", "NaN", "inf", ".inF")),
            *((text, None) for text in ("null", "Null", "NULL", "~")),
            *((text, True) for text in ("true", "True", "TRUE")),
            *((text, False) for text in ("false", "False", "FALSE")),
            ("012", 12),
            ("+7", 7),
            ("-0", 0),
            ("0o17", 15),
            ("0xfF", 255),
            ("1.", 1.0),
            (".5", 0.5),
            ("-1.5e3", -1500.0),
            ("1e3", 1000.0),
            ("1e400", math.inf),
            (".inf", math.inf),
            ("-.INF", -math.inf),
            ("9" * 5000, math.inf),
            ('"true"', "true"),
            ("'12'", "12"),
            ("|-\n   1\n   2", "1\n2"),
            (">\n   a\n   b\n", "a b\n"),
            ("!!str 12", "12"),
            ("!!str", ""),
            ('!!int "12"', 12),
            ("!!float 3", 3.0),
            ("! 12", "12"),
            ("!Ref 12", 12),
            ("!Ref name", "name"),
            ('!Ref "12"', "12"),
            ("!!binary aGk=", "aGk="),
            ("!!python/object/apply:os.system [echo]", ["echo"]),
            ("!!python/name:os.system", ""),
        ],
    )
    def test_scalars_of_yaml_1_2(self, text: str, expected: Any) -> None:
        read_value = value(f"x: {text}")["x"]
        assert read_value == expected
        assert type(read_value) is type(expected)

    def test_not_a_number(self) -> None:
        assert math.isnan(value("x: .nan")["x"])

    def test_keys_are_what_is_written(self) -> None:
        assert value("200: a\n0x10: b\ntrue: c\n~: d\n? e\n: f\n1.0: g\n'<<': h\n") == {
            "200": "a",
            "0x10": "b",
            "true": "c",
            "~": "d",
            "e": "f",
            "1.0": "g",
            "<<": "h",
        }

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("a: 1\nb: 2\na: 3", '3:1: duplicate key "a"; the first is at 1:1'),
            ("x:\n  200: a\n  '200': b", '3:3: duplicate key "200"; the first is at 2:3'),
            ("[1]: a", "1:1: expected a scalar as mapping key, found a collection"),
            ("? {a: b}\n: c", "1:3: expected a scalar as mapping key, found a collection"),
            ("a: &x 1\n*x : b", "2:1: expected a string as mapping key, found an alias to something else"),
            ("a: &x a\n*x : b", '2:1: duplicate key "a"; the first is at 1:1'),
            ("a: *x", "1:4: alias *x to an anchor that is not defined before it"),
            ("a: &x [*x]", "1:8: alias *x inside the value that it stands for"),
            ("a: &x\n  b:\n    <<: *x", "3:9: alias *x inside the value that it stands for"),
            ("---\na: &x 1\n---\nb: *x", "4:4: alias *x to an anchor that is not defined before it"),
            ("a:\n  <<: 1", "2:7: expected a mapping, or a list of mappings, after the merge key <<"),
            ("a: !!int x", "1:4: expected a value of type int"),
            ("a: b: c", "1:5: not valid YAML: mapping values are not allowed in this context"),
            ("a:\n\t- b", "2:1: not valid YAML: found a tab; expected spaces"),
            ("a: é\x07", "1:5: not valid YAML: control character; expected text"),
            (
                "a: [1,\n  2\n",
                "3:1: not valid YAML: while parsing a flow sequence that begins at 1:4",
            ),
        ],
    )
    def test_errors_say_where_and_what_was_expected(self, text: str, message: str) -> None:
        assert refusal(text).startswith(f"tools.yaml:{message}")

    def test_aliases_share_the_value_and_point_at_the_anchor(self) -> None:
        document = read("a.yaml", b"a: &x\n  b: [1]\nc:\n  d: *x\n").documents[0]
        assert document.value["c"]["d"] is document.value["a"]
        assert document.span("/c/d/b/0") == document.span("/a/b/0") == Span(2, 7, 2, 8)
        assert document.use_span("/c/d/b/0") == Span(4, 6, 4, 8)
        assert document.key_span("/c/d") == Span(4, 3, 4, 4)
        assert document.use_span("/a/b/0") is None

    def test_merge_keys(self) -> None:
        text = """\
base: &base {a: 1, b: {c: 2}}
more: &more {b: 3, d: 4}
one: {<<: *base, a: own}
list:
  <<: [*more, *base]
inline: {<<: {e: 5}}
"""
        document = read("a.yaml", text.encode()).documents[0]
        assert document.value["one"] == {"a": "own", "b": {"c": 2}}
        assert document.value["list"] == {"b": 3, "d": 4, "a": 1}
        assert document.value["inline"] == {"e": 5}
        assert document.span("/one/a") == Span(3, 21, 3, 24)
        assert document.span("/one/b/c") == Span(1, 27, 1, 28)
        assert document.use_span("/one/b/c") == Span(3, 11, 3, 16)
        assert document.span("/list/b") == Span(2, 17, 2, 18)
        assert document.use_span("/list/a") == Span(5, 15, 5, 20)
        assert document.key_span("/list/a") == Span(1, 14, 1, 15)
        assert document.span("/inline/e") == Span(6, 18, 6, 19)


class TestPlaces:
    def test_crlf_mark_tabs_and_characters_beyond_the_basic_plane(self) -> None:
        text = '\ufeff{\r\n\t"😀": {"a/b~c": [1,\r\n 22]}}'
        document = read("a.json", text.encode()).documents[0]
        assert document.key_span("/😀") == Span(2, 2, 2, 5)
        assert document.span("/😀/a~1b~0c/1") == Span(3, 2, 3, 4)
        assert document.span("") == Span(1, 1, 3, 7)

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "utf-32-le"])
    def test_a_parameter_behind_anchors_in_every_encoding(self, encoding: str) -> None:
        text = "x: &limit\n  type: integer\npaths:\n  😀:\n    - limit: *limit\n".replace("\n", "\r\n")
        document = read("a.yaml", text.encode(encoding)).documents[0]
        assert document.span("/paths/😀/0/limit/type") == Span(2, 9, 2, 16)
        assert document.use_span("/paths/😀/0/limit/type") == Span(5, 14, 5, 20)
        assert document.key_span("/paths/😀") == Span(4, 3, 4, 4)

    @pytest.mark.parametrize(("path", "text"), [("a.json", '{"a": {"b": 1}}'), ("a.yaml", "a:\n  b: 1\n")])
    def test_what_is_not_there_is_placed_at_what_holds_it(self, path: str, text: str) -> None:
        document = read(path, text.encode()).documents[0]
        assert document.span("/a/x/y") == document.span("/a")
        assert document.span("/a/b/c") == document.span("/a/b")
        assert document.key_span("/a/x") is None
        assert document.key_span("") is None

    def test_a_collection_ends_with_its_last_child(self) -> None:
        text = "a:\n  b:\n  - |\n    text\n\n\n  # comment\nc: 1\n"
        document = read("a.yaml", text.encode()).documents[0]
        assert document.span("/a/b/0") == Span(3, 5, 4, 9)
        assert document.span("/a/b") == Span(3, 3, 4, 9)
        assert document.span("/a") == Span(2, 3, 4, 9)

    def test_keys_of_a_number_and_of_an_index(self) -> None:
        document = read("a.yaml", b"200: [a, b]\n'': x\n").documents[0]
        assert document.span("/200/1") == Span(1, 10, 1, 11)
        assert document.span("/200/01") == document.span("/200")
        assert document.span("/") == Span(2, 5, 2, 6)


class TestLimits:
    def test_bytes(self) -> None:
        limits = Limits(bytes=10)
        assert (
            refusal("[1,2,3,4,5]", "a.json", limits) == "a.json:1:1: there are more than 10 bytes (source_limits.bytes)"
        )

    @pytest.mark.parametrize(
        ("path", "text", "place"),
        [
            ("a.json", "[" * 300 + "]" * 300, "1:201"),
            ("a.json", '{"a":' * 100_000, "1:1001"),
            ("a.json", '["[[", ' * 200 + '\n["]]"' + "]" * 201, "2:1"),
            ("a.yaml", "[" * 300 + "x" + "]" * 300, "1:201"),
            ("a.yaml", "- " * 300 + "x", "1:401"),
            ("a.yaml", "\n".join(" " * n + "a:" for n in range(300)), "201:201"),
        ],
    )
    def test_nesting(self, path: str, text: str, place: str) -> None:
        message = f"{path}:{place}: more than 200 levels of nesting (source_limits.nesting)"
        assert refusal(text, path) == message

    def test_brackets_in_strings_are_not_nesting(self) -> None:
        assert value('["' + "[" * 1000 + '"]', "a.json") == ["[" * 1000]

    def test_nesting_at_the_limit_is_read(self) -> None:
        for path in ("a.json", "a.yaml"):
            assert read(path, ("[" * 200 + "]" * 200).encode(), kind=None).documents[0].value

    @pytest.mark.parametrize("path", ["a.json", "a.yaml"])
    def test_nodes(self, path: str) -> None:
        text = "[" + ", ".join(["1"] * 9000) + "]"
        kind = "yaml" if path == "a.yaml" else "json"
        with pytest.raises(SourceError, match=r"more than 4,000 values \(source_limits.nodes\)"):
            read(path, text.encode() if kind == "json" else text.replace("1", "a").encode(), Limits(nodes=4000))

    def test_a_billion_laughs(self) -> None:
        lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
        lines += (f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10))
        message = "tools.yaml:6:35: aliases add more than 500,000 values (source_limits.aliases)"
        assert refusal("\n".join(lines)) == message

    def test_merge_keys_count_as_aliases(self) -> None:
        base = "base: &base {" + ", ".join(f"k{n}: 1" for n in range(1000)) + "}\n"
        text = base + "".join(f"m{n}: {{<<: *base}}\n" for n in range(1000))
        assert refusal(text) == "tools.yaml:501:12: aliases add more than 500,000 values (source_limits.aliases)"

    def test_a_ladder_of_aliases(self) -> None:
        text = "- &a0 [x]\n" + "".join(f"- &a{n} [*a{n - 1}]\n" for n in range(1, 500))
        assert refusal(text) == "tools.yaml:500:10: aliases nest more than 200 levels (source_limits.nesting)"

    def test_seconds(self) -> None:
        message = "tools.yaml:1:2: not read within -1 seconds (source_limits.seconds)"
        assert refusal("a", limits=Limits(seconds=-1)) == message


class TestBytes:
    @pytest.mark.parametrize("path", ["a.json", "a.yaml"])
    def test_invalid_utf_8(self, path: str) -> None:
        data = '{"é":\r\n "x'.encode() + b'\xff"}'
        message = "2:4: invalid UTF-8 at byte offset 11; expected text in UTF-8, UTF-16 or UTF-32"
        assert refusal(data, path) == f"{path}:{message}"

    def test_invalid_utf_16(self) -> None:
        data = b"\xff\xfe" + '["'.encode("utf-16-le") + b"\x00\xd8" + '"]'.encode("utf-16-le")
        message = "a.json:1:3: invalid UTF-16 at byte offset 6; expected text in UTF-8, UTF-16 or UTF-32"
        assert refusal(data, "a.json") == message

    @pytest.mark.parametrize("path", ["a.json", "a.yaml"])
    def test_nul(self, path: str) -> None:
        assert refusal(b'["ab\0"]', path) == f"{path}:1:5: NUL character; expected text, is this a binary file?"


def test_the_garbage_collector_is_left_as_it_was() -> None:
    assert gc.isenabled()
    read("a.json", b"[]")
    assert gc.isenabled()
    with pytest.raises(SourceError):
        read("a.json", b"[")
    assert gc.isenabled()


def test_json_is_read_without_pyyaml() -> None:
    code = "import sys, dowbench.source as s; s.read('a.json', b'[]'); sys.exit('yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestBreaksOfYaml11:
    """U+0085, U+2028 and U+2029 end a line in YAML 1.1, and are characters like any other in YAML 1.2."""

    @pytest.mark.parametrize("character", ["\x85", "\u2028", "\u2029"])
    @pytest.mark.parametrize("written", ["a{}b", "'a{}b'", '"a{}b"', "|-\n  a{}b", ">-\n  a{}b"])
    def test_they_are_read_as_they_are(self, character: str, written: str) -> None:
        text = f"# see A{character}B\nkey{character}: {written.format(character)}\nlast: 1\n"
        (document,) = read("a.yaml", text.encode()).documents
        assert document.value == {f"key{character}": f"a{character}b", "last": 1}
        line = text.count("\n")
        assert document.span("/last") == Span(line, 7, line, 8)
        assert document.key_span(f"/key{character}") == Span(2, 1, 2, 5)

    def test_they_do_not_become_what_is_written_beside_them(self) -> None:
        text = 'a: "\u2028 \ue000 \\ue001 \\U0000e002 \\N\\L\\P"\nb: \ue003\x85\u2029\n- '
        text = text.removesuffix("- ")
        assert value(text) == {"a": "\u2028 \ue000 \ue001 \ue002 \x85\u2028\u2029", "b": "\ue003\x85\u2029"}

    def test_errors_after_them_have_their_place(self) -> None:
        assert refusal("# \u2028\x85\na: x\u2029\nb: [\n").startswith("tools.yaml:4:1: not valid YAML")
        assert refusal("a: \u2028\x85\x01\n").startswith("tools.yaml:1:6: not valid YAML: control character")
        assert refusal("a\u2028: 1\na\u2028: 2\n").startswith("tools.yaml:2:1: duplicate key")

    def test_a_text_that_leaves_no_stand_in_is_read_or_refused(self) -> None:
        private = "".join(map(chr, range(0xE000, 0xF900)))
        assert value(f"a: '{private}'\n# \u2028\n") == {"a": private}
