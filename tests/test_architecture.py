"""Who may import whom, and what a scan costs before it starts."""

from __future__ import annotations

import ast
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from workbench import ROOT, tool, write

if TYPE_CHECKING:
    from pathlib import Path

COMMON = frozenset({"model", "errors", "pointer", "words", "patterns", "__version__", "__url__"})
"""What every module of the scanner may import."""
ALLOWED = {
    "__init__": {"scan", "loaders"},
    "__main__": {"cli"},
    "action": {"baseline", "config", "configfile", "discover", "inputs", "output", "report", "scan"},
    "baseline": {"inputs"},
    "changed": set(),
    "cli": {"baseline", "config", "configfile", "inputs", "output", "report", "scan"},
    "config": {"git", "inputs"},
    "configfile": {"config", "inputs", "source"},
    "discover": {"git", "globs", "inputs"},
    "engine": {"rulepack"},
    "errors": set(),
    "fingerprint": set(),
    "forked": {"engine", "rulepack"},
    "git": set(),
    "globs": {"inputs"},
    "inputs": set(),
    "loaders": {"source"},
    "model": set(),
    "output": set(),
    "parallel": {"forked", "plan", "scanfile"},
    "patterns": set(),
    "pointer": set(),
    "plan": {"config", "globs", "loaders", "rulepack", "source"},
    "phrases": {"prose"},
    "prose": set(),
    "report": {"git", "inputs", "rulepack"},
    "result": {"phrases", "prose"},
    "rulepack": {"engine", "inputs", "loaders", "output", "phrases", "prose", "result"},
    "scan": {
        "baseline", "config", "configfile", "discover", "engine", "fingerprint", "git", "globs", "inputs", "loaders",
        "parallel", "plan", "scanfile",
    },
    "scanfile": {
        "changed", "discover", "fingerprint", "forked", "inputs", "loaders", "plan", "source", "suppress",
    },
    "source": set(),
    "suppress": {"config", "globs"},
    "words": set(),
}  # fmt: skip
"""Module or package of the scanner → what else of it it may import. The stages do not import each other."""
HEAVY = {
    "jsonschema", "openapi_spec_validator", "pydantic", "rich", "openai", "anthropic", "google", "langchain", "httpx",
    "asyncio", "concurrent", "email", "http", "logging", "multiprocessing", "socket", "ssl", "subprocess", "tempfile",
    "unittest", "tomllib", "importlib.metadata", "importlib.resources",
}  # fmt: skip


def imports(root: Path, package: str):
    """(module, imported module of ours) pairs, both dotted."""
    for path in sorted((root / package).rglob("*.py")):
        module = ".".join(path.relative_to(root).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((module, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{module} has a relative import"
                if node.module in ("dowbench", "dowbench_benchmark"):
                    yield from ((module, f"{node.module}.{alias.name}") for alias in node.names)
                else:
                    yield module, str(node.module)


def part(module: str) -> str:
    return [*module.split("."), ""][1]


def test_scanner_imports_in_the_direction_of_a_scan():
    wrong, seen = [], set()
    for module, imported in imports(ROOT, "dowbench"):
        assert part(module) in ALLOWED, f"{module} is missing in the table"
        seen.add(part(module))
        if imported.startswith("dowbench."):
            own = part(imported) == part(module)
            if not own and part(imported) not in COMMON | ALLOWED[part(module)]:
                wrong.append(f"{module} imports {imported}")
    assert wrong == []
    assert {"scan", "cli", "loaders", "engine", "source"} <= seen


def test_scanner_never_imports_the_benchmark():
    assert [pair for pair in imports(ROOT, "dowbench") if pair[1].startswith("dowbench_benchmark")] == []


def test_benchmark_imports_little_of_the_scanner():
    allowed = {
        "dowbench",
        *(f"dowbench.{name}" for name in ("errors", "output", "report.escape", "__version__", "__url__")),
    }
    pairs = list(imports(ROOT / "benchmark", "dowbench_benchmark"))
    assert pairs
    assert [p for p in pairs if p[1].split(".")[0] == "dowbench" and p[1] not in allowed] == []


def test_the_map_has_every_module_and_no_other():
    for page, package in zip(
        (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split("## How a run flows"),
        (ROOT / "dowbench", ROOT / "benchmark" / "dowbench_benchmark"),
        strict=True,
    ):
        first_cells = "".join(row.split("|")[1] for row in page.splitlines() if row.startswith("| `"))
        folders = {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}
        modules = {path.name for path in package.glob("*.py") if not path.name.startswith("__")}
        assert set(first_cells.split("`")[1::2]) == folders | modules


def test_tables_name_modules_that_exist():
    from dowbench.cli import COMMANDS
    from dowbench.report import REPORTS

    for module in (*REPORTS.values(), *(command.module for command in COMMANDS.values())):
        root = ROOT / "benchmark" if module.startswith("dowbench_benchmark") else ROOT
        assert (root / f"{module.replace('.', '/')}.py").is_file(), module


@pytest.mark.parametrize("format", ["text", "json"])
@pytest.mark.parametrize("language", ["json", "yaml"])
def test_a_scan_imports_nothing_heavy(folder, language, format):
    write(folder / "tools.json", tool("web_search"), tool("list_tickets"))
    if language == "yaml":
        text = "- {name: web_search, description: Searches the web., input_schema: {}}\n"
        (folder / "tools.yaml").write_text(text, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "dowbench", "scan", f"tools.{language}", "--format", format],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    imported = {line.rpartition("|")[2].strip() for line in run.stderr.splitlines() if line.startswith("import time:")}
    assert "dowbench.scanfile" in imported
    assert {name for name in imported if name in HEAVY or name.split(".")[0] in HEAVY} == set()
    ours = {"dowbench", "click", "yaml", "_yaml"}
    others = {name.split(".")[0] for name in imported} - sys.stdlib_module_names - ours
    # What site starts by itself: path files of editable installs.
    assert {name for name in others if not name.startswith(("_", "sitecustomize", "usercustomize", "imported"))} <= {
        "org"
    }
