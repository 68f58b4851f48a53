"""Studies on this machine, with a coordinator and a runner in a folder, by the real program."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import simbatch as sb

from .conftest import package

ROOT = Path(__file__).parents[1]
PATIENCE_S = 120

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")


def throw(p, run):
    run.telemetry(t=0, height=p["speed"])
    run.telemetry(t=1, height=2 * p["speed"])
    with open(Path(os.environ.get("COUNT", ".")) / "executed", "a") as file:
        file.write(f"{run.run_id}\n")
    if p["speed"] < 28:
        raise ValueError("too slow")
    return {"range_m": p["speed"] ** 2 / 9.81, "seed": run.random_seed}


def study(**changes):
    arguments = {
        "simulation": throw,
        "inputs": {"speed": sb.Normal(30, 2, units="m/s"), "angle": sb.Uniform(0, 1)},
        "correlations": {("speed", "angle"): 0.5},
        "runs": 16,
        "method": "sobol",
        "retries": 0,
        "requirements": [sb.Requirement("range_m", "> 80", probability=0.5)],
        "early_termination": sb.EarlyTermination([sb.Rule("height", "> 63", "ceiling")]),
    }
    return sb.Study("throw", **{**arguments, **changes})


@pytest.fixture
def local(lab):
    package("cloudpickle")
    return lab


@pytest.fixture
def alone(program, folder):
    """A folder without a coordinator."""
    package("cloudpickle")
    return folder


def executed(folder):
    return sorted(int(line) for line in (folder / "executed").read_text().split())


def test_a_function_is_executed_for_every_run_and_answers_are_there(local, capsys):
    one = study()
    batch = one.run(workers=2)
    assert batch.wait(PATIENCE_S) is batch
    assert (batch.status, batch.ended) == ("Completed", True)
    assert executed(local) == list(range(16))

    rows = {row["run_id"]: row for row in batch.rows()}
    design = {row["run_id"]: row["parameters"] for row in one.sample()}
    for run_id, row in rows.items():
        assert {name: row[f"parameters.{name}"] for name in ("speed", "angle")} == design[run_id]
        speed = design[run_id]["speed"]
        expected = "Completed" if 28 <= speed <= 31.5 else "Failed"
        assert row["status"] == expected
        if expected == "Completed":
            assert row["outputs.range_m"] == pytest.approx(speed**2 / 9.81)

    assert batch.verdicts().rows()[0]["name"] == "range_m > 80"
    assert "range_m" in [output["name"] for output in batch.summary()["outputs"]]
    assert batch.sensitivity("range_m").rows()[0]["name"] == "speed"
    assert batch.why().sentence
    assert batch.convergence("range_m").rows()
    worst = batch.worst("range_m", 2)
    assert len(worst) == 2 and worst[0].outputs["range_m"] >= worst[1].outputs["range_m"]
    assert worst[0].replay().outputs == worst[0].outputs
    failed = [row["run_id"] for row in rows.values() if row["status"] == "Failed"]
    assert batch.run(failed[0]).error
    assert [attempt["outcome"] for attempt in batch.run(failed[0]).history()] == ["failed"]

    html = batch._repr_html_()
    assert "<svg" in html and "throw: Completed" in html and "<script" not in html
    assert "throw: Completed, 16 of 16 runs ended" in repr(batch)


def test_a_running_run_shows_its_telemetry_and_its_files(local):
    def climb(p, run):
        print("climbing", flush=True)
        for height in range(50):
            run.telemetry(t=height, height=height)
        while not Path(os.environ["SIM_GO"]).exists():
            time.sleep(0.02)
        return {"height_m": 49}

    go = local / "go"
    one = sb.Study(
        "climb", simulation=climb, inputs={"x": sb.Uniform(0, 1)}, runs=1, environment={"SIM_GO": str(go)},
        telemetry=sb.Telemetry(live=True),
    )
    batch = one.run(workers=1)
    deadline = time.monotonic() + PATIENCE_S
    while True:
        assert time.monotonic() < deadline
        try:
            view = batch.run(0).live_telemetry()
            if view["samples"] == 50 and "stdout.log" in [file.path for file in batch.files(0)]:
                break
        except sb.ApiError as error:
            assert error.code in ("run-not-running", "live-telemetry-unavailable", "conflict")
        time.sleep(0.1)
    assert view["variables"][0]["values"][-1] == 49
    assert batch.files(0)["stdout.log"].text() == "climbing\n"
    go.touch()
    batch.wait(PATIENCE_S)


def test_frames_have_one_row_a_run(local, monkeypatch):
    def known(column):
        return [None if value is None or value != value else value for value in column]

    for name in ("pandas", "polars", "pyarrow"):
        package(name)
    batch = study().run(workers=2).wait(PATIENCE_S)
    for table in (batch.frame(), batch.polars(), batch.arrow()):
        names = table.column_names if hasattr(table, "column_names") else list(table.columns)
        assert len(table) == 16
        assert {"run_id", "status", "parameters.speed", "outputs.range_m"} <= set(names)
    arrow, polars = batch.frame(), batch.polars()
    with monkeypatch.context() as without:
        without.setattr("simbatch.batch.batch.has_arrow", lambda: False)
        for ours, table in ((arrow, batch.frame()), (polars, batch.polars())):
            assert list(ours.columns) == list(table.columns)
            for name in ("run_id", "status", "class", "parameters.speed", "outputs.range_m"):
                assert known(ours[name]) == known(table[name])
    slowest = batch.frame(columns=["run_id", "parameters.speed"], where="class = ok", sort=["-parameters.speed", "run_id"], limit=3)
    assert list(slowest.columns) == ["run_id", "parameters.speed"] and len(slowest) == 3
    assert list(slowest["parameters.speed"]) == sorted(slowest["parameters.speed"], reverse=True)
    with pytest.raises(sb.ApiError, match="malformed-query.*speeed"):
        batch.rows(columns=["parameters.speeed"])
    telemetry = batch.run(0).telemetry()
    assert list(telemetry["height"])[0] == pytest.approx(batch.run(0).parameters["speed"])


def test_the_same_study_again_is_the_same_batch_and_executes_nothing(local):
    first = study().run(workers=2).wait(PATIENCE_S)
    assert study().run(workers=2).id == first.id
    assert executed(local) == list(range(16))
    assert study(runs=3).run(workers=2).wait(PATIENCE_S).id == first.id
    assert executed(local) == list(range(16))
    again = study(runs=3).run(workers=2, again=True)
    assert again.id != first.id
    again.wait(PATIENCE_S)
    assert sb.open("latest").id == again.id
    assert sb.open("throw").id == again.id
    assert sb.open(first.id).id == sb.open(first.id[:23]).id == first.id
    with pytest.raises(sb.SimbatchError, match="no study 'absent'"):
        sb.open("absent")


def test_a_study_of_the_same_design_is_continued_and_executes_the_further_runs_alone(local, capsys):
    first = study(runs=40, retries=0).run(workers=2).wait(PATIENCE_S)
    assert len(executed(local)) == 40
    near = sb.Requirement("range_m", "> 60", probability=0.5, name="near")
    judged = {"requirements": [near], "labels": {"campaign": "a"}, "outputs": {"range_m": "m"}}
    amended = study(runs=40, **judged).run(workers=2).wait(PATIENCE_S)
    assert amended.id == first.id and len(executed(local)) == 40
    assert "requirements, outputs, labels amended" in capsys.readouterr().err
    (verdict,) = amended.verdicts()["requirements"]
    assert verdict["stated_at"]["runs_ended"] == 40
    assert "stated-after-runs" in [one["code"] for one in verdict["warnings"]]
    assert amended.judgement()["labels"] == {"campaign": "a"}
    grown = study(runs=52, **judged).run(workers=2).wait(PATIENCE_S)
    assert grown.id == first.id and grown.ended and len(executed(local)) == 52
    assert "12 further runs" in capsys.readouterr().err
    # Tables and questions are about the runs of both batches.
    assert [row["run_id"] for row in grown.rows(columns=["run_id"])] == list(range(52))
    assert grown.summary()["of"] == 52
    assert grown.verdicts()["requirements"][0]["stated_at"]["runs_ended"] == 40
    # After a restart of the kernel, so to say: the study as it is.
    once_more = study(runs=52, **judged).run(workers=2).wait(PATIENCE_S)
    assert len(once_more.rows()) == 52 and len(executed(local)) == 52
    # A change of the model is another study.
    wider = {"speed": sb.Normal(30, 2, units="m/s"), "angle": sb.Uniform(0, 2)}
    other = study(runs=52, inputs=wider, **judged).run(workers=2).wait(PATIENCE_S)
    assert other.id != first.id and len(executed(local)) == 104
    assert "changed: inputs.angle" in capsys.readouterr().err
    amended = other.amend(requirements=[])
    assert amended.id == other.id and other.judgement()["requirements"] == [] and other.submission.get("requirements") is None


MODEL = """
def model(p):
    with open({file!r}, "a") as file:
        file.write("x\\n")
    return {{"range_m": p["speed"] ** 2 / {gravity}}}
