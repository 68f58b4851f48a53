import { expect } from 'chai';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { UnreachableError, type BatchSubmission } from '../../../src/client/client.ts';
import type { Uuid } from '../../../src/contract/types.ts';
import { jobId, newBatchId } from '../../../src/domain/ids.ts';
import { attemptDirectory } from '../../../src/runner/files/artifacts.ts';
import { executeUndisturbed } from '../../../src/cli/selftest/execute.ts';
import { Disturbance } from '../../../src/cli/selftest/disturbance.ts';
import { compareOutcomes, type RunOutcome } from '../../../src/cli/selftest/outcomes.ts';
import { judgeDisk } from '../../../src/cli/selftest/disk.ts';
import { KILL_POINTS, planKills } from '../../../src/cli/selftest/kill-points.ts';
import { Draws } from '../../../src/cli/selftest/draws.ts';
import { RUNNER_IDS, Site } from '../../../src/cli/selftest/site.ts';
import { PROGRAM } from '../../support/program.ts';

interface Answer {
  passed: boolean;
  verdict: string;
  differences: string[];
  points: { point: string; killed: string; kills: number }[];
  undisturbed: { runs: number };
  disturbed: { studies: number; runs: number; attempts: number; kills: number };
  executions: { begun: number };
  verify: { records: number; faults: string[] };
  disk: { writes: number; median_us: number; p99_us: number };
}

describe('e2e: simbatch selftest', () => {
  const folder = mkdtempSync(join(tmpdir(), 'simbatch-selftest-test-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('finds equal results after a SIGKILL at every named point, and leaves no folder', async () => {
    const args = [PROGRAM, 'selftest', '--quick', '--seed', '7', '--dir', folder, '-o', 'json'];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const answer = JSON.parse(stdout) as Answer;
    expect(answer.passed, answer.verdict).to.equal(true);
    expect(answer.differences).to.deep.equal([]);
    expect(answer.verify.faults).to.deep.equal([]);
    expect(answer.verify.records).to.be.greaterThan(answer.disturbed.runs);
    expect(answer.points.map((it) => [it.point, it.killed, it.kills])).to.deep.equal(
      KILL_POINTS.map((it) => [it.name, it.victim, 1]),
    );
    expect(answer.disturbed.kills).to.equal(KILL_POINTS.length);
    expect(answer.disturbed.runs).to.equal(answer.disturbed.studies * answer.undisturbed.runs);
    // Lost attempts were repeated: otherwise no kill had any effect.
    expect(answer.disturbed.attempts).to.be.greaterThan(answer.disturbed.runs);
    expect(answer.executions.begun).to.be.greaterThan(answer.disturbed.runs);
    expect(answer.disk.p99_us).to.be.at.least(answer.disk.median_us);
    expect(readdirSync(folder)).to.deep.equal([]);
  }).timeout(600_000);
});

