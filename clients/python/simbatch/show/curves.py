"""Curves of a study on Matplotlib axes."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Sequence


def draw_band(band: Mapping[str, Any], ax: Any) -> None:
    """The area between the outer quantiles, the median, the tolerance band as lines, and the limits on the variable."""
    seconds = band["seconds"]
    quantiles = sorted(band["quantiles"], key=lambda one: float(one["p"]))
    if len(quantiles) > 1:
        low, high = quantiles[0], quantiles[-1]
        ax.fill_between(
            seconds, _numbers(low["value"]), _numbers(high["value"]), alpha=0.3, label=f"{_name(low)} to {_name(high)}"
        )
    for one in quantiles:
        if one["p"] == 0.5 or len(quantiles) == 1:
            ax.plot(seconds, _numbers(one["value"]), label="median" if one["p"] == 0.5 else _name(one))
    tolerance = band["tolerance"]
    if tolerance is not None:
        label = f"{100 * band['coverage']:g} % of whole curves, confidence {band['confidence']:g}"
        ax.plot(seconds, _numbers(tolerance["lower"]), linestyle="--", color="tab:gray", label=label)
        ax.plot(seconds, _numbers(tolerance["upper"]), linestyle="--", color="tab:gray")
    for limit in band["limits"]:
        ax.axhline(limit["value"], color="tab:red", linewidth=1, label=limit["name"])
    units = band["units"]
    ax.set_xlabel("time (s)")
    ax.set_ylabel(band["history"] if units is None else f"{band['history']} ({units})")
    ax.set_title(band["sentence"].split(";")[0], fontsize="medium", wrap=True)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(fontsize="small")


def _name(quantile: Any) -> str:
    return f"P{round(100 * quantile['p'], 10):g}"


def _numbers(values: Sequence[Optional[float]]) -> List[float]:
    return [float("nan") if one is None else one for one in values]
