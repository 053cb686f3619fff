"""The library: what a program may hand over, and that anything else is one line and not a crash."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from workbench import PROBE, tool, write

from dowbench import load_tools, scan_paths, scan_tools
from dowbench.config import Config, Waiver
from dowbench.errors import DowbenchError, SourceError, UnrecognizedError, UsageError
from dowbench.scan import exit_code

CONFIG = Config(rule_packs=(str(PROBE),), select=("probe-tool",))


def refused(error: type[DowbenchError], call: Any, *arguments: Any, **options: Any) -> str:
    with pytest.raises(error) as caught:
        call(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def cyclic() -> dict[str, Any]:
    value = tool()
    value["input_schema"]["properties"]["again"] = value["input_schema"]
    return value


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return tool(extra=value)


def doubled(levels: int) -> dict[str, Any]:
    value: list[Any] = ["x"]
    for _ in range(levels):
        value = [value, value]
    return tool(extra=value)


class Raises:
    """An object of which everything fails."""

    def __iter__(self) -> Any:
        raise ValueError("no\nway")

    @property
    def args_schema(self) -> Any:
        raise ZeroDivisionError("boom")

    def __str__(self) -> str:
        raise ZeroDivisionError("boom")


@pytest.mark.parametrize("call", [scan_tools, lambda tools: load_tools("auto", tools)], ids=["scan", "load"])
@pytest.mark.parametrize(
    ("tools", "message"),
    [
        (cyclic(), "<python>#/input_schema/properties/again: a value holds itself"),
        ([tool(), cyclic()], "<python>#/1/input_schema/properties/again: a value holds itself"),
        ([deep(100_000)], "more than 200 levels of nesting (source_limits.nesting)"),
        ([doubled(150)], "shared values add more than 500,000 (source_limits.aliases)"),
        (None, "found NoneType"),
        (5, "found int"),
        ("tools.json", "found str"),
        (Path("tools.json"), "found PosixPath"),
        ([[tool()]], "<python>#/0: expected a tool definition"),
        ([tool(), 5], "<python>#/1: expected a tool definition"),
        (itertools.count(), "<python>#/0: expected a tool definition"),
        (Raises(), "the objects cannot be read: ZeroDivisionError: boom"),
        ([Raises()], "<python>#/0: the definition of Raises cannot be read: ZeroDivisionError: boom"),
        ([tool(extra=Raises())], "the objects cannot be read: ZeroDivisionError: boom"),
        ([tool(name=5)], "<python>#/0/name: expected the name of a tool, a text, found a number"),
    ],
)
def test_what_is_no_tool_is_a_located_line(call: Any, tools: Any, message: str) -> None:
    assert message in refused(SourceError, call, tools)


def test_an_endless_generator_of_tools_ends_at_the_limit() -> None:
    config = Config(source_limits={"tools": 10})
    message = refused(SourceError, scan_tools, itertools.repeat(tool()), config=config)
    assert message == "<python>: more than 10 tools (source_limits.tools)"


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ({"nodes": 5}, "more than 5 values (source_limits.nodes)"),
        ({"nesting": 2}, "<python>#/0/input_schema: more than 2 levels of nesting (source_limits.nesting)"),
        ({"text": 3}, "characters, more than 3 (source_limits.text)"),
        ({"seconds": 1e-9}, "the rules took more than 1e-09 s (source_limits.seconds)"),
    ],
)
def test_limits_hold_for_objects_too(limit: dict[str, float], message: str) -> None:
    assert message in refused(SourceError, scan_tools, [tool()], config=Config(source_limits=limit))  # type: ignore[arg-type]


def test_shared_objects_are_no_cycle() -> None:
    one = tool("probe_one")
    result = scan_tools([one, one, {**one, "name": "probe_two"}], config=CONFIG)
    assert result.known >= {rule.id for rule in result.rules} > set()
    assert [finding.pointer for finding in result.findings] == ["/0", "/1", "/2"]


def test_odd_values_inside_a_definition_are_read() -> None:
    odd = {1: 2, None: 3, "big": 10**5000, "small": -(10**5000), "nan": float("nan"), "bytes": b"x", "set": {"b", "a"}}
    result = scan_tools([tool(extra=odd)], config=Config(tier="pedantic"))
    assert (result.tools, result.errors) == (1, ())


@pytest.mark.parametrize("format", [5, None, b"mcp", ["mcp"], "nope", ""])
def test_a_format_that_does_not_exist(format: Any) -> None:
    refused(UsageError, scan_tools, [tool()], format=format)
    refused(UsageError, load_tools, format, [tool()])


@pytest.mark.parametrize("make", [str, Path, str.encode, lambda name: [name], lambda name: iter([name])])
def test_one_path_or_several(folder: Path, make: Any) -> None:
    write(folder / "tools.json", tool())
    result = scan_paths(make("tools.json"), CONFIG)
    assert [(finding.rule, finding.path) for finding in result.findings] == [("probe-tool", "tools.json")]
    assert result.errors == ()


@pytest.mark.parametrize("paths", [5, None, [5], ["tools.json", None], object()])
def test_what_is_no_path_is_a_usage_error(folder: Path, paths: Any) -> None:
    write(folder / "tools.json", tool())
    assert refused(UsageError, scan_paths, paths).startswith("expected paths (texts or path objects): ")


@pytest.mark.parametrize(
    ("path", "reason"),
    [("", "the path is empty"), ("a\0b", "embedded null byte"), ("\ud800", "surrogates not allowed")],
)
def test_a_path_that_no_file_can_have_stops_no_other(folder: Path, path: str, reason: str) -> None:
    write(folder / "tools.json", tool())
    result = scan_paths([path, "tools.json"], CONFIG)
    assert [error.message.endswith(reason) for error in result.errors] == [True]
    assert [file.path for file in result.files] == ["tools.json"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tier": "zzz"}, 'tier must be one of default, pedantic, not "zzz"'),
        ({"fail_on": "never"}, "fail_on must be one of"),
        ({"min_severity": "awful"}, "min_severity must be one of"),
        ({"min_confidence": 3}, "min_confidence must be one of"),
        ({"select": "probe-tool"}, "select must be a list"),
        ({"select": (5,)}, "select[0] must be a string"),
        ({"select": ("nope",)}, "unknown rule 'nope'"),
        ({"ignore": None}, "ignore must be a list"),
        ({"loader": 5}, "loader must be a string"),
        ({"loader": "nope"}, "there is no format 'nope'"),
        ({"limits": {"max_calls": -1}}, "max_calls must be a finite number of at least 1"),
        ({"limits": {"max_cals": 1}}, "did you mean 'max_calls'?"),
        ({"source_limits": {"bytes": -5}}, "bytes must be a finite number of at least 1"),
        ({"source_limits": {"seconds": 0}}, "seconds must be a finite number above 0"),
        ({"source_limits": {"nodes": 1.5}}, "nodes must be an integer"),
        ({"rules": {"unbounded-result": {"severity": "awful"}}}, "severity must be one of"),
        ({"rules": {"nope": {}}}, "unknown rule 'nope'"),
        ({"rules": 5}, "rules must be a mapping"),
        ({"words": {"result_limit": "x"}}, "result_limit must be a list"),
        ({"exceptions": ("x",)}, "exceptions[0] must be a mapping"),
        ({"exceptions": ({"rules": ["all"], "reason": "x"},)}, "exceptions[0] must be a Waiver, not dict"),
        ({"rules": {5: {}}}, "the keys of rules must be strings, not 5"),
        ({"lines": 5}, "path and lines say where a file has its settings"),
        ({"path": b"x"}, "path and lines say where a file has its settings"),
        ({"unread": "dowbench.yml"}, "unread must be a tuple of paths"),
        ({"source_limits": {"seconds": 10**400}}, "seconds must be a finite number above 0"),
        ({"rule_packs": ("a\0b",)}, "no such directory of rules"),
        ({"exclude": ("[",)}, "the pattern '[' matches nothing"),
        ({"exceptions": (Waiver("all", "r"),)}, "rules must be a list"),  # type: ignore[arg-type]
        ({"exceptions": (Waiver(("all",), ""),)}, "reason must not be empty"),
        ({"exceptions": (Waiver(("all",), "r", until="soon"),)}, "until must be a date"),
        ({"rule_packs": ("missing",)}, "no such directory of rules"),
        ({"skip_unrecognized": "yes"}, "skip_unrecognized must be true or false"),
        ({"base": 5}, "base must be a path, not int"),
    ],
)
def test_settings_that_make_no_sense(folder: Path, settings: dict[str, Any], message: str) -> None:
    write(folder / "tools.json", tool())
    assert message in refused(UsageError, scan_paths, "tools.json", Config(**settings))
    assert message in refused(UsageError, scan_tools, [tool()], config=Config(**settings))


@pytest.mark.parametrize("config", [5, {"tier": "default"}, "dowbench.yaml", Config])
def test_settings_of_another_type(config: Any) -> None:
    assert "expected settings (a dowbench.config.Config)" in refused(UsageError, scan_paths, "tools.json", config)
    assert "expected settings (a dowbench.config.Config)" in refused(UsageError, scan_tools, [tool()], config=config)


def test_settings_as_a_program_writes_them(folder: Path) -> None:
    write(folder / "tools.json", tool())
    config = Config(
        rule_packs=[str(PROBE)],  # type: ignore[arg-type]
        select=["probe-tool"],  # type: ignore[arg-type]
        exceptions=[Waiver(("probe-tool",), "known")],  # type: ignore[arg-type]
        base=".",  # type: ignore[arg-type]
    )
    assert [suppressed.reason for suppressed in scan_paths("tools.json", config).suppressed] == ["known"]


def test_what_holds_no_tools_is_unrecognized() -> None:
    assert refused(UnrecognizedError, scan_tools, {}).endswith("found an empty object")


@pytest.mark.parametrize("fail_on", ["x", None, 5, "HIGH"])
def test_an_exit_code_of_no_severity(folder: Path, fail_on: Any) -> None:
    write(folder / "tools.json", tool())
    result = scan_paths("tools.json", CONFIG)
    assert "fail_on must be one of high, medium, low, none" in refused(UsageError, exit_code, result, fail_on)
