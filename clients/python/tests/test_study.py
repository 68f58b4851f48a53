"""Studies: distributions, arguments, the submission, and faults under the name of their argument."""

import json
import math

import pytest

import simbatch as sb
from simbatch.api.problems import argument_of

from .conftest import package

INPUTS = {"mass": sb.Normal(45, 0.4, units="kg"), "cd": sb.Normal(1, 0.07, lower=0.8, upper=1.2)}


def test_requirements_on_two_sides_and_on_several_outputs():
    study = sb.Study(
        "throw", inputs={"v": sb.Normal(1, 1)}, runs=1, simulation="throw", version="1",
        requirements=[
            sb.Requirement("miss", "-5 .. 5", probability=0.9, name="near"),
            sb.Requirement("speed", "< 7", probability=0.9, name="slow"),
            sb.JointRequirement(["near", "slow"], probability=0.8),
        ],
    )  # fmt: skip
    *_, joint = study.submission()["requirements"]
    assert joint == {"name": "near and slow", "all": ["near", "slow"], "probability": 0.8}
    assert "near and slow in the same run with probability 0.8" in repr(study)
    with pytest.raises(TypeError, match="all must be the names of requirements"):
        sb.JointRequirement("near", probability=0.8).member()


def named(**arguments):
    return sb.Study("recovery", **{"simulation": "rocket", "version": "1", "inputs": INPUTS, "runs": 8, **arguments})


EVERY = [
    (sb.Normal(1, 2, lower=0), {"type": "normal", "mean": 1, "std_dev": 2, "lower": 0}),
    (sb.Uniform(0, 1), {"type": "uniform", "min": 0, "max": 1}),
    (sb.Exponential(2, upper=3), {"type": "exponential", "lambda": 2, "upper": 3}),
    (sb.Gamma(4, 1), {"type": "gamma", "shape": 4, "scale": 1}),
    (sb.Beta(2, 3), {"type": "beta", "alpha": 2, "beta": 3}),
    (sb.Fixed(5), {"type": "fixed", "value": 5}),
    (sb.Lognormal(0, 1), {"type": "lognormal", "mu": 0, "sigma": 1}),
    (sb.Loguniform(1, 10), {"type": "loguniform", "min": 1, "max": 10}),
    (sb.Weibull(2, 1), {"type": "weibull", "shape": 2, "scale": 1}),
    (sb.Triangular(0, 1, 2), {"type": "triangular", "min": 0, "mode": 1, "max": 2}),
    (sb.Discrete({1: 3, 2: 1}), {"type": "discrete", "values": [{"value": 1, "weight": 3}, {"value": 2, "weight": 1}]}),
    (sb.Discrete([7]), {"type": "discrete", "values": [{"value": 7, "weight": 1}]}),
    (sb.Empirical([3, 1, 2]), {"type": "empirical", "data": [3, 1, 2]}),
    (sb.Table([0, 1, 2]), {"type": "table", "values": [0, 1, 2]}),
]


@pytest.mark.parametrize("made, members", EVERY, ids=lambda one: getattr(one, "type", ""))
def test_a_distribution_has_the_members_of_the_contract(made, members):
    assert made.members() == members


