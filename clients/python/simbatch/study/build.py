"""From the arguments of a study to its submission. Checks the kinds of values; the coordinator checks the rest."""

from __future__ import annotations

import dataclasses
import numbers
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from ..functions import ship
from .distributions import Distribution, Fixed, Table, number
from .parts import EarlyTermination, JointRequirement, Policy, Requirement, Rule, Saltelli, Telemetry, given
from .scenarios import epistemic_of, scenarios_of
from .scipy_stats import from_scipy, is_frozen

DEFAULT_BUDGET = 1_000_000
"""The most runs of a study with chosen inputs, where its user gives no other number."""
_METHODS = {
    "sobol": "quasi_monte_carlo",
    "quasi_monte_carlo": "quasi_monte_carlo",
    "latin_hypercube": "latin_hypercube",
    "lhs": "latin_hypercube",
    "monte_carlo": "monte_carlo",
    "mc": "monte_carlo",
    "random": "monte_carlo",
    "adaptive": "adaptive",
    "rare_event": "adaptive",
}


def checked_name(argument: str, value: Any) -> str:
    """A text of 1 to 200 characters."""
    if not isinstance(value, str):
        raise TypeError(f"{argument} must be a text, not {value!r}")
    if not 1 <= len(value) <= 200:
        raise ValueError(f"{argument} must have 1 to 200 characters, not {len(value)}")
    return value


def sampling_method(method: Union[str, Saltelli]) -> str:
    """The method's name in the contract."""
    if isinstance(method, Saltelli):
        return "saltelli"
    if method not in _METHODS:
        raise ValueError(f"method must be one of {', '.join(sorted(_METHODS))}, not {method!r}")
    return _METHODS[method]


def runs_of(runs: Optional[int], method: Union[str, Saltelli], inputs: Mapping[str, Distribution]) -> int:
    """The number of runs, which follows from the design of `Saltelli`, has a default for points from outside and for rare events, and is given with any other method."""
    if not isinstance(method, Saltelli):
        if runs is None and method == "rare_event":
            return 0
        if runs is None and any(one.type == "chosen" for one in inputs.values()):
            return DEFAULT_BUDGET
        if runs is None:
            raise TypeError("runs is missing: give the number of runs of the study")
        return _integer("runs", runs)
    varying = sum(1 for one in inputs.values() if not isinstance(one, (Fixed, Table)))
    wanted = method.runs(varying)
    if runs is not None and _integer("runs", runs) != wanted:
        raise ValueError(f"runs must be {wanted} or left out, not {runs}: {method} with {varying} inputs that vary has {wanted} runs")
    return wanted


def inputs_of(inputs: Mapping[str, Any]) -> Dict[str, Distribution]:
    """The distributions by parameter. Raises TypeError and ValueError that name the input."""
    if not isinstance(inputs, Mapping):
        raise TypeError(f"inputs must be a mapping of names to distributions, not {inputs!r}")
    made: Dict[str, Distribution] = {}
    for name, value in inputs.items():
        checked_name("a name in inputs", name)
        made[name] = distribution_of(f'inputs["{name}"]', value)
    return made


def distribution_of(where: str, value: Any) -> Distribution:
    """The distribution that a value means. Raises TypeError and ValueError that begin with `where`."""
    try:
        return _distribution(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{where}: {error}") from None


def _distribution(value: Any) -> Distribution:
    if isinstance(value, Distribution):
        return value
    if is_frozen(value):
        return from_scipy(value)
    try:
        return Fixed(number("value", value))
    except TypeError:
        raise TypeError(
            f"must be a distribution of simbatch, a frozen one of scipy.stats or a number, not {type(value).__name__}"
        ) from None


def correlations_of(
    correlations: Optional[Mapping[Tuple[str, str], float]], inputs: Mapping[str, Distribution]
) -> List[Tuple[str, str, float]]:
    """The correlations as (name, name, rank). Raises TypeError and ValueError that name the pair."""
    made: List[Tuple[str, str, float]] = []
    for pair, rank in (correlations or {}).items():
        if not (isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(name, str) for name in pair)):
            raise TypeError(f"correlations must have pairs of input names as keys, e.g. (\"mass\", \"cd\"), not {pair!r}")
        where = f'correlations["{pair[0]}", "{pair[1]}"]'
        for name in pair:
            if name not in inputs:
                raise ValueError(f"{where}: {name!r} is not among the inputs; these are {', '.join(inputs)}")
        value = number(where, rank)
        if not -1 < value < 1:
            raise ValueError(f"{where} must be above -1 and below 1, not {rank!r}")
        made.append((pair[0], pair[1], value))
    return made


