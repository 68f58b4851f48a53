"""Plain text for people: tables, numbers, and the representation of each object."""

from __future__ import annotations

import math
from typing import Any, List, Mapping, Sequence, Tuple

from ..errors import SimbatchError
from ..study.planning import plan
from .shapes import Answer, Batch, Round, Study, Trial

MOST_ROWS = 20


def cell(value: Any) -> str:
    """A value in a table: numbers to six digits, whole ones whole, intervals in brackets, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        return f"{value:.6g}" if math.isfinite(value) else str(value)
    if isinstance(value, (list, tuple)) and len(value) == 2:
        return f"[{cell(value[0])}, {cell(value[1])}]"
    if isinstance(value, (list, tuple, Mapping)):
        return f"{len(value)} items"
    return " ".join(str(value).split())


def is_number(value: Any) -> bool:
    """Whether a cell is aligned to the right."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table with a head, at most 20 rows of it; the rest is counted."""
    shown = rows[:MOST_ROWS]
    cells = [[cell(value) for value in row] for row in shown]
    right = [any(is_number(row[at]) for row in shown) for at in range(len(columns))]
    widths = [max([len(name), *(len(row[at]) for row in cells)]) for at, name in enumerate(columns)]
    lines = [_line(columns, widths, right), *(_line(row, widths, right) for row in cells)]
    if len(rows) > len(shown):
        lines.append(f"... and {len(rows) - len(shown)} more")
    return "\n".join(lines)


