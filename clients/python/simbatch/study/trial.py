"""One run here and now: a function in this process, a script as a process, with telemetry and early termination."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import operator
import re
import shutil
import struct
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from .._run import Run
from .._sender import Sender
from ..batch.frames import columns_of, package
from ..errors import NotReadyError, SimbatchError
from ..functions import execute, ship

if TYPE_CHECKING:
    import pandas as pandas_types

    from .description import StudyDescription

_OPERATORS: Dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


class Trial:
    """One run that was executed here. Nothing of it is at a coordinator."""

    def __init__(self, run_id: int, parameters: Mapping[str, float], output_dir: Path) -> None:
        self.run_id = run_id
        self.parameters: Dict[str, float] = dict(parameters)
        self.output_dir = output_dir
        """Where its files are."""
        self.outputs: Dict[str, Any] = {}
        """Outputs by name, those that the study derives among them."""
        self.histories: Dict[str, List[Optional[float]]] = {}
        """Histories by name, None where a value is missing."""
        self.missing: Dict[str, str] = {}
        """Why derived outputs have no value, by name."""
        self.seconds = 0.0
        """How long it took."""
        self.terminated_by: Optional[Dict[str, Any]] = None
        """The early-termination rule that ended it: condition, variable, value, time_s, description."""
        self.would_terminate: Optional[Dict[str, Any]] = None
        """The rule in shadow that would have ended it."""
        self.error: Optional[str] = None
        """Why a script failed, or a runner would fail the run of a function for what it gave. An error of a function is raised instead."""
        self.samples: List[Dict[str, float]] = []
        """The telemetry: a mapping with `t` in seconds and the variables for each sample."""

    def telemetry(self) -> "pandas_types.DataFrame":
        """The telemetry as a DataFrame, one row a sample. Raises MissingPackageError without pandas."""
        frame: "pandas_types.DataFrame" = package("pandas", "telemetry as a frame").DataFrame(columns_of(self.samples))
        return frame

    def __repr__(self) -> str:
        from ..show.text import trial_text

        return trial_text(self)

    def _repr_html_(self) -> str:
        from ..show.html import trial_html

        return trial_html(self)


class _Terminated(BaseException):
    """Unwinds a function whose run a rule has ended. Not an Exception: a simulation that catches those must not continue."""


class _Recorder(Sender):
    """Keeps samples in memory and judges the rules, in the place of the stream to a runner."""

    def __init__(self, trial: Trial, early_termination: Mapping[str, Any]) -> None:
        self.sent: List[Tuple[int, Dict[str, float]]] = []
        """The samples with their times in nanoseconds, as they were sent."""
        self._trial = trial
        self._shadow = bool(early_termination.get("shadow"))
        self._rules = [(one, *_condition(one["condition"])) for one in early_termination["conditions"]]
        if not early_termination["enabled"]:
            self._rules = []

    def send(self, timestamp_ns: int, values: Mapping[str, float]) -> None:
        """Takes a sample. Raises _Terminated when it meets a condition."""
        numbers = {name: float(value) for name, value in values.items()}
        self.sent.append((timestamp_ns, numbers))
        sample = {"t": timestamp_ns / 1e9, **numbers}
        self._trial.samples.append(sample)
        if self._trial.would_terminate is not None:
            return
        for rule, holds, limit in self._rules:
            value = sample.get(rule["variable"])
            if value is not None and holds(value, limit):
                hit = {**rule, "value": value, "time_s": sample["t"]}
                if self._shadow:
                    self._trial.would_terminate = hit
                    return
                self._trial.terminated_by = hit
                raise _Terminated

    def lose(self, samples: int) -> None:
        """A sample that is not one, e.g. at a time that is NaN."""
        self.dropped += samples

    def close(self) -> None:
        """Does nothing."""


def _condition(text: str) -> Tuple[Callable[[float, float], bool], float]:
    found = re.fullmatch(r"\s*(<=|>=|==|!=|<|>)\s*([+-]?[\d.]+(?:[eE][+-]?\d+)?)\s*", text)
    if found is None:
        raise ValueError(f"the condition {text!r} is not an operator and a number, e.g. \"< 0.5\"")
    return _OPERATORS[found.group(1)], float(found.group(2))


def _run_config(
    submission: Mapping[str, Any], run_id: int, parameters: Mapping[str, float], draw: Optional[int] = None,
    cell: Mapping[str, Any] = {},
) -> Dict[str, Any]:
    simulation, sampling = submission["config"]["simulation"], submission["config"]["monte_carlo"]
    return {
        "run_id": run_id,
        "parameters": dict(parameters),
        "metadata": {
            "simulation_name": simulation["name"],
            "simulation_version": simulation["version"],
            "duration_minutes": simulation["duration_minutes"],
            "sampling_method": sampling["sampling_method"],
            "generated_at": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()),
            "seed": sampling["seed"],
            **{name: cell[name] for name in ("scenario", "sample") if name in cell},
            **({} if draw is None else {"draw": draw}),
        },
    }


def try_run(study: "StudyDescription", sampled: "StudyDescription", run_id: int, quiet: bool) -> Trial:
    """See `Study.try_run`. sampled: the study from which the parameters are drawn."""
    (drawn,) = sampled.sample(first=run_id, count=1)
    submission = study.submission()
    config = _run_config(submission, run_id, drawn["parameters"], None if sampled is study else run_id, drawn)
    if callable(study.simulation):
        return _execute(study.simulation, config, submission)
    return _execute_script(study.entrypoint, config, submission, quiet)


def replay(
    submission: Mapping[str, Any], run_id: int, given: Mapping[str, Any], study: "Optional[StudyDescription]",
    function: Optional[Callable[..., Any]], quiet: bool,
) -> Trial:
    """See `RunView.replay`. given: the configuration that the run had."""
    config = _run_config(submission, run_id, given["parameters"], given["metadata"].get("draw"), given["metadata"])
    if function is None and study is not None and callable(study.simulation):
        function = study.simulation
    if function is None and "code" in submission:
        function = _stored_function(submission)
    if function is not None:
        return _execute(function, config, submission)
    return _execute_script(None if study is None else study.entrypoint, config, submission, quiet)


def _stored_function(submission: Mapping[str, Any]) -> Callable[..., Any]:
    code = submission["config"]["simulation"]["code"]
    if code["python"] != ship.python_version():
        raise SimbatchError(
            f"the function of this study needs Python {code['python']}, this is {ship.python_version()}; "
            "use that Python, or pass the function: replay(function)"
        )
    data = base64.b64decode(submission["code"])
    if hashlib.sha256(data).hexdigest() != code["sha256"]:
        raise SimbatchError("the stored function does not match its digest; pass the function: replay(function)")
    return execute.load(data)


def _execute(function: Callable[..., Any], config: Mapping[str, Any], submission: Mapping[str, Any]) -> Trial:
    trial = Trial(config["run_id"], config["parameters"], Path(tempfile.mkdtemp(prefix="simbatch-run-")))
    run = Run(config, str(trial.output_dir), None, None)
    recorder = run._telemetry = _Recorder(trial, submission["config"]["early_termination"])
    begin = time.perf_counter()
    try:
        execute.call(function, run)
    except _Terminated:
        pass
    finally:
        trial.seconds = time.perf_counter() - begin
    trial.outputs = _outputs(trial.output_dir)
    given = trial.outputs.get("histories")
    if isinstance(given, dict) and all(isinstance(it, list) for it in given.values()):
        trial.histories = trial.outputs.pop("histories")
    if submission["config"].get("derived") or submission["config"].get("histories"):
        _evaluate(trial, recorder.sent, config, submission)
    return trial


_PLAYER = """import json, pathlib, shutil, sys
here = pathlib.Path(__file__).parent
given = json.loads((here / "given.json").read_text(encoding="utf-8"))
sys.path.insert(0, given["library"])
import simbatch
run = simbatch.run()
for time_ns, values in given["samples"]:
    run.telemetry(values, timestamp_ns=time_ns)
