"""The process of one run: made equal to a fresh `python entrypoint`, executed, and ended as an interpreter ends."""

import _signal
import atexit
import builtins
import gc
import importlib
import importlib.machinery
import os
import sys
import types
from _io import _IOBase

import _warm_modules as modules
import _warm_seed as seeds

PR_SET_PDEATHSIG = 1


# --- before the first fork -------------------------------------------------------------------------------------------


def load(name):
    """A function of the C library, called with the interpreter's lock held; None where there is none."""
    try:
        import ctypes

        return getattr(ctypes.PyDLL(None), name)
    except (ImportError, OSError, AttributeError):
        return None


def scratch_file():
    if hasattr(os, "memfd_create"):
        return os.memfd_create("import output")
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def main_module(path):
    """An empty `__main__` as the interpreter makes it for a script."""
    main = types.ModuleType("__main__")
    main.__file__ = path
    main.__cached__ = None
    main.__builtins__ = builtins
    main.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
    if sys.version_info < (3, 14):
        main.__annotations__ = {}
    return main


class ProcessMemory:
    """The command line and the environment that `ps` and the runner see in /proc, which a fork has from its parent.

    The environment block has a variable of spare room, into which a run's output directory goes: the runner finds the
    processes of a run by it. Does nothing where there is no /proc.
    """

    def __init__(self, reserved):
        self.reserved = reserved
        self.arguments = self.variable = None
        try:
            import ctypes

            with open("/proc/self/stat", "rb") as file:
                fields = file.read().rpartition(b") ")[2].split()
            start, end, environment = int(fields[45]), int(fields[46]), int(fields[47])
            with open("/proc/self/environ", "rb") as file:
                block = b"\0" + file.read()
            at = block.find(b"\0" + reserved)
            if start > 0 and at >= 0:
                length = block.index(b"\0", at + 1) - at - 1
                self.variable = environment + at, length
                self.arguments = start, end - start
            self._write = ctypes.memmove
        except (ImportError, OSError, ValueError, IndexError):
            pass

    def set(self, arguments, value):
        for place, data in (
            (self.variable, self.reserved + value),
            (self.arguments, b"\0".join(arguments) + b"\0"),
        ):
            if place is not None and len(data) <= place[1]:
                self._write(place[0], data.ljust(place[1], b"\0"), place[1])


# --- in the process of the run -------------------------------------------------------------------------------------


def execute(server, order):
    """Runs the simulation; returns its exit code, or ends the process itself."""
    set_up(server, order)
    gc.enable()
    seeds.seed(order["seed"])
    # A new module: the collector leaves that of the server, and all that it refers to, at the end.
    sys.modules["__main__"] = main_module(server.entrypoint)
    status, signal = run(server.code, server.entrypoint)
    return end(server, status, signal)


def set_up(server, order):
    os.setsid()
    if server.prctl:
        server.prctl(PR_SET_PDEATHSIG, _signal.SIGKILL)
    if os.getppid() != server.pid:
        os._exit(0)
    environment = order["env"]
    directory = os.fsencode(environment.get("SVC_OUTPUT_DIR", ""))
    command = [os.fsencode(sys.executable), os.fsencode(server.entrypoint)]
    server.memory.set(command, directory)
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[1:] = [server.entrypoint]
    server.children.release()
    server.stop.release()
    for fd, stream in enumerate(server.streams, 1):
        os.dup2(stream, fd)
        os.close(stream)
    os.environ.update(environment)


def run(code, path):
    """(exit code, signal) of the program, its uncaught exception printed as the interpreter prints it."""
    try:
        if code is None:
            with open(path, "rb") as file:
                code = compile(file.read(), path, "exec", dont_inherit=True)
        exec(code, sys.modules["__main__"].__dict__)
        return 0, None
    except SystemExit as end:
        return _exit_code(end.code), None
    except BaseException as error:
        interrupted = isinstance(error, KeyboardInterrupt)
        _report(error)
        return 1, (_signal.SIGINT if interrupted else None)