def test_every_distribution_of_the_contract_is_accepted_by_the_program(program, folder):
    study = named(inputs={f"p{index}": made for index, (made, _) in enumerate(EVERY)}, runs=3)
    first = study.sample(first=1, count=2)
    assert [one["run_id"] for one in first] == [1, 2]
    assert all(math.isfinite(value) for one in first for value in one["parameters"].values())


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: sb.Normal(1, -1), "Normal.std_dev must be >= 0, not -1"),
        (lambda: sb.Normal(1, "a"), "Normal.std_dev must be a number, not 'a'"),
        (lambda: sb.Normal(float("nan"), 1), "Normal.mean must be finite"),
        (lambda: sb.Normal(1, 1, "kg"), "Normal.lower must be a number, not 'kg'"),
        (lambda: sb.Normal(1, 1, 3, 2), "Normal.lower must be < upper"),
        (lambda: sb.Chosen(2, 1), "Chosen.lower must be < upper"),
        (lambda: sb.Uniform(2, 1), "Uniform.min must be <= max"),
        (lambda: sb.Triangular(0, 3, 2), "Triangular.mode must be from min"),
        (lambda: sb.Discrete({1: 0}), "the weight of 1 must be > 0"),
        (lambda: sb.Discrete([]), "1 to 10,000 values, not 0"),
        (lambda: sb.Empirical([1]), "2 to 100,000 numbers, not 1"),
        (lambda: sb.Empirical("12"), "must be a list of numbers, not str"),
        (lambda: sb.Exponential(True), "must be a number, not True"),
        (lambda: named(inputs={"mass": "heavy"}), r'inputs\["mass"\]: must be a distribution'),
        (lambda: named(runs=2.5), "runs must be an integer, not 2.5"),
        (lambda: named(runs=-1), "runs must be at least 0"),
        (lambda: named(method="hypercube"), "method must be one of .*sobol"),
        (lambda: named(version=None), "version is missing"),
        (lambda: named(simulation=3), "simulation must be a function or the name"),
        (lambda: named(correlations={("mass", "cdd"): 0.3}), r'correlations\["mass", "cdd"\]: \'cdd\' is not among the inputs'),
        (lambda: named(correlations={("mass", "cd"): 1}), "must be above -1 and below 1"),
        (lambda: named(correlations={"mass": 0.3}), "pairs of input names as keys"),
        (lambda: named(requirements=["miss < 50"]), "requirements must be of simbatch.Requirement"),
        (lambda: sb.Study("", simulation="a", version="1", inputs={}, runs=1), "name must have 1 to 200 characters"),
        (lambda: sb.Study("x", simulation=lambda p: {}, inputs={}, runs=1, entrypoint="sim.py"), "this one is a function"),
    ],
)
def test_a_wrong_argument_is_named(make, words):
    with pytest.raises((TypeError, ValueError), match=words):
        make()


def test_the_submission_has_every_argument():
    study = named(
        correlations={("mass", "cd"): 0.3},
        method="sobol",
        seed=42,
        run_ids="0-3",
        replicate=1,
        requirements=[sb.Requirement("miss_m", "< 50", probability=0.9973, confidence=0.9, look="continuous")],
        outputs={"miss_m": "m"},
        early_termination=sb.EarlyTermination([sb.Rule("h", "< -1", "crash")], shadow=True, check_hz=5),
        telemetry=sb.Telemetry(rate_hz=10, variables=["h"], flush_s=1, compression="gzip"),
        policy=sb.Policy(canary_runs=2, max_failures="5%", priority=3, stop_when="settled"),
        cpu="500m",
        memory="1Gi",
        cpu_limit="1",
        memory_limit="2Gi",
        timeout_s=60,
        retries=0,
        max_parallel=2,
        environment={"SIM_A": "1"},
        duration_minutes=5,
        labels={"campaign": "a"},
    )
    assert study.submission() == {
        "name": "recovery",
        "config": {
            "simulation": {"name": "rocket", "version": "1", "duration_minutes": 5},
            "monte_carlo": {"runs": 8, "sampling_method": "quasi_monte_carlo", "seed": 42, "run_ids": "0-3", "replicate": 1},
            "dispersions": {
                "mass": {"distribution": {"type": "normal", "mean": 45, "std_dev": 0.4}, "units": "kg"},
                "cd": {"distribution": {"type": "normal", "mean": 1, "std_dev": 0.07, "lower": 0.8, "upper": 1.2}, "units": ""},
            },
            "compute": {
                "container": {
                    "image": "", "cpu_request": "500m", "memory_request": "1Gi", "cpu_limit": "1", "memory_limit": "2Gi",
                    "environment": {"SIM_A": "1"},
                },
                "max_parallel_jobs": 2,
                "job_timeout_seconds": 60,
                "max_retries": 0,
            },
            "early_termination": {
                "enabled": True,
                "check_frequency_hz": 5,
                "conditions": [{"variable": "h", "condition": "< -1", "description": "crash"}],
                "shadow": True,
            },
            "telemetry": {
                "sampling_rate_hz": 10,
                "variables": ["h"],
                "storage": {"s3_bucket": "", "s3_prefix": "", "compression": "gzip"},
                "buffer_flush_interval_seconds": 1,
            },
            "correlations": [{"parameters": ["mass", "cd"], "rank": 0.3}],
        },
        "requirements": [
            {
                "name": "miss_m < 50", "output": "miss_m", "condition": "< 50", "probability": 0.9973, "confidence": 0.9,
                "look": "continuous",
            }
        ],
        "policy": {"canary_runs": 2, "max_failures": "5%", "priority": 3, "stop_when": "settled"},
        "outputs": {"miss_m": {"units": "m"}},
        "labels": {"campaign": "a"},
    }  # fmt: skip


SCENARIOS = {
    "wind": {"calm": {}, "storm": {"gust": sb.Normal(20, 4), "cd": 1.5}},
    "site": {"north": {"mass": 46}, "south": {}},
    "skip": [{"site": "south", "wind": "storm"}],
}


