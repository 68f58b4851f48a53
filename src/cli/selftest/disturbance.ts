/** Kills processes of a site at the points of a plan while a study runs, and starts them again. */
import type { Uuid } from '../../contract/types.ts';
import { sleep, systemClock } from '../../base/clock.ts';
import type { Draws } from './draws.ts';
import type { KillPoint, Victim } from './kill-points.ts';
import { kill, RUNNER_IDS, type ClaimedAttempt, type Site } from './site.ts';
import type { Moment } from './wire.ts';

export interface Kill {
  point: KillPoint;
  /** Time from the kill until the process was back; for a simulation 0, since its runner reports and the run is repeated. */
  recoveryMs: number;
  /** Runs that the killed runner, or each runner of a killed coordinator, had claimed and whose start no answer had confirmed. */
  waiting: number;
}

/**
 * A runner is not killed while it executes a run that lost several attempts: after five losses in a row the coordinator rightly
 * ends such a run as Failed.
 */
const MOST_ATTEMPTS = 3;
const POLL_MS = 10;

interface Armed {
  point: KillPoint;
  delayMs: number;
  promise: Promise<Kill | undefined>;
  resolve: (kill: Kill | undefined) => void;
  reject: (error: unknown) => void;
}

interface Claimed extends ClaimedAttempt {
  isStarted: boolean;
}

export class Disturbance {
  readonly #site: Site;
  readonly #draws: Draws;
  readonly #claimed = new Map<string, Claimed>();
  readonly #registrations = new Map<string, number>();
  #armed: Armed | undefined;
  /** Reports of completed runs that were acknowledged. */
  completions = 0;

  constructor(site: Site, draws: Draws) {
    this.#site = site;
    this.#draws = draws;
    site.wire.observe = (moment) => this.#observe(moment);
  }

  /** Kills at the point as soon as it is reached, and resolves when the process is back; undefined after `signal` is aborted. */
  async killAt(point: KillPoint, signal: AbortSignal): Promise<Kill | undefined> {
    const delayMs = this.#draws.fraction() * point.withinMs;
    if (point.at === undefined) return this.#killByChance(point, delayMs, signal);
    const armed: Armed = { point, delayMs, ...withResolvers<Kill | undefined>() };
    const disarm = (): void => {
      // Once it is triggered the kill takes its course.
      if (this.#armed !== armed) return;
      this.#armed = undefined;
      armed.resolve(undefined);
    };
    this.#armed = armed;
    signal.addEventListener('abort', disarm, { once: true });
    if (signal.aborted) disarm();
    return armed.promise.finally(() => signal.removeEventListener('abort', disarm));
  }

  async #observe(moment: Moment): Promise<'pass' | 'drop'> {
    this.#record(moment);
    const armed = this.#armed;
    if (armed === undefined || !this.#isReached(armed.point, moment)) return 'pass';
    this.#armed = undefined;
    const { point, delayMs, resolve, reject } = armed;
    const killed = (async () => {
      if (delayMs > 0) await sleep(systemClock, delayMs);
      return this.#killProcess(point, moment.runnerId ?? RUNNER_IDS[0]);
    })();
    killed.then(async ({ recovered }) => recovered).then(resolve, reject);
    // A message that triggers a kill with a delay travels meanwhile; another one never arrives.
    if (point.withinMs > 0) return 'pass';
    await killed;
    return 'drop';
  }

  #isReached({ at, victim }: KillPoint, { stage, operation, request, reply, runnerId }: Moment): boolean {
    if (at === undefined || at.stage !== stage || at.operation !== operation) return false;
    if (reply !== undefined && reply.status >= 300) return false;
    // A claim is described by its reply, which says whether there is work, and a report by its request.
    const text = operation === 'claim' ? (reply?.text ?? '') : request;
    if (at.contains !== undefined && !text.includes(at.contains)) return false;
    return victim !== 'runner' || this.#mayKill(runnerId);
  }

  #mayKill(runnerId: string | undefined): boolean {
    const own = [...this.#claimed.values()].filter((it) => it.runnerId === runnerId);
    return own.every(({ attempt }) => attempt <= MOST_ATTEMPTS);
  }