"""


def cells(folder, gravity, runs, **judgement):
    """A notebook whose first cell defines the model: the study as its last cell has it, and its frame."""
    scope = {"__name__": "__main__"}
    exec(MODEL.format(file=str(folder / "executed"), gravity=gravity), scope)
    inputs = {"speed": sb.Normal(30, 2, units="m/s")}
    made = sb.Study("notebook", simulation=scope["model"], inputs=inputs, runs=runs, method="sobol", isolation="shared", **judgement)
    return made.run(workers=2).wait(PATIENCE_S)


def test_a_notebook_executes_what_is_new_alone(local, capsys):
    near = sb.Requirement("range_m", "> 60", probability=0.5, name="near")
    far = sb.Requirement("range_m", "> 70", probability=0.5, name="far")

    def count():
        return (local / "executed").read_text().count("x")

    first = cells(local, 9.81, 400, requirements=[near])
    assert count() == 400
    cells(local, 9.81, 400, requirements=[near, far])
    cells(local, 9.81, 400, requirements=[near, far], labels={"campaign": "a"})
    grown = cells(local, 9.81, 512, requirements=[near, far], labels={"campaign": "a"})
    assert grown.id == first.id and count() == 512
    # Another plot asks for the same runs.
    assert len(grown.rows(columns=["outputs.range_m"])) == 512
    assert grown.summary()["of"] == 512 and count() == 512
    stated = {one["name"]: one.get("stated_at", {}).get("runs_ended") for one in grown.verdicts()["requirements"]}
    assert stated == {"near": None, "far": 400}
    capsys.readouterr()
    other = cells(local, 9.80665, 512, requirements=[near, far], labels={"campaign": "a"})
    assert other.id != first.id and count() == 512 + 512
    assert "changed: code" in capsys.readouterr().err


def test_a_study_that_was_deleted_or_cancelled_is_not_taken_for_a_running_one(local, capsys):
    first = study(runs=2).run(workers=1).wait(PATIENCE_S)
    first.delete()
    second = study(runs=2).run(workers=1)
    assert second.id != first.id
    assert second.wait(PATIENCE_S).status == "Completed"
    cancelled = study(runs=400, seed=9).run(workers=1).cancel("enough").wait(PATIENCE_S)
    assert study(runs=400, seed=9).run(workers=1).id == cancelled.id
    assert "was cancelled; again=True runs it anew" in capsys.readouterr().err
    assert cancelled.resource["cancel_reason"] == "enough"


def test_a_study_grows_is_run_again_and_is_audited(local):
    one = study()
    batch = one.run(workers=2).wait(PATIENCE_S)
    grown = batch.extend(24).wait(PATIENCE_S)
    assert [row["run_id"] for row in grown.rows(columns=["run_id"])] == list(range(16, 24))
    family = batch.rows(family=True)
    assert [row["run_id"] for row in family] == list(range(24))
    failed = [row["run_id"] for row in batch.rows(where="status = Failed", columns=["run_id"])]
    again = batch.rerun(states=["Failed"], version="2").wait(PATIENCE_S)
    assert [row["run_id"] for row in again.rows(columns=["run_id"])] == failed
    assert again.submission["config"]["simulation"]["version"] == "2"
    difference = batch.diff(again)
    assert difference["paired"] is True and difference["pairs"] == difference["flips"]["failed_both"] == len(failed)
    audit = batch.audit(0.25, seed=1).wait(PATIENCE_S)
    answer = audit.audit_answer()
    assert answer["differing"] == 0 and answer["identical"] == 4
    # The same study is still the first batch, and none of its descendants.
    assert study().run(workers=2).id == batch.id


SCRIPT = """
import sys, time
sys.path.insert(0, {root!r})
import simbatch as sb
def slow(p, run):
    import time
    with open("executed", "a") as file:
        file.write(f"{{run.run_id}}\\n")
    time.sleep(0.2)
    return {{"x": p["x"]}}
