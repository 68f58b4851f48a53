"""The traces of a run in a process that executes more runs: each is undone, or the process has to end. No trace is overlooked."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")
WARM = Path(__file__).parents[1] / "warm"

PROGRAM = """
import decimal, os, resource, signal, sys, threading, types
NUMBER = 1
NAMES = ["a", "b"]
STATE = {"count": 0, "deep": {"items": [1, 2]}}
SEEN = set()
BIG = list(range(5000))
class Model:
    calls = 0
    def __init__(self):
        self.n = 0
        self.parts = []
MODEL = Model()
def called(x, memory=[]):
    return x
def outer():
    total = None
    def inner(add):
        nonlocal total
        total = add
    def read():
        return total
    return inner, read
ADD, TOTAL = outer()
"""

# name: (what the run does, words of what is undone, words of what ends the process, what the next run sees)
CASES = {
    "nothing": ("pass", None, None, "NUMBER == 1"),
    "variable": ("NUMBER = 2", "the variable NUMBER", None, "NUMBER == 1"),
    "new variable": ("OTHER = 2", "the variable OTHER", None, "'OTHER' not in globals()"),
    "deleted variable": ("del NUMBER", "the variable NUMBER", None, "NUMBER == 1"),
    "closure that was empty": ("ADD(3)", "the variable total", None, "TOTAL() is None"),
    "attribute of a class": ("Model.calls += 1", "Model.calls", None, "Model.calls == 0"),
    "method of a class": ("Model.__str__ = lambda self: 'x'; Model.more = 1", "Model.more", None, "not hasattr(Model, 'more')"),
    "attribute of an object": ("MODEL.n += 1", "MODEL.n", None, "MODEL.n == 0"),
    "attribute of a function": ("called.count = 1", "called.count", None, "not hasattr(called, 'count')"),
    "value in a dictionary": ("STATE['count'] += 1", None, "the variable STATE", None),
    "value deep in a dictionary": ("STATE['deep']['items'][0] = 9", None, "the variable STATE", None),
    "an equal value in a dictionary": ("STATE['count'] = int('0')", None, None, "STATE['count'] == 0"),
    "value in a list": ("NAMES[0] = 'c'", None, "the variable NAMES", None),
    "list of an object": ("MODEL.parts.append(1)", None, "MODEL.parts", None),
    "set": ("SEEN.add(1)", None, "the variable SEEN", None),
    "length of a large list": ("BIG.append(1)", None, "the variable BIG", None),
    "default of an argument": ("called.__defaults__[0].append(1)", None, "the variable called", None),
    "working directory": ("os.chdir('/')", "the working directory", None, "os.getcwd() == BEFORE"),
    "environment": ("os.environ['X'] = '1'", "the environment variable X", None, "'X' not in os.environ"),
    "umask": ("os.umask(0o0)", "the umask", None, "os.umask(0o22) == UMASK"),
    "recursion limit": ("sys.setrecursionlimit(5000)", "the recursion limit", None, "sys.getrecursionlimit() != 5000"),
    "signal handler": ("signal.signal(signal.SIGUSR1, signal.SIG_IGN)", "the handler of SIGUSR1", None, "signal.getsignal(signal.SIGUSR1) == 0"),
    "signal mask": ("signal.pthread_sigmask(0, [signal.SIGUSR2])", "the mask of signals", None, "not signal.pthread_sigmask(0, [])"),
    "timer": ("signal.setitimer(signal.ITIMER_REAL, 60)", "a timer running", None, "signal.getitimer(signal.ITIMER_REAL)[0] == 0"),
    "trace function": ("sys.settrace(lambda *_: None)", "the trace function", None, "sys.gettrace() is None"),
    "decimal context": ("decimal.getcontext().prec = 5", None, None, "decimal.getcontext().prec == 28"),
    "limit of a resource": (
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))",
        "limits of resources", None, "resource.getrlimit(resource.RLIMIT_NOFILE)[0] != 64",
    ),
    "output that does not wait": ("os.set_blocking(1, False)", "the blocking mode", None, "os.get_blocking(1)"),
    "sys.stdout": ("import io; sys.stdout = io.StringIO()", "replaced sys.stdin, sys.stdout", None, "sys.stdout is sys.__stdout__"),
    "closed stdout": ("os.close(1)", None, "a standard stream", None),
    "import of its own": ("import own_module as it; it.count += 1; del it", None, None, "__import__('own_module').count == 0"),
    "import of a library": ("__import__('colorsys')", None, None, "'colorsys' in sys.modules"),
    "daemon thread": ("threading.Thread(target=threading.Event().wait, daemon=True).start()", None, "a thread running", None),
    "executor in a variable": (
        "POOL = __import__('concurrent.futures').futures.ThreadPoolExecutor(); POOL.submit(int)",
        "the variable POOL", None, "__import__('concurrent.futures').futures.ThreadPoolExecutor().submit(int).result() == 0",
    ),
    "process": ("import subprocess; KEPT = subprocess.Popen(['sleep', '60'], stdout=-3, stderr=-3)", None, "a process running", None),
    "file that stays open": ("os.open('/etc/passwd', 0)", None, "left a file open", None),
    "atexit": ("import atexit; atexit.register(print)", None, "a function for the end of the process", None),
    "os.environ itself": ("os.environ = {}", None, "cannot be looked at", None),
    "__main__": ("sys.modules.pop('__main__')", None, None, "NUMBER == 1"),
}

DRIVER = """
import json, os, sys
warm, place, program, cases = json.load(sys.stdin)
sys.path[:0] = [warm, place]
os.chdir(place)
import _warm_traces as traces
import _warm_worker as workers
import types, threading, decimal, signal, contextvars

