"""Histories and derived outputs of a real run, against pandas, NumPy and SciPy on its Parquet file."""

import json
import math
import os
import sys
from pathlib import Path

import pytest

import simbatch as sb

from .conftest import package

PACKAGE = Path(__file__).resolve().parents[1]
SIMULATION = """
import math

import simbatch

run = simbatch.run()
# Two rates, times without a pattern, missing values, samples out of order and twice at one time.
samples = []
for i in range(3000):
    t = i * 0.004 + 0.0013 * math.sin(i)
    samples.append((t, {"x": math.sin(3 * t) * math.exp(-0.1 * t) + (i % 7) * 1e-3}))
    if i % 3 == 0:
        samples.append((t, {"y": math.cos(t) if i % 30 else float("nan")}))
    if i % 11 == 0:
        samples.append((t + 0.0005, {"y": 5 * math.cos(2 * t)}))
for start in range(0, len(samples), 50):
    for t, values in reversed(samples[start : start + 50]):
        run.telemetry(values, t=t)
run.telemetry({"x": 0.25}, t=0.004 * 1500)
run.telemetry({"x": 0.75}, t=0.004 * 1500)
run.result(offset=2)
"""
TIMES = {"from": -0.5, "to": 12.5, "step": 0.0371}


def histories():
    at = {"points": [-3, -0.11, 0, 0.2, 1]}
    return [
        {"name": "linear", "variable": "x", "at": TIMES},
        {"name": "previous", "variable": "y", "at": TIMES, "interpolation": "previous"},
        {"name": "around", "variable": "x", "at": at, "origin": "first_max(y)"},
        {"name": "from_event", "variable": "y", "at": at, "origin": "first(x < -0.4)"},
    ]


def derived():
    return [
        {"name": "max_x", "take": "max", "telemetry": "x"},
        {"name": "range_y", "take": "range", "telemetry": "y"},
        {"name": "mean_x", "take": "mean", "telemetry": "x"},
        {"name": "area_x", "take": "integral", "telemetry": "x"},
        {"name": "area_above", "take": "integral", "telemetry": "x", "while": "x > 0.1"},
        {"name": "mean_above", "take": "mean", "telemetry": "x", "while": "x > 0.1"},
        {"name": "max_y_below", "take": "max", "telemetry": "y", "while": "y < 0"},
        {"name": "first_below", "take": "time", "at": "first(x < -0.4)"},
        {"name": "last_above", "take": "time", "at": "last(x > 0.1)"},
        {"name": "at_y_max", "take": "time", "at": "first_max(y)"},
        {"name": "duration", "take": "duration", "while": "x > 0.1"},
        {"name": "count", "take": "count", "at": "each(x > 0.1)"},
        {"name": "x_there", "take": "value", "telemetry": "x", "at": "first_max(y)"},
        {"name": "settled", "take": "last_time_outside", "telemetry": "x", "band": [-0.5, 0.5]},
        {"name": "formula", "expression": "hypot(outputs.max_x, outputs.area_x) - parameters.r * outputs.offset"},
    ]


@pytest.fixture
def trial(program, folder, monkeypatch):
    for name in ("numpy", "pandas", "pyarrow", "scipy"):
        package(name)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")]))
    (folder / "sim.py").write_text(SIMULATION)
    config = {"run_id": 3, "parameters": {"r": 0.5}, "metadata": {
        "simulation_name": "throw", "simulation_version": "1", "duration_minutes": 1, "sampling_method": "monte_carlo",
        "generated_at": "2026-01-01T00:00:00Z", "seed": 1,
    }}  # fmt: skip
    submission = sb.Study("throw", simulation="throw", version="1", inputs={"r": sb.Uniform(0, 1)}, runs=10, seed=1).submission()
    submission["config"].update(histories=histories(), derived=derived())
    submission["config"]["telemetry"].update(sampling_rate_hz=0, variables=[])
    (folder / "run.json").write_text(json.dumps(config))
    (folder / "study.json").write_text(json.dumps(submission))
    from simbatch.local.program import simbatch

    ended = simbatch([
        "run-one", "run.json", "--study", "study.json", "--entrypoint", "sim.py", "--output-dir", "out", "-o", "json",
        "--python-executable", sys.executable, "--quiet",
    ])  # fmt: skip
    end = json.loads(ended.stdout)
    assert end["type"] == "complete", end
    return end["result"]


