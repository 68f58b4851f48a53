"""The judgement of a batch: its requirements, outputs and labels, read and amended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Sequence, TypeVar, Union

from ..api.transport import segment

if TYPE_CHECKING:
    from ..study.parts import JointRequirement, Requirement
    from .connection import Connection

_Self = TypeVar("_Self", bound="Judging")


class Judging:
    """The part of a batch that says how its runs are judged."""

    coordinator: "Connection"
    id: str
    _resource: Optional[Mapping[str, Any]]
    _submission: Optional[Dict[str, Any]]

    def amend(
        self: _Self,
        *,
        requirements: "Optional[Sequence[Union[Requirement, JointRequirement]]]" = None,
        outputs: Optional[Mapping[str, str]] = None,
        labels: Optional[Mapping[str, str]] = None,
        revision: Optional[int] = None,
    ) -> _Self:
        """Judges the runs by other requirements, whether the study runs or has ended; nothing is executed. Returns itself.

        requirements, outputs (name -> units), labels: each that is given replaces all of them, those of the study included. A requirement that
        stays keeps the time at which it was stated; the verdict on another one says how many runs had ended.
        revision: amend this revision of `judgement()` alone.
        Raises TypeError; StudyError with every fault; ApiError `judgement-changed` when another revision is current.
        """
        from ..study.build import judgement_of

        body = judgement_of(requirements, outputs, labels)
        if revision is not None:
            body["revision"] = revision
        self.coordinator.transport.post(f"/batches/{segment(self.id)}/judgement", body, repeat=True)
        self._submission = self._resource = None
        return self

    def judgement(self) -> Dict[str, Any]:
        """The requirements, each with `stated_at`, the outputs and the labels in force, and their `revision`."""
        found: Dict[str, Any] = self.coordinator.transport.get(f"/batches/{segment(self.id)}/judgement")
        return found
