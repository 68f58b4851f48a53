"""Adaptive studies on this machine: rounds that are appended as results come in, by the real program."""

import itertools
import sys

import pytest

import simbatch as sb
from simbatch.evaluator.identity import digest_of_rows

from .conftest import package

PATIENCE_S = 120

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")


def throat(p, run):
    if p["r"] > 0.39:
        raise ValueError("too wide")
    return {"loss": (p["r"] - 0.2) ** 2 + 0.001 * p["wind"], "draw": run.metadata["draw"]}


def study(**changes):
    inputs = {"r": sb.Chosen(0.1, 0.4, units="m"), "wind": sb.Normal(0, 3)}
    arguments = {"simulation": throat, "inputs": inputs, "method": "adaptive", "runs": 40, "seed": 7, "retries": 0}
    return sb.Study("nozzle", **{**arguments, **changes})


@pytest.fixture
def local(lab):
    package("cloudpickle")
    return lab


def test_rounds_are_appended_once_and_their_results_are_in_order(local):
    one = study()
    batch = one.run(workers=2)
    assert "waiting for rows" in repr(batch) and batch.wait() is batch
    rows = [{"r": 0.22}, {"r": 0.4}, {"r": 0.25}]
    first = batch.append(rows, key="generation-0", label="start")
    found = first.wait(PATIENCE_S)
    assert [(row["run_id"], row["class"], row["parameters.r"]) for row in found] == [(0, "ok", 0.22), (1, "crashed", 0.4), (2, "ok", 0.25)]
    assert found[1]["outputs.loss"] is None and "too wide" in found[1]["error"] and found[0]["error"] is None
    assert (first.counts, first.complete, first.repeated) == ({"ok": 2, "crashed": 1}, True, False)

    assert first.digest == digest_of_rows({"r": [0.22, 0.4, 0.25]})

    # The same cell again, and the same study opened by its id.
    again = study().run(workers=2)
    assert again.id == batch.id
    for other in (again.append([[0.22], [0.4], [0.25]], key="generation-0"), sb.open(batch.id).append({"r": [0.22, 0.4, 0.25]}, round=0)):
        assert (other.repeated, other.number, other.digest, other.wait()) == (True, 0, first.digest, found)
    with pytest.raises(sb.ApiError, match="row 0 differs first") as refused:
        batch.append([[0.23], [0.4], [0.25]], key="generation-0")
    assert (refused.value.code, refused.value.faults[0].argument) == ("round-key-reused", 'rows[0]["r"]')

    # Common random numbers: the wind is that of the draws; a trial here has the same.
    common = batch.append(*sb.product([[0.2], [0.3]], range(3)), key="generation/1").results()
    assert [row["draw"] for row in common] == [0, 1, 2, 0, 1, 2] == [row["outputs.draw"] for row in common]
    assert [row["parameters.wind"] for row in common[:3]] == [row["parameters.wind"] for row in found]
    assert one.try_run(2, row={"r": 0.3}).outputs["loss"] == common[5]["outputs.loss"]
    assert batch.run(8).replay().outputs == {"loss": common[5]["outputs.loss"], "draw": 2}

    assert [(r.number, r.key, r.run_ids, r.label) for r in batch.rounds()] == [(0, "generation-0", "0-2", "start"), (1, "generation/1", "3-8", None)]
    assert [r.number for r in batch.rounds(1)] == [1]
    assert batch.round("generation/1").number == 1 == batch.round(1).number
    assert "generation/1" in batch._repr_html_() and "2 rounds, 31 runs of the budget left, waiting for rows" in repr(batch)
    assert "round 1 'generation/1': runs 3-8, complete" in repr(batch.round(1))
    assert "generation-0" in repr(batch.rounds()) and "<table>" in batch.rounds()._repr_html_()

    with pytest.raises(sb.ApiError, match="budget-exhausted"):
        batch.append([[0.2]] * 32, key="large")
    with pytest.raises(sb.ApiError, match=r'rows\[1\]\["r"\]: is 0.5; the upper bound is 0.4'):
        batch.append([[0.2], [0.5]], key="wide")
    assert batch.close().close().wait(PATIENCE_S).status == "Completed"
    assert ", closed" in repr(batch)
    with pytest.raises(sb.ApiError, match="study-closed"):
        batch.append([[0.2]], key="late")
    assert batch.append(rows, key="generation-0").repeated


def test_a_study_that_is_not_adaptive_takes_no_rounds_and_a_chosen_input_needs_one(local):
    with pytest.raises(sb.StudyError, match=r'inputs\["r"\].type: is "chosen", which only an adaptive study has'):
        study(method="monte_carlo").run()
    with pytest.raises(sb.ApiError, match="not-external"):
        study(method="monte_carlo", inputs={"r": 0.2, "wind": 1}, runs=1).run(workers=1).append([[]], key="k")
    with pytest.raises(ValueError, match="row must give the chosen inputs of the study"):
        study().try_run()


class Golden:
    """A search that knows its place only from the results that it takes."""

    def __init__(self, size):
        self.size, self.taken = size, []

    def ask(self, number):
        best = min((row["outputs.loss"], row["parameters.r"]) for row in self.taken)[1] if self.taken else 0.25
        return [[best + shift / (number + 1)] for shift in (-0.1, 0.0, 0.1)]

    def tell(self, made, rows):
        self.taken += rows

    def stop(self):
        return len(self.taken) >= self.size


@pytest.mark.parametrize("repeatable", [False, True])
def test_the_loop_continues_where_it_was_after_an_end_at_every_step(local, repeatable):
    smooth = study(simulation=lambda p: {"loss": (p["r"] - 0.2) ** 2}, inputs={"r": sb.Chosen(0, 1)})
    undisturbed = smooth.run(workers=2)
    whole = Golden(12)
    assert sb.tell_and_ask(undisturbed, whole.ask, whole.tell, whole.stop, repeatable=repeatable) == 4
    killed = smooth.run(workers=2, again=True)

    class Killed(BaseException):
        pass

    for step in itertools.count(1):
        left, fresh = [step], Golden(12)

        def dies(call):
            def called(*arguments):
                left[0] -= 1
                if left[0] < 0:
                    raise Killed
                return call(*arguments)

            return called

        try:
            sb.tell_and_ask(killed, dies(fresh.ask), dies(fresh.tell), dies(fresh.stop), repeatable=repeatable)
            break
        except Killed:
            assert step < 20
    assert step > 4 and killed.rows(columns=["run_id", "parameters.r", "outputs.loss"]) == undisturbed.rows(
        columns=["run_id", "parameters.r", "outputs.loss"]
    )
    assert fresh.taken == whole.taken
    with pytest.raises(TypeError, match="not a tuple of 3"):
        sb.tell_and_ask(killed, lambda number: (1, 2, 3), whole.tell)
    assert sb.tell_and_ask(killed, lambda number: None, lambda made, rows: None) == 4
