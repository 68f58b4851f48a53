"""Answers about a study: the JSON of the interface as a mapping, shown as its sentence and a table."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple


class Answer(Dict[str, Any]):
    """The answer to a question, with the members of docs/api.md: `answer["outputs"]`. `str()` is for people."""

    table_member: str = ""
    """The member whose list is the answer's table; empty when there is none."""
    columns: Sequence[str] = ()
    """The columns of the table; empty: all of the first row."""

    headline: Optional[str] = None
    """The answer about the study as a whole, in one sentence: the first line of the text of `summary()` and `verdicts()`."""

    @property
    def sentence(self) -> Optional[str]:
        """The answer in one sentence, where it has one."""
        found: Optional[str] = self.get("sentence")
        return found

    @property
    def missing(self) -> Optional[str]:
        """Why the answer lacks a value, in words."""
        found: Optional[str] = self.get("reason")
        return found

    def rows(self) -> List[Mapping[str, Any]]:
        """The rows of the answer's table."""
        found: List[Mapping[str, Any]] = self.get(self.table_member) or []
        return found

    def shown(self) -> Tuple[Sequence[str], Sequence[Mapping[str, Any]]]:
        """The columns and rows that people see."""
        return self.columns, self.rows()

    def notes(self) -> List[str]:
        """Lines that explain the table."""
        return []

    def frame(self) -> Any:
        """The answer's table as a pandas DataFrame. Raises MissingPackageError without pandas."""
        from .frames import pandas

        return pandas().DataFrame(list(self.rows()))

    def __repr__(self) -> str:
        from ..show.text import answer_text

        return answer_text(self)

    def _repr_html_(self) -> str:
        from ..show.html import answer_html

        return answer_html(self)


class StudyAnswer(Answer):
    """Whether the study is in order: `level`, `sentence`, `reasons`, and the `next` steps."""

    table_member = "next"
    columns = ("label", "command")

    @property
    def level(self) -> str:
        """`ok`, `not_ok`, `not_enough`, `blocked`, `running` or `cancelled`."""
        return str(self["level"])

    @property
    def ok(self) -> bool:
        """Whether every requirement is met; without requirements, whether every run completed."""
        return self.level == "ok"

    def rows(self) -> List[Mapping[str, Any]]:
        """The next steps: label, command, page."""
        return [{"label": one["label"], **one["action"]} for one in self["next"]]


class Evidence(Answer):
    """The evidence about a study, for a review: see docs/board.md. `limits` are the parts that are not known or not checked."""

    table_member = "inputs"
    columns = ("name", "units", "distribution", "source", "read", "effect")

    @property
    def limits(self) -> List[str]:
        """The parts that are not known, not checked, or weaken the evidence, one sentence each."""
        return list(self["limits"])

    def notes(self) -> List[str]:
        """The limits."""
        return self.limits


class Summary(Answer):
    """Statistics of every output, the failures by pattern, the verdicts."""

    table_member = "outputs"
    quantiles = (0.05, 0.5, 0.95)
    """Those that are shown where the answer has them; otherwise all that it has."""

    def shown(self) -> Tuple[Sequence[str], Sequence[Mapping[str, Any]]]:
        """The outputs that have values, in each cell where the answer has cells: the mean with its half-width, quantiles with their intervals."""
        from ..show.estimates import mean_text, quantile_text

        rows: List[Mapping[str, Any]] = []
        names: List[str] = []
        axes = list(self["by"][0]["scenario"]) if self.get("by") else []
        for one in self.cells() if axes else self.rows():
            if not one["count"]:
                continue
            wanted = [it for it in one["quantiles"] if it["p"] in self.quantiles] or one["quantiles"]
            texts = {f"P{100 * it['p']:g}": quantile_text(it) for it in wanted}
            names = names or list(texts)
            rows.append({**one, **texts, "mean": mean_text(one["mean"], one["mean_interval"])})
        return [*axes, "name", "units", "count", "missing", "mean", "sd", "min", *names, "max"], rows

    def cells(self) -> List[Dict[str, Any]]:
        """The rows of an answer with `by`, one a cell and output: the level of each axis under its name, then the members of the output."""
        return [{**it["scenario"], **output} for it in self.get("by", ()) for output in it["outputs"]]

    def notes(self) -> List[str]:
        """Lines that explain the brackets of the table, or say why there are none."""
        from ..show.estimates import interval_note

        note = interval_note([one for one in self.rows() if one["count"]])
        return [] if note is None else [note]


