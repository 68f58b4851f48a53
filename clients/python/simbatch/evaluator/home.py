"""The open study of an evaluator: found by its label, made where there is none, replaced where it is closed or full."""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, Optional, TypeVar

from ..api.problems import argument_of
from ..api.transport import segment
from ..batch.batch import Batch
from ..errors import ApiError
from .identity import EVALUATOR_LABEL

if TYPE_CHECKING:
    from ..batch.connection import Connection
    from ..study.description import StudyDescription

_Result = TypeVar("_Result")
_OPEN = ("Pending", "Running")
# After these refusals another study may take the points.
_GONE = ("study-closed", "unknown-batch", "budget-exhausted")
# A program that closes each study as soon as it is made ends the search.
_MOST_STUDIES = 5


class Home:
    """The study to which an evaluator appends. Threads may share it."""

    def __init__(self, connection: "Connection", study: "Optional[StudyDescription]", identity: str) -> None:
        self.identity = identity
        self._connection = connection
        self._study: "Optional[StudyDescription]" = study
        self._submission: Optional[Dict[str, Any]] = None
        self._label = f"{EVALUATOR_LABEL}={identity}"
        self._lock = threading.Lock()
        self._batch: Optional[Batch] = None

    def __getstate__(self) -> Dict[str, Any]:
        # The submission in place of the study: pickle cannot take every function.
        return {"identity": self.identity, "connection": self._connection, "submission": self._submitted()}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__init__(state["connection"], None, state["identity"])  # type: ignore[misc]
        self._submission = state["submission"]

    def batch(self) -> Batch:
        """The study, found or made at the first call."""
        with self._lock:
            if self._batch is None:
                self._batch = self._open() or self._made()
            return self._batch

    def using(self, ask: Callable[[Batch], _Result]) -> _Result:
        """The answer of the study to a request; of the next one, where this one is closed, gone or full.

        A request for which even a study without rounds is too small is refused: the next one would be as small.
        """
        for attempt in range(_MOST_STUDIES):
            batch = self.batch()
            try:
                return ask(batch)
            except ApiError as error:
                is_full = error.code == "budget-exhausted"
                if error.code not in _GONE or attempt == _MOST_STUDIES - 1:
                    raise
                if is_full and not batch.refresh()["batch"].get("rounds"):
                    raise
                if is_full:
                    batch.close()
                self.leave(batch)
        raise AssertionError("unreachable")

    def leave(self, batch: Batch) -> None:
        """Looks for the study anew at the next call, unless another thread has done so."""
        with self._lock:
            if self._batch is batch:
                self._batch = None

    def _open(self) -> Optional[Batch]:
        """The oldest study of this identity that takes rounds."""
        return self._first_open(self._studies(status=_OPEN))

    def _studies(self, **query: Any) -> Iterator[Dict[str, Any]]:
        pages = self._connection.transport.pages("/batches", {"label": self._label, **query})
        return (one for page in pages for one in page)

    def _first_open(self, studies: Iterable[Dict[str, Any]]) -> Optional[Batch]:
        for one in studies:
            if one["status"] in _OPEN and "budget" in one and not one.get("closed"):
                return Batch(self._connection, one["id"], one, study=self._study)
        return None

    def _made(self) -> Batch:
        """A new study; that of another program, where both make one at once."""
        known = list(self._studies())
        # A study that another program has made since the first look is not an ended one: its successor would be made.
        found = self._first_open(known)
        if found is not None:
            return found
        count = len(known)
        for key in (f"evaluator-{self.identity}-{count}", f"evaluator-{self.identity}-{os.urandom(8).hex()}"):
            self._submit(key)
            found = self._open()
            if found is not None:
                return found
        raise ApiError(409, "study-closed", "the study of the evaluator was closed as soon as it was made; call again")

    def _submit(self, key: str) -> None:
        submission = self._submitted()
        try:
            answer: Dict[str, Any] = self._connection.transport.post("/jobs", submission, idempotency_key=key)
            self._connection.transport.get(f"/batches/{segment(answer['batch_id'])}")
            for one in answer.get("warnings") or ():
                print(f"simbatch: {argument_of(one['pointer'])}: {one['detail']}", file=sys.stderr)
        except ApiError as error:
            # Another program has used the key, or its study was deleted since: the label finds an open one.
            if error.code not in ("idempotency-key-reused", "unknown-batch"):
                raise

    def _submitted(self) -> Dict[str, Any]:
        if self._submission is None:
            assert self._study is not None
            given = self._study._given.get("labels") or {}
            self._submission = {**self._study.submission(), "labels": {**given, EVALUATOR_LABEL: self.identity}}
        return self._submission
