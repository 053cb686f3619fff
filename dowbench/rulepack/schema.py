"""The JSON Schema of a rule file, for editors; ``load_pack`` checks the same and more."""

from __future__ import annotations

from typing import Any

from dowbench.model import CONFIDENCES, SEVERITIES
from dowbench.rulepack import conditions, matching, parameters
from dowbench.rulepack.conditions import SET, TOOL
from dowbench.rulepack.notation import TOOL_KEYS
from dowbench.rulepack.rule import ADJUST_KEYS, PLACES, REQUIRED, SCOPES, SHAPE_KEYS, TIERS
from dowbench.rulepack.selftest import CASE_KEYS
from dowbench.rulepack.settings import LIMITS
from dowbench.rulepack.taxonomy import DEFENSES, FAMILIES, TAXONOMY

Node = dict[str, Any]
_TEXT: Node = {"type": "string", "minLength": 1}
_FLAG: Node = {"type": "boolean"}
_TEXTS: Node = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1}]}
_NUMBER: Node = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^\$"}]}


def _one(values: Any) -> Node:
    return {"enum": list(values)}


def _some(values: Any) -> Node:
    return {"anyOf": [_one(values), {"type": "array", "items": _one(values), "minItems": 1}]}


def _object(properties: Node, required: Any = (), **more: Any) -> Node:
    node: Node = {"type": "object", "properties": properties, "additionalProperties": False, **more}
    return {**node, "required": list(required)} if required else node


def _ref(name: str) -> Node:
    return {"$ref": f"#/$defs/{name}"}


def _list(items: Node) -> Node:
    return {"type": "array", "items": items, "minItems": 1}


def rule_schema() -> Node:
    """JSON Schema (2020-12) of one rule file."""
    shape = {
        "match": _ref("tree"),
        "unless": _ref("tree"),
        "adjust": _list(_ref("adjustment")),
        "report": _one(PLACES),
        "message": _TEXT,
        "fix": _TEXT,
    }
    assert tuple(shape) == SHAPE_KEYS
    option = _object({"default": {"type": "number"}, "about": _TEXT}, ("default", "about"))
    properties: Node = {
        "id": {"type": "string", "pattern": "^[a-z][a-z0-9]*(-[a-z0-9]+)*$", "description": "Names the flaw."},
        "title": _TEXT,
        "why": _TEXT,
        "severity": _one(SEVERITIES),
        "confidence": _one(CONFIDENCES),
        "tier": _one(TIERS),
        "family": _one(FAMILIES),
        "scope": _one(SCOPES),
        "defense": _one(DEFENSES),
        "frameworks": {**_TEXTS, "description": "Topics of frameworks.yaml."},
        "taxonomy": _some(TAXONOMY),
        "evidence": {**_TEXTS, "description": "Ids of reported.yaml."},
        "covered_by": {**_TEXTS, "description": "Rules whose finding on the same tool has the same cause."},
        "options": {"type": "object", "additionalProperties": option},
        "words": {"type": "object", "additionalProperties": _TEXTS},
        **shape,
        "toolset": _object(shape, ("match", "message", "fix")),
        "example": _object({key: {"anyOf": [_ref("tool"), _TEXT]} for key in ("before", "after")}, ("before", "after")),
        "tests": _object({key: _list(_ref(key)) for key in ("flagged", "not_flagged")}, ("flagged", "not_flagged")),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A dowbench rule",
        **_object(properties, (*REQUIRED, "tests")),
        "$defs": _definitions(),
    }


def _definitions() -> Node:
    name = _object(dict.fromkeys(matching.NAME_KEYS, _TEXTS), minProperties=1)
    description = _object(
        {
            "phrases": _TEXTS,
            "also": _list(_TEXTS),
            "without": _TEXTS,
            "within": _one(("sentence", "clause")),
            "first": {"type": "integer", "minimum": 1},
        },
        ("phrases",),
    )
    assert tuple(description["properties"]) == matching.DESCRIPTION_KEYS
    return {
        "name": name,
        "description": description,
        "parameter": _parameter(),
        "tree": _tree(),
        "adjustment": _adjustment(),
        "tool": _tool(),
        "flagged": _case(flagged=True),
        "not_flagged": _case(flagged=False),
    }


