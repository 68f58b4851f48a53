/** Scripted runners: mostly honest; at times dead, silent, repeating, late, or reporting false attempts and instances. */
import { jobId, runIdOf } from '../../src/domain/ids.ts';
import { studySampler } from '../../src/domain/sampling/sampler.ts';
import type { AttemptRef, ClaimResponse, Report, Uuid } from '../../src/contract/types.ts';
import { RESULT as PLAIN } from '../support/scene.ts';
import { insist } from './acknowledged.ts';
import { resourcesOf } from './pools.ts';
import { SimSpool, type Outcome } from './spool.ts';
import type { Stage } from './scenario.ts';

const MEASURED = { ...PLAIN, telemetry: { seen: ['altitude'], samples: 9, lost: 2, refused: 0 } };

/** The output of a run: a function of the run alone, as that of a deterministic simulation. Every fifth is far off. */
export const missOf = (runId: number): number => ((runId * 7919 + 3) % 5 === 0 ? 99 : 1);

const resultOf = (job_id: Uuid) => ({ ...MEASURED, metadata: { miss: missOf(runIdOf(job_id)) } });

interface Task extends AttemptRef {
  isStarted: boolean;
  /** It is a run of an extraction. */
  extracts: boolean;
  parameters: Readonly<Record<string, number>>;
  /** Set once its simulation has ended. */
  outcome?: Outcome;
}

/** A report of one step of a run; a release has no endpoint of its own. */
type OneReport = Outcome | Extract<Report, { type: 'start' }>;

/** The refusals of a process that must register. */
const UNREGISTERED = ['wrong-instance', 'unknown-runner', 'signed-off'];
const REFUSALS = ['stale-attempt', 'illegal-transition', 'unknown-job'];

export class SimRunner {
  readonly #stage: Stage;
  readonly id: string;
  readonly slots: number;
  readonly cores: number;
  /** How many runs may wait on it. */
  readonly ahead: number;
  #life = 0;
  #isRegistered = false;
  /** Remaining steps without a request. */
  #silentFor = 0;
  #tasks: Task[] = [];
  /** Attempts it once had, for false reports. */
  readonly #past: AttemptRef[] = [];
  readonly #spool = new SimSpool();
  isHonest: boolean;
  readonly #allocation: string | undefined;

  /** `allocation`: the share of a cluster that it runs in; it is then forgotten when it is gone. `slots`: drawn without it. */
  constructor(stage: Stage, id: string, isHonest = false, allocation?: string, slots?: number) {
    this.#allocation = allocation;
    this.#stage = stage;
    this.id = id;
    this.isHonest = isHonest;
    this.slots = slots ?? 1 + stage.dice.int(3);
    this.cores = isHonest ? 0 : stage.dice.int(3) * 2;
    this.ahead = stage.dice.int(4);
    stage.ahead.set(id, this.ahead);
  }

