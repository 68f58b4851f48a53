"""The parameters of a run, and which of them the simulation looks up."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False  # as in _run.py
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, Mapping, Optional, Set

READS_FILE = ".simbatch-reads.json"
"""In the output directory: the look-ups of a run, for the runner, which removes the file."""
UNREAD_NS = 1_000_000_000
"""The access time that the runner gives a run configuration: nothing has read it."""
MOST_ASKED = 16
MOST_ASKED_LENGTH = 256
_MARK_BYTES = 6

_keeps_access_times: Dict[int, bool] = {}
"""By device: whether its file system records that a file was read."""


class RunConfigError(Exception):
    """The environment or the run configuration does not say what a run needs."""


class Parameters(dict[str, float]):
    """The sampled parameters by name. A name that is missing is answered with the ones there are.

    The parameters that the simulation looks up are noted, for the finding `parameter-never-read`. Iterating or copying counts as a
    look-up of all, printing of none.
    """

    __slots__ = ("_asked", "_given", "_read")
    _asked: Dict[str, None]
    _given: Set[str]
    _read: Set[str]

    def __missing__(self, name: str) -> float:
        raise RunConfigError(f"the run has no parameter {name!r}{hint(name, self)}; it has: {', '.join(sorted(dict.keys(self))) or 'none'}")

    def __reduce_ex__(self, _: Any) -> Any:
        return Parameters, (dict(self),)


class NotedParameters(Parameters):
    """Parameters while some were not looked up. Turns into plain `Parameters` once all were: their look-ups cost nothing more."""

    __slots__ = ()

    def __init__(self, values: Mapping[str, float], given: Set[str]) -> None:
        super().__init__(values)
        self._given = given
        self._read = set()
        self._asked = {}

    def __missing__(self, name: str) -> float:
        self._ask(name)
        return super().__missing__(name)

    def __getitem__(self, name: str) -> float:
        value = dict.__getitem__(self, name)
        self._note(name)
        return value

    def get(self, name: str, default: Any = None) -> Any:
        if dict.__contains__(self, name):
            return self[name]
        self._ask(name)
        return default

    def __contains__(self, name: object) -> bool:
        found = dict.__contains__(self, name)
        if not found:
            self._ask(name)
        return found

    def pop(self, name: str, *default: Any) -> Any:
        self.get(name)
        return dict.pop(self, name, *default)

    def setdefault(self, name: str, default: Any = None) -> Any:
        self.get(name)
        return dict.setdefault(self, name, default)

    def popitem(self) -> Any:
        return self._all().popitem()

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._all())

    def keys(self) -> Any:
        return self._all().keys()

    def values(self) -> Any:
        return self._all().values()

    def items(self) -> Any:
        return self._all().items()

    def copy(self) -> Any:
        return self._all().copy()

    def __eq__(self, other: object) -> bool:
        return dict.__eq__(self._all(), other)

    def __ne__(self, other: object) -> bool:
        return dict.__ne__(self._all(), other)

    __hash__ = None  # type: ignore[assignment]

    def __or__(self, other: Any) -> Any:
        return {**self} | other

    def __ror__(self, other: Any) -> Any:
        return other | {**self}

    def _note(self, name: str) -> None:
        if name in self._given:
            self._read.add(name)
            if len(self._read) == len(self._given):
                self._all()
        else:
            # A default of the simulation: the study does not have the parameter.
            self._ask(name)

    def _ask(self, name: object) -> None:
        if isinstance(name, str) and len(self._asked) < MOST_ASKED and len(name) <= MOST_ASKED_LENGTH:
            self._asked[name] = None

    def _all(self) -> Parameters:
        """Counts as a look-up of every parameter."""
        self._read = self._given
        self.__class__ = Parameters  # type: ignore[assignment]
        return self


class Reads:
    """The look-ups of one run. Known only as long as the program can have its values from these parameters alone."""

    def __init__(self, path: str, values: Mapping[str, float], given: Set[str]) -> None:
        self.parameters: Parameters = NotedParameters(values, given)
        self._path = path
        self._pid = os.getpid()
        self._forked = False
        self._mark_ns: Optional[int] = None
        """None while there is no file; 0: whether something reads it is not known."""

    def mark(self, found: Optional[os.stat_result]) -> None:
        """Gives the file another access time, later than which something else has read it. `found`: its state, if nothing had."""
        self._mark_ns = 0
        if found is None or not records_reading(self._path, found.st_dev):
            return
        mark_ns = 2 * UNREAD_NS + int.from_bytes(os.urandom(_MARK_BYTES), "big")
        try:
            os.utime(self._path, ns=(mark_ns, found.st_mtime_ns))
        except OSError:
            return
        self._mark_ns = mark_ns

    def report(self) -> Optional[Dict[str, Any]]:
        """What the runner is sent; None where it is not known what the program has read."""
        if self._mark_ns == 0 or self._forked or os.getpid() != self._pid:
            return None
        parameters = self.parameters
        if "__builtins__" in dict.keys(parameters):
            return None  # it was the namespace of an `eval`, whose look-ups are not seen
        if parameters._read == parameters._given:
            return {"read": "all"}
        try:
            if self._mark_ns is not None and os.stat(self._path).st_atime_ns != self._mark_ns:
                return None
        except OSError:
            return None
        return {"read": sorted(parameters._read), "asked": list(parameters._asked)}

    def write(self, directory: str) -> None:
        """Leaves the report for the runner. Where that fails, nothing is known."""
        try:
            report = self.report()
            if report is not None:
                with open(os.path.join(directory, READS_FILE), "x", encoding="utf-8") as file:
                    json.dump(report, file)
        except (OSError, ValueError):
            pass


_latest: Optional[Reads] = None


def note(path: str, values: Mapping[str, float], given: Set[str]) -> Reads:
    """Begins to note look-ups."""
    global _latest
    _latest = Reads(path, values, given)
    return _latest


def unread(path: str) -> Optional[os.stat_result]:
    """The state of a run configuration that nothing has read; None where something has, or that is not known."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found if found.st_atime_ns == UNREAD_NS else None


def records_reading(path: str, device: int) -> bool:
    """Whether the file system of the run configuration, which nothing had read, records that it is read."""
    known = _keeps_access_times.get(device)
    if known is None:
        try:
            with open(path, "rb") as file:
                file.read(1)
            known = os.stat(path).st_atime_ns != UNREAD_NS
        except OSError:
            return False
        _keeps_access_times[device] = known
    return known


def _in_parent() -> None:
    # What the child looks up is not seen here.
    if _latest is not None:
        _latest._forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_parent=_in_parent)


def hint(name: object, names: Mapping[str, Any]) -> str:
    """The nearest of the names, as a question in brackets; empty where none is near."""
    import difflib

    close = difflib.get_close_matches(str(name), list(dict.keys(names) if isinstance(names, dict) else names), 1)
    return f" (did you mean {close[0]!r}?)" if close else ""
