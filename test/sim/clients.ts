/** Scripted clients: they submit under keys, repeat unanswered requests, cancel, drain and resume. */
import type { Precision } from '../../src/contract/types.ts';
import { RunSelection } from '../../src/domain/runs/run-selection.ts';
import { jobId } from '../../src/domain/ids.ts';
import { jobsByStatus } from '../../src/coordinator/kernel/records/to-resource.ts';
import { decodeBatch } from '../../src/coordinator/kernel/actors/actor-kinds.ts';
import { keys } from '../../src/coordinator/kernel/storage/keys.ts';
import { insist } from './acknowledged.ts';
import { study, type StudyOptions } from '../support/studies.ts';
import { SimAmendments } from './amendments.ts';
import { SimGrowth } from './growth.ts';
import { resourcesAskedBy } from './pools.ts';
import type { Stage } from './scenario.ts';

const MAX_STUDIES = 4;

export class SimClient {
  readonly #stage: Stage;
  readonly #growth: SimGrowth;
  readonly #amendments: SimAmendments;
  readonly #submissions: { key: string; options: StudyOptions }[] = [];
  readonly #withDevices: boolean;

  /** @param withDevices false: no runner may have devices, and no study asks for any */
  constructor(stage: Stage, withDevices = true) {
    this.#stage = stage;
    this.#withDevices = withDevices;
    this.#growth = new SimGrowth(stage);
    this.#amendments = new SimAmendments(stage);
  }

  act(): void {
    this.#amendments.act();
    const { dice } = this.#stage;
    const roll = dice.next();
    if (roll < 0.12 && this.#submissions.length < MAX_STUDIES) this.#submit(this.#newStudy());
    else if (roll < 0.18) this.#submit(dice.pick(this.#submissions));
    else if (roll < 0.2) this.#cancelJob();
    else if (roll < 0.205) this.#cancelBatch();
    else if (roll < 0.24) this.#drain();
    else if (roll < 0.3) this.#resume();
    else if (roll < 0.33) this.#pauseBatch();
    else if (roll < 0.38) this.#resumeBatch();
    else if (roll < 0.4) this.#releaseBatch();
    else if (roll < 0.6) this.#read();
    else if (roll < 0.66) this.#growth.act();
  }

  /** A reading shows the disk, never a change that a crash could take back. */
  #read(): void {
    const batch = this.#stage.dice.pick(this.#stage.batches);
    if (batch === undefined) return;
    const onDisk = jobsByStatus(decodeBatch(this.#stage.disk.get(keys.batch(batch)) as string));
    this.#stage.follow(`reads ${batch}`, this.#stage.api.batch(batch), [], {
      onAnswer: ({ jobs_by_status: shown }) => {
        const [a, b] = [JSON.stringify(shown), JSON.stringify(onDisk)];
        insist(a === b, () => `a reading of batch ${batch} shows ${a}, and the disk has ${b}`);
      },
    });
  }

