"""emcee: the ensemble's walkers are evaluated in one round a half step. The height is a misfit; the chain samples exp(-height / 20)."""

import emcee
import numpy as np
from valley import study

LOWER, UPPER = np.array([-2.0, -1.0]), np.array([2.0, 3.0])


def chain(f, steps=20, walkers=8):
    """The sampler after its steps. The same random state asks for the same points again."""

    def log_probability(points):
        inside = np.all((points >= LOWER) & (points <= UPPER), axis=1)
        made = np.full(len(points), -np.inf)
        if inside.any():
            heights = f(points[inside])[:, 0]
            made[inside] = np.where(np.isnan(heights), -np.inf, -heights / 20)
        return made

    random = np.random.RandomState(7)
    sampler = emcee.EnsembleSampler(walkers, 2, log_probability, vectorize=True)
    start = emcee.State(random.uniform(LOWER, UPPER, (walkers, 2)), random_state=random.get_state())
    sampler.run_mcmc(start, steps)
    return sampler


if __name__ == "__main__":
    sampled = chain(study.evaluator(workers=4, outputs=["height"]), steps=100)
    print(sampled.get_chain(flat=True, discard=20).mean(axis=0), sampled.acceptance_fraction.mean())