def test_scenarios_are_a_member_as_in_a_study_file():
    study = named(scenarios=SCENARIOS)
    assert study.submission()["config"]["scenarios"] == {
        "wind": {"calm": {}, "storm": {"gust": {"type": "normal", "mean": 20, "std_dev": 4}, "cd": 1.5}},
        "site": {"north": {"mass": 46}, "south": {}},
        "skip": [{"site": "south", "wind": "storm"}],
    }
    assert study.cells == 3
    assert "8 runs in each of 3 cells" in repr(study)
    assert named().cells == 1
    with pytest.raises(TypeError, match=r"""scenarios\['wind'\]\['storm'\]\['gust'\]: must be a distribution"""):
        named(scenarios={"wind": {"storm": {"gust": "strong"}}})
    with pytest.raises(TypeError, match="must be a mapping of levels"):
        named(scenarios={"wind": ["calm", "storm"]})


def test_a_requirement_names_its_cells():
    pooled = sb.Requirement("miss", "< 1", 0.9, cells="pooled", weights={"site": {"north": 0.7, "south": 0.3}})
    assert pooled.member()["in"] == "pooled"
    assert pooled.member()["weights"] == {"site": {"north": 0.7, "south": 0.3}}
    assert sb.JointRequirement(["a", "b"], 0.9, cells="worst").member()["in"] == "worst"
    assert not {"in", "weights"} & set(sb.Requirement("miss", "< 1", 0.9).member())


def test_the_samples_of_scenarios_have_their_cells(program):
    samples = named(scenarios=SCENARIOS).sample()
    assert [one["run_id"] for one in samples] == list(range(24))
    assert samples[1]["scenario"] == {"site": "north", "wind": "storm"}
    assert samples[4]["sample"] == 1
    assert samples[0]["parameters"]["mass"] == 46
    assert "gust" not in samples[0]["parameters"] and "gust" in samples[1]["parameters"]
    assert samples[2]["parameters"]["cd"] == samples[0]["parameters"]["cd"]
    assert named(scenarios=SCENARIOS).sample(first=7, count=1) == [samples[7]]


def test_numbers_of_numpy_are_taken():
    numpy = package("numpy")
    study = named(
        inputs={"x": sb.Normal(numpy.float32(0.5), numpy.int64(2)), "y": numpy.float64(3)}, runs=numpy.int32(4),
        seed=numpy.uint64(5), timeout_s=numpy.int64(6), requirements=[sb.Requirement("a", "> 0", probability=numpy.float32(0.5))],
    )  # fmt: skip
    again = named(
        inputs={"x": sb.Normal(0.5, 2), "y": 3.0}, runs=4, seed=5, timeout_s=6,
        requirements=[sb.Requirement("a", "> 0", probability=0.5)],
    )  # fmt: skip
    assert json.dumps(study.submission()) == json.dumps(again.submission())


def test_a_saved_study_is_a_study_file(folder, program):
    import subprocess

    named(seed=1).save("study.json")
    ended = subprocess.run([*program, "submit", "--check", "study.json"], capture_output=True, encoding="utf-8")
    assert ended.returncode == 0, ended.stderr


def test_the_seed_follows_from_the_study():
    assert named().seed == named().seed
    # A changed simulation is compared on the same samples.
    assert named().seed == named(runs=9, version="2").seed
    assert named().seed != named(inputs={"mass": 1}).seed
    drawn = named(inputs={"a": sb.Normal(0, 1), "b": 3.0}).seed
    assert drawn == named(inputs={"b": sb.Uniform(2, 4), "a": sb.Normal(1, 1)}).seed
    assert drawn == 3599404827889844
    assert drawn != sb.Study("other", simulation="rocket", version="1", inputs={"a": sb.Normal(0, 1), "b": 3.0}, runs=8).seed
    assert named(seed=7).seed == 7
    assert 0 <= named().seed < 2**53


