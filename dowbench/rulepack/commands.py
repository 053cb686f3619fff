"""``dowbench rules``: look at the rules in force, test a pack, write its documentation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dowbench.rulepack.pack import builtin_directory, load_pack

if TYPE_CHECKING:
    from dowbench.model import ToolSet

_PACK = click.Path(exists=True, file_okay=False, path_type=Path)
_rules = click.option("--rules", "directories", type=_PACK, multiple=True, metavar="DIR", help="A further rule pack.")


@click.group("rules")
def rules() -> None:
    """Look at rules, test them, write their documentation."""


@rules.command("list")
@_rules
def list_rules(directories: tuple[Path, ...]) -> None:
    """Print one line for each rule."""
    pack = load_pack(directories)
    width = max(len(rule.id) for rule in pack.rules)
    for rule in pack.rules:
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
        click.echo(str(failure), err=True)
    click.echo(
        f"{report.rules} rules, {report.tests} tests, {report.mutants} branches, {len(report.failures)} failures."
    )
    if report.failures:
        raise SystemExit(1)


def _load(document: Any, format: str) -> ToolSet:
    from dowbench import loaders

    return loaders.load(document, path="<test>", document=0, format=format)
