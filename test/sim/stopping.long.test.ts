/**
 * Studies that stop when their requirements are settled, or when they are precise, each played by other numbers of runners, speeds, retries and crashes of the
 * coordinator, power losses included: it stops at the same run with the same verdicts.
 */
import { expect } from 'chai';
import { SequentialVerdict } from '../../src/analysis/requirements/sequential-verdict.ts';
import { precisionsAlong } from '../../src/analysis/precision/judge.ts';
import { parsePrecision } from '../../src/analysis/precision/precision.ts';
import type {
  BatchStatusResponse,
  BatchSubmission,
  Precision,
  RequirementVerdict,
  Scenarios,
  Uuid,
} from '../../src/contract/types.ts';
import { cellCount } from '../../src/domain/scenarios/cells.ts';
import { tableOf } from '../analysis/tables.ts';
import { all } from '../support/scene.ts';
import { study } from '../support/studies.ts';
import { missOf, SimRunner } from './runners.ts';
import { finish, Stage } from './scenario.ts';

const SEEDS = Number(process.env.SIM_SEEDS ?? 30);
const RUNS = 150;
const REQUIREMENTS = [
  { name: 'close', output: 'miss', condition: '< 50', probability: 0.5, confidence: 0.9 },
  { name: 'often', output: 'miss', condition: '< 50', probability: 0.95, confidence: 0.9 },
];

/** The run at which the prefix settles a requirement. */
function settledAt({ probability, confidence }: (typeof REQUIREMENTS)[number]): number {
  const test = new SequentialVerdict(probability, confidence);
  for (let run = 0; run < RUNS; run++) test.take(missOf(run) < 50 ? 'pass' : 'fail', run);
  return test.toJSON().settled_at_run_id!;
}

type Design = Partial<BatchSubmission['config']['monte_carlo']>;

interface End {
  status: string;
  stoppedAt: number | undefined;
  verdicts: string[];
  /** Runs beyond the stop that had ended. */
  beyond: number;
  /** Runs of the prefix that failed for a reason of the pool: such a study is another one. */
  failed: number;
  crashes: number;
  powerLosses: number;
}

const inShort = ({ verdict, passed, failed, unknown, settled_at_run_id: at }: RequirementVerdict): string =>
  `${verdict} ${passed}/${failed}/${unknown} at ${at}`;

async function play(
  seed: number,
  goals: Partial<BatchSubmission>,
  design: Design,
  scenarios: Scenarios | undefined,
): Promise<End> {
  const stage = new Stage(seed, {}, 'compiled');
  const { dice } = stage;
  // Failures that are retried: a run ends as its simulation does.
  stage.failReasons = ['exit', 'signal'];
  await stage.begin();
  await stage.calm();
  const config = { monte_carlo: design, ...(scenarios === undefined ? {} : { scenarios }) };
  const runs = RUNS / cellCount({ scenarios });
  const submission = study({ runs, maxRetries: 1000, maxParallelJobs: dice.int(8), config });
  const key = { idempotencyKey: 'key', bodyDigest: 'key' };
  const { batch_id } = await stage.api.submit({ ...submission, ...goals }, key);
  const runners = Array.from({ length: 1 + dice.int(5) }, (_, at) => new SimRunner(stage, `r${at}`, dice.chance(0.5)));
  const eagerness = 0.3 + 0.7 * dice.next();
  for (let step = 0; step < 60 && stage.unfinished().length > 0; step += 1) {
    for (const runner of runners) if (dice.chance(eagerness)) runner.act();
    if (dice.chance(0.1)) await stage.restart();
    else await stage.step(dice.int(4000));
  }
  await finish(stage);
  const { batch, requirements = [], precision = [] } = await judged(stage, batch_id);
  const jobs = await all(await stage.api.jobs({ batch_id: [batch_id], status: ['Completed', 'Failed'] }));
  return {
    status: batch.status,
    stoppedAt: batch.stopped_at_run_id,
    verdicts: [...requirements.map(inShort), ...precision.map((it) => JSON.stringify(it))],
    beyond: jobs.filter((it) => it.run_config.run_id > (batch.stopped_at_run_id ?? RUNS)).length,
    failed: jobs.filter((it) => it.status === 'Failed').length,
    crashes: stage.tally.crashes,
    powerLosses: stage.tally.powerLosses,
  };
}

/** The study once it is judged: after a restart at its very end that begins with the first question. */
async function judged(stage: Stage, batchId: Uuid): Promise<BatchStatusResponse> {
  for (let tries = 0; ; tries += 1) {
    const found = await stage.api.batch(batchId);
    if (found.requirements !== undefined || found.precision !== undefined || tries === 20) return found;
    await stage.step(100);
  }
}

