"""One round of an adaptive study: where it stands, its wait, its results."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Protocol

from ..api.transport import segment
from ..errors import NotReadyError
from .frames import columns_of, pandas
from .progress import Stuck, bar_of, count_problems

if TYPE_CHECKING:
    import pandas as pandas_types

    from .connection import Connection

# The longest wait of one request, in seconds; it is repeated after it.
_WAIT_S = 20
# With a bar it is asked more often: a second for so many runs.
_BAR_RUNS_PER_S = 500
# The pause between two requests when less than a second of the time is left.
_PAUSE_S = 0.1


class Adaptive(Protocol):
    """The batch of a round."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def coordinator(self) -> "Connection": ...
    def refresh(self) -> Dict[str, Any]: ...
    def obstacles(self) -> List[str]: ...


class Round:
    """A round of an adaptive study: consecutive runs that were appended together. Made by `Batch.append`, `Batch.round` and `Batch.rounds`."""

    def __init__(self, batch: Adaptive, resource: Mapping[str, Any]) -> None:
        self.batch = batch
        self.number: int = resource["round"]
        """Its number, from 0."""
        self.first_run_id: int = resource["first_run_id"]
        """Its first run; the others follow it."""
        self.count: int = resource["count"]
        """Its number of runs."""
        self.run_ids: str = resource["run_ids"]
        """Its runs, such as `12-15`."""
        self.digest: str = resource["digest"]
        """SHA-256 of its rows, in hexadecimal."""
        self.key: Optional[str] = resource.get("key")
        """Its name, under which it is appended again without effect; None where it was appended by number."""
        self.label: Optional[str] = resource.get("label")
        self.note: Optional[str] = resource.get("note")
        self.repeated: bool = bool(resource.get("repeated"))
        """Whether it was there before `Batch.append`, which then changed nothing."""
        self._complete: bool = bool(resource.get("complete"))
        self._rows: Optional[List[Dict[str, Any]]] = None

    @property
    def complete(self) -> bool:
        """Whether every run of it has ended, as it is now."""
        return self._complete or bool(self._read()["complete"])

    @property
    def counts(self) -> Dict[str, int]:
        """Its runs by class, as they are now: `ok`, `terminated`, `crashed`, `timeout`, `lost`, `cancelled`, and `open` for those that have not ended."""
        found: Dict[str, int] = self._read()["counts"]
        return found

    def wait(self, timeout: Optional[float] = None, *, progress: bool = False) -> List[Dict[str, Any]]:
        """Waits until every run has ended and returns its rows in the order of the runs.

        A row has `run_id`, `class`, `draw`, `parameters.*`, `outputs.*` and `error`. A run that failed is a row with its class and with
        None for outputs that it has not. progress: with a bar, as `Batch.wait`. Ctrl-C ends the wait only. Raises TimeoutError
        after `timeout` seconds, NotReadyError when the runs wait for a decision about failed canary runs; the study continues.
        """
        if self._rows is None:
            self._rows = rows_of(wait_for(self, timeout, progress))
        return [dict(row) for row in self._rows]

    def results(self, *, wait: bool = True) -> List[Dict[str, Any]]:
        """The rows of `wait()`. Without `wait` it raises NotReadyError while runs are open."""
        if not wait and self._rows is None:
            found = _ask(self, 0)
            if not found["complete"]:
                raise NotReadyError(f"round {self.number} has {found['counts'].get('open', 0)} of {self.count} runs open; wait() waits for them")
            self._rows = rows_of(found["results"])
        return self.wait()

    def frame(self, *, wait: bool = True) -> "pandas_types.DataFrame":
        """The rows as a pandas DataFrame. Raises MissingPackageError without pandas, and as `results`."""
        frame: "pandas_types.DataFrame" = pandas().DataFrame(columns_of(self.results(wait=wait)))
        return frame

    def _read(self) -> Dict[str, Any]:
        found: Dict[str, Any] = self.batch.coordinator.transport.get(_path(self))
        self._complete = bool(found["complete"])
        self.key, self.label, self.note = found["key"], found["label"], found["note"]
        return found

    def __repr__(self) -> str:
        from ..show.text import round_text

        return round_text(self)

    def _repr_html_(self) -> str:
        from ..show.html import rounds_html

        return rounds_html([self])


class Rounds(List[Round]):
    """Rounds, as a list that a notebook shows as a table."""

    def __repr__(self) -> str:
        from ..show.text import rounds_text

        return rounds_text(self)

    def _repr_html_(self) -> str:
        from ..show.html import rounds_html

        return rounds_html(self)


def _path(one: Round) -> str:
    return f"/batches/{segment(one.batch.id)}/rounds/{one.number}"


def _ask(one: Round, wait_s: int) -> Dict[str, Any]:
    query = {"wait": wait_s} if wait_s > 0 else None
    found: Dict[str, Any] = one.batch.coordinator.transport.get(f"{_path(one)}/results", query, extra_s=wait_s)
    return found


def wait_for(one: Round, timeout: Optional[float], progress: bool) -> List[Dict[str, Any]]:
    """The runs of a round as `GET .../results` has them, once all have ended. See `Round.wait`."""
    end = None if timeout is None else time.monotonic() + timeout
    longest = min(_WAIT_S, max(1, one.count // _BAR_RUNS_PER_S)) if progress else _WAIT_S
    stuck, bar = Stuck(one.batch), None
    wait_s = 1
    try:
        while True:
            left_s = wait_s if end is None else max(0, min(wait_s, int(end - time.monotonic())))
            found = _ask(one, left_s)
            ended = one.count - found["counts"].get("open", 0)
            if bar is not None:
                bar.show(ended, count_problems(found["counts"]))
            if found["complete"]:
                one._complete = True
                results: List[Dict[str, Any]] = found["results"]
                return results
            if bar is None and progress:
                bar = bar_of(f"{one.batch.name} round {one.number}", one.count)
                bar.show(ended, count_problems(found["counts"]))
            stuck.look(ended)
            if one.batch.refresh()["batch"].get("canary_failed"):
                raise NotReadyError(f"the canary runs of study {one.batch.id} have failed; batch.release() executes the others, batch.cancel() ends it")
            if end is not None and time.monotonic() >= end:
                raise TimeoutError(f"round {one.number} has not ended after {timeout:g} s; it continues")
            if left_s == 0:
                time.sleep(_PAUSE_S)
            wait_s = longest
    finally:
        if bar is not None:
            bar.close()


def rows_of(results: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """The runs of a round as flat rows, with the same outputs in each."""
    outputs = list(dict.fromkeys(name for one in results for name in one["outputs"]))
    rows = []
    for one in results:
        row: Dict[str, Any] = {"run_id": one["run_id"], "class": one["class"], "draw": one["draw"]}
        row.update((f"parameters.{name}", value) for name, value in one["parameters"].items())
        row.update((f"outputs.{name}", one["outputs"].get(name)) for name in outputs)
        row["error"] = one.get("error")
        rows.append(row)
    return rows
