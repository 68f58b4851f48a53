# A simulation that sends telemetry with the Python client: the same values as `table` in measured.mjs.
import os

import simbatch

run = simbatch.run()
count = int(os.environ.get("SAMPLES", "1000"))
odd = [float("nan"), float("inf"), float("-inf"), -0.0]
for i in range(count):
    run.telemetry(third=i / 3, odd=odd[i % 4], timestamp_ns=1_700_000_000_123_456_789 + i * 1_000_003)
run.result(sent=count)
