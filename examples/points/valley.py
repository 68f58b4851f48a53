"""The simulation of the searches in this folder: Rosenbrock's valley, whose lowest point is (1, 1)."""

import simbatch as sb


def valley(p):
    """The height at a point."""
    return {"height": (1 - p["x"]) ** 2 + 100 * (p["y"] - p["x"] ** 2) ** 2}


study = sb.Study("valley", simulation=valley, inputs={"x": sb.Chosen(-2, 2), "y": sb.Chosen(-1, 3)})
