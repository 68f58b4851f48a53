#!/usr/bin/env node
// A stand-in for apptainer: `exec` executes the command on this machine with the variables meant for the container.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { constants } from 'node:os';

const print = (text) => process.stdout.write(`${text}\n`);
const [, , command, ...rest] = process.argv;
const WITH_VALUE = ['--bind', '--pwd'];

if (command === '--version') print('apptainer version 1.3.4');
else if (command === 'pull') {
  if (!rest.at(-1).includes('remote')) {
    process.stderr.write('FATAL:   While making image from oci registry: no such image\n');
    process.exit(255);
  }
  writeFileSync(rest.at(-2), 'an image');
} else {
  let at = 0;
  while (rest[at].startsWith('--')) at += WITH_VALUE.includes(rest[at]) ? 2 : 1;
  const [, program, ...args] = rest.slice(at);
  const inside = Object.entries(process.env).flatMap(([name, value]) =>
    name.startsWith('APPTAINERENV_') ? [[name.slice('APPTAINERENV_'.length), value]] : [],
  );
  const env = { PATH: process.env['PATH'], ...Object.fromEntries(inside) };
  const cwd = rest[rest.indexOf('--pwd') + 1];
  const { status, signal } = spawnSync(program, args, { cwd, env, stdio: ['ignore', 'inherit', 'inherit'] });
  process.exit(signal === null ? status : 128 + constants.signals[signal]);
}
