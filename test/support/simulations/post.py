# The same as post.mjs, with the Python client.
import sys

import simbatch

run = simbatch.run()
parent = run.parent
telemetry = (parent.directory / "telemetry.parquet").read_bytes()
run.result(
    run=parent.result["run_id"],
    landed=parent.outputs["landed"],
    files=" ".join(sorted(path.name for path in parent.directory.iterdir())),
    bytes=len(telemetry),
    magic=telemetry[:4].decode("latin-1"),
)
(parent.directory / "telemetry.parquet").write_text("changed")
(parent.directory / "added.txt").write_text("more")
(run.output_dir / "plot.txt").write_text("a plot")
if run.run_id == 1:
    print("no peak in this one", file=sys.stderr)
    sys.exit(3)
