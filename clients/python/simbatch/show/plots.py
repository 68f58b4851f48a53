"""Plots of a study on Matplotlib axes: those of the dashboard, for a notebook or a slide."""

from __future__ import annotations

import difflib
import math
from statistics import median
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from .estimates import limits_of
from .shapes import PlottedStudy

_LIMIT, _PALE = "tab:red", "lightsteelblue"
_BARS, _BOXES, _LINES = 20, 12, 300
_CONFIDENCE = 0.95


class Plots:
    """The plots of a study, as `batch.plot`. Each method draws on `ax`, or on new axes, and returns the axes. All of them need Matplotlib and raise
    MissingPackageError without it; ValueError for a name that the study does not have. Runs without a value are left out, and the title says how many are drawn.
    """

    def __init__(self, batch: PlottedStudy, pyplot: Callable[[], Any]) -> None:
        self._batch = batch
        self._pyplot = pyplot

    def _axes(self, ax: Any) -> Any:
        return self._pyplot().subplots()[1] if ax is None else ax

    def tornado(self, target: str, ax: Any = None) -> Any:
        """The influence of each input: the partial rank correlation with an output; else how much greater it is in failing runs (2 AUC - 1) for
        `failed`, a requirement's name or a condition. Pale bars are not told apart from no influence.
        """
        ax = self._axes(ax)
        outputs = self._batch.summary()["outputs"]
        is_output = any(one["name"] == target for one in outputs)
        found = self._batch.sensitivity(target) if is_output else self._batch.why(target)
        values = [(one["name"], one["prcc"] if is_output else 2 * one["auc"] - 1, one["told_apart"]) for one in found["parameters"]]
        shown = sorted((one for one in values if one[1] is not None), key=lambda one: abs(one[1]))[-_BARS:]
        ax.barh([one[0] for one in shown], [one[1] for one in shown], color=["tab:blue" if one[2] else _PALE for one in shown])
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set_xlim(-1, 1)
        ax.set_xlabel("partial rank correlation" if is_output else "how much greater in failing runs (2 AUC - 1)")
        ax.set_title(f"What drives {target}")
        return ax

    def ecdf(self, output: str, ax: Any = None) -> Any:
        """The cumulative distribution of an output, with the limits of the requirements on it. The band holds the values of the runs without one at
        either end, and for plain Monte Carlo sampling the whole curve with 95 % confidence (Dvoretzky, Kiefer and Wolfowitz).
        """
        ax = self._axes(ax)
        table = _Table(self._batch)
        ended = [row for row in table.rows if row["status"] in ("Completed", "Failed", "Timeout")]
        values = sorted(value for value in (table.value(row, output) for row in ended) if value is not None)
        n, k = len(ended), len(values)
        monte_carlo = self._batch.submission["config"]["monte_carlo"]["sampling_method"] == "monte_carlo"
        room = math.sqrt(math.log(2 / (1 - _CONFIDENCE)) / (2 * n)) if monte_carlo and n else 0.0
        counts = range(1, k + 1)
        ax.fill_between(
            values, [max(0.0, at / n - room) for at in counts], [min(1.0, (at + n - k) / n + room) for at in counts], step="post", alpha=0.3
        )
        ax.step(values, [at / k for at in counts], where="post")
        for requirement in self._batch.submission.get("requirements") or []:
            for limit in limits_of(requirement) if requirement.get("output") == output else ():
                ax.axvline(limit, color=_LIMIT, linewidth=1, label=requirement["name"])
        ax.set_xlabel(table.label(output))
        ax.set_ylabel("share of runs")
        ax.set_title(f"{output}: {k} of {n} runs")
        _legend(ax)
        return ax

    def response(self, x: str, y: str, ax: Any = None) -> Any:
        """One variable against another, with its running median over a tenth of the runs."""
        ax = self._axes(ax)
        table = _Table(self._batch)
        pairs = sorted(table.pairs(x, y))
        ax.scatter([one[0] for one in pairs], [one[1] for one in pairs], s=6, alpha=0.6)
        width = max(11, len(pairs) // 10)
        if len(pairs) >= 22:
            windows = [pairs[at : at + width] for at in range(0, len(pairs) - width + 1, max(1, len(pairs) // 60))]
            ax.plot([median([a for a, _ in one]) for one in windows], [median([b for _, b in one]) for one in windows], color="black")
        _name(ax, table, x, y, f"{len(pairs)} of {len(table.rows)} runs")
        return ax

    def footprint(self, x: str, y: str, ax: Any = None, *, polygon: Optional[Sequence[Tuple[float, float]]] = None) -> Any:
        """Two outputs of one unit in a plane with equal axes: the ellipses of 1, 2 and 3 standard deviations, and dashed the circle about the mean that
        holds half of the runs (CEP). polygon: the outline of a range, as (x, y); the title then says how many runs are inside.
        """
        ax = self._axes(ax)
        table = _Table(self._batch)
        points = table.pairs(x, y)
        ax.scatter([one[0] for one in points], [one[1] for one in points], s=6, alpha=0.6)
        title = f"{len(points)} of {len(table.rows)} runs"
        if len(points) > 2:
            centre, sigmas, angle, cep = _dispersion(points)
            turns = [2 * math.pi * at / 72 for at in range(73)]
            for times in (1, 2, 3):
                outline = [_turned(centre, times * sigmas[0] * math.cos(t), times * sigmas[1] * math.sin(t), angle) for t in turns]
                ax.plot([one[0] for one in outline], [one[1] for one in outline], color="black", linewidth=0.8)
            ax.plot([centre[0] + cep * math.cos(t) for t in turns], [centre[1] + cep * math.sin(t) for t in turns], "--", color="tab:blue")
            title += f"; CEP {cep:.4g}"
        if polygon is not None:
            ring = [*polygon, polygon[0]]
            ax.plot([one[0] for one in ring], [one[1] for one in ring], color="tab:green")
            title += f"; inside: {sum(_inside(polygon, one) for one in points)}"
        ax.set_aspect("equal")
        _name(ax, table, x, y, title)
        return ax

    def scatter_matrix(self, names: Sequence[str]) -> Any:
        """All pairs of some variables: points below the diagonal, histograms on it. Returns the array of axes."""
        pyplot = self._pyplot()
        table = _Table(self._batch)
        _, axes = pyplot.subplots(len(names), len(names), squeeze=False, figsize=(2.4 * len(names), 2.4 * len(names)))
        for row, up in enumerate(names):
            for column, across in enumerate(names):
                ax = axes[row][column]
                if column > row:
                    ax.set_axis_off()
                elif column == row:
                    ax.hist([one for one, _ in table.pairs(up, up)], bins=_BARS)
                else:
                    pairs = table.pairs(across, up)
                    ax.scatter([one[0] for one in pairs], [one[1] for one in pairs], s=3, alpha=0.6)
                if column == 0:
                    ax.set_ylabel(table.label(up))
                if row == len(names) - 1:
                    ax.set_xlabel(table.label(across))
        return axes

    def convergence(self, output: Optional[str] = None, quantity: Optional[str] = None, ax: Any = None) -> Any:
        """An estimate over the first runs with its interval: `mean` or a percentile such as `p95` of an output; without one the share of failures."""
        ax = self._axes(ax)
        answer = self._batch.convergence(output, quantity)
        points = answer["points"]
        banded = [one for one in points if one["low"] is not None and one["high"] is not None]
        ax.fill_between([one["n"] for one in banded], [one["low"] for one in banded], [one["high"] for one in banded], alpha=0.3)
        ax.plot([one["n"] for one in points], [one["value"] for one in points])
        ax.set_xscale("log")
        ax.set_xlabel("runs")
        name = quantity or ("mean" if output is not None else "failure")
        ax.set_ylabel("share of failures" if output is None else f"{name} of {output}")
        ax.set_title("; ".join(one["message"] for one in answer["warnings"]), fontsize="medium", wrap=True)
        return ax

    def envelope(self, history: str, ax: Any = None, **options: Any) -> Any:
        """The band of a history over all runs. options: those of `Batch.band`."""
        return self._batch.band(history, **options).plot(self._axes(ax))

    def box(self, output: str, by: str, ax: Any = None) -> Any:
        """An output by the values of a text or boolean, such as an axis of scenarios, at most 12; a number is divided into quarters."""
        ax = self._axes(ax)
        table = _Table(self._batch)
        groups: Dict[str, List[float]] = {}
        name = table.grouping(by)
        for row in table.rows:
            value, group = table.value(row, output), name(row)
            if value is not None and group is not None:
                groups.setdefault(group, []).append(value)
        shown = sorted(groups, key=lambda one: -len(groups[one]))[:_BOXES]
        ax.boxplot([groups[one] for one in shown])
        ax.set_xticks(range(1, len(shown) + 1))
        ax.set_xticklabels(shown)
        ax.set_ylabel(table.label(output))
        more = len(groups) - len(shown)
        ax.set_title(f"{output} by {by}" + (f"; {more} more groups are not drawn" if more else ""))
        return ax

    def parallel(self, names: Sequence[str], ax: Any = None) -> Any:
        """Parallel coordinates of some variables, each from its least to its greatest value: up to 300 runs, evenly spread; failed ones are red."""
        ax = self._axes(ax)
        table = _Table(self._batch)
        ends = [(min(column), max(column)) for column in ([a for a, _ in table.pairs(one, one)] or [0.0] for one in names)]
        rows = table.rows[:: max(1, math.ceil(len(table.rows) / _LINES))]
        for row in rows:
            values = [table.value(row, one) for one in names]
            places = [math.nan if one is None else (one - low) / ((high - low) or 1) for one, (low, high) in zip(values, ends)]
            failed = row["status"] in ("Failed", "Timeout")
            ax.plot(range(len(names)), places, color=_LIMIT if failed else "tab:blue", alpha=0.7 if failed else 0.2, linewidth=0.8)
        ax.set_xticks(range(len(names)))
        ax.set_xticklabels([f"{table.label(one)}\n{low:.4g} to {high:.4g}" for one, (low, high) in zip(names, ends)])
        ax.set_yticks([])
        ax.set_title(f"{len(rows)} of {len(table.rows)} runs")
        return ax


class _Table:
    """The runs of a study, their variables by name without a prefix: outputs before inputs."""

    def __init__(self, batch: PlottedStudy) -> None:
        self.rows = list(batch.rows())
        names: List[str] = list(dict.fromkeys(name for row in self.rows for name in row))
        self._columns = {name.split(".", 1)[1]: name for name in names if name.startswith("parameters.")}
        self._columns.update({name.split(".", 1)[1]: name for name in names if name.startswith("outputs.")})
        self._columns.update({name: name for name in names if "." not in name})
        submission = batch.submission
        self._units = {name: one.get("units") for name, one in submission["config"]["dispersions"].items()}
        self._units.update({name: one.get("units") for name, one in (submission.get("outputs") or {}).items()})

    def column(self, name: str) -> str:
        """The column of a name, with or without its prefix."""
        if name in self._columns.values():
            return name
        if name not in self._columns:
            near = difflib.get_close_matches(name, self._columns, 3) or sorted(self._columns)[:10]
            raise ValueError(f"the study has no variable {name!r}; it has {', '.join(near)}")
        return self._columns[name]

    def value(self, row: Mapping[str, Any], name: str) -> Optional[float]:
        """A number or boolean of a run; None where it has none."""
        found = row.get(self.column(name))
        return float(found) if isinstance(found, (int, float)) and math.isfinite(found) else None

    def pairs(self, x: str, y: str) -> List[Tuple[float, float]]:
        """The values of the runs that have both."""
        both = ((self.value(row, x), self.value(row, y)) for row in self.rows)
        return [(a, b) for a, b in both if a is not None and b is not None]

    def label(self, name: str) -> str:
        """The name with its unit."""
        unit = self._units.get(name.split(".", 1)[-1])
        return f"{name} [{unit}]" if unit else name

    def grouping(self, by: str) -> Any:
        """The group of a run: its text or boolean; the quarter of its number."""
        column = self.column(by)
        found = [row.get(column) for row in self.rows]
        numbers = sorted(one for one in found if isinstance(one, (int, float)) and not isinstance(one, bool))
        if not numbers:
            return lambda row: None if row.get(column) is None else str(row[column])
        ends = [numbers[round(at * (len(numbers) - 1) / 4)] for at in range(5)]

        def quarter(row: Mapping[str, Any]) -> Optional[str]:
            value = row.get(column)
            if not isinstance(value, (int, float)):
                return None
            at = next(at for at in range(4) if value <= ends[at + 1])
            return f"{ends[at]:.4g} to {ends[at + 1]:.4g}"

        return quarter


def _name(ax: Any, table: _Table, x: str, y: str, title: str) -> None:
    ax.set_xlabel(table.label(x))
    ax.set_ylabel(table.label(y))
    ax.set_title(title)


def _legend(ax: Any) -> None:
    if ax.get_legend_handles_labels()[0]:
        ax.legend(fontsize="small")


def _dispersion(points: Sequence[Tuple[float, float]]) -> Tuple[Tuple[float, float], Tuple[float, float], float, float]:
    """Mean, standard deviations along the axes of the ellipse, angle of the greater one, radius of half of the points."""
    n = len(points)
    mx, my = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    xx = sum((x - mx) ** 2 for x, _ in points) / (n - 1)
    yy = sum((y - my) ** 2 for _, y in points) / (n - 1)
    xy = sum((x - mx) * (y - my) for x, y in points) / (n - 1)
    half, root = (xx + yy) / 2, math.hypot((xx - yy) / 2, xy)
    sigmas = (math.sqrt(half + root), math.sqrt(max(0.0, half - root)))
    return (mx, my), sigmas, math.atan2(2 * xy, xx - yy) / 2, median([math.hypot(x - mx, y - my) for x, y in points])


def _turned(centre: Tuple[float, float], u: float, v: float, angle: float) -> Tuple[float, float]:
    return (centre[0] + u * math.cos(angle) - v * math.sin(angle), centre[1] + u * math.sin(angle) + v * math.cos(angle))


def _inside(ring: Sequence[Tuple[float, float]], point: Tuple[float, float]) -> bool:
    x, y = point
    inside = False
    for (ax, ay), (bx, by) in zip(ring, [ring[-1], *ring[:-1]]):
        if (ay > y) != (by > y) and x < (bx - ax) * (y - ay) / (by - ay) + ax:
            inside = not inside
    return inside
