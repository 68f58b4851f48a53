"""A study: inputs, sampling, requirements, and how to run it: here, on this machine, or on a pool."""

from __future__ import annotations

import hashlib
import json
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from ..functions import ship
from .build import base_submission, checked_name, correlations_of, inputs_of, sampling_method
from .distributions import Distribution
from .parts import EarlyTermination, Policy, Requirement, Telemetry

if TYPE_CHECKING:
    import os

    from ..batch.batch import Batch
    from .trial import Trial

KEY_LABEL = "simbatch.key"
"""The label by which a coordinator knows the study again."""
Simulation = Union[str, Callable[..., Any]]
Input = Union[Distribution, float, Any]


class Study:
    """A Monte Carlo study. Immutable: `study.changed(runs=2048)` makes another.

    name: of the study, for people.
    simulation: a function of the parameters, `f(p)` or `f(p, run)`, that returns a mapping of outputs; or the name of a
        simulation that runners offer (then `entrypoint` is the script for runs on this machine).
    inputs: parameter name -> distribution, a frozen distribution of scipy.stats, or a number that is the same in every run.
    runs: number of runs of the design.
    method: `sobol` (`quasi_monte_carlo`), `latin_hypercube` (`lhs`), or `monte_carlo` (`random`).
    seed: 0 to 2**63 - 1. None: derived from the name of the study and the names of the inputs, so that a study with a changed
        function or distribution has the same random numbers, and `Batch.diff` compares the two run by run.
    version: of the simulation. None: `fn-` and the digest of the function; required for a named simulation.
    run_ids: the runs of the design to execute, e.g. `"0-99,150"`; None: all. replicate: another randomisation of the design.
    correlations: pair of names -> Spearman rank correlation in (-1, 1).
    requirements, early_termination, telemetry, policy: see the classes. outputs: name -> units, for display.
    cpu, memory: what a run reserves, as in Kubernetes (`"500m"`, `"2Gi"`); `cpu_limit`, `memory_limit`: what it may not exceed.
    timeout_s: time limit of a run in seconds, 0: none. retries: of a run that crashes. max_parallel: runs at once, 0: no cap.
    environment: variables for the simulation. labels: text -> text.
    modules: modules whose code travels with a function, besides its own.

    Raises TypeError and ValueError that name the argument, StudyError for faults found by the coordinator.
    """

    def __init__(
        self,
        name: str,
        *,
        simulation: Simulation,
        inputs: Mapping[str, Input],
        runs: int,
        method: str = "latin_hypercube",
        seed: Optional[int] = None,
        version: Optional[str] = None,
        run_ids: Optional[str] = None,
        replicate: Optional[int] = None,
        correlations: Optional[Mapping[Tuple[str, str], float]] = None,
        requirements: Sequence[Requirement] = (),
        outputs: Optional[Mapping[str, str]] = None,
        early_termination: Optional[EarlyTermination] = None,
        telemetry: Optional[Telemetry] = None,
        policy: Optional[Policy] = None,
        labels: Optional[Mapping[str, str]] = None,
        duration_minutes: int = 1,
        cpu: str = "1",
        memory: str = "256Mi",
        cpu_limit: Optional[str] = None,
        memory_limit: Optional[str] = None,
        timeout_s: int = 0,
        retries: Optional[int] = None,
        max_parallel: int = 0,
        environment: Optional[Mapping[str, str]] = None,
        entrypoint: Optional[Union[str, "os.PathLike[str]"]] = None,
        modules: Iterable[types.ModuleType] = (),
    ) -> None:
        given = {key: value for key, value in locals().items() if key not in ("self", "__class__")}
        self._given: Dict[str, Any] = {**given, "modules": tuple(modules)}
        self.name = checked_name("name", name)
        self.simulation = simulation
        self.inputs: Dict[str, Distribution] = inputs_of(inputs)
        self.runs = runs
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
        self._submission = base_submission(self._given, self.inputs, self.correlations, self.artifact)
        sampling_method(method)
        if seed is None:
            drawn = json.dumps([name, sorted(self.inputs)])
            self._submission["config"]["monte_carlo"]["seed"] = int(hashlib.sha256(drawn.encode()).hexdigest()[:13], 16)

    @property
    def seed(self) -> int:
        """The seed of the samples."""
        seed: int = self._submission["config"]["monte_carlo"]["seed"]
        return seed

    @property
    def key(self) -> str:
        """The identity of the study: the same for the same study after a restart. It is the idempotency key of a submission."""
        return f"py-{self._identity()[:40]}"

    @property
    def pairs(self) -> List[Tuple[str, str]]:
        """The correlated pairs, in the order of the submission."""
        return [(first, second) for first, second, _ in self.correlations]

    def changed(self, **arguments: Any) -> "Study":
        """The same study with other arguments."""
        given = {**self._given, **arguments}
        return Study(given.pop("name"), **given)

    def submission(self) -> Dict[str, Any]:
        """The submission as `POST /jobs` takes it, also the content of a study file."""
        made: Dict[str, Any] = json.loads(json.dumps(self._submission))
        made["labels"] = {**made.get("labels", {}), KEY_LABEL: self.key}
        if self.artifact is not None:
            made["config"]["simulation"]["code"] = {"sha256": self.artifact.sha256, "python": ship.python_version()}
            made["code"] = self.artifact.text()
        return made

    def sample(self, *, first: int = 0, count: Optional[int] = None) -> List[Dict[str, Any]]:
        """The parameters of runs, exactly as a coordinator samples them: `[{"run_id": 0, "parameters": {...}}, ...]`.

        Needs the program `simbatch` on this machine, and no coordinator.
        """
        from ..local.program import sample

        return sample(self.submission(), first, self.runs - first if count is None else count)

    def try_run(self, run_id: int = 0, *, quiet: bool = False) -> "Trial":
        """Executes one run here and now, with its telemetry and its early termination. A function runs in this process.

        `quiet`: a script's telemetry is not shown while it runs. Errors of the simulation are raised as they are.
        """
        from .trial import try_function, try_script

        return try_function(self, run_id) if callable(self.simulation) else try_script(self, run_id, quiet)

    def submit(
        self, endpoint: Optional[str] = None, *, again: bool = False, **connection: Any
    ) -> "Batch":
        """Submits the study to a coordinator and returns at once. The same study again is the same batch; see `again`.

        endpoint: address of the coordinator; by default SVC_ENDPOINT, else http://127.0.0.1:7070. `connection`: `token`,
        `token_file`, `ca_file` and so on, as `simbatch.connect` takes them.
        again: a new batch even if this study was submitted before.
        Raises StudyError with every fault of the study, ApiError, UnreachableError.
        """
        from ..batch.coordinator import connect

        return connect(endpoint, **connection).submit(self, again=again)

    def run(
        self,
        workers: Optional[int] = None,
        *,
        keep: bool = False,
        folder: Union[str, "os.PathLike[str]"] = ".simbatch",
        again: bool = False,
    ) -> "Batch":
        """Runs the study on this machine, with a coordinator and a runner of its own, and returns at once.

        workers: runs at once; None: as many as the machine has cores. folder: of data and results. keep: the coordinator and
        the runner outlive this process, until `simbatch.stop()`; else both end with it, after the running runs (30 s at most).
        The same study again, also after a restart of the kernel, is the same batch: no finished run is executed again.
        again: a new batch all the same.
        Raises ProgramNotFoundError when the program `simbatch` is not found, LocalError when it does not start.
        """
        from ..local.embedded import embedded

        local = embedded(folder, keep=keep)
        local.runner_for(self, workers)
        return local.coordinator().submit(self, again=again)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes a study file (JSON) for `simbatch submit`."""
        Path(path).write_text(json.dumps(self.submission(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def _identity(self) -> str:
        parts = [self._submission, None if self.artifact is None else self.artifact.digest]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def __repr__(self) -> str:
        from ..show.text import study_text

        return study_text(self)

    def _repr_html_(self) -> str:
        from ..show.html import study_html

        return study_html(self)
