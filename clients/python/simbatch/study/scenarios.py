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


def epistemic_of(epistemic: Any) -> Dict[str, Any]:
    """The epistemic inputs as a submission has them. Raises TypeError that names the input."""
    if not isinstance(epistemic, Mapping):
        raise TypeError(f"epistemic must be a mapping of inputs to intervals, not {epistemic!r}")
    made: Dict[str, Any] = {}
    for name, one in epistemic.items():
        if not isinstance(one, Mapping) or set(one) != {"interval", "levels"}:
            raise TypeError(f"epistemic[{name!r}] must be {{'interval': [least, greatest], 'levels': 5}}, not {one!r}")
        interval = one["interval"]
        if isinstance(interval, str) or len(interval) != 2:
            raise TypeError(f"epistemic[{name!r}]['interval'] must be two numbers, not {interval!r}")
        made[str(name)] = {"interval": [float(end) for end in interval], "levels": int(one["levels"])}
    return made


def _levels_of(one: Mapping[str, Any]) -> List[float]:
    (least, greatest), levels = one["interval"], one["levels"]
    return [greatest if at == levels - 1 else least + (greatest - least) * at / (levels - 1) for at in range(levels)]


def _is_level(level: Any, written: str) -> bool:
    if not isinstance(level, float):
        return bool(written == level)
    try:
        return float(written) == level
    except ValueError:
        return False


def cells_of(scenarios: Mapping[str, Any], epistemic: Mapping[str, Any]) -> int:
    """How many cells scenarios and epistemic inputs have; 1 where there are none."""
    scenarios = {**scenarios, **{name: _levels_of(one) for name, one in epistemic.items()}}
    axes = [name for name in scenarios if name != "skip"]
    skipped = scenarios.get("skip", ())
    cells = itertools.product(*(scenarios[axis] for axis in axes))
    levels = (dict(zip(axes, cell)) for cell in cells)
    return sum(1 for one in levels if not any(all(_is_level(one.get(axis), level) for axis, level in it.items()) for it in skipped))
