"""How many runs a requirement takes, before any run."""

from __future__ import annotations

import math
from typing import Any, List, Mapping

MOST_FAILURES = 3
MOST_RUNS = 2**50


def chance(runs: int, failures: int, probability: float) -> float:
    """The chance of at most so many failures when each run passes with exactly this probability."""
    log_fail = math.log1p(-probability)
    terms = (
        math.lgamma(runs + 1) - math.lgamma(k + 1) - math.lgamma(runs - k + 1) + k * log_fail + (runs - k) * math.log(probability)
        for k in range(min(failures, runs - 1) + 1)
    )
    return math.fsum(math.exp(term) for term in terms) if runs > failures else 1.0


def runs_needed(failures: int, probability: float, confidence: float) -> int:
    """The runs with which the requirement is met when so many fail: Clopper and Pearson's bound reaches the probability."""
    high = failures + 1
    while chance(high, failures, probability) > (1 - confidence) * (1 + 1e-9) and high < MOST_RUNS:
        high *= 2
    low = failures
    while high - low > 1:
        middle = (low + high) // 2
        if chance(middle, failures, probability) > (1 - confidence) * (1 + 1e-9):
            low = middle
        else:
            high = middle
    return high


def plan(requirement: Mapping[str, Any], runs: int) -> List[str]:
    """The runs that a requirement takes, and whether the study has too few. Judged run by run, it takes a few more."""
    confidence = requirement.get("confidence", 0.95)
    needed = [runs_needed(failures, requirement["probability"], confidence) for failures in range(MOST_FAILURES + 1)]
    others = ", ".join(f"{count} with {at}" for at, count in enumerate(needed[1:], 1))
    least = "at least " if requirement.get("look") == "continuous" else ""
    lines = [f"takes {least}{needed[0]} runs without a failure, {others}"]
    return [*lines, f"cannot be met by {runs} runs"] if needed[0] > runs else lines
