"""The study of the sounding rocket: does it come down within 1500 m? `python study.py`, or the notebook beside this file."""

import simbatch as sb
from flight import flight


def study(runs=256):
    """The study with so many runs of its design."""
    return sb.Study(
        "calisto",
        simulation=flight,
        runs=runs,
        method="sobol",
        seed=2026,
        inputs={
            "impulse_ns": sb.Normal(6000, 60, units="N s"),
            "burn_s": sb.Normal(3.9, 0.05, units="s"),
            "mass_kg": sb.Normal(14.426, 0.1, units="kg"),
            "drag": sb.Normal(0.5, 0.03, lower=0.4, upper=0.6),
            "wind_mps": sb.Weibull(2, 5, upper=15, units="m/s"),
            "inclination_deg": sb.Normal(84, 0.5, units="deg"),
            "delay_s": sb.Triangular(0.5, 1.5, 4, units="s"),
        },
        requirements=[sb.Requirement("drift_m", "< 1500", probability=0.9, confidence=0.9)],
        outputs={"apogee_m": "m", "drift_m": "m", "rail_exit_mps": "m/s", "impact_mps": "m/s", "max_pressure_pa": "Pa"},
        early_termination=sb.EarlyTermination([sb.Rule("dynamic_pressure_pa", "> 46000", "structural limit of the fins")]),
        telemetry=sb.Telemetry(rate_hz=10),
    )


if __name__ == "__main__":
    batch = study().run().wait()
    for answer in (batch.verdicts(), batch.summary(), batch.why(), batch.sensitivity("drift_m")):
        print(answer, end="\n\n")
    print(batch.worst("drift_m", 1)[0].replay())
