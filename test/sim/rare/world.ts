/**
 * Worlds with one study of rare events: its coordinator crashes and loses power, its runners die, repeat and hand back, and its runs are
 * retried, fail for good, end early or lose telemetry, each by its number and parameters alone. After its end it is extended once. Rounds and rows are compared with those that
 * the pure functions give without any coordinator.
 */
import type { RoundRecord, Uuid } from '../../../src/contract/types.ts';
import { RareDraws } from '../../../src/analysis/rare/draws.ts';
import { RareStudy } from '../../../src/analysis/rare/study.ts';
import { decodeBatch, decodeJob } from '../../../src/coordinator/kernel/actors/actor-kinds.ts';
import { idOf, keys, ofBatch } from '../../../src/coordinator/kernel/storage/keys.ts';
import { decodeBlock } from '../../../src/domain/adaptive/rows.ts';
import { rareSettings } from '../../../src/domain/study/rare-event/settings.ts';
import type { RareEnd, RarePhase } from '../../../src/contract/enums.ts';
import { MAX_INFRASTRUCTURE_FAULTS, MAX_LOSSES } from '../../../src/domain/rules.ts';
import { rareStudy } from '../../support/rounds.ts';
import { RESULT } from '../../support/scene.ts';
import { insist } from '../acknowledged.ts';
import { SimRunner } from '../runners.ts';
import { type Simulation, Stage } from '../scenario.ts';

const SEED = 5;
/** Runs at whose margin the rule of the study ends them. */
const RULE = 3.6;
/** The answer of a coordinator that ends meanwhile. */
const REFUSALS = ['unavailable'];
/** Steps between two checks of the whole disk, which recount every run; each new round is checked at once. */
const CHECKED = 10;
const MOST_STEPS = 6_000;
/** The draws by which the study is extended after its end, in rounds of 80 and 40. */
export const FURTHER = 120;

/** A study of about 500 runs: one level or two, and rounds of the confirmation so small that crashes fall between them. */
export function worldStudy(): ReturnType<typeof rareStudy> {
  const submission = rareStudy({ limit: 3, seed: SEED, maxRetries: 1000 });
  Object.assign(submission.config.adaptive!, { confirm_part: 80, tune_runs: 40, unknown: 'unrelated' });
  submission.config.early_termination = {
    enabled: true,
    check_frequency_hz: 1,
    conditions: [{ variable: 'y', condition: `> ${RULE}`, description: 'far' }],
  };
  return submission;
}

const marginOf = ({ a = 0, b = 0 }: Readonly<Record<string, number>>): number => (a + b) / Math.SQRT2;
const diverges = (run: number): boolean => run % 23 === 5;
const losesTelemetry = (run: number): boolean => run % 29 === 7;
const isRetried = (run: number): boolean => run % 7 === 2;

/** How an attempt ends. Its result is that of the run: only failures that are retried depend on the attempt. */
export const simulation: Simulation = (run, attempt, parameters) => {
  const y = marginOf(parameters);
  if (diverges(run)) return { type: 'fail', reason: 'invalid', error_message: 'diverged' };
  // The same message twice would be final, whatever its numbers.
  if (isRetried(run) && attempt % 2 === 1)
    return { type: 'fail', reason: 'exit', error_message: `broke${'!'.repeat(attempt)}` };
  if (y > RULE) return { type: 'fail', reason: 'early_termination', error_message: 'far' };
  const telemetry = { seen: ['y'], samples: 9, lost: losesTelemetry(run) ? 2 : 0, refused: 0 };
  return { type: 'complete', result: { ...RESULT, metadata: { y }, telemetry } };
};

/** The score of a run as the definition has it. */
function scoreOf(run: number, a: number, b: number): number {
  if (diverges(run)) return Number.NaN;
  const y = marginOf({ a, b });
  if (y > RULE) return Infinity;
  return losesTelemetry(run) ? Number.NaN : y;
}

interface ExpectedRound {
  first: number;
  count: number;
  phase: RarePhase;
  rows: Float64Array;
}

/** The rounds and the end of the study with its extension, without a coordinator. */
export function expectedRounds(): { rounds: ExpectedRound[]; reason: RareEnd } {
  const study = new RareStudy(rareSettings(worldStudy()), new RareDraws(['a', 'b'], String(SEED)));
  const rounds: ExpectedRound[] = [];
  const next = (): ReturnType<typeof study.next> => {
    if (study.reason !== undefined && study.extensions === 0) study.extend(FURTHER);
    return study.next();
  };
  for (let round = next(); round !== undefined; round = next()) {
    const { firstRun: first, count, rows } = round;
    rounds.push({ first, count, phase: study.phase, rows });
    study.take(
      rows,
      Float64Array.from({ length: count }, (_, at) => scoreOf(first + at, rows[2 * at]!, rows[2 * at + 1]!)),
    );
  }
  return { rounds, reason: study.reason! };
}

