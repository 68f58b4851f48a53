"""A study, and how to run it: here, on this machine, or on a pool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

from .description import StudyDescription
from .parts import Policy

if TYPE_CHECKING:
    import os

    from ..batch.batch import Batch
    from ..evaluator.evaluator import Evaluator
    from .probe import Probe
    from .trial import Trial


class Study(StudyDescription):
    """A Monte Carlo study. Immutable: `study.changed(runs=2048)` makes another.

    name: of the study, for people.
    simulation: a function of the parameters, `f(p)` or `f(p, run)`, that returns a mapping of outputs; or the name of a
        simulation that runners offer (then `entrypoint` is the script for runs on this machine).
    inputs: parameter name -> distribution, a frozen distribution of scipy.stats, or a number that is the same in every run.
    runs: number of runs of the design; it follows from `Saltelli`. With chosen inputs the most that there may be, 1,000,000 when None.
    method: `sobol` (`quasi_monte_carlo`), `latin_hypercube` (`lhs`), `monte_carlo` (`mc`, `random`), `Saltelli(base=1024)` for Sobol' indices, or
        `adaptive`: it begins without runs, and `Batch.append` gives them; `rare_event` (experimental): how probable a violation of `requirement` is,
        see `Batch.rare_event`; its runs are the most that there may be, and as many as it needs when None.
    requirement: of `rare_event`, the name of the requirement; None: the only one. rare: its sizes and rules, such as
        `{"population": 2000, "confirm_runs": 4000, "unknown": "unrelated"}`, see docs/rare-events.md.
    seed: 0 to 2**63 - 1. None: derived from the name of the study and the names of the inputs, so that a study with a changed
        function or distribution has the same random numbers, and `Batch.diff` compares the two run by run.
    version: of the simulation. None: `fn-` and the digest of the function; required for a named simulation.
    run_ids: the runs of the design to execute, e.g. `"0-99,150"`; None: all. replicate: another randomisation of the design.
    replicates: of `latin_hypercube` and `sobol`: the runs are so many independent designs of runs / replicates points, which show the error of a mean
        and which `stop_when="precise"` needs.
    scenarios: axis -> level -> the inputs that it replaces, e.g. `{"wind": {"calm": {}, "storm": {"gust": sb.normal(20, 4)}}}`; `skip`: a list of
        combinations to leave out. Every cell has `runs` runs with the same random numbers, and requirements are judged in each. See docs/scenarios.md.
    epistemic: input -> its interval, for inputs that are unknown and not random, e.g. `{"cd_bias": {"interval": [-0.1, 0.1], "levels": 5}}`.
    correlations: pair of names -> Spearman rank correlation in (-1, 1).
    stop_when: `precise`: the study stops when every `Precision` of `precision` is reached; `settled`: when every requirement is settled.
    requirements, early_termination, telemetry, policy: see the classes. outputs: name -> units, for display.
    histories: telemetry variables that every run keeps at the same times, e.g. `{"variable": "nz_g", "at": {"from": 0, "to": 60, "step": 0.1}}`.
    derived: outputs that are computed of the telemetry and the outputs of a run, e.g. `{"name": "peak_g", "telemetry": "nz_g", "take": "max"}`.
        Both as in a study file; see docs/histories.md.
    cpu, memory: what a run reserves, as in Kubernetes (`"500m"`, `"2Gi"`); `cpu_limit`, `memory_limit`: what it may not exceed.
    timeout_s: time limit of a run in seconds, 0: none. retries: of a run that crashes. max_parallel: runs at once, 0: no cap.
    isolation: `process`, a process for each run; `shared`: processes of a warm Python execute run after run, for runs of milliseconds.
        A run that crashes, hangs or meets a limit ends its process, and no other run is lost. See docs/runner.md for what a
        run may leave to the next one.
    environment: variables for the simulation. labels: text -> text.
    modules: modules whose code travels with a function, besides its own.

    Raises TypeError and ValueError that name the argument, StudyError for faults found by the coordinator.
    """

    def changed(self, **arguments: Any) -> "Study":
        """Returns this study with other arguments."""
        given = {**self._given, **arguments}
        return Study(given.pop("name"), **given)

    def try_run(self, run_id: int = 0, *, row: Optional[Mapping[str, float]] = None, quiet: bool = False) -> "Trial":
        """Executes one run here and now, with its telemetry and its early termination. A function runs in this process.

        Derived outputs and histories are evaluated as a runner does it; `Trial.missing` says why a derived output has no value.

        row: the chosen inputs of an adaptive study, whose others are drawn as those of run `run_id`. quiet: a script's telemetry
        is not shown while it runs. Errors of the simulation are raised as they are.
        """
        from .trial import try_run

        return try_run(self, self._with_row(row), run_id, quiet)

    def _with_row(self, row: Optional[Mapping[str, float]]) -> "Study":
        """The study whose samples are those of an adaptive study with this row: the chosen inputs are fixed, the others drawn."""
        chosen = [name for name, one in self.inputs.items() if one.type == "chosen"]
        if not chosen and not row:
            return self
        if row is None or sorted(row) != sorted(chosen):
            raise ValueError(f"row must give the chosen inputs of the study ({', '.join(chosen) or 'none'}), not {row!r}")
        return self.changed(inputs={**self.inputs, **row}, method="monte_carlo", seed=self.seed)

    def submit(
        self, endpoint: Optional[str] = None, *, again: bool = False, **connection: Any
    ) -> "Batch":
        """Submits the study to a coordinator and returns at once.

        A study of the same design there is continued: other requirements, outputs and labels amend it without executing anything, and a larger
        number of runs executes the further ones alone. A Latin hypercube gets them as a replicate, since its strata depend on its number of runs. Fewer runs execute nothing.
        Another function, input, method, seed or environment is another study; a line on stderr says what has changed. See docs/members.md.

        endpoint: address of the coordinator; by default SIMBATCH_ENDPOINT, else http://127.0.0.1:7070. `connection`: `token`,
        `token_file`, `ca_file` and so on, as `simbatch.connect` takes them.
        again: a new batch even if there is a study of this design.
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
        A study of the same design is continued as by `submit`, also after a restart of the kernel: no finished run is executed again.
        again: a new batch all the same.
        The first run is a canary run unless the study has a policy: the others follow when it has completed; when it takes
        a minute or exceeds its time limit, two of the first three decide. `policy=Policy()` releases all at once. An adaptive study has none:
        a run that fails is a row like any other.
        Raises ProgramNotFoundError when the program `simbatch` is not found, LocalError when it does not start.
        """
        from ..local.embedded import embedded

        keeps = self._given.get("policy") is not None or self._given["method"] in ("adaptive", "rare_event")
        study = self if keeps else self.changed(policy=Policy(canary_runs=1))
        local = embedded(folder, keep=keep)
        local.runner_for(study, workers)
        return local.coordinator().submit(study, again=again)

    def probe(
        self,
        workers: Optional[int] = None,
        *,
        corners: bool = False,
        keep: bool = False,
        folder: Union[str, "os.PathLike[str]"] = ".simbatch",
    ) -> "Probe":
        """Executes 2 d + 1 runs on this machine for d dispersed inputs, and returns which inputs are read and what each changes: the
        nominal run with every input at its median, and each input alone at its 1 % and 99 % quantile, all with one random draw.

        corners: also a run with all inputs low, and a run with all inputs high. workers, keep, folder: as `run` takes them. The runs are a study of
        their own with the label `probe`. On a pool: `sb.connect(url).probe(study)`, or `simbatch probe`.
        Raises StudyError for a study without a dispersed input or with chosen ones, SimbatchError.
        """
        from ..local.embedded import embedded
        from .probe import probe

        local = embedded(folder, keep=keep)
        local.runner_for(self, workers)
        return probe(self, local.coordinator().transport, corners)

    def evaluator(
        self,
        workers: Optional[int] = None,
        *,
        outputs: Optional[Sequence[str]] = None,
        failed: str = "nan",
        noise: bool = False,
        retry_failed: bool = False,
        budget: Optional[int] = None,
        progress: bool = True,
        label: Optional[str] = None,
        keep: bool = False,
        folder: Union[str, "os.PathLike[str]"] = ".simbatch",
    ) -> "Evaluator":
        """The simulation as a function of the chosen inputs, executed on this machine: `f = study.evaluator(workers=8)`, then `Y = f(X)`.

        workers, keep, folder: as `run` takes them. budget: `runs` of the study by default. The others: as
        `Coordinator.evaluator` takes them; `sb.connect(url).evaluator(study)` is the same on a pool. Inputs that are not chosen are fixed or
        drawn: a point then has the numbers of its first run, unless `noise`.
        """
        from ..evaluator.make import for_points, study_evaluator
        from ..local.embedded import embedded

        study = for_points(self, budget)
        local = embedded(folder, keep=keep)
        local.runner_for(study, workers)
        options = {"failed": failed, "noise": noise, "retry_failed": retry_failed, "progress": progress, "label": label}
        return study_evaluator(local.coordinator(), study, outputs, options)
