"""Futures of points: one thread follows all that are open, and asks only where runs have ended."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from typing import Any, Callable, Dict, List, Mapping, Tuple

from ..batch.batch import Batch
from ..batch.progress import ENDED, ended_of
from ..points.rows import Columns
from .calls import Part, request

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.02, 0.5
# Rows of one request about open points.
_MOST_ROWS = 2_000

Point = Mapping[str, Any]
Taker = Callable[[Point], None]
_Open = Tuple[Dict[str, float], Taker, "Future[Any]"]


class Submitted:
    """The open points of an evaluator."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: Dict[str, Tuple[Batch, List[_Open]]] = {}
        self._is_running = False

    def add(self, part: Part, entries: List[Tuple[Taker, "Future[Any]"]]) -> None:
        """Follows the rows of a part. An entry takes its point once the run has ended; its future gets an error that keeps it from that."""
        names = list(part.columns)
        rows = [dict(zip(names, row)) for row in zip(*part.columns.values())]
        waiting = [(row, take, future) for row, (take, future) in zip(rows, entries)]
        with self._lock:
            self._open.setdefault(part.batch.id, (part.batch, []))[1].extend(waiting)
            if not self._is_running:
                self._is_running = True
                threading.Thread(target=self._run, name="simbatch-evaluator", daemon=True).start()

    def _run(self) -> None:
        looked: Dict[str, Tuple[int, int]] = {}
        pause = _FIRST_PAUSE_S
        while True:
            with self._lock:
                self._open = {key: value for key, value in self._open.items() if value[1]}
                followed = [(batch, list(waiting)) for batch, waiting in self._open.values()]
                if not followed:
                    self._is_running = False
                    return
            count = sum(self._look(batch, waiting, looked) for batch, waiting in followed)
            pause = _FIRST_PAUSE_S if count else min(pause * 1.5, _LONGEST_PAUSE_S)
            time.sleep(pause)

    def _look(self, batch: Batch, waiting: List[_Open], looked: Dict[str, Tuple[int, int]]) -> int:
        """Hands over the points whose runs have ended; returns their number."""
        try:
            state = batch.refresh()
            seen = (ended_of(state["jobs_by_status"]), len(waiting))
            if looked.get(batch.id) == seen and state["batch"]["status"] not in ENDED:
                return 0
            parts = range(0, len(waiting), _MOST_ROWS)
            left = [one for first in parts for one in _settle(batch, waiting[first : first + _MOST_ROWS])]
            looked[batch.id] = (seen[0], len(left))
        except Exception as error:  # the futures have it, and their callers decide
            for _, _, future in waiting:
                if not future.done():
                    future.set_exception(error)
        with self._lock:
            kept = self._open[batch.id][1]
            before = len(kept)
            kept[:] = [one for one in kept if not one[2].done()]
            return before - len(kept)


def _settle(batch: Batch, waiting: List[_Open]) -> List[_Open]:
    """Hands over the points that have ended, found by halves; returns the others."""
    names = list(waiting[0][0])
    columns: Columns = {name: [row[name] for row, _, _ in waiting] for name in names}
    found = request(batch, columns, 0, {})
    if found["complete"]:
        for (_, take, _), point in zip(waiting, found["points"]):
            take(point)
        return []
    if found["counts"].get("open", 0) == len(waiting):
        return waiting
    half = len(waiting) // 2
    return _settle(batch, waiting[:half]) + _settle(batch, waiting[half:])
