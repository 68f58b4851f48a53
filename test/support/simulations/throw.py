# A throw without drag, as in throw.mjs, sent with the Python client.
import os

import simbatch

run = simbatch.run()
speed, gravity = 40.0, 9.80665
mode = os.environ.get("SIM_THROW", "plain")
step, z = 0, 0.0
while z >= 0:
    t = step / 100
    z = speed * t - gravity / 2 * t * t
    run.telemetry(z=z, vz=speed - gravity * t, t=t)
    step += 1
run.result(landed=True, **({"apogee": 1} if mode == "twice" else {}))
if mode == "given":
    run.history("own", [1, float("nan"), 3])
if mode == "short":
    run.history("own", [1, None])
