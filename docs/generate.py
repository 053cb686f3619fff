"""Write the generated parts of README.md: ``python docs/generate.py``. A test compares them with what it would write.

A part lies between ``<!-- generated: NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from dowbench import configfile
from dowbench.rulepack import load_pack

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
DEMO = "fixtures/openai/support_agent/input.json"
_PART = re.compile(r"(?<=<!-- generated: )(?P<name>[a-z]+) -->\n.*?(?=<!-- end -->)", re.DOTALL)


def demo() -> str:
    """What the first command of the README prints."""
    return f"```console\n$ dowbench scan {DEMO}\n{_dowbench('scan', '--no-config', DEMO)}```\n"


def options() -> str:
    """The help text of ``dowbench scan``."""
    return f"```console\n$ dowbench scan --help\n{_dowbench('scan', '--help')}```\n"


def rules() -> str:
    """A row for each rule."""
    rows = ["| rule | severity | confidence | finds |", "|---|---|---|---|"]
    for rule in load_pack().infos:
        tier = ", pedantic" if rule.tier == "pedantic" else ""
        page = f"[{rule.id}](docs/rules/{rule.id}.md)"
        rows.append(f"| {page} | {rule.severity}{tier} | {rule.confidence} | {rule.title} |")
    return "\n".join(rows) + "\n"


PARTS = {"demo": demo, "options": options, "rules": rules, "settings": configfile.reference}


def generated(text: str) -> str:
    """``text`` with its generated parts as they are now."""
    return _PART.sub(lambda match: f"{match['name']} -->\n{PARTS[match['name']]()}", text)


def _dowbench(*arguments: str) -> str:
    run = subprocess.run(
        [sys.executable, "-m", "dowbench", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    if run.stderr:
        raise RuntimeError(run.stderr)
    return run.stdout


if __name__ == "__main__":
    README.write_text(generated(README.read_text(encoding="utf-8")), encoding="utf-8")
