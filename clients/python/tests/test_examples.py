"""The studies of real simulators in examples/: their notebooks with a few runs, the same results here and on a runner."""

import shutil
from pathlib import Path

import pytest

import simbatch as sb

from .conftest import package

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
RUNS = 4


@pytest.mark.parametrize("name, module, notebook", [("rocketpy", "rocketpy", "calisto.ipynb"), ("jsbsim", "jsbsim", "glide.ipynb")])
def test_a_real_simulator_runs_from_its_notebook(name, module, notebook, program, folder, notebook_client, monkeypatch):
    package(module)
    import nbformat

    if not EXAMPLES.exists():
        pytest.skip("this is not a clone of the repository")
    here = folder / name
    shutil.copytree(EXAMPLES / name, here, ignore=shutil.ignore_patterns(".simbatch", "__pycache__"))
    monkeypatch.setenv("MPLBACKEND", "agg")
    read = nbformat.read(here / notebook, as_version=4)
    nbformat.validate(read)
    (sized,) = [cell for cell in read.cells if "study(64)" in cell.source]
    sized.source = sized.source.replace("study(64)", f"study({RUNS})")
    notebook_client(read, here).execute()

    monkeypatch.chdir(here)
    try:
        batch = sb.open("latest")
        rows = batch.rows()
        assert [row["run_id"] for row in rows] == list(range(RUNS))
        for row in rows:
            assert row["status"] == "Completed" or row["reason"] == "early_termination", row
        # Each rule had a variable that was sent: the limits were really checked.
        telemetry = batch.refresh()["telemetry"]
        assert telemetry["reported_runs"] == RUNS and telemetry["silent_runs"] == 0 and telemetry["samples_lost"] == 0
        rules = batch.submission["config"]["early_termination"]["conditions"]
        judged = {one["variable"]: one["runs"] for one in telemetry["judged"]}
        assert all(judged.get(rule["variable"]) == RUNS for rule in rules)
        completed = next(row for row in rows if row["status"] == "Completed")
        again = batch.run(completed["run_id"]).replay()
        assert again.outputs == batch.run(completed["run_id"]).outputs
    finally:
        sb.stop()
