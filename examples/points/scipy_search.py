"""SciPy: differential evolution with one round a generation, then a gradient search whose differences are rounds."""

from scipy.optimize import differential_evolution, minimize
from valley import study

BOUNDS = [(-2, 2), (-1, 3)]


def search(f, generations=20, members=8):
    """The best point of differential evolution. The same seed asks for the same points again."""
    return differential_evolution(
        f, BOUNDS, workers=f.map, updating="deferred", rng=7, popsize=members // 2, maxiter=generations, polish=False, tol=0
    )


def descend(f, start, steps=50):
    """The lowest point from a start, by L-BFGS-B; the points of each difference are evaluated at once."""
    return minimize(f, start, method="L-BFGS-B", bounds=BOUNDS, options={"workers": f.map, "maxiter": steps})


if __name__ == "__main__":
    f = study.evaluator(workers=4, outputs=["height"])
    best = search(f)
    print(best.x, best.fun, descend(f, best.x).x)
