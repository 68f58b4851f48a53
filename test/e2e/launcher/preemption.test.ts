/** A real Slurm preempts the allocations of a launcher again and again: the run completes, and counts no failure. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Client } from '../../../src/client/client.ts';
import type { JobHistory } from '../../../src/contract/types.ts';
import { skipWithout, until } from '../support.ts';
import { PROGRAM, serving, type Serving } from '../../support/program.ts';
import { pythonFault } from '../../support/runner-modes.ts';
import { slurmMissing, startSlurm, type SlurmSite } from '../../support/slurm.ts';
import { study } from '../../support/studies.ts';

/** Both count their attempts in the checkpoint and stay until they have begun often enough. */
const NODE = `import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
const folder = process.env.SVC_CHECKPOINT_DIR, file = folder + '/begun';
mkdirSync(folder, { recursive: true });
const begun = (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0) + 1;
writeFileSync(file, String(begun));
writeFileSync(MARK + begun, '');
IGNORE
if (begun <= TIMES) setInterval(() => {}, 1000);
`;
const PYTHON = `import os, time
folder = os.environ["SVC_CHECKPOINT_DIR"]
os.makedirs(folder, exist_ok=True)
file = folder + "/begun"
begun = (int(open(file).read()) if os.path.exists(file) else 0) + 1
open(file, "w").write(str(begun))
open(MARK + str(begun), "w").close()
while begun <= TIMES:
    time.sleep(1)
`;

interface Case {
  name: string;
  text: string;
  args: readonly string[];
  ignores?: true;
  times: number;
  /** Of each interrupted attempt. */
  reason: string;
  message: RegExp;
}

const STOPPED = /^runner low-\w+: it was stopped \(SIGTERM\); the simulation was killed by signal SIGTERM$/;
const CASES: readonly Case[] = [
  { name: 'plain', text: NODE, args: [], times: 5, reason: 'runner-stopped', message: STOPPED },
  { name: 'warm', text: PYTHON, args: ['--warm'], times: 2, reason: 'runner-stopped', message: STOPPED },
  {
    name: 'stubborn',
    text: NODE,
    args: [],
    ignores: true,
    times: 2,
    reason: 'machine-gone',
    message: /^runner low-\w+: its allocation slurm\/low\/\w+ has ended: the engine preempted it: PREEMPTED/,
  },
];

describe('launcher: a real Slurm with a partition that preempts', function () {
  this.timeout(600_000);
  let slurm: SlurmSite;
  let serve: Serving;
  let client: Client;
  let launcher: ChildProcess | undefined;
  let log = '';

  before(async function () {
    skipWithout(this, slurmMissing() ?? pythonFault());
    slurm = await startSlurm();
    serve = await serving(['--data-dir', join(slurm.folder, 'data')]);
    client = new Client({ endpoint: serve.url });
  });
  afterEach(async () => {
    if (launcher === undefined) return;
    launcher.kill('SIGTERM');
    await once(launcher, 'exit');
    launcher = undefined;
  });
  after(async () => {
    await serve?.stop();
    slurm?.stop();
  });

  /** The launcher as a program, with one queue in the partition that is preempted. */
  function launch({ name, text, args, ignores, times }: Case): string {
    const folder = join(slurm.folder, name);
    mkdirSync(folder);
    const mark = join(folder, 'begun-');
    const source = text
      .replaceAll('MARK', JSON.stringify(mark))
      .replaceAll('TIMES', String(times))
      .replace('IGNORE', ignores === true ? "process.on('SIGTERM', () => {});" : '');
    const entrypoint = join(folder, text === NODE ? 'sim.mjs' : 'sim.py');
    writeFileSync(entrypoint, source);
    const all = ['--engines', name, '--entrypoint', entrypoint, '--checkpoint-dir', join(folder, 'checkpoints')];
    const more = [
      '--grace-secs',
      '60',
      '--heartbeat-interval-secs',
      '1',
      '--output-root',
      join(folder, 'out'),
      ...args,
    ];
    const queue = {
      engine: 'slurm',
      serves: [name],
      size: { cores: 1 },
      lifetime: '1h',
      max: 1,
      idle_timeout: '2s',
      runner: { args: [...all, ...more] },
      slurm: { partition: 'low' },
    };
    const config = { launcher: name, endpoint: serve.url, poll_seconds: 1, queues: { low: queue } };
    writeFileSync(join(folder, 'launcher.yaml'), JSON.stringify(config));
    const trusting = ['--trust-open-coordinator', '--config', join(folder, 'launcher.yaml')];
    launcher = spawn(process.execPath, [PROGRAM, 'launcher', 'run', ...trusting], {
      env: slurm.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    log = '';
    for (const stream of [launcher.stdout, launcher.stderr])
      stream?.on('data', (chunk: Buffer) => (log += chunk.toString()));
    return mark;
  }

  /** A job that needs the whole node ends the allocation. */
  function preempt(): void {
    const sbatch = [
      '--partition=high',
      '--exclusive',
      '--ntasks=8',
      '--time=1',
      '--output=/dev/null',
      '--wrap=sleep 1',
    ];
    const { status, stderr } = spawnSync('sbatch', sbatch, { env: slurm.env, encoding: 'utf8', cwd: slurm.folder });
    expect(status, stderr).to.equal(0);
  }

  for (const one of CASES) {
    const { name, times, reason, message } = one;
    it(`completes a ${name} run that is preempted ${String(times)} times, and says so in its history`, async () => {
      const mark = launch(one);
      const { batch_id } = await client.submit(study({ runs: 1, simulation: name, maxRetries: 0 }));
      for (let begun = 1; begun <= times; begun += 1) {
        await until(() => existsSync(`${mark}${String(begun)}`), undefined, 120_000).catch((error: unknown) => {
          throw new Error(`attempt ${String(begun)} did not begin\n${log}`, { cause: error });
        });
        // A simulation needs a moment to install its handlers.
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        preempt();
      }
      const isOver = async (): Promise<boolean> => (await client.batch(batch_id)).batch.status === 'Completed';
      await until(isOver, undefined, 120_000);
      const histories: JobHistory[] = [];
      for await (const { id } of client.jobs({ batch_id: [batch_id] })) histories.push(await client.jobHistory(id));
      const [history] = histories;
      expect(history, log).to.include({ status: 'Completed', retries: 0, losses: 0, infrastructure_faults: 0 });
      const interrupted = history?.attempts.slice(0, -1) ?? [];
      expect(interrupted.length).to.equal(times);
      for (const attempt of interrupted) {
        expect(attempt).to.include({ outcome: 'released', reason });
        expect(attempt.message).to.match(message);
      }
      expect(history?.attempts.at(-1)?.outcome).to.equal('completed');
      expect(log).to.match(/has ended: the engine preempted it: PREEMPTED/);
    });
  }
});
