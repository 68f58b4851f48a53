"""The end of a run in a warm Python: it is the interpreter's own, which takes far longer, only where an object has to be finalized."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")
WARM = Path(__file__).parents[1] / "warm"

PROGRAM = f"""
import sys
sys.path.insert(0, {str(WARM)!r})
import gc, json, socket, _warm_run
class Own(socket.socket):
    def __del__(self):
        pass
# The server does so before its first fork: the look is at the objects of the run alone.
gc.collect()
gc.freeze()
found = [_warm_run._has_finalizers()]
one = socket.socket()
found.append(_warm_run._has_finalizers())
one.close()
found.append(_warm_run._has_finalizers())
own = Own()
own.close()
found.append(_warm_run._has_finalizers())
print(json.dumps(found))
"""


def test_a_closed_socket_needs_no_finalizer_an_open_one_and_one_with_a_finalizer_of_its_own_do():
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == [False, True, False, True]


CHILDREN = f"""
import sys
sys.path.insert(0, {str(WARM)!r})
import json, os, signal, _warm_children
children = _warm_children.Children()
read, write = os.pipe()
for number, makes_group in enumerate((False, True)):
    pid = os.fork()
    if pid == 0:
        if makes_group:
            os.setsid()
        os.write(write, b"x")
        signal.pause()
    children.pids[number] = pid
    os.read(read, 1)
children._end_all()
print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children.pids.values()]))
"""


def test_the_end_of_the_server_ends_a_process_that_has_not_made_its_group_yet():
    run = subprocess.run([sys.executable, "-c", CHILDREN], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == [-9, -9]
