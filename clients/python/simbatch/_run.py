"""One run, as a simulation sees it: its parameters, where its results go, its telemetry.

A study starts a simulation for each of its runs, so what only some of them use is imported where it is used (`load_all` loads it).
"""

from __future__ import annotations

import atexit
import json
import math
import os
import sys
import threading
import time
from collections import abc
from json.encoder import encode_basestring_ascii

from ._parameters import Parameters, RunConfigError, hint, note, records_reading, unread
from ._sender import FORKED, NoTelemetry, say
from ._variables import variable

TYPE_CHECKING = False  # to checkers of types it is true; the module `typing` is not needed for it
if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Type

    from ._checkpoint import Checkpoint
    from ._parameters import Reads
    from ._parent import ParentRun
    from ._sender import Sender

_BY_HAND = (
    "SVC_RUN_CONFIG is not set, so there is no run configuration: this program is started by a simbatch runner. To try it "
    "by hand, use `simbatch run-one RUN_CONFIG.json --entrypoint ...`, or set SVC_RUN_CONFIG and SVC_OUTPUT_DIR, or give "
    "values to try with: simbatch.run(defaults={...})"
)


class Run:
    """One run. Made by `simbatch.run()`."""

    run_id: int
    """Index of the run within its study, from 0."""
    parameters: Parameters
    """Sampled parameters by name."""
    metadata: Dict[str, Any]
    """Of the study: simulation_name, simulation_version, duration_minutes, sampling_method, generated_at, seed."""

    def __init__(
        self,
        config: Mapping[str, Any],
        output_dir: Optional[str],
        telemetry_url: Optional[str],
        telemetry_token: Optional[str],
        reads: Optional[Reads] = None,
        place: Optional[Any] = None,
    ) -> None:
        self.run_id = config["run_id"]
        self.parameters = Parameters(config["parameters"]) if reads is None else reads.parameters
        self._reads = reads
        self.metadata = dict(config["metadata"])
        self._output_dir = output_dir
        self._place = place
        self._telemetry_url = telemetry_url
        self._telemetry_token = telemetry_token
        self._telemetry: Optional[Sender] = None
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._results: Optional[Dict[str, Any]] = None
        self._checkpoint: Optional[Checkpoint] = None
        self._parent: Optional[ParentRun] = None

    @property
    def output_dir(self) -> Path:
        """Where artifacts go. It exists."""
        from pathlib import Path

        return Path(self._made_dir())

    def _made_dir(self) -> str:
        if self._output_dir is None:
            assert self._place is not None
            self._place.make()
            self._output_dir = os.fspath(self._place.directory)
        return self._output_dir

    @property
    def random_seed(self) -> int:
        """For the simulation's own random numbers, below 2**48: the same for every attempt at this run, another for every
        other run; of a study with scenarios the same for a sample in every cell. The Node client gives the same number."""
        import hashlib

        seed = self.metadata.get("seed")
        sample = self.metadata.get("sample")
        text = f"{0 if seed is None else seed}/{self.run_id if sample is None else sample}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")

    @property
    def attempt(self) -> int:
        """Which attempt at the run this is, from 1."""
        return int(variable("ATTEMPT") or 1)

    @property
    def parent(self) -> Optional[ParentRun]:
        """The finished run that this one is about, in the program of an extraction (`Batch.extract`); None in a simulation."""
        if self._parent is None:
            from ._parent import parent_of

            self._parent = parent_of()
        return self._parent

    def checkpoint(self) -> Checkpoint:
        """The state that the run keeps for its next attempt, should this one be cut short by the end of an allocation, the loss
        of its runner, or a failure::

            checkpoint = run.checkpoint()
            state = checkpoint.load() or begin()
            while not state.done:
                state.step()
                if checkpoint.due(every_s=60):
                    checkpoint.save(state)

        It is removed when the run has ended. Where none is kept, `load` returns None and `save` does nothing.
        """
        if self._checkpoint is None:
            from pathlib import Path

            from ._checkpoint import Checkpoint

            directory = variable("CHECKPOINT_DIR")
            self._checkpoint = Checkpoint(Path(directory) if directory else None)
        return self._checkpoint

    @property
    def dropped_samples(self) -> int:
        """Telemetry samples lost so far. The runner keeps the number on the run's result."""
        return self._telemetry.dropped if self._telemetry else 0

    def telemetry(
        self,
        values: Optional[Mapping[str, float]] = None,
        /,
        *,
        t: Optional[float] = None,
        timestamp_ns: Optional[int] = None,
        **variables: float,
    ) -> None:
        """Sends the values of some variables at one time to the runner: `run.telemetry(t=1.5, altitude_m=320.0)`.

        The time is `t` in seconds or `timestamp_ns`, from whatever zero the simulation counts; without either, now.
        A variable whose name is not a Python identifier goes into a mapping: `run.telemetry({"tank.1": 3.2}, t=1.5)`.
        The first call connects, the others take about two microseconds. A call waits only while 32,768 samples wait for the
        runner, and at most 10 s for a runner that takes none. None raises.
        """
        sender = self._telemetry or self._connect()
        try:
            if timestamp_ns is None:
                timestamp_ns = time.time_ns() if t is None else round(t * 1e9)
            if values is not None:
                variables = {**values, **variables}
            sender.send(int(timestamp_ns), variables)
        except Exception:  # e.g. t is NaN
            sender.lose(1)

    def result(self, values: Optional[Mapping[str, Any]] = None, /, **outputs: Any) -> None:
        """Adds outputs of the run to `metadata.json` in the output directory: `run.result(apogee_m=6400.0)`.

        Numbers, texts, booleans, None, lists and mappings of them; numpy's numbers and arrays too. JSON knows no NaN and no
        infinity: they become null. The file is replaced as a whole, so a reader never finds half of one.
        Raises TypeError for what JSON cannot hold, OSError when the file cannot be written.
        """
        with self._lock:
            self._write(_plain({**(values or {}), **outputs}, ""))

    def history(self, name: str, values: Sequence[Optional[float]]) -> None:
        """Gives a history of the run itself, instead of the runner that makes it of telemetry: `run.history("nz_g", values)`.

        `name`: of a history that the study declares. `values`: a number for each of its times; None or NaN where there is none. A list, a
        tuple or a one-dimensional array of numpy. The file `metadata.json` holds it, and is replaced as a whole. A runner
        fails the run if the study declares another number of times; a history that it does not declare is left out, with a note.
        Raises TypeError for values that are not numbers, ValueError for infinite ones, OSError when the file cannot be written.
        """
        if not isinstance(name, str):
            raise TypeError(f"the name of a history is a text, not {type(name).__name__}")
        numbers = _history(name, values)
        with self._lock:
            given = self._written().get("histories")
            self._write({"histories": {**(given if isinstance(given, dict) else {}), name: numbers}})

    def _written(self) -> Dict[str, Any]:
        if self._results is None:
            self._results = _existing(os.path.join(self._made_dir(), "metadata.json"))
        return self._results

    def _write(self, members: Mapping[str, Any]) -> None:
        """Adds members to metadata.json. The lock is held."""
        directory = self._made_dir()
        if self._place is not None:
            self._place.outputs = None
        results = {**self._written(), **members}
        part = os.path.join(directory, f".metadata.json.{os.getpid()}")
        with open(part, "wb") as file:
            file.write(_text(results).encode() + b"\n")
        os.replace(part, os.path.join(directory, "metadata.json"))
        self._results = results

    def _finish(self, outputs: Mapping[str, Any]) -> None:
        """The same as `result` at the end of a function, without a file where nothing has asked for the directory of the run."""
        place = self._place
        if place is None or place.is_made:
            return self.result(outputs)
        results = _plain({**outputs}, "")
        text = _text(results) + "\n"
        if len(text) > _MOST_HELD:
            return self.result(outputs)
        with self._lock:
            self._results = results
            place.outputs = text

    def close(self) -> None:
        """Sends the telemetry that waits. Happens by itself when the program exits.

        Ends after 5 s in which the runner takes nothing, and after 30 s in any case.
        """
        if self._telemetry:
            self._telemetry.close()

    def _connect(self) -> Sender:
        # The connection is made at the first sample: a simulation without telemetry pays nothing for it. A forked child makes none: it ends
        # without the clean-up that would send the waiting samples.
        with self._lock:
            if self._telemetry is None:
                self._telemetry = self._stream(self._telemetry_url) if self._telemetry_url else NoTelemetry()
            return self._telemetry

    def _stream(self, url: str) -> Sender:
        if os.getpid() != self._pid:
            say(FORKED)
            return NoTelemetry()
        try:
            from ._telemetry import StreamedTelemetry

            # An interpreter that executes run after run closes the telemetry of each.
            return StreamedTelemetry(url, self._telemetry_token, closes_at_exit=_given is None)
        except Exception as error:
            say(f"telemetry is off: {error}")
            return NoTelemetry()

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()