def base_submission(
    arguments: Mapping[str, Any],
    inputs: Mapping[str, Distribution],
    correlations: List[Tuple[str, str, float]],
    artifact: Optional[ship.Artifact],
) -> Dict[str, Any]:
    """The submission without the artifact of a function."""
    a = arguments
    version, simulation = a["version"], a["simulation"]
    if artifact is not None:
        simulation, version = ship.engine_name(), version or f"fn-{artifact.digest[:12]}"
    container = given(
        image="",
        cpu_request=a["cpu"],
        memory_request=a["memory"],
        cpu_limit=a["cpu_limit"],
        memory_limit=a["memory_limit"],
        environment=None if a["environment"] is None else dict(a["environment"]),
    )
    config: Dict[str, Any] = {
        "simulation": {"name": simulation, "version": version, "duration_minutes": a["duration_minutes"]},
        "monte_carlo": {
            "runs": _integer("runs", a["runs"]),
            "sampling_method": sampling_method(a["method"]),
            **given(
                design=a["method"].member() if isinstance(a["method"], Saltelli) else None,
                seed=None if a["seed"] is None else _integer("seed", a["seed"]),
                run_ids=a["run_ids"],
                replicate=a["replicate"],
                replicates=None if a["replicates"] is None else _integer("replicates", a["replicates"]),
            ),
        },
        "dispersions": {name: one.dispersion() for name, one in inputs.items()},
        "compute": {
            "container": container,
            "max_parallel_jobs": a["max_parallel"],
            "job_timeout_seconds": a["timeout_s"],
            **given(max_retries=a["retries"], isolation=None if a["isolation"] == "process" else _isolation(a["isolation"])),
        },
        "early_termination": _early_termination(a["early_termination"]).member(),
        "telemetry": _of(Telemetry, "telemetry", a["telemetry"] or Telemetry()).member(),
    }
    if a["method"] == "adaptive":
        config["adaptive"] = {"algorithm": "external"}
    if a["method"] == "rare_event":
        config["adaptive"] = {"algorithm": "rare_event", **given(requirement=a["requirement"]), **(a["rare"] or {})}
    else:
        for name in ("requirement", "rare"):
            if a[name] is not None:
                raise ValueError(f'{name} is for studies with method="rare_event", and this one has {a["method"]!r}; leave it out')
    for name in ("histories", "derived"):
        if a[name]:
            config[name] = _members(name, a[name])
    if a["scenarios"] is not None:
        config["scenarios"] = scenarios_of(a["scenarios"], distribution_of)
    if a["epistemic"] is not None:
        config["epistemic"] = epistemic_of(a["epistemic"])
    if correlations:
        config["correlations"] = [{"parameters": [first, second], "rank": rank} for first, second, rank in correlations]
    judgement = judgement_of(a["requirements"] or None, a["outputs"], a["labels"])
    policy = _policy(a["policy"], a["stop_when"], a["precision"])
    made: Dict[str, Any] = {
        "name": a["name"],
        "config": config,
        **({} if policy is None else {"policy": policy.member()}),
        **judgement,
    }
    plain: Dict[str, Any] = _plain(made)
    return plain


def _members(argument: str, value: Any) -> List[Dict[str, Any]]:
    """A list of mappings, as a study file has it."""
    if isinstance(value, (str, Mapping)) or not all(isinstance(one, Mapping) for one in value):
        raise TypeError(f"{argument} must be a list of mappings, as in a study file, not {value!r}")
    return [{**one} for one in value]


def judgement_of(
    requirements: Optional[Sequence[Union[Requirement, JointRequirement]]],
    outputs: Optional[Mapping[str, str]],
    labels: Optional[Mapping[str, str]],
) -> Dict[str, Any]:
    """The members of a judgement that are given, as they are sent."""
    made = given(
        requirements=None
        if requirements is None
        else [
            one.member() if isinstance(one, JointRequirement) else _of(Requirement, "requirements", one).member()
            for one in requirements
        ],
        outputs=None if outputs is None else {name: {"units": units} for name, units in outputs.items()},
        labels=None if labels is None else dict(labels),
    )
    plain: Dict[str, Any] = _plain(made)
    return plain


def _policy(policy: Any, stop_when: Optional[str], precision: Sequence[Any]) -> Optional[Policy]:
    """The policy, with the rule that the study has as its own arguments."""
    made = None if policy is None else _of(Policy, "policy", policy)
    if stop_when is None and not precision:
        return made
    for name, is_given in (("stop_when", stop_when is not None), ("precision", bool(precision))):
        if made is not None and is_given and getattr(made, name):
            raise ValueError(f"{name} is given twice: as an argument of the study and in its policy; give one of them")
    changes = {**({} if stop_when is None else {"stop_when": stop_when}), **({"precision": tuple(precision)} if precision else {})}
    return dataclasses.replace(made or Policy(), **changes)


def _plain(value: Any) -> Any:
    """The value with Python's own numbers and lists in the place of numpy's."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist") and not isinstance(value, numbers.Number):
        return _plain(value.tolist())
    if isinstance(value, numbers.Integral) and not isinstance(value, (bool, int)):
        return int(value)
    if isinstance(value, numbers.Real) and not isinstance(value, (bool, int, float)):
        return float(value)
    return value


def _early_termination(value: Any) -> EarlyTermination:
    if value is None:
        return EarlyTermination((), enabled=False)
    made: EarlyTermination = _of(EarlyTermination, "early_termination", value)
    for rule in made.rules:
        _of(Rule, "early_termination.rules", rule)
    return made


def _of(kind: Any, argument: str, value: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{argument} must be of simbatch.{kind.__name__}, not {value!r}")
    return value


def _isolation(value: Any) -> str:
    if value not in ("process", "shared"):
        raise ValueError(f"isolation must be 'process' or 'shared', not {value!r}")
    return str(value)


def _integer(argument: str, value: Any) -> int:
    made = number(argument, value)
    if not isinstance(made, int):
        raise TypeError(f"{argument} must be an integer, not {value!r}")
    if made < 0:
        raise ValueError(f"{argument} must be at least 0, not {made}")
    return made
