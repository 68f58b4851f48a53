/**
 * The use of the pool over the last hours: slots and executing runs by minute, and the latest attempts of each runner.
 * In memory, counted from the facts of committed groups; empty after a start. No decision depends on it.
 */
import type { Fact, JobEnded, JobRequeued } from '../../../machines/protocol.ts';
import type { PoolHistory as Resource, Uuid } from '../../contract/types.ts';

const MINUTE_MS = 60_000;
/** Minutes that the history keeps: twelve hours. */
const MOST_MINUTES = 720;
/** Latest attempts of a runner: enough for its lanes. */
const MOST_ATTEMPTS = 240;
/** Runners with attempts; the one whose latest attempt ended first is forgotten. */
const MOST_RUNNERS = 2_000;

interface Minute {
  atMs: number;
  samples: number;
  slots: number;
  busy: number;
}

interface Ended {
  jobId: Uuid;
  attempt: number;
  startedMs: number;
  endedMs: number;
  outcome: string;
}

/** The use at one moment. */
export interface PoolUse {
  /** Slots of connected runners that are not drained. */
  slots: number;
  /** Slots that hold a run. */
  busy: number;
}

export class PoolHistory {
  readonly #minutes: Minute[] = [];
  readonly #attempts = new Map<string, Ended[]>();
  /** Start of each attempt that executes, by job. */
  readonly #running = new Map<Uuid, number>();
  #sampledMs = -Infinity;

  /** The interval between samples; a tick in between has nothing to do. */
  static readonly SAMPLE_MS = 5_000;

  /** Adds a sample to the minute, unless the last one is recent. `useOf` is only called then. */
  sample(now: number, useOf: () => PoolUse): void {
    if (now - this.#sampledMs < PoolHistory.SAMPLE_MS && now >= this.#sampledMs) return;
    this.#sampledMs = now;
    const { slots, busy } = useOf();
    const atMs = Math.floor(now / MINUTE_MS) * MINUTE_MS;
    const last = this.#minutes.at(-1);
    if (last?.atMs === atMs) {
      last.samples += 1;
      last.slots += slots;
      last.busy += busy;
      return;
    }
    this.#minutes.push({ atMs, samples: 1, slots, busy });
    if (this.#minutes.length > MOST_MINUTES) this.#minutes.shift();
  }

  committed(facts: readonly Fact[]): void {
    for (const fact of facts) {
      if (fact.type === 'job.started') this.#running.set(fact.jobId, fact.now);
      else if (fact.type === 'job.requeued' || fact.type === 'job.ended') this.#onEnd(fact);
      else if (fact.type === 'runner.forgotten') this.#attempts.delete(fact.runnerId);
    }
  }

  #onEnd(fact: JobEnded | JobRequeued): void {
    const startedMs = this.#running.get(fact.jobId);
    this.#running.delete(fact.jobId);
    const { runnerId, jobId, attempt, now } = fact;
    if (startedMs === undefined || runnerId === undefined) return;
    const outcome = fact.type === 'job.ended' ? fact.to.toLowerCase() : fact.outcome;
    const attempts = this.#attempts.get(runnerId) ?? [];
    attempts.push({ jobId, attempt, startedMs, endedMs: now, outcome });
    if (attempts.length > MOST_ATTEMPTS) attempts.shift();
    // A Map is in insertion order: the runner that ended an attempt last is the last one.
    this.#attempts.delete(runnerId);
    this.#attempts.set(runnerId, attempts);
    if (this.#attempts.size > MOST_RUNNERS) this.#attempts.delete(this.#attempts.keys().next().value as string);
  }

  /** Returns the history, with the latest attempts of these runners. */
  read(runners: readonly string[] = []): Resource {
    const iso = (ms: number): string => new Date(ms).toISOString();
    return {
      minutes: this.#minutes.map(({ atMs, samples, slots, busy }) => ({
        at: iso(atMs),
        slots: slots / samples,
        busy: busy / samples,
      })),
      attempts: runners.flatMap((id) =>
        (this.#attempts.get(id) ?? []).map((it) => ({
          runner_id: id,
          job_id: it.jobId,
          attempt: it.attempt,
          started_at: iso(it.startedMs),
          ended_at: iso(it.endedMs),
          outcome: it.outcome,
        })),
      ),
    };
  }
}
