"""Rows in the forms of other tools, and what a coordinator is asked."""

import json

import pytest

import simbatch as sb
from simbatch.points.rows import columns_of_rows

from .conftest import package

EXPECTED = {"x": [1.5, 2.0, -0.0], "y": [0, 1, 2]}


def test_every_form_of_rows_gives_the_same_columns():
    numpy, pandas, polars, arrow = (package(name) for name in ("numpy", "pandas", "polars", "pyarrow"))
    forms = [
        EXPECTED,
        {name: numpy.array(column) for name, column in EXPECTED.items()},
        [{"x": 1.5, "y": 0}, {"y": 1, "x": 2.0}, {"x": -0.0, "y": 2}],
        [{"x": numpy.float64(1.5), "y": numpy.int64(0)}, {"x": 2.0, "y": 1}, {"x": -0.0, "y": 2}],
        [(1.5, 0), [2.0, 1], (-0.0, 2)],
        numpy.array([[1.5, 0], [2.0, 1], [-0.0, 2]]),
        pandas.DataFrame(EXPECTED),
        polars.DataFrame(EXPECTED),
        arrow.table(EXPECTED),
    ]
    for form in forms:
        made = columns_of_rows(form, ["x", "y"])
        assert made == EXPECTED
        # The sign of zero is a part of a row, and numbers are Python's own.
        assert json.dumps(made["x"]) == "[1.5, 2.0, -0.0]" and {type(value) for value in made["y"]} <= {int, float}


@pytest.mark.parametrize(
    "rows, words",
    [
        ([{"x": 1}, {"x": float("nan")}], r'rows\[1\]\["x"\] must be finite, not nan'),
        ([[1.0, float("inf")]], r'rows\[0\]\["y"\] must be finite, not inf'),
        ([{"x": "1"}], r'rows\[0\]\["x"\] must be a number, not \'1\''),
        ([{"x": True}], r'rows\[0\]\["x"\] must be a number, not True'),
        ([{"x": 1}, {"z": 1}], r"rows\[1\] must have the names of rows\[0\]; the difference: x, z"),
        ([{"x": 1}, [1]], "rows must be mappings of names to numbers, all of them"),
        ([[1, 2, 3]], r"rows\[0\] must have 2 numbers \(x, y\), not 3"),
        ([1, 2], r"rows\[0\] must be a list, not 1"),
        ({"x": 1}, r'rows\["x"\] must be a list, not 1'),
        ("12", "rows must be a list, not '12'"),
        (3, "rows must be a list, not 3"),
    ],
)
def test_a_wrong_row_is_named(rows, words):
    with pytest.raises((TypeError, ValueError), match=words):
        columns_of_rows(rows, ["x", "y"])


def test_a_product_has_every_design_with_every_draw():
    assert sb.product([{"x": 1}, {"x": 2}], range(3)) == ([{"x": 1}] * 3 + [{"x": 2}] * 3, [0, 1, 2, 0, 1, 2])
    assert sb.product({"x": [1, 2]}, (4, 9)) == ({"x": [1, 1, 2, 2]}, [4, 9, 4, 9])
    assert sb.product([[1, 5], [2, 6]], [7]) == ([[1, 5], [2, 6]], [7, 7])
    with pytest.raises(ValueError, match=r"draws\[1\] must be a whole number from 0, not -1"):
        sb.product([[1]], [0, -1])


def answer(status, body, kind="application/json"):
    return (status, {"Content-Type": kind}, json.dumps(body).encode())


def batch_at(fake):
    return sb.Batch(sb.connect(fake.url, retry_s=5), "b", {"id": "b", "name": "n", "status": "Running"})


APPENDED = {"round": 4, "first_run_id": 12, "count": 2, "run_ids": "12-13", "digest": "ab", "repeated": False}


def test_an_append_is_repeated_after_a_lost_answer(fake):
    fake.answers = [None, answer(200, {**APPENDED, "repeated": True})]
    made = batch_at(fake).append({"x": [1.0, 2.0]}, [None, 3], key="k", label="l", note="n")
    assert (made.number, made.first_run_id, made.count, made.run_ids, made.digest) == (4, 12, 2, "12-13", "ab")
    assert (made.key, made.label, made.note, made.repeated) == ("k", "l", "n", True)
    bodies = [json.loads(body) for _, _, _, body in fake.requests]
    assert bodies == [{"columns": {"x": [1.0, 2.0]}, "draws": [None, 3], "key": "k", "label": "l", "note": "n"}] * 2


def test_a_refused_row_has_the_name_of_its_argument(fake):
    faults = [
        {"pointer": "/columns/a~1b/3", "detail": "is 7"}, {"pointer": "/draws/1", "detail": "is 8"}, {"pointer": "/columns/c", "detail": "no"},
    ]  # fmt: skip
    problem = {"code": "invalid-request", "detail": "the request has faults", "errors": faults}
    fake.answers = [answer(422, problem, "application/problem+json")]
    with pytest.raises(sb.ApiError) as caught:
        batch_at(fake).append({"x": [1.0]}, key="k")
    assert [fault.argument for fault in caught.value.faults] == ['rows[3]["a/b"]', "draws[1]", 'rows["c"]']


def test_a_round_needs_a_name_and_an_array_needs_an_order(fake):
    fake.answers = [answer(200, {"config": {"dispersions": {"1": {"distribution": {"type": "chosen"}}}}})]
    batch = batch_at(fake)
    with pytest.raises(TypeError, match="key is missing"):
        batch.append([[1.0]])
    with pytest.raises(TypeError, match="rows must have names"):
        batch.append([[1.0]], key="k")


def test_the_wait_for_a_round_ends_with_its_time_and_with_failed_canary_runs(fake):
    open_round = answer(202, {"round": 4, "counts": {"open": 2}, "complete": False})
    state = {"batch": {"id": "b", "name": "n", "status": "Running"}}
    one = batch_at(fake)
    fake.answers = [answer(201, APPENDED), open_round, answer(200, state), open_round]
    made = one.append({"x": [1.0, 2.0]}, key="k")
    with pytest.raises(TimeoutError, match="round 4 has not ended after 0 s; it continues"):
        made.wait(0)
    with pytest.raises(sb.NotReadyError, match="round 4 has 2 of 2 runs open"):
        made.results(wait=False)
    fake.answers = [open_round, answer(200, {"batch": {**state["batch"], "canary_failed": True}})]
    with pytest.raises(sb.NotReadyError, match="the canary runs of study b have failed"):
        made.wait(20)
