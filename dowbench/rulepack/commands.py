"""``dowbench rules``: look at the rules in force, test a pack, write its documentation."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowbench.errors import UsageError
from dowbench.rulepack.files import GENERATED, Directory, read
from dowbench.rulepack.pack import DATA, builtin_directory, load_pack, rule_names
from dowbench.rulepack.reading import near

if TYPE_CHECKING:
    from dowbench.model import ToolSet

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
        _ = load_pack(packs).infos  # what only a scan looks at
    failures = len(report.failures)
    click.echo(f"{report.rules} rules, {report.tests} tests, {report.mutants} branches, {failures} failures.")
    if report.failures:
        raise SystemExit(1)


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
    rule = next((rule for rule in pack.rules if rule.id == rule_id), None)
    if rule is None:
        raise UsageError(f"unknown rule `{rule_id}`{near(rule_id, (r.id for r in pack.rules))}")
    click.echo(page(pack, rule), nl=False)


@rules.command("docs")
@click.argument("pack", type=_PACK, required=False)
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("docs/rules"), show_default=True)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when something is not as it would be written.")
def docs(pack: Path | None, output: Path, check: bool) -> None:
    """Write what is generated from the rules of PACK (default: the built-in ones): pages, and pack.json for speed."""
    from dowbench.rulepack.docs import MARK, pages
    from dowbench.rulepack.schema import rule_schema

    loaded = load_pack((pack or builtin_directory(),), builtin=False)
    wanted = {output / name: text for name, text in pages(loaded).items()}
    home = Directory(pack or builtin_directory())
    wanted[home.path / GENERATED] = home.generate(rule_names(home.path), list(DATA))
    if pack is None:
        wanted[home.path / "schema.json"] = json.dumps(rule_schema(), indent=1, ensure_ascii=False) + "\n"
    stale = sorted(path for path in output.glob("*.md") if path not in wanted and MARK in _text(path))
    differing = [path for path, text in wanted.items() if not os.path.lexists(path) or _text(path) != text]
    if check:
        for path in (*differing, *stale):
            click.echo(f"{_shown(path)}: not as generated; run `dowbench rules docs`", err=True)
        if differing or stale:
            raise SystemExit(1)
        return
    try:
        output.mkdir(parents=True, exist_ok=True)
        for path in stale:
            path.unlink()
        for path in differing:
            path.write_text(wanted[path], encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{_shown(error.filename or output)}: cannot be written: {error.strerror}") from None
    click.echo(f"{len(wanted)} files, {len(differing)} written, {len(stale)} removed.")


def _text(path: Path) -> str:
    return read(str(path)).decode(errors="replace")


COMMANDS = {"rules": rules}
"""What the command line offers."""