def series(trial, name):
    """The samples of a variable, sorted, the last arrival of each time, without NaN: times and values."""
    import pandas

    frame = pandas.read_parquet(trial["telemetry_data"], columns=["timestamp_ns", name]).dropna()
    frame = frame.drop_duplicates("timestamp_ns", keep="last").sort_values("timestamp_ns")
    return frame["timestamp_ns"].to_numpy() / 1e9, frame[name].to_numpy()


def crossings(t, y, level):
    """The times at which the line through the samples crosses a level."""
    import numpy as np

    at = np.flatnonzero((y[:-1] > level) != (y[1:] > level))
    return t[at] + (t[at + 1] - t[at]) * (level - y[at]) / (y[at + 1] - y[at])


def test_histories_and_derived_outputs_agree_with_pandas_and_scipy(trial):
    import numpy as np
    import pandas
    from scipy.integrate import trapezoid
    from scipy.interpolate import interp1d

    from simbatch.study.trial import _values

    (tx, x), (ty, y) = series(trial, "x"), series(trial, "y")
    assert len(tx) == 3001 and len(ty) > 1000
    n = math.floor((TIMES["to"] - TIMES["from"]) / TIMES["step"] + 1e-9) + 1
    points = np.minimum(TIMES["from"] + np.arange(n) * TIMES["step"], TIMES["to"])
    offsets = np.array([-3, -0.11, 0, 0.2, 1])
    above = x > 0.1
    both = above[:-1] & above[1:]
    steps = np.where(both, np.diff(tx), 0)
    areas = steps * (x[:-1] + x[1:]) / 2
    low, high = crossings(tx, x, -0.4), crossings(tx, x, 0.1)
    ends = np.concatenate([[tx[0]] if above[0] else [], high, [tx[-1]] if above[-1] else []])
    outside = np.flatnonzero((x < -0.5) | (x > 0.5))
    y_max = ty[np.argmax(y)]
    linear_x, linear_y = (interp1d(t, v, bounds_error=False) for t, v in ((tx, x), (ty, y)))

    steady = pandas.Series(y, ty).reindex(np.union1d(ty, points)).ffill().reindex(points)
    steady[(points < ty[0]) | (points > ty[-1])] = math.nan
    wanted = {
        "linear": linear_x(points),
        "previous": steady.to_numpy(),
        "around": linear_x(y_max + offsets),
        "from_event": linear_y(low[0] + offsets),
    }
    assert set(trial["histories"]) == set(wanted)
    for name, values in wanted.items():
        found = np.array([math.nan if it is None else it for it in _values(trial["histories"][name])])
        assert np.isnan(values).any() and np.isfinite(values).any(), name
        np.testing.assert_allclose(found, values, rtol=1e-12, atol=1e-12, err_msg=name)

    outputs = {
        "max_x": x.max(),
        "range_y": y.max() - y.min(),
        "mean_x": trapezoid(x, tx) / (tx[-1] - tx[0]),
        "area_x": trapezoid(x, tx),
        "area_above": areas.sum(),
        "mean_above": areas.sum() / steps.sum(),
        "max_y_below": y[y < 0].max(),
        "first_below": low[0],
        "last_above": ends[-1],
        "at_y_max": y_max,
        "duration": (ends[1::2] - ends[::2]).sum(),
        "count": len(ends[::2]),
        "x_there": linear_x(y_max),
        "settled": tx[outside[-1]] - tx[0],
        "formula": math.hypot(x.max(), trapezoid(x, tx)) - 0.5 * 2,
    }
    assert "derived_missing" not in trial
    for name, value in outputs.items():
        assert trial["metadata"][name] == pytest.approx(float(value), rel=1e-12, abs=1e-12), name


