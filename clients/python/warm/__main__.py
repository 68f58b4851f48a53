"""The forkserver of a warm engine: imports a simulation's modules once, then forks a process for each of its runs.

Started by the runner with its settings as the only argument; descriptor 3 is the control channel, JSON lines both ways:

    <- {"type": "run", "id", "env", "cgroup", "seed"}; with "worker" for a process that executes many runs (`_warm_worker.py`)
    -> {"type": "ready", "preloaded", "skipped", "ms", "holds_pids"} or {"type": "refused", "reason"}, once
    -> {"type": "started", "id", "pid", "start"}, {"type": "stale", "id", "path"} or {"type": "unforked", "id", "code"}

and the messages of `_warm_children.py`. One thread, so that a fork copies everything. The end of the channel is the end of the server.
"""

import os
import sys

_bare = frozenset(sys.modules)
_here = os.path.dirname(os.path.abspath(__file__))
if sys.path and os.path.abspath(sys.path[0]) == _here:
    del sys.path[0]  # not there with -P or PYTHONSAFEPATH

if sys.version_info < (3, 9):
    os.write(3, b'{"type": "refused", "reason": "it needs Python 3.9 or later"}\n')
    sys.exit(0)

_writes_bytecode = sys.dont_write_bytecode
sys.dont_write_bytecode = True
sys.path.insert(0, _here)
import _warm_children  # noqa: E402

_stop = _warm_children.Stop()
import _warm_modules  # noqa: E402, F401
import _warm_run  # noqa: E402
import _warm_server  # noqa: E402

sys.path.remove(_here)
sys.dont_write_bytecode = _writes_bytecode
for _name in [it for it in sys.modules if it.startswith("_warm_")]:
    del sys.modules[_name]

# Returns in the process of a run alone, after the simulation and all that belongs to its end; the rest of the end, if
# there is any, is the interpreter's own.
sys.exit(_warm_server.serve(_bare, sys.modules["__main__"], _stop))
