// Loaded by `node --require` before a simulation: waits for the order of a run, then lets Node load the entrypoint.
//
// The order is one JSON line on descriptor 3: `env` (the variables of the run contract) and `cgroup` (a directory or null).
// The end of the descriptor without an order is the end of the runner. What Node does afterwards is what it does without
// this file, so main module, arguments, exit code and uncaught errors are the same.
'use strict';
const {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  writeFileSync,
  writeSync,
} = require('node:fs');
const { isMainThread } = require('node:worker_threads');

const CHANNEL = 3;
const RESERVED = 'SVC_OUTPUT_DIR=';

function readLine() {
  const pieces = [];
  const piece = Buffer.alloc(1 << 16);
  for (;;) {
    let length;
    try {
      length = readSync(CHANNEL, piece, 0, piece.length, null);
    } catch (error) {
      if (error.code !== 'EAGAIN' && error.code !== 'EINTR') process.exit(0);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
      continue;
    }
    if (length === 0) process.exit(0);
    pieces.push(Buffer.from(piece.subarray(0, length)));
    if (piece[length - 1] === 10) return Buffer.concat(pieces).toString();
  }
}

/**
 * Puts the output directory into the room that the environment block has for it, where the runner finds the processes of a
 * run (Linux; see proc(5), field `env_start`). Does nothing where there is no /proc.
 */
function mark(directory) {
  try {
    const block = readFileSync('/proc/self/environ', 'latin1');
    const at = block.startsWith(RESERVED) ? 0 : block.indexOf(`\0${RESERVED}`) + 1;
    const end = block.indexOf('\0', at);
    const value = Buffer.from(directory);
    const room = end - at - RESERVED.length;
    if (!block.startsWith(RESERVED, at) || value.length > room) return;
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const start = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[47]);
    const memory = openSync('/proc/self/mem', 'r+');
    const padded = Buffer.concat([value, Buffer.alloc(room - value.length)]);
    writeSync(memory, padded, 0, room, start + at + RESERVED.length);
    closeSync(memory);
  } catch {
    // The cgroup and the process group remain.
  }
}

/** Closes the descriptors that the runner put in place of its own. */
function closePlaceholders() {
  let names = [];
  try {
    names = readdirSync('/proc/self/fd');
  } catch {
    // The standard streams stay open, and lead to /dev/null.
  }
  for (const name of names) {
    try {
      if (Number(name) > CHANNEL && readlinkSync(`/proc/self/fd/${name}`) === '/dev/null') closeSync(Number(name));
    } catch {
      // The descriptor of the listing is closed by now.
    }
  }
}

function wait() {
  delete process.env.SVC_OUTPUT_DIR;
  closePlaceholders();
  // A cluster sends SIGTERM to every process of an allocation; the runner ends this one. The run gets the signal as any program does.
  const survive = () => {};
  process.on('SIGTERM', survive);
  const { env, cgroup } = JSON.parse(readLine());
  process.off('SIGTERM', survive);
  mark(env.SVC_OUTPUT_DIR);
  if (cgroup !== null) {
    try {
      writeFileSync(`${cgroup}/cgroup.procs`, '0');
    } catch (error) {
      writeSync(CHANNEL, `${error.message}\n`);
    }
  }
  closeSync(CHANNEL);
  Object.assign(process.env, env);
  // Processes and workers that the simulation starts do not wait.
  process.execArgv.length = 0;
  delete require.cache[__filename];
}

if (isMainThread) wait();