_current: Optional[Run] = None
_given: Optional[Tuple[str, str]] = None
"""In an interpreter that executes run after run: the path of the current run's configuration, and its text."""
_place: Optional[Any] = None
"""In such an interpreter: the directory of the current run, which is made when something asks for it; None where it is there."""
_MOST_HELD = 1 << 16
"""Characters of outputs that have no file."""


def run(defaults: Optional[Mapping[str, float]] = None) -> Run:
    """The run this program was started for. A second call answers the same one.

    `defaults`: all parameters the simulation knows, with values. They fill in what the study does not disperse, serve
    alone when the program is started by hand, and a parameter that is not among them is an error (a misspelt dispersion
    would otherwise have no effect).

    Raises RunConfigError when there is no run configuration (and no defaults) or it cannot be read.
    """
    global _current
    if _current is None:
        place = _place
        path = variable("RUN_CONFIG") if place is None else place.config_path
        if not path and defaults is None:
            raise RunConfigError(_BY_HAND)
        found = unread(path) if path and place is None else None
        config: Dict[str, Any] = _read(path) if path else {"run_id": 0, "parameters": {}, "metadata": {}}
        given = set(config["parameters"])
        config["parameters"] = _with_defaults(config["parameters"], defaults)
        output_dir = None
        reads = None
        if place is None:
            output_dir = _output_dir()
        elif path:
            reads = noted = note(path, config["parameters"], given)
            place.on_made = lambda: noted.mark(unread(path))
        if output_dir is not None and path and found is not None and records_reading(path, found.st_dev):
            reads = note(path, config["parameters"], given)
            reads.mark(found)
            # An interpreter that executes run after run asks for the look-ups itself.
            if _given is None:
                atexit.register(reads.write, output_dir)
        environment = os.environ if place is None else place.environment
        telemetry = variable("TELEMETRY_URL", environment), variable("TELEMETRY_TOKEN", environment)
        _current = Run(config, output_dir, *telemetry, reads, place)
    return _current


