"""A coordinator and runners in a folder, used by this process: `Study.run`, `simbatch.open`, `simbatch.stop`."""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
import sysconfig
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Union

from ..api.transport import Transport
from ..batch.coordinator import Coordinator
from ..batch.frames import package
from ..errors import LocalError
from ..functions import ship
from .files import lock, replace
from .program import find_program

if TYPE_CHECKING:
    from ..study.description import StudyDescription

DEFAULT_FOLDER = ".simbatch"
# The former supervisor lets its runs end for 30 s; then the new one starts.
_START_S = 150.0
_ANSWER_S = 120.0
_NOTE_AFTER_S = 2.0
# A supervisor has locked its folder after this time, or has failed.
_SURE_S = 20.0

_here: Dict[Path, "Embedded"] = {}


def embedded(folder: Union[str, "os.PathLike[str]"] = DEFAULT_FOLDER, *, keep: bool = False) -> "Embedded":
    """The coordinator of a folder, started when it does not run. `keep`: it outlives this process."""
    path = Path(folder).resolve()
    found = _here.get(path)
    if found is None or found.pid != os.getpid():
        found = _here[path] = Embedded(path)
    found.connect(keep)
    return found


def stop(folder: Union[str, "os.PathLike[str]"] = DEFAULT_FOLDER) -> bool:
    """Ends the coordinator and the runners of a folder, also those that `keep=True` left. False when none runs there.

    Running runs end first, for 30 s at most; then they are handed back. A study continues when it is run again.
    """
    path = Path(folder).resolve()
    found = _here.pop(path, None) or Embedded(path)
    return found.stop()


