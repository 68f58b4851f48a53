"""Settings of the interpreter and of the process that are read and set as one value each; a run that changes one is undone."""

import _locale
import _signal
import gc
import os
import sys

try:
    import resource
except ImportError:
    resource = None

LIMITS = () if resource is None else tuple(getattr(resource, it) for it in dir(resource) if it.startswith("RLIMIT_") and it != "RLIMIT_OFILE")


def _umask():
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _is_blocking():
    """Of stdout and stderr; that of a closed stream is not a setting."""
    try:
        return os.get_blocking(1), os.get_blocking(2)
    except OSError:
        return True, True


def _set_blocking(both):
    for fd, is_blocking in enumerate(both, 1):
        os.set_blocking(fd, is_blocking)


def _limits():
    return list(map(resource.getrlimit, LIMITS))


def _set_limits(values):
    for kind, value in zip(LIMITS, values):
        if resource.getrlimit(kind) != value:
            resource.setrlimit(kind, value)


# Each setting: its name in messages, how it is read, how it is set.
SETTINGS = (
    ("the recursion limit", sys.getrecursionlimit, sys.setrecursionlimit),
    ("the interval of threads", sys.getswitchinterval, sys.setswitchinterval),
    ("the trace function", sys.gettrace, sys.settrace),
    ("the profile function", sys.getprofile, sys.setprofile),
    ("the thresholds of the collector", gc.get_threshold, lambda it: gc.set_threshold(*it)),
    ("the locale", lambda: _locale.setlocale(_locale.LC_ALL, None), lambda it: _locale.setlocale(_locale.LC_ALL, it)),
    ("the umask", _umask, os.umask),
    ("the mask of signals", lambda: _signal.pthread_sigmask(_signal.SIG_BLOCK, ()), lambda it: _signal.pthread_sigmask(_signal.SIG_SETMASK, it)),
    ("the blocking mode of its output", _is_blocking, _set_blocking),
    ("limits of resources", _limits, _set_limits),
)


class Settings:
    """The settings as they are now."""

    def __init__(self):
        self.values = [(read, read()) for _, read, _ in SETTINGS]
        decimal = sys.modules.get("decimal")
        self.decimal = None if decimal is None else decimal.getcontext().copy()

    def begin(self):
        """Gives the next run the context of decimal arithmetic that the first one had; where no import made one, it has a new one."""
        if self.decimal is not None:
            sys.modules["decimal"].setcontext(self.decimal.copy())

    def look(self, found):
        """Sets what a run has changed, as far as the system permits it."""
        for read, value in self.values:
            if read() != value:
                return self._restore(found)

    def _restore(self, found):
        for (name, read, write), (_, value) in zip(SETTINGS, self.values):
            if read() == value:
                continue
            try:
                write(value)
                found.restored.append("changed " + name)
            except (OSError, ValueError):
                found.left.append("changed %s, which cannot be set again" % name)