class Verdicts(Answer):
    """The verdicts on the requirements."""

    table_member = "requirements"
    columns = ("name", "probability", "confidence", "passed", "failed", "unknown", "estimate", "lower", "upper", "verdict")

    @property
    def sentence(self) -> Optional[str]:
        """The sentences of the requirements, one a line."""
        return "\n".join(one["sentence"] for one in self.rows()) or None

    @property
    def met(self) -> bool:
        """Whether there are requirements and all of them are met."""
        rows = self.rows()
        return bool(rows) and all(one["verdict"] == "met" for one in rows)

    def cells(self) -> List[Dict[str, Any]]:
        """The rows of cells of an answer with `by`: `requirement`, the level of each axis under its name, then the counts and the verdict."""
        return [
            {"requirement": one["name"], **it["scenario"], **{name: value for name, value in it.items() if name != "scenario"}}
            for one in self.rows()
            for it in one.get("by", ())
        ]


class Precisions(Answer):
    """How near the runs are to the precisions at which the study stops."""

    table_member = "precision"
    columns = ("output", "quantity", "n", "value", "interval", "half_width", "target", "state", "method")

    @property
    def sentence(self) -> Optional[str]:
        """The sentences of the precisions, one a line."""
        return "\n".join(one["sentence"] for one in self.rows()) or None

    @property
    def reached(self) -> bool:
        """Whether there are precisions and all of them are reached."""
        rows = self.rows()
        return bool(rows) and all(one["state"] == "reached" for one in rows)


class Sensitivity(Answer):
    """The influence of each parameter on one output, the most influential first."""

    table_member = "parameters"
    columns = ("name", "sobol_cosine", "noise_floor", "spearman", "prcc", "prcc_p_holm", "told_apart")


class RareEvent(Answer):
    """How probable a rare violation is: `estimate`, `lower` and `upper` of the regions found, `direct` of all others. Experimental."""

    columns = ("violations", "estimate", "lower", "upper", "runs")
    missing = None
    """The sentence says it."""

    def rows(self) -> List[Mapping[str, Any]]:
        """The two statements: of the regions found, and of all others."""
        found, direct = "in the regions found", self.get("direct") or {}
        return [
            {"violations": found, **{name: self.get(name) for name in ("estimate", "lower", "upper", "runs")}},
            {"violations": "anywhere", "lower": direct.get("lower"), "upper": direct.get("upper"), "runs": direct.get("of")},
        ]


class Indices(Answer):
    """Sobol' indices of one output by input, the largest total index first; the study needs the design `Saltelli`."""

    table_member = "inputs"
    columns = ("name", "first", "first_interval", "total", "total_interval", "told_apart")

    def rows(self) -> List[Mapping[str, Any]]:
        """One row an input: indices, intervals, and bounds where blocks are missing."""
        return [
            {
                "name": one["name"],
                **{f"{name}{part}": one[name][member] for name in ("first", "total") for part, member in _INDEX_PARTS},
                "told_apart": one["total"]["told_apart"],
            }
            for one in self["inputs"]
        ]

    @property
    def pairs(self) -> List[Mapping[str, Any]]:
        """The second-order indices, the largest first; empty unless the design has them."""
        found: List[Mapping[str, Any]] = self["pairs"]
        return found


_INDEX_PARTS = (("", "value"), ("_interval", "interval"), ("_bounds", "bounds"))


class Attribution(Answer):
    """How the parameters of failing runs differ from those of passing runs."""

    table_member = "parameters"
    columns = ("name", "auc", "p_holm", "ks_d", "told_apart", "median_failing", "median_passing")

    @property
    def sentence(self) -> Optional[str]:
        """Each class and pattern of failures by itself, where there are several, and all together last."""
        apart = [f"{one['class']}, {one['failing']} runs, {one['pattern']}: {one['sentence']}" for one in self.get("causes") or ()]
        together = str(self["sentence"])
        return "\n".join([*apart, f"all together: {together}" if apart else together])


class Convergence(Answer):
    """An estimate over the first n runs."""

    table_member = "points"
    columns = ("n", "value", "low", "high")


class Box(Answer):
    """The envelope of an output over the cells of a study."""

    def rows(self) -> List[Mapping[str, Any]]:
        """One row a point of the p-box: `value`, and the `least` and the `greatest` share of runs at or below it."""
        curve = self["curve"]
        return [dict(zip(("value", "least", "greatest"), one)) for one in zip(curve["values"], curve["least"], curve["greatest"])]


