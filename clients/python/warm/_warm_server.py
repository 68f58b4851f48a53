"""The loop of the forkserver: orders of the runner in, processes of runs out. Runs no code of a simulation after its start."""

import _signal
import gc
import json
import os
import select
import sys
import time
import warnings

import _warm_modules as modules
import _warm_run as runs

CONTROL = 3
LIBRARIES_LOOK_S = 0.1
RESERVED = b"SVC_OUTPUT_DIR="


class Server:
    """State of the server. `settings`: entrypoint, preload (list or None), death_signal, skipped (module -> reason)."""

    def __init__(self, settings, bare, script):
        self.settings = settings
        self.bare = bare
        self.pid = os.getpid()
        self.entrypoint = settings["entrypoint"]
        self.script = script
        self.prctl = runs.load("prctl") if settings["death_signal"] and sys.platform.startswith("linux") else None
        self.exit = runs.load("exit")
        self.memory = runs.ProcessMemory(RESERVED)
        self.environ = dict(os.environb)
        os.environ.pop("SVC_OUTPUT_DIR", None)
        self.children = {}  # pid -> id, those not reaped
        self.reported = set()
        self.code = None
        self.files = {}
        self.looked = 0.0
        self.loaded = frozenset()
        self.globals_before = []
        self.restore = None
        self.wakeup = None
        self.buffer = b""
        self.can_wait = hasattr(os, "waitid")

    def send(self, **message):
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(CONTROL, data) :]

    # --- start -------------------------------------------------------------------------------------------------------

    def start(self):
        """Imports and compiles; returns False when this simulation cannot be forked, after a message to the runner."""
        began = time.monotonic()
        if self.prctl:
            self.prctl(runs.PR_SET_PDEATHSIG, _signal.SIGKILL)
        directory = os.path.dirname(os.path.realpath(self.entrypoint))
        try:
            with open(self.entrypoint, "rb") as file:
                self._remember(self.entrypoint)
                source = file.read()
            if source.startswith(b"PK\x03\x04"):
                raise modules.Refused("its entrypoint is an archive")
            name = modules.shadowed(self.bare, directory)
            if name is not None:
                raise modules.Refused(
                    "%s beside the entrypoint has the name of a module that the warm interpreter needs; rename it" % name
                )
            sys.argv = [self.entrypoint]
            if not getattr(sys.flags, "safe_path", False):
                sys.path.insert(0, directory)
            sys.modules["__main__"] = runs.main_module(self.entrypoint)
            preload = self._preload(source)
            modules.require_one_thread("a module")
        except modules.Refused as refused:
            self.send(type="refused", reason=str(refused))
            return False
        except OSError as error:
            self.send(type="refused", reason="its entrypoint cannot be read: %s" % error.strerror)
            return False
        self._compile(source)
        self.loaded = frozenset(sys.modules)
        for name, module in list(sys.modules.items()):
            path = getattr(module, "__file__", None)
            if isinstance(path, str) and name != "__main__":
                self._remember(path)
                if not modules.is_library_file(path):
                    self.globals_before.append((module.__dict__, dict(module.__dict__)))
        self._remember(os.getcwd(), inode_only=True)
        self.restore = _signal.getsignal(_signal.SIGCHLD)
        read, write = os.pipe()
        os.set_blocking(read, False)
        os.set_blocking(write, False)
        self.wakeup = read, write
        _signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        _signal.signal(_signal.SIGCHLD, lambda *_: None)
        gc.collect()
        gc.disable()
        gc.freeze()
        ms = round((time.monotonic() - began) * 1000 + self.settings.get("spent_ms", 0), 1)
        skipped = [[name, why] for name, why in preload.skipped.items()]
        self.send(type="ready", preloaded=preload.loaded, skipped=skipped, ms=ms, holds_pids=self.can_wait)
        return True

    def _preload(self, source):
        names = self.settings["preload"]
        wanted = modules.leading_imports(source, self.entrypoint) if names is None else [(it, ()) for it in names]
        began = time.monotonic()
        saved = os.dup(1), os.dup(2)
        log = runs.scratch_file()
        for fd in (1, 2):
            os.dup2(log, fd)
        first = [(it, ()) for it in self.settings.get("first", ())]
        preload = modules.Preload(first + wanted, self.settings["skipped"], log)
        try:
            preload.run()
        finally:
            for fd, copy in zip((1, 2), saved):
                os.dup2(copy, fd)
                os.close(copy)
            os.close(log)
        if preload.must_restart:
            spent = self.settings.get("spent_ms", 0) + (time.monotonic() - began) * 1000
            first = [it for it, names in preload.modules if it == "numpy.random" and not names]
            again = dict(self.settings, skipped=preload.skipped, first=first, spent_ms=spent)
            arguments = [sys.executable, self.script, json.dumps(again)]
            os.execve(sys.executable, arguments, self.environ)
        return preload

    def _compile(self, source):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            try:
                code = compile(source, self.entrypoint, "exec", dont_inherit=True)
            except (SyntaxError, ValueError):
                return
        if not found:
            self.code = code

    # --- files -------------------------------------------------------------------------------------------------------

    def _remember(self, path, inode_only=False):
        try:
            self.files[path] = _identity(path, inode_only), inode_only, modules.is_library_file(path)
        except OSError:
            pass  # inside an archive

    def changed_file(self):
        """A file that is not as it was imported, or None. Files of libraries are looked at a few times a second at most."""
        now = time.monotonic()
        all_of_them = now - self.looked > LIBRARIES_LOOK_S
        for path, (before, inode_only, is_library) in self.files.items():
            if is_library and not all_of_them:
                continue
            try:
                if _identity(path, inode_only) != before:
                    return path
            except OSError:
                return path
        if all_of_them:
            self.looked = now
        return None

    # --- loop --------------------------------------------------------------------------------------------------------

    def loop(self):
        """Returns the order of a run in that run's own process, and None in the server when the runner has ended."""
        while True:
            ready, _, _ = select.select([CONTROL, self.wakeup[0]], [], [])
            if self.wakeup[0] in ready:
                try:
                    while os.read(self.wakeup[0], 4096):
                        pass
                except BlockingIOError:
                    pass
                self._look()
            if CONTROL in ready:
                try:
                    data = os.read(CONTROL, 1 << 16)
                except ConnectionError:
                    data = b""
                if not data:
                    self._end_all()
                    return None
                *lines, self.buffer = (self.buffer + data).split(b"\n")
                for line in lines:
                    order = self._obey(json.loads(line))
                    if order is not None:
                        return order

    def _obey(self, order):
        kind = order["type"]
        if kind == "run":
            return order if self._fork(order) else None
        if kind == "reap":
            for pid, number in list(self.children.items()):
                if number == order["id"] and pid in self.reported:
                    self._forget(pid)
                    self.send(type="reaped", id=number)
        elif kind == "ping":
            self.send(type="pong")
        return None

    def _fork(self, order):
        """True in the new process."""
        path = self.changed_file()
        if path is not None:
            self.send(type="stale", id=order["id"], path=path)
            return False
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (AttributeError, ValueError, OSError):
                pass
        try:
            pid = os.fork()
        except OSError as error:
            self.send(type="unforked", id=order["id"], code=runs.error_code(error))
            return False
        if pid == 0:
            return True
        self.children[pid] = order["id"]
        self.send(type="started", id=order["id"], pid=pid)
        return False

    def _look(self):
        for pid, number in list(self.children.items()):
            if pid in self.reported:
                continue
            ending = self._ending(pid)
            if ending is not None:
                self.reported.add(pid)
                self.send(type="ended", id=number, **ending)

    def _ending(self, pid):
        if not self.can_wait:
            # macOS before Python 3.13: the pid is free from here on.
            found, status = os.waitpid(pid, os.WNOHANG)
            if found == 0:
                return None
            if os.WIFSIGNALED(status):
                return {"signal": os.WTERMSIG(status)}
            return {"code": os.WEXITSTATUS(status)}
        found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            return None
        return {"code" if found.si_code == os.CLD_EXITED else "signal": found.si_status}

    def _forget(self, pid):
        if self.can_wait:
            os.waitpid(pid, 0)
        del self.children[pid]
        self.reported.discard(pid)

    def _end_all(self):
        for pid in self.children:
            if self.can_wait or pid not in self.reported:
                try:
                    os.killpg(pid, _signal.SIGKILL)
                except OSError:
                    pass


def _identity(path, inode_only):
    it = os.stat(path)
    return (it.st_dev, it.st_ino) if inode_only else (it.st_mtime_ns, it.st_size, it.st_ino)


def serve(bare, own_main):
    """The exit code of the process: of the server, or of a run."""
    settings = json.loads(sys.argv[1])
    server = Server(settings, bare, own_main.__file__)
    if not server.start():
        return 0
    order = server.loop()
    if order is None:
        return 0
    return runs.execute(server, order)
