"""What a simulation needs to run under simbatch, in three lines:

    import simbatch
    run = simbatch.run()
    run.result(range_m=simulate(run.parameters["speed_mps"], run.parameters["angle_deg"]))

and, where wanted, ``run.telemetry(t=seconds, altitude_m=1234.5)`` while it computes.
"""

from ._run import Parameters, Run, RunConfigError, run

__all__ = ["Parameters", "Run", "RunConfigError", "run"]
__version__ = "0.1.0"