def result_of(run, seen):
    module = types.ModuleType("program")
    module.__file__ = os.path.join(place, "program.py")
    sys.modules["program"] = module
    sys.modules["program"].__dict__.update(__builtins__=__builtins__)
    exec(program, module.__dict__)
    before = traces.Traces([(module.__dict__, None)])
    known = {"BEFORE": os.getcwd(), "UMASK": os.umask(0o22)}
    os.umask(known["UMASK"])
    for _ in range(2):
        environment = before.enter({})
        sys.modules["__main__"] = types.ModuleType("__main__")
        code = compile(run, "program", "exec")
        contextvars.copy_context().run(exec, code, module.__dict__)
        found = workers.Worker._look(before, environment)
        if found.left:
            return found.restored, found.left, None
    before.enter({})
    view = dict(module.__dict__, **known)
    view["globals"] = lambda: module.__dict__
    return found.restored, found.left, seen is None or bool(contextvars.copy_context().run(eval, seen, view))

for name, (run, seen) in cases.items():
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            said = result_of(run, seen)
        except BaseException as error:
            said = [repr(error)], [], False
        os.write(write, json.dumps(said).encode())
        os._exit(0)
    os.close(write)
    with open(read, "rb") as file:
        data = file.read()
    os.waitpid(pid, 0)
    os.write(2, (json.dumps([name, json.loads(data)]) + "\\n").encode())
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """name -> (undone, left, whether the next run sees what it should), each after the same run was executed twice."""
    place = tmp_path_factory.mktemp("program")
    (place / "own_module.py").write_text("count = 0\n")
    cases = {name: (run, seen) for name, (run, _, _, seen) in CASES.items()}
    driver = place / "driver.py"
    driver.write_text(DRIVER)
    given = json.dumps([str(WARM), str(place), PROGRAM, cases])
    done = subprocess.run([sys.executable, str(driver)], input=given.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    lines = [it for it in done.stderr.decode().splitlines() if it.startswith("[")]
    assert done.returncode == 0, done.stderr.decode()
    return dict(map(json.loads, lines))


@pytest.mark.parametrize("name", CASES)
def test_a_trace_is_undone_or_the_process_ends(found, name):
    _, undone, left, _ = CASES[name]
    restored, remained, is_as_before = found[name]
    if undone is None:
        assert restored == [] or left is not None
    else:
        assert undone in " | ".join(restored)
    if left is None:
        assert remained == [] and is_as_before is True
    else:
        assert left in " | ".join(remained)


VARIABLES = """
import gc, os, subprocess, sys
warm, without = sys.argv[1:]
sys.path.insert(0, warm)
import _warm_traces as traces

def inherited():
    # A process without an environment of its own has that of the C library.
    gc.collect()
    junk = [os.urandom(40) for _ in range(20_000)]
    return subprocess.run(["printenv", "RUN"], stdout=subprocess.PIPE).stdout.decode().rstrip("\\n")

before = traces.Traces([])
if without:
    before.putenv = None
for value in ["first", "second", "", "a=b", "\\u00e9", "second"]:
    environment = before.enter({"RUN": value, "SAME": "s"})
    assert os.environ["RUN"] == inherited() == value, (value, inherited())
    os.environ["RUN"] = "of the run"
    assert inherited() == "of the run"
    assert before.look(environment).restored == ["changed the environment variable RUN"]
    assert os.environ["RUN"] == inherited() == value
os.environ["RUN"] = "of the child"
before.enter({"SAME": "t", "LAST": "l"})
before.leave()
del before
assert inherited() == "of the child"
assert subprocess.run(["printenv", "LAST"], stdout=subprocess.PIPE).stdout == b"l\\n"
"""


@pytest.mark.parametrize("without", ["", "without the C library"])
def test_a_run_and_the_processes_that_it_starts_have_its_own_variables(without):
    done = subprocess.run([sys.executable, "-c", VARIABLES, str(WARM), without], stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 0, done.stderr.decode()


COLLECTIONS = """
import gc, sys
sys.path[:0] = sys.argv[1:]
import _warm_traces as traces

before = traces.Traces([])
gc.collect()
gc.freeze()

def visited(run):
    # The objects that the collection after a next run visits.
    environment = before.enter({})
    run()
    before.look(environment)
    return len(gc.get_objects())

class Cycle:
    def __init__(self):
        self.own = self
        self.file = open("/etc/passwd")

def importing():
    assert "xml.dom.expatbuilder" not in sys.modules
    import xml.dom.expatbuilder
    assert len(gc.get_objects()) > 1000

def importing_own():
    import own_module

print(visited(lambda: None), visited(importing), visited(lambda: None))
kept = []
for _ in range(5):
    visited(importing_own)
    kept.append(gc.get_freeze_count())
print(kept[-1] - kept[1])
environment = before.enter({})
Cycle()
print(before.look(environment).left)
"""


def test_the_collection_after_a_run_visits_nothing_that_earlier_runs_have_imported(tmp_path):
    (tmp_path / "own_module.py").write_text("class Cycle: pass\nALL = [Cycle() for _ in range(1000)]\nfor it in ALL: it.own = it\n")
    program = [sys.executable, "-c", COLLECTIONS, str(WARM), str(tmp_path)]
    done = subprocess.run(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    counts, more, left = done.stdout.decode().splitlines()
    assert all(int(it) < 200 for it in counts.split()), counts
    # Modules of the program are imported by each run, and nothing of them is kept.
    assert int(more) < 100
    assert left == "[]"
