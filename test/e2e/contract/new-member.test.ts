/** A new stored and shown member of a job is one line: types, record, validation, API, description and live row follow. */
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../../src/base/package.ts';

const run = promisify(execFile);

const TABLE = 'src/contract/members/members.ts';
const LINE = `  exitCode: { type: 'count', optional: true, api: 'exit_code', live: 'exit', description: 'Its exit code.' },\n`;

/** The member in each of its forms. This file alone is compiled; the program is executed as it is. */
const TYPES = `
import type { Job, JobHistoryState, JobRecord, RunRow } from './src/contract/types.ts';
export const types: [JobHistoryState['exitCode'], JobRecord['exitCode'], Job['exit_code'], RunRow['exit']] = [7, 7, 7, 7];
`;

/**
 * A program that uses the member. No transition sets it, so the program writes it into a record: the coordinator then reads it,
 * shows it, and keeps it through the next transition.
 */
const PROGRAM = `
import { WebSocket } from 'ws';
import type { RunRow } from './src/contract/types.ts';
import { types } from './types.ts';
import { encodeJob } from './src/coordinator/kernel/actors/job-codec.ts';
import { recordFaults } from './src/coordinator/snapshots/check.ts';
import { keys } from './src/coordinator/kernel/storage/keys.ts';
import { systemClock } from './src/base/clock.ts';
import { startHttp } from './src/http/server.ts';
import { Scene } from './test/support/scene.ts';

const scene = await Scene.open();
await scene.register('a', { slots: 1 });
const batchId = await scene.submit({ runs: 1 });
const [assignment] = (await scene.claimRaw('a', 1)).assignments;
const id = assignment!.job.id;
const { value, context } = scene.api.parts.directory.state('job', id)!;
const initial = context.exitCode === undefined && 'exitCode' in context;
const before = encodeJob({ value, context });
const record = encodeJob({ value, context: { ...context, exitCode: 7 } });
scene.store.disk.set(keys.job(id), record);
await scene.restart();

const log = { debug: () => {}, info: () => {}, error: () => {} };
const http = await startHttp({ coordinator: scene.api, live: scene.api, host: '127.0.0.1', port: 0, log, clock: systemClock });
const get = async (path: string): Promise<any> => (await fetch(http.url + path)).json();
const { components } = await get('/openapi.json');
const socket = new WebSocket(http.url.replace('http', 'ws') + '/live');
let row: RunRow | undefined;
let isSubscribed = false;
socket.on('open', () => socket.send(JSON.stringify({ type: 'subscribe', topic: 'batch/' + batchId })));
socket.on('message', (text) => {
  const { type, data } = JSON.parse(String(text));
  isSubscribed ||= type === 'snapshot';
  row ??= data.runs?.[0];
});
const until = async (holds: () => boolean): Promise<void> => {
  for (let tries = 0; tries < 500 && !holds(); tries += 1) {
    await scene.world.advance(100);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
await until(() => isSubscribed);
await scene.start(batchId, 0, 'a');
await until(() => row !== undefined);

const stored = JSON.parse(scene.store.disk.get(keys.job(id))!) as Record<string, unknown>;
console.log(JSON.stringify({
  types,
  initial,
  isWrittenAnew: before !== record,
  status: stored['value'],
  record: stored['exitCode'],
  accepted: recordFaults('job', id, stored),
  refused: recordFaults('job', id, { ...stored, exitCode: -1 }),
  resource: (await scene.api.job(id)).exit_code,
  answer: (await get('/jobs/' + id)).exit_code,
  list: (await get('/jobs'))[0].exit_code,
  description: components.schemas.Job.properties.exit_code.description,
  row: row?.exit,
}));
process.exit(0);
`;

describe('contract/members/members', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'new-member-'));
    for (const path of ['src', 'machines', 'test/support', 'clients', 'package.json', 'tsconfig.json']) {
      await cp(join(packageRoot, path), join(folder, path), { recursive: true });
    }
    await symlink(join(packageRoot, 'node_modules'), join(folder, 'node_modules'));
    for (const [name, text] of Object.entries({ types: TYPES, program: PROGRAM }))
      await writeFile(join(folder, `${name}.ts`), text);
    const settings = { extends: './tsconfig.json', include: ['types.ts'] };
    await writeFile(join(folder, 'tsconfig.types.json'), JSON.stringify(settings));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const execute = (program: string, ...args: string[]): Promise<{ stdout: string }> =>
    run(process.execPath, [join(packageRoot, 'node_modules', program), ...args], { cwd: folder });
  const check = (): Promise<unknown> =>
    execute('typescript/bin/tsc', '-p', 'tsconfig.types.json', '--noEmit', '--incremental', 'false');

  it('gives a new member of a job to every shape of a job by one line', async () => {
    const table = await readFile(join(folder, TABLE), 'utf8');
    const place = `  attempts: { type: 'attempts' },\n`;
    expect(table.split(place)).to.have.length(2);
    expect(table).not.to.include('exitCode');
    await writeFile(join(folder, TABLE), table.replace(place, LINE + place));
    const [{ stdout }] = await Promise.all([execute('tsx/dist/cli.mjs', 'program.ts'), check()]);
    expect(JSON.parse(stdout)).to.deep.equal({
      types: [7, 7, 7, 7],
      initial: true,
      isWrittenAnew: true,
      status: 'Running',
      record: 7,
      accepted: [],
      refused: ['/exitCode is -1; it must be at least 0'],
      resource: 7,
      answer: 7,
      list: 7,
      description: 'Its exit code.',
      row: 7,
    });
  });
});
