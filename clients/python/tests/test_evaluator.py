"""Evaluators: identity, requests, values, failures, and whole ones by the real program."""

import asyncio
import concurrent.futures
import csv
import hashlib
import json
import math
import multiprocessing
import os
import pickle
import re
import struct
import sys
import threading
import time
from pathlib import Path

import pytest

import simbatch as sb
from simbatch.api.transport import Transport
from simbatch.evaluator.calls import parts_of
from simbatch.evaluator.identity import digest_of_rows, identity_of
from simbatch.evaluator.values import row_values
from simbatch.local.program import find_program, simbatch

from .conftest import package
from .kills import Site

PATIENCE_S = 120


def test_the_identity_is_that_of_the_command_line():
    both = identity_of("rocket", "1.4", ["mass", "cd"], {"wind": 1.5})
    assert both == "88b67b8694d5cde8d9fd21e0a474e82bbbdf0742888e0c7f55ea3c0fe39d6b40"
    assert both == identity_of("rocket", "1.4", ["cd", "mass"], {"wind": 1.5}, "")
    assert identity_of("rocket", "1.4", ["mass", "cd"], {}) == "dc5748bb52cd88ac00be3d9f5e239870930d0b45d3853d4d036cbe49b7a0443a"
    others = [
        identity_of("rocket", "1.5", ["mass", "cd"], {"wind": 1.5}), identity_of("rocket", "1.4", ["mass"], {"wind": 1.5}),
        identity_of("rocket", "1.4", ["mass", "cd"], {"wind": -0.0}), identity_of("rocket", "1.4", ["mass", "cd"], {"wind": 0.0}),
        identity_of("rocket", "1.4", ["mass", "cd"], {"wind": 1.5}, "more"),
    ]  # fmt: skip
    assert len({both, *others}) == 6


def test_the_digest_of_rows_is_that_of_a_round():
    # Names are sorted by UTF-16 code unit: the pair of surrogates of U+1F600 comes before U+FF01.
    head = "simbatch-round/1\0parameters\0\U0001f600\0\uff01\0".encode()
    assert digest_of_rows({"\uff01": [1.0, 3.0], "\U0001f600": [2.0, 4.0]}) == hashlib.sha256(head + struct.pack("<4d", 2, 1, 4, 3)).hexdigest()
    assert digest_of_rows({"a": [0.0]}) != digest_of_rows({"a": [-0.0]})


def test_rows_are_split_where_a_request_ends():
    many = {"x": [float(i) for i in range(20_001)]}
    assert [len(part["x"]) for part in parts_of(many)] == [10_000, 10_000, 1]
    wide = {f"p{i}": [1.0] * 500 for i in range(1000)}
    parts = list(parts_of(wide))
    assert sum(len(part["p0"]) for part in parts) == 500 and len(parts) > 1
    assert max(26 * 1000 * len(part["p0"]) for part in parts) <= 8 << 20
    assert list(parts_of({"x": []})) == []


