"""New questions to the finished runs of a batch: outputs and histories of the files that they have left."""

from __future__ import annotations

import os
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, TypeVar, Union

from ..api.transport import segment
from ..functions import ship

if TYPE_CHECKING:
    from ..study.description import StudyDescription
    from .connection import Connection

_Self = TypeVar("_Self", bound="Extracting")


class Extracting:
    """The part of a batch that asks its finished runs new questions."""

    coordinator: "Connection"
    id: str
    study: "Optional[StudyDescription]"

    if TYPE_CHECKING:

        def _descendant(self: _Self, verb: str, body: Mapping[str, Any]) -> _Self: ...

    def extract(
        self: _Self,
        program: "Union[Callable[..., Any], str, os.PathLike[str], None]" = None,
        *,
        derived: Optional[Sequence[Mapping[str, Any]]] = None,
        histories: Optional[Sequence[Mapping[str, Any]]] = None,
        name: Optional[str] = None,
        run_ids: Optional[str] = None,
        states: Optional[Union[str, Sequence[str]]] = None,
        timeout_s: int = 0,
        modules: Iterable[types.ModuleType] = (),
    ) -> _Self:
        """Computes outputs and histories of the files that finished runs have left, as a new batch; nothing is simulated again.

        program: a function `f(p, run)` that returns outputs, as a simulation does, and finds the finished run in `run.parent`::

            def above(p, run):
                frame = run.parent.telemetry(["altitude_m"])
                return {"above": int((frame["altitude_m"] > 500).sum())}

            batch.extract(above).wait()
            batch.frame()["outputs.x1.above"]

        or the path of a Python script, which calls `simbatch.run()`; or the name of a simulation of the runners. Functions and scripts need
        runners with `allow_functions` and this version of Python; modules travel as with `Study`. timeout_s: of each run; 0: no limit.
        Without a program:
        derived: outputs, such as `{"name": "peak_m", "take": "max", "telemetry": "altitude_m"}`. histories: such as
        `{"variable": "altitude_m", "at": {"from": 0, "to": 60, "step": 0.1}}`. Either of them is needed; docs/histories.md has all members.
        name: the table of this batch has the outputs as `outputs.NAME.output`; `x1`, `x2`, ... without it.
        run_ids: only these runs, e.g. "0-99,150". states: runs in these states; the Completed ones without it.
        Runs whose files are gone are counted and named by `extractions()`.
        Raises ApiError `invalid-request` for what cannot be computed, with every fault.
        """
        body: Dict[str, Any] = {} if program is None else _with(program, timeout_s, modules)
        if derived is not None:
            body["derived"] = [dict(one) for one in derived]
        if histories is not None:
            body["histories"] = [dict(one) for one in histories]
        if name is not None:
            body["name"] = name
        select: Dict[str, Any] = {}
        if run_ids is not None:
            select["run_ids"] = run_ids
        if states is not None:
            select["states"] = [states] if isinstance(states, str) else list(states)
        if select:
            body["select"] = select
        made = self._descendant("extractions", body)
        # Its outputs are not those that the study declares.
        made.study = None
        return made

    def extractions(self) -> List[Dict[str, Any]]:
        """The extractions of this batch, oldest first: `batch_id`, `name`, `status`, `runs`, `completed`, `without_files` where files are gone, and `notes`."""
        found: List[Dict[str, Any]] = self.coordinator.transport.get(f"/batches/{segment(self.id)}/extractions")["extractions"]
        return found


def _with(program: Any, timeout_s: int, modules: Iterable[types.ModuleType]) -> Dict[str, Any]:
    """The members of a request with a program. Raises TypeError for what is none, and as `ship`."""
    limit = {"timeout_seconds": timeout_s} if timeout_s else {}
    if isinstance(program, str) and not program.endswith(".py"):
        return {"with": {"name": program, **limit}}
    if callable(program):
        artifact = ship.ship(program, modules)
    elif isinstance(program, (str, os.PathLike)):
        artifact = ship.ship_script(Path(program))
    else:
        raise TypeError(f"a program is a function, the path of a Python script or the name of a simulation, not {program!r}")
    version = f"fn-{artifact.digest[:12]}"
    return {"with": {"name": ship.engine_name(), "version": version, "code": artifact.code(), **limit}, "code": artifact.text()}
