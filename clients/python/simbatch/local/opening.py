"""`simbatch.open`: a study after a restart of the kernel, at the coordinator of the folder or at another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

from .._variables import variable
from ..batch.coordinator import connect
from .embedded import DEFAULT_FOLDER, embedded

if TYPE_CHECKING:
    from ..batch.batch import Batch


def open(reference: str = "latest", endpoint: Optional[str] = None, **connection: Any) -> "Batch":
    """A study by its id, the beginning of its id, its name, or `latest`; an interrupted one continues.

    Without an endpoint: SIMBATCH_ENDPOINT, else the coordinator in `./.simbatch` where there is that folder (it is started when it does
    not run), else http://127.0.0.1:7070. `connection`: as `simbatch.connect` takes it.
    Raises SimbatchError when there is no such study.
    """
    folder = Path(DEFAULT_FOLDER)
    if endpoint is None and not connection and not variable("ENDPOINT") and (folder / "data").is_dir():
        return embedded(folder).coordinator().open(reference)
    return connect(endpoint, **connection).open(reference)