@pytest.mark.parametrize(
    "point, error",
    [
        ({"class": "crashed", "outputs": {}, "error": "boom"}, "boom"),
        ({"class": "timeout", "outputs": {"y": 1, "z": 2}}, "the run ended as timeout"),
        ({"class": "ok", "outputs": {"y": 1}}, "the run did not report z"),
        ({"class": "ok", "outputs": {"y": 1, "z": None}}, "the run reported z = None, which is not a number"),
        ({"class": "ok", "outputs": {"y": 1, "z": "2"}}, "the run reported z = '2', which is not a number"),
        ({"class": "ok", "outputs": {"y": 1, "z": float("inf")}}, "the run reported z = inf, which is not a number"),
    ],
)
def test_a_point_without_all_its_numbers_has_failed(point, error):
    values, failure = row_values(3, {"run_id": 5, **point}, ["y", "z"])
    assert all(math.isnan(value) for value in values) and len(values) == 2
    assert (failure.row, failure.run_id, failure.class_, failure.error) == (3, 5, point["class"], error)
    assert row_values(0, {"run_id": 5, "class": "ok", "outputs": {"z": True, "y": 2}}, ["y", "z"]) == ([2.0, 1.0], None)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda c: c.evaluator("rocket", inputs=["x"]), "version is missing"),
        (lambda c: c.evaluator("rocket", version="1"), "inputs is missing"),
        (lambda c: c.evaluator("rocket", version="1", inputs="x"), "inputs must be a list of names, not 'x'"),
        (lambda c: c.evaluator("rocket", version="1", inputs=[]), "inputs must have at least one name"),
        (lambda c: c.evaluator("rocket", version="1", inputs=["x", "x"]), "inputs has a name twice"),
        (lambda c: c.evaluator("rocket", version="1", inputs=["x"], outputs="y"), "outputs must be a list of names"),
        (lambda c: c.evaluator("rocket", version="1", inputs=["x"], failed="skip"), 'failed must be "nan" or "raise", not \'skip\''),
        (lambda c: c.evaluator("rocket", version="1", inputs=["x"], fixed={"x": 1}), "fixed has x, which inputs has too"),
        (lambda c: c.evaluator("rocket", version="1", inputs=["x"], fixed={"w": math.nan}), r'fixed\["w"\] must be finite'),
        (lambda c: c.evaluator(sb.Study("a", simulation="b", version="1", inputs={"x": sb.Normal(0, 1)}, runs=1)), "inputs has no parameter for the points"),
        (lambda c: c.evaluator(sb.Study("a", simulation="b", version="1", inputs={"x": sb.Chosen()}), version="2"), "those of the study; leave them out"),
    ],
)
def test_a_wrong_argument_is_named_before_anything_is_sent(make, words):
    with pytest.raises((TypeError, ValueError), match=words):
        make(sb.connect("http://127.0.0.1:1"))


def answer(status, body, kind="application/json"):
    return (status, {"Content-Type": kind}, json.dumps(body).encode())


def open_batch(name, **members):
    return {"id": name, "name": "rocket 1 evaluator", "status": "Running", "budget": 10, "rounds": 1, **members}


def problem(status, code):
    return answer(status, {"code": code, "detail": code}, "application/problem+json")


def done(*values, appended=1):
    points = [{"run_id": i, "class": "ok", "outputs": {"y": value}} for i, value in enumerate(values)]
    new = {"round": 0, "first_run_id": 0, "count": appended, "run_ids": "0", "digest": "d", "repeated": False} if appended else None
    return answer(200, {"count": len(values), "appended": new, "counts": {"ok": len(values)}, "complete": True, "points": points})


def evaluator_at(fake, **options):
    return sb.connect(fake.url, retry_s=5).evaluator("rocket", version="1", inputs=["x"], outputs=["y"], **options)


def sent(fake):
    return [(method, path.split("?")[0]) for method, path, _, _ in fake.requests]


def test_the_oldest_open_study_with_the_label_is_used(fake):
    package("numpy")
    closed, child = open_batch("closed", closed=True), {key: value for key, value in open_batch("fixed").items() if key != "budget"}
    fake.answers = [answer(200, [closed, child, open_batch("first"), open_batch("second")]), None, done(1.5, 2.5)]
    f = evaluator_at(fake)
    assert f([[1.0], [2.0]]).tolist() == [[1.5], [2.5]]
    assert f.cached == 1 and f.failures == []
    assert "evaluator%3D" in fake.requests[0][1] and "status=Pending&status=Running" in fake.requests[0][1]
    # The lost answer is asked for again: the points are its key.
    assert sent(fake)[1:] == [("POST", "/batches/first/evaluate")] * 2
    assert json.loads(fake.requests[-1][3]) == {"columns": {"x": [1.0, 2.0]}}


