"""The notebook of the documentation, executed against a real coordinator, with a restart of the kernel in the middle."""

import json
import time
from pathlib import Path

import pytest

import simbatch as sb

NOTEBOOKS = Path(__file__).resolve().parents[3] / "docs" / "notebooks"
PATIENCE_S = 300
RUNS = 64


def test_a_notebook_continues_after_a_restart_of_its_kernel_and_executes_no_run_twice(program, folder, notebook_client):
    import nbformat

    path = NOTEBOOKS / "throw.ipynb"
    if not path.exists():
        pytest.skip("this is not a clone of the repository")
    notebook = few_runs(nbformat.read(path, as_version=4))
    nbformat.validate(notebook)
    code = [(index, cell) for index, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    (start,) = [number for number, (_, cell) in enumerate(code) if "study.run(" in cell.source]

    client = notebook_client(notebook, folder)
    with client.setup_kernel():
        for index, cell in code[:start]:
            client.execute_cell(cell, index)
        # The first session submits the study, and dies while it runs.
        submitting = nbformat.v4.new_code_cell("batch = study.run(workers=2)\nprint(batch.id)")
        notebook.cells.append(submitting)
        client.execute_cell(submitting, len(notebook.cells) - 1)
        first_id = "".join(output.text for output in submitting.outputs if output.get("name") == "stdout").strip()
        before = ended_runs(folder, first_id)
    assert 0 < before < RUNS

    again = few_runs(nbformat.read(path, as_version=4))
    notebook_client(again, folder).execute()
    for _, cell in [(index, cell) for index, cell in enumerate(again.cells) if cell.cell_type == "code"]:
        assert not [output for output in cell.outputs if output.output_type == "error"]
    html = "".join(
        output.data.get("text/html", "") for cell in again.cells for output in cell.get("outputs", []) if "data" in output
    )
    assert "<svg" in html and "throw: Completed" in html and "<script" not in html

    batch = sb.open("latest")
    assert batch.id == first_id
    rows = batch.rows(columns=["run_id", "status", "attempt"])
    assert [row["run_id"] for row in rows] == list(range(RUNS))
    assert {row["status"] for row in rows} <= {"Completed", "Failed"}
    # Each was executed to its end once, and none was lost: the runner let the runs in progress end. An attempt that was still
    # being started is handed back, which is an attempt of its own.
    for row in rows:
        if row["attempt"] > 1:
            outcomes = [one["outcome"] for one in batch.run(row["run_id"]).history()]
            assert len([one for one in outcomes if one != "released"]) == 1, (row, outcomes)


def few_runs(notebook):
    """The notebook with a study of `RUNS` runs."""
    (sized,) = [cell for cell in notebook.cells if "runs=256" in cell.source]
    sized.source = sized.source.replace("runs=256", f"runs={RUNS}")
    return notebook


def ended_runs(folder, batch_id):
    """Waits until some runs have ended; returns how many. Does not keep the coordinator of the folder alive."""
    end = time.monotonic() + PATIENCE_S
    url = json.loads((folder / ".simbatch" / "local.json").read_text())["url"]
    batch = sb.connect(url, token_file=folder / ".simbatch" / "read.token").open(batch_id)
    while True:
        state = batch.refresh()["batch"]
        ended = state["completed_jobs"] + state["failed_jobs"]
        if ended >= 8:
            return ended
        assert time.monotonic() < end
        time.sleep(0.01)
