"""Tables of runs for pandas, Polars and Arrow, which are imported only where they are asked for."""

from __future__ import annotations

import importlib
import importlib.util
import io
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional

from ..errors import MissingPackageError


def package(name: str, purpose: str) -> Any:
    """An optional package. Raises MissingPackageError with the command that installs it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        top = name.split(".")[0]
        if importlib.util.find_spec(top) is not None:
            raise MissingPackageError(f"{purpose} needs {top}, which is installed and cannot be imported: {error}") from error
        raise MissingPackageError(f"{purpose} needs {top}: pip install {top}") from None


def pandas() -> Any:
    """The package pandas."""
    return package("pandas", "a data frame")


class _Pieces(io.RawIOBase):
    """A stream that arrives in pieces, as a file: only what is not yet read is in memory."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        while not self._rest:
            piece: Optional[bytes] = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        size = min(len(target), len(self._rest))
        target[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def has_arrow() -> bool:
    """Whether pyarrow can be imported: tables then come as Arrow, at a fraction of the time and memory of JSON."""
    try:
        importlib.import_module("pyarrow.ipc")
    except ImportError:
        return False
    return True


def arrow_table(pieces: Iterator[bytes]) -> Any:
    """The pyarrow Table of an Arrow IPC stream. Raises MissingPackageError without pyarrow."""
    reader = package("pyarrow.ipc", "an Arrow table").open_stream(io.BufferedReader(_Pieces(pieces), 1 << 20))
    with reader:
        return reader.read_all()


def columns_of(rows: Iterable[Mapping[str, Any]]) -> Dict[str, List[Any]]:
    """The rows as columns: those of the first row first, in their order; None where a row has no value."""
    columns: Dict[str, List[Any]] = {}
    # Each row is dropped once its values are in the columns.
    for index, row in enumerate(rows):
        for name, value in row.items():
            if name not in columns:
                columns[name] = [None] * index
            columns[name].append(value)
        for column in columns.values():
            if len(column) == index:
                column.append(None)
    return columns
