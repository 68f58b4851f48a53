/**
 * Metrics in the Prometheus text format. Counters and histograms are updated by events; gauges are computed on request.
 * docs/operations.md explains each of them (a test checks that).
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { activeRuns, pendingRuns } from '../../machines/batch.ts';
import type { Fact } from '../../machines/protocol.ts';
import { RUNNER_STATUSES } from '../contract/enums.ts';
import type { Coordinator, CoordinatorHooks } from '../coordinator/coordinator.ts';
import { stateOf } from '../coordinator/actors/directory.ts';
import type { Store } from '../coordinator/storage/store.ts';
import { stopwatch } from '../base/clock.ts';

const TURN_SECS = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3];
const WRITE_SECS = [0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3];
const GROUP_RECORDS = [1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000];
const REQUEST_SECS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30];

export class Metrics {
  readonly #registry = new Registry();
  /** Series by their label values: prom-client's own lookup sorts and joins the labels each time. */
  readonly #series = new Map<string, { observe(value: number): void }>();
  readonly #turns = this.#histogram('simbatch_turn_seconds', 'Time a turn took, without its write.', TURN_SECS, [
    'operation',
    'outcome',
  ]);
  readonly #writes = this.#histogram('simbatch_commit_seconds', 'Time a group of changes took to disk.', WRITE_SECS);
  readonly #records = this.#histogram('simbatch_commit_records', 'Records written in one group.', GROUP_RECORDS);
  readonly #requests = this.#histogram(
    'simbatch_http_request_seconds',
    'Time until a request was answered; for a streamed list, until its answer began; for a claim, with its waiting.',
    REQUEST_SECS,
    ['operation', 'status'],
  );
  readonly #faults = this.#counter('simbatch_faults_total', 'Turns that threw and were rolled back.');
  readonly #refusals = this.#counter('simbatch_refused_credentials_total', 'Requests with wrong credentials.');
  readonly #submitted = this.#counter('simbatch_batches_submitted_total', 'Studies submitted.');
  readonly #batchesEnded = this.#counter('simbatch_batches_ended_total', 'Studies ended, by status.', ['status']);
  readonly #jobsEnded = this.#counter(
    'simbatch_jobs_ended_total',
    'Jobs ended, by status; without runs never assigned that end with their cancelled study.',
    ['status'],
  );
  readonly #requeued = this.#counter('simbatch_jobs_requeued_total', 'Jobs requeued, by reason.', ['reason']);
  readonly #lost = this.#counter('simbatch_attempts_lost_total', 'Attempts whose runner was lost or forgot them.');
  readonly #silent = this.#counter('simbatch_runners_silent_total', 'Times a runner went Offline without signing off.');

  /** Hooks for the coordinator, passed when it is opened. */
  readonly news: Required<Pick<CoordinatorHooks, 'fault' | 'committed' | 'turn'>> = {
    fault: () => this.#faults.inc(),
    committed: ({ facts, records }) => {
      this.#records.observe(records);
      this.#count(facts);
    },
    turn: (operation, outcome, secs) =>
      this.#observer(`turn ${operation} ${outcome}`, () => this.#turns.labels(operation, outcome)).observe(secs),
  };

  /** Returns the store with every write timed. */
  timed(store: Store): Store {
    const write: Store['write'] = async (changes) => {
      const startedMs = stopwatch();
      await store.write(changes);
      this.#writes.observe((stopwatch() - startedMs) / 1000);
    };
    return {
      write,
      get: (key) => store.get(key),
      snapshot: () => store.snapshot(),
      compact: (range) => store.compact?.(range) ?? Promise.resolve(),
      close: () => store.close(),
    };
  }

  /** Counts one answered request. */
  request(operation: string, status: number, secs: number): void {
    this.#observer(`request ${operation} ${status}`, () => this.#requests.labels(operation, String(status))).observe(
      secs,
    );
  }

  refusedCredentials(): void {
    this.#refusals.inc();
  }

  /** Adds the gauges that are computed on request: the state of this coordinator. */
  watch(coordinator: Coordinator): void {
    const { core } = coordinator;
    const open = () => [...core.scheduler.openBatches()];
    this.#gauge('simbatch_jobs', 'Jobs that are not terminal, by status.', ['status'], (set) => {
      const sum = { Pending: 0, Claimed: 0, Running: 0 };
      for (const batch of open()) {
        sum.Pending += pendingRuns(batch);
        sum.Claimed += batch.claimed;
        sum.Running += batch.running;
      }
      for (const [status, count] of Object.entries(sum)) set(count, status);
    });
    this.#gauge('simbatch_batches', 'Studies that are not terminal, by status.', ['status'], (set) => {
      const all = open();
      const pending = all.filter((it) => it.startedAtMs === undefined).length;
      set(pending, 'Pending');
      set(all.length - pending, 'Running');
    });
    this.#gauge('simbatch_runners', 'Runners, by status.', ['status'], (set) => {
      const statuses = [...core.directory.runners.values()].map((it) => stateOf(it).value);
      for (const status of RUNNER_STATUSES) set(statuses.filter((it) => it === status).length, status);
    });
    this.#gauge('simbatch_waiting_claims', 'Runners waiting for work.', [], (set) => set(core.longPolls.size));
    this.#gauge(
      'simbatch_oldest_waiting_batch_seconds',
      'Age of the oldest study that has pending runs and no active one.',
      [],
      (set) => {
        const now = core.clock.now();
        const waiting = open().filter((it) => pendingRuns(it) > 0 && activeRuns(it) === 0);
        set(Math.max(0, ...waiting.map((it) => (now - it.createdAtMs) / 1000)));
      },
    );
  }

  /** Adds Node's own metrics: memory, processor, event loop, garbage collection. */
  watchProcess(): void {
    collectDefaultMetrics({ register: this.#registry });
  }

  readonly contentType = this.#registry.contentType;

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #count(facts: readonly Fact[]): void {
    const ended = new Map<string, number>();
    for (const fact of facts) {
      if (fact.type === 'job.ended') ended.set(fact.to, (ended.get(fact.to) ?? 0) + 1);
      else this.#countOne(fact);
    }
    for (const [status, jobs] of ended) this.#jobsEnded.inc({ status }, jobs);
  }

  #countOne(fact: Fact): void {
    switch (fact.type) {
      case 'batch.opened':
        return this.#submitted.inc();
      case 'batch.ended':
        return this.#batchesEnded.inc({ status: fact.status });
      case 'job.requeued':
        return this.#requeued.inc({ reason: fact.why });
      case 'runner.lost':
        return this.#lost.inc(fact.held.length);
      case 'runner.silent':
        return this.#silent.inc();
      default:
    }
  }

  #observer(key: string, make: () => { observe(value: number): void }): { observe(value: number): void } {
    let known = this.#series.get(key);
    if (known === undefined) this.#series.set(key, (known = make()));
    return known;
  }

  #histogram(name: string, help: string, buckets: number[], labelNames: string[] = []): Histogram {
    return new Histogram({ name, help, buckets, labelNames, registers: [this.#registry] });
  }

  #counter(name: string, help: string, labelNames: string[] = []): Counter {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  #gauge(
    name: string,
    help: string,
    labelNames: string[],
    look: (set: (value: number, label?: string) => void) => void,
  ) {
    const [labelName] = labelNames;
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect: () =>
        look((value, label) =>
          labelName === undefined ? gauge.set(value) : gauge.set({ [labelName]: label ?? '' }, value),
        ),
    });
  }
}
