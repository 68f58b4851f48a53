"""Ax: Sobol' points first, then the best of a Gaussian process, up to four at a time. A failed run is a failed trial."""

import math

import torch
from ax.api.client import Client
from ax.api.configs import RangeParameterConfig
from valley import study


def search(f, trials=24, at_once=4):
    """The client of Ax after so many trials. The same seeds ask for the same points again, so it needs no storage of its own."""
    torch.manual_seed(7)
    client = Client(random_seed=7)
    client.configure_experiment(
        [
            RangeParameterConfig(name="x", parameter_type="float", bounds=(-2, 2)),
            RangeParameterConfig(name="y", parameter_type="float", bounds=(-1, 3)),
        ]
    )
    client.configure_optimization(objective="-log_height")
    done = 0
    while done < trials:
        # Ax may give fewer than it is asked for, as where its first design ends.
        asked = client.get_next_trials(max_trials=min(at_once, trials - done))
        heights = f([[point["x"], point["y"]] for point in asked.values()])[:, 0].tolist()
        for trial, height in zip(asked, heights):
            if math.isnan(height):
                client.mark_trial_failed(trial)
            else:
                # The logarithm evens out the walls of the valley.
                client.complete_trial(trial, {"log_height": math.log1p(height)})
        done += len(asked)
    return client


if __name__ == "__main__":
    found = search(study.evaluator(workers=4, outputs=["height"]))
    best, values, _, _ = found.get_best_parameterization(use_model_predictions=False)
    print(best, math.expm1(values["log_height"][0]))
