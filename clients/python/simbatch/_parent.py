"""The finished run that an extraction is about, as its program sees it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence

from ._variables import variable

if TYPE_CHECKING:
    import pandas as pandas_types


class ParentRun:
    """A finished run, with copies of its files. Made by `Run.parent`."""

    directory: Path
    """The folder of the copies: `telemetry.parquet`, artifacts, output. They are removed at the end of the program."""
    result: Dict[str, Any]
    """Its result, with the members of docs/api.md."""

    def __init__(self, directory: Path, result: Path) -> None:
        self.directory = directory
        self.result = json.loads(result.read_text(encoding="utf-8"))

    @property
    def outputs(self) -> Dict[str, Any]:
        """Its outputs."""
        found: Dict[str, Any] = self.result["metadata"]
        return found

    def telemetry(self, variables: Optional[Sequence[str]] = None) -> "pandas_types.DataFrame":
        """Its telemetry, one row a sample: the column `timestamp_ns`, and one for each variable, NaN where it has no value.

        variables: only these; all of them without it.
        Raises FileNotFoundError for a run that has sent none, MissingPackageError without pandas and pyarrow.
        """
        from .batch.frames import package

        path = self.directory / "telemetry.parquet"
        if not path.exists():
            raise FileNotFoundError(f"run {self.result['run_id']} has sent no telemetry")
        package("pyarrow", "telemetry")
        columns = None if variables is None else ["timestamp_ns", *variables]
        frame: "pandas_types.DataFrame" = package("pandas", "telemetry").read_parquet(path, columns=columns)
        return frame


def parent_of(environment: "os._Environ[str]" = os.environ) -> Optional[ParentRun]:
    """The run of SVC_PARENT_DIR and SVC_PARENT_RESULT; None where they are not set."""
    directory, result = variable("PARENT_DIR", environment), variable("PARENT_RESULT", environment)
    return ParentRun(Path(directory), Path(result)) if directory and result else None
