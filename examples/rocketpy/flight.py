"""A sounding rocket in RocketPy (6 degrees of freedom): one flight, from its dispersed parameters to its outputs.

The rocket is RocketPy's own example, Calisto, with a constant thrust and a constant drag coefficient, so that no data file
is needed. Telemetry is sent while RocketPy integrates, from a controller that it calls at a fixed rate.
"""

import math

from rocketpy import Environment, Flight, Rocket, SolidMotor

RATE_HZ = 20
AREA_M2 = math.pi * 0.0635**2


def flight(p, run):
    """Parameters: impulse_ns, burn_s, mass_kg, drag, wind_mps, inclination_deg, delay_s. Lengths in m, speeds in m/s."""
    environment = Environment(latitude=39.0, longitude=-8.3, elevation=110)
    environment.set_atmospheric_model(type="custom_atmosphere", wind_u=p["wind_mps"], wind_v=0)

    motor = SolidMotor(
        thrust_source=p["impulse_ns"] / p["burn_s"], burn_time=p["burn_s"], dry_mass=1.815, dry_inertia=(0.125, 0.125, 0.002),
        nozzle_radius=0.033, grain_number=5, grain_density=1815, grain_outer_radius=0.033, grain_initial_inner_radius=0.015,
        grain_initial_height=0.12, grain_separation=0.005, grains_center_of_mass_position=0.397,
        center_of_dry_mass_position=0.317, throat_radius=0.011,
    )  # fmt: skip
    rocket = Rocket(
        radius=0.0635, mass=p["mass_kg"], inertia=(6.321, 6.321, 0.034), power_off_drag=p["drag"], power_on_drag=p["drag"],
        center_of_mass_without_motor=0,
    )  # fmt: skip
    rocket.add_motor(motor, position=-1.255)
    rocket.set_rail_buttons(upper_button_position=0.0818, lower_button_position=-0.6182, angular_position=45)
    rocket.add_nose(length=0.55829, kind="von karman", position=1.278)
    rocket.add_trapezoidal_fins(n=4, root_chord=0.12, tip_chord=0.06, span=0.11, position=-1.04956)
    rocket.add_tail(top_radius=0.0635, bottom_radius=0.0435, length=0.06, position=-1.194656)
    rocket.add_parachute("drogue", cd_s=1.0, trigger="apogee", sampling_rate=100, lag=p["delay_s"])
    rocket.add_parachute("main", cd_s=10.0, trigger=800.0, sampling_rate=100, lag=0.5)

    highest = 0.0

    def watch(time, sampling_rate, state, state_history, observed_variables, air_brakes):
        nonlocal highest
        height, speed = state[2] - environment.elevation, math.sqrt(sum(value * value for value in state[3:6]))
        pressure = 0.5 * environment.density(state[2]) * speed**2
        highest = max(highest, pressure)
        run.telemetry(t=time, height_m=height, speed_mps=speed, dynamic_pressure_pa=pressure)

    # Air brakes that stay closed: RocketPy's way to call a function at a fixed rate during the flight.
    rocket.add_air_brakes(drag_coefficient_curve=lambda deployment, mach: 0.0, controller_function=watch, sampling_rate=RATE_HZ)

    flown = Flight(rocket, environment, rail_length=5.2, inclination=p["inclination_deg"], heading=0, max_time=600)
    return {
        "apogee_m": float(flown.apogee - environment.elevation),
        "drift_m": float(math.hypot(flown.x_impact, flown.y_impact)),
        "rail_exit_mps": float(flown.out_of_rail_velocity),
        "impact_mps": float(abs(flown.impact_velocity)),
        "max_pressure_pa": float(highest),
    }
