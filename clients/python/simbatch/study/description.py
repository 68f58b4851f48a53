"""The description of a study: inputs, sampling, requirements; and the submission that is made of them."""

from __future__ import annotations

import hashlib
import json
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from ..functions import ship
from .build import base_submission, checked_name, correlations_of, inputs_of, runs_of
from .distributions import Distribution
from .scenarios import cells_of
from .parts import EarlyTermination, JointRequirement, Policy, Precision, Requirement, Saltelli, Telemetry

if TYPE_CHECKING:
    import os

Simulation = Union[str, Callable[..., Any]]
Input = Union[Distribution, float, Any]


class StudyDescription:
    """A study as its author describes it, and as it is submitted. See `Study`."""

    def __init__(
        self,
        name: str,
        *,
        simulation: Simulation,
        inputs: Mapping[str, Input],
        runs: Optional[int] = None,
        method: Union[str, Saltelli] = "latin_hypercube",
        requirement: Optional[str] = None,
        rare: Optional[Mapping[str, Any]] = None,
        seed: Optional[int] = None,
        version: Optional[str] = None,
        run_ids: Optional[str] = None,
        replicate: Optional[int] = None,
        replicates: Optional[int] = None,
        correlations: Optional[Mapping[Tuple[str, str], float]] = None,
        scenarios: Optional[Mapping[str, Any]] = None,
        epistemic: Optional[Mapping[str, Any]] = None,
        requirements: Sequence[Union[Requirement, JointRequirement]] = (),
        outputs: Optional[Mapping[str, str]] = None,
        histories: Sequence[Mapping[str, Any]] = (),
        derived: Sequence[Mapping[str, Any]] = (),
        early_termination: Optional[EarlyTermination] = None,
        telemetry: Optional[Telemetry] = None,
        policy: Optional[Policy] = None,
        stop_when: Optional[str] = None,
        precision: Sequence[Union[Precision, Mapping[str, Any]]] = (),
        labels: Optional[Mapping[str, str]] = None,
        duration_minutes: int = 1,
        cpu: str = "1",
        memory: str = "256Mi",
        cpu_limit: Optional[str] = None,
        memory_limit: Optional[str] = None,
        timeout_s: int = 0,
        retries: Optional[int] = None,
        max_parallel: int = 0,
        isolation: str = "process",
        environment: Optional[Mapping[str, str]] = None,
        entrypoint: Optional[Union[str, "os.PathLike[str]"]] = None,
        modules: Iterable[types.ModuleType] = (),
    ) -> None:
        given = {key: value for key, value in locals().items() if key not in ("self", "__class__")}
        self._given: Dict[str, Any] = {**given, "modules": tuple(modules)}
        self.name = checked_name("name", name)
        self.simulation = simulation
        self.inputs: Dict[str, Distribution] = inputs_of(inputs)
        self.runs = runs_of(runs, method, self.inputs)
        self.entrypoint = None if entrypoint is None else Path(entrypoint).resolve()
        self.artifact: Optional[ship.Artifact] = None
        if callable(simulation):
            if entrypoint is not None:
                raise ValueError("entrypoint is for a simulation that is given by name; this one is a function")
            self.artifact = ship.ship(simulation, self._given["modules"])
        elif not isinstance(simulation, str):
            raise TypeError(f"simulation must be a function or the name of a simulation, not {simulation!r}")
        elif version is None:
            raise ValueError(f"version is missing: give the version of the simulation {simulation!r}, e.g. version='1.0'")
        self.correlations = correlations_of(correlations, self.inputs)
        self._submission = base_submission({**self._given, "runs": self.runs}, self.inputs, self.correlations, self.artifact)
        if seed is None:
            drawn = json.dumps([name, sorted(self.inputs)])
            self._submission["config"]["monte_carlo"]["seed"] = int(hashlib.sha256(drawn.encode()).hexdigest()[:13], 16)

    @property
    def seed(self) -> int:
        """The seed of the samples."""
        seed: int = self._submission["config"]["monte_carlo"]["seed"]
        return seed

    @property
    def cells(self) -> int:
        """The number of cells of its scenarios and epistemic inputs, each of which has `runs` runs; 1 without any."""
        config = self._submission["config"]
        return cells_of(config.get("scenarios") or {}, config.get("epistemic") or {})

    @property
    def pairs(self) -> List[Tuple[str, str]]:
        """The correlated pairs, in the order of the submission."""
        return [(first, second) for first, second, _ in self.correlations]

    def submission(self) -> Dict[str, Any]:
        """The submission as `POST /jobs` takes it, also the content of a study file."""
        made: Dict[str, Any] = json.loads(json.dumps(self._submission))
        if self.artifact is not None:
            made["config"]["simulation"]["code"] = self.artifact.code()
            made["code"] = self.artifact.text()
        return made

    def sample(self, *, first: int = 0, count: Optional[int] = None) -> List[Dict[str, Any]]:
        """The parameters of runs, exactly as a coordinator samples them: `[{"run_id": 0, "parameters": {...}}, ...]`; with scenarios also `scenario` and `sample`.

        Needs the program `simbatch` on this machine, and no coordinator.
        """
        from ..local.program import sample

        runs = self.runs * self.cells
        return sample(self.submission(), first, runs - first if count is None else count)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes a study file (JSON) for `simbatch submit`."""
        Path(path).write_text(json.dumps(self.submission(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def __repr__(self) -> str:
        from ..show.text import study_text

        return study_text(self)

    def _repr_html_(self) -> str:
        from ..show.html import study_html

        return study_html(self)
