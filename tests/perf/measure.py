"""How fast a scan is, and how its time and memory grow. Run it by hand: ``python tests/perf/measure.py``.

Every scan is a process of its own, as its users start it. Times are the shortest of some runs in seconds of wall time,
memory is the peak resident size. Ratios compare with the least that has to be done: parsing the same bytes, starting
Python with the two libraries a scan needs.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import yaml
from generate import mcp, openapi, write_json, write_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SCAN = ("-m", "dowbench", "scan", "--no-config", "--format", "json")


class Run(NamedTuple):
    """One process: wall time in seconds, peak memory in bytes, what it printed."""

    seconds: float
    peak: int
    output: bytes


def run(arguments: Sequence[str], output: Path) -> Run:
    """Start Python with ``arguments`` and wait for its end. Raises ``RuntimeError`` unless it exits with 0."""
    with output.open("wb") as stdout:
        start = time.perf_counter()
        process = subprocess.Popen([sys.executable, *arguments], stdout=stdout, stderr=subprocess.PIPE)
        assert process.stderr is not None
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{arguments} ended with {process.returncode}: {errors.decode()[-2000:]}")
    return Run(seconds, usage.ru_maxrss * 1024, output.read_bytes())


def fastest(arguments: Sequence[str], output: Path, runs: int) -> Run:
    return min((run(arguments, output) for _ in range(runs)), key=lambda one: one.seconds)


def shortest(function: Callable[[], object], runs: int) -> float:
    """The shortest wall time of a function in this process, in seconds."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def events(text: str) -> None:
    for _ in yaml.parse(text, yaml.CSafeLoader):
        pass


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """Slope of the line through the first and the last point on logarithmic axes."""
    (x0, y0), (x1, y1) = points[0], points[-1]
    return math.log(y1 / y0) / math.log(x1 / x0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="processes per measurement, of which the fastest counts")
    parser.add_argument("--quick", action="store_true", help="leave out the largest inputs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dowbench-perf-") as folder:
        measure(Path(folder), options.runs, options.quick)


def measure(folder: Path, runs: int, quick: bool) -> None:
    """Print the whole table."""
    output = folder / "output"
    bare = fastest(["-c", "import click, yaml"], output, runs * 2)
    small = write_json(folder / "small.json", mcp(10))
    one = fastest([*SCAN, str(small)], output, runs * 2)
    print("| start | ms | MB | ratio |\n|---|---|---|---|")
    print(f'| `python -c "import click, yaml"` | {bare.seconds * 1000:.0f} | {bare.peak / 1e6:.0f} | 1 |')
    print(f"| one file of 10 tools | {one.seconds * 1000:.0f} | {one.peak / 1e6:.0f} | {one.seconds / bare.seconds:.2f} |")

    for kind, write, parse, yardstick in (
        ("json", write_json, json.loads, "json.loads"),
        ("yaml", write_yaml, events, "its event stream"),
    ):
        print(f"\n| OpenAPI {kind} | tools | findings | s | MB/s | peak MB | × {yardstick} | less start |")
        print("|---|---|---|---|---|---|---|---|")
        times, peaks = [], []
        for megabytes in (0.3, 3.0) if quick else (0.3, 3.0, 30.0):
            path = write(folder / f"openapi.{kind}", openapi(int(megabytes * 1e6)))
            size = path.stat().st_size
            text = path.read_text()
            yard = shortest(lambda text=text, parse=parse: parse(text), runs)
            scan = fastest([*SCAN, str(path)], output, runs if megabytes < 10 else 2)
            tools, findings = counted(scan.output)
            rest = scan.seconds - one.seconds
            print(
                f"| {size / 1e6:.2f} MB | {tools} | {findings} | {scan.seconds:.2f} | {size / 1e6 / scan.seconds:.1f} "
                f"| {scan.peak / 1e6:.0f} | {scan.seconds / yard:.1f} | {rest / yard:.1f} |"
            )
            times.append((size, rest))
            peaks.append((size, scan.peak - one.peak))
        print(f"\ngrowth exponent: time {exponent(times[-2:]):.2f}, memory {exponent(peaks[-2:]):.2f}")

    print("\n| MCP | findings | s | tools/s | peak MB |\n|---|---|---|---|---|")
    times = []
    for count in (10, 1000, 10_000):
        path = write_json(folder / "mcp.json", mcp(count))
        scan = fastest([*SCAN, str(path)], output, runs)
        tools, findings = counted(scan.output)
        print(f"| {tools} tools | {findings} | {scan.seconds:.2f} | {tools / scan.seconds:.0f} | {scan.peak / 1e6:.0f} |")
        times.append((tools, scan.seconds - bare.seconds))
    print(f"\ngrowth exponent: time {exponent(times[-2:]):.2f}")

    files = folder / "files"
    files.mkdir()
    for number in range(2000):
        write_json(files / f"tools{number}.json", mcp(3))
    scan = fastest([*SCAN, str(files)], output, max(runs // 2, 1))
    tools, findings = counted(scan.output)
    print("\n| files | tools | findings | s | files/s | peak MB |\n|---|---|---|---|---|---|")
    print(f"| 2000 | {tools} | {findings} | {scan.seconds:.2f} | {2000 / scan.seconds:.0f} | {scan.peak / 1e6:.0f} |")


def counted(output: bytes) -> tuple[int, int]:
    """How many tools and findings a JSON report counts."""
    report = json.loads(output)
    return sum(file["tools"] for file in report["files"]), len(report["findings"])


if __name__ == "__main__":
    main()
