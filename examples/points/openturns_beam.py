"""OpenTURNS: the probability that an axially stressed beam yields, by FORM and importance sampling around its design point.

The beam has a diameter of 20 mm. Its yield stress is lognormal (mean 3e6 Pa, standard deviation 3e5 Pa), its load normal (mean 750 N, standard
deviation 50 N); it yields where the stress exceeds the yield stress. The exact probability is 0.02919819462483051.
"""

import math

import openturns as ot
import simbatch as sb

EXACT = 0.02919819462483051


def beam(p):
    """The margin to yielding in Pa."""
    return {"margin": p["R"] - p["F"] / (math.pi * 100e-6)}


study = sb.Study("beam", simulation=beam, inputs={"R": sb.Chosen(units="Pa"), "F": sb.Chosen(units="N")})


def probability(f, points=400, at_once=100):
    """The result of importance sampling: its estimate and its standard deviation."""
    ot.RandomGenerator.SetSeed(7)
    strength = ot.LogNormalMuSigma(3e6, 3e5, 0.0).getDistribution()
    inputs = ot.RandomVector(ot.JointDistribution([strength, ot.Normal(750, 50)]))
    margin = ot.PythonFunction(2, 1, func_sample=f)
    event = ot.ThresholdEvent(ot.CompositeRandomVector(margin, inputs), ot.Less(), 0.0)
    solver = ot.Cobyla()
    solver.setStartingPoint(inputs.getDistribution().getMean())
    form = ot.FORM(solver, event)
    form.run()
    sampling = ot.PostAnalyticalImportanceSampling(form.getResult())
    sampling.setMaximumOuterSampling(points // at_once)
    sampling.setBlockSize(at_once)
    sampling.setMaximumCoefficientOfVariation(0.0)
    sampling.run()
    return sampling.getResult()


if __name__ == "__main__":
    found = probability(study.evaluator(workers=4, outputs=["margin"]))
    half = 1.96 * found.getStandardDeviation()
    print(f"{found.getProbabilityEstimate():.5f} +- {half:.5f}, exact {EXACT:.5f}")
