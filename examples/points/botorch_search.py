"""BoTorch: a Gaussian process of the points so far gives the four that together promise most; they are evaluated in one round."""

import math

import torch
from botorch.acquisition import qLogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.optim import optimize_acqf
from botorch.utils.sampling import draw_sobol_samples
from gpytorch.mlls import ExactMarginalLogLikelihood
from valley import study

BOUNDS = torch.tensor([[-2.0, -1.0], [2.0, 3.0]], dtype=torch.double)


def search(f, rounds=6, at_once=4):
    """The points and their scores after the first design and so many rounds. The same seeds ask for the same points again."""
    torch.manual_seed(7)
    points = draw_sobol_samples(BOUNDS, n=2 * at_once, q=1, seed=7).squeeze(1)
    scores = evaluated(f, points)
    for _ in range(rounds):
        known = scores.isfinite().squeeze(-1)
        model = SingleTaskGP(points[known], scores[known], input_transform=Normalize(2, bounds=BOUNDS), outcome_transform=Standardize(1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        promise = qLogExpectedImprovement(model, best_f=scores[known].max())
        asked, _ = optimize_acqf(promise, bounds=BOUNDS, q=at_once, num_restarts=4, raw_samples=64)
        points, scores = torch.cat([points, asked]), torch.cat([scores, evaluated(f, asked)])
    return points, scores


def evaluated(f, points):
    """The scores of points, to be maximized: the logarithm evens out the walls of the valley. NaN where the run failed."""
    heights = f(points.tolist())[:, 0].tolist()
    return torch.tensor([[-math.log1p(height)] for height in heights], dtype=torch.double)


if __name__ == "__main__":
    points, scores = search(study.evaluator(workers=4, outputs=["height"]))
    best = scores.nan_to_num(-math.inf).argmax()
    print(points[best].tolist(), math.expm1(-scores[best].item()))
