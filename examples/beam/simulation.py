"""One run of the beam study under simbatch, on Python's standard library alone: a cantilever with a load at its end. The stress at
its root and the deflection of its end have closed forms, so that the probability of failure is known; see README.md."""

import json
import os
import sys
from pathlib import Path

LENGTH_M = 2.0
SECTION_MODULUS_M3 = 1e-4
SECOND_MOMENT_M4 = 5e-6
PA_PER_MPA = 1e6


class BadConfiguration(Exception):
    """The environment or the run configuration lacks a value that a run needs."""


def read_parameters():
    """The sampled parameters of the run."""
    path = os.environ.get("SVC_RUN_CONFIG")
    if not path:
        raise BadConfiguration("SVC_RUN_CONFIG is not set: it names the JSON file with the run configuration")
    parameters = json.loads(Path(path).read_text(encoding="utf-8"))["parameters"]
    for name in ("load_n", "yield_mpa", "modulus_gpa"):
        if not isinstance(parameters.get(name), (int, float)):
            raise BadConfiguration(f"{path}: parameter {name} is missing or is not a number")
    return parameters


def simulate(parameters):
    """The outputs of one run. The beam yields where `margin_mpa` is negative."""
    load = parameters["load_n"]
    stress = load * LENGTH_M / SECTION_MODULUS_M3 / PA_PER_MPA
    deflection = load * LENGTH_M**3 / (3 * parameters["modulus_gpa"] * 1e9 * SECOND_MOMENT_M4)
    return {
        "stress_mpa": stress,
        "margin_mpa": parameters["yield_mpa"] - stress,
        "deflection_mm": 1e3 * deflection,
    }


def main():
    directory = os.environ.get("SVC_OUTPUT_DIR")
    if not directory:
        raise BadConfiguration("SVC_OUTPUT_DIR is not set: it names the directory for the results")
    outputs = simulate(read_parameters())
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    # Written beside and renamed: an early reader finds no file or a complete one.
    part = folder / "metadata.json.part"
    part.write_text(json.dumps(outputs) + "\n", encoding="utf-8")
    part.replace(folder / "metadata.json")


if __name__ == "__main__":
    try:
        main()
    except (BadConfiguration, OSError, ValueError) as error:
        print(f"beam: {error}", file=sys.stderr)
        sys.exit(2)
