"""Optuna: ask for some trials, evaluate them in one round, hand the values back. A failed run is a failed trial."""

import math

import optuna
from valley import study


def search(f, trials=40, at_once=4):
    """The study of Optuna after so many trials. The same seed asks for the same points again, so it needs no storage of its own."""
    found = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=7))
    while len(found.trials) < trials:
        asked = [found.ask() for _ in range(at_once)]
        points = [[one.suggest_float("x", -2, 2), one.suggest_float("y", -1, 3)] for one in asked]
        for one, (height,) in zip(asked, f(points)):
            if math.isnan(height):
                found.tell(one, state=optuna.trial.TrialState.FAIL)
            else:
                found.tell(one, height)
    return found


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    best = search(study.evaluator(workers=4, outputs=["height"])).best_trial
    print(best.params, best.value)
