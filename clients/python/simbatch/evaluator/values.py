"""From the results of points to numbers: the values of a row, and why a row has none."""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass
from typing import Any, List, Mapping, Optional, Sequence, Tuple

from ..errors import SimbatchError


@dataclass(frozen=True)
class Failure:
    """A point that has no values."""

    row: int
    """Its row in the call, from 0."""
    run_id: int
    """The run that failed."""
    class_: str
    """`crashed`, `timeout`, `terminated`, `lost`, `cancelled`; `ok` for a run without the output."""
    error: str
    """Why it failed."""

    def __str__(self) -> str:
        return f"row {self.row} (run {self.run_id}, {self.class_}): {self.error}"


class EvaluationError(SimbatchError):
    """A call of an evaluator with points that failed, or with an output that its runs do not report."""

    def __init__(self, message: str, failures: Sequence[Failure] = (), values: Any = None) -> None:
        self.failures: List[Failure] = list(failures)
        """The rows that have no values."""
        self.values = values
        """The values of all rows, NaN for those; None where there are none."""
        super().__init__(message)


def row_values(row: int, point: Mapping[str, Any], outputs: Sequence[str]) -> Tuple[List[float], Optional[Failure]]:
    """The numbers of a point in the order of the outputs; NaN for all of them, and the failure, where one is missing."""
    nothing = [math.nan] * len(outputs)
    run_id, class_ = int(point["run_id"]), str(point["class"])
    if class_ != "ok":
        return nothing, Failure(row, run_id, class_, str(point.get("error") or f"the run ended as {class_}"))
    values: List[float] = []
    for name in outputs:
        value = point["outputs"].get(name)
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            why = f"the run reported {name} = {value!r}, which is not a number" if name in point["outputs"] else f"the run did not report {name}"
            return nothing, Failure(row, run_id, class_, why)
        values.append(float(value))
    return values, None


def numeric_outputs(points: Sequence[Mapping[str, Any]]) -> List[str]:
    """The outputs of the first run that completed which are numbers, in the order in which it reported them; empty without such a run."""
    for point in points:
        if point["class"] == "ok":
            return [name for name, value in point["outputs"].items() if isinstance(value, (int, float))]
    return []


def unknown_output(name: str, reported: Sequence[str]) -> EvaluationError:
    """The error for an output that no run has reported."""
    close = difflib.get_close_matches(name, list(reported), 1)
    meant = f"; did you mean {close[0]!r}?" if close else ""
    return EvaluationError(f"outputs has {name!r}, which no run reports; they report: {', '.join(reported) or 'nothing'}{meant}")


def as_array(rows: List[List[float]], columns: int) -> Any:
    """The rows as a NumPy array of shape (n, columns); as they are without NumPy."""
    try:
        import numpy
    except ImportError:
        return rows
    return numpy.array(rows, dtype=float).reshape(len(rows), columns)


def as_vector(values: List[float]) -> Any:
    """The values of one point as a NumPy array; as they are without NumPy."""
    try:
        import numpy
    except ImportError:
        return values
    return numpy.array(values, dtype=float)
