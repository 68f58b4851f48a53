"""A probe: each input of a study alone at its ends, and what it changes. The program `simbatch` executes and compares the runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Tuple

from ..errors import Fault, SimbatchError, study_error
from ..local.program import simbatch

if TYPE_CHECKING:
    from ..api.transport import Transport
    from .description import StudyDescription

_INVALID, _WITHOUT_EFFECT = 65, 6


@dataclass(frozen=True)
class Probe:
    """The runs of a probe beside its nominal run, in which every input is at its median."""

    batch_id: str
    """The study with the runs of the probe."""
    nominal: Mapping[str, Any]
    """The nominal run: `run_id`, `class` (`ok` if it completed) and `outputs`."""
    inputs: Tuple[Mapping[str, Any], ...]
    """For each dispersed input `name`, `units`, its values `low`, `nominal` and `high`, `read` (`read`, `never`, `unknown`), `effect`
    (`some`, `none`, `unknown`), and `at_low` and `at_high`: `run_id`, `class` and `changes` of outputs (`output`, `nominal`, `value`,
    `relative`)."""
    corners: Optional[Mapping[str, Any]]
    """`low` and `high`: the runs with all inputs at this end, as `at_low` has them; None unless they were asked for."""

    @property
    def never_read(self) -> List[str]:
        """The inputs that none of at least three completed runs with known look-ups has looked up."""
        return [one["name"] for one in self.inputs if one["read"] == "never"]

    @property
    def without_effect(self) -> List[str]:
        """The inputs that change no output of the nominal run, to the bit."""
        return [one["name"] for one in self.inputs if one["effect"] == "none"]

    def __repr__(self) -> str:
        rows = [("input", "read", "effect", "changes at low / high")]
        for one in self.inputs:
            rows.append((one["name"], one["read"], one["effect"], f"{_changes(one['at_low'])} / {_changes(one['at_high'])}"))
        widths = [max(len(row[at]) for row in rows) for at in range(3)]
        return "\n".join("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[3]]) for row in rows)


def _changes(end: Mapping[str, Any]) -> str:
    if end["class"] != "ok":
        return str(end["class"])
    shown = [
        f"{one['output']} {'differs' if one['relative'] is None else format(one['relative'], '+.3%')}" for one in end["changes"][:3]
    ]
    more = len(end["changes"]) - len(shown)
    return ", ".join(shown + [f"{more} more"] * (more > 0)) or "same"


def probe(study: "StudyDescription", transport: "Transport", corners: bool) -> Probe:
    """Executes the probe of a study at a coordinator and waits for it. Raises StudyError, SimbatchError."""
    arguments = ["probe", "-", "--endpoint", transport.endpoint, "--output", "json", *(["--corners"] if corners else [])]
    ended = simbatch(arguments, text=json.dumps(study.submission()), env=transport.variables)
    if ended.returncode == _INVALID:
        lines = [line.strip() for line in ended.stderr.strip().splitlines()]
        raise study_error([Fault("", line, "study") for line in lines if line])
    if ended.returncode not in (0, _WITHOUT_EFFECT):
        raise SimbatchError(f"the study was not probed: {ended.stderr.strip()}")
    found: Dict[str, Any] = json.loads(ended.stdout)
    return Probe(found["batch_id"], found["nominal"], tuple(found["inputs"]), found.get("corners"))