@pytest.mark.parametrize(
    "pointer, argument",
    [
        ("/config/dispersions/mass/distribution/std_dev", 'inputs["mass"].std_dev'),
        ("/config/dispersions/a~1b/distribution/lambda", 'inputs["a/b"].rate'),
        ("/config/dispersions/wind", 'inputs["wind"]'),
        ("/config/monte_carlo/runs", "runs"),
        ("/config/scenarios/wind/storm/gust", "scenarios"),
        ("/config/monte_carlo/sampling_method", "method"),
        ("/config/correlations/0/rank", 'correlations["mass", "cd"]'),
        ("/config/compute/container/cpu_request", "cpu"),
        ("/config/compute/job_timeout_seconds", "timeout_s"),
        ("/config/early_termination/conditions/1/variable", "early_termination.rules[1].variable"),
        ("/requirements/0/probability", "requirements[0].probability"),
        ("/policy/max_failures", "policy.max_failures"),
        ("/code", "simulation"),
        ("/something/else", "/something/else"),
    ],
)
def test_a_pointer_becomes_the_argument(pointer, argument):
    assert argument_of(pointer, [("mass", "cd")]) == argument


def test_histories_and_derived_outputs_are_members_as_in_a_study_file(program):
    numpy = package("numpy")
    histories = [{"variable": "nz_g", "at": {"points": numpy.linspace(0, 1, 3)}}, {"name": "v", "variable": "speed", "at": {"from": 0, "to": 1, "step": 0.5}}]
    derived = [{"name": "peak_g", "telemetry": "nz_g", "take": "max"}]
    study = named(histories=histories, derived=derived)
    config = study.submission()["config"]
    assert config["histories"][0] == {"variable": "nz_g", "at": {"points": [0, 0.5, 1]}}
    assert config["histories"][1] == histories[1] and config["derived"] == derived
    assert len(study.sample()) == 8
    bare = named().submission()["config"]
    assert "histories" not in bare and "derived" not in bare
    with pytest.raises(TypeError, match="histories must be a list of mappings"):
        named(histories={"variable": "nz_g"})
    with pytest.raises(TypeError, match="derived must be a list of mappings"):
        named(derived=["peak_g"])


@pytest.mark.parametrize(
    "pointer, argument",
    [
        ("/config/histories/1/at/points/3", 'histories[1]["at"]["points"][3]'),
        ("/config/histories/0/at", 'histories[0]["at"]'),
        ("/config/derived/2/telemetry", 'derived[2]["telemetry"]'),
        ("/config/derived/0", "derived[0]"),
        ("/config/histories", "histories"),
    ],
)
def test_a_fault_of_a_history_names_its_argument(pointer, argument):
    assert argument_of(pointer) == argument


def test_faults_found_by_the_coordinator_name_the_argument(fake):
    body = {
        "type": "x", "title": "x", "status": 422, "detail": "2 faults", "code": "invalid-request",
        "errors": [
            {"pointer": "/config/correlations/0/rank", "detail": "must be below 1"},
            {"pointer": "/requirements/0/condition", "detail": "has no operator"},
        ],
    }  # fmt: skip
    fake.answers = [(422, {"Content-Type": "application/problem+json"}, json.dumps(body).encode())]
    with pytest.raises(sb.StudyError) as caught:
        named(correlations={("mass", "cd"): 0.3}).submit(fake.url)
    assert str(caught.value) == (
        'invalid-request: correlations["mass", "cd"]: must be below 1; requirements[0].condition: has no operator'
    )
    assert isinstance(caught.value, ValueError)


SCIPY = [
    ("norm(1, 2)", sb.Normal(1, 2)),
    ("truncnorm(-1, 2, loc=3, scale=2)", sb.Normal(3, 2, 1, 7)),
    ("uniform(1, 3)", sb.Uniform(1, 4)),
    ("expon(scale=2)", sb.Exponential(0.5)),
    ("truncexpon(1.5, scale=2)", sb.Exponential(0.5, upper=3)),
    ("gamma(4, scale=2)", sb.Gamma(4, 2)),
    ("beta(2, 3)", sb.Beta(2, 3)),
    ("lognorm(0.3, scale=1)", sb.Lognormal(0, 0.3)),
    ("loguniform(1, 100)", sb.Loguniform(1, 100)),
    ("weibull_min(2, scale=3)", sb.Weibull(2, 3)),
    ("triang(0.25, loc=1, scale=4)", sb.Triangular(1, 2, 5)),
    ("randint(1, 4)", sb.Discrete([1, 2, 3])),
    ("rv_discrete(values=([1, 2], [0.25, 0.75]))()", sb.Discrete({1: 0.25, 2: 0.75})),
]


