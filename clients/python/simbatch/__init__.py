"""Monte Carlo studies from Python: the study, its runs and its answers; and what a simulation needs to run under simbatch.

A study, from a notebook or a script:

    import simbatch as sb
    study = sb.Study("throw", simulation=throw, inputs={"speed": sb.Normal(30, 1)}, runs=100)
    batch = study.run(workers=8).wait()
    batch.frame()

A simulation that is a script, in three lines:

    import simbatch
    run = simbatch.run()
    run.result(range_m=simulate(run.parameters["speed_mps"], run.parameters["angle_deg"]))

and, where wanted, ``run.telemetry(t=seconds, altitude_m=1234.5)`` while it computes.
"""

from __future__ import annotations

from ._parameters import Parameters, RunConfigError
from ._run import Run, run

TYPE_CHECKING = False  # as in _run.py
if TYPE_CHECKING:
    from typing import Any

    from .batch.batch import Batch as Batch
    from .batch.coordinator import Coordinator as Coordinator
    from .batch.coordinator import connect as connect
    from .batch.rounds import Round as Round
    from .batch.runs import RunView as RunView
    from .errors import ApiError as ApiError
    from .errors import LocalError as LocalError
    from .errors import MissingPackageError as MissingPackageError
    from .errors import NotReadyError as NotReadyError
    from .errors import ProgramNotFoundError as ProgramNotFoundError
    from .errors import SimbatchError as SimbatchError
    from .errors import StudyError as StudyError
    from .errors import UnreachableError as UnreachableError
    from .evaluator.evaluator import Evaluator as Evaluator
    from .evaluator.values import EvaluationError as EvaluationError
    from .evaluator.values import Failure as Failure
    from .local.embedded import stop as stop
    from .local.opening import open as open
    from .points.loop import tell_and_ask as tell_and_ask
    from .points.rows import product as product
    from .study.distributions import Beta as Beta
    from .study.distributions import Chosen as Chosen
    from .study.distributions import Discrete as Discrete
    from .study.distributions import Distribution as Distribution
    from .study.distributions import Empirical as Empirical
    from .study.distributions import Exponential as Exponential
    from .study.distributions import Fixed as Fixed
    from .study.distributions import Gamma as Gamma
    from .study.distributions import Lognormal as Lognormal
    from .study.distributions import Loguniform as Loguniform
    from .study.distributions import Normal as Normal
    from .study.distributions import Table as Table
    from .study.distributions import Triangular as Triangular
    from .study.distributions import Uniform as Uniform
    from .study.distributions import Weibull as Weibull
    from .study.parts import EarlyTermination as EarlyTermination
    from .study.parts import Policy as Policy
    from .study.parts import JointRequirement as JointRequirement
    from .study.parts import Precision as Precision
    from .study.parts import Requirement as Requirement
    from .study.parts import Rule as Rule
    from .study.parts import Saltelli as Saltelli
    from .study.parts import Telemetry as Telemetry
    from .study.probe import Probe as Probe
    from .study.study import Study as Study
    from .study.trial import Trial as Trial

__version__ = "0.1.0"

# The client is loaded on first use: a simulation, which starts once per run, imports only the line above.
_HOMES = {
    ".batch.batch": "Batch",
    ".batch.coordinator": "Coordinator connect",
    ".batch.rounds": "Round",
    ".batch.runs": "RunView",
    ".errors": "ApiError LocalError MissingPackageError NotReadyError ProgramNotFoundError SimbatchError StudyError UnreachableError",
    ".evaluator.evaluator": "Evaluator",
    ".evaluator.values": "EvaluationError Failure",
    ".local.embedded": "stop",
    ".local.opening": "open",
    ".points.loop": "tell_and_ask",
    ".points.rows": "product",
    ".study.distributions": "Beta Chosen Discrete Distribution Empirical Exponential Fixed Gamma Lognormal Loguniform Normal Table "
    "Triangular Uniform Weibull",
    ".study.parts": "EarlyTermination JointRequirement Policy Precision Requirement Rule Saltelli Telemetry",
    ".study.probe": "Probe",
    ".study.study": "Study",
    ".study.trial": "Trial",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = ["Parameters", "Run", "RunConfigError", "run"] + sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'simbatch' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(home, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