def test_a_study_is_made_under_the_key_that_every_program_uses(fake, capsys):
    none = answer(200, [])
    warnings = [{"pointer": "/config/dispersions/x", "detail": "is odd"}]
    made = answer(200, {"batch_id": "new", "total_jobs": 0, "warnings": warnings})
    fake.answers = [none, answer(200, [open_batch("old", status="Completed")]), made, answer(200, {}), answer(200, [open_batch("new")]), done(1.5)]
    f = evaluator_at(fake, budget=7, timeout_s=60)
    assert f([1.0]).tolist() == [1.5]
    assert 'simbatch: inputs["x"]: is odd' in capsys.readouterr().err
    _, _, headers, body = fake.requests[2]
    identity = identity_of("rocket", "1", ["x"], {})
    assert headers["Idempotency-Key"] == f"evaluator-{identity}-1"
    submission = json.loads(body)
    assert submission["labels"] == {"evaluator": identity} and submission["name"] == "rocket 1 evaluator"
    assert submission["config"]["monte_carlo"] == {"runs": 7, "sampling_method": "adaptive", "seed": 0}
    assert submission["config"]["compute"]["job_timeout_seconds"] == 60
    assert submission["config"]["dispersions"] == {"x": {"distribution": {"type": "chosen"}, "units": ""}}


def test_a_study_that_another_program_makes_between_two_looks_is_used_and_no_second_one_is_made(fake):
    fake.answers = [answer(200, []), answer(200, [open_batch("theirs")]), done(1.5)]
    assert evaluator_at(fake)([[1.0]]).tolist() == [[1.5]]
    assert ("POST", "/jobs") not in sent(fake) and sent(fake)[-1] == ("POST", "/batches/theirs/evaluate")


def test_another_study_takes_the_points_when_one_is_closed_gone_or_full(fake):
    lists = [answer(200, [open_batch(name)]) for name in ("a", "b", "c", "d")]
    fake.answers = [
        lists[0], problem(409, "study-closed"), lists[1], problem(404, "unknown-batch"), lists[2], problem(409, "budget-exhausted"),
        answer(200, {"batch": open_batch("c")}), answer(200, open_batch("c", closed=True)), lists[3], done(1.5),
    ]  # fmt: skip
    assert evaluator_at(fake)([[1.0]]).tolist() == [[1.5]]
    assert ("POST", "/batches/c/close") in sent(fake) and sent(fake)[-1] == ("POST", "/batches/d/evaluate")
    # A study without rounds is as large as the next one would be: the refusal is the user's.
    fake.answers = [answer(200, [open_batch("e", rounds=0)]), problem(409, "budget-exhausted"), answer(200, {"batch": open_batch("e", rounds=0)})]
    with pytest.raises(sb.ApiError, match="budget-exhausted"):
        evaluator_at(fake)([[1.0]])


def test_failed_points_are_executed_again_once_a_call(fake):
    waiting = answer(202, {"count": 1, "appended": None, "counts": {"open": 1}, "complete": False})
    fake.answers = [answer(200, [open_batch("a")]), waiting, waiting, done(1.5)]
    f = evaluator_at(fake, retry_failed=True, label="mine", progress=False)
    assert f.one({"x": 1.0}) == {"y": 1.5}
    bodies = [json.loads(body) for method, _, _, body in fake.requests if method == "POST"]
    assert [body.get("retry_failed") for body in bodies][:2] == [True, None] and bodies[0]["label"] == "mine"


