"""The process that keeps a coordinator and runners in a folder, for as long as a Python process uses them.

`python -m simbatch.local.supervisor FOLDER`. Its users hold a connection each; when the last one is closed, be it by a crash,
the runners finish their runs and everything ends. One thread only: on Linux a child dies with the thread that started it.
"""

from __future__ import annotations

import json
import os
import secrets
import selectors
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any, Dict, List, Optional, Set

from .._variables import environment_without_settings
from .files import lock, replace
from .program import find_program, simbatch

# How long the first user may take to connect.
FIRST_USER_S = 60.0
# Leaving takes a runner its grace time and this at most.
GRACE_S = 30
_LEAVE_S = 90.0
_TICK_S = 0.1
_LOCK_S = 120.0
# A program that ends sooner than this after its start is started again after a pause, and not for ever.
_HASTY_S = 5.0
_MOST_HASTY = 4


class Child:
    """A program that is started again when it ends by itself."""

    def __init__(self, name: str, arguments: List[str], folder: Path, env: Dict[str, str]) -> None:
        self.name, self.arguments, self._folder, self.env = name, arguments, folder, env
        self.process: Optional["subprocess.Popen[bytes]"] = None
        self._started, self._hasty, self._not_before = 0.0, 0, 0.0
        self._asked = False

    @property
    def has_failed(self) -> bool:
        """Whether it has ended at once too often."""
        return self._hasty >= _MOST_HASTY

    def start(self, stdout: Any = subprocess.DEVNULL) -> "subprocess.Popen[bytes]":
        """Starts the program; its stderr is appended to `<name>.log`."""
        with open(self._folder / f"{self.name}.log", "ab") as log:
            self.process = subprocess.Popen(
                [*find_program(), *self.arguments],
                stdin=subprocess.DEVNULL, stdout=stdout, stderr=log, env={**environment_without_settings(), **self.env},
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,
            )  # fmt: skip
        self._started, self._asked = time.monotonic(), False
        return self.process

    def tick(self) -> bool:
        """Starts the program again when it has ended. Returns whether it did."""
        if self.process is None or self.process.poll() is None or self.has_failed:
            return False
        now = time.monotonic()
        if self._not_before == 0.0:
            self._hasty = self._hasty + 1 if now - self._started < _HASTY_S else 0
            self._not_before = now + min(5.0, 0.2 * 2**self._hasty)
        if now < self._not_before or self.has_failed:
            return False
        self._not_before = 0.0
        return True

    def ask_to_end(self) -> None:
        """Sends SIGTERM, once: a runner ends its runs at a second one."""
        if self.process is not None and self.process.poll() is None and not self._asked:
            self._asked = True
            self.process.terminate()

    def end(self, patience_s: float) -> None:
        """Asks the program to end, and kills it after `patience_s`."""
        if self.process is None:
            return
        self.ask_to_end()
        try:
            self.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None


