"""Finds the program `simbatch` on this machine and runs its commands."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .._variables import environment_with
from ..errors import Fault, ProgramNotFoundError, SimbatchError, study_error

HOME_VARIABLE = "SIMBATCH_HOME"
_SEEKING_S = 30.0


def find_program() -> List[str]:
    """The command line of `simbatch`, without arguments.

    The first of: the checkout or package in SIMBATCH_HOME, `simbatch` in PATH, the checkout that this file is in, and the package
    that `npx` finds without a download. Raises ProgramNotFoundError with the ways to provide it.
    """
    return list(_find(os.environ.get(HOME_VARIABLE), os.environ.get("PATH", "")))


@functools.lru_cache(maxsize=8)
def _find(home: Optional[str], path: str) -> Tuple[str, ...]:
    if home:
        found = _in_checkout(Path(home), path)
        if found is None:
            raise ProgramNotFoundError(
                f"{HOME_VARIABLE} is {home!r}, where there is no dist/bin/simbatch.js, or no node to start it; "
                "run `npm run setup` there, or correct the variable"
            )
        return found
    installed = shutil.which("simbatch", path=path)
    if installed is not None:
        return (installed,)
    parents = Path(__file__).resolve().parents
    near = _in_checkout(parents[4], path) if len(parents) > 4 else None
    if near is not None:
        return near
    npx = shutil.which("npx", path=path)
    if npx is not None and _answers(npx):
        return (npx, "--no-install", "simbatch")
    raise ProgramNotFoundError(
        "the program simbatch is not found; install its file (npm install -g ./simbatch-VERSION.tgz, with Node 20.19 or later), "
        f"or set {HOME_VARIABLE} to a checkout that is built"
    )


def _in_checkout(folder: Path, path: str) -> Optional[Tuple[str, ...]]:
    script, node = folder / "dist" / "bin" / "simbatch.js", shutil.which("node", path=path)
    return (node, str(script)) if node is not None and script.is_file() else None


def _answers(npx: str) -> bool:
    try:
        # Without a download: a package of this name in a public registry might be another one.
        ended = subprocess.run(
            [npx, "--no-install", "simbatch", "--version"],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=_SEEKING_S,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ended.returncode == 0


def simbatch(
    arguments: Sequence[str], *, text: Optional[str] = None, show_errors: bool = False, env: Optional[Mapping[str, str]] = None
) -> "subprocess.CompletedProcess[str]":
    """Runs a command to its end and returns it with its output. `show_errors`: its stderr goes to this process's stderr."""
    return subprocess.run(
        [*find_program(), *arguments],
        input=text if text is not None else "",
        stdout=subprocess.PIPE,
        stderr=_stderr() if show_errors else subprocess.PIPE,
        encoding="utf-8",
        env=None if env is None else environment_with(env),
    )


def _stderr() -> Any:
    try:
        sys.stderr.fileno()
        return sys.stderr
    except (AttributeError, OSError):  # a notebook
        return None


def sample(submission: Mapping[str, Any], first: int, count: int) -> List[Dict[str, Any]]:
    """The parameters of runs `first` to `first + count - 1` of a study. Raises StudyError with the faults of the study."""
    if count <= 0:
        return []
    config = json.loads(json.dumps(submission["config"]))
    selected = "run_ids" if config.get("scenarios") is None and config.get("epistemic") is None else "cell_run_ids"
    config["monte_carlo"].pop("run_ids", None)
    config["monte_carlo"][selected] = str(first) if count == 1 else f"{first}-{first + count - 1}"
    if config["simulation"].pop("code", None) is not None:
        config["simulation"]["name"] = "function"  # the samples do not depend on it
    asked = {"name": submission["name"], "config": config}
    ended = simbatch(["sample", "-", "--format", "ndjson"], text=json.dumps(asked))
    if ended.returncode == 65:
        lines = [line.strip() for line in ended.stderr.strip().splitlines()]
        raise study_error([Fault("", line, "study") for line in lines if line])
    if ended.returncode != 0:
        raise SimbatchError(f"the samples cannot be computed: {ended.stderr.strip()}")
    return [json.loads(line) for line in ended.stdout.splitlines() if line]