@pytest.mark.parametrize("text, equal", SCIPY, ids=[text for text, _ in SCIPY])
def test_a_frozen_distribution_of_scipy_has_the_same_quantiles(text, equal, program, folder):
    package("scipy.stats")
    import scipy.stats

    frozen = eval(f"scipy.stats.{text}", {"scipy": scipy})
    study = named(inputs={"x": frozen, "u": sb.Uniform(0, 1)}, runs=60, method="latin_hypercube")
    assert study.inputs["x"] == equal
    values = sorted(one["parameters"]["x"] for one in study.sample())
    for k, value in enumerate(values):
        # A Latin hypercube has one sample in each of 60 strata of equal probability, the lowest first.
        if isinstance(equal, sb.Discrete):
            assert frozen.ppf((k + 0.5) / 60) == value
        else:
            assert k / 60 - 1e-9 <= frozen.cdf(value) <= (k + 1) / 60 + 1e-9


@pytest.mark.parametrize("text, name", [("cauchy()", "cauchy"), ("expon(1, 2)", "expon with loc=1"), ("t(4)", "t"), ("poisson(3)", "poisson")])
def test_a_distribution_of_scipy_without_an_equal_one_is_refused_by_name(text, name):
    package("scipy.stats")
    import scipy.stats

    with pytest.raises(ValueError, match=rf'inputs\["x"\]: scipy.stats.{name} has no equal distribution.*Empirical'):
        named(inputs={"x": eval(f"scipy.stats.{text}", {"scipy": scipy})})


def test_a_study_says_when_its_runs_are_too_few_for_a_requirement():
    def lines(probability, runs, **more):
        study = named(runs=runs, requirements=[sb.Requirement("y", "> 0", probability=probability, **more)])
        return repr(study).splitlines()[-1]

    assert lines(0.9, 100) == "y > 0 with probability 0.9: takes 29 runs without a failure, 46 with 1, 61 with 2, 76 with 3"
    assert lines(0.99, 60).endswith("takes 299 runs without a failure, 473 with 1, 628 with 2, 773 with 3; cannot be met by 60 runs")
    assert "takes 852 runs without a failure, 1440 with 1, 1970 with 2, 2473 with 3" in lines(0.9973, 60, confidence=0.9)


def test_a_study_that_stops_when_precise():
    precision = [
        sb.Precision("miss_m", mean=True, half_width=0.1, bounds=(0, 100)),
        sb.Precision("miss_m", quantile=0.95, relative=0.05, confidence=0.9),
        {"output": "miss_m", "quantity": "probability", "condition": "> 50", "half_width": 0.01},
    ]
    policy = named(method="monte_carlo", stop_when="precise", precision=precision).submission()["policy"]
    assert policy == {
        "stop_when": "precise",
        "precision": [
            {"output": "miss_m", "quantity": "mean", "bounds": [0, 100], "half_width": 0.1},
            {"output": "miss_m", "quantity": "p95", "relative": 0.05, "confidence": 0.9},
            {"output": "miss_m", "quantity": "probability", "condition": "> 50", "half_width": 0.01},
        ],
    }
    same = sb.Policy(stop_when="precise", precision=precision, priority=2)
    assert named(policy=same).submission()["policy"] == {**policy, "priority": 2}
    assert named(policy=sb.Policy(priority=2), stop_when="precise", precision=precision).submission()["policy"]["priority"] == 2
    assert sb.Precision("y", probability="> 1", half_width=0.1).member()["condition"] == "> 1"
    assert sb.Precision("y", quantile=0.999, half_width=1).member()["quantity"] == "p99.9"
    with pytest.raises(ValueError, match="given twice"):
        named(policy=same, stop_when="precise")
    for wrong in ({}, {"mean": True, "quantile": 0.5}, {"quantile": 95}):
        with pytest.raises(ValueError, match="Precision of 'y'"):
            sb.Precision("y", half_width=1, **wrong).member()
    assert argument_of("/policy/precision/1/relative") == "precision[1].relative"


def test_epistemic_inputs_are_a_member_as_in_a_study_file(program):
    study = named(scenarios=SCENARIOS, epistemic={"bias": {"interval": (-1, 1), "levels": 3}})
    assert study.submission()["config"]["epistemic"] == {"bias": {"interval": [-1.0, 1.0], "levels": 3}}
    assert study.cells == 9
    small = named(scenarios={"skip": [{"bias": "0.00001"}]}, epistemic={"bias": {"interval": (0, 2e-5), "levels": 3}})
    assert (small.cells, len(small.sample(count=9))) == (2, 9)
    samples = study.sample(count=9)
    assert {one["scenario"]["bias"] for one in samples} == {"-1", "0", "1"}
    assert {one["parameters"]["bias"] for one in samples} == {-1, 0, 1}
    with pytest.raises(TypeError, match=r"epistemic\['bias'\] must be"):
        named(epistemic={"bias": [-1, 1]})
