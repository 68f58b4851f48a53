"""A Cessna 172 without engine in JSBSim: a glide from its dispersed state, in turbulence, to the ground or to a stall."""

import math
import os

import jsbsim

DT_S = 1 / 60
TELEMETRY_STEPS = 12
KNOTS = 0.514444
FEET = 0.3048


def glide(p, run):
    """Parameters: height_m above the ground, speed_kt, target_kt, headwind_mps, turbulence_mps, fuel_kg, reaction_s."""
    jsbsim.FGJSBBase().debug_lvl = 0
    fdm = jsbsim.FGFDMExec(None)
    fdm.set_debug_level(0)
    fdm.load_model("c172x")
    # Its table of every step; the telemetry below is enough.
    fdm.set_output_filename(0, os.devnull)
    fdm.set_dt(DT_S)
    fdm["ic/h-agl-ft"] = p["height_m"] / FEET
    fdm["ic/vc-kts"] = p["speed_kt"]
    fdm["ic/gamma-deg"] = -2
    fdm["ic/psi-true-deg"] = 0
    for tank in (0, 1):
        fdm[f"propulsion/tank[{tank}]/contents-lbs"] = p["fuel_kg"] / 2 / 0.45359237
    fdm["atmosphere/turb-type"] = 3
    fdm["atmosphere/turbulence/milspec/windspeed_at_20ft_AGL-fps"] = p["turbulence_mps"] / FEET
    fdm["atmosphere/turbulence/milspec/severity"] = 3
    fdm["simulation/randomseed"] = run.random_seed % 2**31
    fdm.run_ic()
    # After the initial conditions, which reset it. Against the flight, towards the south: a negative component to the north.
    fdm["atmosphere/wind-north-fps"] = -p["headwind_mps"] / FEET

    step, slowest, hardest = 0, math.inf, 0.0
    while fdm["position/h-agl-ft"] > 4.5 and fdm.get_sim_time() < 1800:
        time_s, speed_kt, load = fdm.get_sim_time(), fdm["velocities/vc-kts"], fdm["accelerations/Nz"]
        # The pilot holds the attitude until the reaction time is over, then flies for the target speed.
        error_kt = speed_kt - (p["target_kt"] if time_s > p["reaction_s"] else p["speed_kt"])
        pitch = math.radians(-1.5) + 0.006 * error_kt
        up = 3.0 * (pitch - fdm["attitude/theta-rad"]) - 1.2 * fdm["velocities/q-rad_sec"]
        fdm["fcs/elevator-cmd-norm"] = max(-1.0, min(1.0, -up))
        # North is the way to the field.
        bank = max(-0.3, min(0.3, -0.8 * math.remainder(fdm["attitude/psi-rad"], 2 * math.pi)))
        roll = 1.5 * (bank - fdm["attitude/phi-rad"]) - 0.5 * fdm["velocities/p-rad_sec"]
        fdm["fcs/aileron-cmd-norm"] = max(-1.0, min(1.0, roll))
        slowest, hardest = min(slowest, speed_kt), max(hardest, load)
        if step % TELEMETRY_STEPS == 0:
            run.telemetry(t=time_s, height_m=fdm["position/h-agl-ft"] * FEET, speed_kt=speed_kt, load_factor=load)
        if not fdm.run():
            break
        step += 1
    return {
        "distance_m": fdm["position/distance-from-start-lat-mt"],
        "time_s": fdm.get_sim_time(),
        "sink_mps": -fdm["velocities/h-dot-fps"] * FEET,
        "slowest_kt": slowest,
        "max_load_factor": hardest,
    }
