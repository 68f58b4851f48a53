"""Waiting for a study with a progress bar: tqdm where it is installed, else a line on stderr."""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any, Dict, List, Mapping, Optional, Protocol, Set

ENDED = ("Completed", "Failed", "Cancelled")
_WAIT_S = 1
_PAUSE_S = 0.05
_LINE_S = 10.0
_STUCK_S = 5.0


class Blocked(Protocol):
    """A batch, as far as it may not come forward."""

    def obstacles(self) -> List[str]: ...


class Followed(Blocked, Protocol):
    """A batch, as far as it is waited for."""

    @property
    def id(self) -> str: ...
    def _refresh(self, wait_s: int) -> Dict[str, Any]: ...
    def sentence(self) -> Optional[str]: ...


def wait(batch: Followed, timeout: Optional[float], progress: bool) -> None:
    """See `Batch.wait`."""
    end = None if timeout is None else time.monotonic() + timeout
    wait_s = 0
    bar: Any = None
    try:
        stuck = Stuck(batch)
        while True:
            state = batch._refresh(wait_s)
            resource, ended = state["batch"], ended_of(state["jobs_by_status"])
            stuck.look(ended)
            if progress:
                bar = bar or bar_of(resource["name"], resource["total_jobs"])
                bar.show(ended, problems_of(state["jobs_by_status"]) or ("paused" if resource.get("paused") else ""), state.get("eta"))
            if resource["status"] in ENDED or resource.get("canary_failed") or resource.get("waiting_for_rows"):
                break
            left: float = _WAIT_S if end is None else end - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"study {batch.id} has not ended after {timeout:g} s; it continues")
            # The coordinator answers at the end of the study; it waits for whole seconds.
            wait_s = _WAIT_S if left >= _WAIT_S else 0
            if wait_s == 0:
                time.sleep(min(_PAUSE_S, left))
    except KeyboardInterrupt:
        if bar is not None:
            bar.close()
            bar = None
        print("simbatch: the study continues; batch.wait() waits again, batch.cancel() ends it", file=sys.stderr)
        raise
    finally:
        if bar is not None:
            bar.close()
    sentence = batch.sentence() if progress else None
    if sentence:
        print(sentence, file=sys.stderr)
    if progress and resource.get("canary_failed"):
        print("simbatch: the runs wait for a decision: batch.release() executes them, batch.cancel() ends the study", file=sys.stderr)


def bar_of(name: str, total: int, *, stays: bool = True) -> Any:
    """A bar of so many runs: `show` it, then `close` it. stays: it is seen after its end."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # without ipywidgets a notebook gets a bar of text
            from tqdm.auto import tqdm
    except ImportError:
        return _Lines(name, total, stays)
    return _Tqdm(tqdm(total=total, desc=name, unit="run", leave=stays))


def ended_of(jobs: Mapping[str, int]) -> int:
    """Number of runs that have ended."""
    return sum(jobs[status] for status in ("Completed", "Failed", "Timeout", "Cancelled"))


def problems_of(jobs: Mapping[str, int]) -> str:
    """The runs that did not succeed, in words; empty when all did."""
    counts = [(jobs["Failed"], "failed"), (jobs["Timeout"], "timed out"), (jobs["Cancelled"], "cancelled")]
    return ", ".join(f"{count} {word}" for count, word in counts if count)


def count_problems(counts: Mapping[str, int]) -> str:
    """The same for runs by class."""
    return ", ".join(f"{count} {name}" for name, count in counts.items() if name not in ("ok", "open"))


class Stuck:
    """Reports the findings of a study in which no run has ended for a while; each finding once."""

    def __init__(self, batch: Blocked) -> None:
        self._batch, self._ended = batch, -1
        self._next = time.monotonic() + _STUCK_S
        self._reported: Set[str] = set()

    def look(self, ended: int) -> None:
        """Compares the number of ended runs with that of the last look."""
        now = time.monotonic()
        if ended != self._ended:
            self._ended, self._next = ended, now + _STUCK_S
        elif now >= self._next:
            self._next = now + _STUCK_S
            for line in self._batch.obstacles():
                if line not in self._reported:
                    self._reported.add(line)
                    print(f"\nsimbatch: {line}", file=sys.stderr)


class _Tqdm:
    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def show(self, ended: int, words: str, eta: Optional[Mapping[str, float]] = None) -> None:
        self._bar.update(ended - self._bar.n)
        if words:
            self._bar.set_postfix_str(words, refresh=False)

    def close(self) -> None:
        self._bar.close()


class _Lines:
    """A line every 10 s, and one at the end where it stays."""

    def __init__(self, name: str, total: int, stays: bool) -> None:
        self._name, self._total, self._stays, self._next = name, total, stays, time.monotonic() + _LINE_S
        self._text = ""

    def show(self, ended: int, words: str, eta: Optional[Mapping[str, float]] = None) -> None:
        self._text = f"{self._name}: {ended} of {self._total} runs" + (f", {words}" if words else "")
        if eta is not None:
            self._text += f", {eta['low']:.0f} to {eta['high']:.0f} s left"
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _LINE_S
            print(self._text, file=sys.stderr)

    def close(self) -> None:
        if self._stays:
            print(self._text, file=sys.stderr)
