"""Studies with `isolation: shared`, on this machine, by the real program: the same results as with a process for each run."""

import json
import os
import random
import socket
import sys
import time
from pathlib import Path

import pytest

import simbatch as sb

from . import kills
from .conftest import package

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")
SEEN = []
COUNT = 0


def polite(p):
    import random

    return {"y": p["x"] * random.random(), "text": "ä", "list": [1, p["x"]]}


def rude(p, run):
    import ctypes
    import signal
    import subprocess
    import threading
    import time

    global COUNT
    number = run.run_id
    COUNT += 1
    found = {"count": COUNT, "seen": len(SEEN), "variable": os.environ.get("SIM_X"), "place": os.getcwd(), "threads": threading.active_count()}
    if number == 1:
        os._exit(3)
    if number == 2:
        ctypes.string_at(0)
    if number == 3:
        time.sleep(600)
    if number == 4:
        os.environ["SIM_X"] = "changed"
        os.chdir("/")
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    if number == 5:
        print("x" * 300_000)
        os.write(2, b"raw\n")
    if number == 6:
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    if number == 7:
        globals()["KEPT"] = open(os.devnull)
        SEEN.append(os.open("/etc/hosts", os.O_RDONLY))
    if number == 8:
        raise ValueError("a reason")
    if number == 9:
        return {"bad": object()}
    if number == 10:
        subprocess.Popen(["sleep", "600"])
    if number == 11:
        run.telemetry(t=0, height=p["x"])
    if number == 12:
        # The first is closed with the global variable, the second stays open with a higher number.
        globals()["KEPT"] = open("/etc/hosts")
        os.open("/etc/passwd", os.O_RDONLY)
    if number == 13:
        os.close(0)
        os.open("/etc/hosts", os.O_RDONLY)
    return found


@pytest.fixture
def local(lab):
    package("cloudpickle")
    return lab


def finished(function, isolation, runs, **changes):
    arguments = {"inputs": {"x": sb.Uniform(0, 1)}, "runs": runs, "seed": 7, "policy": sb.Policy(), "retries": 0}
    batch = sb.Study("shared", simulation=function, isolation=isolation, **{**arguments, **changes}).run(workers=2, again=True)
    batch.wait()
    return batch


def results(batch):
    """run_id -> status, outputs and the names and contents of the files."""
    found = {}
    for row in batch.coordinator.transport.get(f"/batches/{batch.id}/results")["results"]:
        paths = [Path(it) for it in row["output_files"]]
        found[row["run_id"]] = (row["status"], row["metadata"], {it.name: it.read_bytes() for it in paths})
    return found


def notes(row):
    return " | ".join(row[1].get("simbatch_notes", []))


def without_directories(found):
    """Results of runs with a process each as those of functions that share one: outputs that are returned are in the result alone."""
    made = {}
    for number, (status, outputs, files) in found.items():
        assert json.loads(files["metadata.json"]) == outputs and len(files) == 1
        made[number] = (status, outputs, {})
    return made


def test_hundreds_of_runs_are_those_of_a_process_each_to_the_bit(local):
    batch = finished(polite, "shared", 300)
    shared = results(batch)
    assert len(shared) == 300
    assert shared == without_directories(results(finished(polite, "process", 300)))
    assert [it for it in local.rglob("*") if batch.id in it.parts] == []


def asks(p, run):
    """Each run asks for its directory in a way of its own, or does not."""
    import subprocess

    number = run.run_id
    note = "echo child > $SVC_OUTPUT_DIR/note"
    if number == 1:
        (run.output_dir / "note").write_text("property")
    if number == 2:
        Path(os.environ["SVC_OUTPUT_DIR"], "note").write_text("variable")
    if number == 3:
        return {"config": open(os.environ["SVC_RUN_CONFIG"]).read()}
    if number == 4:
        subprocess.run(["sh", "-c", note], check=True)
    if number == 5:
        os.system(note)
    if number == 6 and os.fork() == 0:
        os.execv("/bin/sh", ["sh", "-c", note])
    if number == 6:
        os.wait()
    if number == 7:
        run.result(early=1)
    if number == 8:
        os._exit(3)
    if number == 9:
        print("printed")
        sys.stdout.flush()
        time.sleep(0.3)
        (run.output_dir / "note").write_text("after a log")
    if number == 10:
        return {"long": "x" * 100_000}
    if number == 11:
        print("printed")
    if number == 12:
        run.telemetry(t=0, height=1)
    if number == 13:
        os.putenv("SIM_COPY", dict(os.environ)["SVC_OUTPUT_DIR"])
    return {"y": p["x"]}


