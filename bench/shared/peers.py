"""A function of some milliseconds of processor time as a study of simbatch, and executed by other tools, two at a time.

Usage: peers.py TOOL RUNS STEPS [ISOLATION], or peers.py steps 0 MS for the steps of a function of so many milliseconds. Prints the seconds from the submission to the last result, and CPU seconds, as JSON;
for the tool `study` the submission. Workers are up before the clock starts.
"""

import json
import os
import random
import sys
import time
from pathlib import Path

SLOTS = 2


def function(steps):
    """The function: arithmetic of as many steps as take the wanted time on this machine."""

    def evaluate(p):
        x, total = p["x"], 0.0
        for step in range(steps):
            total += (x * step) % 1.0
        return {"y": total}

    return evaluate


def steps_for(ms):
    """Measured by the fastest of many: other programs slow the machine down."""
    evaluate = function(10_000)
    best = min(timed(evaluate) for _ in range(200))
    return int(10_000 * ms / 1000 / best)


def timed(evaluate):
    since = time.perf_counter()
    evaluate({"x": 0.5})
    return time.perf_counter() - since


def timing(execute):
    before, since = cpu(), time.perf_counter()
    results = execute()
    return {"seconds": time.perf_counter() - since, "cpu": cpu() - before}, len(results)


def nothing(_):
    return os.getpid()


def joblib(evaluate, values):
    from joblib import Parallel, delayed

    with Parallel(n_jobs=SLOTS) as parallel:
        parallel(delayed(nothing)(it) for it in range(SLOTS))
        return timing(lambda: parallel(delayed(evaluate)(it) for it in values))


def dask(evaluate, values):
    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=SLOTS, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        client.gather(client.map(nothing, range(SLOTS)))
        return timing(lambda: client.gather(client.map(evaluate, values, pure=False)))


def cpu():
    """CPU seconds of this process and all below it, by /proc: the workers are not waited for yet."""
    children, ticks = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path("/proc", name, "stat").read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(name))
        ticks[int(name)] = sum(map(int, fields[11:15]))

    def below(pid):
        return ticks.get(pid, 0) + sum(map(below, children.get(pid, ())))

    return below(os.getpid()) / os.sysconf("SC_CLK_TCK")


def study(evaluate, runs, isolation):
    sys.path.insert(0, str(Path(__file__).parents[2] / "clients" / "python"))
    import simbatch as sb

    made = sb.Study("shared", simulation=evaluate, inputs={"x": sb.Uniform(0, 1)}, runs=runs, isolation=isolation)
    print(json.dumps(made.submission()))


def main():
    tool, runs, steps, *more = sys.argv[1:]
    if tool == "steps":
        print(steps_for(float(steps)))
        return
    evaluate = function(int(steps))
    if tool == "study":
        study(evaluate, int(runs), more[0])
        return
    draw = random.Random(42)
    values = [{"x": draw.random()} for _ in range(int(runs))]
    found, results = {"joblib": joblib, "dask": dask}[tool](evaluate, values)
    assert results == int(runs)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