def _parameter() -> Node:
    comparison = _object(dict.fromkeys(parameters.COMPARISONS, _NUMBER), minProperties=1)
    properties: Node = {
        "role": _TEXTS,
        "any": _list(_ref("parameter")),
        "all": _list(_ref("parameter")),
        "not": _ref("parameter"),
        "name": _ref("name"),
        "type": _some(parameters.TYPES),
        "items": _some(parameters.TYPES),
        "required": _FLAG,
        "nested": _FLAG,
        "place": _some(parameters.PLACES),
        "description": _ref("description"),
        "about": _ref("description"),
        "has": _some(parameters.KEYWORDS),
        "lacks": _some(parameters.KEYWORDS),
        "choice": _ref("name"),
        "bound": {"anyOf": [_some(parameters.SOURCES), comparison]},
        "default": _object({"above": _NUMBER}, ("above",)),
        "unit": _some(parameters.UNITS),
    }
    assert set(properties) == set(parameters.PARAMETER_KEYS)
    return _object(properties, minProperties=1)


def _tree() -> Node:
    tokens = _object({"tokens_above": _NUMBER}, ("tokens_above",))
    result: Node = {
        "kind": _some(conditions.KINDS),
        "bound": _some(conditions.BOUNDS),
        **dict.fromkeys(conditions.FLAGS, _FLAG),
        "open_output": {"anyOf": [_FLAG, _some(conditions.OPEN_PARTS)]},
    }
    properties: Node = {
        "all": _list(_ref("tree")),
        "any": _list(_ref("tree")),
        "not": _ref("tree"),
        "name": _ref("name"),
        "description": _ref("description"),
        "parameter": _ref("parameter"),
        "result": _object(result, minProperties=1),
        "definition": tokens,
        "hint": _object(dict.fromkeys(conditions.HINTS, _FLAG), minProperties=1),
        "method": _some(conditions.METHODS),
        "listing": _some(conditions.LISTINGS),
        "sibling": _ref("tree"),
        "format": _some(conditions.FORMATS),
        "limits": _object({"any_of": _some(LIMITS)}, ("any_of",)),
        "tools": _object({"at_least": _NUMBER, "where": _ref("tree")}, ("at_least",)),
        "definitions": tokens,
    }
    assert set(properties) == {"all", "any", "not", *TOOL, *SET}
    for key, operator in {**TOOL, **SET}.items():
        properties[key] = {**properties[key], "description": f"Holds when {operator.about}."}
    return _object(properties, minProperties=1)


def _adjustment() -> Node:
    properties: Node = {
        "when": _ref("tree"),
        "on": {"anyOf": [_ref("parameter"), _ref("description")]},
        "severity": _one(SEVERITIES),
        "confidence": _one(CONFIDENCES),
        "tier": _one(TIERS),
        "message": _TEXT,
        "fix": _TEXT,
        "note": _TEXT,
        "fix_note": _TEXT,
    }
    assert tuple(properties) == ADJUST_KEYS
    return _object(properties, minProperties=2, anyOf=[{"required": ["when"]}, {"required": ["on"]}])


def _tool() -> Node:
    loose: Node = {"type": "object"}
    either: Node = {"anyOf": [_TEXT, loose]}
    properties: Node = {
        "name": {"type": "string"},
        "title": {"type": "string"},
        "description": {"type": "string"},
        "parameters": {"type": "object", "additionalProperties": either},
        "required": {"type": "array", "items": _TEXT},
        "inputSchema": loose,
        "outputSchema": either,
        "annotations": loose,
        "_meta": loose,
    }
    assert tuple(properties) == TOOL_KEYS
    return _object(properties, ("name",))


def _case(*, flagged: bool) -> Node:
    given: Node = {
        "reason": _TEXT,
        "tool": _ref("tool"),
        "tools": _list(_ref("tool")),
        "document": {},
        "format": _one(("auto", *conditions.FORMATS)),
        "limits": _object({key: {"type": "number"} for key in LIMITS}),
        "options": {"type": "object", "additionalProperties": {"type": "number"}},
        "which": _TEXT,
    }
    expected: Node = {
        "severity": _one(SEVERITIES),
        "confidence": _one(CONFIDENCES),
        "tier": _one(TIERS),
        "parameter": _TEXT,
        "message": _TEXTS,
        "fix": _TEXTS,
    }
    assert {*given, *expected} == set(CASE_KEYS)
    one_of = [{"required": [key]} for key in ("tool", "tools", "document")]
    return _object({**given, **(expected if flagged else {})}, ("reason",), oneOf=one_of)
