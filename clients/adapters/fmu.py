import json
import math
import os
import sys

from fmpy import simulate_fmu

HERE = os.path.dirname(os.path.abspath(__file__))

if __name__ == "__main__":
    with open(os.environ["SVC_RUN_CONFIG"], encoding="utf-8") as file:
        parameters = json.load(file)["parameters"]
    unknown = [name for name in parameters if name not in INPUTS]
    if unknown:
        sys.exit(f"the FMU has no start value {', '.join(unknown)}")
    os.chdir(os.environ["SVC_OUTPUT_DIR"])
    # Of each output the value at the end, and its largest and smallest one.
    rows = simulate_fmu(os.path.join(HERE, FMU), start_values=parameters, output=OUTPUTS, stop_time=STOP_TIME)
    outputs = {}
    for name in OUTPUTS:
        values = [float(value) for value in rows[name]]
        outputs[name], outputs[f"{name}_max"], outputs[f"{name}_min"] = values[-1], max(values), min(values)
    with open("metadata.json", "w", encoding="utf-8") as file:
        json.dump({name: value if math.isfinite(value) else None for name, value in outputs.items()}, file)
