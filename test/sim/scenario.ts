/** One scenario from one seed: faults first, with the invariants checked after every step; then honest runners finish. */
import { FAIL_REASONS } from '../../src/contract/enums.ts';
import type { AttemptRef, FailReason, Report } from '../../src/contract/types.ts';
import { SimbatchError } from '../../src/domain/errors.ts';
import type { CoordinatorApi } from '../../src/coordinator/api.ts';
import type { Interpreter } from '../../src/base/interpreters/interpreters.ts';
import type { NotificationSettings } from '../../src/coordinator/notifications/receivers.ts';
import { openCoordinator, type Coordinator } from '../../src/coordinator/coordinator.ts';
import type { Store } from '../../src/coordinator/kernel/storage/store.ts';
import { allOf, idOf } from '../../src/coordinator/kernel/storage/keys.ts';
import { isTerminal } from '../../src/coordinator/kernel/actors/actor-kinds.ts';
import { all, runOf, sampledRuns } from '../support/scene.ts';
import { settled, SimulatedClock } from '../support/simulated-clock.ts';
import { decodeBatch } from './decoded.ts';
import { SimClient } from './clients.ts';
import { checkParameters } from './growth.ts';
import { checkDisk, Memory } from './invariants.ts';
import { SITE_POOLS } from './pools.ts';
import { checkListed } from './listed.ts';
import { SimExtractions } from './extractions.ts';
import { SimHistories } from './histories.ts';
import { checkReuse, SimReuse } from './reuse.ts';
import { checkOrphans, SimRounds } from './rounds.ts';
import { checkJudged } from './verdicts.ts';
import { checkWaiting } from './waiting.ts';
import { insist, Acknowledged, Violation } from './acknowledged.ts';
import { SimRunner } from './runners.ts';
import { openSimStore, SimDisk, SimEngine, type DiskBug } from './disk.ts';
import { Dice } from './world.ts';

/** A bug to inject, for the test that the simulation finds it. */
export interface Bug extends DiskBug {
  /** Runners spool an outcome without fsync, or after they have reported it. */
  spool?: 'unsynced' | 'late';
  /** Replaces operations between the scenario's actors and the coordinator. */
  api?(coordinator: Coordinator): Partial<CoordinatorApi>;
}

/** The end of an attempt of a run by its parameters. */
export type Simulation = (run: number, attempt: number, parameters: Readonly<Record<string, number>>) => SimulatedEnd;
type SimulatedEnd =
  | Omit<Extract<Report, { type: 'complete' }>, keyof AttemptRef>
  | Omit<Extract<Report, { type: 'fail' }>, keyof AttemptRef>;

/** Counters of the scenario, which show that the faults really occur. */
export interface Tally {
  steps: number;
  crashes: number;
  powerLosses: number;
  answers: number;
  refusals: Record<string, number>;
  /** Runs of extractions that were computed, and those whose files were gone. */
  extracted: number;
  gone: number;
}

interface Handlers<T> {
  onAnswer?(answer: T): void;
  onRefusal?(code: string): void;
}

/** The result of a scenario: what occurred, and the records on disk at its end. */
export interface Outcome {
  tally: Tally;
  disk: ReadonlyMap<string, string>;
}

const STEPS = 120;
/** The limit on steps of 5 s in which honest runners finish the remaining work. */
const STEPS_TO_FINISH = 150;

export class Stage {
  readonly seed: number;
  readonly dice: Dice;
  readonly #disk = new SimDisk();
  readonly disk: ReadonlyMap<string, string> = this.#disk.records;
  readonly acknowledged = new Acknowledged(this.disk);
  readonly rounds: SimRounds;
  readonly reuse: SimReuse;
  readonly histories = new SimHistories();
  readonly extractions: SimExtractions;
  readonly runnerIds: string[] = [];
  /** How often each runner was resumed, counted when asked. */
  readonly resumes = new Map<string, number>();
  /** How often each batch was resumed, counted when asked. */
  readonly batchResumes = new Map<string, number>();
  /** How many runs may wait on each runner. */
  readonly ahead = new Map<string, number>();
  /** How often each runner sent a registration. */
  readonly registrations = new Map<string, number>();
  readonly tally: Tally = { steps: 0, crashes: 0, powerLosses: 0, answers: 0, refusals: {}, extracted: 0, gone: 0 };
  readonly #memory = new Memory();
  readonly bug: Bug;
  /** The reasons of failures that runners draw. */
  failReasons: readonly FailReason[] = FAIL_REASONS;
  /** How an attempt of a run ends, where it is not drawn. */
  simulation: Simulation | undefined;
  readonly #interpreter: Interpreter;
  /** Core hours of owners by day; absent: no budgets. */
  budgets: ReadonlyMap<string, number> | undefined;
  /** The receivers of events; absent: none. */
  notifications: NotificationSettings | undefined;
  #world: SimulatedClock;
  #engine!: SimEngine;
  #coordinator!: Coordinator;
  #life = 0;
  #violation: Violation | undefined;
  api!: CoordinatorApi;

