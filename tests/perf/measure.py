"""How fast a scan is, and how its time and memory grow. Run it by hand: ``python tests/perf/measure.py``.

Every scan is a process of its own, as its users start it. Times are the shortest of some runs in seconds of wall time,
memory is the peak resident size. Ratios compare with the least that has to be done: parsing the same bytes, starting
Python with the two libraries a scan needs. Bytecode is written first, as installers do. OpenAPI documents are of two
kinds: "usual" ones have as much text an operation as published ones, "terse" ones as many operations as can be.
"""

from __future__ import annotations

import argparse
import compileall
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

SCAN = (str(Path(sys.executable).with_name("dowbench")), "scan", "--no-config", "--format", "json")
PACKAGE = Path(__file__).parents[2] / "dowbench"
GENERATE = str(Path(__file__).with_name("generate.py"))
# The yardsticks run in processes of their own, too: the memory of this one counts as its children's until they begin.
OUTPUT = "output"
JSON_LOADS = "import json; parse = json.loads"
YAML_EVENTS = "import yaml\ndef parse(text):\n    for _ in yaml.parse(text, yaml.CSafeLoader): pass"
TIMER = """
import sys, time
text, best = open(sys.argv[1], encoding="utf-8").read(), 1e9
for _ in range(int(sys.argv[2])):
    start = time.perf_counter(); parse(text); best = min(best, time.perf_counter() - start)
print(best)
"""


COUNT = """
import json, sys
report = json.load(open(sys.argv[1]))
print(sum(file["tools"] for file in report["files"]), len(report["findings"]))
"""


class Run(NamedTuple):
    """One process: wall and processor time in seconds, peak memory of its largest part in megabytes."""

    seconds: float
    processor: float
    megabytes: float


def run(arguments: Sequence[str], folder: Path) -> Run:
    """Start Python with ``arguments`` in ``folder`` and wait. Raises ``RuntimeError`` unless it exits with 0."""
    errors = folder / "errors"
    with (folder / OUTPUT).open("wb") as out, errors.open("wb") as err:
        start = time.perf_counter()
        process = subprocess.Popen([sys.executable, *arguments], cwd=folder, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{arguments} ended with {process.returncode}: {errors.read_text()[-2000:]}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def fastest(arguments: Sequence[str], folder: Path, runs: int) -> Run:
    """The run with the shortest time."""
    return min((run(arguments, folder) for _ in range(runs)), key=lambda one: one.seconds)


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """Slope of the line through the last two points on logarithmic axes: 1 is growth in step with the input."""
    (x0, y0), (x1, y1) = points[-2:]
    return math.log(y1 / y0) / math.log(x1 / x0)


def counted(folder: Path) -> list[str]:
    """How many tools and findings the last scan reported."""
    (folder / OUTPUT).rename(folder / "report")
    run(["-c", COUNT, "report"], folder)
    return (folder / OUTPUT).read_text().split()


def row(*cells: object) -> None:
    """Print one line of a Markdown table."""
    print("|", " | ".join(str(cell) for cell in cells), "|", flush=True)


def header(*cells: str) -> None:
    print()
    row(*cells)
    row(*("---" for _ in cells))


def start_up(folder: Path, runs: int) -> Run:
    """One small file against Python with the libraries; returns the scan."""
    run([GENERATE, "mcp", "10", "small.json"], folder)
    bare = fastest(["-c", "import click, yaml"], folder, runs * 2)
    scan = fastest([*SCAN, "small.json"], folder, runs * 2)
    header("start", "ms", "CPU ms", "MB", "ratio", "CPU ratio")
    for name, one in (('`python -c "import click, yaml"`', bare), ("scan of 10 tools, JSON", scan)):
        row(
            name, f"{one.seconds * 1000:.0f}", f"{one.processor * 1000:.0f}", f"{one.megabytes:.0f}",
            f"{one.seconds / bare.seconds:.2f}", f"{one.processor / bare.processor:.2f}",
        )  # fmt: skip
    return scan


def documents(
    kind: str, language: str, yardstick: str, code: str, sizes: Sequence[float], one: Run, folder: Path, runs: int
) -> None:
    """OpenAPI documents of ``sizes`` megabytes; ``code`` defines ``parse(text)``, the yardstick."""
    columns = ("tools", "findings", "s", "CPU s", "MB/s", "peak MB", f"× {yardstick}", "less start-up")
    header(f"OpenAPI {language}, {kind}", *columns)
    times, peaks = [], []
    for megabytes in sizes:
        path = folder / f"openapi.{language}"
        run([GENERATE, f"openapi-{kind}", str(int(megabytes * 1e6)), path.name], folder)
        size, few = path.stat().st_size / 1e6, runs if megabytes < 10 else 2
        run(["-c", code + TIMER, path.name, str(few)], folder)
        yard = float((folder / OUTPUT).read_text())
        scan = fastest([*SCAN, path.name], folder, few)
        rest = scan.seconds - one.seconds
        row(
            f"{size:.2f} MB", *counted(folder), f"{scan.seconds:.2f}", f"{scan.processor:.2f}",
            f"{size / scan.seconds:.1f}", f"{scan.megabytes:.0f}", f"{scan.seconds / yard:.1f}", f"{rest / yard:.1f}",
        )  # fmt: skip
        times.append((size, rest))
        peaks.append((size, scan.megabytes - one.megabytes))
    print(f"\ngrowth exponent: time {exponent(times):.2f}, memory {exponent(peaks):.2f}")


def tools(one: Run, folder: Path, runs: int) -> None:
    """Lists of tools of an MCP server."""
    header("MCP", "findings", "s", "CPU s", "tools/s", "peak MB")
    times = []
    for count in (10, 1_000, 10_000):
        run([GENERATE, "mcp", str(count), "mcp.json"], folder)
        scan = fastest([*SCAN, "mcp.json"], folder, runs)
        row(
            f"{count} tools", counted(folder)[1], f"{scan.seconds:.2f}", f"{scan.processor:.2f}",
            f"{count / scan.seconds:.0f}", f"{scan.megabytes:.0f}",
        )  # fmt: skip
        times.append((count, max(scan.seconds - one.seconds, 1e-3)))
    print(f"\ngrowth exponent: time {exponent(times):.2f}")


def files(folder: Path, runs: int) -> None:
    """A folder of many small files."""
    run([GENERATE, "files", "2000", "files"], folder)
    scan = fastest([*SCAN, "files"], folder, runs)
    header("files", "tools", "findings", "s", "CPU s", "files/s", "peak MB")
    row(
        2000, *counted(folder), f"{scan.seconds:.2f}", f"{scan.processor:.2f}", f"{2000 / scan.seconds:.0f}",
        f"{scan.megabytes:.0f}",
    )  # fmt: skip


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="processes per measurement, of which the fastest counts")
    parser.add_argument("--quick", action="store_true", help="leave out the largest inputs")
    options = parser.parse_args()
    compileall.compile_dir(PACKAGE, quiet=1)
    sizes = (0.3, 3.0) if options.quick else (0.3, 3.0, 30.0)
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, {sys.platform}")
    with tempfile.TemporaryDirectory(prefix="dowbench-perf-") as name:
        folder = Path(name)
        one = start_up(folder, options.runs)
        for kind in ("usual", "terse"):
            documents(kind, "json", "json.loads", JSON_LOADS, sizes, one, folder, options.runs)
            documents(kind, "yaml", "its event stream", YAML_EVENTS, sizes, one, folder, options.runs)
        tools(one, folder, options.runs)
        files(folder, options.runs)


if __name__ == "__main__":
    main()
