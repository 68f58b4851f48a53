"""The loop of the forkserver: orders of the runner in, processes of runs out. Runs no code of a simulation after its start."""

import _signal
import gc
import importlib
import json
import os
import sys
import time
import warnings

import _warm_children as children
import _warm_modules as modules
import _warm_run as runs
import _warm_worker as workers

LIBRARIES_LOOK_S = 0.1
# A look at hundreds of files takes some milliseconds: at most this share of the time.
LIBRARIES_LOOK_SHARE = 0.01
RESERVED = b"SVC_OUTPUT_DIR="


class Server:
    """State of the server. `settings`: entrypoint, preload (list or None), death_signal, skipped (module -> reason)."""

    def __init__(self, settings, bare, script, stop):
        self.settings = settings
        self.stop = stop
        self.bare = bare
        self.pid = os.getpid()
        self.entrypoint = settings["entrypoint"]
        self.script = script
        self.prctl = runs.load("prctl") if settings["death_signal"] and sys.platform.startswith("linux") else None
        self.exit = runs.load("exit")
        self.memory = runs.ProcessMemory(RESERVED)
        self.environ = dict(os.environb)
        os.environ.pop("SVC_OUTPUT_DIR", None)
        self.children = children.Children()
        self.code = None
        self.files = {}  # the files of the program
        self.library_files = {}
        self.next_look = 0.0
        self.loaded = frozenset()
        self.globals_before = []

    def send(self, **message):
        self.children.send(**message)
        self.children.flush()

    # --- start -------------------------------------------------------------------------------------------------------

    def start(self):
        """Imports and compiles; returns False when this simulation cannot be forked, after a message to the runner."""
        began = time.monotonic()
        children.close_inherited()
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
        self.stop.keep()
        self.children.watch()
        # No process of a run imports from what a finder has seen before.
        importlib.invalidate_caches()
        gc.collect()
        gc.disable()
        gc.freeze()
        ms = round((time.monotonic() - began) * 1000 + self.settings.get("spent_ms", 0), 1)
        skipped = [[name, why] for name, why in preload.skipped.items()]
        self.send(type="ready", preloaded=preload.loaded, skipped=skipped, ms=ms, holds_pids=self.children.can_wait)
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
        files = self.library_files if modules.is_library_file(path) and not inode_only else self.files
        try:
            files[path] = _identity(path, inode_only), inode_only
        except OSError:
            pass  # the file is inside an archive

    def changed_file(self):
        """A file that is not as it was imported, or None. Files of libraries are looked at a few times a second at most."""
        path = _changed(self.files)
        began = time.monotonic()
        if path is None and began > self.next_look:
            path = _changed(self.library_files)
            ended = time.monotonic()
            self.next_look = ended + max(LIBRARIES_LOOK_S, (ended - began) / LIBRARIES_LOOK_SHARE)
        return path

    # --- runs --------------------------------------------------------------------------------------------------------

    def obey(self, order):
        """Returns the order of a run in that run's own process."""
        path = self.changed_file()
        if path is not None:
            self.children.send(type="stale", id=order["id"], path=path)
            return None
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (AttributeError, ValueError, OSError):
                pass
        return order if self.children.create(order, self._fork) == 0 else None

    def _fork(self, stdout, stderr):
        pid = self.stop.fork()
        if pid == 0:
            self.streams = stdout, stderr
        return pid


def _changed(files):
    for path, (before, inode_only) in files.items():
        try:
            if _identity(path, inode_only) != before:
                return path
        except OSError:
            return path
    return None


def _identity(path, inode_only):
    it = os.stat(path)
    return (it.st_dev, it.st_ino) if inode_only else (it.st_mtime_ns, it.st_size, it.st_ino)


def serve(bare, own_main, stop):
    """The exit code of the process: of the server, or of a run."""
    settings = json.loads(sys.argv[1])
    server = Server(settings, bare, own_main.__file__, stop)
    if not server.start():
        return 0
    order = server.children.loop(server.obey)
    if order is None:
        return 0
    return workers.serve(server, order) if "worker" in order else runs.execute(server, order)
