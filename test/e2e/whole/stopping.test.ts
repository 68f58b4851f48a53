/** Studies of 20,000 runs that stop by themselves, settled or precise: the real coordinator, killed meanwhile, and scripted runners. */
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Client } from '../../../src/client/client.ts';
import type { BatchStatusResponse, BatchSubmission, Uuid } from '../../../src/contract/types.ts';
import { precisionsAlong } from '../../../src/analysis/precision/judge.ts';
import { parsePrecision } from '../../../src/analysis/precision/precision.ts';
import { tableOf, times } from '../../analysis/tables.ts';
import { study } from '../../support/studies.ts';
import { PROGRAM } from '../../support/program.ts';
import { FakeRunner, insist, Site, sleep, until, type Acknowledged } from '../support.ts';

const RUNS = 20_000;
/** 232 runs without a failure show 0.99 at 90 %. */
const LAST = 231;
const REQUIREMENTS = [{ name: 'fast', output: 'execution_secs', condition: '< 5', probability: 0.99, confidence: 0.9 }];
const SETTLED: Partial<BatchSubmission> = { requirements: REQUIREMENTS, policy: { stop_when: 'settled' } };

/** 149 runs alike show a probability to 0.02; the median has its ranks before. */
const PRECISE: Partial<BatchSubmission> = {
  policy: {
    stop_when: 'precise',
    precision: [
      { output: 'execution_secs', quantity: 'probability', condition: '< 5', half_width: 0.02 },
      { output: 'execution_secs', quantity: 'p50', half_width: 1 },
    ],
  },
};
const PRECISE_AT = 148;

/** The same of replicates of 8 runs. */
const REPLICATE_RUNS = 8;
const REPLICATED: Partial<BatchSubmission> = {
  policy: {
    stop_when: 'precise',
    precision: [
      { output: 'execution_secs', quantity: 'probability', condition: '< 5', half_width: 0.08 },
      { output: 'execution_secs', quantity: 'p50', half_width: 1 },
    ],
  },
  config: study({
    runs: RUNS,
    config: { monte_carlo: { sampling_method: 'latin_hypercube', replicates: RUNS / REPLICATE_RUNS } },
  }).config,
};

/** The last run of the replicate at which runs alike reach these precisions. */
function replicatedAt(): number {
  const parsed = REPLICATED.policy!.precision!.map((it) => parsePrecision({ ...it, output: 'y' }, REPLICATE_RUNS));
  return precisionsAlong(tableOf(times(2000, 1)), parsed).stopRunId!;
}

/** Runners of a history have ids of their own. */
let runnersMade = 0;

