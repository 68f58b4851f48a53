"""The rounds of an adaptive study: appended, found and closed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, TypeVar, Union

from ..api.problems import round_argument
from ..api.transport import segment
from ..errors import ApiError, Fault
from ..points.rows import columns_of_rows, draws_of
from .rounds import Round, Rounds

if TYPE_CHECKING:
    from ..study.description import StudyDescription
    from .connection import Connection

_Self = TypeVar("_Self", bound="Growing")


class Growing:
    """The part of a batch that grows by rounds."""

    coordinator: "Connection"
    id: str
    study: "Optional[StudyDescription]"
    _resource: Optional[Mapping[str, Any]]

    if TYPE_CHECKING:

        @property
        def name(self) -> str: ...
        @property
        def submission(self) -> Dict[str, Any]: ...
        def refresh(self) -> Dict[str, Any]: ...
        def obstacles(self) -> List[str]: ...

    def append(
        self, rows: Any, draws: Any = None, *, key: Optional[str] = None, round: Optional[int] = None,
        label: Optional[str] = None, note: Optional[str] = None,
    ) -> Round:  # fmt: skip
        """Appends a round of runs to an adaptive study; the same key with the same rows is the same round, for ever.

        rows: a list of mappings, or columns (a mapping of lists, a data frame, an Arrow table), or an array with one column for each
        chosen input in the order of the study's inputs; up to 10,000 rows. draws: one a row, whose random draw the run has, None
        for its own; equal draws are common random numbers, see `product`. key: the name of the round, up to 200 characters.
        round: the number that it must have; key or round is needed. label, note: texts that are kept with it.
        Raises TypeError and ValueError that name the row; ApiError `round-key-reused` and `round-taken` for other rows under a
        known name, `round-out-of-order`, `budget-exhausted`, `study-closed`, `not-external`, `invalid-request`.
        """
        if key is None and round is None:
            raise TypeError('key is missing: name the round, e.g. key="generation-0", so that the call is safe to repeat')
        body: Dict[str, Any] = {"columns": columns_of_rows(rows, () if _has_names(rows) else self._chosen())}
        if draws is not None:
            body["draws"] = draws_of(draws)
        named = {"key": key, "round": round, "label": label, "note": note}
        body.update((name, value) for name, value in named.items() if value is not None)
        try:
            answer = self.coordinator.transport.post(f"/batches/{segment(self.id)}/rounds", body, repeat=True)
        except ApiError as error:
            raise _with_arguments(error) from None
        return Round(self, {**named, **answer})

    def rounds(self, first: int = 0) -> Rounds:
        """The rounds of an adaptive study in their order, from the number `first` on."""
        query = {"from": first} if first > 0 else None
        return Rounds(Round(self, one) for one in self.coordinator.transport.get(f"/batches/{segment(self.id)}/rounds", query))

    def round(self, which: Union[int, str]) -> Round:
        """One round, by its number or by its key. Raises ApiError `unknown-round`."""
        place = f"by-key/{segment(which)}" if isinstance(which, str) else str(int(which))
        return Round(self, self.coordinator.transport.get(f"/batches/{segment(self.id)}/rounds/{place}"))

    def close(self: _Self) -> _Self:
        """Ends an adaptive study once its runs have: it takes no further rounds, and nothing opens it again. A repeat changes nothing."""
        self._resource = self.coordinator.transport.post(f"/batches/{segment(self.id)}/close", repeat=True)
        return self

    def _chosen(self) -> List[str]:
        """The chosen inputs, in the order of the study."""
        if self.study is not None:
            return [name for name, one in self.study.inputs.items() if one.type == "chosen"]
        dispersions = self.submission["config"]["dispersions"]
        names = [name for name, one in dispersions.items() if one["distribution"]["type"] == "chosen"]
        if any(re.fullmatch(r"\d+", name) for name in names):
            raise TypeError("rows must have names: the coordinator does not keep the order of inputs whose names are numbers")
        return names


def _has_names(rows: Any) -> bool:
    if isinstance(rows, Mapping) or hasattr(rows, "columns") or hasattr(rows, "column_names"):
        return True
    return isinstance(rows, (list, tuple)) and any(isinstance(row, Mapping) for row in rows)


def _with_arguments(error: ApiError) -> ApiError:
    """The error of a refused round, with the rows under the name of their argument."""
    faults = [Fault(one.pointer, one.detail, round_argument(one.pointer)) for one in error.faults]
    return ApiError(error.status, error.code, error.detail, faults=faults, problem=error.problem, request_id=error.request_id)
