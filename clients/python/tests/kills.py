"""Searches around an evaluator while their driver, the coordinator and the runner are killed at random times.

`python3 -m tests.kills optuna --kills 20 --seed 1` in the folder of the package: so many SIGKILLs of each of the three during one search.
The points, the final state and the number of executions are compared with those of the search around the plain function.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import simbatch as sb
from simbatch.local.program import find_program

HERE = Path(__file__).resolve()
EXAMPLES = HERE.parents[3] / "examples" / "points"
VICTIMS = ("driver", "coordinator", "runner")
SLOTS = 2


def slow_valley(p):
    """The valley of the examples, with a note of each begin and end."""

    def note(word):
        with open(os.path.join(os.environ["SIM_NOTES"], "notes"), "a") as file:
            file.write(f"{word} {p['x'].hex()} {p['y'].hex()}\n")

    note("begin")
    time.sleep(float(os.environ["SIM_SLEEP_S"]))
    made = {"height": (1 - p["x"]) ** 2 + 100 * (p["y"] - p["x"] ** 2) ** 2}
    note("end")
    return made


def hexed(value):
    """The value with every number to the bit."""
    if isinstance(value, (list, tuple)):
        return [hexed(item) for item in value]
    if hasattr(value, "tolist"):
        return hexed(value.tolist())
    return value.hex() if isinstance(value, float) else value


def optuna(f, size):
    """All trials: parameters, value, state."""
    found = importlib.import_module("optuna_search").search(f, trials=4 * size)
    return [[one.params["x"], one.params["y"], one.value, one.state.name] for one in found.trials]


def scipy(f, size):
    """The population and its energies."""
    found = importlib.import_module("scipy_search").search(f, generations=max(1, size // 2 - 1), members=4)
    return [found.x, found.fun, found.population, found.population_energies]


def emcee(f, size):
    """The chain, its probabilities, the state of the random numbers."""
    found = importlib.import_module("emcee_chain").chain(f, steps=size)
    return [found.get_chain(), found.get_log_prob(), [list(part) if hasattr(part, "tolist") else part for part in found.random_state]]


def needs_scipy():
    """Skips a test where SciPy is older than the examples need it; older Pythons have no newer one."""
    import pytest

    from .conftest import package

    if tuple(map(int, package("scipy").__version__.split(".")[:2])) < (1, 16):
        pytest.skip("SciPy 1.16 is needed")


SEARCHES = {"optuna": optuna, "scipy": scipy, "emcee": emcee}


class Noted:
    """An evaluator, or the plain function, that keeps the points it is asked for."""

    def __init__(self, function):
        self.function, self.points = function, []

    def __call__(self, X):
        points = [[float(value) for value in row] for row in X]
        self.points += points
        return self.function(points)

    def map(self, fun, xs):
        return self(list(xs))[:, 0].tolist()


def state_of(search, function, size):
    """The points in the order in which they were asked for, and the final state."""
    f = Noted(function)
    made = SEARCHES[search](f, size)
    return {"points": hexed(f.points), "state": hexed(made)}


def plain(points):
    """The function without a pool."""
    import numpy
    from valley import valley

    return numpy.array([[valley({"x": x, "y": y})["height"]] for x, y in points])


def drive(search, url, size, environment, target):
    """The driver: a search from its beginning to its end."""
    inputs = {"x": sb.Chosen(-2, 2), "y": sb.Chosen(-1, 3)}
    study = sb.Study("valley", simulation=slow_valley, inputs=inputs, environment=environment, version="1")
    f = sb.connect(url, retry_s=120).evaluator(study, outputs=["height"], failed="raise", progress=False)
    made = state_of(search, f, size)
    made["batch"] = f.batch.id
    part = Path(f"{target}.part")
    part.write_text(json.dumps(made))
    part.replace(target)


def free_port():
    """A port for a server that is started again: outside of the ports that systems give to clients, which could have it in between."""
    while True:
        port = random.SystemRandom().randrange(15_000, 32_000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


class Site:
    """A coordinator, a runner and a driver, each of which can be killed."""

    def __init__(self, folder, search, size, sleep_s):
        self.folder, self.target = folder, folder / "state.json"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        environment = {"SIM_NOTES": str(folder), "SIM_SLEEP_S": str(sleep_s)}
        runner = ["--endpoint", self.url, "--runner-id", "r", "--allow-functions", "--max-concurrent-jobs", str(SLOTS), "--cpu-cores", "0"]
        runner += ["--memory-gb", "0", "--output-root", str(folder / "output"), "--python-executable", sys.executable, "--log-level", "warn"]
        self.commands = {
            "coordinator": [*find_program(), "serve", "--port", str(self.port), "--data-dir", str(folder / "data"), "--log-level", "warn"],
            "runner": [*find_program(), "runner", *runner],
            "driver": [sys.executable, "-m", "tests.kills", search, "--drive", self.url, "--size", str(size)]
            + ["--target", str(self.target), "--environment", json.dumps(environment)],
        }
        self.processes, self.starts = {}, dict.fromkeys(VICTIMS, 0)

    def start(self, name):
        self.starts[name] += 1
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SVC_")}
        environment["PYTHONPATH"] = os.pathsep.join([str(HERE.parents[1]), *filter(None, [environment.get("PYTHONPATH")])])
        with open(self.folder / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen(
                self.commands[name], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=HERE.parents[1], env=environment
            )

    def kill(self, name):
        """Returns whether it was running."""
        process = self.processes[name]
        if process.poll() is not None:
            return False
        process.send_signal(signal.SIGKILL)
        process.wait()
        return True

    def end(self):
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGTERM if process is self.processes.get("runner") else signal.SIGKILL)
        for process in self.processes.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(40)
            if process.poll() is None:
                process.kill()

    def words(self):
        return "\n".join((self.folder / f"{name}.log").read_text(errors="replace")[-2000:] for name in VICTIMS)


def campaign(search, kills, seed, *, size, sleep_s=0.1, pause_s=2.0, patience_s=600.0):
    """One search with so many kills of each part; returns what happened. Raises AssertionError where anything differs."""
    sys.path.insert(0, str(EXAMPLES))
    expected = state_of(search, plain, size)
    dice = random.Random(f"{search}/{seed}")
    left = [victim for victim in VICTIMS for _ in range(kills)]
    dice.shuffle(left)
    done = dict.fromkeys(VICTIMS, 0)
    with tempfile.TemporaryDirectory(prefix="simbatch-kills-") as name:
        site = Site(Path(name), search, size, sleep_s)
        try:
            for part in ("coordinator", "runner", "driver"):
                site.start(part)
            for victim in left:
                time.sleep(dice.uniform(0, pause_s))
                if site.target.exists():
                    break
                done[victim] += site.kill(victim)
                time.sleep(dice.uniform(0, 0.5))
                site.start(victim)
            end = time.monotonic() + patience_s
            while not site.target.exists():
                assert time.monotonic() < end, f"{search}, seed {seed}: the search has not ended\n{site.words()}"
                if site.processes["driver"].poll() not in (None, 0):
                    raise AssertionError(f"{search}, seed {seed}: the driver failed\n{site.words()}")
                time.sleep(0.1)
            found = json.loads(site.target.read_text())
            compare(search, seed, expected, found, site)
            report = executions(search, seed, expected, found, site)
        finally:
            site.end()
    return {"search": search, "seed": seed, "kills": done, **report}


def compare(search, seed, expected, found, site):
    """The points and the final state are equal to the bit."""
    assert found["points"] == json.loads(json.dumps(expected["points"])), f"{search}, seed {seed}: other points"
    assert found["state"] == json.loads(json.dumps(expected["state"])), f"{search}, seed {seed}: another final state"


def executions(search, seed, expected, found, site):
    """Each distinct point has one run, which ended well; it was repeated only where its runner was killed."""
    batch = sb.connect(site.url, retry_s=60).open(found["batch"])
    rows = batch.rows(columns=["run_id", "class", "parameters.x", "parameters.y"])
    runs = [(row["parameters.x"].hex(), row["parameters.y"].hex()) for row in rows]
    distinct = {tuple(point) for point in found["points"]}
    where = f"{search}, seed {seed}"
    assert all(row["class"] == "ok" for row in rows), f"{where}: a run failed"
    assert len(runs) == len(set(runs)) == len(distinct) and set(runs) == distinct, f"{where}: {len(runs)} runs for {len(distinct)} points"
    ends = [line for line in (site.folder / "notes").read_text().splitlines() if line.startswith("end ")]
    repeats = len(ends) - len(distinct)
    most = SLOTS * (site.starts["runner"] - 1)
    assert 0 <= repeats <= most, f"{where}: {len(ends)} executions for {len(distinct)} points"
    return {"points": len(found["points"]), "distinct": len(distinct), "runs": len(runs), "executions": len(ends), "drivers": site.starts["driver"]}


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("search", choices=sorted(SEARCHES))
    asked.add_argument("--kills", type=int, default=20)
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--size", type=int, default=30)
    asked.add_argument("--drive")
    asked.add_argument("--target")
    asked.add_argument("--environment")
    given = asked.parse_args()
    if given.drive:
        sys.path.insert(0, str(EXAMPLES))
        drive(given.search, given.drive, given.size, json.loads(given.environment), given.target)
    else:
        print(json.dumps(campaign(given.search, given.kills, given.seed, size=given.size)))


if __name__ == "__main__":
    main()
