"""Representations for users: text and HTML without scripts, whatever the names and messages hold."""

import json
import sys
from pathlib import Path

import pytest

import simbatch as sb
from simbatch.batch import answers
from simbatch.batch.batch import Batch
from simbatch.batch.coordinator import Batches
from simbatch.batch.progress import wait
from simbatch.show import estimates, html, svg, text

EVIL = '<script>alert("x")</script>'
BATCH = {
    "id": "01a200b3-7a0f-8ac4-87eb-ba1200000000", "name": EVIL, "status": "Running", "total_jobs": 4, "completed_jobs": 1,
    "failed_jobs": 1, "created_at": "2026-01-01T00:00:00.000Z",
}  # fmt: skip


def test_every_text_in_html_is_escaped(fake):
    fake.answers = [(404, {"Content-Type": "application/problem+json"}, json.dumps({"code": "unknown-batch", "detail": EVIL}).encode())]
    batch = Batch(sb.connect(fake.url), BATCH["id"], BATCH)
    answer = answers.Sensitivity(
        {"sentence": EVIL, "parameters": [{"name": EVIL, "sobol_cosine": 0.5}], "warnings": [{"code": "a", "message": EVIL}]}
    )
    study = sb.Study(EVIL, simulation=EVIL, version=EVIL, inputs={EVIL: sb.Normal(0, 1, units=EVIL)}, runs=1)
    shown = [batch, Batches([batch]), answer, study, answers.Findings({"findings": [{"code": EVIL, "message": EVIL}]})]
    for one in shown:
        page = one._repr_html_()
        assert "<script" not in page and "&lt;script" in page, type(one)
    assert "<script" not in svg.histogram([1, 2, 3], title=EVIL) and "<script" not in svg.line([(0, 1), (1, 2)], title=EVIL)


def test_a_representation_without_a_coordinator_says_why():
    batch = Batch(sb.connect("http://127.0.0.1:1", retry_s=0), BATCH["id"])
    assert "no answer from http://127.0.0.1:1" in repr(batch)
    assert "no answer from" in batch._repr_html_()


def test_runs_that_were_not_executed_are_counted():
    batch = Batch(sb.connect("http://127.0.0.1:1", retry_s=0), BATCH["id"], {**BATCH, "reused_jobs": 1})
    assert batch.reused == 1 and "2 of 4 runs ended, 1 failed, 1 reused" in text.batch_title(batch)
    assert Batch(sb.connect("http://127.0.0.1:1", retry_s=0), BATCH["id"], BATCH).reused == 0


def test_a_table_is_aligned_and_bounded():
    shown = text.table(["name", "value"], [["a", 1.23456789], ["bb", 10.0], ["c", None]])
    assert shown.splitlines() == ["name    value", "a     1.23457", "bb         10", "c"]
    assert text.table(["n"], [[k] for k in range(25)]).splitlines()[-1] == "... and 5 more"
    assert html.table_html(["n"], [[k] for k in range(25)]).endswith("<div>... and 5 more</div>")
    assert [text.cell(value) for value in (12000.0, 1234567.0, -3.0, 0.5, float("nan"))] == ["12000", "1234567", "-3", "0.5", "nan"]
    assert [text.cell(value) for value in (True, [1.0, None], {"a": 1}, float("inf"))] == ["yes", "[1, ]", "1 items", "inf"]


def test_estimates_are_written_as_on_the_command_line():
    cases = json.loads((Path(__file__).parents[3] / "test/analysis/data/estimate-texts.json").read_text(encoding="utf-8"))
    for one in cases["quantiles"]:
        assert estimates.quantile_text(one) == one["text"]
    for one in cases["notes"]:
        assert estimates.interval_note(one["outputs"]) == one["text"]
    for one in cases["means"]:
        assert estimates.mean_text(one["mean"], one["interval"]) == one["text"]