class Supervisor:
    """The coordinator, the runners and the users of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._secret = secrets.token_hex(16)
        self._selector = selectors.DefaultSelector()
        self._server = socket.create_server(("127.0.0.1", 0))
        self._users: Dict[socket.socket, bytearray] = {}
        self._admitted: Set[socket.socket] = set()
        self._kept = self._stopping = False
        self._until = 0.0
        self._port = 0
        self.url = ""
        self._coordinator = Child("coordinator", [], folder, {})
        self._runners: Dict[str, Child] = {}

    def run(self) -> None:
        """Serves until no user is left."""
        # Before the coordinator: without any token it would answer everybody.
        self._token("read,submit,operate")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._stop)
        try:
            self._start_coordinator()
            self._selector.register(self._server, selectors.EVENT_READ)
            self._announce()
            # No user can connect before: on a busy machine the coordinator takes longer to start than users may take.
            self._until = time.monotonic() + FIRST_USER_S
            for spec in self._stored():
                self._runner(spec)
            while not self._stopping and (self._kept or self._admitted or time.monotonic() < self._until):
                self._tick()
        finally:
            self._end()

    def _stop(self, *_: object) -> None:
        self._stopping = True

    def _token(self, scope: str) -> None:
        path = self._folder / f"{scope.split(',')[0]}.token"
        if path.exists():
            return
        made = simbatch(["token", "create", "--scope", scope, "--data-dir", str(self._folder / "data"), "--name", "local"])
        if made.returncode != 0:
            sys.exit(f"no token can be made: {made.stderr.strip()}")
        replace(path, made.stdout.strip())

    def _start_coordinator(self) -> None:
        arguments = ["serve", "--port", str(self._port), "--data-dir", str(self._folder / "data"), "--log-level", "warn"]
        self._coordinator.arguments = arguments
        process = self._coordinator.start(subprocess.PIPE)
        # No runner needs it before the coordinator listens, and both take as long as Node takes to start.
        self._token("runner")
        stdout: Optional[IO[bytes]] = process.stdout
        assert stdout is not None
        line = stdout.readline().decode("utf-8", "replace")
        stdout.close()
        if "listening on " not in line:
            return
        self.url = line.split("listening on ", 1)[1].split()[0]
        self._port = int(self.url.rsplit(":", 1)[1])

    def _announce(self) -> None:
        if not self.url:
            return
        state = {"url": self.url, "port": self._server.getsockname()[1], "secret": self._secret, "pid": os.getpid()}
        replace(self._folder / "local.json", json.dumps(state))

    def _tick(self) -> None:
        for key, _ in self._selector.select(_TICK_S):
            if key.fileobj is self._server:
                user, _ = self._server.accept()
                user.setblocking(False)
                self._users[user] = bytearray()
                self._selector.register(user, selectors.EVENT_READ)
            else:
                assert isinstance(key.fileobj, socket.socket)
                self._read(key.fileobj)
        if self._coordinator.tick():
            self._start_coordinator()
            self._announce()
        if self._coordinator.has_failed:
            self._stopping = True
        for runner in self._runners.values():
            if runner.tick():
                runner.start()

    def _read(self, user: socket.socket) -> None:
        try:
            data = user.recv(65536)
        except OSError:
            data = b""
        waiting = self._users[user]
        waiting += data
        if not data or len(waiting) > 1 << 20:
            self._leave(user)
            return
        while b"\n" in waiting:
            line, _, rest = bytes(waiting).partition(b"\n")
            waiting[:] = rest
            try:
                answer = self._answer(user, json.loads(line))
            except Exception as error:
                answer = {"error": f"{type(error).__name__}: {error}"}
            try:
                user.sendall(json.dumps(answer).encode() + b"\n")
            except OSError:
                self._leave(user)
                return

    def _leave(self, user: socket.socket) -> None:
        self._selector.unregister(user)
        user.close()
        del self._users[user]
        if user in self._admitted:
            self._admitted.remove(user)
            self._until = 0.0

    def _answer(self, user: socket.socket, asked: Any) -> Dict[str, Any]:
        if user not in self._admitted:
            if not secrets.compare_digest(str(asked.get("secret")), self._secret):
                return {"error": "another process answers at this port"}
            self._admitted.add(user)
        if "runner" in asked:
            self._runner(asked["runner"])
        if asked.get("keep"):
            self._kept = True
        if asked.get("stop"):
            self._stopping = True
        failed = [name for name, runner in self._runners.items() if runner.has_failed]
        return {"url": self.url, "failed": failed}

    def _stored(self) -> List[Dict[str, Any]]:
        try:
            found: List[Dict[str, Any]] = json.loads((self._folder / "runners.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return []
        return found

    def _runner(self, spec: Dict[str, Any]) -> None:
        """Starts a runner, or starts it again when it is to be another one."""
        name = spec["id"]
        arguments = ["runner", "--endpoint", self.url, "--runner-id", name, *spec["arguments"]]
        arguments += ["--output-root", str(self._folder / "output"), "--token-file", str(self._folder / "runner.token")]
        # The coordinator is of this user and this machine alone: its pages may show the files and the live telemetry of runs.
        arguments += ["--grace-secs", str(GRACE_S), "--log-level", "warn", "--serve-files"]
        known = self._runners.get(name)
        if known is not None and not known.has_failed and (known.arguments, known.env) == (arguments, spec["env"]):
            return
        if known is not None:
            known.end(_LEAVE_S)
        self._runners[name] = runner = Child(f"runner-{name}", arguments, self._folder, spec["env"])
        runner.start()
        kept = [one for one in self._stored() if one["id"] != name]
        replace(self._folder / "runners.json", json.dumps([*kept, spec], indent=1))

    def _end(self) -> None:
        try:
            (self._folder / "local.json").unlink()
        except FileNotFoundError:
            pass
        self._server.close()
        for runner in self._runners.values():
            runner.ask_to_end()
        for runner in self._runners.values():
            runner.end(_LEAVE_S)
        self._coordinator.end(_LEAVE_S)


def _die_with_parent() -> None:
    """In the child: SIGTERM when the supervisor dies (Linux)."""
    import ctypes

    ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGTERM)


def main() -> None:
    """Runs the supervisor of the folder in the first argument."""
    # A kernel of Jupyter ends all its children when it restarts: this process must not be one of them.
    if os.fork() > 0:
        os._exit(0)
    os.umask(0o077)
    folder = Path(sys.argv[1])
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(folder / "lock", "a") as file:
        # The supervisor before may still be waiting for its runs to end.
        if not lock(file, _LOCK_S):
            sys.exit(f"another supervisor keeps {folder}")
        Supervisor(folder).run()


if __name__ == "__main__":
    main()