  get #instance(): string {
    return `${this.id}-${this.#life}`;
  }

  #sometimes(probability: number): boolean {
    return !this.isHonest && this.#stage.dice.chance(probability);
  }

  /** Sends a request and handles the answer, unless the answer is lost. */
  #ask<T>(what: string, asked: Promise<T>, allowed: readonly string[], onAnswer: (answer: T) => void): void {
    const life = this.#life;
    const isReplyLost = this.#sometimes(0.15);
    this.#stage.follow(`${this.id} ${what}`, asked, ['unavailable', ...UNREGISTERED, ...allowed], {
      onAnswer: (answer) => {
        if (life === this.#life && !isReplyLost) onAnswer(answer);
      },
      onRefusal: (code) => {
        if (life !== this.#life) return;
        if (UNREGISTERED.includes(code)) this.#isRegistered = false;
      },
    });
  }

  /** One step of its life. */
  act(): void {
    const { dice } = this.#stage;
    if (this.#silentFor > 0) {
      this.#silentFor -= 1;
      return;
    }
    if (this.#sometimes(0.02)) return this.#die();
    if (this.#sometimes(0.03)) {
      this.#silentFor = dice.int(20);
      return;
    }
    if (!this.#isRegistered) return this.#register();
    if (this.#sometimes(0.02)) return this.#signOff();
    if (this.#sometimes(0.03)) return this.#preempt();
    if (this.#sometimes(0.1)) this.#lie();
    const actions = this.isHonest ? 4 : 1 + dice.int(2);
    for (let action = 0; action < actions; action += 1) {
      const choice = this.isHonest ? action : dice.int(4);
      if (choice === 0) this.#beat();
      else if (choice === 1) this.#claim();
      else this.#work();
    }
  }

  #die(): void {
    this.#life += 1;
    this.#past.push(...this.#tasks);
    // Sometimes the new process recovers the attempts of the old one and continues them.
    if (this.#stage.dice.chance(0.7)) this.#tasks = [];
    if (this.#stage.dice.chance(0.5)) this.#spool.losePower();
    this.#recoverTasks();
    this.#isRegistered = false;
    this.#silentFor = this.#stage.dice.int(25);
  }

  #register(): void {
    const { acknowledged, registrations } = this.#stage;
    registrations.set(this.id, (registrations.get(this.id) ?? 0) + 1);
    acknowledged.signedOff.delete(this.id);
    const request = {
      id: this.id,
      instance: this.#instance,
      capabilities: {
        max_concurrent_jobs: this.slots,
        cpu_cores: this.cores,
        memory_gb: 0,
        gpu_available: false,
        supported_simulation_types: [],
        ...resourcesOf(this.id),
        features: ['histories', 'extraction', 'scenarios'],
      },
      heartbeat_interval_secs: 5,
      holding: this.#holding(),
      ...this.#stage.reuse.enginesOf(this.id),
      ...(this.#life > 0 && (this.isHonest || this.#stage.dice.chance(0.6))
        ? { replaces: `${this.id}-${this.#life - 1}` }
        : {}),
      ...(this.#allocation === undefined ? {} : { allocation: this.#allocation, ephemeral: true as const }),
    };
    this.#ask('registers', this.#stage.api.register(request), ['runner-id-in-use'], ({ lost }) => {
      this.#isRegistered = true;
      this.#drop(lost);
    });
  }

  /** The attempts that it claims to hold: mostly correct. */
  #holding(): AttemptRef[] {
    const truth = this.#tasks.map(({ job_id, attempt }) => ({ job_id, attempt }));
    if (this.#sometimes(0.05)) return [];
    if (this.#sometimes(0.05)) return [...truth, ...this.#past.slice(-2)];
    if (this.#sometimes(0.05)) return truth.map((it) => ({ ...it, attempt: it.attempt + 1 }));
    return truth;
  }

  #drop(gone: readonly AttemptRef[]): void {
    this.#tasks = this.#tasks.filter((it) => !gone.some((g) => g.job_id === it.job_id && g.attempt === it.attempt));
  }

  #beat(): void {
    const request = { instance: this.#instance, holding: this.#holding() };
    this.#ask('beats', this.#stage.api.heartbeat(this.id, request), [], ({ cancel, lost }) => {
      this.#drop([...cancel, ...lost]);
    });
  }

  #claim(): void {
    const { dice } = this.#stage;
    const request = {
      instance: this.#instance,
      max_jobs: this.isHonest ? this.slots + this.ahead : dice.int(4 + this.ahead),
      ...(this.ahead === 0 ? {} : { ahead: this.ahead }),
      wait_seconds: dice.chance(0.5) ? dice.int(20) : 0,
      ...(this.#sometimes(0.1) ? {} : { holding: this.#holding() }),
      ...this.#stage.reuse.enginesOf(this.id),
    };
    const gone = new AbortController();
    if (this.#sometimes(0.1)) gone.abort();
    const asked = this.#stage.api.claim(this.id, request, gone.signal);
    const checked = asked.then((answer) => {
      this.#checkClaim(answer);
      return answer;
    });
    this.#ask('claims', checked, [], (answer) => {
      for (const { job, attempt, extraction: extracts = false } of answer.assignments) {
        this.#past.push({ job_id: job.id, attempt });
        this.#drop([{ job_id: job.id, attempt }]);
        const { parameters } = job.run_config;
        this.#tasks.push({ job_id: job.id, attempt, parameters, isStarted: job.status === 'Running', extracts });
      }
    });
  }

  #checkClaim(answer: ClaimResponse): void {
    for (const { job, attempt } of answer.assignments) {
      this.#stage.acknowledged.claimed(this.id, job.id, attempt);
      const config = answer.batches[job.batch_id]?.config;
      insist(config !== undefined, () => `a claim came without the configuration of ${job.batch_id}`);
      this.#stage.histories.claimed(job.batch_id, config);
      this.#stage.extractions.claimed(job.batch_id, config);
      this.#stage.extractions.checks.claimed(this.id, job.id);
      const seed = config.monte_carlo.seed ?? 0;
      const rowOf = config.adaptive === undefined ? undefined : this.#stage.rounds.rowsOf(job.batch_id);
      const sampler = studySampler(config, seed, undefined, rowOf);
      const expected = JSON.stringify(sampler.parameters(job.run_config.run_id));
      const given = JSON.stringify(job.run_config.parameters);
      insist(given === expected, () => `job ${job.id} was given ${given} and not ${expected}`);
      this.#stage.rounds.given(job.id, given);
    }
  }

  /** Reports the next step of its tasks, singly or in bulk, sometimes twice. */
  #work(): void {
    if (this.#stage.dice.chance(0.05)) return this.#handBack();
    const started = this.#tasks.filter((it) => it.isStarted);
    const waiting = this.#tasks.filter((it) => !it.isStarted);
    // The others wait for a slot; a liar starts them all the same.
    const next = this.#sometimes(0.1) ? waiting : waiting.slice(0, Math.max(0, this.slots - started.length));
    const reports = [...started, ...next].flatMap((task) => this.#next(task) ?? []);
    if (reports.length === 0) return;
    if (this.#stage.dice.chance(0.3)) return this.#bulk(reports);
    const report = this.isHonest ? reports : [this.#stage.dice.pick(reports) as OneReport];
    for (const it of report) {
      this.#stage.acknowledged.sent(this.id, it);
      this.#report(it);
      if (this.#sometimes(0.15)) this.#report(it);
    }
  }

  /** Hands back runs that it has not started; a liar, others as well. */
  #handBack(): void {
    const tasks = this.#tasks.filter((it) => !it.isStarted || this.#sometimes(0.2));
    if (tasks.length > 0) this.#bulk(tasks.map(({ job_id, attempt }) => ({ type: 'hand_back', job_id, attempt })));
  }

  /** Its machine is taken from it: what executes ends at once, and is handed back; often the machine is gone before the answer. */
  #preempt(): void {
    for (const task of this.#tasks.filter((it) => it.isStarted && it.outcome === undefined)) {
      const { job_id, attempt } = task;
      task.outcome = { type: 'release', job_id, attempt, message: 'it was stopped (SIGTERM)' };
      this.#spool.put(task.outcome, { sync: true });
    }
    const releases = this.#tasks.flatMap(({ outcome }) => (outcome?.type === 'release' ? [outcome] : []));
    if (releases.length > 0) this.#bulk(releases);
    if (this.#stage.dice.chance(0.5)) this.#die();
  }

  /** The next report of a task; undefined while the files of an extraction are looked for. */
  #next(task: Task): OneReport | undefined {
    const { dice } = this.#stage;
    const { job_id, attempt } = task;
    const code = this.#stage.reuse.codeOf(this.id);
    if (!task.isStarted) return { type: 'start', job_id, attempt, ...(code === undefined ? {} : { code }) };
    const { bug } = this.#stage;
    if (task.outcome === undefined && task.extracts) {
      this.#extract(task);
      return undefined;
    }
    if (task.outcome === undefined && this.#stage.simulation !== undefined)
      this.#spool.put(
        (task.outcome = { job_id, attempt, ...this.#stage.simulation(runIdOf(job_id), attempt, task.parameters) }),
        { sync: true },
      );
    if (task.outcome === undefined) {
      const reason = dice.pick(this.#stage.failReasons) ?? 'exit';
      task.outcome =
        this.isHonest || dice.chance(0.6)
          ? { type: 'complete', job_id, attempt, result: this.#resultOf(task) }
          : { type: 'fail', job_id, attempt, reason, error_message: attempt % 2 === 0 ? 'broke' : 'broke again' };
      if (bug.spool !== 'late') this.#spool.put(task.outcome, { sync: bug.spool !== 'unsynced' });
    } else if (bug.spool === 'late') this.#spool.put(task.outcome, { sync: true });
    return task.outcome;
  }

  #resultOf({ job_id, attempt }: AttemptRef) {
    const { histories, extractions } = this.#stage;
    return { ...resultOf(job_id), ...histories.of(job_id), ...extractions.leave(this.id, job_id, attempt) };
  }

  /** Asks for the files of the finished run, and computes its outputs of them. */
  #extract(task: Task): void {
    const { api, extractions, histories } = this.#stage;
    const { job_id, attempt } = task;
    const asked = api.parentFiles(job_id, { runner_id: this.id, attempt });
    this.#ask('asks for files', asked, ['stale-attempt', 'unknown-job'], (found) => {
      if (task.outcome !== undefined || !this.#tasks.includes(task)) return;
      const end = extractions.computed(this.id, job_id, found);
      const isBroken = this.#sometimes(0.1);
      if (isBroken)
        task.outcome = { type: 'fail', job_id, attempt, reason: 'infrastructure', error_message: 'a full disk' };
      else if (end.type === 'fail') task.outcome = { ...end, job_id, attempt };
      else task.outcome = { type: 'complete', job_id, attempt, result: { ...end.result, ...histories.of(job_id) } };
      this.#spool.put(task.outcome, { sync: true });
    });
  }

  /** The next process reports what it finds in the spool, and a failure for what it does not find. */
  #recoverTasks(): void {
    for (const task of this.#tasks) {
      if (!task.isStarted) continue;
      const { job_id, attempt } = task;
      const lost = {
        type: 'fail',
        job_id,
        attempt,
        reason: 'infrastructure',
        error_message: 'the runner died',
      } as const;
      const found = this.#spool.find(task);
      this.#stage.acknowledged.recovered(this.id, task, found?.type);
      task.outcome = found ?? lost;
      // A second death must not change it.
      if (found === undefined) this.#spool.put(lost, { sync: true });
    }
  }

  #report(report: OneReport): void {
    if (report.type === 'release') return this.#bulk([report]);
    const { type, job_id, attempt } = report;
    const { api } = this.#stage;
    const about = { runner_id: this.id, attempt };
    const asked =
      report.type === 'start'
        ? api.start(job_id, report.code === undefined ? about : { ...about, code: report.code })
        : report.type === 'complete'
          ? api.complete(job_id, { ...about, result: report.result })
          : api.fail(job_id, { ...about, reason: report.reason, error_message: report.error_message });
    const checked = asked.then((job) => {
      this.#stage.acknowledged.reported(type, this.id, job_id, attempt);
      return job;
    });
    this.#ask(`reports ${type}`, checked, REFUSALS, () => this.#reported(report));
  }

  #reported({ type, job_id, attempt }: Report): void {
    const task = this.#tasks.find((it) => it.job_id === job_id && it.attempt === attempt);
    if (type === 'start' && task !== undefined) task.isStarted = true;
    if (type !== 'start') this.#drop([{ job_id, attempt }]);
  }

  #bulk(reports: Report[]): void {
    for (const it of reports) this.#stage.acknowledged.sent(this.id, it);
    const asked = this.#stage.api.reports(this.id, { instance: this.#instance, reports });
    this.#ask('reports in bulk', asked, [], (judgements) => {
      for (const [at, judgement] of judgements.entries()) {
        const report = reports[at] as Report;
        if ('refusal' in judgement) {
          insist(REFUSALS.includes(judgement.refusal.code), () => `a bulk report met ${judgement.refusal.code}`);
          continue;
        }
        this.#stage.acknowledged.reported(report.type, this.id, report.job_id, report.attempt);
        this.#reported(report);
      }
    });
  }

  /** Reports attempts that have ended, belong to another runner or do not exist. */
  #lie(): void {
    const { dice } = this.#stage;
    if (dice.chance(0.2)) return this.#beatAsPrevious();
    const batch = dice.pick(this.#stage.batches);
    const foreign = batch === undefined ? undefined : { job_id: jobId(batch, dice.int(6)), attempt: dice.int(3) };
    const lie = dice.chance(0.6) ? dice.pick(this.#past) : foreign;
    if (lie === undefined) return;
    const { job_id, attempt } = lie;
    if (dice.chance(0.2)) this.#report({ type: 'start', job_id, attempt });
    else if (dice.chance(0.5)) this.#report({ type: 'complete', job_id, attempt, result: this.#resultOf(lie) });
    else this.#report({ type: 'fail', job_id, attempt, reason: 'exit', error_message: 'broke' });
  }

  /** The previous process of this runner sends a heartbeat. */
  #beatAsPrevious(): void {
    const beat = { instance: `${this.id}-${this.#life - 1}`, holding: this.#past.slice(-2) };
    const allowed = ['unavailable', ...UNREGISTERED];
    this.#stage.follow(
      `${this.id} beats as its previous process`,
      this.#stage.api.heartbeat(this.id, beat),
      allowed,
      {},
    );
  }

  /** It is restarted, and honest from now on. */
  reform(): void {
    this.isHonest = true;
    this.#life += 1;
    this.#tasks = [];
    this.#isRegistered = false;
    this.#silentFor = 0;
  }

  get isIdle(): boolean {
    return this.#tasks.length === 0;
  }

  /** Signs off, so that its runs are handed back; a process that is not registered has nothing to sign off. */
  leave(): void {
    if (this.#isRegistered) this.#signOff();
  }

  #signOff(): void {
    const { api, acknowledged, registrations } = this.#stage;
    const before = registrations.get(this.id);
    const checked = api.signOff(this.id, { instance: this.#instance }).then((runner) => {
      // A registration sent after the sign-off may already have taken effect.
      const isForgotten = this.#allocation !== undefined;
      if (!isForgotten && before === registrations.get(this.id)) acknowledged.signedOff.add(this.id);
      return runner;
    });
    this.#ask('signs off', checked, [], () => {
      this.#die();
    });
  }
}