def test_a_pickle_has_no_credential_and_finds_the_same_study(fake, folder, monkeypatch):
    for name in ("SVC_TOKEN", "SVC_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    secret = folder / "token"
    secret.write_text("a-secret-of-mine")

    def made(**given):
        return sb.connect(fake.url, retry_s=5, **given).evaluator("rocket", version="1", inputs=["x"], outputs=["y"], failed="raise", budget=7)

    f = made(token_file=secret)
    data = pickle.dumps(f)
    assert b"a-secret" not in data
    g = pickle.loads(data)
    fake.answers = [answer(200, []), answer(200, []), answer(200, {"batch_id": "a"}), answer(200, {}), answer(200, [open_batch("a")]), done(1.5)]
    assert g([[1.0]]).tolist() == [[1.5]] and (g.inputs, g.outputs, repr(g)) == (f.inputs, f.outputs, repr(f))
    submission = next(json.loads(body) for method, path, _, body in fake.requests if (method, path) == ("POST", "/jobs"))
    assert submission["config"]["monte_carlo"]["runs"] == 7 and set(submission["labels"]) == {"evaluator"}
    assert all(headers["Authorization"] == "Bearer a-secret-of-mine" for _, _, headers, _ in fake.requests)
    monkeypatch.setenv("SVC_TOKEN", "of-the-environment")
    assert b"of-the-env" not in pickle.dumps(made())
    with pytest.raises(TypeError, match="given as token= cannot be pickled.*token_file="):
        pickle.dumps(made(token="a-secret-of-mine"))
    with pytest.raises(TypeError, match="noise=True cannot be pickled"):
        pickle.dumps(sb.connect(fake.url).evaluator("rocket", version="1", inputs=["x"], noise=True))


# By the real program.


def measured(p, run):
    if p["x"] > 3:
        raise ValueError("too far")
    with open(Path(os.environ["SIM_COUNT"]) / "executed", "a") as file:
        file.write(f"{p['x']!r}\n")
    return {"y": p["x"] ** 2 + p["c"], "twice": 2 * p["x"], "seed": run.random_seed, "note": "text"}


def study(folder, **changes):
    arguments = {"inputs": {"x": sb.Chosen(upper=9), "c": 1.0}, "retries": 0, "environment": {"SIM_COUNT": str(folder)}, **changes}
    return sb.Study("measured", simulation=measured, **arguments)


def executed(folder):
    return sorted(float(line) for line in (folder / "executed").read_text().split())


@pytest.fixture
def posix():
    if sys.platform == "win32":
        pytest.skip("needs POSIX")
    package("cloudpickle")
    package("numpy")


@pytest.fixture
def local(posix, lab):
    return lab


@pytest.fixture
def alone(posix, program, folder):
    """A folder without a coordinator."""
    return folder


def test_points_are_executed_once_and_come_back_in_order(local, capsys):
    f = study(local).evaluator(workers=2, outputs=["twice", "y"])
    Y = f([[2.0], [1.0], [4.0], [2.0]])
    assert Y.shape == (4, 2) and Y[[0, 1, 3]].tolist() == [[4, 5], [2, 2], [4, 5]] and all(map(math.isnan, Y[2]))
    assert f.cached == 1 and [(one.row, one.class_) for one in f.failures] == [(2, "crashed")] and "too far" in str(f.failures[0])
    # The same points from other forms, another evaluator, and each way to ask: nothing is executed.
    g = study(local).evaluator(workers=2)
    assert g([1.0]).tolist() == [2, 2, pytest.approx(g([1.0])[2])] and g.outputs == ("y", "twice", "seed") and g.cached == 1
    assert g.batch.id == f.batch.id
    pandas = package("pandas")
    assert f(pandas.DataFrame({"x": [1.0]})).tolist() == [[2, 2]] and f({"x": [1, 2]}).tolist() == [[2, 2], [4, 5]]
    single = study(local).evaluator(workers=2, outputs=["y"])
    assert single.map(None, [1.0, [2.0]]) == [2, 5] and single.one({"x": 2}) == {"y": 5}
    assert [one.result(PATIENCE_S).tolist() for one in f.submit([[2.0], [1.0]])] == [[4, 5], [2, 2]]
    assert executed(local) == [1, 2]
    assert f([]).shape == (0, 2)

    with pytest.raises(sb.EvaluationError, match="1 of 2 points failed; the first: row 1") as caught:
        study(local).evaluator(workers=2, outputs=["y"], failed="raise")([[1.0], [4.0]])
    assert caught.value.values[0].tolist() == [2] and len(caught.value.failures) == 1
    with pytest.raises(sb.EvaluationError, match="outputs has 'twce', which no run reports; .* did you mean 'twice'"):
        study(local).evaluator(workers=2, outputs=["twce"])([[1.0]])
    with pytest.raises(sb.EvaluationError, match="no point has an output to learn from"):
        study(local).evaluator(workers=2)([[4.0]])
    with pytest.raises(ValueError, match="map needs an evaluator with one output"):
        f.map(None, [1.0])
    for bad, words in (([[math.nan]], r'X\[0\]\["x"\] must be finite'), ([[1, 2]], "must have 1 numbers"), ([[1], [10]], r'X\[1\]\["x"\]: is 10')):
        with pytest.raises((ValueError, sb.ApiError), match=words):
            f(bad)
    assert executed(local) == [1, 2]

    # Another function, another number: another study.
    assert study(local, inputs={"x": sb.Chosen(upper=9), "c": 2.0}).evaluator(workers=2).batch.id != f.batch.id
    f.batch.close()
    assert f([[1.0]]).tolist() == [[2, 2]] and f.cached == 1
    assert f([[1.0], [0.5]]).tolist() == [[2, 2], [1, 1.25]] and f.cached == 0
    assert f.batch.id != g.batch.id and executed(local) == [0.5, 1, 1, 2]


def test_processes_that_get_the_evaluator_share_its_points(local):
    f = study(local).evaluator(workers=2, outputs=["y"], progress=False)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = pool.map(f, [[[1.0], [2.0]], [[2.0], [3.0]], [[1.0]]], chunksize=1)
    assert [values[:, 0].tolist() for values in found] == [[2, 5], [5, 10], [2]]
    assert f([[3.0], [2.0], [1.0]])[:, 0].tolist() == [10, 5, 2] and f.cached == 3
    assert executed(local) == [1, 2, 3]


def test_noise_has_a_run_for_every_row_and_the_same_runs_for_a_repeated_program(local):
    f = study(local).evaluator(workers=2, outputs=["seed"], noise=True)
    first, second = f([[1.0], [1.0]]), f([[1.0], [1.0]])
    assert len({*first[:, 0], *second[:, 0]}) == 4 and f.cached == 0
    again = study(local).evaluator(workers=2, outputs=["seed"], noise=True)
    assert again([[1.0], [1.0]]).tolist() == first.tolist() and again.cached == 2
    assert asyncio.run(again.evaluate([[1.0], [1.0]])).tolist() == second.tolist()
    assert executed(local) == [1, 1, 1, 1]
    with pytest.raises(ValueError, match="submit has no place for noise=True"):
        f.submit([[1.0]])


def test_threads_programs_and_coroutines_ask_for_the_same_points_at_once(local):
    f = study(local).evaluator(workers=2, outputs=["y"])
    other = study(local).evaluator(workers=2, outputs=["y"])
    points = [[i / 8] for i in range(16)]
    expected = [[x * x + 1] for (x,) in points]
    start, found = threading.Barrier(24), []

    def ask(number):
        start.wait()
        found.append((f if number % 2 else other)(points if number % 3 else points[::-1]).tolist())

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert len(found) == 24 and all(one in (expected, expected[::-1]) for one in found)

    async def gather():
        return await asyncio.gather(*(f.evaluate([[x / 8]]) for x in range(20)))

    assert [one.tolist() for one in asyncio.run(gather())] == [[[(x / 8) ** 2 + 1]] for x in range(20)]
    futures = [one for x in range(24) for one in f.submit([[x / 8], [x / 8]])]
    values = [one.result(PATIENCE_S)[0] for one in concurrent.futures.as_completed(futures, PATIENCE_S)]
    assert sorted(values) == sorted(2 * [(x / 8) ** 2 + 1 for x in range(24)])
    assert executed(local) == [x / 8 for x in range(24)]
    assert len(f.batch.rows(columns=["run_id"])) == 24


@pytest.fixture
def coordinator(alone):
    """A coordinator without a runner."""
    site = Site(alone, "scipy", 1, 0)
    site.start("coordinator")
    yield sb.connect(site.url, retry_s=60)
    site.end()


def test_any_number_of_rows_is_appended_and_a_cancelled_study_is_left(coordinator):
    f = coordinator.evaluator("rocket", version="1", inputs=["x"], outputs=["y"])
    points = [[float(i)] for i in range(10_001)]
    futures = f.submit([*points, [0.0]])
    first = f.batch
    assert [one.count for one in first.rounds()] == [10_000, 1] and len(futures) == 10_002
    # Another program with the same simulation finds the study, whatever the order of its inputs and its outputs.
    same = coordinator.evaluator("rocket", version="1", inputs=["x"], budget=5)
    assert same.batch.id == first.id and coordinator.evaluator("rocket", version="2", inputs=["x"]).batch.id != first.id
    first.cancel()
    assert all(math.isnan(one.result(PATIENCE_S)[0]) for one in futures)
    assert f([[5.0]]).tolist() == [[pytest.approx(math.nan, nan_ok=True)]] and f.failures[0].class_ == "cancelled"
    # The points of the cancelled study are left with it: the next call asks another one.
    small = coordinator.evaluator("rocket", version="1", inputs=["x"], budget=2)
    assert f.batch.id == small.batch.id != first.id
    small.batch.cancel()
    other = coordinator.evaluator("rocket", version="1", inputs=["x"], budget=2)
    with pytest.raises(sb.ApiError, match="budget-exhausted.* the round has 3 runs, and 2 of the 2 runs of the study are left"):
        other([[1.0], [2.0], [3.0]])


ROCKET = """
import os
import simbatch

run = simbatch.run()
with open(os.path.join(os.environ["SIM_NOTES"], "executed"), "a") as file:
    file.write(f"{run.parameters['mass']!r}\\n")
run.result(y=run.parameters["mass"] * 10 + run.parameters["cd"] + run.parameters["wind"])
"""


def address_of_bridge(log):
    """Waits until the bridge says where it listens."""
    end = time.monotonic() + PATIENCE_S
    while (said := re.search(r" is at (http://\S+);", log.read_text())) is None:
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.05)
    return said[1]


