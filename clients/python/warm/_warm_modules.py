"""Which modules a warm interpreter imports ahead of its runs, and whether an import may be shared between runs."""

import ast
import gc
import importlib.machinery
import os
import sys
import warnings

PREFIX = "SVC_"
# Set for the engine and not for a run: where the function of a study is.
SHARED = "SVC_FUNCTION"


class Refused(Exception):
    """This simulation cannot be forked; the message says why."""


def leading_imports(source, path):
    """The imports at the top of a program, as (module, names), up to the first statement that may have an effect."""
    try:
        body = ast.parse(source, path).body
    except (SyntaxError, ValueError):
        return []  # each run reports it
    found = []
    for statement in body:
        if isinstance(statement, ast.Try):
            # try: import fast_json except ImportError: ...
            inner = [_imports(it) for it in statement.body]
            if None in inner:
                break
            found += [one for some in inner for one in some]
            continue
        imports = _imports(statement)
        if imports is not None:
            found += imports
        elif not _is_inert(statement):
            break
    return found


def _imports(statement):
    if isinstance(statement, ast.Import):
        return [(it.name, ()) for it in statement.names]
    if isinstance(statement, ast.ImportFrom):
        if statement.level or statement.module in (None, "__future__"):
            return []
        return [(statement.module, tuple(it.name for it in statement.names if it.name != "*"))]
    return None


def _is_inert(statement):
    """Texts, constants with literal values, and functions without decorators, defaults and annotations."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.Assign):
        return all(isinstance(it, ast.Name) for it in statement.targets) and _is_literal(statement.value)
    return isinstance(statement, ast.FunctionDef) and not statement.decorator_list and not statement.args.defaults


def _is_literal(value):
    try:
        ast.literal_eval(value)
        return True
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False


class Preload:
    """Imports modules one after the other, and finds out what an import did beyond defining names.

    `skipped` has the modules that each run must import by itself, with the reason; once there is one, this interpreter is
    not clean any more and `must_restart` is true.
    """

    def __init__(self, modules, skipped, log):
        self.modules = modules
        self.skipped = dict(skipped)
        self.must_restart = False
        self.loaded = []
        self._log = log  # the file that descriptors 1 and 2 are written to meanwhile
        self._reads = _EnvironmentReads()
        import random  # noqa: F401  -- its state must be known before a module draws from it

    def run(self):
        finder = _OpensslFinder()
        sys.meta_path.insert(0, finder)
        try:
            for name, names in self.modules:
                if name in self.skipped:
                    continue
                reason = self._import(name, names)
                if reason is not None:
                    self.skipped[name] = reason
                    self.must_restart = True
                elif name not in self.loaded:
                    self.loaded.append(name)
        finally:
            sys.meta_path.remove(finder)

    def _import(self, name, names):
        before = self._traces()
        numpy_was_there = "numpy.random" in sys.modules
        self._reads.begin()
        try:
            __import__(name, fromlist=list(names) if names else None)
            # The package loads later what a process of one run may never use; here each run would load it again.
            run = sys.modules.get("simbatch._run")
            if hasattr(run, "load_all"):
                run.load_all()
        except SystemExit:
            return "its import ends the program"
        except BaseException as error:
            return "its import fails: %s: %s" % (type(error).__name__, " ".join(str(error).split())[:200])
        finally:
            read = self._reads.end()
        require_one_thread(name)
        if read:
            return "its import reads %s, which is another for each run" % read
        after = self._traces()
        if after["printed"] != before["printed"]:
            return "its import prints"
        if after["files"] - before["files"]:
            return "its import leaves a file open"
        if after["generators"] - before["generators"]:
            return "it has a random generator of its own, which all runs would share"
        (own, numpy), (own_after, numpy_after) = before["state"], after["state"]
        if own != own_after or numpy not in (None, numpy_after):
            return "its import draws random numbers or sets their seed"
        if not numpy_was_there and "numpy.random" in sys.modules and not is_library(name):
            # Whether it set the seed of numpy.random cannot be seen; with numpy.random there before it, it can.
            self.modules.insert(0, ("numpy.random", ()))
            self.must_restart = True
        return None

    def _traces(self):
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (AttributeError, ValueError, OSError):
                pass
        return {
            "printed": os.fstat(self._log).st_size,
            "files": open_files(),
            "generators": _generators(),
            "state": _random_state(),
        }


class _OpensslFinder:
    """Finds no module. Lets OpenSSL register no handler for the end of the process before a module initializes it.

    The handler only frees memory (OPENSSL_cleanup(3)), a small piece at a time: each run would copy hundreds of pages to free them.
    """

    NO_ATEXIT = 0x00080000  # OPENSSL_INIT_NO_ATEXIT, OPENSSL_init_crypto(3)

    def find_spec(self, name, path=None, target=None):
        if name in ("_hashlib", "_ssl"):
            try:
                import ctypes

                spec = importlib.machinery.PathFinder.find_spec(name)
                # Loads the library without the module.
                initialize = ctypes.CDLL(spec.origin).OPENSSL_init_crypto
                initialize.argtypes = ctypes.c_uint64, ctypes.c_void_p
                initialize(self.NO_ATEXIT, None)
            except (ImportError, OSError, AttributeError, TypeError):
                pass
        return None


class _EnvironmentReads:
    """Records reads of the run's variables, and of the whole environment, while a module is imported."""

    def __init__(self):
        self._class = type(os.environ)
        self._found = None

    def begin(self):
        self._found = None
        kind = self._class
        self._get, self._iter = kind.__getitem__, kind.__iter__

        def get(environ, key):
            text = os.fsdecode(key) if isinstance(key, (str, bytes)) else ""
            if text.startswith(PREFIX) and text != SHARED:
                self._found = text
            return self._get(environ, key)

        def iterate(environ):
            frame = sys._getframe(1)
            while frame is not None and frame.f_globals.get("__name__") in ("os", "_collections_abc", "collections.abc"):
                frame = frame.f_back
            if frame is not None and not is_library_file(frame.f_code.co_filename):
                self._found = "the whole environment"
            return self._iter(environ)

        kind.__getitem__, kind.__iter__ = get, iterate

    def end(self):
        self._class.__getitem__, self._class.__iter__ = self._get, self._iter
        return self._found


