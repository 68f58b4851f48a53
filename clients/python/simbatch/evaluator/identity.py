"""The identity of an evaluator: equal for each program whose runs would be the same, so that they share one study."""

from __future__ import annotations

import hashlib
import json
import struct
from typing import Any, Dict, Iterable, List, Mapping, Sequence

EVALUATOR_LABEL = "evaluator"
"""The label by which the study of an evaluator is found."""


def sorted_names(names: Iterable[str]) -> List[str]:
    """The names in the order of their UTF-16 code units, as the coordinator sorts them."""
    return sorted(names, key=lambda name: name.encode("utf-16-be", "surrogatepass"))


def identity_of(simulation: str, version: str, inputs: Sequence[str], fixed: Mapping[str, float], extra: str = "") -> str:
    """SHA-256 of all that the runs depend on, in hexadecimal: the same as that of `simbatch evaluate` and `simbatch bridge`.

    Outputs are not in it, nor is the order of the inputs. extra: empty for a simulation that is only named.
    """
    texts = ["simbatch-evaluator/1", simulation, version, str(len(inputs)), *sorted_names(inputs), str(len(fixed))]
    for name in sorted_names(fixed):
        texts += [name, struct.pack(">d", fixed[name]).hex()]
    return hashlib.sha256("".join(f"{text}\0" for text in [*texts, extra]).encode("utf-8")).hexdigest()


def extra_of(submission: Mapping[str, Any], code_digest: str) -> str:
    """The text for the other parts of a Python study: its whole submission without the budget, and the digest of its function."""
    kept: Dict[str, Any] = json.loads(json.dumps(submission))
    kept["config"]["monte_carlo"].pop("runs")
    text = json.dumps([kept, code_digest], sort_keys=True)
    return f"python/1 {hashlib.sha256(text.encode()).hexdigest()}"


def digest_of_rows(columns: Mapping[str, Sequence[float]]) -> str:
    """SHA-256 of rows as a round without draws has it (docs/points-from-outside.md)."""
    names = sorted_names(columns)
    made = hashlib.sha256("".join(f"{text}\0" for text in ["simbatch-round/1", "parameters", *names]).encode("utf-8"))
    for row in zip(*(columns[name] for name in names)):
        made.update(struct.pack(f"<{len(names)}d", *row))
    return made.hexdigest()