def test_the_command_line_the_bridge_and_python_share_one_study(alone, monkeypatch):
    (alone / "rocket.py").write_text(ROCKET)
    (alone / "x.csv").write_text("cd,mass\n0.5,1\n0.5,2\n")
    site = Site(alone, "scipy", 1, 0)
    site.commands["runner"] += ["--entrypoint", f"rocket={alone / 'rocket.py'}", "--environment-inherited", "SIM_NOTES"]
    monkeypatch.setenv("SIM_NOTES", str(alone))
    named = ["--version", "1.4", "--outputs", "y", "--fixed", "wind=0.25", "--endpoint", site.url]
    bridge = ["bridge", "--simulation", "rocket", "--inputs", "mass,cd", "--port", "0", *named]
    site.commands["bridge"], site.starts["bridge"] = [*find_program(), *bridge], 0
    try:
        site.start("coordinator")
        site.start("runner")
        site.start("bridge")
        f = sb.connect(site.url, retry_s=60).evaluator("rocket", version="1.4", inputs=["mass", "cd"], outputs=["y"], fixed={"wind": 0.25})
        assert f([[1.0, 0.5], [3.0, 0.5]]).tolist() == [[10.75], [30.75]]
        ended = simbatch(["evaluate", "rocket", "--points", str(alone / "x.csv"), "-o", "csv", *named])
        assert [row["y"] for row in csv.DictReader(ended.stdout.splitlines())] == ["10.75", "20.75"], ended.stdout + ended.stderr
        model = Transport(address_of_bridge(alone / "bridge.log"), retry_s=60)
        for mass, expected in ((2.0, 20.75), (4.0, 40.75)):
            asked = {"name": "rocket", "input": [[mass, 0.5]], "config": {}}
            assert model.post("/Evaluate", asked, repeat=True) == {"output": [[expected]]}
        assert f([[4.0, 0.5], [2.0, 0.5]]).tolist() == [[40.75], [20.75]] and f.cached == 2
        assert executed(alone) == [1, 2, 3, 4]
        assert [one.id for one in sb.connect(site.url).batches()] == [f.batch.id]
    finally:
        site.end()
