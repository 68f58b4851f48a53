"""The study of the glide: is the field 8 km ahead reached? `python study.py`, or the notebook beside this file."""

import simbatch as sb
from glide import glide


def study(runs=256):
    """The study with so many runs of its design."""
    return sb.Study(
        "glide",
        simulation=glide,
        runs=runs,
        method="sobol",
        seed=172,
        inputs={
            "height_m": sb.Normal(800, 30, units="m"),
            "speed_kt": sb.Normal(80, 5, lower=60, upper=100, units="kt"),
            "target_kt": sb.Normal(65, 3, units="kt"),
            "headwind_mps": sb.Normal(3, 2, units="m/s"),
            "turbulence_mps": sb.Weibull(2, 3, upper=12, units="m/s"),
            "fuel_kg": sb.Uniform(20, 140, units="kg"),
            "reaction_s": sb.Lognormal(1.5, 0.5, upper=20, units="s"),
        },
        correlations={("headwind_mps", "turbulence_mps"): 0.5},
        requirements=[sb.Requirement("distance_m", "> 8000", probability=0.9, confidence=0.9)],
        outputs={"distance_m": "m", "time_s": "s", "sink_mps": "m/s", "slowest_kt": "kt", "max_load_factor": ""},
        early_termination=sb.EarlyTermination([sb.Rule("speed_kt", "< 44", "stall"), sb.Rule("load_factor", "> 2.2", "limit of the load on board")]),
        telemetry=sb.Telemetry(rate_hz=2),
    )


if __name__ == "__main__":
    batch = study().run().wait()
    for answer in (batch.verdicts(), batch.summary(), batch.why(), batch.sensitivity("distance_m")):
        print(answer, end="\n\n")
    print(batch.worst("distance_m", 1, direction="smallest")[0].replay())
