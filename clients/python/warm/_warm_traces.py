"""The traces that a run leaves in a process that executes more runs: found after each run, undone where that is certain.

`restored` has changes that were undone, and `left` those for which the process has to end: nothing else would surely remove them.
Not found: changes inside objects of libraries (their attributes, the cache of a function), settings of C libraries, and what libraries
that a run has imported have set.
"""

import _signal
import _thread
import atexit
import gc
import os
import sys
import types
import warnings

import _warm_descriptors as descriptors
import _warm_modules as modules
import _warm_run as runs
import _warm_settings as settings
import _warm_variables as program

SIGNALS = [
    it
    for it in (getattr(_signal, name, None) for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGCHLD", "SIGFPE"))
    if it is not None
]
TIMERS = [getattr(_signal, name) for name in ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF") if hasattr(_signal, name)]
# Modules with executors, and the variable by which they refuse work at the end of the interpreter.
EXECUTORS = (("concurrent.futures.thread", "_shutdown"), ("concurrent.futures.process", "_global_shutdown"))
OWN_THREAD = "simbatch-telemetry"
OWN_THREAD_S = 2.0
MOST_NAMES = 5
_PR_SET_CHILD_SUBREAPER = 36


class Found:
    """The traces of one run, as sentences that begin with a verb in the past: `changed the working directory`."""

    __slots__ = ("restored", "left", "reads")

    def __init__(self):
        self.reads = None
        self.restored = []
        self.left = []


def begin_run(place, on_demand):
    """The next `simbatch.run()` is for this run; a package of this version has its configuration without reading it again."""
    run = sys.modules.get("simbatch._run")
    if run is not None:
        run._current = None
        run._given = (place.config_path, place.config)
        run._place = place if on_demand else None


def finish():
    """Does what the interpreter does at its end before the objects of a program are freed. Returns the look-ups of the run, or None."""
    run = sys.modules.get("simbatch._run")
    current = getattr(run, "_current", None)
    if current is not None:
        current.close()
    if run is not None:
        run._current = run._given = run._place = None
    threading = sys.modules.get("threading")
    if threading is not None and len(threading._active) > 1:
        _end_executors()
        main = threading.main_thread()
        for thread in threading.enumerate():
            if thread is not main and not thread.daemon:
                thread.join()
            elif thread.name.startswith(OWN_THREAD):
                thread.join(OWN_THREAD_S)
    processes = sys.modules.get("multiprocessing.process")
    if processes is not None and processes._children:
        for child in processes.active_children():
            if child.daemon:
                child.terminate()
            child.join()
    reads = getattr(current, "_reads", None)
    return None if reads is None else reads.report()


def _end_executors():
    """Lets the threads of executors that were not shut down end after their work; later runs may have executors all the same."""
    for name, flag in EXECUTORS:
        module = sys.modules.get(name)
        if hasattr(module, "_python_exit"):
            try:
                module._python_exit()
            finally:
                setattr(module, flag, False)


class Traces:
    """The state before the first run. `variables`: of the program's own modules, as (dictionary, its copy)."""

    def __init__(self, variables):
        _adopt_orphans()
        own = [it for it, _ in variables if str(it.get("__name__")).partition(".")[0] != "simbatch"]
        function = getattr(sys.modules.get("simbatch.functions.loaded"), "FUNCTION", None)
        self.variables = program.Variables(own + _travelled(function), [] if function is None else [function])
        # The variables of the run before, as they were given.
        self.entered = {}
        # By name, the texts to which the environment of the process refers.
        self.texts = {}
        self.putenv = runs.load("putenv")
        self.directory = os.getcwd()
        self.place = _file(".")
        self.path = list(sys.path)
        self.arguments = list(sys.argv)
        self.streams = sys.stdin, sys.stdout, sys.stderr
        self.hook = sys.excepthook
        self.descriptors = descriptors.Descriptors()
        self.handlers = [(it, _signal.getsignal(it)) for it in SIGNALS]
        self.settings = settings.Settings()
        self.filters = list(warnings.filters)
        self.exits = _Exits()
        self.modules = _Modules()
        self.threads = _thread._count()
        numpy = sys.modules.get("numpy")
        self.errors = numpy.geterr() if numpy is not None else None
        self.forget_warnings = getattr(warnings, "_filters_mutated", None) or getattr(warnings, "_filters_mutated_lock_held", None)

    def enter(self, variables):
        """Sets the variables of a run; returns the environment that it begins with, which `look` gives back to the next one."""
        entered = self.entered
        data = os.environ._data
        for name, value in variables.items():
            # Most are those of the run before it.
            if entered.get(name) != value:
                entered[name] = value
                key = os.fsencode(name)
                # As `os.environ[name] = value`.
                data[key] = value = os.fsencode(value)
                self._put(key, value)
        self.settings.begin()
        return data.copy()

    def _put(self, name, value):
        """As `os.putenv`, with which the C library keeps each value for ever, and searches all that it has kept."""
        text = name + b"=" + value
        if self.putenv is None or b"\0" in text or self.putenv(text) != 0:
            os.putenv(name, value)
        else:
            self.texts[name] = text

    def leave(self):
        """For a child of a run, which ends without these texts: the environment refers to the C library's own."""
        for name in self.texts:
            value = os.environ._data.get(name)
            if value is not None:
                os.putenv(name, value)

    def look(self, environment):
        """`environment`: as `enter` returned it. Returns what the run has left."""
        found = Found()
        if self.exits.registered:
            atexit._run_exitfuncs()
            found.left.append("registered a function for the end of the process")
        _flush(self.streams)
        sys.last_type = sys.last_value = sys.last_traceback = None
        if hasattr(sys, "last_exc"):
            sys.last_exc = None
        has_imported = self.modules.look()
        if has_imported:
            # Imports of libraries stay, and what they set.
            self.filters = list(warnings.filters)
        restored, left = self.variables.look()
        if restored:
            found.restored.append("changed the variable%s %s" % ("s" if len(restored) > 1 else "", _names(restored)))
        if left:
            found.left.append("changed the content of the variable%s %s" % ("s" if len(left) > 1 else "", _names(left)))
        gc.enable()
        gc.collect()
        if has_imported:
            # Their objects stay too, and no later collection visits them.
            gc.freeze()
        self._interpreter(found)
        self.settings.look(found)
        self._environment(environment, found)
        self._process(found)
        return found

    def _interpreter(self, found):
        if (sys.stdin, sys.stdout, sys.stderr) != self.streams:
            sys.stdin, sys.stdout, sys.stderr = self.streams
            found.restored.append("replaced sys.stdin, sys.stdout or sys.stderr")
        if sys.path != self.path:
            sys.path[:] = self.path
        if sys.argv != self.arguments:
            sys.argv = list(self.arguments)
            found.restored.append("changed sys.argv")
        if sys.excepthook is not self.hook:
            sys.excepthook = self.hook
            found.restored.append("changed sys.excepthook")
        if warnings.filters != self.filters:
            warnings.filters[:] = self.filters
            found.restored.append("changed the filters of warnings")
        if self.forget_warnings is not None:
            # A warning that is shown once is shown once in each run.
            self.forget_warnings()
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            if self.errors is None:
                self.errors = {it: "ignore" if it == "under" else "warn" for it in ("divide", "over", "under", "invalid")}
            if numpy.geterr() != self.errors:
                numpy.seterr(**self.errors)
                found.restored.append("changed numpy's handling of errors")

    def _environment(self, environment, found):
        data = os.environ._data
        if data != environment:
            changed = [name for name in {**data, **environment} if data.get(name) != environment.get(name)]
            for name in changed:
                if name in environment:
                    os.environ[os.fsdecode(name)] = os.fsdecode(environment[name])
                else:
                    del os.environ[os.fsdecode(name)]
            plural = "s" if len(changed) > 1 else ""
            found.restored.append("changed the environment variable%s %s" % (plural, _names(map(os.fsdecode, changed))))
        if _file(".") != self.place:
            try:
                os.chdir(self.directory)
                found.restored.append("changed the working directory")
            except OSError:
                found.left.append("changed the working directory, which cannot be entered again")

    def _process(self, found):
        changed = []
        for number, handler in self.handlers:
            if _signal.getsignal(number) != handler:
                changed.append(_name_of(number))
                if handler is None:
                    found.left.append("changed a signal handler that cannot be set again")
                else:
                    _signal.signal(number, handler)
        if changed:
            found.restored.append("changed the handler%s of %s" % ("s" if len(changed) > 1 else "", _names(changed)))
        for timer in TIMERS:
            if _signal.getitimer(timer) != (0.0, 0.0):
                _signal.setitimer(timer, 0.0)
                found.restored.append("left a timer running")
        change = self.descriptors.look()
        if change is not None:
            self._open_files(*change, found)
        if _thread._count() > self.threads:
            found.left.append("left a thread running")
        if _has_children():
            found.left.append("left a process running")

    def _open_files(self, opened, changed, found):
        standard = {0, 1, 2}
        if changed & standard:
            found.left.append("replaced or closed a standard stream")
        if changed - standard:
            found.left.append("closed or replaced a file that was open before it")
        opened = sorted(opened - standard)
        if opened:
            found.left.append("left a file open: " + _names(map(self.descriptors.describe, opened)))


class _Exits:
    """Counts functions that a run registers for the end of the process; those of libraries, which imports register, stay."""

    def __init__(self):
        self.registered = 0
        register = atexit.register

        def counted(function, *arguments, **more):
            if not modules.is_library_file(sys._getframe(1).f_code.co_filename):
                self.registered += 1
            return register(function, *arguments, **more)

        atexit.register = counted


class _Modules:
    """The modules that are loaded. Those of libraries that a run imports stay; the program's own are imported again by the next run."""

    def __init__(self):
        self._remember()

    def _remember(self):
        # That of the run, which each run has anew.
        sys.modules.pop("__main__", None)
        self.count = len(sys.modules)
        self.last = next(reversed(sys.modules))
        self.names = frozenset(sys.modules)

    def look(self):
        """Returns whether other modules are loaded than before."""
        sys.modules.pop("__main__", None)
        if len(sys.modules) == self.count and next(reversed(sys.modules)) == self.last:
            return False
        for name in [it for it in sys.modules if it not in self.names and _is_own(it)]:
            del sys.modules[name]
        self._remember()
        return True


def _is_own(name):
    """Whether the module is source text of the program. The package `simbatch` keeps nothing of a run."""
    path = getattr(sys.modules[name], "__file__", None)
    return isinstance(path, str) and path.endswith(".py") and name.partition(".")[0] != "simbatch" and not modules.is_library_file(path)


def _travelled(function):
    """The global variables of the function of a study and of all functions and classes that came with it."""
    pending = [function]
    known = {id(module.__dict__) for module in list(sys.modules.values()) if isinstance(module, types.ModuleType)}
    found = []
    seen = set()
    while pending:
        it = pending.pop()
        if id(it) in seen:
            continue
        seen.add(id(it))
        if isinstance(it, types.MethodType):
            pending += [it.__func__, it.__self__]
        elif isinstance(it, types.FunctionType):
            variables = it.__globals__
            if id(variables) not in known:
                known.add(id(variables))
                found.append(variables)
                pending += variables.values()
            pending += map(program.content, it.__closure__ or ())
        elif isinstance(it, type) and it.__module__ == "__main__":
            pending += vars(it).values()
    return found


def _adopt_orphans():
    """Makes this process the parent of all that its children leave, where the system can."""
    if sys.platform.startswith("linux"):
        prctl = runs.load("prctl")
        if prctl is not None:
            prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _has_children():
    try:
        while True:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return True
    except ChildProcessError:
        return False


def _file(place):
    """The identity of a file by its descriptor or path; None where there is none."""
    try:
        it = os.stat(place)
    except OSError:
        return None
    return it.st_dev, it.st_ino


def _flush(streams):
    _, *own = streams
    for stream in own if sys.stdout is own[0] and sys.stderr is own[1] else (*own, sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except BaseException:
            pass


def _name_of(number):
    import signal

    return signal.Signals(number).name


def _names(them):
    them = list(them)
    more = len(them) - MOST_NAMES
    return ", ".join(them[:MOST_NAMES]) + (" and %d more" % more if more > 0 else "")
