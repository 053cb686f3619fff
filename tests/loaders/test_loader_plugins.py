"""Loaders of other packages, found by their entry points."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dowbench import scan_paths
from dowbench.config import Config
from dowbench.errors import SourceError, UnrecognizedError, UsageError
from dowbench.loaders import detect, load

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parents[2] / "fixtures" / "plugin" / "loader"
MENU = {"menu": [{"dish": "web_search", "what": "Searches.", "takes": {"limit": "integer"}}]}


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package of ``fixtures/plugin/loader``, as ``pip install`` would leave it."""
    monkeypatch.syspath_prepend(str(PACKAGE))
    detect._entry_points.cache_clear()
    yield
    detect._entry_points.cache_clear()
    sys.modules.pop("menu_loader", None)


def register(monkeypatch: pytest.MonkeyPatch, loader: Any) -> None:
    class Point:
        name = "other"
        value = "other:loader"

        def load(self) -> Any:
            if isinstance(loader, Exception):
                raise loader
            return loader

    monkeypatch.setattr(detect, "_entry_points", lambda: (Point(),))


@pytest.mark.usefixtures("installed")
def test_a_plugin_reads_what_no_built_in_format_is() -> None:
    for format in ("auto", "menu"):
        found = load(MENU, path="menu.json", format=format)
        assert found.format == "menu"
        (tool,) = found.tools
        assert (tool.name, tool.description, tool.location.pointer) == ("web_search", "Searches.", "/menu/0")
        assert [(p.name, p.schema.types, p.location.pointer) for p in tool.inputs] == [
            ("limit", ("integer",), "/menu/0/takes/limit")
        ]


@pytest.mark.usefixtures("installed")
def test_an_error_of_a_plugin_has_its_place() -> None:
    with pytest.raises(SourceError, match="expected a dish with a name, found a number") as caught:
        load({"menu": [MENU["menu"][0], {"dish": 5}]}, path="menu.json")
    assert caught.value.pointer == "/menu/1/dish"


@pytest.mark.usefixtures("installed")
def test_the_formats_that_are_known_include_plugins() -> None:
    with pytest.raises(UsageError, match="mcp, menu, openai"):
        load(MENU, path="menu.json", format="food")


def test_without_the_plugin_it_is_unrecognized() -> None:
    with pytest.raises(UnrecognizedError, match="found an object with key menu"):
        load(MENU, path="menu.json")


def test_built_in_formats_do_not_ask_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked() -> Any:
        raise AssertionError("a plugin was looked for")

    monkeypatch.setattr(detect, "_entry_points", asked)
    for value in ([{"name": "t", "inputSchema": {}}], {"openapi": "3.0.0", "paths": {}}):
        load(value, path="x")
        load(value, path="x", format="mcp" if isinstance(value, list) else "openapi")


def test_metadata_is_not_imported_for_a_built_in_format() -> None:
    code = "import sys; from dowbench.loaders import load; load([{'name': 't', 'inputSchema': {}}], path='x')"
    heavy = "importlib.metadata, langchain_core, pydantic, jsonschema, openapi_spec_validator"
    check = f"print([m for m in {heavy.split(', ')!r} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", f"{code}; {check}"], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


class Strange:
    """A loader that is sure of everything."""

    name = "strange"

    def __init__(self, made: Any, sure: float = 1.0) -> None:
        self.made = made
        self.sure = sure

    def confidence(self, value: Any) -> float:
        return self.sure

    def load(self, value: Any, context: Any) -> Any:
        if isinstance(self.made, Exception):
            raise self.made
        return self.made


def test_a_plugin_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, Strange(KeyError("dish")))
    with pytest.raises(SourceError, match=r"x\.json: the loader strange failed: KeyError: 'dish'"):
        load(MENU, path="x.json")


@pytest.mark.parametrize("loader", [ImportError("no module"), object(), 5, type("Empty", (), {})])
def test_a_plugin_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch, loader: Any) -> None:
    register(monkeypatch, loader)
    with pytest.raises(SourceError, match=r"the loader other \(other:loader\) cannot be used"):
        load(MENU, path="x.json")


def test_a_plugin_that_is_not_sure_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, Strange((), sure=0.0))
    with pytest.raises(UnrecognizedError):
        load(MENU, path="x.json")


def test_a_plugin_may_give_a_list_of_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, Strange(()))
    found = load(MENU, path="x.json")
    assert (found.format, found.tools, [note.message for note in found.notes]) == (
        *("strange", ()),
        ["the document holds no tools"],
    )


def test_the_package_is_a_package() -> None:
    """The fixture declares its entry point as ``pip`` reads it."""
    points = [
        point
        for found in importlib.metadata.distributions(path=[str(PACKAGE)])
        for point in found.entry_points
        if point.group == detect.PLUGINS
    ]
    assert [(point.name, point.value) for point in points] == [("menu", "menu_loader:LOADER")]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("loader", ["auto", "menu"])
def test_a_folder_is_asked_for_formats_of_plugins(tmp_path: Path, loader: str) -> None:
    (tmp_path / "menu.json").write_text(json.dumps(MENU), encoding="utf-8")
    (tmp_path / "other.json").write_text('{"unrelated": 1}', encoding="utf-8")
    result = scan_paths([str(tmp_path)], Config(loader=loader))
    assert [(file.format, file.tools) for file in result.files] == [("menu", 1)]
    assert not result.errors
    assert [Path(note.path).name for note in result.skipped] == ["other.json"]