  constructor(seed: number, bug: Bug, interpreter: Interpreter) {
    this.#interpreter = interpreter;
    this.seed = seed;
    this.dice = new Dice(seed);
    this.bug = bug;
    this.#world = new SimulatedClock({ seed });
    this.rounds = new SimRounds(this);
    this.reuse = new SimReuse(this);
    this.extractions = new SimExtractions(this);
  }

  now(): number {
    return this.#world.now();
  }

  get parts(): Coordinator['parts'] {
    return this.#coordinator.parts;
  }

  get batches(): string[] {
    const { gte, lt } = allOf('batch');
    return [...this.disk.keys()].filter((key) => key >= gte && key < lt).map(idOf);
  }

  async begin(): Promise<void> {
    this.#life += 1;
    this.#world = new SimulatedClock({ nowMs: this.#world.now(), seed: this.dice.int(2 ** 31) });
    await this.#killDuringRecovery();
    // The records of the first life are the original ones.
    const bug: DiskBug = this.#life > 1 ? this.bug : Object.assign({}, this.bug, { read: undefined });
    this.#engine = new SimEngine(this.#disk, this.dice, bug);
    this.#engine.holdProbability = 0;
    const life = this.#life;
    const news = {
      fault: (operation: string, error: unknown) => {
        if (life === this.#life)
          this.#fail(`a fault in ${operation}: ${String(error)} ${String((error as Error).cause)}`);
      },
    };
    this.#coordinator = await openCoordinator(this.#openStore(bug), this.#world, {
      hooks: news,
      interpreter: this.#interpreter,
      // Rounds are computed on this thread: a scenario is repeatable.
      computesInWorker: false,
      // A level at which few failures suffice.
      quarantine: 0.9,
      resources: SITE_POOLS,
      ...(this.budgets === undefined ? {} : { budgets: this.budgets }),
      ...(this.notifications === undefined ? {} : { notifications: this.notifications }),
      ...this.extractions.options,
    }).catch((error: unknown) => {
      throw new Violation(`the next process does not open: ${String(error)}`);
    });
    this.api = Object.assign(Object.create(this.#coordinator), this.bug.api?.(this.#coordinator));
    this.#engine.holdProbability = 0.3;
  }

  #openStore(bug: DiskBug): Store {
    return openSimStore(this.#disk, this.#engine, this.dice, bug);
  }

  /** At times a coordinator dies before it has recovered, with its first write in flight. */
  async #killDuringRecovery(): Promise<void> {
    if (!this.dice.chance(0.1)) return;
    this.#engine = new SimEngine(this.#disk, this.dice, {});
    this.#engine.holdProbability = 1;
    const world = new SimulatedClock({ nowMs: this.#world.now(), seed: 1 });
    // Its promise never settles when a write is held.
    openCoordinator(this.#openStore({}), world, {
      interpreter: this.#interpreter,
      // A worker of this process would outlive its coordinator.
      computesInWorker: false,
    }).catch((error: unknown) => this.#fail(`a recovery failed: ${String(error)}`));
    for (let turns = this.dice.int(30); turns > 0; turns -= 1) await Promise.resolve();
    this.#crash();
  }

  #crash(): void {
    const kind = this.dice.chance(0.5) ? 'power' : 'process';
    if (kind === 'power') this.tally.powerLosses += 1;
    this.#engine.crash(kind);
  }

  #fail(message: string): void {
    this.#violation ??= new Violation(message);
  }

