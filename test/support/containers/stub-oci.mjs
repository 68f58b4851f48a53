#!/usr/bin/env node
// A stand-in for the command lines of podman and docker: a container is a detached process of this machine.
// STUB_DIR holds its containers; images whose name begins with `here` exist, `remote` ones can be pulled.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';

const print = (text) => process.stdout.write(`${text}\n`);
const dir = process.env['STUB_DIR'];
const [, , command = '', ...rest] = process.argv;
appendFileSync(join(dir, 'calls'), `${JSON.stringify(process.argv.slice(2))}\n`);

const fail = (message, code = 125) => {
  process.stderr.write(`Error: ${message}\n`);
  process.exit(code);
};
const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};
const valueOf = (name) => rest[rest.indexOf(name) + 1];

function run() {
  const environment = {};
  let entrypoint = '';
  let at = 0;
  for (; at < rest.length && rest[at].startsWith('--'); at++) {
    if (rest[at] === '--rm') continue;
    const [flag, value] = [rest[at], rest[++at]];
    if (flag === '--env') {
      const [name, ...text] = value.split('=');
      environment[name] = text.length === 0 ? process.env[name] : text.join('=');
    }
    if (flag === '--entrypoint') entrypoint = value;
  }
  const [image, ...args] = rest.slice(at);
  if (!image.startsWith('sha256:')) fail(`${image}: only images named by their id are started`);
  const file = join(dir, `container-${valueOf('--name')}`);
  // Its parent is not this process, as with a daemon.
  const child = spawn(entrypoint, args, {
    cwd: valueOf('--workdir'),
    env: { PATH: process.env['PATH'], ...environment },
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  child.once('error', () => fail(`${entrypoint}: not found`, 127));
  writeFileSync(file, String(child.pid));
  child.once('exit', (code, signal) => {
    rmSync(file, { force: true });
    process.exit(signal === null ? code : 128 + constants.signals[signal]);
  });
}

const COMMANDS = {
  '--version': () => print('stub version 1.2.3'),
  info: () => print(JSON.stringify({ host: { cgroupControllers: [] }, MemoryLimit: true, CpuCfsQuota: false })),
  pull: () => (rest.at(-1).startsWith('remote') ? writeFileSync(join(dir, 'pulled'), '') : fail('no such image')),
  image: () => {
    const name = rest.at(-1);
    if (!name.startsWith('here') && !existsSync(join(dir, 'pulled'))) fail('image not known');
    const id = createHash('sha256').update(name).digest('hex');
    print(JSON.stringify([{ Id: id, RepoDigests: [`example/${name}@sha256:${'d'.repeat(64)}`] }]));
  },
  ps: () => {
    const name = /name=\^(.*)\$/.exec(rest.join(' '))[1];
    const file = join(dir, `container-${name}`);
    if (existsSync(file) && isAlive(Number(readFileSync(file, 'utf8')))) print(name);
  },
  rm: () => {
    const file = readdirSync(dir).find((it) => it === `container-${rest.at(-1)}`);
    if (file === undefined) fail('no such container', 1);
    const pid = Number(readFileSync(join(dir, file), 'utf8'));
    if (isAlive(pid)) process.kill(-pid, 'SIGKILL');
    rmSync(join(dir, file), { force: true });
  },
  run,
};
(COMMANDS[command] ?? (() => fail(`unknown command ${command}`)))();
