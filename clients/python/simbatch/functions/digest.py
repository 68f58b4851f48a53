"""The identity of a function: a digest of its code and of everything it refers to that travels with it.

Equal for the same source in another process, so that a study is recognised after a restart of the kernel: file names, line
numbers, addresses and the order of sets do not enter it. It changes with the version of Python, whose byte code differs.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
import types
from typing import Any, Callable, Dict, FrozenSet, List, Set, Tuple

_CLASS_NOISE = frozenset({"__dict__", "__weakref__", "__module__", "__doc__", "__firstlineno__", "__static_attributes__"})


def digest_of(function: Callable[..., Any], by_value: FrozenSet[str] = frozenset()) -> str:
    """64 hexadecimal digits. `by_value`: names of modules whose functions and classes travel with their code."""
    walk = _Walk(by_value)
    walk.take(function)
    return walk.digest()


def references_of(
    function: Callable[..., Any], by_value: FrozenSet[str] = frozenset()
) -> Tuple[FrozenSet[str], List[types.CodeType]]:
    """The modules that the function and all that travels with it refer to by name, and the code that travels."""
    walk = _Walk(by_value)
    walk.take(function)
    return frozenset(walk.imported), walk.codes


def is_by_value(module: str, by_value: FrozenSet[str]) -> bool:
    """Whether code of this module travels, instead of being imported where it runs. A package travels whole."""
    if module in ("__main__", "__mp_main__") or module not in sys.modules:
        return True
    return module in by_value or any(module.startswith(f"{package}.") for package in by_value)


class _Walk:
    def __init__(self, by_value: FrozenSet[str]) -> None:
        self._hash = hashlib.sha256(f"python {sys.version_info[0]}.{sys.version_info[1]}".encode())
        self._by_value = by_value
        self._seen: Dict[int, int] = {}
        # Keeps every visited object alive, so that no two of them share an address.
        self._kept: List[Any] = []
        self.imported: Set[str] = set()
        self.codes: List[types.CodeType] = []

    def digest(self) -> str:
        return self._hash.hexdigest()

    def _feed(self, *texts: str) -> None:
        for text in texts:
            data = text.encode("utf-8", "surrogatepass")
            self._hash.update(len(data).to_bytes(8, "big") + data)

    def take(self, value: Any) -> None:
        """Adds a value to the digest."""
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            self._feed(type(value).__name__, repr(value))
            return
        if id(value) in self._seen:  # a recursive function, an object that is used twice
            self._feed("again", str(self._seen[id(value)]))
            return
        self._seen[id(value)] = len(self._seen)
        self._kept.append(value)
        if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
            self._feed(type(value).__name__, str(len(value)))
            for item in value:
                self.take(item)
        elif type(value) in (set, frozenset):
            self._feed("set", *sorted(self._alone(item) for item in value))
        elif type(value) is dict:
            self._feed("dict", str(len(value)))
            for key, item in value.items():
                self.take(key)
                self.take(item)
        elif isinstance(value, types.CodeType):
            self._code(value)
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, types.MethodType):
            self._feed("method")
            self.take(value.__func__)
            self.take(value.__self__)
        elif isinstance(value, types.ModuleType):
            self._module(value)
        elif isinstance(value, type):
            self._class(value)
        else:
            self._object(value)

    def _alone(self, value: Any) -> str:
        walk = _Walk(self._by_value)
        walk.take(value)
        return walk.digest()

    def _code(self, code: types.CodeType) -> None:
        self.codes.append(code)
        self._feed("code", code.co_name, code.co_code.hex(), str(code.co_flags), str(code.co_argcount))
        self._feed(str(code.co_kwonlyargcount), str(code.co_posonlyargcount), *code.co_names, *code.co_varnames)
        self._feed(*code.co_freevars, *code.co_cellvars)
        for constant in code.co_consts:
            self.take(constant)

    def _module(self, module: types.ModuleType) -> None:
        self._feed("module", module.__name__)
        if not is_by_value(module.__name__, self._by_value):
            self.imported.add(module.__name__)
            return
        for name, item in sorted(vars(module).items()):
            if not (name.startswith("__") and name.endswith("__")):
                self._feed(name)
                self.take(item)

    def _function(self, function: types.FunctionType) -> None:
        if not is_by_value(function.__module__ or "__main__", self._by_value):
            self.imported.add(function.__module__)
            self._feed("import", function.__module__, function.__qualname__)
            return
        self._feed("function", function.__name__)
        self.take(function.__code__)
        self.take(function.__defaults__)
        self.take(function.__kwdefaults__)
        for cell in function.__closure__ or ():
            try:
                self.take(cell.cell_contents)
            except ValueError:  # a name that is not assigned yet
                self._feed("empty")
        for name in _globals_of(function.__code__):
            if name in function.__globals__:
                self._feed("global", name)
                self.take(function.__globals__[name])

    def _class(self, kind: type) -> None:
        if not is_by_value(kind.__module__, self._by_value):
            self.imported.add(kind.__module__)
            self._feed("import", kind.__module__, kind.__qualname__)
            return
        self._feed("class", kind.__name__)
        for base in kind.__bases__:
            self.take(base)
        for name, item in vars(kind).items():
            if name not in _CLASS_NOISE:
                self._feed("member", name)
                self.take(item)

    def _object(self, value: Any) -> None:
        kind = type(value)
        if isinstance(value, (staticmethod, classmethod)):
            self._feed(kind.__name__)
            self.take(value.__func__)
        elif isinstance(value, property):
            self._feed("property")
            for item in (value.fget, value.fset, value.fdel):
                self.take(item)
        elif is_by_value(kind.__module__, self._by_value) and hasattr(value, "__dict__"):
            self._feed("instance")
            self.take(kind)
            self.take(vars(value))
        else:
            self.imported.add(kind.__module__)
            self._feed("value", kind.__module__, kind.__qualname__)
            try:
                self._feed(pickle.dumps(value, protocol=4).hex())
            except Exception:  # its type says what it is; cloudpickle decides whether it can travel
                self._feed("opaque")


def _globals_of(code: types.CodeType) -> List[str]:
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names += _globals_of(constant)
    return list(dict.fromkeys(names))
