"""Scanner and benchmark share a claim: what attacks use, the rules flag, and what the rules flag has attacks."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from dowbench_benchmark.attacks import FAMILIES, UNMEASURED, Attack, load_attacks
from mock_episodes import DESK

from dowbench import scan
from dowbench.config import Config
from dowbench.rulepack import load_pack, taxonomy

if TYPE_CHECKING:
    from dowbench_benchmark.injection import Injection

ATTACKS = load_attacks(DESK)
PACK = load_pack()
DESCRIBED = [attack for attack in ATTACKS.values() if attack.vector == "tool_description"]


def found(task_id: str, injection: Injection | None) -> frozenset[tuple[str, str | None]]:
    """(rule, tool) of everything the scanner says about the tools that an episode is offered, in both tiers."""
    world = DESK.world(DESK.tasks[task_id], 0, injection, "")
    tools = [
        {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}}
        for t in world.tools()
    ]
    result = scan.scan_tools(tools, "openai", Config(tier="pedantic"))
    assert not result.errors
    return frozenset((finding.rule, finding.tool) for finding in result.findings)


def carriers(attack: Attack) -> set[str | None]:
    """The tools that a finding for this attack may be on; ``None`` is the whole list."""
    delegating = {name for name in DESK.offers[attack.task_id] if DESK.catalogue[name].delegate is not None}
    return {None, *attack.payload.tools, attack.payload.relay, *delegating}


def test_two_attacks_or_more_of_every_family_of_the_default_rules() -> None:
    attacks = Counter(attack.family for attack in ATTACKS.values())
    for rule in PACK.infos:
        if rule.tier == "default":
            assert attacks[rule.family] >= 2, rule.id
    assert set(taxonomy.FAMILIES) <= set(FAMILIES)
    assert {family for family in FAMILIES if attacks[family] < 2} == set(UNMEASURED)


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=str)
def test_the_rules_that_an_attack_names_fire_where_it_is_laid(attack: Attack) -> None:
    known = {rule.id for rule in PACK.infos}
    findings = found(attack.task_id, attack.payload)
    for rule in attack.rules:
        assert rule in known
        assert any((rule, tool) in findings for tool in carriers(attack)), (rule, sorted(findings, key=str))


@pytest.mark.parametrize("attack", DESCRIBED, ids=str)
def test_a_control_in_a_description_is_no_finding_of_its_own(attack: Attack) -> None:
    """A rule on descriptions reads what they demand: neutral text of the same length adds nothing but its length."""
    plain = found(attack.task_id, None)
    added = {rule for rule, _ in found(attack.task_id, attack.control) - plain}
    assert added <= {"heavy-definition"}
    assert bool(attack.rules) == bool(found(attack.task_id, attack.payload) - plain)