def test_a_function_has_a_directory_as_soon_as_it_asks_for_one(local):
    batch = finished(asks, "shared", 16)
    found = results(batch)
    assert {number: sorted(row[2]) for number, row in found.items()} == {
        **{number: [] for number in (0, 8, 14, 15)},
        **{number: ["metadata.json", "note"] for number in (1, 2, 4, 5, 6)},
        **{number: ["metadata.json"] for number in (3, 7, 10, 13)},
        9: ["metadata.json", "note", "stdout.log"],
        11: ["stdout.log"],
        12: ["telemetry.parquet"],
    }
    assert {number for number, row in found.items() if row[0] != "Completed"} == {8}
    assert notes(found[8]) == "" and "exited with code 3" in (batch.run(8).error or "")
    outputs = {number: {it: value for it, value in row[1].items() if it != "simbatch_notes"} for number, row in found.items()}
    x = {row["run_id"]: row["parameters.x"] for row in batch.rows(columns=["run_id", "parameters.x"])}
    assert all(outputs[number] == {"y": x[number]} for number in found if number not in (3, 7, 8, 10))
    assert (outputs[7], outputs[10], json.loads(outputs[3]["config"])["parameters"]) == ({"early": 1, "y": x[7]}, {"long": "x" * 100_000}, {"x": x[3]})
    assert found[4][2]["note"] == b"child\n" and found[9][2]["stdout.log"] == found[11][2]["stdout.log"] == b"printed\n"
    # What else has read the run configuration is not known, and so not which parameters were looked up.
    rows = batch.coordinator.transport.get(f"/batches/{batch.id}/results")["results"]
    read = {row["run_id"]: row.get("parameters_read") for row in rows}
    assert read == {**dict.fromkeys(found, "all"), 3: None, 6: None, 8: None, 10: []}


class Rude:
    """The study of `rude`: its results, and what is asked of single runs."""

    def __init__(self):
        batch = finished(rude, "shared", 60, timeout_s=20)
        self.results = results(batch)
        self.errors = {number: batch.run(number).error or "" for number in (1, 2, 8, 9)}
        self.histories = [batch.run(number).history() for number in (14, 30, 59)]


@pytest.fixture
def rudeness(local, request):
    """The study of `rude`, executed for the first test that asks: one of its runs lasts until its time limit."""
    if not hasattr(request.module, "executed_rude"):
        request.module.executed_rude = Rude()
    return request.module.executed_rude


def test_a_run_that_ends_its_interpreter_loses_no_other_run(rudeness):
    failed = {number: row[0] for number, row in rudeness.results.items() if row[0] != "Completed"}
    assert failed == {1: "Failed", 2: "Failed", 3: "Timeout", 8: "Failed", 9: "Failed"}
    assert "exited with code 3" in rudeness.errors[1]
    assert "SIGSEGV" in rudeness.errors[2]
    assert "ValueError: a reason" in rudeness.errors[8]
    assert "bad: a result is a number" in rudeness.errors[9]
    # Runs that were given back were not failures: none has an attempt that failed before.
    assert all(len([it for it in history if "fail" in str(it).lower()]) == 0 for history in rudeness.histories)


