"""A model of about 5 ms: imports numpy and scipy.optimize, as many simulations do, and solves a small system."""
import numpy as np
from scipy.optimize import brentq


def solve(mass: float, wind: float) -> float:
    """Returns the miss distance of a point mass in m: a root of a polynomial of some matrix norms."""
    grid = np.linspace(0.0, 1.0, 400)
    total = 0.0
    for step in range(120):
        field = np.sin(grid * mass + step) * np.exp(-wind * grid)
        total += brentq(lambda x: x**3 + x - float(field.mean()) - 0.1 * step, -10.0, 10.0)
    return total


def main() -> None:
    """One run as a process: parameters from the file that the runner names, the output to the file that it names."""
    import json
    import os

    with open(os.environ["SVC_RUN_CONFIG"], encoding="utf-8") as file:
        parameters = json.load(file)["parameters"]
    miss = solve(parameters["mass"], parameters["wind"])
    with open(os.path.join(os.environ["SVC_OUTPUT_DIR"], "metadata.json"), "w", encoding="utf-8") as file:
        json.dump({"miss_m": miss}, file)


if __name__ == "__main__":
    main()
