"""Rows of chosen parameters in the forms in which tools have them, as one list of numbers for each name."""

from __future__ import annotations

import math
from typing import Any, Dict, Iterable, List, Mapping, Sequence, Tuple

from ..study.distributions import number

Columns = Dict[str, List[float]]


def columns_of_rows(given: Any, names: Sequence[str], argument: str = "rows") -> Columns:
    """The numbers by name, of rows (mappings), of columns (a mapping or a frame), or of an array with one column for each of `names`.

    argument: the name that errors have for the rows. Raises TypeError and ValueError that name the row and the parameter. Names are checked by the coordinator.
    """
    if hasattr(given, "column_names"):  # pyarrow
        return _checked({str(name): given.column(name).to_pylist() for name in given.column_names}, argument)
    if hasattr(given, "columns"):  # pandas, polars
        return _checked({str(name): given[name].to_list() for name in given.columns}, argument)
    if isinstance(given, Mapping):
        return _checked({str(name): listed(f'{argument}["{name}"]', column) for name, column in given.items()}, argument)
    rows = listed(argument, given)
    if any(isinstance(row, Mapping) for row in rows):
        return _of_mappings(rows, argument)
    return _of_array(rows, names, argument)


def listed(argument: str, value: Any) -> List[Any]:
    """The items of a list, an array or another iterable. Raises TypeError with the name of the argument."""
    if hasattr(value, "tolist"):  # numpy
        value = value.tolist()
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise TypeError(f"{argument} must be a list, not {value!r}")
    return list(value)


def _of_mappings(rows: Sequence[Any], argument: str) -> Columns:
    if not all(isinstance(row, Mapping) for row in rows):
        raise TypeError(f"{argument} must be mappings of names to numbers, all of them, or lists of numbers, all of them")
    names = list(rows[0])
    for index, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            odd = sorted(map(str, set(row) ^ set(rows[0])))
            raise ValueError(f"{argument}[{index}] must have the names of {argument}[0]; the difference: {', '.join(odd)}")
    return _checked({str(name): [row[name] for row in rows] for name in names}, argument)


def _of_array(rows: Sequence[Any], names: Sequence[str], argument: str) -> Columns:
    columns: Columns = {name: [] for name in names}
    for index, row in enumerate(rows):
        values = listed(f"{argument}[{index}]", row)
        if len(values) != len(names):
            raise ValueError(f"{argument}[{index}] must have {len(names)} numbers ({', '.join(names)}), not {len(values)}")
        for name, value in zip(names, values):
            columns[name].append(value)
    return _checked(columns, argument)


def _checked(columns: Mapping[str, Sequence[Any]], argument: str) -> Columns:
    """The columns with Python's own finite numbers."""
    made: Columns = {}
    for name, column in columns.items():
        made[name] = [
            value if type(value) is float and math.isfinite(value) else number(f'{argument}[{row}]["{name}"]', value)
            for row, value in enumerate(column)
        ]
    return made


def product(designs: Any, draws: Iterable[int]) -> Tuple[Any, List[int]]:
    """Every design with every draw, for common random numbers: `batch.append(*sb.product(designs, range(32)), key="g1")`.

    Returns the rows, each design repeated for each of the draws, and the list of their draws. designs: rows, columns, an array or
    a frame, as `Batch.append` takes them. draws: whole numbers from 0, the runs whose random draws are used.
    """
    wanted = [_draw(index, draw) for index, draw in enumerate(draws)]
    is_named = hasattr(designs, "columns") or hasattr(designs, "column_names") or isinstance(designs, Mapping)
    if is_named:
        columns = columns_of_rows(designs, ())
        count = len(next(iter(columns.values()), []))
        return {name: [value for value in column for _ in wanted] for name, column in columns.items()}, wanted * count
    rows = listed("designs", designs)
    return [row for row in rows for _ in wanted], wanted * len(rows)


def _draw(index: int, draw: Any) -> int:
    made = number(f"draws[{index}]", draw)
    if not isinstance(made, int) or made < 0:
        raise ValueError(f"draws[{index}] must be a whole number from 0, not {draw!r}")
    return made


def draws_of(draws: Any) -> List[Any]:
    """The draws of rows as Python's own numbers, None where a row gives none."""
    return [None if draw is None else _draw(index, draw) for index, draw in enumerate(listed("draws", draws))]
