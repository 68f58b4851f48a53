"""The modules that travel with a function: its own and those beside it, which another interpreter cannot import."""

from __future__ import annotations

import dis
import importlib.util
import subprocess
import sys
import sysconfig
import types
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Set

from ..errors import SimbatchError
from .digest import references_of

_PROBE = "import importlib.util, sys; print([importlib.util.find_spec(name) is not None for name in sys.argv[1:]])"


def travelling_modules(function: Callable[..., Any], named: Iterable[types.ModuleType]) -> List[types.ModuleType]:
    """`named`, the function's own module, and every module that these refer to and that is importable here alone.

    Raises SimbatchError that names a module which is imported inside a function: such an import happens where the run is executed.
    """
    found: Dict[str, types.ModuleType] = {}
    codes: List[types.CodeType] = []
    waiting = [*(module.__name__ for module in named), getattr(function, "__module__", None) or ""]
    given = frozenset(module.__name__ for module in named)
    while waiting:
        for name in waiting:
            module = sys.modules.get(name)
            if module is not None and (name in given or is_beside(module)):
                found[name] = module
        imported, codes = references_of(function, frozenset(found))
        waiting = [name for name in _tops(imported) if name not in found and _travels(name)]
    _refuse_hidden_imports(codes)
    return list(found.values())


def _tops(names: Iterable[str]) -> List[str]:
    """The packages of modules: a package travels whole."""
    return sorted({name.split(".", 1)[0] for name in names})


def _travels(name: str) -> bool:
    module = sys.modules.get(name)
    return module is not None and is_beside(module)


def is_beside(module: types.ModuleType) -> bool:
    """Whether only this process can import it: a file beside the notebook or the script."""
    if module.__name__ in ("__main__", "__mp_main__"):
        return False
    path = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
    if path is None:  # built in
        return False
    real = Path(path).resolve()
    folders = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    if any(Path(folder).resolve() in real.parents for folder in folders if folder):
        return False
    return not _is_found_elsewhere(module.__name__)


_known: Dict[str, bool] = {}


def _is_found_elsewhere(name: str) -> bool:
    """Whether this interpreter finds the module from another folder, as a package that is installed for editing."""
    top = name.split(".", 1)[0]
    if top not in _known:
        ended = subprocess.run([sys.executable, "-c", _PROBE, top], capture_output=True, encoding="utf-8", cwd="/")
        _known[top] = ended.stdout.strip() == "[True]"
    return _known[top]


def _refuse_hidden_imports(codes: Iterable[types.CodeType]) -> None:
    seen: Set[str] = set()
    for code in codes:
        for name in _imports_of(code):
            top = name.split(".", 1)[0]
            if top in seen:
                continue
            seen.add(top)
            if not _exists_here_alone(top):
                continue
            raise SimbatchError(
                f"the module {top} cannot travel with the function: {code.co_name} imports it inside itself, where the run is executed; "
                f"import {top} at the top of the notebook or module, or install it"
            )


def _exists_here_alone(name: str) -> bool:
    if name in sys.modules:
        return is_beside(sys.modules[name])
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    if spec is None or spec.origin in (None, "built-in", "frozen"):
        return False
    module = types.ModuleType(name)
    module.__file__ = spec.origin
    return is_beside(module)


def _imports_of(code: types.CodeType) -> Iterator[str]:
    """Names of absolute imports; of a relative one the level is not 0."""
    last: List[Any] = []
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IMPORT_NAME":
            if not last or last[0] == 0:
                yield str(instruction.argval)
        elif instruction.opname in ("LOAD_CONST", "LOAD_SMALL_INT"):
            last = [*last[-1:], instruction.argval]