  #policy(): StudyOptions['policy'] {
    const { dice } = this.#stage;
    return {
      ...(dice.chance(0.5) ? { canary_runs: 1 + dice.int(3) } : {}),
      ...(dice.chance(0.5) ? { max_failures: dice.pick([1, 2, '50%']) ?? 1 } : {}),
      priority: dice.int(3) - 1,
    };
  }

  #pauseBatch(): void {
    const { dice, api, acknowledged, batchResumes } = this.#stage;
    const batch = dice.pick(this.#stage.batches);
    if (batch === undefined) return;
    const resumes = batchResumes.get(batch);
    this.#stage.follow(`pauses ${batch}`, api.pauseBatch(batch, 'a look'), ['unavailable', 'illegal-transition'], {
      // A resume sent after the pause may already have taken effect.
      onAnswer: () => {
        if (resumes === batchResumes.get(batch)) acknowledged.pausedBatches.add(batch);
      },
    });
  }

  #resumeBatch(): void {
    const { dice, api, acknowledged, batchResumes } = this.#stage;
    const batch = dice.pick(this.#stage.batches);
    if (batch === undefined) return;
    batchResumes.set(batch, (batchResumes.get(batch) ?? 0) + 1);
    acknowledged.pausedBatches.delete(batch);
    this.#stage.follow(`resumes ${batch}`, api.resumeBatch(batch), ['unavailable', 'illegal-transition'], {});
  }

  #releaseBatch(): void {
    const batch = this.#stage.dice.pick(this.#stage.batches);
    if (batch === undefined) return;
    const asked = this.#stage.api.releaseBatch(batch);
    this.#stage.follow(`releases ${batch}`, asked, ['unavailable', 'illegal-transition'], {});
  }

  #newStudy(): { key: string; options: StudyOptions } {
    const { dice } = this.#stage;
    const runs = dice.chance(0.05) ? 0 : 1 + dice.int(7);
    const random = this.#stage.seed % 4 === 0 ? 'quasi_monte_carlo' : 'monte_carlo';
    const options: StudyOptions = {
      name: `study ${this.#submissions.length}`,
      runs,
      seed: dice.chance(0.5) ? dice.int(1000) : null,
      maxParallelJobs: dice.int(4),
      maxRetries: dice.int(3),
      timeoutSecs: dice.pick([0, 0, 20, 120]) ?? 0,
      cpu: dice.pick(['0', '500m', '2']) ?? '0',
      config: {
        monte_carlo: {
          sampling_method: dice.pick([random, 'latin_hypercube'] as const) ?? random,
        },
      },
      ...(dice.chance(0.4) ? { policy: this.#policy() } : {}),
    };
    if (dice.chance(0.5)) this.#require(options);
    if (dice.chance(0.3)) this.#select(options, runs);
    this.#stopWhenPrecise(options);
    this.#waitForCanary(options);
    const resources = resourcesAskedBy(this.#stage.seed + this.#submissions.length, this.#withDevices);
    if (resources !== undefined) options.config = { ...options.config, compute: { resources } };
    const made = { key: `key ${this.#submissions.length}`, options };
    this.#submissions.push(made);
    return made;
  }

  /** A fifth of the studies without canary runs wait for a canary study: drawn by no dice, as above. */
  #waitForCanary(options: StudyOptions): void {
    const count = this.#stage.seed + this.#submissions.length;
    if (options.policy?.canary_runs !== undefined || count % 5 !== 0) return;
    options.policy = { ...options.policy, canary: count % 2 === 0 ? 'nominal' : 'corners' };
  }

  /** One or two requirements. Three passing runs settle the first, four the second: for a while a study has one verdict of two. */
  #require(options: StudyOptions): void {
    const { dice } = this.#stage;
    const close = { name: 'close', output: 'miss', condition: '< 50', probability: 0.5, confidence: 0.6 };
    options.requirements = [close, ...(dice.chance(0.5) ? [{ ...close, name: 'surely', confidence: 0.75 }] : [])];
    if (dice.chance(0.7)) options.policy = { ...options.policy, stop_when: 'settled' };
  }

  /** A quarter of the studies without another rule stop at a precision, which some runs reach: drawn by no dice, so that all else of a world stays. */
  #stopWhenPrecise(options: StudyOptions): void {
    const { seed } = this.#stage;
    const runs = options.runs ?? 0;
    if (options.policy?.stop_when !== undefined || (seed + this.#submissions.length) % 4 !== 0) return;
    const share = { output: 'miss', quantity: 'probability', condition: '< 50' };
    const isReplicated = seed % 3 === 0 && runs >= 4 && options.config?.monte_carlo?.run_ids === undefined;
    if (isReplicated) {
      options.runs = 2 * Math.floor(runs / 2);
      options.config = { monte_carlo: { sampling_method: 'latin_hypercube', replicates: options.runs / 2 } };
    }
    const precision: Precision[] = isReplicated
      ? [{ ...share, half_width: 0.45, confidence: 0.2 }]
      : seed % 2 === 0
        ? [{ ...share, half_width: 0.3, confidence: 0.6 }]
        : [{ output: 'miss', quantity: 'p50', half_width: 60, confidence: 0.1 }];
    options.policy = { ...options.policy, stop_when: 'precise', precision };
  }

  /** The same number of runs, taken from a greater design. */
  #select(options: StudyOptions, count: number): void {
    const { dice } = this.#stage;
    let runs = 0;
    const ids = Array.from({ length: count }, () => (runs += 1 + dice.int(2)) - 1);
    if (count === 0) return;
    options.runs = runs;
    options.config = {
      monte_carlo: { ...options.config?.monte_carlo, run_ids: RunSelection.of(ids).toString() },
    };
  }

  #submit(submission: { key: string; options: StudyOptions } | undefined): void {
    if (submission === undefined) return;
    const { key, options } = submission;
    const asked = this.#stage.api.submit(this.#stage.extractions.stored(study(options), key), {
      idempotencyKey: key,
      bodyDigest: key,
    });
    this.#stage.follow(`submits ${key}`, asked, ['unavailable'], {
      onAnswer: ({ batch_id }) => {
        this.#stage.acknowledged.submitted(key, batch_id);
        // The sequences of a precision end at a cancelled run: in some worlds one of the first is cancelled, by no dice.
        if (options.policy?.stop_when === 'precise' && this.#stage.seed % 3 === 1) this.#cancelRun(jobId(batch_id, 1));
      },
    });
  }

  #cancelJob(): void {
    const { dice } = this.#stage;
    const batch = dice.pick(this.#stage.batches);
    if (batch === undefined) return;
    this.#cancelRun(jobId(batch, dice.int(10)));
  }

  #cancelRun(id: string): void {
    const { api, acknowledged } = this.#stage;
    this.#stage.follow('cancels a job', api.cancelJob(id), ['unavailable', 'illegal-transition', 'unknown-job'], {
      onAnswer: (job) => acknowledged.ended(id, job.status),
    });
  }

  #cancelBatch(): void {
    const batch = this.#stage.dice.pick(this.#stage.batches);
    if (batch === undefined) return;
    this.#stage.follow(`cancels ${batch}`, this.#stage.api.cancelBatch(batch), ['unavailable', 'illegal-transition'], {
      onAnswer: () => this.#stage.acknowledged.cancelledBatches.add(batch),
    });
  }

  #drain(): void {
    const { acknowledged, dice, api } = this.#stage;
    const id = dice.pick(this.#stage.runnerIds);
    if (id === undefined) return;
    // Of the time and not of the dice, whose numbers the scenarios of known seeds depend on.
    const nowMs = this.#stage.now();
    const untilMs = nowMs % 3 === 0 ? nowMs + 1_000 * (1 + (nowMs % 120)) : undefined;
    const until = untilMs === undefined ? undefined : new Date(untilMs).toISOString();
    // A drain with an end resumes the runner at a time of its own.
    if (untilMs !== undefined) this.#forgetDrain(id);
    const resumes = this.#stage.resumes.get(id) ?? 0;
    this.#stage.follow(
      `drains ${id}`,
      api.drain(id, 'a new disk', until),
      ['unavailable', 'unknown-runner', 'malformed-query'],
      {
        onAnswer: () => {
          // A resume sent after the drain may already have taken effect.
          const isLater = resumes !== (this.#stage.resumes.get(id) ?? 0);
          if (!isLater && untilMs === undefined) acknowledged.drained.set(id, acknowledged.heldBy(id));
        },
      },
    );
  }

  /** From now on the runner may be found resumed. */
  #forgetDrain(id: string): void {
    this.#stage.resumes.set(id, (this.#stage.resumes.get(id) ?? 0) + 1);
    this.#stage.acknowledged.drained.delete(id);
  }

  #resume(): void {
    const id = this.#stage.dice.pick(this.#stage.runnerIds);
    if (id === undefined) return;
    this.#forgetDrain(id);
    this.#stage.follow(`resumes ${id}`, this.#stage.api.resume(id), ['unavailable', 'unknown-runner'], {});
  }
}
