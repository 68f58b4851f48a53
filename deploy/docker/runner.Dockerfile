# The runner in the image of a simulation. In an empty folder, after `simbatch kit --with-node .`:
#   docker build -f runner.Dockerfile --build-arg BASE=rocket:1.4 -t rocket-runner:1.4 .
#   docker run --init -e SIMBATCH_ENDPOINT=... -e SIMBATCH_TOKEN=... rocket-runner:1.4 --entrypoint /app/sim.py
# The build needs no network. BASE has the simulation, a shell and glibc; the kit brings its Node along.
ARG BASE=python:3.12-slim-bookworm
FROM ${BASE}
ADD simbatch-runner-*.tar.gz /opt/
RUN mkdir -p /usr/local/bin /work \
  && ln -s /opt/simbatch-runner-*/simbatch-runner /usr/local/bin/simbatch-runner \
  && chown 10001:10001 /work
USER 10001:10001
WORKDIR /work
ENTRYPOINT ["simbatch-runner"]
