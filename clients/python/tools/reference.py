"""Writes docs/python-reference.md from the docstrings of the package. A test checks that the file is current.

`python3 clients/python/tools/reference.py [FILE]`.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
from pathlib import Path
from typing import Any, List

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "clients" / "python"))

import simbatch  # noqa: E402
from simbatch._checkpoint import Checkpoint  # noqa: E402
from simbatch._parent import ParentRun  # noqa: E402
from simbatch.batch import answers, files  # noqa: E402
from simbatch.show import plots  # noqa: E402

HEAD = """# The Python package: reference

For people who work in Python: after it you can look up every class, function and argument of the package.

Made from the docstrings by `clients/python/tools/reference.py`. [python.md](python.md) explains how the parts belong together.

Everything here is a member of `simbatch`.
"""

GROUPS = [
    ("Studies", ["Study", "Requirement", "JointRequirement", "EarlyTermination", "Rule", "Telemetry", "Saltelli", "Policy", "Precision", "Trial", "Probe"]),
    (
        "Distributions",
        ["Distribution", "Normal", "Uniform", "Exponential", "Gamma", "Beta", "Fixed", "Lognormal", "Loguniform", "Weibull"]
        + ["Triangular", "Discrete", "Empirical", "Table", "Chosen"],
    ),
    ("Studies at a coordinator", ["connect", "open", "stop", "Coordinator", "Batch", "RunView"]),
    ("Points from outside", ["Evaluator", "Failure", "Round", "product", "tell_and_ask"]),
    ("In a simulation", ["run", "Run", "Parameters"]),
    (
        "Errors",
        ["SimbatchError", "ApiError", "StudyError", "UnreachableError", "NotReadyError", "MissingPackageError", "EvaluationError"]
        + ["ProgramNotFoundError", "LocalError", "RunConfigError"],
    ),
]
FILES = ["RunFiles", "RunFile"]
ANSWERS = ["Answer", "Summary", "Verdicts", "Precisions", "Sensitivity", "Indices", "Attribution", "Convergence", "Band", "Comparison", "Audit", "Findings"]
ANSWERS += ["LiveTelemetry"]


def main() -> str:
    """The text of the page."""
    covered = {name for _, names in GROUPS for name in names}
    absent = sorted(set(simbatch.__all__) - covered)
    if absent:
        sys.exit(f"these names are in no group of reference.py: {', '.join(absent)}")
    parts = [HEAD]
    for title, names in GROUPS:
        parts.append(f"## {title}\n")
        for name in names:
            parts += section(name, getattr(simbatch, name))
        if title == "In a simulation":
            parts += section("Checkpoint", Checkpoint) + section("ParentRun", ParentRun)
        if title == "Studies at a coordinator":
            for name in FILES:
                parts += section(name, getattr(files, name))
            for name in ANSWERS:
                parts += section(name, getattr(answers, name))
            parts += section("Plots", plots.Plots)
    return "\n".join(parts).rstrip() + "\n"


def section(name: str, value: Any) -> List[str]:
    """A class or a function with its members."""
    if not inspect.isclass(value):
        return [f"### `{name}{signature(value)}`\n", f"{text(value)}\n"]
    is_error = issubclass(value, Exception)
    shown = "" if is_error or not takes_arguments(value) else signature(value)
    return [f"### `{name}{shown}`\n", f"{text(value)}\n", *members(value)]


def takes_arguments(kind: Any) -> bool:
    """Whether users construct it."""
    return dataclasses.is_dataclass(kind) or kind is simbatch.Study


def members(kind: Any) -> List[str]:
    """The public methods and properties of the class and of those bases that have no section, in the order of the source."""
    lines = []
    own = [one for one in reversed(kind.__mro__) if one is kind or is_internal(one)]
    for name, value in (member for one in own for member in vars(one).items()):
        if name.startswith("_") or name in ("type", "table_member", "columns", "with_traceback"):
            continue
        if isinstance(value, property):
            lines.append(f"- `{name}`: {text(value, '  ')}")
        elif inspect.isfunction(value):
            lines.append(f"- `{name}{signature(value)}`: {text(value, '  ')}")
    return [*lines, ""] if lines else []


def is_internal(kind: Any) -> bool:
    """Whether a class of the package has no section of its own."""
    named = {name for _, names in GROUPS for name in names} | {*FILES, *ANSWERS, "Plots", "Checkpoint", "ParentRun"}
    return bool(kind.__module__.startswith("simbatch.")) and kind.__name__ not in named


def signature(value: Any) -> str:
    """The parameters with their types and defaults, without `self` and without modules in names of types."""
    parts: List[str] = []
    found = inspect.signature(value)
    keyword_only = False
    for one in found.parameters.values():
        if one.name == "self":
            continue
        if one.kind is one.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            parts.append("*")
        stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        default = "" if one.default is one.empty else f" = {one.default!r}"
        parts.append(f"{stars}{one.name}: {type_name(one.annotation)}{default}")
    result = "" if inspect.isclass(value) else f" -> {type_name(found.return_annotation)}"
    return f"({', '.join(parts)}){result}"


def type_name(annotation: Any) -> str:
    """The annotation as it is written, without quotes and modules."""
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", str(annotation).replace('"', "").replace("'", ""))


def text(value: Any, indent: str = "") -> str:
    """The docstring."""
    lines = (inspect.getdoc(value) or "").splitlines()
    return "\n".join([lines[0] if lines else "", *(f"{indent}{line}".rstrip() for line in lines[1:])])


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "python-reference.md"
    target.write_text(main(), encoding="utf-8")