class Band(Answer):
    """The curves of one history over the runs of a study."""

    def rows(self) -> List[Mapping[str, Any]]:
        """One row a point: `seconds`, `n`, `ended`, `mean`, the quantiles (`p5`, `p5_lower`, `p5_upper`), least, greatest, and the tolerance band."""
        columns: Dict[str, Sequence[Any]] = {name: self[name] for name in ("seconds", "n", "ended", "mean")}
        for one in self["quantiles"]:
            name = f"p{round(100 * one['p'], 10):g}"
            columns.update({name: one["value"], f"{name}_lower": one["lower"], f"{name}_upper": one["upper"]})
        for name in ("least", "greatest"):
            columns.update({name: self[name]["value"], f"{name}_run_id": self[name]["run_id"]})
        band = self["tolerance"] or {"lower": [None] * len(self["seconds"]), "upper": [None] * len(self["seconds"])}
        columns.update({"tolerance_lower": band["lower"], "tolerance_upper": band["upper"]})
        return [dict(zip(columns, values)) for values in zip(*columns.values())]

    def shown(self) -> Tuple[Sequence[str], Sequence[Mapping[str, Any]]]:
        """Eleven points from the first to the last: the runs that have a value, the quantiles, and the tolerance band."""
        rows = self.rows()
        places = sorted({round(at * (len(rows) - 1) / 10) for at in range(11)}) if rows else []
        names = [name for name in (rows[0] if rows else ()) if name.startswith("p") and "_" not in name]
        return ["seconds", "n", *names, "tolerance_lower", "tolerance_upper"], [rows[at] for at in places]

    def plot(self, ax: Any = None) -> Any:
        """Draws the band on Matplotlib axes, new ones without `ax`, and returns them. Raises MissingPackageError without Matplotlib."""
        from ..show.curves import draw_band
        from .frames import package

        if ax is None:
            _, ax = package("matplotlib.pyplot", "a plot").subplots()
        draw_band(self, ax)
        return ax


class Comparison(Answer):
    """Two studies compared: configuration, flipped runs, differences of outputs."""

    table_member = "outputs"


class Audit(Answer):
    """Repeated runs beside the original ones."""

    table_member = "differing_runs"


class LiveTelemetry(Answer):
    """The telemetry of a running run so far, down-sampled: each point is a value that came.

    The least and the greatest value of each span of time are kept, for up to 256 spans of each variable. `frame()` has the points.
    """

    table_member = "variables"
    columns = ("name", "samples", "points", "latest", "least", "greatest")

    @property
    def sentence(self) -> Optional[str]:
        """The number of values that are shown, and of those that are not."""
        shown = sum(len(one["values"]) for one in self["variables"])
        parts = [f"{shown} of {sum(one['samples'] for one in self['variables'])} values, down-sampled"]
        came = {one["name"] for one in self["variables"] if one["values"]}
        for one in self["conditions"]:
            if one["variable"] not in came:
                parts.append(f"no number of {one['variable']} has come, so {one['condition']} has judged nothing")
        if self["omitted"]:
            parts.append(f"{self['omitted']} more variables have no place")
        if self["lost"]:
            parts.append(f"{self['lost']} samples were lost")
        if self["refused"]:
            parts.append(f"{self['refused']} samples were refused")
        odd = sum(one["not_finite"] for one in self["variables"])
        if odd:
            parts.append(f"{odd} values are NaN or infinite and not among the points")
        for one in self["variables"]:
            if one["reversals"]:
                parts.append(f"the time of {one['name']} ran backwards {one['reversals']} times, so its latest value is unknown")
        return "; ".join(parts)

    def rows(self) -> List[Mapping[str, Any]]:
        """One row for each variable."""
        return [
            {
                "name": one["name"],
                "samples": one["samples"],
                "points": len(one["values"]),
                # Points are in the order of time: the last one is the latest unless the time ran backwards.
                "latest": one["values"][-1] if one["values"] and not one["reversals"] else None,
                "least": min(one["values"], default=None),
                "greatest": max(one["values"], default=None),
            }
            for one in self["variables"]
        ]

    def frame(self) -> Any:
        """The points as a pandas DataFrame: `variable`, `time_s`, `value`. Raises MissingPackageError without pandas."""
        from .frames import pandas

        points = [
            (one["name"], time, value) for one in self["variables"] for time, value in zip(one["time_s"], one["values"])
        ]
        return pandas().DataFrame(points, columns=["variable", "time_s", "value"])


class CodeVersions(Answer):
    """The versions of the code that executed the runs of a study; `digest` is None for runs whose code is not known."""

    table_member = "versions"
    columns = ("digest", "kind", "git", "runs", "first_run_id", "runners")


class Findings(Answer):
    """Reasons why a study does not reach its end, or should not be trusted."""

    table_member = "findings"
    columns = ("severity", "code", "message", "remedy")
