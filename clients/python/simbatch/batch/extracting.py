"""New questions to the finished runs of a batch: outputs and histories of the telemetry that they have left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, TypeVar, Union

from ..api.transport import segment

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
        *,
        derived: Optional[Sequence[Mapping[str, Any]]] = None,
        histories: Optional[Sequence[Mapping[str, Any]]] = None,
        name: Optional[str] = None,
        run_ids: Optional[str] = None,
        states: Optional[Union[str, Sequence[str]]] = None,
    ) -> _Self:
        """Computes outputs and histories of the telemetry that finished runs have left, as a new batch; nothing is simulated again.

        derived: outputs, such as `{"name": "peak_m", "take": "max", "telemetry": "altitude_m"}`. histories: such as
        `{"variable": "altitude_m", "at": {"from": 0, "to": 60, "step": 0.1}}`. One of them is needed; docs/histories.md has all members.
        name: the table of this batch has the outputs as `outputs.NAME.output`; `x1`, `x2`, ... without it.
        run_ids: only these runs, e.g. "0-99,150". states: runs in these states; the Completed ones without it.
        Runs whose files are gone are counted and named by `extractions()`.
        Raises ApiError `invalid-request` for what cannot be computed, with every fault.
        """
        body: Dict[str, Any] = {}
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