const PRECISION: Precision[] = [
  { output: 'miss', quantity: 'probability', condition: '< 50', half_width: 0.22 },
  { output: 'miss', quantity: 'p50', half_width: 25 },
  { output: 'miss', quantity: 'mean', bounds: [0, 100], half_width: 26 },
];

/** Replicates of 2 runs, with targets that about 20 of them reach. */
const REPLICATE_RUNS = 2;
const REPLICATED_PRECISION = PRECISION.map((it) => ({ ...it, half_width: 1.4 * it.half_width! }));
const REPLICATED: Design = { sampling_method: 'latin_hypercube', replicates: RUNS / REPLICATE_RUNS };

/** The run at which the prefix reaches all precisions. */
function reachedAt(precision: readonly Precision[], replicateRuns?: number): number {
  const table = tableOf(Array.from({ length: RUNS }, (_, run) => missOf(run)));
  return precisionsAlong(
    table,
    precision.map((it) => parsePrecision({ ...it, output: 'y' }, replicateRuns)),
  ).stopRunId!;
}

/** Plays a study and compares its histories. */
async function compared(
  goals: Partial<BatchSubmission>,
  stop: number,
  design: Design = {},
  scenarios?: Scenarios,
): Promise<End> {
  const ends: End[] = [];
  for (let seed = 1; seed <= SEEDS; seed += 1) ends.push(await play(seed, goals, design, scenarios));
  const comparable = ends.filter((it) => it.failed === 0);
  expect(comparable.length, 'histories in which no run was lost for good').to.be.above(SEEDS / 2);
  for (const [at, end] of comparable.entries()) {
    expect([end.status, end.stoppedAt], `history ${at}`).to.deep.equal(['Completed', stop]);
    expect(end.verdicts, `history ${at}`).to.deep.equal(comparable[0]!.verdicts);
  }
  // Histories that are alike would prove nothing.
  expect(new Set(comparable.map((it) => it.beyond)).size, 'runs that ended beyond the stop').to.be.above(2);
  expect(comparable.reduce((sum, it) => sum + it.crashes, 0)).to.be.above(SEEDS);
  expect(comparable.some((it) => it.powerLosses > 0)).to.equal(true);
  return comparable[0]!;
}

describe('sim/stopping', () => {
  it(`stops at the same run with the same verdicts in ${SEEDS} histories of one study`, async function () {
    this.timeout(0);
    const expected = REQUIREMENTS.map(settledAt);
    const policy = { stop_when: 'settled' as const };
    const end = await compared({ requirements: REQUIREMENTS, policy }, Math.max(...expected));
    expect(end.verdicts.map((it) => Number(it.split(' at ')[1]))).to.deep.equal(expected);
  });

  it(`stops at the same run in ${SEEDS} histories of a study with scenarios`, async function () {
    this.timeout(0);
    const tests = [0, 1].map(() => new SequentialVerdict(0.5, 0.9));
    let stop = -1;
    for (let run = 0; stop < 0; run++) {
      tests[run % 2]!.take(missOf(run) < 50 ? 'pass' : 'fail', run);
      if (tests.every((it) => it.verdict === 'met')) stop = run;
    }
    const goals = { requirements: [REQUIREMENTS[0]!], policy: { stop_when: 'settled' as const } };
    const end = await compared(goals, stop, {}, { site: { north: {}, south: {} } });
    expect(end.verdicts).to.deep.equal([]);
  });

  it(`stops at the same run with the same intervals in ${SEEDS} histories of a study that is to be precise`, async function () {
    this.timeout(0);
    const stop = reachedAt(PRECISION);
    expect(stop).to.be.within(25, RUNS - 50);
    const end = await compared({ policy: { stop_when: 'precise', precision: PRECISION } }, stop);
    expect(end.verdicts).to.have.length(PRECISION.length);
  });

  it(`stops at the same whole replicate in ${SEEDS} histories of a Latin hypercube study`, async function () {
    this.timeout(0);
    const stop = reachedAt(REPLICATED_PRECISION, REPLICATE_RUNS);
    expect(stop).to.be.within(30, RUNS - 30);
    expect((stop + 1) % REPLICATE_RUNS).to.equal(0);
    const end = await compared({ policy: { stop_when: 'precise', precision: REPLICATED_PRECISION } }, stop, REPLICATED);
    expect(end.verdicts).to.have.length(PRECISION.length);
  });
});