class Embedded:
    """The connection of this process to the supervisor of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pid = os.getpid()
        self.url = ""
        self._keep = False
        # Threads whose requests find no coordinator revive it one after the other.
        self._reviving = threading.Lock()
        self._socket: Optional[socket.socket] = None
        self._runner: Optional[Dict[str, Any]] = None
        self._transports: List[Transport] = []

    def connect(self, keep: bool = False) -> None:
        """Connects to the supervisor; starts it when there is none. Raises LocalError when it does not start."""
        self._keep = self._keep or keep
        answer = self._ask({}) if self._socket is not None else None
        if answer is None:
            answer = self._join() or self._launch()
        if self._keep:
            answer = self._ask({"keep": True}) or answer
        self.url = str(answer["url"])

    def coordinator(self) -> Coordinator:
        """The coordinator of this folder. When it was stopped, the next question starts it again."""
        file = self.folder / "read.token"
        transport = Transport(self.url, token=file.read_text(encoding="utf-8").strip(), token_file=file)
        transport.on_unreachable = self._revive
        made = Coordinator(transport)
        made.local_failures = self._failures
        return made

    def runner_for(self, study: "StudyDescription", workers: Optional[int]) -> None:
        """Starts the runner that a study needs, with so many slots; a running one with as many stays."""
        slots = (os.cpu_count() or 1) if workers is None else workers
        if isinstance(slots, bool) or not isinstance(slots, int) or slots < 1:
            raise ValueError(f"workers must be an integer of at least 1, not {workers!r}")
        arguments = ["--max-concurrent-jobs", str(slots), "--cpu-cores", "0", "--memory-gb", "0"]
        arguments += ["--python-executable", sys.executable, "--working-directory", os.getcwd()]
        if study.artifact is not None:
            package("cloudpickle", "a function as a simulation")
            name, chosen = f"functions-{ship.python_version()}", ["--allow-functions"]
        elif study.entrypoint is not None:
            digest = hashlib.sha256(str(study.entrypoint).encode()).hexdigest()[:8]
            name, chosen = f"local-{digest}", ["--entrypoint", f"{study.simulation}={study.entrypoint}"]
            # `Batch.extract` sends functions to the runner that has the files.
            if importlib.util.find_spec("cloudpickle") is not None:
                chosen.append("--allow-functions")
        else:
            raise ValueError('entrypoint is missing: name the script that executes a run, e.g. entrypoint="sim.py"')
        self._runner = {"id": name, "arguments": [*chosen, *arguments], "env": {"PYTHONPATH": _import_path()}}
        self._start_runner()

    def stop(self) -> bool:
        """See `simbatch.stop`."""
        answered = self._socket is not None or self._join() is not None
        if answered:
            answered = self._ask({"stop": True}) is not None
        self._close()
        if answered:
            with open(self.folder / "lock") as file:
                lock(file, _START_S)
        return answered

    def _start_runner(self) -> None:
        answer = self._ask({"runner": self._runner})
        if answer is None:
            raise LocalError(f"the supervisor of {self.folder} does not answer; its log: {self._last_words()}")
        if "error" in answer:
            raise LocalError(f"the runner cannot be started: {answer['error']}")

    def _revive(self) -> Optional[str]:
        """The address after the coordinator could not be reached."""
        if self.pid != os.getpid():
            return None
        with self._reviving:
            self.connect()
            if self._runner is not None:
                self._start_runner()
            return self.url

    def _failures(self) -> List[str]:
        with self._reviving:
            names = (self._ask({}) or {}).get("failed") or []
        return [f"the runner {name} does not start: {self._last_words(f'runner-{name}.log')}" for name in names]

    def _state(self) -> Dict[str, Any]:
        try:
            found: Dict[str, Any] = json.loads((self.folder / "local.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found

    def _join(self) -> Optional[Dict[str, Any]]:
        """Connects to a supervisor that runs; None when there is none."""
        state = self._state()
        if "port" not in state:
            return None
        self._close()
        try:
            self._socket = socket.create_connection(("127.0.0.1", state["port"]), 5.0)
        except OSError:
            return None
        self._socket.settimeout(_ANSWER_S)
        atexit.register(self._close)
        answer = self._ask({"secret": state["secret"]})
        if answer is None or "error" in answer:
            self._close()
            return None
        return answer

    def _launch(self) -> Dict[str, Any]:
        find_program()  # raises before anything is made
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        ignored = self.folder / ".gitignore"
        if not ignored.exists():
            replace(ignored, "*\n")
        with open(self.folder / "supervisor.log", "ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "simbatch.local.supervisor", str(self.folder)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                env={**os.environ, "PYTHONPATH": _import_path(True)},
            )  # fmt: skip
        begin, noted = time.monotonic(), False
        while time.monotonic() - begin < _START_S:
            answer = self._join()
            if answer is not None:
                return answer
            if process.poll() not in (None, 0) or (time.monotonic() - begin > _SURE_S and self._is_free()):
                raise LocalError(f"the coordinator in {self.folder} does not start: {self._last_words()}")
            if not noted and time.monotonic() - begin > _NOTE_AFTER_S:
                noted = True
                print("simbatch: the coordinator starts (runs of a former session end first)", file=sys.stderr)
            time.sleep(0.02)
        raise LocalError(f"the coordinator in {self.folder} has not started in {_START_S:g} s: {self._last_words()}")

    def _is_free(self) -> bool:
        """Whether no supervisor has the folder, neither running nor starting."""
        try:
            with open(self.folder / "lock") as file:
                return lock(file, 0.0)
        except FileNotFoundError:
            return True

    def _ask(self, asked: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        if self._socket is None:
            return None
        try:
            self._socket.sendall(json.dumps(asked).encode() + b"\n")
            data = b""
            while not data.endswith(b"\n"):
                piece = self._socket.recv(65536)
                if not piece:
                    raise OSError("closed")
                data += piece
        except OSError:
            self._close()
            return None
        answer: Dict[str, Any] = json.loads(data)
        return answer

    def _close(self) -> None:
        if self._socket is not None and self.pid == os.getpid():
            self._socket.close()
        self._socket = None

    def _last_words(self, *names: str) -> str:
        for name in names or ("coordinator.log", "supervisor.log"):
            try:
                lines = (self.folder / name).read_text(encoding="utf-8", errors="replace").strip().splitlines()
            except OSError:
                continue
            if lines:
                return lines[-1][-2000:]
        return f"see the logs in {self.folder}"


def _import_path(own: bool = False) -> str:
    """The folders from which this process imports modules that are not installed; `own`: with that of this package."""
    folders = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    found = [path for path in sys.path if path and os.path.isdir(path) and os.path.realpath(path) not in folders]
    here = str(Path(__file__).resolve().parents[2])
    return os.pathsep.join(dict.fromkeys([*([here] if own else []), *found]))
