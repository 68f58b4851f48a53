"""The flight of a sounding rocket: 3-D point mass, RK4, from the launch rail to the ground. Physics only: nothing here
reads a file or knows of simbatch. rocket.mjs is the same model in JavaScript; both must give the same numbers."""

import hashlib
import math

GRAVITY = 9.80665  # m/s2
GAS_CONSTANT = 287.05287  # J/(kg K), dry air
BODY_AREA = (math.pi / 4) * 0.16**2  # m2, a body of 160 mm
RAIL_LENGTH = 8.0  # m
DROGUE_CDA, DROGUE_INFLATION = 1.1, 0.4  # m2, s
MAIN_CDA, MAIN_INFLATION = 17.0, 1.2
GUST_SPACING, GUST_NODES, GUST_LENGTH = 25.0, 601, 120.0  # m, count, m (correlation length)
LATE_MAIN_ALTITUDE = 120.0  # m above ground
# Drag coefficient over Mach number, to be read with linear interpolation.
DRAG_CURVE = (
    (0.0, 0.46),
    (0.6, 0.44),
    (0.9, 0.5),
    (1.05, 0.68),
    (1.2, 0.66),
    (1.6, 0.56),
    (2.0, 0.5),
    (3.0, 0.42),
)


class ImpossibleFlight(Exception):
    """The parameters describe a flight that cannot happen."""


def gaussians(seed, run_id):
    """Standard normal numbers that depend on the study's seed and the run alone: a retry meets the same gusts."""
    mask = 0xFFFFFFFF
    state = int.from_bytes(hashlib.sha256(f"{seed}/{run_id}".encode()).digest()[:4], "big")

    def uniform():  # mulberry32
        nonlocal state
        state = (state + 0x6D2B79F5) & mask
        z = ((state ^ (state >> 15)) * (state | 1)) & mask
        z = (z ^ (z + (((z ^ (z >> 7)) * (z | 61)) & mask))) & mask
        return (z ^ (z >> 14)) / 4294967296

    while True:  # Box-Muller
        radius = math.sqrt(-2 * math.log(1 - uniform()))
        yield radius * math.cos(2 * math.pi * uniform())


def wind_profile(p, gaussian):
    """Wind (east, north) in m/s at each node of height: power law, jet, veer, and gusts correlated over height."""
    keep = math.exp(-GUST_SPACING / GUST_LENGTH)
    fresh = math.sqrt(1 - keep * keep)
    along, across = next(gaussian), next(gaussian)
    profile = []
    for i in range(GUST_NODES):
        height = i * GUST_SPACING
        mean = p["wind_speed_mps"] * (min(max(height, 2), 1000) / 10) ** 0.14
        mean *= 1 + (0.12 * min(max(height - 1000, 0), 11000)) / 1000
        sigma = p["turbulence_intensity"] * mean * math.exp(-height / 2000)
        source = math.radians(p["wind_direction_deg"] + (8 * min(height, 12000)) / 1000)
        u, v = mean + sigma * along, sigma * across
        along = keep * along + fresh * next(gaussian)
        across = keep * across + fresh * next(gaussian)
        profile.append((-u * math.sin(source) + v * math.cos(source), -u * math.cos(source) - v * math.sin(source)))
    return profile


def interpolate(curve, x):
    for (x0, y0), (x1, y1) in zip(curve, curve[1:]):
        if x < x1:
            return y0 + ((y1 - y0) * (x - x0)) / (x1 - x0)
    return curve[-1][1]


def atmosphere(height_asl, offset):
    """Density in kg/m3 and speed of sound in m/s, ISA with a temperature offset at unchanged pressure."""
    if height_asl < 11000:
        standard = 288.15 - 0.0065 * height_asl
        pressure = 101325 * (standard / 288.15) ** 5.255877
    else:
        standard = 216.65
        pressure = 22632.06 * math.exp((-GRAVITY * (height_asl - 11000)) / (GAS_CONSTANT * 216.65))
    temperature = standard + offset
    return pressure / (GAS_CONSTANT * temperature), math.sqrt(1.4 * GAS_CONSTANT * temperature)


