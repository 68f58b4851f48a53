"""One run of the sounding-rocket study under simbatch, on Python's standard library alone: reads the run configuration,
flies, writes metadata.json and trajectory.csv. The physics are in rocket.py. simulation.mjs does the same in Node."""

import json
import math
import os
import sys
from pathlib import Path

from rocket import ImpossibleFlight, Rocket, fly

# Parameters of a run, and the closed ranges in which the model is valid.
PARAMETERS = {
    "total_impulse_ns": (1000, 500000),
    "burn_time_s": (0.5, 60),
    "propellant_mass_kg": (0.5, 300),
    "dry_mass_kg": (1, 500),
    "drag_scale": (0, 5),
    "launch_elevation_deg": (60, 90),
    "launch_azimuth_deg": (-360, 720),
    "wind_speed_mps": (0, 40),
    "wind_direction_deg": (-360, 720),
    "turbulence_intensity": (0, 1),
    "temperature_offset_k": (-60, 60),
    "drogue_delay_s": (0, 600),
    "main_altitude_m": (50, 5000),
    "recovery_draw": (0, 1),
    "site_altitude_m": (-400, 5000),
}


class BadConfiguration(Exception):
    """The environment or the run configuration does not say what a run needs."""


def directory_from_environment():
    directory = os.environ.get("SVC_OUTPUT_DIR")
    if not directory:
        raise BadConfiguration("SVC_OUTPUT_DIR is not set: it names the directory for the results")
    return Path(directory)


def read_run_config(path):
    """Answers (parameters, seed of the study or 0, run_id)."""
    if not path:
        raise BadConfiguration("SVC_RUN_CONFIG is not set: it names the JSON file with the run configuration")
    config = json.loads(Path(path).read_text(encoding="utf-8"))
    if not isinstance(config, dict) or not isinstance(config.get("run_id"), int):
        raise BadConfiguration(f"{path}: run_id must be an integer")
    parameters = config.get("parameters")
    for name, (least, most) in PARAMETERS.items():
        value = parameters.get(name) if isinstance(parameters, dict) else None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise BadConfiguration(f"{path}: parameter {name} is missing or is not a number")
        if not least <= value <= most:
            raise BadConfiguration(f"parameter {name} is {value}, must be in [{least}, {most}]")
    return parameters, config.get("metadata", {}).get("seed") or 0, config["run_id"]


class Recorder:
    """Watches the flight: keeps the extremes, the rows of the trajectory, and passes samples to telemetry."""

    def __init__(self, rocket, telemetry):
        self.rocket = rocket
        self.telemetry = telemetry
        self.q = self.mach = self.load = self.speed = 0.0
        self.load_phase = "rail"
        self.rows = ["time_s,phase,east_m,north_m,up_m,speed_mps,mach,dynamic_pressure_pa,load_g"]
        self.next_row = self.next_sample = 0.0

    def __call__(self, phase, t, s, edge):
        _, _, _, q, mach, load = self.rocket.forces(phase, t, s)
        v = speed(s)
        self.q = max(self.q, q)
        self.mach = max(self.mach, mach)
        self.speed = max(self.speed, v)
        if load > self.load:
            self.load, self.load_phase = load, phase
        if edge or t >= self.next_row - 1e-9:
            numbers = ",".join(f"{value:.4f}" for value in (s[0], s[1], s[2], v, mach, q, load))
            self.rows.append(f"{t:.4f},{phase},{numbers}")
            self.next_row = t + (1 if phase in ("drogue", "main") else 0.1)
        if t >= self.next_sample - 1e-9:
            self.telemetry(t=t, altitude_m=s[2], velocity_mps=v, dynamic_pressure_pa=q, mach=mach, load_g=load)
            self.next_sample = max(self.next_sample + 0.05, t)


def speed(s):
    return math.sqrt(s[3] * s[3] + s[4] * s[4] + s[5] * s[5])


def simulate(parameters, seed, run_id, telemetry):
    """One run: parameters in, the outputs of the study and the rows of the trajectory out."""
    rocket = Rocket(parameters, seed, run_id)
    seen = Recorder(rocket, telemetry)
    flight = fly(rocket, seen)
    apogee_time, at_apogee = flight["apogee"]
    landing_time, at_landing = flight["landing"]
    outputs = {
        "apogee_m": at_apogee[2],
        "apogee_time_s": apogee_time,
        "landing_east_m": at_landing[0],
        "landing_north_m": at_landing[1],
        "range_m": math.sqrt(at_landing[0] ** 2 + at_landing[1] ** 2),
        "flight_time_s": landing_time,
        "rail_exit_speed_mps": speed(flight["rail_exit"][1]),
        "burnout_speed_mps": speed(flight["burnout"][1]),
        "max_speed_mps": seen.speed,
        "max_mach": seen.mach,
        "max_dynamic_pressure_pa": seen.q,
        "peak_load_g": seen.load,
        "peak_load_phase": seen.load_phase,
        "impact_speed_mps": speed(at_landing),
        "impact_sink_rate_mps": -at_landing[5],
        "recovery": flight["recovery"],
    }
    return outputs, seen.rows


def open_telemetry():
    """The telemetry of the run where the runner offers it and the client library is at hand; otherwise a no-op."""
    if not os.environ.get("SVC_TELEMETRY_URL"):
        return lambda **_: None
    sys.path.append(str(Path(__file__).resolve().parents[2] / "clients" / "python"))
    try:
        import simbatch
    except ImportError:
        return lambda **_: None
    return simbatch.run().telemetry


def main():
    directory = directory_from_environment()
    parameters, seed, run_id = read_run_config(os.environ.get("SVC_RUN_CONFIG"))
    outputs, rows = simulate(parameters, seed, run_id, open_telemetry())
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "trajectory.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    # Written beside and renamed: an early reader finds no file or a complete one.
    part = directory / "metadata.json.part"
    part.write_text(json.dumps(outputs, indent=2) + "\n", encoding="utf-8")
    part.replace(directory / "metadata.json")
    print(f"apogee {outputs['apogee_m']:.0f} m, landed {outputs['range_m']:.0f} m away ({outputs['recovery']})")


if __name__ == "__main__":
    try:
        main()
    except (BadConfiguration, ImpossibleFlight, OSError, ValueError) as error:
        print(f"sounding-rocket: {error}", file=sys.stderr)
        sys.exit(2)