def require_one_thread(name):
    """Raises Refused when the process has threads that a fork would lose.

    Some libraries, OpenBLAS for one, end their threads when the process forks and start them again when they are needed: a
    trial fork distinguishes them from the others.
    """
    others = len(sys._current_frames()) - 1
    if others > 0:
        raise Refused("%s starts %s at its import" % (name, "a thread" if others == 1 else "%d threads" % others))
    if count_threads() <= 1:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    others = count_threads() - 1
    if others > 0:
        raise Refused("%s starts %s at its import" % (name, "a thread" if others == 1 else "%d threads" % others))


def count_threads():
    """Number of threads of this process, with those of C libraries; 0 where the system does not show them."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 0


def open_files():
    try:
        names = os.listdir("/proc/self/fd")
    except OSError:
        return frozenset()
    found = set()
    for name in names:
        try:
            target = os.readlink("/proc/self/fd/" + name)
        except OSError:
            continue  # opened by this listing
        if not target.startswith(("/dev/null", "/dev/urandom", "/dev/random", "/proc/")):
            found.add((int(name), target))
    return frozenset(found)


def _generators():
    """Identities of the objects that hold a state of random numbers, except those that are seeded for each run."""
    import random

    kinds = [random.Random]
    known = {id(random._inst)}
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        kinds += [numpy_random.Generator, numpy_random.RandomState, numpy_random.BitGenerator]
        shared = numpy_random.mtrand._rand
        known |= {id(shared), id(shared._bit_generator)}
    found = set()
    for it in gc.get_objects():
        kind = type(it)
        if kind is not random.SystemRandom and issubclass(kind, tuple(kinds)) and id(it) not in known:
            found.add(id(it))
    return frozenset(found)


def _random_state():
    import random

    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is None:
        return random.getstate(), None
    name, keys, *rest = numpy_random.get_state()
    return random.getstate(), (name, keys.tobytes(), *rest)


_library = tuple(
    sorted({os.path.realpath(os.path.join(prefix, "lib")) + os.sep for prefix in (sys.prefix, sys.base_prefix)})
) + tuple({os.path.dirname(os.path.realpath(os.__file__)) + os.sep})


def is_library_file(path):
    """True for a file of the standard library or of a package that is installed into this interpreter."""
    return path.startswith("<frozen") or "-packages" in path or os.path.realpath(path).startswith(_library)


def is_library(name):
    path = getattr(sys.modules.get(name), "__file__", None)
    return path is None or is_library_file(path)


def shadowed(bare, directory):
    """A name in `directory` that a program there would import, and that this interpreter has loaded from elsewhere."""
    try:
        entries = set(os.listdir(directory))
    except OSError:
        return None
    for name in sorted(set(sys.modules) - bare):
        if "." in name or name in sys.builtin_module_names or name == "__main__":
            continue
        if name + ".py" in entries or os.path.isfile(os.path.join(directory, name, "__init__.py")):
            origin = getattr(sys.modules[name], "__file__", None)
            if origin is None or os.path.dirname(os.path.realpath(origin)) != directory:
                return name + ".py" if name + ".py" in entries else name
    return None
