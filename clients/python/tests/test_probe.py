"""Probes of studies whose simulations are functions, with a coordinator and a runner on this machine."""

import pytest

import simbatch as sb


def wired(p):
    return {"y": p["a"] + 2 * p["b"] * p["g"]}


def misspelt(p):
    return {"y": p["a"] + p.get("c", 0.0)}


def random(p, run):
    import random

    return {"y": p["a"] + random.Random(run.metadata["draw"]).random()}


def noisy(p, run):
    return {"y": p["a"] + run.random_seed}


def study(function, **changes):
    inputs = {"a": sb.Uniform(0, 1), "b": sb.Normal(0, 1), "g": 9.81}
    return sb.Study("probed", **{"simulation": function, "inputs": inputs, "runs": 50, **changes})


def test_an_input_that_the_function_never_reads_is_found_and_a_wired_one_is_not(lab):
    probe = study(misspelt).probe(workers=2)
    assert (probe.never_read, probe.without_effect) == (["b"], ["b"])
    assert [(one["name"], one["read"], one["effect"]) for one in probe.inputs] == [("a", "read", "some"), ("b", "never", "none")]
    assert repr(probe).splitlines()[0].split() == ["input", "read", "effect", "changes", "at", "low", "/", "high"]
    assert "y -98.000%" in repr(probe)
    honest = study(wired).probe(workers=2, corners=True)
    assert (honest.never_read, honest.without_effect) == ([], [])
    assert honest.nominal["outputs"] == {"y": 0.5}
    assert honest.corners["low"]["changes"][0]["relative"] < 0 < honest.corners["high"]["changes"][0]["relative"]
    # The study itself is another batch than its probe.
    batch = study(wired).run(workers=2)
    assert batch.id != honest.batch_id
    batch.cancel()


def test_the_runs_of_a_probe_have_the_same_draw_and_each_a_random_seed_of_its_own(lab):
    assert study(random).probe(workers=2).without_effect == ["b"]
    assert study(noisy).probe(workers=2).without_effect == []


def test_a_study_that_cannot_be_probed_says_why(lab):
    with pytest.raises(sb.StudyError, match="no dispersed input"):
        study(wired, inputs={"a": 1.0, "b": 2.0, "g": 3.0}).probe(workers=1)
