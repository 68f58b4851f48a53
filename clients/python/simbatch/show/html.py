"""HTML for notebooks: tables and inline SVG, every text escaped, no script. Falls back to text when there is no answer."""

from __future__ import annotations

from html import escape
from typing import Any, Dict, List, Optional, Sequence

from ..errors import SimbatchError
from . import svg, text
from .estimates import limits_of
from .shapes import Answer, Batch, Round, Study, Trial

# Runs that the histograms of a study are made of: the first so many of the list.
_PLOTTED_RUNS = 5000
_MOST_PLOTS = 6


def table_html(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table with a head, at most 20 rows of it; the rest is counted."""
    head = "".join(f'<th style="text-align:left">{escape(name)}</th>' for name in columns)
    body = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in rows[: text.MOST_ROWS])
    more = len(rows) - text.MOST_ROWS
    note = f"<div>... and {more} more</div>" if more > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


def _cell(value: Any) -> str:
    align = "right" if text.is_number(value) else "left"
    return f'<td style="text-align:{align}">{escape(text.cell(value))}</td>'


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"<div>{escape(line)}</div>" for line in lines if line)


_LEVEL_COLOURS = {
    "OK": "#1a7f37", "Not OK": "#c2222d", "Not enough runs": "#9a6700", "Blocked": "#c2222d", "Running": "#2f6fb2", "Cancelled": "#9a6700",
}  # fmt: skip


def _headline(sentence: Optional[str]) -> str:
    """The sentence about the study, in the colour of the level with which it begins."""
    if not sentence:
        return ""
    colour = _LEVEL_COLOURS.get(sentence.split(":", 1)[0], "inherit")
    return f'<div style="font-size:120%;font-weight:600;color:{colour}">{escape(sentence)}</div>'


def answer_html(answer: Answer) -> str:
    """Sentence, table, warnings; the points of a convergence as a line."""
    columns, cells = text.answer_table(answer)
    parts = [_headline(answer.headline), _lines((answer.sentence or "").splitlines())]
    if answer.table_member == "points":
        points = [(row["n"], row["value"]) for row in answer.rows() if row.get("value") is not None]
        parts.append(svg.line(points, title=f"{answer.get('quantity', 'estimate')} over the first n runs"))
    elif columns:
        parts.append(table_html(columns, cells))
    elif not answer.table_member:
        parts.append(_lines([text.answer_text(answer)]))
    return "".join([*parts, _lines(text.answer_notes(answer))])


def study_html(study: Study) -> str:
    """Title, inputs, requirements."""
    title = f"<b>{escape(text.study_title(study))}</b>"
    return title + table_html(["input", "distribution", "units"], text.study_rows(study)) + _lines(text.requirement_lines(study))


def batches_html(batches: Sequence[Batch]) -> str:
    """A table of the newest 20."""
    older = len(batches) - text.MOST_ROWS
    note = f"<div>{older} older ones, then:</div>" if older > 0 else ""
    return note + table_html(text.BATCH_COLUMNS, text.batches_rows(batches[-text.MOST_ROWS :]))


def rounds_html(rounds: Sequence[Round]) -> str:
    """A table of the newest 20."""
    older = len(rounds) - text.MOST_ROWS
    note = f"<div>{older} older ones, then:</div>" if older > 0 else ""
    try:
        return note + table_html(text.ROUND_COLUMNS, text.rounds_rows(rounds[-text.MOST_ROWS :]))
    except SimbatchError as error:
        return _lines([str(error)])


def batch_html(batch: Batch) -> str:
    """Progress, verdicts, the newest rounds, histograms."""
    try:
        sentence = batch.sentence()
        state = batch.refresh()
        resource = state["batch"]
        failed = resource["failed_jobs"]
        bar = svg.progress(resource["completed_jobs"] + failed, failed, resource["total_jobs"])
        parts = [_headline(sentence), f"<div><b>{escape(text.batch_title(batch))}</b></div>", bar]
        if batch.submission.get("requirements"):
            verdicts = batch.verdicts()
            verdicts.headline = None
            parts.append(answer_html(verdicts))
        if resource.get("rounds"):
            parts.append(rounds_html(batch.rounds(max(0, resource["rounds"] - text.MOST_ROWS))))
        parts.append(f"<div>{_histograms(batch)}</div>")
        return "".join(parts)
    except SimbatchError as error:
        return _lines([f"study {batch.id} at {batch.coordinator.endpoint}: {error}"])


def _histograms(batch: Batch) -> str:
    rows = batch.rows(limit=_PLOTTED_RUNS)
    limits = _limits(batch)
    names = [name for name in dict.fromkeys(name for row in rows for name in row) if name.startswith("outputs.")]
    plots: List[str] = []
    for name in sorted(names, key=lambda one: one not in limits):
        values = [float(row[name]) for row in rows if text.is_number(row.get(name))]
        plots.append(svg.histogram(values, title=name[len("outputs.") :], limit=limits.get(name)))
    shown = [plot for plot in plots if plot][:_MOST_PLOTS]
    more = len(names) - len(shown)
    note = f"<div>{more} more outputs: see summary()</div>" if more > 0 and shown else ""
    part = f"<div>histograms of the first {_PLOTTED_RUNS} runs</div>" if len(rows) == _PLOTTED_RUNS else ""
    return "".join(shown) + note + part


def _limits(batch: Batch) -> Dict[str, float]:
    found: Dict[str, float] = {}
    for one in batch.submission.get("requirements") or ():
        if one.get("output") is None:
            continue
        for value in limits_of(one)[-1:]:
            found[f"outputs.{one['output']}"] = value
    return found


def trial_html(trial: Trial) -> str:
    """Title, parameters and outputs, telemetry as lines."""
    rows = [["parameter", name, value] for name, value in trial.parameters.items()]
    rows += [["output", name, value] for name, value in trial.outputs.items()]
    names = list(dict.fromkeys(name for sample in trial.samples for name in sample if name != "t"))[:_MOST_PLOTS]
    plots = [
        svg.line([(one["t"], one[name]) for one in trial.samples if name in one], title=name) for name in names
    ]
    title = f"<div><b>{escape(text.trial_title(trial))}</b></div>"
    notes = "".join(f"<div>{escape(one)}</div>" for one in text.trial_note(trial))
    return title + notes + table_html(["", "name", "value"], rows) + f"<div>{''.join(plots)}</div>"
