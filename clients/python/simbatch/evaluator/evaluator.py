"""A simulation as a function of its inputs: the points go to the runners of a coordinator, the numbers come back in order."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections import Counter
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from ..points.rows import Columns, columns_of_rows, listed
from . import calls
from .home import Home
from .identity import digest_of_rows
from .submitted import Submitted
from .values import EvaluationError, Failure, as_array, as_vector, numeric_outputs, row_values, unknown_output

if TYPE_CHECKING:
    from ..batch.batch import Batch
    from ..batch.connection import Connection
    from ..study.description import StudyDescription


class Evaluator:
    """A simulation as a function: `f(X)` executes the rows of X on a pool and returns their outputs. Threads may share it.

    Made by `Coordinator.evaluator` and `Study.evaluator`. Every point and every result is kept by the coordinator: a point that was evaluated
    is not executed again, by no program of the same evaluator, and after a crash of anything the same calls return the same numbers.
    It can be pickled: the processes of joblib and multiprocessing share its study, and each has connections of its own.
    """

    def __init__(
        self, connection: "Connection", study: "StudyDescription", identity: str, inputs: Sequence[str],
        outputs: Optional[Sequence[str]], *, failed: str, noise: bool, retry_failed: bool, progress: bool, label: Optional[str],
    ) -> None:  # fmt: skip
        if failed not in ("nan", "raise"):
            raise ValueError(f'failed must be "nan" or "raise", not {failed!r}')
        self.inputs: Tuple[str, ...] = tuple(inputs)
        """The names of the columns of X."""
        self._outputs = None if outputs is None else _names("outputs", outputs)
        self._failed, self._noise, self._retry_failed = failed, noise, retry_failed
        self._progress, self._label, self._name = progress, label, study.name
        self._home = Home(connection, study, identity)
        self._begin()

    def __getstate__(self) -> Dict[str, Any]:
        if self._noise:
            raise TypeError(
                "an evaluator with noise=True cannot be pickled: several processes would get the same runs for the same rows; "
                "call f(X) with all rows, or from threads"
            )
        own = ("_lock", "_seen", "_calls", "_last", "_local", "_submitted")
        return {name: value for name, value in self.__dict__.items() if name not in own}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def _begin(self) -> None:
        """The members that belong to one process."""
        self._lock = threading.Lock()
        self._seen: Dict[str, bool] = {}
        self._calls: "Counter[str]" = Counter()
        self._last: Tuple[int, List[Failure]] = (0, [])
        self._local = threading.local()
        self._submitted = Submitted()

    @property
    def outputs(self) -> Optional[Tuple[str, ...]]:
        """The names of the columns of the answer; None before the first call where they were not given."""
        return self._outputs

    @property
    def batch(self) -> "Batch":
        """The open study that has the points; made where there is none."""
        return self._home.batch()

    @property
    def cached(self) -> int:
        """The rows of the last call of this thread that were not executed for it; of any thread, when this one has made none."""
        return self._latest()[0]

    @property
    def failures(self) -> List[Failure]:
        """The rows of the last call of this thread that have no values, with the reason; of any thread, when this one has made none."""
        return list(self._latest()[1])

    def _latest(self) -> Tuple[int, List[Failure]]:
        latest: Tuple[int, List[Failure]] = getattr(self._local, "last", self._last)
        return latest

    def __call__(self, X: Any) -> Any:
        """The outputs of n points: an array of n rows and m columns, in the order of X; lists without NumPy.

        X: n rows of d numbers in the order of `inputs`, or mappings, columns, a data frame. One row of d numbers alone gives m numbers.
        Any n: what does not fit into one round is appended as several. A row that failed is NaN, or raises EvaluationError with
        `failed="raise"`; so does an output that no run reports. Ctrl-C leaves the study running. Raises ValueError for
        NaN and numbers outside of bounds, ApiError, UnreachableError after `retry_s` of `connect`.
        """
        columns, is_one = self._columns(X)
        values = self._evaluate(columns)
        return as_vector(values[0]) if is_one else as_array(values, len(self._outputs or ()))

    def one(self, point: Mapping[str, float]) -> Dict[str, float]:
        """The outputs of one point by name: `f.one({"mass": 45, "cd": 1})`."""
        (values,) = self._evaluate(self._columns([point])[0])
        return dict(zip(self._outputs or (), values))

    def map(self, fun: Any, xs: Iterable[Any]) -> List[float]:
        """The output of each point, for `workers=` and `pool=` of other libraries. `fun` is ignored; the evaluator needs one output."""
        points = [listed("X", x) if hasattr(x, "__iter__") else [x] for x in xs]
        values = self._evaluate(self._columns(points)[0])
        if len(self._outputs or ()) > 1:
            raise ValueError(f"map needs an evaluator with one output, and this one has {', '.join(self._outputs or ())}")
        return [row[0] for row in values]

    def submit(self, X: Any) -> "List[Future[Any]]":
        """One future for each row, with its m numbers once its run has ended. Returns when the points are appended.

        With `failed="raise"` the future of a failed row has an EvaluationError. `concurrent.futures` waits for several.
        """
        if self._noise:
            raise ValueError("submit has no place for noise=True, where each call needs a round of its own; call f(X) in threads")
        columns, _ = self._columns(X)
        futures: "List[Future[Any]]" = []
        for part in calls.append(self._home, columns, retry_failed=self._retry_failed, label=self._label):
            entries = []
            for _ in range(part.count):
                future: "Future[Any]" = Future()
                future.set_running_or_notify_cancel()
                entries.append((self._taker(len(futures), future), future))
                futures.append(future)
            self._submitted.add(part, entries)
        return futures

    async def evaluate(self, X: Any) -> Any:
        """As `f(X)`, without blocking the event loop: `Y = await f.evaluate(X)`. Any number of them may wait at once."""
        columns, is_one = self._columns(X)
        loop = asyncio.get_running_loop()
        if self._noise:
            values = await loop.run_in_executor(None, self._evaluate, columns)
            return as_vector(values[0]) if is_one else as_array(values, len(self._outputs or ()))
        futures = await loop.run_in_executor(None, self.submit, columns)
        rows = await asyncio.gather(*(asyncio.wrap_future(future) for future in futures))
        return rows[0] if is_one else as_array([list(row) for row in rows], len(self._outputs or ()))

    def _columns(self, X: Any) -> Tuple[Columns, bool]:
        """The columns of X, and whether it is a single row of numbers."""
        if not isinstance(X, Mapping) and not hasattr(X, "columns") and not hasattr(X, "column_names"):
            X = listed("X", X)
            is_one = len(X) > 0 and not any(isinstance(row, Mapping) or hasattr(row, "__iter__") for row in X)
            return columns_of_rows([X] if is_one else X, self.inputs, "X"), is_one
        return columns_of_rows(X, self.inputs, "X"), False

    def _evaluate(self, columns: Columns) -> List[List[float]]:
        try:
            results = self._results(columns)
        except KeyboardInterrupt:
            print("simbatch: the study continues; the same call returns its results", file=sys.stderr)
            raise
        outputs = self._known_outputs(results.points)
        pairs = [row_values(row, point, outputs) for row, point in enumerate(results.points)]
        failures = [failure for _, failure in pairs if failure is not None]
        values = [row for row, _ in pairs]
        self._local.last = self._last = (results.cached, failures)
        if any(failure.class_ == "cancelled" for failure in failures):
            for batch in results.batches:
                self._home.leave(batch)
        if failures and self._failed == "raise":
            first = f"{len(failures)} of {len(values)} points failed; the first: {failures[0]}"
            raise EvaluationError(first, failures, as_array(values, len(outputs)))
        return values

    def _results(self, columns: Columns) -> calls.Results:
        if not next(iter(columns.values()), []):
            return calls.Results([], 0, [])
        if self._noise:
            return calls.noisy_results(self._home, columns, self._noise_keys(columns), self._progress, self._label)
        parts = calls.append(self._home, columns, retry_failed=self._retry_failed, label=self._label)
        return calls.results_of(parts, self._name, self._progress)

    def _noise_keys(self, columns: Columns) -> List[str]:
        """Keys that the same calls of a repeated program have again: the digest of the rows, and how often this program asked for them."""
        keys = []
        with self._lock:
            for part in calls.parts_of(columns):
                digest = digest_of_rows(part)
                keys.append(f"noise-{digest}-{self._calls[digest]}")
                self._calls[digest] += 1
        return keys

    def _known_outputs(self, points: Sequence[Mapping[str, Any]]) -> Tuple[str, ...]:
        """The outputs, learnt from the first result where they were not given. Raises EvaluationError for those that no run reports."""
        with self._lock:
            if self._outputs is None:
                found = numeric_outputs(points)
                if not found:
                    if not points:
                        return ()
                    reasons = [failure for row, point in enumerate(points) for failure in [row_values(row, point, ("",))[1]] if failure]
                    raise EvaluationError(f"no point has an output to learn from; name them with outputs=[...]. {reasons[0]}", reasons)
                self._outputs = tuple(found)
            completed = [point["outputs"] for point in points if point["class"] == "ok"]
            for name in self._outputs:
                if name in self._seen or not completed:
                    continue
                if not any(name in outputs for outputs in completed):
                    raise unknown_output(name, list(dict.fromkeys(key for outputs in completed for key in outputs)))
                self._seen[name] = True
            return self._outputs

    def _taker(self, row: int, future: "Future[Any]") -> Any:
        """Gives a future the numbers of its point."""

        def take(point: Mapping[str, Any]) -> None:
            try:
                values, failure = row_values(row, point, self._known_outputs([point]))
                if failure is not None and self._failed == "raise":
                    raise EvaluationError(str(failure), [failure])
                future.set_result(as_vector(values))
            except Exception as error:
                future.set_exception(error)

        return take

    def __repr__(self) -> str:
        outputs = "the outputs of its runs" if self._outputs is None else ", ".join(self._outputs)
        return f"simbatch.Evaluator({self._name!r}: {', '.join(self.inputs)} -> {outputs})"


def _names(argument: str, names: Sequence[str]) -> Tuple[str, ...]:
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{argument} must be a list of names, not {names!r}")
    made = tuple(names)
    if not made:
        raise ValueError(f"{argument} must have at least one name")
    if len(set(made)) != len(made):
        raise ValueError(f"{argument} has a name twice: {', '.join(made)}")
    return made
