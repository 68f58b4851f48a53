"""Studies that wait for a canary study, at a coordinator and a runner of their own."""

import simbatch as sb


def heavy(p):
    if p["mass"] > 54.0:
        raise ValueError("the parachute tears")
    return {"y": 2 * p["mass"]}


def flight(canary, runs=4, **given):
    inputs = {"mass": sb.Normal(50, 2), "g": 9.81}
    return sb.Study("landing", simulation=heavy, inputs=inputs, runs=runs, method="sobol", seed=3, policy=sb.Policy(canary=canary), **given)


def test_a_study_runs_after_its_nominal_run(lab):
    batch = flight("nominal").run(workers=2).wait(timeout=300)
    assert batch.status == "Completed"
    assert batch.refresh()["jobs_by_status"]["Completed"] == 4
    assert [one["relation"] for one in batch.refresh()["batch"]["children"]] == ["probe"]


def test_a_failed_corner_holds_the_runs_and_says_why_until_a_release(lab, capsys):
    study = flight("corners")
    batch = study.run(workers=2).wait(timeout=300)
    assert batch.status == "Pending"
    assert batch.refresh()["batch"]["canary_failed"] is True
    said = capsys.readouterr().err
    assert "Blocked: the canary run with all inputs high has failed: ValueError: the parachute tears; 4 runs must wait." in said
    assert "batch.release() executes them, batch.cancel() ends the study" in said
    assert any("simbatch release" in line for line in batch.obstacles())
    # The same cell again finds the same study, and neither waits for ever nor executes anything.
    again = study.run(workers=2).wait(timeout=300)
    assert (again.id, again.status) == (batch.id, "Pending")
    assert f"4 runs of 1 study ({batch.id}) must wait, since the canary has failed" in capsys.readouterr().err
    # More runs are an extension, whose canary study fails too.
    more = flight("corners", runs=6).run(workers=2).wait(timeout=300)
    assert more.id == batch.id
    assert [one.refresh()["batch"]["canary_failed"] for one in (more, *more.extensions)] == [True, True]
    assert "2 further runs; 4 runs of 1 study" in capsys.readouterr().err
    batch.release().wait(timeout=300)
    assert batch.refresh()["batch"]["completed_jobs"] + batch.refresh()["batch"]["failed_jobs"] == 4
