"""Writes intervals.json: quantiles with runs missing and shares of booleans, by SciPy and NumPy alone.

Usage: python make-intervals.py (SciPy 1.10 or later).
"""

import json
import math
import pathlib

import numpy
from scipy import stats

HUGE = 1e300


def finite(value):
    return None if abs(value) >= HUGE / 2 else float(value)


def linear(values, p):
    """Type 7; a neighbour without weight plays no part."""
    values = numpy.sort(values)
    position = round(p * (len(values) - 1), 9)
    low, high = values[math.floor(position)], values[math.ceil(position)]
    if abs(low) >= HUGE / 2 or abs(high) >= HUGE / 2:
        return low if abs(low) >= HUGE / 2 else high
    return numpy.quantile(values, p, method="linear")


def interval(lows, highs, p, confidence):
    n, tail = len(lows), (1 - confidence) / 2
    ranks = numpy.arange(1, n + 1)
    below = [r for r in ranks if stats.binom.cdf(r - 1, n, p) <= tail]
    above = [s for s in ranks if stats.binom.sf(s - 1, n, p) <= tail]
    low = numpy.sort(lows)[max(below) - 1] if below else -HUGE
    high = numpy.sort(highs)[min(above) - 1] if above else HUGE
    return [finite(low), finite(high)]


def quantile_case(random, n, missing, rule, p, confidence):
    values = numpy.round(random.lognormal(1, 0.7, n), 3)
    ended = random.integers(0, missing + 1) if rule else 0
    above, below = -HUGE, HUGE
    if rule:
        threshold = float(rule.split()[1])
        above, below = (threshold, HUGE) if rule.startswith(">") else (-HUGE, threshold)
    lows = numpy.concatenate([values, numpy.full(ended, above), numpy.full(missing - ended, -HUGE)])
    highs = numpy.concatenate([values, numpy.full(ended, below), numpy.full(missing - ended, HUGE)])
    bounds = None if missing == 0 else [finite(linear(lows, p)), finite(linear(highs, p))]
    return {
        "values": values.tolist(),
        "ended": int(ended),
        "crashed": int(missing - ended),
        "rule": rule,
        "p": p,
        "confidence": confidence,
        "value": float(numpy.quantile(values, p, method="linear")),
        "interval": interval(lows, highs, p, confidence),
        "at_random": interval(lows[: n + ended], highs[: n + ended], p, confidence),
        "bounds": bounds,
    }


def share_case(true, of, confidence):
    tail = (1 - confidence) / 2
    low = 0.0 if true == 0 else float(stats.beta.ppf(tail, true, of - true + 1))
    high = 1.0 if true == of else float(stats.beta.isf(tail, true + 1, of - true))
    return {"true": true, "of": of, "confidence": confidence, "interval": [low, high]}


def main():
    random = numpy.random.default_rng(20)
    quantiles = [
        quantile_case(random, n, missing, rule, p, 0.95)
        for n in (5, 40, 148)
        for missing in (0, 2, max(1, n // 10))
        for rule in (None, "> 6", "< 1.5")
        for p in (0.05, 0.5, 0.95)
    ]
    shares = [share_case(true, of, c) for of in (1, 20, 148) for true in {0, 1, of // 3, of - 1, of} for c in (0.9, 0.95)]
    path = pathlib.Path(__file__).with_name("intervals.json")
    path.write_text(json.dumps({"quantiles": quantiles, "shares": shares}) + "\n")


main()
