"""The telemetry of a running run, as the client shows it."""

import json

import pytest

import simbatch as sb
from simbatch.api.transport import Transport
from simbatch.batch.batch import Batch
from simbatch.batch.coordinator import Coordinator

from .conftest import package

BATCH = "01900000-0000-8000-8000-000000000000"
JOB = "01900000-0000-8000-8000-000000000001"
JSON = {"Content-Type": "application/json"}
VIEW = {
    "job_id": JOB,
    "attempt": 1,
    "runner_id": "r1",
    "samples": 9,
    "refused": 1,
    "lost": 2,
    "omitted": 3,
    "variables": [
        {"name": "h", "samples": 9, "not_finite": 0, "reversals": 0, "time_s": [0, 0.5, 1], "values": [5, -1, 4]},
        {"name": "__proto__", "samples": 4, "not_finite": 4, "reversals": 0, "time_s": [], "values": []},
    ],
    "conditions": [
        {"variable": "h", "condition": "< -9", "threshold": -9},
        {"variable": "q", "condition": "> 1", "threshold": 1},
    ],
    "shadow": False,
}


def run_of(fake, status, value):
    fake.answers = [(200, JSON, json.dumps([{"id": JOB, "status": "Running"}]).encode())]
    fake.answers.append((status, JSON, json.dumps(value).encode()))
    return Batch(Coordinator(Transport(fake.url, retry_s=0)), BATCH).run(0)


def test_a_view_has_its_points_and_says_what_it_lacks(fake):
    view = run_of(fake, 200, VIEW).live_telemetry()
    assert fake.requests[-1][1] == f"/jobs/{JOB}/telemetry/live"
    assert view["variables"][0]["values"] == [5, -1, 4]
    assert view.sentence == (
        "3 of 13 values, down-sampled; no number of q has come, so > 1 has judged nothing; 3 more variables have no place; "
        "2 samples were lost; 1 samples were refused; 4 values are NaN or infinite and not among the points"
    )
    assert view.rows()[0] == {"name": "h", "samples": 9, "points": 3, "latest": 4, "least": -1, "greatest": 5}
    assert view.rows()[1]["latest"] is None
    assert "down-sampled" in repr(view) and "__proto__" in view._repr_html_()


def test_a_time_that_ran_backwards_leaves_the_latest_value_open(fake):
    view = run_of(fake, 200, {**VIEW, "variables": [{**VIEW["variables"][0], "reversals": 2}]}).live_telemetry()
    assert view.rows()[0]["latest"] is None
    assert view.sentence.endswith("the time of h ran backwards 2 times, so its latest value is unknown")


def test_a_view_is_a_frame_of_its_points(fake):
    package("pandas")
    frame = run_of(fake, 200, VIEW).live_telemetry().frame()
    assert frame.to_dict("list") == {"variable": ["h"] * 3, "time_s": [0, 0.5, 1], "value": [5, -1, 4]}


def test_a_run_without_a_view_says_why(fake):
    problem = {"code": "live-telemetry-off", "detail": "config.telemetry.live is not true", "status": 409, "title": "x"}
    with pytest.raises(sb.ApiError, match="config.telemetry.live is not true") as caught:
        run_of(fake, 409, problem).live_telemetry()
    assert caught.value.code == "live-telemetry-off"


def test_a_study_asks_for_it_with_one_argument():
    assert "live" not in sb.Telemetry().member()
    assert sb.Telemetry(live=True).member()["live"] is True