if (here / "metadata.json").exists():
    shutil.copy(here / "metadata.json", run.output_dir / "metadata.json")
"""
"""Gives the samples and outputs of a run again."""


def _evaluate(
    trial: Trial, sent: List[Tuple[int, Dict[str, float]]], config: Mapping[str, Any], submission: Mapping[str, Any]
) -> None:
    """Derived outputs and histories of a function: a runner evaluates them of a script that gives the same samples and outputs."""
    with tempfile.TemporaryDirectory(prefix="simbatch-derived-") as place:
        folder = Path(place)
        given = {"library": str(Path(__file__).resolve().parents[2]), "samples": sent}
        (folder / "given.json").write_text(json.dumps(given), encoding="utf-8")
        (folder / "player.py").write_text(_PLAYER, encoding="utf-8")
        if (trial.output_dir / "metadata.json").exists():
            shutil.copy(trial.output_dir / "metadata.json", folder / "metadata.json")
        played = json.loads(json.dumps(submission))
        played.pop("code", None)
        played["config"]["simulation"] = {**played["config"]["simulation"], "name": "function"}
        played["config"]["simulation"].pop("code", None)
        # The samples are those until a rule ended the run.
        played["config"]["early_termination"]["enabled"] = False
        played["config"]["compute"]["job_timeout_seconds"] = 0
        end = _run_one(folder, folder / "player.py", config, played, True)
    result = end.get("result", {})
    trial.error = end.get("error_message") if end["type"] == "fail" else None
    trial.missing = result.get("derived_missing", {})
    derived = [one["name"] for one in submission["config"].get("derived") or []]
    trial.outputs.update({name: value for name, value in result.get("metadata", {}).items() if name in derived})
    trial.histories.update(_histories(result))


def _execute_script(
    entrypoint: Optional[Path], config: Mapping[str, Any], submission: Mapping[str, Any], quiet: bool
) -> Trial:
    if entrypoint is None:
        raise NotReadyError("the script of the simulation is not known; give entrypoint=\"sim.py\" to the study")
    folder = Path(tempfile.mkdtemp(prefix="simbatch-run-"))
    trial = Trial(config["run_id"], config["parameters"], folder / "output")
    begin = time.perf_counter()
    end = _run_one(folder, entrypoint, config, submission, quiet)
    trial.seconds = time.perf_counter() - begin
    result = end.get("result", {})
    trial.error = end.get("error_message") if end["type"] == "fail" else None
    trial.outputs, trial.missing = result.get("metadata", {}), result.get("derived_missing", {})
    trial.histories = _histories(result)
    trial.terminated_by, trial.would_terminate = result.get("terminated_by"), result.get("would_terminate")
    trial.samples = _stored_samples(result.get("telemetry_data"))
    return trial


def _run_one(
    folder: Path, entrypoint: Path, config: Mapping[str, Any], submission: Mapping[str, Any], quiet: bool
) -> Dict[str, Any]:
    """Executes the script as a runner does, with its output below `folder`, and returns how it ended."""
    from ..local.program import simbatch

    (folder / "run.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "study.json").write_text(json.dumps(submission), encoding="utf-8")
    arguments = ["run-one", str(folder / "run.json"), "--study", str(folder / "study.json")]
    arguments += ["--entrypoint", str(entrypoint), "--output-dir", str(folder / "output"), "-o", "json"]
    arguments += ["--python-executable", sys.executable, *(["--quiet"] if quiet else [])]
    ended = simbatch(arguments, show_errors=not quiet)
    try:
        end: Dict[str, Any] = json.loads(ended.stdout)
    except ValueError:
        raise SimbatchError(f"the run could not be executed: {(ended.stderr or '').strip() or ended.stdout.strip()}") from None
    return end


def _histories(result: Mapping[str, Any]) -> Dict[str, List[Optional[float]]]:
    return {name: _values(text) for name, text in result.get("histories", {}).items()}


def _values(text: str) -> List[Optional[float]]:
    """The values of a history, little-endian doubles in base64, NaN where missing."""
    data = base64.b64decode(text)
    return [None if math.isnan(it) else it for (it,) in struct.iter_unpack("<d", data)]


def _stored_samples(path: Optional[str]) -> List[Dict[str, float]]:
    """The samples of a Parquet file; none without pyarrow, since the file is there for a reader."""
    if path is None:
        return []
    try:
        from pyarrow import parquet
    except ImportError:
        return []
    rows: Sequence[Mapping[str, Any]] = parquet.read_table(path).to_pylist()
    return [{("t" if name == "timestamp_ns" else name): value for name, value in row.items()} for row in rows]


def _outputs(folder: Path) -> Dict[str, Any]:
    try:
        found: Dict[str, Any] = json.loads((folder / "metadata.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return found
