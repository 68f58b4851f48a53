"""The band of a history: its table, its text, and its plot."""

from __future__ import annotations

import sys
from typing import Any, Dict, List, Tuple

import pytest

import simbatch as sb
from simbatch.batch.answers import Band

BAND: Dict[str, Any] = {
    "history": "nz_g", "variable": "nz", "units": "g", "confidence": 0.95, "coverage": 0.9,
    "sentence": "band of nz_g over 98 of 100 runs at 3 points; at confidence 0.95 at least 90 % stay inside",
    "seconds": [0, 1, 2], "n": [98, 98, 0], "ended": [0, 0, 98], "mean": [1.5, 2.5, None],
    "quantiles": [
        {"p": 0.05, "value": [1, 2, None], "lower": [0.5, 1.5, None], "upper": [1.2, 2.2, None]},
        {"p": 0.5, "value": [1.5, 2.5, None], "lower": [1.4, 2.4, None], "upper": [1.6, 2.6, None]},
        {"p": 0.999, "value": [2, 3, None], "lower": [1.9, 2.9, None], "upper": [None, None, None]},
    ],
    "least": {"value": [0, 1, None], "run_id": [7, 7, None]}, "greatest": {"value": [3, 4, None], "run_id": [8, 9, None]},
    "tolerance": {"lower": [0.2, 1.2, None], "upper": [2.8, 3.8, None], "runs": 50, "rank": 48, "score": 1.4},
    "limits": [{"name": "> 9 ends the run", "value": 9, "kind": "condition"}],
}  # fmt: skip


class Axes:
    """Axes that remember what was drawn on them."""

    def __init__(self) -> None:
        self.calls: List[Tuple[str, Tuple[Any, ...], Dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        def call(*given: Any, **named: Any) -> None:
            self.calls.append((name, given, named))

        return call

    def get_legend_handles_labels(self) -> Tuple[List[str], List[str]]:
        labels = [named["label"] for _, _, named in self.calls if "label" in named]
        return labels, labels


def test_rows_have_a_point_each() -> None:
    rows = Band(BAND).rows()
    assert [row["seconds"] for row in rows] == [0, 1, 2]
    assert rows[1]["p99.9"] == 3 and rows[1]["p99.9_upper"] is None and rows[1]["p5_lower"] == 1.5
    assert (rows[0]["least_run_id"], rows[1]["greatest_run_id"]) == (7, 9)
    assert [row["tolerance_upper"] for row in rows] == [2.8, 3.8, None]


def test_rows_without_a_tolerance_band() -> None:
    assert {row["tolerance_lower"] for row in Band({**BAND, "tolerance": None}).rows()} == {None}


def test_text_has_the_sentence_and_a_few_points() -> None:
    many = 100
    long = {
        **BAND, "seconds": list(range(many)), "n": [5] * many, "ended": [0] * many, "mean": [1.0] * many, "tolerance": None,
        "quantiles": [{"p": 0.5, "value": [1.0] * many, "lower": [0.0] * many, "upper": [2.0] * many}],
        "least": {"value": [0.0] * many, "run_id": [1] * many}, "greatest": {"value": [3.0] * many, "run_id": [2] * many},
    }  # fmt: skip
    columns, rows = Band(long).shown()
    assert columns == ["seconds", "n", "p50", "tolerance_lower", "tolerance_upper"]
    assert [row["seconds"] for row in rows][::10] == [0, 99] and len(rows) == 11
    assert repr(Band(BAND)).startswith("band of nz_g over 98 of 100 runs")


def test_text_without_points() -> None:
    empty = {**BAND, "seconds": [], "n": [], "ended": [], "mean": [], "quantiles": [], "tolerance": None}
    empty.update(least={"value": [], "run_id": []}, greatest={"value": [], "run_id": []}, sentence="no band of nz_g: no runs")
    assert Band(empty).shown()[1] == []
    assert "no runs" in repr(Band(empty))


def test_plot_draws_band_median_tolerance_and_limits() -> None:
    axes = Axes()
    assert Band(BAND).plot(axes) is axes
    drawn = {name: (given, named) for name, given, named in axes.calls}
    assert drawn["fill_between"][0][1][:2] == [1, 2] and drawn["fill_between"][1]["label"] == "P5 to P99.9"
    assert drawn["axhline"][0] == (9,)
    assert drawn["set_ylabel"][0] == ("nz_g (g)",)
    lines = [(given[1][0], named.get("label")) for name, given, named in axes.calls if name == "plot"]
    assert lines == [(1.5, "median"), (0.2, "90 % of whole curves, confidence 0.95"), (2.8, None)]


def test_plot_without_axes_needs_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(sb.MissingPackageError, match="a plot needs matplotlib"):
        Band(BAND).plot()


def test_plot_makes_axes() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = Band(BAND).plot()
    assert axes.get_xlabel() == "time (s)" and len(axes.get_lines()) == 4


class Transport:
    """Answers with the lines of two runs, in pieces that end within a line."""

    def __init__(self) -> None:
        self.asked: List[Tuple[str, Dict[str, Any]]] = []

    def stream(self, path: str, query: Dict[str, Any]) -> Any:
        self.asked.append((path, query))
        return iter([b'{"run_id":4,"values":[1,null', b',"Infinity"]}\n{"run_id":9,"values":[2,3,4]}\n'])

    def get(self, path: str, query: Any = None) -> Any:
        histories = [{"variable": "v", "at": {"points": [0, 5]}}, {"name": "nz", "variable": "nz_g", "at": {"from": 0, "to": 0.3, "step": 0.15}}]
        return {"config": {"histories": histories}}


def test_histories_are_a_frame_of_times_and_runs() -> None:
    pytest.importorskip("pandas")
    transport = Transport()
    batch = sb.Batch(type("Connection", (), {"transport": transport})(), "b1")  # type: ignore[arg-type]
    frame = batch.histories("nz", where="class = ok")
    assert list(frame.index) == [0, 0.15, 0.3] and list(frame.columns) == [4, 9]
    assert (frame.index.name, frame.columns.name) == ("time", "run_id")
    assert frame[9].tolist() == [2, 3, 4] and frame[4].tolist()[2] == float("inf") and frame[4].isna().tolist() == [False, True, False]
    assert transport.asked == [("/batches/b1/histories", {"name": "nz", "where": "class = ok", "format": "ndjson", "wide": True, "family": None})]
