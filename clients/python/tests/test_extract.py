"""New questions to finished runs, by the real program: outputs and histories that their study did not declare."""

import sys

import pytest

import simbatch as sb

from .conftest import package

PATIENCE_S = 300

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")


def throw(p, run):
    for step in range(50):
        t = step / 10
        run.telemetry(t=t, height=p["speed"] * t - 4.905 * t * t)
    return {"speed": p["speed"]}


def test_outputs_and_histories_of_finished_runs(program, folder):
    package("cloudpickle")
    package("pandas")
    study = sb.Study("throw", simulation=throw, inputs={"speed": sb.Uniform(10, 20)}, runs=3)
    batch = study.run(workers=1).wait(PATIENCE_S)
    one = batch.extract(
        derived=[
            {"name": "peak", "take": "max", "telemetry": "height"},
            {"name": "twice", "expression": "2 * outputs.speed"},
        ],
        histories=[{"variable": "height", "at": {"points": [0, 1, 2]}}],
        run_ids="0-1",
        states="Completed",
        name="again",
    ).wait(PATIENCE_S)
    rows = {row["run_id"]: row for row in batch.rows()}
    assert [row["run_id"] for row in one.rows()] == [0, 1]
    for row in one.rows():
        speed = rows[row["run_id"]]["outputs.speed"]
        assert row["outputs.twice"] == pytest.approx(2 * speed)
        assert row["outputs.peak"] == pytest.approx(speed**2 / 19.62, abs=0.05)
        assert rows[row["run_id"]]["outputs.again.peak"] == row["outputs.peak"]
        assert one.histories("height")[row["run_id"]][1] == pytest.approx(speed - 4.905)
    assert rows[2].get("outputs.again.peak") is None
    (listed,) = batch.extractions()
    assert (listed["batch_id"], listed["name"], listed["completed"]) == (one.id, "again", 2)
    with pytest.raises(sb.ApiError) as refused:
        batch.extract(derived=[{"name": "peak", "take": "max"}])
    assert [fault.pointer for fault in refused.value.faults] == ["/derived/0/telemetry"]
