"""Estimates with their intervals as people read them, in the words and digits of the command line."""

from __future__ import annotations

import math
import re
from typing import Any, List, Mapping, Optional, Sequence

_LEAST_DIGITS = 4
_MOST_DIGITS = 15


def mean_text(mean: Optional[float], interval: Optional[Sequence[float]]) -> str:
    """`6551 ± 73`; a share, whose interval is not symmetric, as `0.987 [0.953, 0.998]`; `-` without a mean."""
    if mean is None:
        return "-"
    half = 0.0 if interval is None else (interval[1] - interval[0]) / 2
    if interval is None or not half > 0:
        return _rounded(mean, _decimals([mean]))
    if abs(mean - interval[0] - half) > 1e-6 * half:
        return f"{_rounded(mean, _decimals([mean, *interval]))} {_range_text(interval, _decimals(interval))}"
    decimals = max(0, 1 - _exponent(half))
    return f"{_rounded(mean, decimals)} ± {_rounded(half, decimals)}"


def quantile_text(quantile: Mapping[str, Any]) -> str:
    """`5800 [4648, 6091]`, without the interval where neither end is bounded; where the threshold of a rule excludes the value of the survivors, the bound alone: `> 10.09`."""
    value, interval = quantile["value"], quantile["interval"]
    low, high = quantile["bounds"] or (None, None)
    excluded = (low is not None and value < low) or (high is not None and value > high)
    decimals = _decimals([*([low, high] if excluded else [value]), *interval])
    unbounded = all(one is None for one in interval)
    bracket = "" if unbounded else f" {_range_text(interval, decimals)}"
    if not excluded:
        return f"{_rounded(value, decimals)}{bracket}"
    ends = list(dict.fromkeys(_rounded(one, decimals) for one in (low, high) if one is not None))
    if low is not None and high is not None:
        return f"{' to '.join(ends)}{bracket}"
    bound = f"{'<' if low is None else '>'} {ends[0]}"
    return bound if list(interval) == [low, high] else f"{bound}{bracket}"


def interval_note(outputs: Sequence[Mapping[str, Any]]) -> Optional[str]:
    """The line that explains the brackets and half-widths of a table of statistics, or says why there are none; None without outputs."""
    if not outputs:
        return None
    first = outputs[0]
    level = f"{100 * first['tolerance']['confidence']:.10g} %"
    quantiles = [it for one in outputs for it in one["quantiles"]]
    if all(end is None for it in quantiles for end in it["interval"]):
        if first["mean_interval"] is None:
            return first["mean_reason"] and f"no intervals: {first['mean_reason']}"
        return f"±: {level} interval of the mean" + ("; quantiles have none: too few values" if quantiles else "")
    meaning = f"[ ]: {level} interval of the quantile of all runs"
    if any(it["bounds"] is not None for it in quantiles):
        without = "whatever the values of the runs without one are"
        return f"{meaning}, {without}; mean (± {level}), sd, min and max are of the values alone"
    return f"{meaning}; ±: {level} interval of the mean"


def _exponent(value: float) -> int:
    return math.floor(math.log10(abs(value)))


def _decimals(numbers: Sequence[Optional[float]]) -> int:
    finite: List[float] = [one for one in numbers if one is not None and math.isfinite(one)]
    largest = max((abs(one) for one in finite), default=0.0)
    if not largest > 0:
        return 0
    spread = max(finite) - min(finite)
    digits = _exponent(largest) - _exponent(spread) + 2 if spread > 0 else 0
    return min(max(digits, _LEAST_DIGITS), _MOST_DIGITS) - 1 - _exponent(largest)


def _rounded(value: float, decimals: int) -> str:
    if abs(value) >= 1e15 or decimals > 100:
        return f"{float(f'{value:.{_LEAST_DIGITS - 1}e}'):g}"
    text = f"{value:.{max(decimals, 0)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _range_text(interval: Sequence[Optional[float]], decimals: int) -> str:
    ends = [sign if one is None else _rounded(one, decimals) for one, sign in zip(interval, ("-inf", "inf"))]
    return f"[{', '.join(ends)}]"


def limits_of(requirement: Mapping[str, Any]) -> List[float]:
    """The numbers that the condition of a requirement compares with; two for a range such as `2500 .. 3200`."""
    text = str(requirement.get("condition") or "").replace("..", " ")
    return [float(one) for one in re.findall(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", text)]
