"""A function as the code artifact of a study: serialised by cloudpickle, with its digest and the Python it needs."""

from __future__ import annotations

import base64
import hashlib
import io
import pickle
import sys
import types
from collections import ChainMap
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List

from ..errors import MissingPackageError, SimbatchError
from .digest import digest_of
from .script import Script
from .travelling import travelling_modules

MAX_CODE_BYTES = 1 << 20
ENGINE_PREFIX = "python-functions-"
_FILE_NAME = "<simulation>"


def python_version() -> str:
    """The version that a serialised function is bound to: `3.11`."""
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def engine_name() -> str:
    """The simulation name of functions of this Python: `python-functions-3.11`."""
    return ENGINE_PREFIX + python_version()


@dataclass(frozen=True)
class Artifact:
    """A serialised function."""

    digest: str
    """Identity of the function: the same for the same source in another process. 64 hexadecimal digits."""
    data: bytes
    """What `simbatch.functions.execute` loads."""

    @property
    def sha256(self) -> str:
        """SHA-256 of `data`, in hex."""
        return hashlib.sha256(self.data).hexdigest()

    def text(self) -> str:
        """`data` in base64."""
        return base64.b64encode(self.data).decode("ascii")

    def code(self) -> Dict[str, str]:
        """Its identity, as `config.simulation.code` has it."""
        return {"sha256": self.sha256, "python": python_version(), "source": self.digest}


def ship(function: Callable[..., Any], modules: Iterable[types.ModuleType] = ()) -> Artifact:
    """Serialises a function with all it refers to: globals, closures, functions and classes of `__main__` and of `modules`.

    Installed packages are imported where the function runs. Its own module, and those beside it, travel with it.
    Raises MissingPackageError without cloudpickle, SimbatchError for what cannot be serialised, for a
    module that is imported inside a function and that only this process finds, and for more than 1 MiB.
    """
    try:
        import cloudpickle
    except ImportError:
        raise MissingPackageError(
            "a function as a simulation needs cloudpickle: pip install cloudpickle; or write the simulation as a script"
        ) from None
    travelling = travelling_modules(function, modules)
    names = frozenset(module.__name__ for module in travelling)
    digest = digest_of(function, names)
    registered: List[types.ModuleType] = []
    try:
        for module in travelling:
            if module.__name__ not in cloudpickle.list_registry_pickle_by_value():
                cloudpickle.register_pickle_by_value(module)
                registered.append(module)
        data = _dumps(cloudpickle, function)
    except SimbatchError:
        raise
    except Exception as error:
        own = getattr(function, "__module__", None)
        beside = [module.__name__ for module in travelling if module.__name__ != own]
        with_modules = f" with {', '.join(beside)}, which can be imported here alone" if beside else ""
        raise SimbatchError(
            f"the function {_name(function)} cannot be serialised{with_modules}: {error}; create what cannot travel (files, connections, locks) inside it"
        ) from error
    finally:
        for module in registered:
            cloudpickle.unregister_pickle_by_value(module)
    if len(data) > MAX_CODE_BYTES:
        raise SimbatchError(
            f"the function {_name(function)} has {len(data):,} bytes with all it refers to, and {MAX_CODE_BYTES:,} are allowed; "
            "load large data from a file inside it"
        )
    return Artifact(digest, data)


def ship_script(path: Path) -> Artifact:
    """A Python script as an artifact: it is executed as the program of each run. Raises OSError, SyntaxError, and SimbatchError for more than 1 MiB."""
    source = path.read_text(encoding="utf-8")
    data = pickle.dumps(Script(path.name, source), protocol=4)
    if len(data) > MAX_CODE_BYTES:
        raise SimbatchError(f"the script {path} has {len(data):,} bytes, and {MAX_CODE_BYTES:,} are allowed; load large data from a file")
    return Artifact(hashlib.sha256(data).hexdigest(), data)


def _dumps(cloudpickle: Any, function: Callable[..., Any]) -> bytes:
    table = cloudpickle.Pickler.dispatch_table
    reduce_code = table[types.CodeType]

    def nameless(code: types.CodeType) -> Any:
        """File names of notebook cells differ in each kernel and mean nothing on another machine."""
        return reduce_code(code.replace(co_filename=_FILE_NAME) if _is_cell(code.co_filename) else code)

    out = io.BytesIO()
    pickler = cloudpickle.Pickler(out, protocol=4)
    pickler.dispatch_table = ChainMap({types.CodeType: nameless}, table)
    pickler.dump(function)
    return out.getvalue()


def _is_cell(file_name: str) -> bool:
    return file_name.startswith("<") or "ipykernel" in file_name


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", None) or type(function).__name__
