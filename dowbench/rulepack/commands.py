"""``dowbench rules``: look at the rules in force, test a pack, write its documentation."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowbench import output
from dowbench.errors import UsageError
from dowbench.rulepack.files import GENERATED, Directory, read
from dowbench.rulepack.pack import DATA, builtin_directory, load_pack, rule_names
from dowbench.rulepack.reading import near

if TYPE_CHECKING:
    from collections.abc import Sized

    from dowbench.model import ToolSet
    from dowbench.rulepack import RulePack


def _folder(ctx: click.Context, param: click.Parameter, value: str) -> Path:
    """A folder that may not be there yet. An empty text, as of a variable that is not set, is a mistake."""
    if not value.strip():
        raise click.BadParameter("the value is empty")
    return Path(value)


_PACK = click.Path(exists=True, file_okay=False, path_type=Path)
_rules = click.option("--rules", "directories", type=_PACK, multiple=True, metavar="DIR", help="A further rule pack.")


@click.group("rules")
def rules() -> None:
    """Look at rules, test them, write their documentation."""


@rules.command("list")
@_rules
@click.option("--json", "as_json", is_flag=True, help="All that is known of each rule, as JSON.")
def list_rules(directories: tuple[Path, ...], as_json: bool) -> None:
    """Print one line for each rule."""
    pack = load_pack(directories)
    _say(pack)
    if as_json:
        listed = [
            info._asdict()
            | {key: [item._asdict() for item in getattr(info, key)] for key in ("evidence", "frameworks")}
            for info in pack.infos
        ]
        click.echo(json.dumps(listed, indent=1, ensure_ascii=False))
        return
    width = max(len(rule.id) for rule in pack.infos)
    for rule in pack.infos:
        pedantic = "  (pedantic)" if rule.tier == "pedantic" else ""
        click.echo(f"{rule.id:<{width}}  {rule.severity:<6}  {rule.confidence:<6}  {rule.title}{pedantic}")


@rules.command("test")
@click.argument("packs", type=_PACK, nargs=-1, metavar="[PACK]…")
def test(packs: tuple[Path, ...]) -> None:
    """Run the tests inside the rules of a PACK, then delete each branch to see that a test fails.

    Without a PACK: the built-in rules.
    """
    from dowbench.rulepack.selftest import test_pack

    report = test_pack(packs or (builtin_directory(),), _load)
    for failure in report.failures:
        click.echo(str(failure._replace(path=_shown(failure.path))), err=True)
    if packs and not report.failures:
        loaded = load_pack(packs)
        _ = loaded.infos  # what only a scan looks at
        _say(loaded)
    counts = ((report.rules, "rule"), (report.tests, "test"), (report.mutants, "branch"), (report.failures, "failure"))
    click.echo(f"{', '.join(_count(things, what) for things, what in counts)}.")
    if report.failures:
        raise SystemExit(1)


def _say(pack: RulePack) -> None:
    for note in pack.notes:
        click.echo(f"warning: {note.path}: {note.message}", err=True)


def _shown(path: str | Path) -> str:
    """A path as short as it can be from here."""
    path = Path(path)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _load(document: Any, format: str) -> ToolSet:
    from dowbench import loaders

    return loaders.load(document, path="<test>", document=0, format=format)


@rules.command("show")
@click.argument("rule_id", metavar="ID")
@_rules
def show(rule_id: str, directories: tuple[Path, ...]) -> None:
    """Print the page of a rule: what it finds, why that costs, what to change."""
    from dowbench.rulepack.docs import page

    pack = load_pack(directories)
    _say(pack)
    rule = next((rule for rule in pack.rules if rule.id == rule_id), None)
    if rule is None:
        raise UsageError(f"unknown rule `{rule_id}`{near(rule_id, (r.id for r in pack.rules))}")
    click.echo(page(pack, rule), nl=False)


@rules.command("docs")
@click.argument("pack", type=_PACK, required=False)
@click.option("-o", "--output", "folder", metavar="DIR", callback=_folder, default="docs/rules", show_default=True)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when something is not as it would be written.")
def docs(pack: Path | None, folder: Path, check: bool) -> None:
    """Write what is generated from the rules of PACK (default: the built-in ones): pages, and pack.json for speed."""
    from dowbench.rulepack.docs import pages
    from dowbench.rulepack.schema import rule_schema

    loaded = load_pack((pack or builtin_directory(),), builtin=False, generated=False)
    _say(loaded)
    wanted = {folder / name: text for name, text in pages(loaded).items()}
    home = Directory(pack or builtin_directory(), generated=False)
    ours = {home.path / GENERATED: home.generate(rule_names(home.path), list(DATA))}
    if pack is None:
        ours[home.path / "schema.json"] = json.dumps(rule_schema(), indent=1, ensure_ascii=False) + "\n"
    stale = sorted(path for path in folder.glob("*.md") if path not in wanted and _is_page(path))
    everything = {**wanted, **ours}
    differing = [path for path, text in everything.items() if not os.path.lexists(path) or _text(path) != text]
    if check:
        for path in (*differing, *stale):
            click.echo(f"{_shown(path)}: not as generated; run `dowbench rules docs`", err=True)
        if differing or stale:
            raise SystemExit(1)
        return
    try:
        for path in differing:  # all of them, before the first is written
            output.check_replaceable(path, (), None if path in ours else _is_page)
        folder.mkdir(parents=True, exist_ok=True)
        for path in stale:
            path.unlink()
    except OSError as error:
        raise UsageError(f"{_shown(error.filename or folder)}: cannot be written: {error.strerror}") from None
    for path in differing:
        output.write_file(path, everything[path], (), None if path in ours else _is_page)
    click.echo(f"{_count(everything, 'file')}, {len(differing)} written, {len(stale)} removed.")


def _is_page(path: Path) -> bool:
    """Whether a file is a page that was generated, or empty."""
    from dowbench.rulepack.docs import MARK

    text = _text(path)
    return not text or MARK in text


def _text(path: Path) -> str:
    return read(str(path)).decode(errors="replace")


def _count(things: Sized | int, what: str) -> str:
    number = things if isinstance(things, int) else len(things)
    return f"{number} {what if number == 1 else f'{what}es' if what.endswith('ch') else f'{what}s'}"


COMMANDS = {"rules": rules}
"""What the command line offers."""