def load_all() -> None:
    """Imports what the methods import: for an interpreter whose runs are forks of it, or that executes one after the other."""
    import importlib

    for name in ("difflib", "hashlib", "pathlib", "._checkpoint", "._parent", "._telemetry"):
        importlib.import_module(name, __package__)


def _output_dir() -> str:
    path = variable("OUTPUT_DIR") or "output"
    if _given is None or not os.path.isabs(path):
        path = os.path.realpath(path)
        os.makedirs(path, exist_ok=True)
    return path


def _read(path: str) -> Dict[str, Any]:
    try:
        if _given is not None and _given[0] == path:
            text = _given[1]
        else:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        config = json.loads(text)
    except (OSError, ValueError) as error:
        raise RunConfigError(f"the run configuration {path} (SVC_RUN_CONFIG) cannot be read: {error}") from error
    if not isinstance(config, dict):
        raise RunConfigError(f"{path}: a run configuration is a JSON object")
    run_id, parameters = config.get("run_id"), config.get("parameters")
    if isinstance(run_id, bool) or not isinstance(run_id, int) or run_id < 0:
        raise RunConfigError(f"{path}: run_id must be an integer from 0, is {run_id!r}")
    if not isinstance(parameters, dict):
        raise RunConfigError(f"{path}: parameters must be an object, name -> number")
    for name, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise RunConfigError(f"{path}: parameter {name} must be a number, is {value!r}")
    # The names in the program are interned too, so that a look-up compares no characters.
    parameters = {sys.intern(name): float(value) for name, value in parameters.items()}
    metadata = config.get("metadata", {})
    if not isinstance(metadata, dict):
        raise RunConfigError(f"{path}: metadata must be an object")
    return {"run_id": run_id, "parameters": parameters, "metadata": metadata}


def _with_defaults(parameters: Mapping[str, float], defaults: Optional[Mapping[str, float]]) -> Dict[str, float]:
    if defaults is None:
        return dict(parameters)
    for name in parameters:
        if name not in defaults:
            raise RunConfigError(f"the study disperses {name!r}, which this simulation does not know{hint(name, defaults)}")
    return {**{name: float(value) for name, value in defaults.items()}, **parameters}


def _text(results: Mapping[str, Any]) -> str:
    """The same as `json.dumps(results, indent=2, allow_nan=False)`, whose own code for indented text is slow."""
    if not results or not _SCALARS.keys() >= set(map(type, results.values())):
        return json.dumps(results, indent=2, allow_nan=False)
    members = [f"{encode_basestring_ascii(name)}: {_SCALARS[type(value)](value)}" for name, value in results.items()]
    return "{\n  " + ",\n  ".join(members) + "\n}"


# As the module `json` writes them; it raises for numbers that are not finite.
_SCALARS: Mapping[type, Callable[[Any], str]] = {
    float: lambda it: repr(it) if math.isfinite(it) else json.dumps(it, allow_nan=False),
    int: int.__repr__,
    bool: lambda it: "true" if it else "false",
    str: encode_basestring_ascii,
    type(None): lambda _: "null",
}


def _existing(path: str) -> Dict[str, Any]:
    """The result that the simulation wrote there itself, to which members are added."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _history(name: str, values: Any) -> List[Optional[float]]:
    """The values of a history in JSON's own types."""
    if hasattr(values, "tolist"):  # numpy's arrays
        values = values.tolist()
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"the history {name!r} is a list of numbers, not {type(values).__name__}")
    numbers: List[Optional[float]] = []
    for index, value in enumerate(values):
        if value is not None and (isinstance(value, (bool, str)) or not hasattr(value, "__float__")):
            raise TypeError(f"{name}[{index}]: a value of a history is a number or None, not {type(value).__name__}")
        number = math.nan if value is None else float(value)
        if math.isinf(number):
            raise ValueError(f"{name}[{index}]: a value of a history is finite, or NaN where there is none")
        numbers.append(None if math.isnan(number) else number)
    return numbers


def _plain(value: Any, where: str) -> Any:
    """`value` in JSON's own types."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, (dict, abc.Mapping)):
        return {str(key): _plain(item, f"{where}.{key}" if where else str(key)) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):  # numpy's scalars and arrays
        return _plain(value.tolist(), where)
    raise TypeError(f"{where}: a result is a number, a text, a list or a mapping of them, not {type(value).__name__}")
