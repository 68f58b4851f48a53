# The coordinator, and every other command of simbatch, such as the launcher. From the file of the package, in an empty folder:
#   npm install --prefix app ./simbatch-0.1.0.tgz
#   docker build -f app/node_modules/simbatch/deploy/docker/coordinator.Dockerfile -t simbatch:0.1.0 .
# The build needs no network. BASE has Node 20.19 or newer and the C library of the machine that installed the package.
ARG BASE=node:22-bookworm-slim
FROM ${BASE}
COPY app/node_modules /opt/simbatch/node_modules
RUN mkdir -p /usr/local/bin /data \
  && ln -s /opt/simbatch/node_modules/simbatch/dist/bin/simbatch.js /usr/local/bin/simbatch \
  && chown 10001:10001 /data
USER 10001:10001
ENV SIMBATCH_HOST=0.0.0.0 SIMBATCH_PORT=7070 SIMBATCH_DATA_DIR=/data
VOLUME /data
EXPOSE 7070
ENTRYPOINT ["simbatch"]
CMD ["serve"]
