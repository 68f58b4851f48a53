"""The scenarios of a study: axes whose levels replace inputs. See docs/scenarios.md."""

from __future__ import annotations

import itertools
from typing import Any, Callable, Dict, List, Mapping

from .distributions import Distribution, Fixed


def scenarios_of(scenarios: Any, distribution_of: Callable[[str, Any], Distribution]) -> Dict[str, Any]:
    """The scenarios as a submission has them. Raises TypeError and ValueError that name the axis, the level and the input."""
    if not isinstance(scenarios, Mapping):
        raise TypeError(f"scenarios must be a mapping of axes to levels, not {scenarios!r}")
    made: Dict[str, Any] = {}
    for axis, levels in scenarios.items():
        if axis == "skip":
            made[axis] = _skipped(levels)
            continue
        if not isinstance(levels, Mapping):
            raise TypeError(f"scenarios[{axis!r}] must be a mapping of levels to inputs, not {levels!r}")
        made[str(axis)] = {}
        for level, inputs in levels.items():
            where = f"scenarios[{axis!r}][{level!r}]"
            if not isinstance(inputs, Mapping):
                raise TypeError(f"{where} must be a mapping of names to distributions or numbers, not {inputs!r}")
            found = {name: distribution_of(f"{where}[{name!r}]", value) for name, value in inputs.items()}
            made[str(axis)][str(level)] = {
                name: one.members()["value"] if isinstance(one, Fixed) else one.dispersion()["distribution"]
                for name, one in found.items()
            }
    return made


def _skipped(entries: Any) -> List[Dict[str, str]]:
    if isinstance(entries, (str, Mapping)) or not all(isinstance(one, Mapping) for one in entries):
        raise TypeError(f"scenarios['skip'] must be a list of mappings of axes to levels, not {entries!r}")
    return [{str(axis): str(level) for axis, level in one.items()} for one in entries]


def cells_of(scenarios: Mapping[str, Any]) -> int:
    """How many cells scenarios have; 1 where there are none."""
    axes = [name for name in scenarios if name != "skip"]
    skipped = scenarios.get("skip", ())
    cells = itertools.product(*(scenarios[axis] for axis in axes))
    levels = (dict(zip(axes, cell)) for cell in cells)
    return sum(1 for one in levels if not any(all(one.get(axis) == level for axis, level in it.items()) for it in skipped))