def meddling(p, run):
    own = [int(it) for it in os.listdir("/proc/self/fd") if int(it) > 2]
    named = {fd: os.path.realpath("/proc/self/fd/%d" % fd) for fd in own if os.path.lexists("/proc/self/fd/%d" % fd)}
    pipes = [fd for fd, name in named.items() if "simbatch-" in name]
    if run.run_id == 3:
        os.closerange(3, 256)
    if run.run_id in (5, 7):
        for fd in pipes:
            os.close(fd) if run.run_id == 5 else os.set_blocking(fd, False)
    if run.run_id == 9:
        for fd, name in named.items():
            if "socket" in name:
                os.dup2(os.open(os.devnull, os.O_RDWR), fd)
    return {"n": run.run_id, "pipes": len(pipes)}


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_a_run_that_takes_the_connections_of_its_interpreter_loses_no_other_run(local):
    found = results(finished(meddling, "shared", 60, timeout_s=60))
    assert {number: row[0] for number, row in found.items() if row[0] != "Completed"} == {3: "Failed", 5: "Failed", 9: "Failed"}
    assert all(row[1]["n"] == number and row[1]["pipes"] == 1 for number, row in found.items() if row[0] == "Completed")
    assert "changed the blocking mode of a connection of its process to the runner: its process was ended after it" in notes(found[7])
    for number in (3, 5):
        assert b"the run closed or replaced a connection of its process" in found[number][2]["stderr.log"]


def test_no_run_sees_what_another_has_changed_and_the_result_says_what_it_was(rudeness):
    found = rudeness.results
    places = {row[1]["place"] for row in found.values() if "place" in row[1]}
    assert len(places) == 1
    for number, row in found.items():
        if "count" in row[1]:
            assert (number, row[1]["count"], row[1]["seen"], row[1]["variable"], row[1]["threads"]) == (number, 1, 0, None, 1)
    assert "the environment variable SIM_X: undone" in notes(found[4])
    assert "the working directory: undone" in notes(found[4])
    assert "the handler of SIGUSR1: undone" in notes(found[4])
    assert "left a thread running: its process was ended after it" in notes(found[6])
    assert "left a file open" in notes(found[7])
    assert "the content of the variable SEEN: its process was ended after it" in notes(found[7])
    assert "left a process running: its process was ended after it" in notes(found[10])
    assert "left a file open" in notes(found[12]) and "/etc/hosts" not in notes(found[12])
    assert "replaced or closed a standard stream: its process was ended after it" in notes(found[13])
    assert all("left" not in notes(found[n]) for n in (0, 4, 5, 11, 14, 30, 59))
    assert found[5][2]["stdout.log"] == b"x" * 300_000 + b"\n"
    assert found[5][2]["stderr.log"] == b"raw\n"
    assert all("stdout.log" not in row[2] for number, row in found.items() if number != 5)
    assert "telemetry.parquet" in found[11][2]


def test_interpreters_execute_many_runs_each(local):
    found = results(finished(which_process, "shared", 200))
    assert len({row[1]["pid"] for row in found.values()}) <= 4


def which_process(p):
    return {"pid": os.getpid()}


def slow(p):
    time.sleep(0.05)
    return {"pid": os.getpid()}


def test_a_cancelled_study_ends_with_its_interpreters(local):
    batch = sb.Study("cancelled", simulation=slow, isolation="shared", inputs={"x": sb.Uniform(0, 1)}, runs=5000, policy=sb.Policy()).run(workers=2, again=True)
    while batch.refresh()["batch"]["completed_jobs"] < 20:
        time.sleep(0.05)
    batch.cancel()
    batch.wait()
    assert batch.status == "Cancelled"
    again = finished(which_process, "shared", 20)
    assert again.status == "Completed"


def test_isolation_is_checked():
    with pytest.raises(ValueError, match="isolation must be 'process' or 'shared', not 'threads'"):
        sb.Study("wrong", simulation="rocket", version="1", isolation="threads", inputs={"x": 1}, runs=1)


def array_work(numpy, p, run):
    # Random numbers, sums and products whose last bits depend on the order of their parts.
    own = numpy.random.default_rng(run.random_seed)
    matrix = own.standard_normal((40, 40))
    vector = numpy.linspace(p["x"], 1, 40)
    solved = numpy.linalg.solve(matrix, vector)
    return {"sum": float(solved.sum()), "bits": solved.tobytes().hex(), "mean": numpy.sin(matrix).mean(), "list": matrix[0]}


def importing(p, run):
    import numpy

    return array_work(numpy, p, run)


