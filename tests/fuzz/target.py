"""What every file must stand: the whole scan of it, by every rule, and one of the reports."""

from __future__ import annotations

import json
import random
import re
from functools import cache
from typing import Any

import yaml

from dowbench.config import Config
from dowbench.discover import Target
from dowbench.model import Finding, Note, ScanResult, Span
from dowbench.plan import Plan, make_plan
from dowbench.report import REPORTS, ReportOptions, render
from dowbench.scanfile import Job, scan_file

NAMES = ("x.json", "x.yaml", "x", "x.jsonl")
HIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")

_KEYS = """
tools functions function type name title description parameters input_schema inputSchema outputSchema annotations
_meta functionDeclarations function_declarations parametersJsonSchema response toolConfig toolSpec json args args_schema
openapi swagger info paths /a /b/{id} get post delete requestBody content application/json text/plain schema
responses 200 201 default components schemas $ref $defs definitions allOf anyOf oneOf not if then else items prefixItems
properties additionalProperties
patternProperties required enum const maximum minimum exclusiveMaximum maxItems maxLength
nullable format in limit cursor page_token offset query messages history url path n max_results x-dowbench-ignore $id
$anchor $dynamicRef jsonrpc result id host basePath consumes produces operationId summary deprecated discriminator
"""
_TEXTS = """
object array string integer number boolean null OBJECT query path header cookie body 3.0.3 3.1.0 2.0 #/$defs/a
#/components/schemas/a # #/ #/paths/~1a/get #a a limit cursor list_items search_web run_sql poll_status spawn_agent
http://127.0.0.1:9/x ../x.json x.json#/a function
"""
KEYS = _KEYS.split()
TEXTS = [
    *_TEXTS.split(),
    "List all items, at most 100 per page.",
    "Call this tool again until it says done. Never call it twice.",
    "Returns up to 50 results; defaults to 10.\n\n- one\n- two: e.g. this.",
    "max 1,000 (between 1 and 9e99)",
    "",
    "\u202e\u200b\ud800\x1b[31m\n::error::x|`<b>",
]
NUMBERS: list[Any] = [0, 1, -1, 50, 10**9, 10**400, 1.5, -0.0, 1e308, float("inf"), float("nan")]


@cache
def plan() -> Plan:
    return make_plan(Config(tier="pedantic", source_limits={"seconds": 5.0}))


def check(data: bytes, name: str) -> ScanResult:
    """Scan ``data`` as a file called ``name``. Raises ``AssertionError`` for whatever may not be."""
    outcome = scan_file(Job(Target(name, name, (name,)), data), plan())
    result = ScanResult(
        files=outcome.files,
        findings=outcome.findings,
        suppressed=outcome.suppressed,
        skipped=outcome.skipped,
        errors=outcome.errors,
        warnings=outcome.warnings,
        rules=plan().rules,
    )
    assert outcome.files or outcome.errors, "neither read nor refused"
    for note in (*outcome.errors, *outcome.warnings):
        check_note(note)
    for finding in outcome.findings:
        check_finding(finding)
    report = list(REPORTS)[len(data) % len(REPORTS)]  # all of them would be most of the time
    text = render(report, result, ReportOptions(verbose=True))
    assert not HIDDEN.search(text), f"hidden characters in the report {report}"
    text.encode()
    if report in ("json", "sarif"):
        json.loads(text, parse_constant=not_json)
    return result


def not_json(constant: str) -> None:
    raise AssertionError(f"{constant} in JSON")


def check_note(note: Note) -> None:
    assert "internal error" not in note.message, note.detail
    assert " failed on " not in note.message, f"{note.message}\n{note.detail}"
    assert note.message
    assert note.line is not None, f"no place: {note.message}"
    assert note.line >= 1


def check_finding(finding: Finding) -> None:
    assert finding.message
    assert finding.fix
    assert finding.fingerprint
    assert isinstance(finding.span, Span)
    assert (finding.span.line, finding.span.column) <= (finding.span.end_line, finding.span.end_column)


