#!/bin/sh
# A simulation for a container with nothing but a shell: behaves as the variable SIM_MODE of its study says.
set -e
echo "the output of run $(grep -o '"run_id": *[0-9]*' "$SVC_RUN_CONFIG" | grep -o '[0-9]*$')"
case "$SIM_MODE" in
  exit) echo "trim solution not found" >&2; exit 3 ;;
  # Its end takes a moment: podman ends itself by a signal that it cannot pass on any more.
  patient) trap 'stopped=1' TERM; echo ready > "$SVC_OUTPUT_DIR/ready"; while [ -z "$stopped" ]; do sleep 1 || true; done; sleep 2 ;;
  hang) (sleep 600 & sleep 600) & sleep 600 ;;
  environment) env | sed 's/=.*//' | sort > "$SVC_OUTPUT_DIR/names"; pwd > "$SVC_OUTPUT_DIR/cwd" ;;
esac
echo "{\"miss_m\": 1.5, \"mode\": \"$SIM_MODE\"}" > "$SVC_OUTPUT_DIR/metadata.json"