def _exit_code(code):
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF if -(1 << 63) <= code < 1 << 63 else 0xFF
    try:
        sys.stderr.write(str(code) + "\n")
    except Exception:
        pass
    return 1


def _report(error):
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals is globals():
        trace = trace.tb_next
    error.__traceback__ = trace
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    hook = getattr(sys, "excepthook", sys.__excepthook__)
    try:
        hook(type(error), error, trace)
    except SystemExit:
        raise
    except BaseException as second:
        inner = second.__traceback__
        while inner is not None and inner.tb_frame.f_globals is globals():
            inner = inner.tb_next
        second.__context__ = None
        sys.stderr.write("Error in sys.excepthook:\n")
        sys.__excepthook__(type(second), second.with_traceback(inner), inner)
        sys.stderr.write("\nOriginal exception was:\n")
        sys.__excepthook__(type(error), error, trace)


# --- the end -------------------------------------------------------------------------------------------------------


def end(server, status, signal):
    """Does what the interpreter does at its end, for the objects of this run; the modules that the server loaded are left.

    Ends the process, or returns its exit code where the interpreter itself must end it, which takes longer: for objects
    with finalizers, because their order is the interpreter's, and for files that its modules keep open.
    """
    threading = sys.modules.get("threading")
    if threading is not None:
        try:
            threading._shutdown()
        except BaseException as error:
            _ignored(error, threading)
    try:
        atexit._run_exitfuncs()  # prints the errors of its functions
    except BaseException:
        pass
    del threading
    sys.last_type = sys.last_value = sys.last_traceback = None
    if hasattr(sys, "last_exc"):
        sys.last_exc = None
    if signal is None and (server.exit is None or _has_finalizers(but=_IOBase)):
        gc.unfreeze()
        return status
    for name in _own_modules(server.loaded):
        del sys.modules[name]
    gc.collect()
    if _drop_changes(server.globals_before):
        gc.collect()
    if signal is None and (_has_finalizers() or not _flush()):
        gc.unfreeze()
        return status
    if signal is not None:
        _flush()
        _signal.signal(signal, _signal.SIG_DFL)
        os.kill(os.getpid(), signal)
    # The handlers of C libraries run too: some complete their files there.
    server.exit(status)
    os._exit(status)


def _own_modules(loaded):
    """`__main__`, and the modules of the program that this run has imported: they are the last in the order of imports."""
    found = ["__main__"]
    # A list of all names would count a reference to each, and so copy their pages.
    for name in reversed(sys.modules):
        if name in loaded:
            break
        if not modules.is_library(name):
            found.append(name)
    return found


def _drop_changes(before):
    """Releases what the run has put into variables of the program's own modules."""
    changed = False
    for variables, values in before:
        for name in list(variables):
            if name not in values or variables[name] is not values[name]:
                variables[name] = None
                changed = True
    return changed


def _has_finalizers(but=()):
    """Whether this run has made an object with a finalizer that is still there; `but`: not of these kinds.

    A closed file or socket has nothing left to finalize. The telemetry of a run keeps one.
    """
    sockets = sys.modules.get("_socket")
    kinds = {}
    for it in gc.get_objects():
        kind = type(it)
        found = kinds.get(kind)
        if found is None:
            found = kinds[kind] = hasattr(kind, "__del__") and not issubclass(kind, but)
        if found and not getattr(it, "closed", False) and not _is_closed_socket(it, sockets):
            return True
    return False


def _is_closed_socket(it, sockets):
    if sockets is None or not isinstance(it, sockets.socket) or type(it).__del__ is not sockets.socket.__del__:
        return False
    return sockets.socket.fileno(it) == -1


def _flush():
    """Flushes stdout and stderr; False when that fails, which the interpreter reports at its end."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
        return True
    except BaseException:
        return False


def _ignored(error, where):
    try:
        sys.stderr.write("Exception ignored in: %r\n" % (where,))
        sys.__excepthook__(type(error), error, error.__traceback__)
    except BaseException:
        pass
