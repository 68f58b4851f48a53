/** The lines of `simbatch watch` about studies of rare events: phase, level, and the estimate with both bounds so far. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { packageRoot } from '../../../src/base/package.ts';
import { Client } from '../../../src/client/client.ts';
import type { BatchSubmission, RareDecision, Uuid } from '../../../src/contract/types.ts';
import { capabilities } from '../../support/fake-api.ts';
import { post } from '../../support/http.ts';
import { serving, type Serving } from '../../support/program.ts';
import { rareStudy } from '../../support/rounds.ts';

const RUNNER = 'watched';
const SLOTS = 50;
/** The command reads the answer every five seconds. */
const LINE_MS = 60_000;
const NUMBER = String.raw`(?:0|0\.\d+|\d\.\de-\d+)`;
const DIRECT = String.raw`Violations in regions that were not found are excluded only above ${NUMBER} \(100 nominal runs\)`;

describe('cli: watching a study of rare events', () => {
  let folder: string;
  let server: Serving;
  let client: Client;
  let watching: ChildProcess | undefined;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-rare-watch-'));
    server = await serving(['--data-dir', join(folder, 'data')]);
    client = new Client({ endpoint: server.url });
    const able = { ...capabilities, max_concurrent_jobs: SLOTS };
    await post(`${server.url}/runners`, { id: RUNNER, instance: 'i', heartbeat_interval_secs: 60, capabilities: able });
  });
  afterEach(() => watching?.kill('SIGKILL'));
  after(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Begins to watch; returns a wait for a line of either output, and the exit code. */
  function watch(study: Uuid): { line: (pattern: RegExp) => Promise<string>; code: () => Promise<number | null> } {
    const program = join(packageRoot, 'dist/bin/simbatch.js');
    const child = spawn(process.execPath, [program, 'watch', study, '--endpoint', server.url], {
      env: { PATH: process.env['PATH'], HOME: folder },
    });
    watching = child;
    const ended = once(child, 'close') as Promise<[number | null]>;
    let text = '';
    for (const output of [child.stdout, child.stderr])
      output.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    return {
      line: async (pattern) => {
        for (const untilMs = Date.now() + LINE_MS; ;) {
          const found = text.split('\n').find((it) => pattern.test(it));
          if (found !== undefined) return found;
          if (child.exitCode !== null || Date.now() > untilMs)
            throw new Error(`no line has ${pattern}; it printed:\n${text}`);
          await sleep(50);
        }
      },
      code: async () => (await ended)[0],
    };
  }

  async function submit(study: BatchSubmission): Promise<Uuid[]> {
    const { batch_id: first, studies = [first] } = await client.submit(study);
    return studies;
  }

  /** Executes the open runs. */
  async function executeSome(): Promise<void> {
    const claim = await post(`${server.url}/runners/${RUNNER}/claims`, { instance: 'i', max_jobs: SLOTS });
    for (const { job, attempt } of ((await claim.json()) as any).assignments) {
      const { a, b } = job.run_config.parameters as { a: number; b: number };
      const about = { runner_id: RUNNER, attempt };
      await post(`${server.url}/jobs/${job.id}/start`, about);
      const result = { execution_time_secs: 1, output_files: [], metadata: { y: (a + b) / Math.SQRT2 } };
      await post(`${server.url}/jobs/${job.id}/complete`, { ...about, result });
    }
  }

  /** Executes runs until a round of this phase is appended, which is not executed, or until the study has ended. */
  async function executeUntil(study: Uuid, phase?: RareDecision['phase']): Promise<void> {
    for (;;) {
      const last = (await client.rounds.list(study)).at(-1);
      if (phase !== undefined && last?.decision?.phase === phase && last.round > 0) return;
      if ((await client.batch(study)).batch.status === 'Completed') return;
      await executeSome();
    }
  }

  it('prints the phase with its level, then the estimate and both bounds so far, and the outcome', async () => {
    const study = rareStudy({ limit: 3.5 });
    study.config.adaptive!.confirm_part = 100;
    const [batch] = (await submit(study)) as [Uuid];
    const watched = watch(batch);
    await watched.line(
      /^search: 100 runs so far, and no estimate of P\(y >= 3\.5\) yet\. No nominal run has ended yet$/,
    );
    await executeUntil(batch, 'search');
    await watched.line(
      new RegExp(String.raw`^search, level \d: \d+ runs so far, and no estimate of P\(y >= 3\.5\) yet\. ${DIRECT}$`),
    );
    await executeUntil(batch, 'tune');
    await watched.line(/^tune, level \d: \d+ runs so far, and no estimate of P\(y >= 3\.5\) yet\. /);
    await executeUntil(batch, 'confirm');
    while ((await client.batch(batch)).batch.completed_jobs < (await client.batch(batch)).batch.total_jobs)
      await executeSome();
    while ((await client.rounds.list(batch)).filter((it) => it.decision?.phase === 'confirm').length < 2)
      await sleep(20);
    const bounds = String.raw`between ${NUMBER} and ${NUMBER} with 95 % confidence, from \d+ runs in \d+ rounds`;
    await watched.line(
      new RegExp(String.raw`^so far: P\(y >= 3\.5\) in the regions found is ${NUMBER}, ${bounds}.*\. Violations in`),
    );
    await executeUntil(batch);
    await watched.line(/Completed/);
    expect(await watched.code()).to.be.a('number');
  });

  it('prints how far each of two studies is', async () => {
    const studies = await submit(rareStudy({ limit: 3.5, studies: 2 }));
    const watched = watch(studies[0]!);
    await watched.line(/^no joint estimate of 2 studies yet\. Study 1: search, 100 runs\. Study 2: search, 100 runs\./);
  });
});
