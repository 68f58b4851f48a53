"""A run of 10 to 50 ms: the chaotic logistic map, in which the last bit of a parameter changes every output."""
import hashlib
import json
import os
import time


def main() -> None:
    """Leaves files beside its output directory which say that it began and that it ended by itself, as the selftest reads them."""
    output = os.environ["SVC_OUTPUT_DIR"]
    with open(output + ".begun", "w", encoding="utf-8") as file:
        file.write(str(os.getpid()))
    with open(os.environ["SVC_RUN_CONFIG"], encoding="utf-8") as file:
        config = json.load(file)
    parameters = config["parameters"]
    x, total, rows = parameters["start"], 0.0, ["step,x"]
    for step in range(2000):
        x = parameters["growth"] * x * (1 - x)
        total += x * parameters["noise"]
        if step % 20 == 0:
            rows.append(f"{step},{x!r}")
    # It takes no processor for the time in which it can be killed.
    time.sleep((10 + config["run_id"] % 5 * 10) / 1000)
    text = "\n".join(rows) + "\n"
    with open(os.path.join(output, "trajectory.csv"), "w", encoding="utf-8") as file:
        file.write(text)
    outputs = {"last": x, "sum": total, "digest": hashlib.sha256(text.encode()).hexdigest(), "parameters": parameters}
    part = os.path.join(output, "metadata.json.part")
    with open(part, "w", encoding="utf-8") as file:
        json.dump(outputs, file)
    os.rename(part, os.path.join(output, "metadata.json"))
    with open(output + ".done", "w", encoding="utf-8"):
        pass


if __name__ == "__main__":
    main()
