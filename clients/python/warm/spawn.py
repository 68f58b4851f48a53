"""Starts the programs of runs for the runner: a small process creates another in a fraction of the time that the runner needs.

Started by the runner in isolated mode; descriptor 3 is the control channel, JSON lines both ways:

    <- {"type": "environment", "base", "env"}, an environment that orders name by its number
    <- {"type": "spawn", "id", "command", "args", "base", "env", "cwd", "cgroup"}
    -> {"type": "ready", ...} or {"type": "refused", "reason"}, once
    -> {"type": "started", "id", "pid", "start"} or {"type": "unforked", "id", "code"}

and the messages of `_warm_children.py`. The end of the channel is the end of this process and of the runs it has started.
"""

import _signal
import errno
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import _warm_children  # noqa: E402

# Python ignores these; a program expects the default.
DEFAULT_SIGNALS = [getattr(_signal, name) for name in ("SIGPIPE", "SIGXFSZ") if hasattr(_signal, name)]
SHELL = b"/bin/sh"


environments = {}  # environments by their numbers


def encoded(env):
    return {name.encode(): value.encode() for name, value in env.items()}


def start(order, stdout, stderr):
    """Returns the pid of the program, which leads a session of its own. Raises OSError as exec(3) would fail."""
    os.chdir(order["cwd"])
    arguments = [it.encode() for it in (order["command"], *order["args"])]
    environment = {**environments[order["base"]], **encoded(order["env"])}
    try:
        return _spawn(arguments, environment, stdout, stderr)
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
    # Runs the file in a shell, as execvp(3) does with a file whose format the kernel does not know.
    return _spawn([SHELL, *arguments], environment, stdout, stderr)


def _spawn(arguments, environment, stdout, stderr):
    return os.posix_spawn(
        arguments[0],
        arguments,
        environment,
        file_actions=((os.POSIX_SPAWN_DUP2, stdout, 1), (os.POSIX_SPAWN_DUP2, stderr, 2)),
        setsid=True,
        setsigmask=(),
        setsigdef=DEFAULT_SIGNALS,
    )


def fault():
    """Why this Python cannot start programs as leaders of a session; None when it can."""
    try:
        os.posix_spawn("/", ["/"], {}, setsid=True)
    except OSError:
        return None  # a directory cannot be executed
    except (AttributeError, NotImplementedError):
        pass
    return "this Python cannot start a program in a session of its own"


def main():
    _warm_children.Stop()
    _warm_children.close_inherited()
    children = _warm_children.Children()
    reason = fault()
    if reason is not None:
        children.send(type="refused", reason=reason)
        children.flush()
        return
    children.watch()
    children.send(type="ready", preloaded=[], skipped=[], ms=0, holds_pids=children.can_wait)

    def obey(order):
        if order["type"] == "environment":
            environments[order["base"]] = encoded(order["env"])
            return
        children.create(order, lambda *streams: start(order, *streams))

    children.loop(obey)


main()
