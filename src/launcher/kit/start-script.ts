/** The start script of the runner kit: finds Node, checks its version, and becomes the runner. */

/** The oldest Node that executes the runner, as in package.json's `engines`. */
export const OLDEST_NODE = '20.19';

const [OLDEST_MAJOR = '', OLDEST_MINOR = ''] = OLDEST_NODE.split('.');

export const START_SCRIPT = `#!/bin/sh
# Starts the runner of this kit with, in this order: the node beside this file, $SIMBATCH_NODE, the node in PATH.
self=$0
while [ -h "$self" ]; do
  link=$(readlink "$self")
  case $link in
    /*) self=$link ;;
    *) self=$(dirname -- "$self")/$link ;;
  esac
done
kit=$(CDPATH= cd -- "$(dirname -- "$self")" && pwd -P) || exit 78
refuse() {
  echo "simbatch-runner: the runner cannot be started: $1; install Node ${OLDEST_NODE} or newer, name one in SIMBATCH_NODE, or use a kit that brings Node (--with-node)" >&2
  exit 78
}
if [ -f "$kit/node" ]; then
  node=$kit/node
elif [ -n "\${SIMBATCH_NODE:-}" ]; then
  node=$SIMBATCH_NODE
else
  node=$(command -v node) || refuse "node is not in PATH"
fi
version=$("$node" --version 2>&1) || refuse "$node does not start ($version)"
major=\${version#v}
major=\${major%%.*}
minor=\${version#v*.}
minor=\${minor%%.*}
case $major$minor in
  '' | *[!0-9]*) refuse "$node says it is version $version" ;;
esac
if [ "$major" -lt ${OLDEST_MAJOR} ] || { [ "$major" -eq ${OLDEST_MAJOR} ] && [ "$minor" -lt ${OLDEST_MINOR} ]; }; then
  refuse "$node is version $version"
fi
exec "$node" "$kit/runner.mjs" "$@"
`;
