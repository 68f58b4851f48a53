"""New questions to finished runs, by the real program: outputs and histories that their study did not declare."""

import os
import subprocess
import sys

import pytest

import simbatch as sb
from simbatch.local.program import find_program

from .conftest import package

PATIENCE_S = 300

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")


def throw(p, run):
    for step in range(50):
        t = step / 10
        run.telemetry(t=t, height=p["speed"] * t - 4.905 * t * t)
    return {"speed": p["speed"]}


def test_outputs_and_histories_of_finished_runs(lab):
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


POST = """
import simbatch

run = simbatch.run(defaults={"speed": 0.0, "extra": 2.0})
frame = run.parent.telemetry(["height"])
run.result(rows=len(frame), columns=" ".join(frame.columns), extra=run.parameters["extra"])
if run.run_id == 1:
    raise ValueError("none in this one")
"""


def test_functions_and_scripts_get_the_files_of_finished_runs(lab):
    package("cloudpickle")
    package("pandas")
    package("pyarrow")
    study = sb.Study("throw", simulation=throw, inputs={"speed": sb.Uniform(10, 20)}, runs=3)
    batch = study.run(workers=1).wait(PATIENCE_S)
    scale = 2.0

    def above(p, run):
        frame = run.parent.telemetry()
        return {"peak": scale * frame["height"].max(), "same": run.parent.outputs["speed"] == p["speed"]}

    batch.extract(above, name="fn", run_ids="0-1").wait(PATIENCE_S)
    (lab / "post.py").write_text(POST)
    ended = batch.extract(lab / "post.py", timeout_s=60).wait(PATIENCE_S)
    assert [ended.run(number).status for number in range(3)] == ["Completed", "Failed", "Completed"]
    assert "none in this one" in ended.run(1).error and 'post.py", line 8' in ended.run(1).error
    rows = batch.rows()
    for row in rows[:2]:
        assert row["outputs.fn.peak"] == pytest.approx(row["outputs.speed"] ** 2 / 9.81, abs=0.1)
        assert row["outputs.fn.same"] is True
    assert [row.get("outputs.x1.rows") for row in rows] == [50, None, 50]
    assert (rows[0]["outputs.x1.columns"], rows[0]["outputs.x1.extra"]) == ("timestamp_ns height", 2)

    # The command line makes the same artifact without Python.
    transport = batch.coordinator.transport
    command = [*find_program(), "extract", batch.id, "--with", str(lab / "post.py"), "--endpoint", transport.endpoint, "-o", "name"]
    sent = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **transport.variables})
    assert sent.returncode == 0, sent.stderr
    twice = type(batch)(batch.coordinator, sent.stdout.strip()).wait(PATIENCE_S)
    assert [twice.run(number).status for number in range(3)] == ["Completed", "Failed", "Completed"]
    assert batch.rows()[2]["outputs.x2.rows"] == 50
    with pytest.raises(TypeError, match="a program is a function"):
        batch.extract(3)  # type: ignore[arg-type]
