"""The problem of a refused request as an exception, with each JSON Pointer as the Python argument it belongs to."""

from __future__ import annotations

import re
from typing import Any, Callable, List, Mapping, Optional, Tuple

from ..errors import ApiError, Fault, StudyError
from .answer import Answer

# The pointers of a submission, in the order in which they are tried. `{}` is the name or the number in the pointer.
_ARGUMENTS: Tuple[Tuple[str, str], ...] = (
    (r"/config/dispersions/([^/]+)/(units|source)", 'inputs["{}"].{}'),
    (r"/config/dispersions/([^/]+)/distribution/lambda", 'inputs["{}"].rate'),
    (r"/config/dispersions/([^/]+)/distribution/(\w+)(?:/.*)?", 'inputs["{}"].{}'),
    (r"/config/dispersions/([^/]+)(?:/distribution)?", 'inputs["{}"]'),
    (r"/config/dispersions", "inputs"),
    (r"/config/scenarios(?:/.*)?", "scenarios"),
    (r"/config/epistemic(?:/.*)?", "epistemic"),
    (r"/config/correlations/(\d+)(?:/.*)?", "correlations[{}]"),
    (r"/config/correlations", "correlations"),
    (r"/config/(?:monte_carlo/sampling_method|adaptive(?:/.*)?)", "method"),
    (r"/config/monte_carlo/(runs|seed|run_ids|replicate)", "{}"),
    (r"/config/simulation/(name|code)(?:/.*)?", "simulation"),
    (r"/config/simulation/(version|duration_minutes)", "{}"),
    (r"/config/early_termination/conditions/(\d+)/(variable|condition|description)", "early_termination.rules[{}].{}"),
    (r"/config/early_termination/check_frequency_hz", "early_termination.check_hz"),
    (r"/config/early_termination/(\w+)(?:/.*)?", "early_termination.{}"),
    (r"/config/telemetry/sampling_rate_hz", "telemetry.rate_hz"),
    (r"/config/telemetry/buffer_flush_interval_seconds", "telemetry.flush_s"),
    (r"/config/telemetry/storage/compression", "telemetry.compression"),
    (r"/config/telemetry/(variables|live)(?:/.*)?", "telemetry.{}"),
    (r"/config/(histories|derived)/(\d+)/at/(\w+)/(\d+)", '{}[{}]["at"]["{}"][{}]'),
    (r"/config/(histories|derived)/(\d+)/at/(\w+)", '{}[{}]["at"]["{}"]'),
    (r"/config/(histories|derived)/(\d+)/(\w+)(?:/\d+)?", '{}[{}]["{}"]'),
    (r"/config/(histories|derived)/(\d+)", "{}[{}]"),
    (r"/config/(histories|derived)", "{}"),
    (r"/config/compute/container/environment(?:/(.+))?", "environment"),
    (r"/config/compute/container/cpu_request", "cpu"),
    (r"/config/compute/container/memory_request", "memory"),
    (r"/config/compute/container/(cpu_limit|memory_limit|image)", "{}"),
    (r"/config/compute/max_parallel_jobs", "max_parallel"),
    (r"/config/compute/job_timeout_seconds", "timeout_s"),
    (r"/config/compute/isolation", "isolation"),
    (r"/config/compute/max_retries", "retries"),
    (r"/requirements/(\d+)/(\w+)", "requirements[{}].{}"),
    (r"/requirements(?:/(\d+))?", "requirements"),
    (r"/outputs(?:/([^/]+))?(?:/.*)?", "outputs"),
    (r"/policy/precision/(\d+)/(\w+)(?:/.*)?", "precision[{}].{}"),
    (r"/policy/precision(?:/(\d+))?", "precision"),
    (r"/policy/stop_when(?:/.*)?", "policy.stop_when"),
    (r"/policy/(\w+)", "policy.{}"),
    (r"/labels(?:/([^/]+))?", "labels"),
    (r"/code(?:/.*)?", "simulation"),
    (r"/name", "name"),
)


def argument_of(pointer: str, correlations: Optional[List[Tuple[str, str]]] = None) -> str:
    """The argument of `Study` for a JSON Pointer into its submission; the pointer itself where there is none.

    `correlations`: the pairs in the order of the submission, so that a number becomes a pair.
    """
    for pattern, form in _ARGUMENTS:
        found = re.fullmatch(pattern, pointer)
        if found is None:
            continue
        parts = [part.replace("~1", "/").replace("~0", "~") for part in found.groups() if part is not None]
        if form == "correlations[{}]" and correlations is not None and int(parts[0]) < len(correlations):
            a, b = correlations[int(parts[0])]
            return f'correlations["{a}", "{b}"]'
        return form.format(*parts)
    return pointer


_ROUND_ARGUMENTS: Tuple[Tuple[str, str], ...] = (
    (r"/columns/([^/]+)/(\d+)", '{rows}[{1}]["{0}"]'),
    (r"/columns/([^/]+)", '{rows}["{0}"]'),
    (r"/columns", "{rows}"),
    (r"/draws/(\d+)", "draws[{0}]"),
    (r"/(draws|key|round|label|note)", "{0}"),
)


def round_argument(pointer: str, rows: str = "rows") -> str:
    """The argument of `Batch.append` for a JSON Pointer into its request; the pointer itself where there is none. rows: their name."""
    for pattern, form in _ROUND_ARGUMENTS:
        found = re.fullmatch(pattern, pointer)
        if found is not None:
            return form.format(*(part.replace("~1", "/").replace("~0", "~") for part in found.groups()), rows=rows)
    return pointer


def error_of(answer: Answer, path: str, to_argument: Callable[[str], str] = argument_of) -> ApiError:
    """The exception of an answer with a status from 400 on."""
    problem: Optional[Mapping[str, Any]] = None
    if answer.is_json:
        value = answer.json()
        problem = value if isinstance(value, dict) and isinstance(value.get("code"), str) else None
    request_id = answer.headers.get("x-request-id")
    if problem is None:
        text = f"status {answer.status} without a problem document; check that the address is that of a simbatch coordinator"
        return ApiError(answer.status, "unexpected-answer", text, request_id=request_id)
    is_study = answer.status == 422 and path == "/jobs" and bool(problem.get("errors"))
    faults = [
        Fault(fault["pointer"], fault["detail"], to_argument(fault["pointer"]) if is_study else fault["pointer"])
        for fault in problem.get("errors") or ()
    ]
    kind = StudyError if is_study else ApiError
    detail = str(problem.get("detail") or problem.get("title") or "")
    return kind(answer.status, str(problem["code"]), detail, faults=faults, problem=problem, request_id=request_id)
