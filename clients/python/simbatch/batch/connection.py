"""The connection to a coordinator, as a batch uses it, and a batch, as its runs use it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Protocol

from ..api.transport import Transport

if TYPE_CHECKING:
    from ..study.description import StudyDescription


class Connection:
    """The connection to one coordinator. See `Coordinator`."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.local_failures: Optional[Callable[[], List[str]]] = None
        """Of a coordinator in a folder: the runners there that do not start."""

    def __getstate__(self) -> Dict[str, Any]:
        # Another process does not look after the runners of a folder.
        return {"transport": self.transport, "local_failures": None}

    @property
    def endpoint(self) -> str:
        """The address of the coordinator."""
        return self.transport.endpoint

    def runners(self) -> List[Dict[str, Any]]:
        """The runners of the pool, as `GET /runners` describes them."""
        found: List[Dict[str, Any]] = self.transport.get("/runners")["runners"]
        return found

    def limits(self) -> Dict[str, Any]:
        """The limits of this coordinator."""
        found: Dict[str, Any] = self.transport.get("/limits")
        return found

    def __repr__(self) -> str:
        return f"simbatch.Coordinator({self.endpoint!r})"


class Submitted(Protocol):
    """The batch that a run belongs to."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def coordinator(self) -> Connection: ...
    @property
    def resource(self) -> Mapping[str, Any]: ...
    @property
    def study(self) -> "Optional[StudyDescription]": ...
    @property
    def submission(self) -> Dict[str, Any]: ...
