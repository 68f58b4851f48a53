"""One study at a coordinator: its progress, its runs, the questions about it, and what can be done with it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Type, TypeVar, Union

from ..api.transport import PathLike, segment
from ..errors import ApiError
from . import answers
from .frames import arrow_table, columns_of, has_arrow, package, pandas
from .extracting import Extracting
from .growing import Growing
from .judging import Judging
from .progress import ENDED, wait

if TYPE_CHECKING:
    import pandas as pandas_types
    import polars as polars_types
    import pyarrow as arrow_types

    from ..show.plots import Plots
    from ..study.description import StudyDescription
    from .connection import Connection
    from .files import RunFiles
    from .runs import Runs, RunView

_Kind = TypeVar("_Kind", bound=answers.Answer)
# The longest wait of one question, in seconds; the question is repeated after it.
_WAIT_S = 20


class Batch(Extracting, Growing, Judging):
    """A submitted study. Made by `Study.run`, `Study.submit`, `simbatch.open` and `Coordinator.batches`."""

    def __init__(
        self,
        coordinator: "Connection",
        batch_id: str,
        resource: Optional[Mapping[str, Any]] = None,
        *,
        study: Optional["StudyDescription"] = None,
    ) -> None:
        self.coordinator = coordinator
        self.id = batch_id
        """Its id at the coordinator."""
        self.warnings: List[str] = []
        """What is allowed in the study and will probably mislead, from its submission."""
        self.extensions: List[Batch] = []
        """The batches with further runs of the study, where `Study.run` or `Study.submit` has continued it: waiting, commands, tables and
        questions are then about all of them."""
        self.study = study
        """The study it was made of; None when it was opened."""
        self._resource = resource
        self._submission: Optional[Dict[str, Any]] = None

    # Progress

    def refresh(self) -> Dict[str, Any]:
        """The batch and its progress now: `batch`, `jobs_by_status`, `throughput_jobs_per_minute` and so on."""
        return self._refresh(0)

    def _refresh(self, wait_s: int) -> Dict[str, Any]:
        """The same once it has ended and is judged, waits for rows, or its canary has failed; after `wait_s` seconds as it is."""
        query = {"wait": wait_s} if wait_s > 0 else None
        found: Dict[str, Any] = self.coordinator.transport.get(self._path(""), query, extra_s=wait_s)
        self._resource = found["batch"]
        return found

    @property
    def resource(self) -> Mapping[str, Any]:
        """The batch as it was read last, with the members of docs/api.md."""
        if self._resource is None:
            self.refresh()
        assert self._resource is not None
        return self._resource

    @property
    def name(self) -> str:
        """The name of the study."""
        return str(self.resource["name"])

    @property
    def status(self) -> str:
        """`Pending`, `Running`, `Completed`, `Failed` or `Cancelled`, as it is now."""
        own = str((self.resource if self._has_ended() else self.refresh()["batch"])["status"])
        if own not in ENDED:
            return own
        return next((status for status in (one.status for one in [*self.extensions, *self.repeats]) if status not in ENDED), own)

    @property
    def repeats(self) -> "List[Batch]":
        """Of a study of rare events, those that were submitted with it and have other seeds: `rare_event` answers all together, and `wait` waits for all."""
        links = self.resource.get("children", ())
        return [Batch(self.coordinator, one["batch_id"]) for one in links if one["relation"] == "repeat"]

    @property
    def reused(self) -> int:
        """How many of its ended runs were not executed: they have the results of earlier runs (`Policy.reuse`). As read last. `frame` has their
        origin in the column `reused_from`."""
        return int(self.resource.get("reused_jobs", 0))

    @property
    def ended(self) -> bool:
        """Whether every run has ended, as it is now."""
        return self.status in ENDED

    def _has_ended(self) -> bool:
        return self._resource is not None and self._resource["status"] in ENDED

    @property
    def submission(self) -> Dict[str, Any]:
        """The submission as it was stored, with the seed that is used."""
        if self._submission is None:
            self._submission = self._get("/submission")
        return self._submission

    def wait(self, timeout: Optional[float] = None, *, progress: bool = True) -> "Batch":
        """Waits until the study has ended, or until its canary runs or its canary study have failed; returns itself, whatever the
        outcome. The wait for an adaptive study ends when every run that was appended has ended.

        Shows a tqdm bar where tqdm is installed, else a line on stderr, and at the end the answer in one sentence; nothing without
        `progress`. After such a failure nothing is executed until `release()` or `cancel()`. Ctrl-C ends the wait only:
        the study continues. Raises TimeoutError after `timeout` seconds, the study continues then too.
        """
        wait(self, timeout, progress)
        for one in [*self.extensions, *self.repeats]:
            one.wait(timeout, progress=progress)
        return self

    # Runs

    def rows(
        self, *, columns: Optional[Sequence[str]] = None, where: Optional[str] = None, sort: Union[str, Sequence[str], None] = None,
        limit: Optional[int] = None, family: Optional[bool] = None,
    ) -> List[Dict[str, Any]]:
        """The runs, one mapping each: run_id, status, class, reason, ..., `parameters.*`, `outputs.*`.

        columns: only these. where: a condition such as `"outputs.miss_m > 50 and class = ok"`. sort: a column
        or several, with a minus before one for descending. limit: at most so many.
        family: one row for each run of the study, its extensions and its reruns, the latest attempt of each; None: of a study that was continued.
        """
        return list(self._rows(self._table_query(columns=columns, where=where, sort=sort, limit=limit, family=family)))

    def frame(self, **query: Any) -> "pandas_types.DataFrame":
        """The runs as a pandas DataFrame, one row each. Takes the arguments of `rows`. Raises MissingPackageError without pandas."""
        table = pandas()
        frame: "pandas_types.DataFrame"
        if has_arrow():
            frame = self.arrow(**query).to_pandas(split_blocks=True, self_destruct=True)
        else:
            frame = table.DataFrame(columns_of(self._rows(self._table_query(**query))))
        return frame

    def polars(self, **query: Any) -> "polars_types.DataFrame":
        """The runs as a Polars DataFrame. Takes the arguments of `rows`. Raises MissingPackageError without polars."""
        table = package("polars", "a Polars frame")
        frame: "polars_types.DataFrame"
        if has_arrow():
            frame = table.from_arrow(self.arrow(**query))
        else:
            frame = table.DataFrame(columns_of(self._rows(self._table_query(**query))), strict=False, infer_schema_length=None)
        return frame

    def arrow(self, **query: Any) -> "arrow_types.Table":
        """The runs as a pyarrow Table. Takes the arguments of `rows`. Raises MissingPackageError without pyarrow."""
        package("pyarrow", "an Arrow table")
        asked = {**self._table_query(**query), "format": "arrow"}
        table: "arrow_types.Table" = arrow_table(self.coordinator.transport.stream(self._path("/table"), asked))
        return table

    def histories(
        self, name: str, *, where: Optional[str] = None, family: Optional[bool] = None
    ) -> "pandas_types.DataFrame":
        """One history of all runs that left it, or of those for which a condition holds, as a pandas DataFrame: a row a time (the index, in
        seconds), a column a run id, NaN where a value is missing; where the runs are of several replicates, a column a pair of replicate and run id.
        family: as for `rows`. Raises MissingPackageError without pandas; ApiError `malformed-query` for an unknown name.
        """
        table = pandas()
        pooled = bool(self.extensions) if family is None else family
        query = {"name": name, "where": where, "format": "ndjson", "wide": True, "family": pooled or None}
        rows = list(self._lines("/histories", query))
        is_one = len({row.get("replicate") for row in rows}) <= 1
        frame: "pandas_types.DataFrame" = table.DataFrame(
            {
                row["run_id"] if is_one else (row["replicate"], row["run_id"]): [
                    float("nan") if value is None else float(value) for value in row["values"]
                ]
                for row in rows
            },
            index=table.Index(self._times(name), name="time"),
        )
        frame.columns.names = ["run_id"] if is_one else ["replicate", "run_id"]
        return frame

    def _times(self, name: str) -> List[float]:
        """The times of a history, as the submission declares them."""
        declared = self.submission["config"].get("histories") or []
        at = next(one["at"] for one in declared if one.get("name", one["variable"]) == name)
        if at.get("points") is not None:
            return [float(one) for one in at["points"]]
        count = int((at["to"] - at["from"]) / at["step"] + 1e-9) + 1
        return [min(at["from"] + place * at["step"], at["to"]) for place in range(count)]

    def run(self, run_id: int) -> "RunView":
        """One run by its number."""
        from .runs import RunView

        return RunView(self, run_id)

    def files(self, run_id: int, *, attempt: Optional[int] = None) -> "RunFiles":
        """The files of a run; those of a runner with `--serve-files` can be read from here."""
        return self.run(run_id).listing(attempt)

    def fetch(
        self, to: PathLike, runs: Optional[Sequence[int]] = None, *, path: str = "*",
        kind: Union[str, Sequence[str], None] = None, overwrite: bool = False,
    ) -> List[Path]:
        """Copies files of runs into a folder for each run, such as `to/00000017`, and returns their paths.

        runs: of these; otherwise of all that have ended. path: those that match, e.g. `"*.csv"`. kind: `artifact`, `telemetry`,
        `stdout`, ... A copy that is there is not made again, a half one is continued. Raises FileExistsError when another
        file is there, unless `overwrite`; ApiError `artifact-not-uploaded` when a runner does not send a file.
        """
        from .files import fetch_files

        numbers = [one["run_id"] for one in self.rows(columns=["run_id"])] if runs is None else runs
        return fetch_files(((number, self.files(number)) for number in numbers), to, path, kind, overwrite)

    # Questions

    def answer(self) -> answers.StudyAnswer:
        """Whether the study is in order, in one sentence, with the reasons and the next steps."""
        return self._ask(answers.StudyAnswer, "answer")

    def summary(
        self, *, confidence: Optional[float] = None, quantiles: Sequence[float] = (), missing: Optional[str] = None,
        by: Sequence[str] = (),
    ) -> answers.Summary:
        """Statistics of every output, the failures by pattern, the verdicts. missing: `any`, or `at_random` for crashed, timed-out and lost runs.
        by: axes of scenarios; the table then has a row for each combination of their levels and output, as `answer.cells()` has.
        """
        query = {"confidence": confidence, "quantiles": list(quantiles) or None, "missing": missing, "by": list(by) or None}
        return self._headed(self._ask(answers.Summary, "summary", **query))

    def verdicts(
        self, output: Optional[str] = None, condition: Optional[str] = None, probability: Optional[float] = None,
        *, by: Sequence[str] = (), **options: Any,
    ) -> answers.Verdicts:
        """The verdicts on the study's requirements, or on a single one by its output, condition and probability. options: confidence, terminated, look.
        by: axes of scenarios; each requirement then has `by`, a row for each combination of their levels, which `Verdicts.cells()` lists.
        """
        query = {"by": list(by) or None, "output": output, "condition": condition, "probability": probability, **options}
        return self._headed(self._ask(answers.Verdicts, "verdicts", **query))

    def precision(self) -> answers.Precisions:
        """How near the study is to its precisions: intervals that hold at every number of runs, so where it stops too."""
        return self._ask(answers.Precisions, "precision")

    def rare_event(self, other: Optional["Batch"] = None, *, combined: bool = True) -> answers.RareEvent:
        """How probable a rare violation is, with bounds, of a study with `method="rare_event"`; experimental. The bounds are of the violations in
        the regions found, and `direct` bounds all others. The studies that were submitted together, two by default, are answered together; not so with
        `combined=False`. other: another study of the same question with another seed, in place of these.
        """
        query = {"with": None if other is None else other.id, "combined": "true" if combined and other is None else None}
        return self._ask(answers.RareEvent, "rare-event", **query)

    def why(self, failing: str = "failed", *, confidence: Optional[float] = None) -> answers.Attribution:
        """How the parameters of failing runs differ: `failed`, a class, a requirement's name, or a condition on the outputs."""
        return self._ask(answers.Attribution, "attribution", failing=failing, confidence=confidence)

    def sensitivity(self, output: str, *, confidence: Optional[float] = None) -> answers.Sensitivity:
        """The influence of each parameter on an output."""
        return self._ask(answers.Sensitivity, "sensitivity", output=output, confidence=confidence)

    def indices(self, output: str, *, confidence: Optional[float] = None) -> answers.Indices:
        """Sobol' indices of an output: the share of its variance that each input explains. The study needs `method=Saltelli(...)`."""
        return self._ask(answers.Indices, "indices", output=output, confidence=confidence)

    def convergence(
        self, output: Optional[str] = None, quantity: Optional[str] = None, *, half_width: Optional[float] = None,
        confidence: Optional[float] = None, missing: Optional[str] = None,
    ) -> answers.Convergence:
        """An estimate over the first n runs: `mean` or a percentile (`p95`) of an output, or `failure`, the share of failed runs."""
        query = {"output": output, "quantity": quantity, "half_width": half_width, "confidence": confidence, "missing": missing}
        return self._ask(answers.Convergence, "convergence", **query)

    def pbox(
        self, output: str, *, quantiles: Sequence[float] = (), at: Sequence[float] = (), within: Sequence[str] = (),
        confidence: Optional[float] = None,
    ) -> answers.Box:
        """The envelope of an output over the cells of a study with epistemic inputs or scenarios: means, quantiles, probabilities, and the p-box.
        at: values of the output; within: levels, such as `site:andoya`, that the cells have. `frame()` has the curves.
        """
        query = {"output": output, "quantiles": list(quantiles) or None, "at": list(at) or None, "within": list(within) or None, "confidence": confidence}
        return self._ask(answers.Box, "pbox", **query)

    def worst(self, output: str, k: int = 10, *, direction: str = "largest") -> "Runs":
        """The `k` completed runs with the `largest` or `smallest` values of an output, the most extreme first."""
        from .runs import RunView, Runs

        found = self._ask(answers.Answer, "worst", output=output, k=k, direction=direction)
        return Runs(RunView(self, one["run_id"], {output: one["value"]}) for one in found["runs"])

    def band(
        self, history: str, *, quantiles: Sequence[float] = (), confidence: Optional[float] = None,
        coverage: Optional[float] = None, where: Optional[str] = None,
    ) -> answers.Band:
        """The curves of a history over all runs: quantiles at each time, and the band that holds whole curves of the share `coverage` (0.9) of
        future runs. A telemetry variable that is not a history has one of up to 64 drawn runs. where: only runs for which the condition holds.
        """
        query = {"history": history, "quantiles": list(quantiles) or None, "confidence": confidence, "coverage": coverage, "where": where}
        return self._ask(answers.Band, "band", **query)

    @property
    def plot(self) -> "Plots":
        """Its plots on Matplotlib axes, such as `batch.plot.footprint("x_m", "y_m")`: those of the dashboard."""
        from ..show.plots import Plots

        return Plots(self, lambda: package("matplotlib.pyplot", "a plot"))

    def diff(
        self, other: Union["Batch", str], *, level: Optional[str] = None, failing: Optional[str] = None, confidence: Optional[float] = None
    ) -> answers.Comparison:
        """This study, before, and another, after: configuration, runs whose outcome changed, differences of the outputs. level: see `compare_levels`."""
        query = {"with": getattr(other, "id", other), "level": level, "failing": failing, "confidence": confidence}
        return self._ask(answers.Comparison, "compare", **query)

    def compare_levels(
        self, level: str, other: str, *, failing: Optional[str] = None, confidence: Optional[float] = None
    ) -> answers.Comparison:
        """Two levels of an axis of scenarios, such as `wind:calm` and `wind:storm`: the differences of each sample, which has the same random numbers in both."""
        return self.diff(other, level=level, failing=failing, confidence=confidence)

    def findings(self) -> answers.Findings:
        """Reasons why the study does not reach its end, or should not be trusted, each with its remedy."""
        return answers.Findings({"findings": self._get("/findings")})

    def code_versions(self) -> answers.CodeVersions:
        """The versions of the code that executed the runs: digest, commit, whether files differ from it, and how many runs it made."""
        return answers.CodeVersions({"versions": self._get("/code-versions")})

    def evidence(self) -> answers.Evidence:
        """The facts that a review asks for: code, machines, inputs and their sources, results, how failures count, audits, history, and
        the factors of NASA-STD-7009. Its `limits` are the parts that are not known or not checked.
        """
        return self._ask(answers.Evidence, "evidence")

    def obstacles(self) -> List[str]:
        """The findings as lines, also about the runner that a coordinator in a folder could not start."""
        found = [f"{one['message']}; {one['remedy']}" for one in self.findings().rows()]
        local = self.coordinator.local_failures
        return [*found, *(local() if local is not None else ())]

    def manifest(self) -> Iterator[bytes]:
        """The manifest as NDJSON, in pieces; `simbatch manifest verify` checks it."""
        return self.coordinator.transport.stream(self._path("/manifest"))

    # Commands

    def cancel(self, reason: Optional[str] = None) -> "Batch":
        """Cancels every run that has not ended, also of the studies that were submitted with it (`repeats`), where it is the first of them."""
        return self._command("cancel", reason)

    def pause(self, reason: Optional[str] = None) -> "Batch":
        """Assigns no new runs; running ones continue. Reaches `repeats` too, as `cancel` does."""
        return self._command("pause", reason)

    def resume(self) -> "Batch":
        """Assigns runs of a paused study again. Reaches `repeats` too, as `cancel` does."""
        return self._command("resume")

    def release(self) -> "Batch":
        """Releases the runs that wait for the canary runs or for the canary study."""
        return self._command("release")

    def extend(self, runs: int, *, name: Optional[str] = None) -> "Batch":
        """A new batch with more runs of the study. Random and Sobol' designs continue: `runs` is the number of runs of the whole
        design. A Latin hypercube, whose strata depend on its size, gets another replicate of `runs` runs. A study of rare events is opened
        again, with those that were submitted with it, and this batch is returned: a confirmed one takes `runs` further draws, which narrow its
        bounds; after the end `not-reached` the budget is larger by `runs`. At any other end it is an ApiError `not-extendable`.
        """
        body = {"runs": runs, **({} if name is None else {"name": name})}
        return self._descendant("extend", body)

    def rerun(
        self,
        *,
        states: Optional[Sequence[str]] = None,
        failure_kind: Optional[str] = None,
        requirement: Optional[str] = None,
        run_ids: Optional[str] = None,
        version: Optional[str] = None,
        relation: Optional[str] = None,
        name: Optional[str] = None,
    ) -> "Batch":
        """A new batch with runs of this one again, with the same parameters: all of them, or those that every selection holds for.

        states: `Completed`, `Failed`, `Timeout`, `Cancelled`. failure_kind: `crashed`, `terminated`, `timeout`, `lost`.
        requirement: runs that fail it, by its name. run_ids: `"0-99,150"`. version: replaces that of the simulation.
        relation: `rerun` or `comparison`. A changed function is another study: submit that.
        """
        chosen = {
            "states": None if states is None else list(states), "failure_kind": failure_kind, "requirement": requirement,
            "run_ids": run_ids,
        }  # fmt: skip
        select = {key: value for key, value in chosen.items() if value is not None}
        given = {"select": select or None, "simulation_version": version, "relation": relation, "name": name}
        return self._descendant("rerun", {key: value for key, value in given.items() if value is not None})

    def audit(self, fraction: float, *, seed: Optional[int] = None, reused: bool = False) -> "Batch":
        """A new batch that repeats a drawn part of the finished runs, on another runner where there is one; with `reused`, a part of those that
        have results of other runs. `audit_answer` of the new batch compares the results.
        """
        body = {"fraction": fraction, **({} if seed is None else {"seed": seed}), **({"reused": True} if reused else {})}
        return self._descendant("audit", body)

    def audit_answer(self) -> answers.Audit:
        """The results of an audit beside the original ones."""
        return answers.Audit(self._get("/audit"))

    def _descendant(self, verb: str, body: Mapping[str, Any]) -> "Batch":
        key = f"py-{verb}-{os.urandom(12).hex()}"
        answer = self.coordinator.transport.post(self._path(f"/{verb}"), body, idempotency_key=key)
        return Batch(self.coordinator, answer["batch_id"], study=self.study)

    def delete(self) -> None:
        """Deletes the study, which has ended, with its results, for ever."""
        self.coordinator.transport.send("DELETE", self._path(""))

    def _command(self, verb: str, reason: Optional[str] = None) -> "Batch":
        body = None if reason is None else {"reason": reason}
        open_ones = [one for one in (self, *self.extensions) if one._is_open()]
        for one in open_ones or [self]:
            one._resource = self.coordinator.transport.post(one._path(f"/{verb}"), body, repeat=True)
        return self

    def _is_open(self) -> bool:
        return not self._has_ended() and self.refresh()["batch"]["status"] not in ENDED

    # Requests

    def _path(self, rest: str) -> str:
        return f"/batches/{segment(self.id)}{rest}"

    def _get(self, rest: str, query: Optional[Mapping[str, Any]] = None) -> Any:
        return self.coordinator.transport.get(self._path(rest), query)

    def _table_query(self, *, family: Optional[bool] = None, **query: Any) -> Dict[str, Any]:
        return _table_query(**query, family=bool(self.extensions) if family is None else family)

    def _ask(self, kind: Type[_Kind], question: str, **query: Any) -> _Kind:
        if self.extensions and question != "answer":
            query["family"] = True
        while True:  # 202: the answer is still being computed, and the same request waits for it
            answer = self.coordinator.transport.send(
                "GET", self._path(f"/{question}"), {**query, "wait": _WAIT_S}, extra_s=_WAIT_S
            )
            if answer.status != 202:
                return kind(answer.json())

    def _headed(self, answer: _Kind) -> _Kind:
        """The answer with the sentence about the study as its first line."""
        answer.headline = self.sentence()
        return answer

    def sentence(self) -> Optional[str]:
        """The answer about the study in one sentence; None from a coordinator that has none."""
        try:
            return self.answer().sentence
        except ApiError as error:
            if error.status == 404 and error.code != "unknown-batch":  # an older coordinator
                return None
            raise

    def _rows(self, asked: Mapping[str, Any]) -> Iterator[Dict[str, Any]]:
        """The rows one after the other, as they arrive."""
        return self._lines("/table", {**asked, "format": "ndjson"})

    def _lines(self, path: str, asked: Mapping[str, Any]) -> Iterator[Dict[str, Any]]:
        """The lines of an answer one after the other, as they arrive."""
        rest = b""
        for piece in self.coordinator.transport.stream(self._path(path), asked):
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                if line:
                    yield json.loads(line)
        if rest:
            yield json.loads(rest)

    def __repr__(self) -> str:
        from ..show.text import batch_text

        return batch_text(self)

    def _repr_html_(self) -> str:
        from ..show.html import batch_html

        return batch_html(self)


def _table_query(
    columns: Optional[Sequence[str]] = None, where: Optional[str] = None, sort: Union[str, Sequence[str], None] = None,
    limit: Optional[int] = None, family: bool = False,
) -> Dict[str, Any]:  # fmt: skip
    """The query of a table. Columns and sort are lists, by repetition: a name may have a comma in it."""
    return {
        "columns": None if columns is None else list(columns), "where": where,
        "sort": [sort] if isinstance(sort, str) else None if sort is None else list(sort),
        "limit": limit, "family": family or None,
    }  # fmt: skip