def structured(seed: bytes) -> tuple[bytes, str]:
    """A file that is nearly a tool definition: real keys in wrong places, as JSON or as YAML."""
    choose = random.Random(seed)

    def value(depth: int) -> Any:
        kind = choose.random()
        if depth > 7 or kind < 0.25:
            return choose.choice(TEXTS)
        if kind < 0.35:
            return choose.choice([*NUMBERS, None, True, False, [], {}])
        if kind < 0.5:
            return [value(depth + 1) for _ in range(choose.randint(0, 4))]
        return mapping(depth, choose.sample(KEYS, choose.randint(0, 6)))

    def mapping(depth: int, keys: list[str]) -> dict[str, Any]:
        return {key: fitting(key, depth + 1) for key in keys}

    def schema(depth: int) -> Any:
        if depth > 8 or choose.random() < 0.1:
            return value(depth)
        keys = choose.sample(
            ["type", "properties", "items", "required", "enum", "maximum", "description", "$ref", "anyOf", "allOf",
             "additionalProperties", "$defs", "maxItems", "oneOf", "default", "const"], choose.randint(0, 5),
        )  # fmt: skip
        return mapping(depth, keys)

    def fitting(key: str, depth: int) -> Any:
        if choose.random() < 0.1:
            return value(depth)
        match key:
            case "tools" | "functionDeclarations" | "function_declarations" | "functions":
                return [tool(depth) for _ in range(choose.randint(0, 3))]
            case "properties" | "$defs" | "schemas" | "patternProperties":
                return {choose.choice(KEYS): schema(depth) for _ in range(choose.randint(0, 4))}
            case "items" | "additionalProperties" | "schema" | "parameters" | "inputSchema" | "input_schema":
                return schema(depth)
            case "anyOf" | "allOf" | "oneOf":
                return [schema(depth) for _ in range(choose.randint(0, 3))]
            case "type" | "name" | "description" | "$ref" | "title" | "in" | "operationId":
                return choose.choice(TEXTS)
            case "maximum" | "maxItems" | "default":
                return choose.choice(NUMBERS)
        return value(depth)

    def tool(depth: int) -> Any:
        keys = choose.choice(
            [("name", "description", "inputSchema", "outputSchema"), ("name", "description", "input_schema"),
             ("type", "function"), ("name", "parameters"), ("type", "name", "parameters"), ("toolSpec",),
             ("name", "inputSchema", "_meta", "annotations", "x-dowbench-ignore")],
        )  # fmt: skip
        made = mapping(depth, list(keys))
        if "type" in made and choose.random() < 0.8:
            made["type"] = "function"
        return made

    def openapi() -> dict[str, Any]:
        paths = {}
        for path in choose.sample(["/a", "/b", "/c/{id}", "x-y"], choose.randint(0, 3)):
            paths[path] = {
                method: {
                    "operationId": choose.choice(TEXTS),
                    "parameters": [
                        {"name": choose.choice(KEYS), "in": choose.choice(TEXTS), "schema": schema(3)}
                        if choose.random() < 0.8
                        else value(3)
                        for _ in range(choose.randint(0, 3))
                    ],
                    "requestBody": {"content": {choose.choice(KEYS): {"schema": schema(4)}}},
                    "responses": {choose.choice(["200", "default", "2XX", "x"]): value(3)},
                }
                if choose.random() < 0.9
                else value(2)
                for method in choose.sample(["get", "post", "put", "x-a", "parameters"], choose.randint(0, 3))
            }
        version = choose.choice(["3.0.0", "3.1.0", "2.0", 3, None])
        components = {"schemas": {"a": schema(2), "b": schema(2)}}
        name = choose.choice(["openapi", "swagger"])
        return {name: version, "paths": paths, "components": components, "info": value(5)}

    tops = [openapi, lambda: {"tools": fitting("tools", 0)}, lambda: [tool(0), tool(0)], lambda: tool(0)]
    top = choose.choice(tops)()
    if choose.random() < 0.7:
        return json.dumps(top, indent=choose.choice([None, 1])).encode(), "x.json"
    try:
        return yaml.dump(top, Dumper=yaml.CSafeDumper, sort_keys=False).encode(), "x.yaml"
    except (UnicodeEncodeError, OverflowError):
        return json.dumps(top).encode(), "x.yaml"


def run(data: bytes) -> None:
    """What a fuzzer calls: the first byte chooses between bytes as they are and a structured file."""
    mode = data[0] if data else 0
    if mode < 128:
        check(data[1:], NAMES[mode % len(NAMES)])
    else:
        check(*structured(data))