  /** Handles an answer, if its coordinator still runs. Refusals with other codes than `allowed` are violations. */
  follow<T>(what: string, asked: Promise<T>, allowed: readonly string[], handlers: Handlers<T>): void {
    const life = this.#life;
    const judge = (error: unknown): void => {
      if (life !== this.#life) return;
      if (error instanceof Violation) this.#violation ??= error;
      else if (error instanceof SimbatchError && allowed.includes(error.code)) {
        this.tally.refusals[error.code] = (this.tally.refusals[error.code] ?? 0) + 1;
        handlers.onRefusal?.(error.code);
      } else this.#fail(`${what}: ${String(error)} ${String((error as Error).cause)}`);
    };
    const take = (answer: T): void => {
      if (life !== this.#life) return;
      this.tally.answers += 1;
      handlers.onAnswer?.(answer);
    };
    asked.then(take).catch(judge);
  }

  /** `isChecked`: false for a step whose records the next check sees. */
  async step(ms: number, isChecked = true): Promise<void> {
    this.tally.steps += 1;
    if (this.dice.chance(0.7)) this.#engine.release();
    await this.#world.advance(ms);
    if (isChecked) this.check();
  }

  check(): void {
    if (this.#violation !== undefined) throw this.#violation;
    checkDisk(this.disk, this.#memory, this.ahead);
    checkWaiting(this.#coordinator.parts);
    this.acknowledged.check();
    this.rounds.check();
    checkOrphans(this.disk);
    checkReuse(this.disk);
    checkListed(this.disk);
    this.extractions.checks.check();
  }

  /** Ends this coordinator, mostly by a crash, and opens the next one on the same disk. */
  async restart(): Promise<void> {
    this.tally.crashes += 1;
    if (this.dice.chance(0.2)) {
      this.#engine.holdProbability = 0;
      this.#engine.release();
      await this.#coordinator.close();
    } else this.#crash();
    await this.begin();
    this.check();
  }

  /** Lets every later write succeed at once. */
  async calm(): Promise<void> {
    this.#engine.holdProbability = 0;
    this.#engine.release();
    await settled();
  }

  unfinished(): string[] {
    return this.batches.filter((id) => !isTerminal(decodeBatch(this.disk.get(`!batch!${id}`) as string).value));
  }
}

/** Plays the scenario of a seed. @throws Violation when a promise is broken */
export async function play(seed: number, bug: Bug = {}, interpreter: Interpreter = 'compiled'): Promise<Outcome> {
  const stage = new Stage(seed, bug, interpreter);
  const { dice } = stage;
  await stage.begin();
  const runners = Array.from({ length: 2 + dice.int(3) }, (_, at) => new SimRunner(stage, `r${at}`));
  stage.runnerIds.push(...runners.map((it) => it.id));
  const client = new SimClient(stage);
  for (let step = 0; step < STEPS; step += 1) {
    client.act();
    stage.rounds.act();
    stage.reuse.act();
    stage.extractions.act();
    for (const runner of runners) if (dice.chance(0.6) && !stage.extractions.hasLeft(runner.id, step)) runner.act();
    if (dice.chance(0.02)) await stage.restart();
    else await stage.step(dice.chance(0.1) ? dice.int(20_000) : dice.int(4000));
  }
  await finish(stage, stage.extractions.comeBack(runners));
  return { tally: stage.tally, disk: stage.disk };
}

/** Ends the faulty runners; honest runners must be able to finish every study, with those of the faulty ones that become honest. */
export async function finish(stage: Stage, reformed: readonly SimRunner[] = []): Promise<void> {
  await stage.calm();
  stage.acknowledged.pausedBatches.clear();
  for (const id of stage.unfinished()) {
    await stage.api.resumeBatch(id);
    await stage.api.releaseBatch(id);
    if (decodeBatch(stage.disk.get(`!batch!${id}`)!).context.growing === true) await stage.api.closeBatch(id);
  }
  if (reformed.length > 0) stage.acknowledged.drained.clear();
  const honest = [...[0, 1].map((at) => new SimRunner(stage, `honest${at}`, true)), ...reformed];
  for (let step = 0; stage.unfinished().length > 0; step += 1) {
    if (step === STEPS_TO_FINISH - 10 && reformed.length > 0) await stage.extractions.giveUp();
    insist(step < STEPS_TO_FINISH, () => `${stage.unfinished().length} batches do not come to their end`);
    // One of them has files that no other has: its quarantine is ended, too.
    if (step % 10 === 0) for (const { id } of reformed) await stage.api.resume(id).catch(() => {});
    for (const runner of honest) runner.act();
    await stage.step(5000);
  }
  // Longer than any drain with an end.
  await stage.step(150_000);
  for (const { id, drained_until: until = '9999' } of (await stage.api.runners({})).runners)
    insist(Date.parse(until) > stage.now(), () => `the drain of runner ${id} has not ended at ${until}`);
  await stage.extractions.checkLists();
  for (const id of stage.batches) {
    const { batch, jobs_by_status } = await stage.api.batch(id);
    const listed = await all(await stage.api.jobs({ batch_id: [id] }));
    insist(listed.length === batch.total_jobs, () => `batch ${id} lists ${listed.length} of ${batch.total_jobs} jobs`);
    await checkParameters(stage, id);
    const runs = listed.map(runOf).join();
    insist(runs === (await sampledRuns(stage.api, id)).join(), () => `batch ${id} lists the runs ${runs}`);
    for (const [status, count] of Object.entries(jobs_by_status)) {
      const shown = listed.filter((it) => it.status === status).length;
      insist(shown === count, () => `batch ${id} counts ${count} ${status} and lists ${shown}`);
    }
    const { results } = await stage.api.batchResults(id);
    const count = (await all(results)).length;
    const expected = batch.completed_jobs + batch.failed_jobs;
    insist(count === expected, () => `batch ${id} has ${count} results and not ${expected}`);
  }
  // A study that had ended at a restart is judged when it is asked about, as above.
  await stage.step(1_000);
  for (const id of stage.batches) checkJudged(stage.disk, decodeBatch(stage.disk.get(`!batch!${id}`)!));
}