def test_a_trial_has_the_histories_that_a_function_gives_itself(folder):
    def simulate(p, run):
        run.history("z", [1.0, math.nan])
        return {"a": 1}

    inputs = {"r": sb.Uniform(0, 1)}
    trial = sb.Study("throw", simulation=simulate, inputs=inputs, runs=2).try_run(0, quiet=True)
    assert trial.histories == {"z": [1.0, None]}
    assert trial.outputs == {"a": 1}
    histories = [{"variable": "z", "at": {"points": [0, 1, 2]}}]
    short = sb.Study("throw", simulation=simulate, inputs=inputs, runs=2, histories=histories).try_run(0, quiet=True)
    assert "3" in short.error and "z" in short.error
    assert "failed: " in repr(short)


def thrown(p, run):
    for step in range(900):
        t = step / 100
        z = 40 * t - 9.80665 / 2 * t * t
        if z < 0:
            break
        run.telemetry({"z": z, "t": t, "tank.1": math.nan if step % 2 else z}, timestamp_ns=round(t * 1e9))
    return {"landed": True, "speed": 40}


def test_a_trial_of_a_function_has_the_derived_outputs_and_histories_of_a_runner(folder):
    histories = [{"variable": "z", "at": {"points": [0, 1, 2, 20]}}]
    derived = [
        {"name": "apogee", "telemetry": "z", "take": "max"},
        {"name": "tank", "telemetry": "tank.1", "take": "last"},
        {"name": "above", "take": "duration", "while": "z > 50"},
        {"name": "formula", "expression": "outputs.above + outputs.speed - parameters.r"},
        {"name": "none", "take": "time", "at": "first(z > 1000)"},
    ]
    study = sb.Study(
        "throw", simulation=thrown, inputs={"r": sb.Uniform(0, 1)}, runs=2, histories=histories, derived=derived
    )
    trial = study.try_run(0, quiet=True)
    peak = 40 * 40 / (2 * 9.80665)
    above = 2 * math.sqrt(2 * (peak - 50) / 9.80665)
    assert trial.outputs["apogee"] == pytest.approx(peak, abs=1e-3)
    assert trial.outputs["above"] == pytest.approx(above, abs=1e-2)
    assert trial.outputs["formula"] == trial.outputs["above"] + 40 - trial.parameters["r"]
    assert trial.outputs["tank"] >= 0 and trial.outputs["landed"] is True
    assert trial.histories["z"][:2] == [0.0, pytest.approx(40 - 9.80665 / 2)] and trial.histories["z"][3] is None
    assert trial.missing == {"none": "there was no first(z > 1000)"}
    assert "none is missing: there was no first(z > 1000)" in repr(trial) and "none is missing" in trial._repr_html_()
    assert trial.error is None and not any(name.startswith("simbatch_") for name in trial.outputs)


def constant(p, run):
    run.telemetry(t=0.0, x=p["level"])
    run.telemetry(t=1.0, x=p["level"])
    return {"level": p["level"]}


def test_histories_of_a_continued_study_have_the_runs_of_all_its_batches(lab):
    package("cloudpickle")
    package("pandas")

    def study(runs, method):
        inputs = {"level": sb.Uniform(0, 1)}
        declared = [{"variable": "x", "at": {"points": [0, 1]}}]
        return sb.Study(method, simulation=constant, inputs=inputs, runs=runs, method=method, histories=declared)

    for method, names in (("monte_carlo", ["run_id"]), ("latin_hypercube", ["replicate", "run_id"])):
        study(2, method).run(workers=1).wait(300)
        batch = study(4, method).run(workers=1).wait(300)
        frame = batch.histories("x")
        levels = {row["outputs.level"] for row in batch.rows()}
        assert (len(batch.extensions), list(frame.columns.names), frame.shape) == (1, names, (2, 4))
        assert set(frame.iloc[1]) == levels and len(levels) == 4
        assert batch.histories("x", family=False).shape == (2, 2)
