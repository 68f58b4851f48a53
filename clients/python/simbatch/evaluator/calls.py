"""One call of an evaluator: its rows in requests that a coordinator takes, the wait, the results in the order of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence

from ..api.problems import round_argument
from ..api.transport import segment
from ..batch.batch import Batch
from ..batch.progress import Stuck, bar_of, count_problems
from ..batch.rounds import Round, wait_for
from ..errors import ApiError, Fault
from ..points.rows import Columns
from .home import Home

# Limits of a request: its rows, and the bytes of its JSON, of which a number takes up to 26.
_MOST_ROWS = 10_000
_MOST_BYTES = 8 << 20
_NUMBER_BYTES = 26
_WAIT_S = 30
# A bar is shown for a call that takes longer, and is drawn anew as often, in seconds.
_BAR_AFTER_S = 1
_BAR_RUNS_PER_S = 500


@dataclass(frozen=True)
class Part:
    """Rows of a call that are asked for in one request, and the study that has them."""

    batch: Batch
    columns: Columns
    count: int
    first: Mapping[str, Any]
    """The answer to the first request, which appended the new points."""

    @property
    def appended(self) -> int:
        """Runs that were appended."""
        return 0 if self.first["appended"] is None else int(self.first["appended"]["count"])


@dataclass(frozen=True)
class Results:
    """The points of a call in the order of its rows, each with `run_id`, `class`, `outputs`, `error`."""

    points: List[Mapping[str, Any]]
    cached: int
    """Rows for which nothing was appended."""
    batches: List[Batch]


def parts_of(columns: Columns) -> Iterator[Columns]:
    """The rows in parts that fit into a request."""
    count = len(next(iter(columns.values()), []))
    most = max(1, min(_MOST_ROWS, _MOST_BYTES // (_NUMBER_BYTES * max(1, len(columns)))))
    for first in range(0, count, most):
        yield {name: column[first : first + most] for name, column in columns.items()}


def append(home: Home, columns: Columns, *, retry_failed: bool = False, label: Optional[str] = None) -> List[Part]:
    """Appends the points that the study does not have; nothing of it is executed twice. Returns at once."""
    return [_append(home, part, retry_failed, label) for part in parts_of(columns)]


def _append(home: Home, columns: Columns, retry_failed: bool, label: Optional[str]) -> Part:
    more: Dict[str, Any] = {"retry_failed": True} if retry_failed else {}
    if label is not None:
        more["label"] = label

    def ask(batch: Batch) -> Part:
        # Without a wait: the answer, which has what was appended, is hardly ever lost.
        answer = request(batch, columns, 0, more)
        return Part(batch, columns, answer["count"], answer)

    return home.using(ask)


def request(batch: Batch, columns: Columns, wait_s: int, more: Mapping[str, Any]) -> Dict[str, Any]:
    """One request of `POST .../evaluate`: the points, with `complete: false` while runs are open."""
    path = f"/batches/{segment(batch.id)}/evaluate"
    query = {"wait": wait_s} if wait_s else None
    try:
        # Safe to repeat: the points are its key.
        answer = batch.coordinator.transport.send(
            "POST", path, query, body={"columns": columns, **more}, repeat=True, extra_s=wait_s
        )
    except ApiError as error:
        faults = [Fault(one.pointer, one.detail, round_argument(one.pointer, "X")) for one in error.faults]
        raise ApiError(error.status, error.code, error.detail, faults=faults, problem=error.problem, request_id=error.request_id) from None
    found: Dict[str, Any] = answer.json()
    return found


def results_of(parts: Sequence[Part], name: str, progress: bool) -> Results:
    """Waits until the runs of all points have ended."""
    total = sum(part.count for part in parts)
    points: List[Mapping[str, Any]] = []
    bar = _Bar(name, total) if progress else None
    try:
        for part in parts:
            points += _wait(part, bar, len(points))
    finally:
        if bar is not None:
            bar.close()
    batches = list({part.batch.id: part.batch for part in parts}.values())
    return Results(points, sum(part.count - part.appended for part in parts), batches)


class _Bar:
    """A bar that appears when the call takes long, and is removed with its end."""

    def __init__(self, name: str, total: int) -> None:
        self.wait_s = _BAR_AFTER_S
        self._name, self._total = name, total
        self._bar: Any = None

    def show(self, ended: int, words: str) -> None:
        self._bar = self._bar or bar_of(self._name, self._total, stays=False)
        self._bar.show(ended, words)
        self.wait_s = min(_WAIT_S, max(1, self._total // _BAR_RUNS_PER_S))

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def _wait(part: Part, bar: Optional[_Bar], before: int) -> List[Mapping[str, Any]]:
    stuck, found = Stuck(part.batch), part.first
    while not found["complete"]:
        found = request(part.batch, part.columns, _WAIT_S if bar is None else bar.wait_s, {})
        ended = part.count - found["counts"].get("open", 0)
        stuck.look(ended)
        if bar is not None and not found["complete"]:
            bar.show(before + ended, count_problems(found["counts"]))
    points: List[Mapping[str, Any]] = found["points"]
    return points


def noisy_results(home: Home, columns: Columns, keys: Sequence[str], progress: bool, label: Optional[str]) -> Results:
    """Each row as a run of its own, in rounds with these keys; a round that is there already is read."""

    def appended(part: Columns, key: str) -> Round:
        return home.using(lambda batch: batch.append(part, key=key, label=label))

    rounds = [appended(part, key) for part, key in zip(parts_of(columns), keys)]
    points: List[Mapping[str, Any]] = []
    for one in rounds:
        points += wait_for(one, None, progress)
    batches = {one.batch.id: one.batch for one in rounds}
    return Results(points, sum(one.count for one in rounds if one.repeated), list(batches.values()))  # type: ignore[arg-type]
