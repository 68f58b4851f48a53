"""Runs of model.py by other tools, two at a time: prints the seconds from the submission to the last result as JSON.

Usage: peers.py TOOL RUNS. Workers are up before the clock starts, as a cluster is; none has imported the model.
"""

import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
SLOTS = 2


def parameters(runs: int) -> list[dict[str, float]]:
    draw = random.Random(42)
    return [{"mass": draw.gauss(45, 0.4), "wind": draw.gammavariate(4, 1)} for _ in range(runs)]


def solve(values: dict[str, float]) -> float:
    """One run as a function. The import is that of a worker that runs it for the first time."""
    sys.path.insert(0, str(HERE))
    from model import solve as model

    return model(**values)


def nothing(_: int) -> int:
    return os.getpid()


def joblib(values: list[dict[str, float]]) -> tuple[float, int]:
    from joblib import Parallel, delayed

    with Parallel(n_jobs=SLOTS) as parallel:
        parallel(delayed(nothing)(it) for it in range(SLOTS))
        since = time.perf_counter()
        results = parallel(delayed(solve)(it) for it in values)
        return time.perf_counter() - since, len(results)


def dask(values: list[dict[str, float]]) -> tuple[float, int]:
    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=SLOTS, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        client.gather(client.map(nothing, range(SLOTS)))
        since = time.perf_counter()
        results = client.gather(client.map(solve, values, pure=False))
        return time.perf_counter() - since, len(results)


def hyperqueue(values: list[dict[str, float]], *, as_programs: bool) -> tuple[float, int]:
    from hyperqueue import Job, LocalCluster
    from hyperqueue.cluster import WorkerConfig
    from hyperqueue.task.function import PythonEnv

    with tempfile.TemporaryDirectory() as folder, LocalCluster(worker_config=WorkerConfig(cores=SLOTS)) as cluster:
        client = cluster.client(python_env=PythonEnv(python_bin=sys.executable))
        job = Job(default_workdir=folder)
        for run, it in enumerate(values):
            place = Path(folder, str(run))
            place.mkdir()
            if as_programs:
                Path(place, "run_config.json").write_text(json.dumps({"parameters": it}), encoding="utf-8")
                env = {"SVC_RUN_CONFIG": str(place / "run_config.json"), "SVC_OUTPUT_DIR": str(place)}
                job.program([sys.executable, str(HERE / "model.py")], env=env, stdout=None, stderr=None)
            else:
                job.function(function_run, args=(it, str(place / "metadata.json")), stdout=None, stderr=None)
        since = time.perf_counter()
        client.wait_for_jobs([client.submit(job)])
        seconds = time.perf_counter() - since
        return seconds, sum(Path(folder, str(run), "metadata.json").exists() for run in range(len(values)))


def function_run(values: dict[str, float], path: str) -> None:
    """HyperQueue returns no value of a function: it has to be written."""
    Path(path).write_text(json.dumps({"miss_m": solve(values)}), encoding="utf-8")


TOOLS = {
    "joblib": joblib,
    "dask": dask,
    "hyperqueue programs": lambda values: hyperqueue(values, as_programs=True),
    "hyperqueue functions": lambda values: hyperqueue(values, as_programs=False),
}

if __name__ == "__main__":
    tool, runs = sys.argv[1], int(sys.argv[2])
    seconds, results = TOOLS[tool](parameters(runs))
    print(json.dumps({"seconds": seconds, "results": results}))