def test_a_summary_shows_each_quantile_with_its_interval_and_says_what_it_is():
    quantiles = [{"p": p, "value": 5800.0, "interval": [4648.0, None], "bounds": [5737.0, 6000.0]} for p in (0.01, 0.05, 0.5, 0.95)]
    output = {
        "name": "apogee", "units": "m", "count": 148, "missing": 0, "mean": 6551.0, "mean_interval": [6478.0, 6624.0], "sd": 1.0,
        "min": 0.0, "max": 2.0, "quantiles": quantiles, "tolerance": {"confidence": 0.95},
    }  # fmt: skip
    shown = str(answers.Summary({"sentence": "s", "outputs": [output, {**output, "count": 0}], "warnings": []}))
    lines = shown.splitlines()
    assert lines[1].split()[4:] == ["mean", "sd", "min", "P5", "P50", "P95", "max"] and len(lines) == 4
    assert "6551 ± 73" in lines[2] and lines[2].count("5800 [4648, inf]") == 3
    assert lines[3].startswith("[ ]: 95 % interval of the quantile of all runs, whatever")
    assert "4648" in answers.Summary({"outputs": [output]})._repr_html_()
    mixed = {**output, "mean_interval": None, "quantiles": [{"p": 0.5, "value": 7.0, "interval": [None, None], "bounds": None}]}
    by = [{"scenario": {"wind": wind}, "outputs": [one]} for wind, one in (("calm", output), ("storm", mixed))]
    cells = answers.Summary({"outputs": [output], "by": by})
    assert [(one["wind"], one["name"]) for one in cells.cells()] == [("calm", "apogee"), ("storm", "apogee")]
    lines = str(cells).splitlines()
    assert lines[0].split()[:2] == ["wind", "name"] and [line.split()[0] for line in lines[1:3]] == ["calm", "storm"]


@pytest.mark.parametrize("values", [[1.0], [0.0, 0.0], [1e300, -1e300], list(range(1000)), [float("nan"), 1.0, 2.0]])
def test_a_histogram_counts_every_finite_value(values):
    shown = svg.histogram(values, title="x", limit=0.5)
    assert shown.count("<svg") == 1 and shown.count("<rect") <= 40 and "nan" not in shown and "inf" not in shown


def test_a_limit_is_drawn_for_a_range_too():
    class Study:
        submission = {"requirements": [{"output": "x", "condition": "2500..3200"}, {"output": None, "condition": "< 1"}]}

    assert html._limits(Study()) == {"outputs.x": 3200.0}


def test_plots_without_values_are_left_out():
    assert svg.histogram([float("nan")], title="x") == "" and svg.line([(0, 1)], title="x") == ""


def test_a_progress_line_without_tqdm(fake, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    jobs = {"Pending": 0, "Claimed": 0, "Running": 0, "Completed": 3, "Failed": 1, "Timeout": 0, "Cancelled": 0}
    ended = {**BATCH, "name": "throw", "status": "Completed"}
    fake.answers = [(200, {"Content-Type": "application/json"}, json.dumps({"batch": ended, "jobs_by_status": jobs}).encode())]
    wait(Batch(sb.connect(fake.url), BATCH["id"]), None, True)
    assert capsys.readouterr().err == "throw: 4 of 4 runs, 1 failed\n"


def test_a_wait_is_answered_by_the_coordinator_at_the_end_and_keeps_its_limit(fake):
    jobs = {"Pending": 4, "Claimed": 0, "Running": 0, "Completed": 0, "Failed": 0, "Timeout": 0, "Cancelled": 0}

    def answer(status):
        return 200, {"Content-Type": "application/json"}, json.dumps({"batch": {**BATCH, "status": status}, "jobs_by_status": jobs}).encode()

    fake.answers = [answer("Running"), answer("Running"), answer("Completed")]
    batch = Batch(sb.connect(fake.url), BATCH["id"])
    batch.wait(progress=False)
    path = "/batches/" + BATCH["id"]
    assert [path for _, path, _, _ in fake.requests] == [path, path + "?wait=1", path + "?wait=1"]
    fake.answers, fake.requests = [answer("Running")], []
    with pytest.raises(TimeoutError, match="has not ended after 0.1 s; it continues"):
        batch.wait(0.1, progress=False)
    assert {path for _, path, _, _ in fake.requests} == {path}


def test_a_study_that_does_not_advance_names_what_is_in_its_way(fake, monkeypatch, capsys):
    from simbatch.batch import progress

    monkeypatch.setattr(progress, "_STUCK_S", 0.0)
    jobs = {"Pending": 4, "Claimed": 0, "Running": 0, "Completed": 0, "Failed": 0, "Timeout": 0, "Cancelled": 0}
    state = json.dumps({"batch": {**BATCH, "name": "throw"}, "jobs_by_status": jobs}).encode()
    finding = json.dumps([{"code": "no-runner", "severity": "blocked", "message": "no runner", "remedy": "start one"}]).encode()
    as_json = {"Content-Type": "application/json"}
    fake.answers = [(200, as_json, state), (200, as_json, state), (200, as_json, finding), (200, as_json, state), (200, as_json, finding)]
    fake.answers += [(200, as_json, json.dumps({"batch": {**BATCH, "status": "Cancelled"}, "jobs_by_status": jobs}).encode())]
    fake.answers += [(200, as_json, finding)]
    Batch(sb.connect(fake.url), BATCH["id"]).wait(5, progress=False)
    assert capsys.readouterr().err.count("simbatch: no runner; start one") == 1
