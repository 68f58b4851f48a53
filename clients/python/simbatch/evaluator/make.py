"""Makes evaluators: of a simulation that runners offer, by its name, and of a study with chosen inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Sequence

from ..study.description import StudyDescription
from ..study.distributions import Chosen, number
from .evaluator import Evaluator, _names
from .identity import extra_of, identity_of

if TYPE_CHECKING:
    from ..batch.connection import Connection


def named_evaluator(
    connection: "Connection", simulation: str, version: Optional[str], inputs: Optional[Sequence[str]],
    outputs: Optional[Sequence[str]], fixed: Optional[Mapping[str, float]], made: Mapping[str, Any], options: Mapping[str, Any],
) -> Evaluator:  # fmt: skip
    """See `Coordinator.evaluator`. made: arguments of the study that do not belong to its identity."""
    if version is None:
        raise ValueError(f"version is missing: give the version of the simulation {simulation!r}, e.g. version='1.0'")
    if inputs is None:
        raise ValueError('inputs is missing: name the parameters in the order of the columns, e.g. inputs=["mass", "cd"]')
    chosen = _names("inputs", inputs)
    others: Dict[str, float] = {name: float(number(f'fixed["{name}"]', value)) for name, value in (fixed or {}).items()}
    both = sorted(set(chosen) & set(others))
    if both:
        raise ValueError(f"fixed has {', '.join(both)}, which inputs has too")
    study = StudyDescription(
        f"{simulation} {version} evaluator"[:200], simulation=simulation, version=version, method="adaptive", seed=0,
        inputs={**{name: Chosen() for name in chosen}, **others}, **made,
    )  # fmt: skip
    return Evaluator(connection, study, identity_of(simulation, version, chosen, others), chosen, outputs, **options)


def study_evaluator(
    connection: "Connection", study: StudyDescription, outputs: Optional[Sequence[str]], options: Mapping[str, Any]
) -> Evaluator:
    """See `Study.evaluator`."""
    chosen = [name for name, one in study.inputs.items() if one.type == "chosen"]
    fixed = {name: float(one.members()["value"]) for name, one in study.inputs.items() if one.type == "fixed"}
    simulation = study.submission()["config"]["simulation"]
    extra = extra_of(study._submission, "" if study.artifact is None else study.artifact.digest)
    identity = identity_of(simulation["name"], simulation["version"], chosen, fixed, extra)
    return Evaluator(connection, study, identity, chosen, outputs or (list(study._given["outputs"] or ()) or None), **options)


def for_points(study: StudyDescription, budget: Optional[int]) -> StudyDescription:
    """The study to which the evaluator of a study appends its points."""
    if not any(one.type == "chosen" for one in study.inputs.values()):
        raise ValueError('inputs has no parameter for the points: make one sb.Chosen(), e.g. inputs={"mass": sb.Chosen(40, 50)}')
    given = {**study._given, "method": "adaptive", "runs": study.runs if budget is None else budget}
    return StudyDescription(given.pop("name"), **given)
