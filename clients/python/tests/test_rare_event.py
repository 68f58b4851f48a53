"""Studies of rare events on this machine, by the real program."""

import math
import sys

import pytest

import simbatch as sb

from .conftest import package

PATIENCE_S = 300

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")


def margin(p):
    return {"margin": 3.5 - (p["a"] + p["b"]) / math.sqrt(2)}


def study(**changes):
    inputs = {"a": sb.Normal(0, 1), "b": sb.Normal(0, 1)}
    requirements = [sb.Requirement("margin", "> 0", probability=0.99, name="holds")]
    sizes = {"population": 100, "tune_runs": 50, "confirm_runs": 200}
    arguments = {"simulation": margin, "inputs": inputs, "method": "rare_event", "requirements": requirements, "seed": 1, "rare": sizes}
    return sb.Study("rare", **{**arguments, **changes})


def test_a_study_says_what_it_looks_for():
    one = study(requirement="holds")
    config = one.submission()["config"]
    assert config["monte_carlo"]["sampling_method"] == "adaptive" and config["monte_carlo"]["runs"] == 0
    assert config["adaptive"] == {"algorithm": "rare_event", "requirement": "holds", "population": 100, "tune_runs": 50, "confirm_runs": 200}
    assert "as many runs as it needs" in repr(one)
    with pytest.raises(ValueError, match="rare is for studies with method"):
        study(method="sobol", runs=8)


def test_a_rare_violation_is_bounded_by_one_study_and_by_two(lab):
    package("cloudpickle")
    batch = study(isolation="shared").run(workers=2).wait(PATIENCE_S, progress=False)
    answer = batch.rare_event(combined=False)
    assert (answer["phase"], answer["reason"], answer["experimental"]) == ("ended", "confirmed", True)
    # The truth is 2.33e-4.
    assert answer["lower"] < 2.33e-4 < answer["upper"] < answer["direct"]["upper"]
    assert "in the regions found" in repr(answer) and "rare-one-study" in [one["code"] for one in answer["warnings"]]
    lines = repr(answer).splitlines()
    assert [line.split("  ")[0] for line in lines[1:4]] == ["violations", "in the regions found", "anywhere"]
    assert len([line for line in lines if "one study" in line]) == 1 and "confirmed" not in lines
    (second,) = batch.repeats
    assert second.ended and second.name == "rare (study 2)"
    both = batch.rare_event()
    assert both["studies"] == [batch.id, second.id] == second.rare_event()["studies"]
    assert both["lower"] == min(answer["lower"], second.rare_event(combined=False)["lower"])
    assert "rare-one-study" not in [one["code"] for one in both["warnings"]]
    more = batch.extend(300)
    assert more.id == batch.id and not more.ended
    later = more.wait(PATIENCE_S, progress=False).rare_event()
    assert (later["reason"], later["runs"]) == ("confirmed", both["runs"] + 600)
    assert both["lower"] < later["lower"] < 2.33e-4 < later["upper"] < both["upper"]
    alone = study(isolation="shared", seed=3, rare={"population": 100, "tune_runs": 50, "confirm_runs": 200, "studies": 1})
    third = alone.run(workers=2).wait(PATIENCE_S, progress=False)
    assert third.repeats == [] and third.rare_event()["studies"] == [third.id]
    assert batch.rare_event(third)["studies"] == [batch.id, third.id]
    with pytest.raises(sb.ApiError, match="same seed"):
        batch.rare_event(batch)
