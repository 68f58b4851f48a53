"""SALib: Sobol' indices of Ishigami's function. The whole design is one call."""

import math

import simbatch as sb
from SALib import ProblemSpec

NAMES = ["x1", "x2", "x3"]


def ishigami(p):
    """Ishigami's function with a = 7 and b = 0.1."""
    return {"y": math.sin(p["x1"]) + 7 * math.sin(p["x2"]) ** 2 + 0.1 * p["x3"] ** 4 * math.sin(p["x1"])}


study = sb.Study("ishigami", simulation=ishigami, inputs={name: sb.Chosen(-math.pi, math.pi) for name in NAMES})


def indices(f, base=64):
    """First and total indices, from base * 5 points."""
    problem = ProblemSpec({"names": NAMES, "bounds": [[-math.pi, math.pi]] * 3, "outputs": ["y"]})
    problem.sample_sobol(base, calc_second_order=False, seed=7)
    problem.evaluate(lambda points: f(points)[:, 0]).analyze_sobol(calc_second_order=False, seed=7)
    return problem.analysis


if __name__ == "__main__":
    found = indices(study.evaluator(workers=4, outputs=["y"]))
    print(found["S1"], found["ST"])
