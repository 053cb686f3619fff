"""How often three intervals of a log ratio hold its true value: ``python tests/benchmark/interval_coverage.py``.

Episodes are drawn as wordings × repeats. Attack and task share an effect of the wording, each has one of its own, and
repeats of one wording differ by noise. All normal, on log cost; the true log ratio is 1.
"""

from __future__ import annotations

import math
import random
import sys

from dowbench_benchmark import inference
from dowbench_benchmark.inference import Observation

METHODS = ("wordings paired", "Welch over episodes", "episodes paired")
CASES = (
    # wordings, repeats, deviation of the shared effect, of the own effect, of the noise
    (3, 1, 0.2, 0.2, 0.05),
    (3, 4, 0.2, 0.2, 0.05),
    (3, 4, 0.2, 0.05, 0.2),
    (5, 2, 0.2, 0.2, 0.05),
    (10, 1, 0.2, 0.2, 0.05),
    (1, 3, 0.0, 0.0, 0.2),
    (1, 10, 0.0, 0.0, 0.2),
)


def coverage(case: tuple[int, int, float, float, float], trials: int, seed: int = 1) -> list[float]:
    """The share of ``trials`` in which each of ``METHODS`` holds the true value."""
    wordings, repeats, shared, own, noise = case
    draw = random.Random(seed)
    held = [0, 0, 0]
    for _ in range(trials):
        attack, task = [], []
        for wording in range(wordings):
            common, first, second = draw.gauss(0, shared), draw.gauss(0, own), draw.gauss(0, own)
            for _ in range(repeats):
                attack.append(Observation(wording, math.exp(1 + common + first + draw.gauss(0, noise)), False))
                task.append(Observation(wording, math.exp(common + second + draw.gauss(0, noise)), False))
        over, under = ([math.log(row.cost) for row in rows] for rows in (attack, task))
        paired = inference.mean([a - b for a, b in zip(over, under, strict=True)], "")
        for place, found in enumerate((inference.log_ratio(attack, task), inference.welch(over, under, ""), paired)):
            assert found is not None
            assert found.interval is not None
            held[place] += found.interval.lower <= 1 <= found.interval.upper
    return [count / trials for count in held]


if __name__ == "__main__":
    for case in CASES:
        shares = ", ".join(f"{name} {share:.3f}" for name, share in zip(METHODS, coverage(case, 2000), strict=True))
        sys.stdout.write("wordings {}, repeats {}, shared {}, own {}, noise {}: ".format(*case) + shares + "\n")