class Rocket:
    """The rocket, the air around it, and its parachutes: everything the equation of motion needs."""

    def __init__(self, p, seed, run_id):
        """p: the run's parameters; seed and run_id decide the gusts."""
        self.p = p
        self.wind = wind_profile(p, gaussians(seed, run_id))
        self.thrust = p["total_impulse_ns"] / p["burn_time_s"]
        self.mass_flow = p["propellant_mass_kg"] / p["burn_time_s"]
        elevation = math.radians(p["launch_elevation_deg"])
        azimuth = math.radians(p["launch_azimuth_deg"])
        self.rail = (
            math.cos(elevation) * math.sin(azimuth),
            math.cos(elevation) * math.cos(azimuth),
            math.sin(elevation),
        )
        self.drogue_at = math.inf
        self.main_at = math.inf

    def canopy(self, t):
        """Drag area of the open canopies in m2; a canopy grows linearly while it fills."""
        cda = 0.0
        if t > self.drogue_at:
            cda += DROGUE_CDA * min((t - self.drogue_at) / DROGUE_INFLATION, 1)
        if t > self.main_at:
            cda += MAIN_CDA * min((t - self.main_at) / MAIN_INFLATION, 1)
        return cda

    def forces(self, phase, t, s):
        """(ax, ay, az, dynamic pressure, Mach, load in g) at time t of state s = (east, north, up, ve, vn, vu)."""
        p = self.p
        x = min(max(s[2] / GUST_SPACING, 0), GUST_NODES - 1.000001)
        i = int(x)
        w0, w1 = self.wind[i], self.wind[i + 1]
        ue = s[3] - (w0[0] + (w1[0] - w0[0]) * (x - i))
        un = s[4] - (w0[1] + (w1[1] - w0[1]) * (x - i))
        uu = s[5]
        airspeed = math.sqrt(ue * ue + un * un + uu * uu)
        density, sound = atmosphere(s[2] + p["site_altitude_m"], p["temperature_offset_k"])
        mach = airspeed / sound
        q = 0.5 * density * airspeed * airspeed
        burnt = min(t, p["burn_time_s"]) * self.mass_flow
        mass = p["dry_mass_kg"] + p["propellant_mass_kg"] - burnt
        drag = q * (BODY_AREA * p["drag_scale"] * interpolate(DRAG_CURVE, mach) + self.canopy(t))
        # The body points into the air that meets it (no attitude in a point mass); on the rail it cannot turn.
        thrust = self.thrust if phase in ("rail", "boost") else 0.0
        along = 1 / airspeed if airspeed > 0 else 0.0
        nose = self.rail if phase == "rail" else (ue * along, un * along, uu * along)
        ae = (thrust * nose[0] - drag * ue * along) / mass
        an = (thrust * nose[1] - drag * un * along) / mass
        au = (thrust * nose[2] - drag * uu * along) / mass
        load = math.sqrt(ae * ae + an * an + au * au) / GRAVITY
        if phase != "rail":
            return ae, an, au - GRAVITY, q, mach, load
        on_rail = max(ae * nose[0] + an * nose[1] + (au - GRAVITY) * nose[2], 0)
        return on_rail * nose[0], on_rail * nose[1], on_rail * nose[2], q, mach, load

    def step(self, phase, t, s, h):
        """One classical Runge-Kutta step of h seconds."""

        def rate(time, y):
            f = self.forces(phase, time, y)
            return y[3], y[4], y[5], f[0], f[1], f[2]

        k1 = rate(t, s)
        k2 = rate(t + h / 2, [y + (h / 2) * k for y, k in zip(s, k1)])
        k3 = rate(t + h / 2, [y + (h / 2) * k for y, k in zip(s, k2)])
        k4 = rate(t + h, [y + h * k for y, k in zip(s, k3)])
        return [y + (h / 6) * (a + 2 * b + 2 * c + d) for y, a, b, c, d in zip(s, k1, k2, k3, k4)]


def run_phase(rocket, phase, start, observe, dt, until=math.inf, event=lambda s: 1.0):
    """Integrates one phase until `until` (s) or until `event(state)` falls to zero, which is located by bisection.
    Answers (time, state, whether the event was met)."""
    t, s = start
    while True:
        h = min(dt, until - t)
        following = rocket.step(phase, t, s, h)
        if event(following) <= 0:
            low, high = 0.0, h
            for _ in range(48):
                middle = (low + high) / 2
                if event(rocket.step(phase, t, s, middle)) <= 0:
                    high = middle
                else:
                    low = middle
            s = rocket.step(phase, t, s, high)
            t += high
            observe(phase, t, s, True)
            return t, s, True
        last = t + h >= until
        t = until if last else t + h
        s = following
        observe(phase, t, s, last)
        if last:
            return t, s, False
        if t > 7200:
            raise ImpossibleFlight(f"the flight does not end: still in phase {phase} after two hours")


def recovery_of(p):
    """What becomes of the recovery: one run in a hundred loses every canopy, two the main one, four open it late.
    Answers (word, drogue delay in s, altitude of the main in m)."""
    if p["recovery_draw"] < 0.01:
        return "ballistic", math.inf, 0.0
    if p["recovery_draw"] < 0.03:
        return "main failed", p["drogue_delay_s"], 0.0
    if p["recovery_draw"] < 0.07:
        return "main late", p["drogue_delay_s"], LATE_MAIN_ALTITUDE
    return "nominal", p["drogue_delay_s"], p["main_altitude_m"]


def fly(rocket, observe):
    """Flies the whole flight; `observe(phase, t, state, edge)` sees every step.
    Answers the moments that the phases alone know, each as (time, state)."""
    recovery, drogue_delay, main_altitude = recovery_of(rocket.p)
    burn_time = rocket.p["burn_time_s"]

    def rail_left(s):
        return RAIL_LENGTH - math.sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2])

    def above(height):
        return lambda s: s[2] - height

    def enter(phase, start, **options):
        t, s, met = run_phase(rocket, phase, start, observe, **options)
        return (t, s), met

    rail_exit, met = enter("rail", (0.0, [0.0] * 6), dt=0.01, until=burn_time, event=rail_left)
    if not met:
        raise ImpossibleFlight(f"the rocket does not leave the rail: {rocket.thrust:.0f} N of thrust are too little")
    burnout, _ = enter("boost", rail_exit, dt=0.01, until=burn_time)
    apogee, _ = enter("coast", burnout, dt=0.02, event=lambda s: s[5])
    now, met = enter("fall", apogee, dt=0.02, until=apogee[0] + drogue_delay, event=above(main_altitude))
    if drogue_delay < math.inf:
        rocket.drogue_at = now[0]
    if not met:
        now, _ = enter("drogue", now, dt=0.1, event=above(main_altitude))
    if main_altitude > 0:
        rocket.main_at = now[0]
        # Finer while the canopy fills: the deceleration is the stiffest part of the flight.
        now, met = enter("main", now, dt=0.02, until=now[0] + MAIN_INFLATION, event=above(0))
        if not met:
            now, _ = enter("main", now, dt=0.1, event=above(0))
    return {"recovery": recovery, "rail_exit": rail_exit, "burnout": burnout, "apogee": apogee, "landing": now}
