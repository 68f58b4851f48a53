"""Execution of a function as a simulation: reads the artifact, calls the function, stores its outputs."""

from __future__ import annotations

import hashlib
import inspect
import pickle
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Callable, Optional, Tuple

from .._run import Run, run
from .script import Script


def load(data: bytes) -> Callable[..., Any]:
    """The function of an artifact. Loading executes code of its author. Raises RuntimeError with the remedy."""
    try:
        found = pickle.loads(data)
    except ImportError as error:
        raise RuntimeError(
            f"the function needs {error.name or error}, which this Python ({sys.executable}) cannot import; install it where runs "
            "are executed, or name the module in the study's modules=[...]"
        ) from error
    if not callable(found):
        raise RuntimeError(f"the artifact holds {type(found).__name__}, not a function")
    return found  # type: ignore[no-any-return]


_known: Tuple[Optional[Callable[..., Any]], bool] = None, False
"""The latest function, and whether it takes the run: an interpreter that executes run after run asks once."""


def call(function: Callable[..., Any], this_run: Run) -> None:
    """Calls `function(parameters)` or `function(parameters, run)` and stores the mapping that it returns as outputs."""
    global _known
    if _known[0] is not function:
        _known = function, takes_run(function)
    outputs = function(this_run.parameters, this_run) if _known[1] else function(this_run.parameters)
    if outputs is None:
        return
    if not isinstance(outputs, (dict, Mapping)):  # the first is found at once
        raise TypeError(
            f'the function returned {type(outputs).__name__}; return a mapping of outputs, e.g. {{"miss_m": 12.5}}, or nothing'
        )
    this_run._finish(outputs)


def takes_run(function: Callable[..., Any]) -> bool:
    """Whether the function takes the run as its second argument. Raises TypeError when it takes no parameters."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a builtin
        return False
    for count in (2, 1):
        try:
            signature.bind(*[None] * count)
        except TypeError:
            continue
        return count == 2
    raise TypeError("a function as a simulation takes the parameters, and the run if it wants it: f(p) or f(p, run)")


def load_file(path: str) -> Callable[..., Any]:
    """The function of an artifact file whose name is its SHA-256."""
    data = Path(path).read_bytes()
    if hashlib.sha256(data).hexdigest() != Path(path).stem:
        raise RuntimeError(f"the artifact {path} is damaged; remove it, and the runner reads it again")
    return load(data)


def main(function: Optional[Callable[..., Any]]) -> None:
    """Executes one run as a process of its own."""
    if function is None:
        sys.exit("SVC_FUNCTION is not set: this program is started by a simbatch runner")
    if isinstance(function, Script):
        return function()  # it opens its run itself
    this_run = run()
    try:
        call(function, this_run)
    finally:
        this_run.close()
