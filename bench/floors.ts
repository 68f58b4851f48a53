/**
 * The floors below the coordinator: durable writes of this disk, requests of Node's HTTP server with and without Koa, and JSON,
 * each measured by itself with the sizes of a job's life. They are compared with `lifecycle`.
 */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inFolder } from './support/folder.ts';
import { measure, type Measure } from './support/measure.ts';
import { ServerProcess } from './support/server-process.ts';
import { RESULT } from './support/studies.ts';
import { Wire } from './support/wire.ts';

const ROUNDS = 5;
const SYNCS = 300;
/** About the bytes that a group of 64 jobs writes. */
const GROUP_BYTES = 32_768;
const CONNECTIONS = 64;
const REQUESTS = 20_000;
/** About the bytes of the answer to a completion. */
const ANSWER_BYTES = 120;
const JOBS = 64;
const PARSES = 2_000;

const SERVER = fileURLToPath(new URL('support/bare-server.js', import.meta.url));
const ID = '01a20176-7475-8bcd-9159-e89900000000';
const completion = { job_id: ID, attempt: 1, type: 'complete', result: RESULT };

/** Writes of a group with fdatasync, one after the other, per second. */
function syncsPerSec(folder: string): number {
  const file = openSync(join(folder, 'log'), 'w');
  const bytes = Buffer.alloc(GROUP_BYTES, 'x');
  const since = performance.now();
  for (let at = 0; at < SYNCS; at += 1) {
    writeSync(file, bytes);
    fdatasyncSync(file);
  }
  const secs = (performance.now() - since) / 1000;
  closeSync(file);
  return SYNCS / secs;
}

/** Requests a second from 64 connections, and CPU of the server a request in microseconds. */
async function requests(kind: 'http' | 'koa'): Promise<{ perSec: number[]; cpuUs: number[] }> {
  const server = await ServerProcess.spawn([SERVER, kind, String(ANSWER_BYTES)]);
  const wires = await Promise.all(Array.from({ length: CONNECTIONS }, () => Wire.open(server.port)));
  const body = JSON.stringify({ runner_id: 'r1', attempt: 1, result: RESULT });
  const found = { perSec: [] as number[], cpuUs: [] as number[] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    const [cpuBefore, since] = [server.cpuSecs(), performance.now()];
    let left = REQUESTS;
    await Promise.all(
      wires.map(async (wire) => {
        while ((left -= 1) >= 0) await wire.request('POST', `/jobs/${ID}/complete`, body);
      }),
    );
    // The first round warms up.
    if (round === 0) continue;
    found.perSec.push((REQUESTS * 1000) / (performance.now() - since));
    found.cpuUs.push(((server.cpuSecs() - cpuBefore) * 1e6) / REQUESTS);
  }
  for (const it of wires) it.close();
  await server.stop();
  return found;
}

/** Microseconds a job: `JSON.parse` of 64 completions in one request, and `JSON.stringify` of as many results. */
function jsonUs(): { parse: number; write: number } {
  const value = { instance: ID, reports: Array.from({ length: JOBS }, () => completion) };
  const text = JSON.stringify(value);
  const timed = (operation: () => unknown): number => {
    for (let at = 0; at < PARSES / 4; at += 1) operation();
    const since = performance.now();
    for (let at = 0; at < PARSES; at += 1) operation();
    return ((performance.now() - since) * 1000) / (PARSES * JOBS);
  };
  return { parse: timed(() => JSON.parse(text)), write: timed(() => JSON.stringify(value)) };
}

export async function run(): Promise<Measure[]> {
  const rounds = Array.from({ length: ROUNDS });
  const syncs = await inFolder(async (folder) => rounds.map(() => syncsPerSec(folder)));
  const [bare, koa] = [await requests('http'), await requests('koa')];
  const json = rounds.map(jsonUs);
  return [
    measure(`writes of ${String(GROUP_BYTES / 1024)} KiB with fdatasync`, '/s', syncs),
    measure("requests of Node's HTTP server, 64 connections", '/s', bare.perSec),
    measure("CPU a request, Node's HTTP server", 'us', bare.cpuUs),
    measure('requests with Koa, router and koa-body', '/s', koa.perSec),
    measure('CPU a request with Koa, router and koa-body', 'us', koa.cpuUs),
    measure(
      'JSON.parse of a completion among 64',
      'us a job',
      json.map((it) => it.parse),
    ),
    measure(
      'JSON.stringify of the same',
      'us a job',
      json.map((it) => it.write),
    ),
  ];
}
