"""Errors of the client: a refusal of the coordinator, a coordinator that does not answer, a study with faults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence, Tuple


class SimbatchError(Exception):
    """Base class of every error that the client raises on purpose."""


class UnreachableError(SimbatchError, ConnectionError):
    """The coordinator gave no answer: refused connection, time-out, TLS failure."""


class NotReadyError(SimbatchError):
    """The operation needs something that is not there yet, e.g. a study that has ended."""


class MissingPackageError(SimbatchError, ImportError):
    """An optional package is not installed. The message has the command that installs it."""


class ProgramNotFoundError(SimbatchError):
    """The program `simbatch` is not found on this machine. The message has the ways to provide it."""


class LocalError(SimbatchError):
    """The coordinator or the runner in `./.simbatch` does not start. The message ends with its last words."""


@dataclass(frozen=True)
class Fault:
    """One fault of a request."""

    pointer: str
    """JSON Pointer (RFC 6901) into the request, e.g. `/config/dispersions/mass/distribution/std_dev`."""
    detail: str
    """The value found and the value required."""
    argument: str
    """The Python argument that the pointer belongs to, e.g. `inputs["mass"].std_dev`; the pointer where there is none."""

    def __str__(self) -> str:
        return f"{self.argument}: {self.detail}"


class ApiError(SimbatchError):
    """The coordinator refused a request. `code` is the code of its problem; docs/api.md lists all codes."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        faults: Sequence[Fault] = (),
        problem: Optional[Mapping[str, Any]] = None,
        request_id: Optional[str] = None,
    ) -> None:
        self.status = status
        """The HTTP status, e.g. 409."""
        self.code = code
        """kebab-case and stable; `unexpected-answer` when the server is not a coordinator."""
        self.detail = detail
        """The cause and the remedy, for people."""
        self.faults: Tuple[Fault, ...] = tuple(faults)
        """All faults of the request, each with its Python argument; empty when the problem does not concern the body."""
        self.problem = problem
        """The problem document (RFC 9457) as it was sent; None when the answer had none."""
        self.request_id = request_id
        """`X-Request-Id` of the answer: the coordinator's log has it too."""
        super().__init__(self._text())

    def _text(self) -> str:
        if self.faults and self.status != 409:  # the detail of a conflict has what the fault differs from
            return f"{self.code}: " + "; ".join(str(fault) for fault in self.faults)
        return f"{self.code}: {self.detail}"


class StudyError(ApiError, ValueError):
    """The study has faults, found by the coordinator or before the submission. `faults` lists all of them."""


def study_error(faults: Sequence[Fault]) -> StudyError:
    """The error for faults that are found before a study is sent."""
    return StudyError(422, "invalid-request", f"the study has {len(faults)} faults", faults=faults)