  async #killByChance(point: KillPoint, delayMs: number, signal: AbortSignal): Promise<Kill | undefined> {
    await sleep(systemClock, delayMs, signal);
    while (!signal.aborted) {
      const victim = this.#victimOf(point.victim);
      if (victim !== undefined) return (await this.#killProcess(point, victim)).recovered;
      await sleep(systemClock, POLL_MS, signal);
    }
    return undefined;
  }

  /** The runner's id or the simulation's process to kill; undefined while there is none. */
  #victimOf(victim: Victim): string | undefined {
    if (victim === 'coordinator') return '';
    if (victim === 'runner') return this.#draws.shuffled(RUNNER_IDS).find((id) => this.#mayKill(id));
    const running = [...this.#claimed.values()].flatMap((it) => this.#site.simulationOf(it) ?? []);
    return running.length === 0 ? undefined : String(this.#draws.pick(running));
  }

  /** Resolves when the process is killed; `recovered` when it is back. */
  async #killProcess(point: KillPoint, victim: string): Promise<{ recovered: Promise<Kill> }> {
    const fromMs = systemClock.monotonicMs();
    const waiting = this.#waiting(point.victim, victim);
    let back: Promise<void> = Promise.resolve();
    if (point.victim === 'coordinator') {
      await this.#site.crashCoordinator();
      const killAfterMs = point.again === true ? this.#draws.fraction() * this.#site.startMs : undefined;
      back = this.#site.startCoordinator(killAfterMs);
    } else if (point.victim === 'runner') {
      await this.#site.crashRunner(victim);
      back = this.#restartRunner(victim, point);
    } else kill(Number(victim));
    const recovered = back.then(() => ({ point, recoveryMs: systemClock.monotonicMs() - fromMs, waiting }));
    recovered.catch(() => {});
    return { recovered };
  }

  #waiting(killed: Victim, runnerId: string): number {
    if (killed === 'simulation') return 0;
    const claimed = [...this.#claimed.values()].filter((it) => !it.isStarted);
    return claimed.filter((it) => killed === 'coordinator' || it.runnerId === runnerId).length;
  }

  async #restartRunner(id: string, point: KillPoint): Promise<void> {
    this.#forget(id);
    this.#site.startRunner(id);
    if (point.again === true) {
      // The kill comes at the registration of the runner or soon after it, while it kills the processes of its predecessor and delivers outcomes.
      await this.#registration(id, this.#draws.fraction() < 0.5 ? 'sent' : 'answered');
      await this.#site.crashRunner(id);
      this.#forget(id);
      this.#site.startRunner(id);
    }
    await this.#registration(id, 'answered');
  }

  #forget(id: string): void {
    for (const [job, claimed] of this.#claimed) if (claimed.runnerId === id) this.#claimed.delete(job);
    for (const when of ['sent', 'answered']) this.#registrations.delete(`${id} ${when}`);
  }

  async #registration(id: string, when: 'sent' | 'answered'): Promise<void> {
    while (!this.#registrations.has(`${id} ${when}`))
      await Promise.race([sleep(systemClock, POLL_MS), this.#site.died]);
  }

  /** Follows which run is with which runner. */
  #record({ stage, operation, runnerId, request, reply }: Moment): void {
    if (operation === 'register' && stage === 'request') this.#registrations.set(`${runnerId} sent`, 1);
    if (stage !== 'reply' || reply === undefined || reply.status >= 300 || runnerId === undefined) return;
    if (operation === 'register') this.#registrations.set(`${runnerId} answered`, 1);
    if (operation === 'claim') {
      const { assignments } = JSON.parse(reply.text) as { assignments: { job: { id: Uuid }; attempt: number }[] };
      for (const { job, attempt } of assignments)
        this.#claimed.set(job.id, { jobId: job.id, attempt, runnerId, isStarted: false });
    }
    if (operation === 'reports') {
      const { reports } = JSON.parse(request) as { reports: { type: string; job_id: string }[] };
      for (const { type, job_id: jobId } of reports) {
        if (type === 'start') {
          const claimed = this.#claimed.get(jobId);
          if (claimed !== undefined) claimed.isStarted = true;
          continue;
        }
        this.#claimed.delete(jobId);
        if (type === 'complete') this.completions += 1;
      }
    }
  }
}

/** Promise.withResolvers, which Node 20 lacks. */
function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: unknown) => void } {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
