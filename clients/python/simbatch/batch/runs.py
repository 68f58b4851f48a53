"""One run of a study: parameters, outputs, attempts, telemetry, and its execution here once more."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional

from ..api.transport import segment
from ..errors import ApiError, NotReadyError
from .frames import package

if TYPE_CHECKING:
    import pandas as pandas_types

    from ..study.trial import Trial
    from .answers import LiveTelemetry
    from .connection import Submitted
    from .files import RunFiles


class RunView:
    """One run of a batch. `outputs` of a list of worst runs has the output that was asked for."""

    def __init__(self, batch: "Submitted", run_id: int, outputs: Optional[Mapping[str, Any]] = None) -> None:
        self.batch = batch
        self.run_id = run_id
        self._shown: Dict[str, Any] = dict(outputs or {})
        self._job: Optional[Dict[str, Any]] = None
        self._result: Optional[Dict[str, Any]] = None

    @property
    def job(self) -> Dict[str, Any]:
        """The job, with the members of docs/api.md. Raises NotReadyError when the batch has no such run."""
        if self._job is None or self._job["status"] in ("Pending", "Claimed", "Running"):
            query = {"batch_id": self.batch.id, "run_id": self.run_id}
            found = self.batch.coordinator.transport.get("/jobs", query)
            if not found:
                raise NotReadyError(f"study {self.batch.id} has no run {self.run_id}")
            self._job = found[0]
        return self._job

    @property
    def status(self) -> str:
        """`Pending`, `Claimed`, `Running`, `Completed`, `Failed`, `Timeout` or `Cancelled`."""
        return str(self.job["status"])

    @property
    def parameters(self) -> Dict[str, float]:
        """The sampled parameters."""
        found: Dict[str, float] = self.job["run_config"]["parameters"]
        return found

    @property
    def error(self) -> Optional[str]:
        """The reason why the run failed; None when it did not."""
        found: Optional[str] = self.job.get("error_message")
        return found

    @property
    def result(self) -> Dict[str, Any]:
        """The result, with the members of docs/api.md. Raises NotReadyError before there is one."""
        if self._result is None:
            try:
                self._result = self.batch.coordinator.transport.get(f"/jobs/{segment(self.job['id'])}/results")
            except ApiError as error:
                if error.code != "result-not-ready":
                    raise
                raise NotReadyError(f"run {self.run_id} has no result: it is {self.status}") from None
        return self._result

    @property
    def outputs(self) -> Dict[str, Any]:
        """The outputs. Raises NotReadyError before there is a result."""
        found: Dict[str, Any] = self.result["metadata"]
        return found

    def history(self) -> List[Dict[str, Any]]:
        """The attempts: runner, times, outcome, message."""
        found = self.batch.coordinator.transport.get(f"/jobs/{segment(self.job['id'])}/history")
        attempts: List[Dict[str, Any]] = found["attempts"]
        return attempts

    def files(self) -> List[Path]:
        """The artifacts: paths on the machine that executed the run."""
        return [Path(path) for path in self.result["output_files"]]

    def listing(self, attempt: Optional[int] = None) -> "RunFiles":
        """The files of the run, also while it runs: artifacts, telemetry, output. attempt: of this one; otherwise of the last.

        `run.listing()["stdout.log"].text()` is what it printed. Files are read through the coordinator from a runner with
        `--serve-files`.
        """
        from .files import files_of

        return files_of(self, attempt)

    def live_telemetry(self) -> "LiveTelemetry":
        """The telemetry so far of a run that is running, down-sampled.

        Raises ApiError `live-telemetry-off` when the study has no `Telemetry(live=True)`, `live-telemetry-unavailable` when its
        runner does not send it, e.g. without `--serve-files`, and `run-not-running`.
        """
        from .answers import LiveTelemetry

        return LiveTelemetry(self.batch.coordinator.transport.get(f"/jobs/{segment(self.job['id'])}/telemetry/live"))

    def telemetry(self) -> "pandas_types.DataFrame":
        """The telemetry as a DataFrame, one row a sample. The file must be on this machine. `live_telemetry` is for a running run.

        Raises NotReadyError when the run has none, FileNotFoundError when it is elsewhere, MissingPackageError without pandas
        and pyarrow.
        """
        path = self.result.get("telemetry_data")
        if path is None:
            raise NotReadyError(f"run {self.run_id} has sent no telemetry")
        if not Path(path).exists():
            raise FileNotFoundError(f"the telemetry is on the machine of the runner: {path}")
        package("pyarrow", "telemetry")
        frame: "pandas_types.DataFrame" = package("pandas", "telemetry").read_parquet(path)
        return frame

    def replay(self, function: Any = None, *, quiet: bool = False) -> "Trial":
        """Executes the run here once more, with the same parameters, and reports nothing.

        A function runs in this process; `function` replaces the one of the study, e.g. by the corrected one. A script needs the
        `entrypoint` of the study.
        """
        from ..study.trial import replay

        return replay(self.batch.submission, self.run_id, self.job["run_config"], self.batch.study, function, quiet)

    def __repr__(self) -> str:
        shown = "".join(f" {name}={value!r}" for name, value in self._shown.items())
        return f"<run {self.run_id}{shown}>"


class Runs(List[RunView]):
    """Runs, as a list that a notebook shows as a table."""

    def _repr_html_(self) -> str:
        from ..show.html import table_html

        names = list(dict.fromkeys(name for one in self for name in one._shown))
        return table_html(["run", *names], [[one.run_id, *(one._shown.get(name) for name in names)] for one in self])
