"""Prints the seconds that HyperQueue takes for tasks that do nothing: python hyperqueue_rate.py SLOTS TASKS PROGRAM."""

import glob
import os
import sys
import tempfile
import time

from hyperqueue import Job
from hyperqueue.cluster import LocalCluster, WorkerConfig

slots, tasks, program = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with LocalCluster() as cluster:
        cluster.start_worker(WorkerConfig(cores=slots))
        client = cluster.client()
        for count in (50, tasks):
            job = Job()
            for _ in range(count):
                job.program([program])
            since = time.time()
            client.wait_for_jobs([client.submit(job)])
        # The client asks once a second; each task creates its output file when it starts.
        last = max(os.stat(it).st_ctime for it in glob.glob("**/*.stdout", recursive=True))
        print("seconds", last - since)
    os.chdir("/")
