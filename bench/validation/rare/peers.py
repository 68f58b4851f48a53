"""Subset simulation and nonparametric adaptive importance sampling of OpenTURNS on problems whose scores the parent process computes.

Usage: peers.py FIRST LAST D,D,...: for each seed and each problem, given by its number of parameters, both methods. To stdout goes a line of JSON
for each request: {"problem", "seed", "count"} followed by so many points as doubles, answered on stdin by their scores; and for each answer:
{"problem", "seed", "method", "estimate", "lower", "upper", "runs"}.
"""

import json
import sys

import numpy as np
import openturns as ot

LEVEL = 0.1
BLOCK = 100
# Sizes that cost about as many runs as a study of rare events with the default sizes.
SIZES = {"SubsetSampling": 1600, "NAIS": 2000}
MOST_RUNS = 100_000


class TooManyRuns(Exception):
    pass


class Scores:
    """The scores of a problem, and how many were asked for."""

    def __init__(self, problem: int, seed: int, d: int):
        self.place = {"problem": problem, "seed": seed}
        self.d = d
        self.runs = 0

    def __call__(self, points):
        z = np.ascontiguousarray(np.asarray(points), dtype="<f8")
        self.runs += len(z)
        if self.runs > MOST_RUNS:
            raise TooManyRuns
        out = sys.stdout.buffer
        out.write(json.dumps({**self.place, "count": len(z)}).encode() + b"\n" + z.tobytes())
        out.flush()
        return np.frombuffer(sys.stdin.buffer.read(8 * len(z)), dtype="<f8").reshape(-1, 1)


def answer(method: str, problem: int, seed: int, d: int) -> dict[str, object]:
    ot.RandomGenerator.SetSeed(seed)
    scores = Scores(problem, seed, d)
    law = ot.Normal(d)
    function = ot.PythonFunction(d, 1, func_sample=scores)
    event = ot.ThresholdEvent(ot.CompositeRandomVector(function, ot.RandomVector(law)), ot.GreaterOrEqual(), 0.0)
    algorithm = ot.SubsetSampling(event, 2.0, LEVEL) if method == "SubsetSampling" else ot.NAIS(event, LEVEL)
    algorithm.setBlockSize(BLOCK)
    algorithm.setMaximumOuterSampling(SIZES[method] // BLOCK)
    algorithm.setMaximumCoefficientOfVariation(-1.0)
    place = {"problem": problem, "seed": seed, "method": method}
    try:
        algorithm.run()
    except (TooManyRuns, RuntimeError, TypeError) as error:
        print(f"{method} {problem} {seed}: {error}", file=sys.stderr)
        return {**place, "estimate": None, "lower": 0, "upper": None, "runs": scores.runs}
    result = algorithm.getResult()
    estimate, half = result.getProbabilityEstimate(), result.getConfidenceLength(0.95) / 2
    return {**place, "estimate": estimate, "lower": estimate - half, "upper": estimate + half, "runs": scores.runs}


def main(first: int, last: int, dimensions: list[int]) -> None:
    ot.Log.Show(ot.Log.NONE)
    for seed in range(first, last + 1):
        for problem, d in enumerate(dimensions):
            for method in SIZES:
                sys.stdout.buffer.write(json.dumps(answer(method, problem, seed, d)).encode() + b"\n")
                sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), [int(it) for it in sys.argv[3].split(",")])