# An import takes a process longer than all the rest: most runs find the module in the process that they are forked from.
@pytest.mark.parametrize("is_loaded, runs", [(True, 100), (False, 24)], ids=["loaded before", "imported in the run"])
def test_results_of_numpy_are_those_of_a_process_each_to_the_bit(local, is_loaded, runs):
    numpy = package("numpy")
    function = (lambda p, run: array_work(numpy, p, run)) if is_loaded else importing
    shared = results(finished(function, "shared", runs))
    assert {row[0] for row in shared.values()} == {"Completed"}
    assert len({row[1]["bits"] for row in shared.values()}) == runs
    assert shared == without_directories(results(finished(function, "process", runs)))


def draws(p):
    import random

    import numpy

    return {"numpy": numpy.random.random(), "own": random.random()}


def test_numpy_begins_with_the_seed_of_the_run_also_where_a_run_is_the_first_to_import_it(local):
    package("numpy")
    shared = results(finished(draws, "shared", 24))
    # Of the runs with a process each all are the first.
    assert shared == without_directories(results(finished(draws, "process", 24)))
    assert len({row[1]["numpy"] for row in shared.values()}) == 24
    assert all("restored" not in notes(row) and "undone" not in notes(row) for row in shared.values())


def leaky(p, run):
    if run.run_id == 7:
        kept = bytearray(os.urandom(1 << 20) * 400)
        return {"pid": os.getpid(), "bytes": len(kept)}
    # In a module of a library, where it is not noticed: 13 MiB.
    sys.modules["random"].__dict__.setdefault("kept", []).append(bytearray(os.urandom(1 << 20) * 13))
    return {"pid": os.getpid()}


def test_a_memory_limit_holds_for_each_run_and_a_worker_with_a_quarter_of_it_is_replaced(local):
    found = results(finished(leaky, "shared", 40, memory_limit="256Mi"))
    greedy = found.pop(7)
    if "did not take effect" in notes(greedy):
        # Without cgroups nothing ends it, and each result says so.
        assert greedy[0] == "Completed"
        assert [row for row in found.values() if "did not take effect" not in notes(row)] == []
    else:
        assert greedy[0] == "Failed"
    # No other run is lost: neither to the run over the limit, nor to a worker that ended for its memory.
    assert {row[0] for row in found.values()} == {"Completed"}
    runs_of = {}
    for row in found.values():
        runs_of[row[1]["pid"]] = runs_of.get(row[1]["pid"], 0) + 1
    # A quarter is 64 MiB: five runs after the first have it. The look at the memory is at most every 50 ms.
    assert len(runs_of) >= 3 and max(runs_of.values()) < 20


def noted(p, run):
    with open(os.path.join(os.environ["SIM_NOTES"], "notes"), "a") as file:
        file.write("%d\n" % run.run_id)
    return {"y": p["x"] * 3}


def awaited(site):
    """Returns when the coordinator takes connections."""
    while True:
        try:
            socket.create_connection(("127.0.0.1", site.port)).close()
            return
        except OSError:
            assert site.processes["coordinator"].poll() is None, (site.folder / "coordinator.log").read_text()
            time.sleep(0.1)


def test_a_coordinator_that_is_killed_loses_no_run_and_lets_none_execute_twice(program, folder):
    package("cloudpickle")
    runs = 600
    site = kills.Site(folder, "none", 0, 0)
    dice = random.Random(5)
    try:
        site.start("coordinator")
        awaited(site)
        site.start("runner")
        study = sb.Study(
            "killed",
            simulation=noted,
            isolation="shared",
            inputs={"x": sb.Uniform(0, 1)},
            runs=runs,
            seed=7,
            policy=sb.Policy(),
            environment={"SIM_NOTES": str(folder)},
        )
        batch = study.submit(site.url, retry_s=120)
        for wanted in (100, 300):
            while batch.refresh()["batch"]["completed_jobs"] < wanted:
                time.sleep(0.02)
            time.sleep(dice.uniform(0, 0.1))
            assert site.kill("coordinator")
            site.start("coordinator")
        batch.wait()
        rows = batch.rows(columns=["run_id", "class", "parameters.x", "outputs.y"])
        executed = sorted(map(int, (folder / "notes").read_text().split()))
    finally:
        site.end()
    assert [row["run_id"] for row in rows] == list(range(runs))
    assert {row["class"] for row in rows} == {"ok"}
    assert all(row["outputs.y"] == row["parameters.x"] * 3 for row in rows)
    assert executed == list(range(runs))