study = sb.Study("slow", simulation=slow, inputs={{"x": sb.Uniform(0, 1)}}, runs=24)
batch = study.run(workers=2)
print(batch.id, flush=True)
{then}
"""


def test_a_killed_process_is_continued_by_the_next_and_no_run_is_executed_twice(alone):
    def start(then):
        text = SCRIPT.format(root=str(ROOT), then=then)
        (alone / "main.py").write_text(text)
        return subprocess.Popen([sys.executable, "main.py"], stdout=subprocess.PIPE, encoding="utf-8")

    first = start("time.sleep(600)")
    batch_id = first.stdout.readline().strip()
    end = time.monotonic() + PATIENCE_S
    while not (alone / "executed").exists() or len(executed(alone)) < 6:
        assert time.monotonic() < end
        time.sleep(0.05)
    first.send_signal(signal.SIGKILL)
    first.communicate()

    second = start(f"batch.wait({PATIENCE_S}, progress=False); print(batch.status)")
    printed, _ = second.communicate(timeout=PATIENCE_S)
    assert printed.split() == [batch_id, "Completed"]
    assert executed(alone) == list(range(24))


def test_everything_ends_with_the_process(alone):
    text = SCRIPT.format(root=str(ROOT), then="batch.cancel('enough')")
    subprocess.run([sys.executable, "-c", text], check=True, timeout=PATIENCE_S, stdout=subprocess.DEVNULL)
    end = time.monotonic() + PATIENCE_S
    while (alone / ".simbatch" / "local.json").exists() or not is_free(alone / ".simbatch" / "lock"):
        assert time.monotonic() < end
        time.sleep(0.05)


def is_free(path):
    import fcntl

    with open(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return True


def test_a_kept_coordinator_outlives_the_process_until_it_is_stopped(alone):
    text = SCRIPT.format(root=str(ROOT), then="").replace("workers=2", "workers=2, keep=True")
    ended = subprocess.run([sys.executable, "-c", text], timeout=PATIENCE_S, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    batch = sb.open("latest")
    assert batch.id == ended.stdout.strip()
    batch.wait(PATIENCE_S, progress=False)
    assert executed(alone) == list(range(24))
    assert sb.stop() is True
    assert sb.stop() is False


def test_a_coordinator_that_was_killed_is_started_again(alone):
    batch = study().run(workers=2)
    assert sb.stop() is True
    assert len(batch.rows()) == 16
    assert sb.stop() is True
    assert batch.wait(PATIENCE_S).status == "Completed"
    assert executed(alone) == list(range(16))


def test_the_folder_belongs_to_its_user_alone(alone):
    batch = study(runs=1).run(workers=1).wait(PATIENCE_S)
    assert (alone / ".simbatch").stat().st_mode & 0o077 == 0
    assert (alone / ".simbatch" / "read.token").stat().st_mode & 0o077 == 0
    # Another user of this machine reaches the port, and must not be able to submit code.
    with pytest.raises(sb.ApiError, match="unauthenticated"):
        sb.connect(batch.coordinator.endpoint).batches()


def test_the_command_line_replays_a_function_only_with_consent(local, program):
    batch = study(runs=2).run(workers=1).wait(PATIENCE_S)
    run = next(run for run in (batch.run(0), batch.run(1)) if run.status == "Completed")
    given = {
        **os.environ, "SVC_ENDPOINT": batch.coordinator.endpoint, "SVC_TOKEN": (local / ".simbatch" / "read.token").read_text().strip()
    }  # fmt: skip
    command = [*program, "replay", run.job["id"], "--quiet", "-o", "json", "--python-executable", sys.executable]
    refused = subprocess.run(command, env=given, capture_output=True, encoding="utf-8")
    assert refused.returncode == 77 and "add --allow-functions" in refused.stderr
    replayed = subprocess.run([*command, "--allow-functions"], env=given, capture_output=True, encoding="utf-8")
    assert replayed.returncode == 0, replayed.stderr
    assert json.loads(replayed.stdout)["result"]["metadata"] == run.outputs


def test_a_script_runs_by_its_entrypoint(alone):
    (alone / "sim.py").write_text(
        textwrap.dedent(
            f"""
            import sys; sys.path.insert(0, {str(ROOT)!r})
            import simbatch
            run = simbatch.run()
            run.telemetry(t=0.5, height=run.parameters["speed"])
            run.result(range_m=2 * run.parameters["speed"])
            """
        )
    )
    one = study(simulation="thrower", version="1", entrypoint="sim.py", requirements=(), early_termination=None, runs=2)
    trial = one.try_run(1, quiet=True)
    batch = one.run(workers=1).wait(PATIENCE_S)
    assert batch.status == "Completed"
    assert trial.outputs == batch.run(1).outputs == {"range_m": 2 * batch.run(1).parameters["speed"]}
    assert trial.parameters == batch.run(1).parameters
    assert batch.run(1).replay(quiet=True).outputs == trial.outputs


def test_a_trial_is_executed_here_with_telemetry_and_rules(local):
    one = study()
    trials = [one.try_run(run_id) for run_id in range(4) if 28 < one.sample(first=run_id, count=1)[0]["parameters"]["speed"]]
    for trial in trials:
        speed = trial.parameters["speed"]
        assert trial.samples[:2] == [{"t": 0.0, "height": speed}, {"t": 1.0, "height": 2 * speed}]
        if 2 * speed > 63:
            assert trial.terminated_by["description"] == "ceiling" and trial.terminated_by["time_s"] == 1.0
            assert trial.outputs == {}
        else:
            assert trial.terminated_by is None and trial.outputs["range_m"] == pytest.approx(speed**2 / 9.81)
        assert "<svg" in trial._repr_html_()
    shadow = study(early_termination=sb.EarlyTermination([sb.Rule("height", "> 0", "always")], shadow=True))
    assert shadow.try_run(0).would_terminate["value"] > 0
    with pytest.raises(ValueError, match="too slow"):
        study(inputs={"speed": 27, "angle": 0}, correlations=None).try_run(0)


def test_an_interrupted_wait_leaves_the_study_running(local, capsys, monkeypatch):
    batch = study().run(workers=1)

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(batch.coordinator.transport, "get", interrupt)
        with pytest.raises(KeyboardInterrupt):
            batch.wait()
    assert "the study continues" in capsys.readouterr().err
    with pytest.raises(TimeoutError, match="it continues"):
        study(runs=400, inputs={"speed": 29, "angle": 0}, correlations=None).run(workers=1).wait(0.01)
    assert batch.wait(PATIENCE_S).status == "Completed"


def test_the_program_is_found_or_named(monkeypatch, folder):
    monkeypatch.setenv("SIMBATCH_HOME", str(folder))
    with pytest.raises(sb.ProgramNotFoundError, match="where there is no dist/bin/simbatch.js"):
        study().try_run(0)
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("SIMBATCH_HOME")
    with pytest.raises(sb.ProgramNotFoundError, match="npm install -g ./simbatch-VERSION.tgz.*SIMBATCH_HOME"):
        study().run()
    assert not (folder / ".simbatch").exists()


def test_a_study_that_fails_alike_costs_its_canary_run_and_says_why_everywhere(local, capsys):
    def flight(p):
        raise ValueError("no solution")

    batch = sb.Study("alike", simulation=flight, inputs={"x": sb.Normal(0, 1)}, runs=420, retries=0, seed=1).run(workers=2)
    batch.wait(PATIENCE_S)
    assert batch.submission["policy"] == {"canary_runs": 1}
    ended = batch.refresh()["jobs_by_status"]
    assert (ended["Failed"], ended["Pending"]) == (1, 419)
    sentence = batch.answer()["sentence"]
    assert sentence.startswith("Blocked: ") and "ValueError: no solution" in sentence
    for shown in (repr(batch), repr(batch.summary()), repr(batch.verdicts())):
        assert shown.splitlines()[0] == sentence
    assert sentence in capsys.readouterr().err.splitlines()
    batch.cancel()
    batch.wait(PATIENCE_S)
    sentence = "Not OK: the only run that ended by itself failed: ValueError: no solution;"
    for shown in (repr(batch), repr(batch.summary()), repr(batch.verdicts())):
        assert shown.startswith(sentence)
