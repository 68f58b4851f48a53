"""The plots of a study: what is drawn, from which runs, and what the titles say."""

import importlib
import math
import sys
from typing import Any, Dict, List

import pytest

import simbatch as sb
from simbatch.batch.answers import Attribution, Convergence, Sensitivity, Summary
from simbatch.batch.batch import Batch
from simbatch.show.estimates import limits_of
from simbatch.show.plots import Plots, _dispersion, _inside

RUNS = 40
SUBMISSION = {
    "config": {
        "monte_carlo": {"sampling_method": "monte_carlo"},
        "dispersions": {"wind": {"units": "m/s", "distribution": {}}, "mass": {"units": "", "distribution": {}}},
    },
    "outputs": {"x": {"units": "m"}, "y": {"units": "m"}},
    "requirements": [{"name": "near", "output": "x", "condition": "-3.5..4"}, {"name": "other", "output": "y", "condition": "< 9"}],
}


def rows() -> List[Dict[str, Any]]:
    """A row a run; the last four failed, without outputs, and one is open."""
    made = []
    for run in range(RUNS):
        row: Dict[str, Any] = {"run_id": run, "status": "Completed", "parameters.wind": float(run), "parameters.mass": 2.0 * run}
        if run < RUNS - 4:
            row.update({"outputs.x": float(run % 6), "outputs.y": 1.0 - run % 4, "outputs.site": "sea" if run % 3 else "land"})
        else:
            row["status"] = "Failed"
        made.append(row)
    made[0]["status"] = "Running"
    return made


class Study:
    """Answers as a batch does."""

    submission = SUBMISSION

    def rows(self) -> List[Dict[str, Any]]:
        return rows()

    def summary(self) -> Summary:
        return Summary({"outputs": [{"name": "x"}, {"name": "y"}]})

    def sensitivity(self, output: str) -> Sensitivity:
        parameters = [{"name": "wind", "prcc": -0.9, "told_apart": True}, {"name": "mass", "prcc": None, "told_apart": None}]
        return Sensitivity({"parameters": parameters})

    def why(self, failing: str) -> Attribution:
        return Attribution({"parameters": [{"name": "wind", "auc": 0.75, "told_apart": True}]})

    def convergence(self, output: Any, quantity: Any) -> Convergence:
        points = [{"n": 10, "value": 2.0, "low": None, "high": None}, {"n": 36, "value": 2.5, "low": 2.0, "high": 3.0}]
        return Convergence({"points": points, "warnings": [{"message": "four runs crashed"}]})


@pytest.fixture
def plot() -> Plots:
    pytest.importorskip("matplotlib").use("Agg")
    return Plots(Study(), lambda: importlib.import_module("matplotlib.pyplot"))  # type: ignore[arg-type]


def test_a_batch_has_them() -> None:
    assert isinstance(Batch(None, "id").plot, Plots)  # type: ignore[arg-type]


def test_tornado_is_of_an_output_or_of_failing_runs(plot: Plots) -> None:
    axes = plot.tornado("x")
    assert [one.get_width() for one in axes.patches] == [-0.9]
    assert axes.get_xlabel() == "partial rank correlation"
    assert [one.get_width() for one in plot.tornado("failed").patches] == [0.5]


def test_ecdf_is_of_the_ended_runs_and_has_the_limits(plot: Plots) -> None:
    axes = plot.ecdf("x")
    assert axes.get_title() == "x: 35 of 39 runs" and axes.get_xlabel() == "x [m]"
    step, *limits = axes.get_lines()
    assert step.get_ydata()[-1] == 1 and len(step.get_xdata()) == 35
    assert [line.get_xdata()[0] for line in limits] == [-3.5, 4.0]


def test_response_has_a_running_median(plot: Plots) -> None:
    axes = plot.response("wind", "x")
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title()) == ("wind [m/s]", "x [m]", "36 of 40 runs")
    assert len(axes.get_lines()) == 1


def test_footprint_has_equal_axes_ellipses_and_the_runs_inside_a_polygon(plot: Plots) -> None:
    axes = plot.footprint("x", "y", polygon=[(-0.5, -5), (2.5, -5), (2.5, 5), (-0.5, 5)])
    assert axes.get_aspect() == 1 and len(axes.get_lines()) == 5
    assert axes.get_title().startswith("36 of 40 runs; CEP ") and axes.get_title().endswith("; inside: 18")


def test_pairs_boxes_and_parallel_coordinates(plot: Plots) -> None:
    assert plot.scatter_matrix(["x", "y", "wind"]).shape == (3, 3)
    boxes = plot.box("x", "site")
    assert [one.get_text() for one in boxes.get_xticklabels()] == ["sea", "land"]
    assert [one.get_text() for one in plot.box("x", "wind").get_xticklabels()][0] == "0 to 10"
    lines = plot.parallel(["wind", "x"])
    assert len(lines.get_lines()) == RUNS and math.isnan(lines.get_lines()[-1].get_ydata()[1])


def test_convergence_says_its_warnings(plot: Plots) -> None:
    axes = plot.convergence("x", "p95")
    assert (axes.get_ylabel(), axes.get_title()) == ("p95 of x", "four runs crashed")
    assert plot.convergence().get_ylabel() == "share of failures"


def test_an_unknown_name_is_an_error_with_the_nearest(plot: Plots) -> None:
    with pytest.raises(ValueError, match="no variable 'wnd'; it has wind"):
        plot.response("wnd", "x")


def test_matplotlib_is_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(sb.MissingPackageError, match="a plot needs matplotlib"):
        Batch(None, "id").plot.scatter_matrix(["x"])  # type: ignore[arg-type]


def test_dispersion_is_that_of_the_covariance() -> None:
    turns = [2 * math.pi * at / 400 for at in range(400)]
    points = [(2 * math.sqrt(2) * math.cos(t), 5 + math.sqrt(2) * math.sin(t)) for t in turns]
    centre, sigmas, angle, cep = _dispersion(points)
    assert centre == pytest.approx((0, 5)) and sigmas == pytest.approx((2 * math.sqrt(400 / 399), math.sqrt(400 / 399)))
    assert angle == pytest.approx(0, abs=1e-9)
    assert sum(math.hypot(x, y - 5) <= cep for x, y in points) == pytest.approx(200, abs=3)


@pytest.mark.parametrize(("condition", "limits"), [("< 8.5", [8.5]), ("-1e3..5", [-1000, 5]), (">= .5", [0.5]), ("", [])])
def test_limits_are_the_numbers_of_the_condition(condition: str, limits: List[float]) -> None:
    assert limits_of({"output": "x", "condition": condition}) == limits


def test_inside_is_by_crossings() -> None:
    square = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)]
    assert [_inside(square, one) for one in [(1.0, 1.0), (3.0, 1.0), (1.0, -1.0)]] == [True, False, False]
