"""The libraries of examples/points/ around an evaluator: each gives what it gives around the plain function, and executes each point once."""

import importlib
import importlib.util
import math
import sys
from pathlib import Path

import pytest

from .conftest import package
from .kills import needs_scipy

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "points"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")


class Plain:
    """The simulation in this process, with the interface of an evaluator."""

    def __init__(self, study, outputs):
        self.study, self.outputs, self.points = study, outputs, []
        self.names = [name for name, one in study.inputs.items() if one.type == "chosen"]

    def __call__(self, X):
        import numpy

        rows = [[float(value) for value in row] for row in (X if hasattr(X[0], "__iter__") else [X])]
        self.points += map(tuple, rows)
        found = [self.study.simulation(dict(zip(self.names, row))) for row in rows]
        values = numpy.array([[one[name] for name in self.outputs] for one in found])
        return values if hasattr(X[0], "__iter__") else values[0]

    def map(self, fun, xs):
        return self(list(xs))[:, 0].tolist()


@pytest.fixture
def example(lab, monkeypatch):
    """Imports a module of the examples; its studies are executed in the folder of the test."""
    package("cloudpickle")
    package("numpy")
    if not EXAMPLES.exists():
        pytest.skip("this is not a clone of the repository")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    loaded = set(sys.modules)

    def load(name, *needed):
        for one in needed:
            package(one)
        return importlib.import_module(name)

    yield load
    for name in set(sys.modules) - loaded:
        if (EXAMPLES / f"{name}.py").exists():
            del sys.modules[name]


def both(module, outputs, use):
    """The result around the plain function and around an evaluator; checks that the points are the same and were executed once."""
    plain = Plain(module.study, outputs)
    expected = use(plain)
    f = module.study.evaluator(workers=2, outputs=outputs)
    found = use(f)
    rows = f.batch.rows(columns=["status", *(f"parameters.{name}" for name in plain.names)])
    executed = [tuple(row[f"parameters.{name}"] for name in plain.names) for row in rows]
    assert all(row["status"] == "Completed" for row in rows)
    assert len(executed) == len(set(executed)) and set(executed) == set(plain.points)
    # The program again: the same result, and nothing is executed.
    again = use(module.study.evaluator(workers=2, outputs=outputs))
    assert len(f.batch.rows(columns=["run_id"])) == len(rows)
    return expected, found, again


def test_scipy_evolves_and_descends(example):
    needs_scipy()
    module = example("scipy_search")
    results = both(module, ["height"], lambda f: scipy_bests(module, f))
    assert results[0] == results[1] == results[2]


def scipy_bests(module, f):
    best = module.search(f, generations=2, members=4)
    low = module.descend(f, [0.5, 0.5], steps=3)
    return [*best.x.tolist(), float(best.fun), *low.x.tolist(), float(low.fun)]


def test_optuna_asks_and_is_handed_values(example):
    module = example("optuna_search", "optuna")
    results = both(module, ["height"], lambda f: [(one.params, one.value) for one in module.search(f, trials=12).trials])
    assert results[0] == results[1] == results[2]


def test_emcee_walks(example):
    module = example("emcee_chain", "emcee")
    results = both(module, ["height"], lambda f: module.chain(f, steps=3).get_chain().tolist())
    assert results[0] == results[1] == results[2]

    # An evaluator is a pool, too.
    f = module.study.evaluator(workers=2, outputs=["height"])
    sampler = package("emcee").EnsembleSampler(4, 2, None, pool=f)
    start = results[0][0][:4]
    assert sampler.compute_log_prob(package("numpy").array(start))[0].tolist() == f(start)[:, 0].tolist()


def test_scikit_optimize_asks_and_is_handed_values(example):
    module = example("skopt_search", "skopt")
    results = both(module, ["height"], lambda f: [module.search(f, rounds=3, at_once=2).Xi])
    assert results[0] == results[1] == results[2]


def needs_torch(name):
    """Skips the test without a library that brings PyTorch: only an environment of its own has it."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"needs {name}, which the tests' set-up leaves out of this environment: it brings PyTorch")


def test_botorch_asks_and_is_handed_values(example):
    needs_torch("botorch")
    module = example("botorch_search")
    results = both(module, ["height"], lambda f: [one.tolist() for one in module.search(f, rounds=2, at_once=2)])
    assert results[0] == results[1] == results[2]
    assert len(results[0][0]) == 8

    # A failed run is left out of the model.
    def broken(points):
        found = package("numpy").array([[1.0 + row[0] ** 2] for row in points])
        found[0] = math.nan
        return found

    _, scores = module.search(broken, rounds=1, at_once=2)
    assert scores.isnan().sum() == 2


def test_salib_evaluates_its_design(example):
    module = example("salib_indices", "SALib")
    results = both(module, ["y"], lambda f: {name: found.tolist() for name, found in module.indices(f, base=8).items()})
    assert results[0] == results[1] == results[2] and len(results[0]["ST"]) == 3


def test_openturns_finds_the_probability_of_the_axially_stressed_beam(example):
    module = example("openturns_beam", "openturns")

    def use(f):
        found = module.probability(f, points=200)
        return found.getProbabilityEstimate(), found.getStandardDeviation()

    results = both(module, ["margin"], use)
    assert results[0] == results[1] == results[2]
    estimate, deviation = results[1]
    assert module.EXACT == 0.02919819462483051 and deviation < 0.15 * estimate
    assert abs(estimate - module.EXACT) <= 1.96 * deviation


def test_a_failed_run_is_a_failed_trial_and_a_wall_of_a_chain(example):
    optuna, emcee = example("optuna_search", "optuna"), example("emcee_chain", "emcee")

    class Broken:
        def __call__(self, X):
            import numpy

            return numpy.array([[math.nan if row[0] > 0 else 1.0] for row in X])

    states = {one.state.name for one in optuna.search(Broken(), trials=12).trials}
    assert states == {"COMPLETE", "FAIL"}
    found = emcee.chain(Broken(), steps=3)
    assert (found.get_log_prob() > -math.inf).any()


def test_ax_asks_and_is_handed_values(example):
    needs_torch("ax")
    module = example("ax_search")
    results = both(module, ["height"], lambda f: ax_trials(module.search(f, trials=9, at_once=3)))
    assert results[0] == results[1] == results[2]
    assert len(results[0]) == 9


def ax_trials(client):
    """The points of a client of Ax with their values, in order."""
    rows = client.summarize()
    return rows[["x", "y", "log_height"]].values.tolist()