def _line(values: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    parts = (value.rjust(width) if is_right else value.ljust(width) for value, width, is_right in zip(values, widths, right))
    return "  ".join(parts).rstrip()


def answer_table(answer: Answer) -> Tuple[List[str], List[List[Any]]]:
    """The columns and cells of an answer's table: the columns of its kind that have a value in some row."""
    columns, rows = answer.shown()
    names = list(columns) or [name for name, value in (rows[0] if rows else {}).items() if not isinstance(value, list)]
    names = [name for name in names if any(row.get(name) is not None for row in rows)]
    return names, [[row.get(name) for name in names] for row in rows]


def answer_notes(answer: Answer) -> List[str]:
    """Explains and limits the answer: the notes of its table, its reason and its warnings."""
    return [*answer.notes(), *filter(None, [answer.missing]), *(f"warning: {one['message']}" for one in answer.get("warnings") or ())]


def answer_text(answer: Answer) -> str:
    """Sentence, table, warnings."""
    columns, cells = answer_table(answer)
    parts = [answer.headline or "", answer.sentence or ""]
    if columns:
        parts.append(table(columns, cells))
    elif not answer.table_member:
        parts.append(", ".join(sorted(answer)))
    return "\n".join(part for part in [*parts, *answer_notes(answer)] if part) or type(answer).__name__


def study_rows(study: Study) -> List[List[Any]]:
    """Input, distribution, units."""
    rows: List[List[Any]] = []
    for name, one in study.inputs.items():
        members = {key: value for key, value in one.members().items() if key != "type"}
        text = ", ".join(f"{key}={cell(value)}" for key, value in members.items())
        rows.append([name, f"{one.type}({text})", getattr(one, "units", "")])
    return rows


def study_title(study: Study) -> str:
    """One line about a study."""
    sampling = study.submission()["config"]["monte_carlo"]
    tables = (one for one in study.inputs.values() if one.type == "table")
    method = "table" if any(len(set(one.members()["values"])) > 1 for one in tables) else sampling["sampling_method"]
    most = f"{study.runs} runs in each of {study.cells} cells" if study.cells > 1 else f"{study.runs} runs" if study.runs else "as many runs as it needs"
    runs = "up to " * (method == "adaptive" and study.runs > 0) + most
    return f"Study {study.name!r}: {runs}, {method}, seed {sampling['seed']}"


def requirement_lines(study: Study) -> List[str]:
    """One line about each requirement, with the runs that it takes."""
    found = study.submission().get("requirements") or ()
    if study.submission()["config"].get("adaptive"):
        return [f"{_claim(one)} with probability {one['probability']:g}" for one in found]
    return [f"{_claim(one)} with probability {one['probability']:g}: {'; '.join(plan(one, study.runs))}" for one in found]


def _claim(one: Mapping[str, Any]) -> str:
    return f"{' and '.join(one['all'])} in the same run" if one.get("all") else f"{one['output']} {one['condition']}"


def study_text(study: Study) -> str:
    """Title, inputs, requirements."""
    return "\n".join([study_title(study), table(["input", "distribution", "units"], study_rows(study)), *requirement_lines(study)])


def batch_title(batch: Batch) -> str:
    """One line about a batch: name, status, number of runs, id."""
    resource = batch.resource
    done = f"{resource['completed_jobs'] + resource['failed_jobs']} of {resource['total_jobs']} runs ended"
    failed = f", {resource['failed_jobs']} failed" if resource["failed_jobs"] else ""
    reused = f", {resource['reused_jobs']} reused" if resource.get("reused_jobs") else ""
    return f"{resource['name']}: {resource['status']}, {done}{failed}{reused}{_growth(resource)} ({batch.id})"


def _growth(resource: Mapping[str, Any]) -> str:
    """The rounds of an adaptive study, in words."""
    if "budget" not in resource:
        return ""
    count = resource.get("rounds", 0)
    rounds = f", {count} {'round' if count == 1 else 'rounds'}, {resource['budget'] - resource['total_jobs']} runs of the budget left"
    state = ", waiting for rows" if resource.get("waiting_for_rows") else ", closed" if resource.get("closed") else ""
    return rounds + state


ROUND_COLUMNS = ["round", "key", "runs", "count", "complete", "label"]


def rounds_rows(rounds: Sequence[Round]) -> List[List[Any]]:
    """The rows of a list of rounds."""
    return [[one.number, one.key, one.run_ids, one.count, one.complete, one.label] for one in rounds]


def rounds_text(rounds: Sequence[Round]) -> str:
    """A table; the newest 20 when there are more."""
    older = len(rounds) - MOST_ROWS
    text = table(ROUND_COLUMNS, rounds_rows(rounds[-MOST_ROWS:])) if rounds else "no rounds"
    return f"{older} older ones, then:\n{text}" if older > 0 else text


def round_text(one: Round) -> str:
    """One line about a round."""
    try:
        state = "complete" if one.complete else "open"
    except SimbatchError as error:
        state = str(error)
    name = "" if one.key is None else f" {one.key!r}"
    return f"round {one.number}{name}: runs {one.run_ids}, {state}, digest {one.digest[:12]}"


def batch_text(batch: Batch) -> str:
    """The answer in one sentence and a line about the runs; without an answer of the coordinator the id and why."""
    try:
        sentence = batch.sentence()
        batch.status
        return "\n".join(line for line in (sentence, batch_title(batch)) if line)
    except SimbatchError as error:
        return f"study {batch.id} at {batch.coordinator.endpoint}: {error}"


BATCH_COLUMNS = ["id", "name", "status", "runs", "completed", "failed", "created"]


def batches_rows(batches: Sequence[Batch]) -> List[List[Any]]:
    """The rows of a list of batches, the newest last."""
    found = [batch.resource for batch in batches]
    return [
        [one["id"], one["name"], one["status"], one["total_jobs"], one["completed_jobs"], one["failed_jobs"], one["created_at"]]
        for one in found
    ]


def batches_text(batches: Sequence[Batch]) -> str:
    """A table; the newest 20 when there are more."""
    older = len(batches) - MOST_ROWS
    text = table(BATCH_COLUMNS, batches_rows(batches[-MOST_ROWS:])) if batches else "no studies"
    return f"{older} older ones, then:\n{text}" if older > 0 else text


def trial_title(trial: Trial) -> str:
    """One line about a trial."""
    end = "ended"
    if trial.error is not None:
        end = f"failed: {trial.error.splitlines()[0]}"
    if trial.terminated_by is not None:
        hit = trial.terminated_by
        end = f"terminated: {hit['variable']} {hit['condition']} at {hit['time_s']:g} s (value {cell(hit['value'])})"
    return f"run {trial.run_id} {end}, {trial.seconds:.3g} s, {len(trial.samples)} samples of telemetry"


def trial_text(trial: Trial) -> str:
    """Title, parameters and outputs."""
    rows = [["parameter", name, value] for name, value in trial.parameters.items()]
    rows += [["output", name, value] for name, value in trial.outputs.items()]
    lines = [trial_title(trial), *trial_note(trial), table(["", "name", "value"], rows)]
    return "\n".join(lines)


def trial_note(trial: Trial) -> List[str]:
    """Sentences about derived outputs without a value; nothing without any."""
    return [f"{name} is missing: {why}" for name, why in trial.missing.items()]