describe('cli/selftest/disturbance', () => {
  const folder = mkdtempSync(join(tmpdir(), 'simbatch-disturbance-'));
  const children: ChildProcess[] = [];
  after(() => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  /** A process that looks like the simulation of the first attempt of a run. */
  function simulation(batchId: Uuid, runId: number, entrypoint: string): ChildProcess {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', entrypoint], { stdio: 'ignore' });
    children.push(child);
    const output = attemptDirectory(join(folder, RUNNER_IDS[0]), batchId, runId, 1);
    mkdirSync(dirname(output), { recursive: true });
    writeFileSync(`${output}.begun`, String(child.pid));
    return child;
  }

  it('kills a simulation of a run that is claimed now, and looks for it among no other runs', async () => {
    const entrypoint = join(folder, 'simulation.mjs');
    const site = new Site({ folder, entrypoint, slots: 1 });
    const disturbance = new Disturbance(site, new Draws(3));
    const batchId = newBatchId(1, new Uint8Array(16).fill(7));
    const others = [1, 2, 3, 4, 5, 6].map((runId) => simulation(batchId, runId, entrypoint));
    const own = simulation(batchId, 0, entrypoint);
    const text = JSON.stringify({ assignments: [{ job: { id: jobId(batchId, 0) }, attempt: 1 }] });
    const claim = { operation: 'claim', runnerId: RUNNER_IDS[0], request: '' } as const;
    await site.wire.observe({ ...claim, stage: 'reply', reply: { status: 200, text } });
    const ended = Promise.race([own, ...others].map(async (it) => [it.pid, await once(it, 'exit')]));
    const point = { name: 'by chance', victim: 'simulation', text: '', withinMs: 0 } as const;
    const kill = await disturbance.killAt(point, new AbortController().signal);
    expect(kill?.point).to.equal(point);
    expect(await ended).to.deep.equal([own.pid, [null, 'SIGKILL']]);
  }).timeout(60_000);
});

describe('cli/selftest/execute', () => {
  const batchId = newBatchId(1, new Uint8Array(16).fill(7));
  const cut = (): never => {
    throw new UnreachableError('http://127.0.0.1:1', 'the connection was closed before the answer');
  };
  /** A site whose coordinator leaves the first request of each kind without an answer. */
  function siteWith(died: Promise<never>): { site: Site; calls: string[] } {
    const calls: string[] = [];
    const answer = <T>(kind: string, value: T): T => {
      calls.push(kind);
      return calls.filter((it) => it === kind).length === 1 ? cut() : value;
    };
    const client = {
      submit: async (_: unknown, { idempotencyKey }: { idempotencyKey: string }) =>
        answer('submit', { batch_id: batchId, idempotencyKey }),
      batch: async () => answer('batch', { batch: { status: 'Completed', total_jobs: 0 }, jobs_by_status: {} }),
      async *batchResults() {
        yield* answer('results', []);
      },
      async *jobs() {
        yield* answer('jobs', []);
      },
    };
    return { site: { client: () => client, died } as unknown as Site, calls };
  }
  const execute = (site: Site): Promise<unknown> =>
    executeUndisturbed(site, {} as BatchSubmission, new AbortController().signal, () => {});

  it('repeats what was not answered: the submission, the status, and the reading of results', async () => {
    const { site, calls } = siteWith(new Promise(() => {}));
    expect(await execute(site)).to.deep.equal({ runs: [], attempts: 0 });
    expect(calls).to.deep.equal([
      'submit',
      'submit',
      'batch',
      'batch',
      'results',
      'results',
      'jobs',
      'results',
      'jobs',
    ]);
  });

  it('ends with the fault of a process that has ended by itself', async () => {
    const died = Promise.reject<never>(new Error('the coordinator ended by itself'));
    died.catch(() => {});
    expect(await execute(siteWith(died).site).catch(String)).to.equal('Error: the coordinator ended by itself');
  });
});

describe('cli/selftest/outcomes', () => {
  const run = (runId: number): RunOutcome => ({
    runId,
    status: 'Completed',
    parameters: '{"growth":3.7}',
    results: 1,
    completions: 1,
    outputs: '{"last":0.25}',
    artifacts: 'trajectory.csv 00ff',
  });
  const expected = [run(0), run(1), run(2)];

  it('finds no difference between equal outcomes', () => {
    expect(compareOutcomes(expected, [run(0), run(1), run(2)])).to.deep.equal([]);
  });

  const tampered: [string, Partial<RunOutcome>, RegExp][] = [
    ['an output that differs in its last digit', { outputs: '{"last":0.25000000000000006}' }, /^run 1: outputs .*06/],
    ['a parameter', { parameters: '{"growth":3.8}' }, /^run 1: parameters .*3\.8.* instead of .*3\.7/],
    ['a state', { status: 'Failed: exit code 1' }, /^run 1: status Failed: exit code 1 instead of Completed/],
    ['a second result', { results: 2 }, /^run 1: it has 2 results instead of exactly one/],
    ['a second completed attempt', { completions: 2 }, /^run 1: number of completed attempts 2 instead of 1/],
    ['the bytes of an artifact', { artifacts: 'trajectory.csv 00fe' }, /^run 1: artifacts .*00fe instead of .*00ff/],
  ];
  for (const [what, change, sentence] of tampered)
    it(`finds ${what} that was changed, and names the run`, () => {
      const differences = compareOutcomes(expected, [run(0), { ...run(1), ...change }, run(2)]);
      expect(differences[0]).to.match(sentence);
      expect(differences.every((it) => it.startsWith('run 1: '))).to.equal(true);
    });

  it('finds a missing run, a run that is listed twice and a run of another study', () => {
    expect(compareOutcomes(expected, [run(0), run(2), run(2), run(9)])).to.deep.equal([
      'run 2: it is listed twice',
      'run 1: it is missing',
      'run 9: the undisturbed study has no such run',
    ]);
  });
});

describe('cli/selftest/kill-points', () => {
  it('plans every point at least once, and the same plan for the same seed', () => {
    const plan = planKills(40, new Draws(5));
    expect([...new Set(plan)]).to.have.members([...KILL_POINTS]);
    expect(plan).to.have.length(40);
    expect(planKills(40, new Draws(5))).to.deep.equal(plan);
    expect(planKills(40, new Draws(6))).not.to.deep.equal(plan);
  });
});

describe('cli/selftest/disk', () => {
  const judged: [string, number, string][] = [
    ['tmpfs', 3, 'in memory'],
    ['tmpfs', 900, 'in memory'],
    ['ext4', 4, 'too fast'],
    ['ext4', 900, 'plausible'],
    ['nfs4', 900, 'over a network'],
  ];
  for (const [fileSystem, medianUs, verdict] of judged)
    it(`judges ${medianUs} us on ${fileSystem} as ${verdict}`, () => {
      expect(judgeDisk({ mountPoint: '/', fileSystem }, 100, medianUs, medianUs * 4).verdict).to.equal(verdict);
    });

  it('says of a file system in memory that nothing survives a power cut', () => {
    const { finding } = judgeDisk({ mountPoint: '/dev/shm', fileSystem: 'tmpfs' }, 100, 3, 9);
    expect(finding).to.equal('this file system is in memory: nothing survives a power cut');
  });
});