/** @throws Violation where the stored rounds are not the first of the expected ones, to the bit */
function checkRounds(disk: ReadonlyMap<string, string>, batch: Uuid, expected: readonly ExpectedRound[]): void {
  const { rounds = 0, totalJobs } = decodeBatch(disk.get(keys.batch(batch))!).context;
  insist(rounds <= expected.length, () => `the study has ${rounds} rounds, ${expected.length} follow from its results`);
  let runs = 0;
  for (const [round, { first, count, phase, rows }] of expected.slice(0, rounds).entries()) {
    const stored = JSON.parse(disk.get(keys.round(batch, round)) ?? '{}') as Partial<RoundRecord>;
    const place = [stored.first_run_id, stored.count, stored.decision?.phase].join();
    insist(
      place === [first, count, phase].join(),
      () => `round ${round} is ${place}, ${first},${count},${phase} follows`,
    );
    const { values } = decodeBlock(disk.get(keys.rows(batch, round, 0))!, 2);
    const at = values.findIndex((value, index) => !Object.is(value, rows[index]));
    insist(at === -1, () => `row ${at >> 1} of round ${round} does not follow from the results`);
    runs += count;
  }
  insist(runs === totalJobs, () => `the study has ${totalJobs} runs, and its rounds ${runs}`);
}

export interface World {
  /** The slots of each runner. */
  slots: readonly number[];
  /** Without faults: an undisturbed study. */
  isCalm?: boolean;
}

/** The end of a world. */
export interface End {
  stage: Stage;
  batch: Uuid;
  rounds: string[];
  /** Crashes of the coordinator by phase, and those while a round was decided or written. */
  crashes: Record<string, number>;
}

/** True when the faults of its runners have ended a run for good: its study is another one. */
function hasLost(disk: ReadonlyMap<string, string>, batch: Uuid): boolean {
  const { context } = decodeBatch(disk.get(keys.batch(batch))!);
  const { gte, lt } = ofBatch('job', batch);
  return [...disk].some(([key, record]) => {
    if (key < gte || key >= lt) return false;
    const { losses, infrastructureFaults = 0 } = decodeJob(idOf(key), record, context).context;
    return losses >= MAX_LOSSES || infrastructureFaults >= MAX_INFRASTRUCTURE_FAULTS;
  });
}

/** Plays one world to the end of its study; undefined where runs were lost for good. @throws Violation when a promise is broken */
export async function playRare(seed: number, { slots, isCalm = false }: World): Promise<End | undefined> {
  const stage = new Stage(seed, {}, 'compiled');
  stage.simulation = simulation;
  const { dice } = stage;
  await stage.begin();
  await stage.calm();
  const expected = expectedRounds().rounds;
  const { batch_id: batch } = await stage.api.submit(worldStudy(), { idempotencyKey: 'key', bodyDigest: 'key' });
  const runners = slots.map((count, at) => new SimRunner(stage, `r${at}`, isCalm || at % 2 === 1, undefined, count));
  // However faulty the others are, the study ends.
  if (!isCalm) runners.push(new SimRunner(stage, 'honest', true, undefined, slots[0]));
  const crashes: Record<string, number> = {};
  let known = -1;
  const isExtended = (): boolean => decodeBatch(stage.disk.get(keys.batch(batch))!).context.extensions !== undefined;
  /** The coordinator that was asked to extend the study: each once. */
  let asked: unknown;
  for (let step = 0; stage.unfinished().length > 0 || !isExtended(); step += 1) {
    insist(step < MOST_STEPS, () => 'the study does not end');
    // A crash may come before the commit; after it, the record has the extension.
    if (stage.unfinished().length === 0 && asked !== stage.api) {
      asked = stage.api;
      stage.follow('extend', stage.api.extendBatch(batch, { runs: FURTHER }), REFUSALS, {});
    }
    for (const runner of runners) if (isCalm || dice.chance(0.8)) runner.act();
    const {
      rounds: before = 0,
      totalJobs,
      completed,
      failed,
      extensions,
    } = decodeBatch(stage.disk.get(keys.batch(batch))!).context;
    // The runs of the last round have ended, and the next one is being decided or written.
    const isDeciding = completed + failed === totalJobs;
    if (!isCalm && dice.chance(isDeciding ? 0.5 : 0.03)) {
      const phase = extensions === undefined ? (expected[Math.max(0, before - 1)]?.phase ?? 'ended') : 'extended';
      crashes[phase] = (crashes[phase] ?? 0) + 1;
      if (isDeciding) crashes.deciding = (crashes.deciding ?? 0) + 1;
      await stage.restart();
    } else await stage.step(isCalm ? 1000 : dice.int(4000), step % CHECKED === 0);
    const { rounds = 0 } = decodeBatch(stage.disk.get(keys.batch(batch))!).context;
    if (rounds === known && step % CHECKED !== 0) continue;
    known = rounds;
    try {
      checkRounds(stage.disk, batch, expected);
    } catch (error) {
      if (hasLost(stage.disk, batch)) return undefined;
      throw error;
    }
  }
  await stage.calm();
  stage.check();
  const rounds = expected.map((_, round) => {
    const {
      appended_at: _at,
      previous: _previous,
      ...rest
    } = JSON.parse(stage.disk.get(keys.round(batch, round)) ?? '{}') as RoundRecord;
    return JSON.stringify(rest);
  });
  return { stage, batch, rounds, crashes };
}