describe('e2e: a study of 20,000 runs that stops by itself', () => {
  const site = new Site();
  const runners: FakeRunner[] = [];
  let client: Client;
  before(async () => {
    await site.start();
    client = site.client();
  });
  after(async () => {
    for (const it of runners) it.stop();
    await site.clean();
  });

  /** Executes the study with so many runners, each with as many slots; every seventh run fails at first and is retried. */
  async function flown(
    pool: number,
    slots: number,
    runMs: number,
    kills: number,
    goals: Partial<BatchSubmission> = SETTLED,
    last = LAST,
  ): Promise<BatchStatusResponse> {
    const acknowledged = new Map<Uuid, Acknowledged[]>();
    const { batch_id } = await client.submit({ ...study({ runs: RUNS }), ...goals });
    const own = Array.from(
      { length: pool },
      (_, at) => new FakeRunner(`p${pool}-${++runnersMade}-${at}`, client, slots, acknowledged),
    );
    runners.push(...own);
    const work = Promise.all(own.map((it) => it.work(runMs)));
    work.catch(() => {});
    for (let kill = 1; kill <= kills; kill += 1) {
      await until(() => acknowledged.size >= (last * kill) / (kills + 1), work);
      await site.kill();
      await site.start();
    }
    let status: BatchStatusResponse | undefined;
    await until(async () => {
      await sleep(20);
      status = await insist(() => client.batch(batch_id));
      return status.batch.status === 'Completed' && (status.requirements ?? status.precision) !== undefined;
    }, work);
    for (const it of own) it.stop();
    await work;
    return status!;
  }

  it('stops after 232 clean runs whatever the pool and its crashes, says so, and replays to the same stop', async () => {
    const ends = [await flown(1, 8, 1, 0), await flown(3, 16, 5, 2), await flown(2, 40, 2, 1)];
    for (const { batch, requirements = [], jobs_by_status: counts } of ends) {
      expect(batch).to.include({
        status: 'Completed',
        settled_at_run_id: LAST,
        cancel_reason: `every requirement was settled at run ${LAST}`,
      });
      // How many more are executed before the stop depends on the machine.
      expect(counts.Completed).to.be.within(LAST + 1, RUNS / 2);
      expect(counts.Completed + counts.Cancelled).to.equal(RUNS);
      expect(requirements[0]).to.deep.include({
        verdict: 'met',
        settled: 'sequential',
        settled_at_run_id: LAST,
        passed: LAST + 1,
        failed: 0,
        unknown: 0,
        sentence: `met: execution_secs < 5 with probability 99 % at 90 % confidence; 232 of 232 runs passed, decided at run ${LAST}`,
      });
      const { requirements: judged } = await client.analysis.ask('verdicts', batch.id);
      // The answer has the course of the estimate as well, up to the run that decided.
      expect(judged.map(({ course: _, ...verdict }) => verdict)).to.deep.equal(requirements);
      expect(judged[0]?.course.at(-1)).to.include({ n: LAST + 1, estimate: 1 });
    }
    const file = join(site.folder, 'export.json');
    const run = (...args: string[]): string =>
      execFileSync(process.execPath, [PROGRAM, ...args], {
        env: { ...process.env, SVC_ENDPOINT: site.url },
        encoding: 'utf8',
      });
    run('snapshot', 'export', file, '--batch', ends[1]!.batch.id);
    expect(run('snapshot', 'replay', file)).to.match(/^\d+ actors, \d+ events replayed: all/);
  });

  it('stops at the same run with the same intervals for 1, 2 and 8 runners, and after kills of the coordinator', async () => {
    const ends = [
      await flown(1, 4, 1, 0, PRECISE, PRECISE_AT),
      await flown(2, 20, 3, 2, PRECISE, PRECISE_AT),
      await flown(8, 6, 5, 1, PRECISE, PRECISE_AT),
    ];
    for (const { batch, precision = [], jobs_by_status: counts } of ends) {
      expect(batch).to.include({
        stopped_at_run_id: PRECISE_AT,
        cancel_reason: `every precision was reached at run ${PRECISE_AT}`,
      });
      expect(counts.Completed + counts.Cancelled).to.equal(RUNS);
      expect(precision.map((it) => [it.state, it.n])).to.deep.equal(precision.map(() => ['reached', PRECISE_AT + 1]));
      expect(precision[0]).to.deep.include({ interval: ends[0]!.precision![0]!.interval, value: 1 });
      const asked = await client.analysis.ask('precision', batch.id);
      expect(asked.stop_run_id).to.equal(PRECISE_AT);
      expect(asked.precision.map(({ course: _, ...it }) => it)).to.deep.equal(precision);
    }
  });

  it('stops at the last run of the same replicate of a Latin hypercube study for 1, 2 and 8 runners, and after kills', async () => {
    const stop = replicatedAt();
    expect((stop + 1) % REPLICATE_RUNS).to.equal(0);
    const ends = [
      await flown(1, 4, 1, 0, REPLICATED, stop),
      await flown(2, 20, 3, 2, REPLICATED, stop),
      await flown(8, 6, 5, 1, REPLICATED, stop),
    ];
    for (const { batch, precision = [] } of ends) {
      expect(batch).to.include({ stopped_at_run_id: stop });
      expect(precision).to.deep.equal(ends[0]!.precision);
      expect(precision.map((it) => it.replicates)).to.deep.equal(precision.map(() => (stop + 1) / REPLICATE_RUNS));
      const asked = await client.analysis.ask('precision', batch.id);
      expect(asked.precision.map(({ course: _, ...it }) => it)).to.deep.equal(precision);
    }
  });
});
