"""Tables of runs for pandas, Polars and Arrow, which are imported only where they are asked for."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any, Dict, List, Mapping, Sequence

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


def columns_of(rows: Sequence[Mapping[str, Any]]) -> Dict[str, List[Any]]:
    """The rows as columns: those of the first row first, in their order; None where a row has no value."""
    columns: Dict[str, List[Any]] = {}
    for index, row in enumerate(rows):
        for name, value in row.items():
            if name not in columns:
                columns[name] = [None] * index
            columns[name].append(value)
        for column in columns.values():
            if len(column) == index:
                column.append(None)
    return columns
