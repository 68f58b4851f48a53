"""The probe of a study at a coordinator that is named, as one elsewhere is."""

import pytest

import simbatch as sb
from simbatch.local.embedded import embedded


def misspelt(p):
    return {"y": p["a"] + p.get("c", 0.0)}


def test_a_coordinator_elsewhere_executes_a_probe_with_its_token(lab):
    inputs = {"a": sb.Uniform(0, 1), "b": sb.Normal(0, 1), "g": 9.81}
    study = sb.Study("probed", simulation=misspelt, inputs=inputs, runs=50)
    here = study.probe(workers=2, corners=True)
    transport = embedded(".simbatch", keep=False).coordinator().transport
    there = sb.connect(transport.endpoint, token=transport.variables["SVC_TOKEN"])
    probe = there.probe(study, corners=True)
    assert probe.batch_id != here.batch_id
    assert (probe.nominal, probe.inputs, probe.corners) == (here.nominal, here.inputs, here.corners)
    assert there.open(probe.batch_id).status == "Completed"
    with pytest.raises(sb.SimbatchError, match="the study was not probed.*unauthenticated"):
        sb.connect(transport.endpoint).probe(study)
