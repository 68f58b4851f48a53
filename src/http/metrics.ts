/**
 * Metrics in the Prometheus text format. Counters and histograms are updated by events; gauges are computed on request.
 * docs/operations.md explains each of them (a test checks that).
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { activeRuns, pendingRuns } from '../../machines/batch.ts';
import { RUNNER_STATUSES, VERDICTS } from '../contract/enums.ts';
import type { Coordinator } from '../coordinator/lifecycle.ts';
import type { CoordinatorHooks } from '../coordinator/lifecycle.ts';
import type { ClockLeap } from '../domain/retention/sweep-times.ts';
import { stateOf } from '../coordinator/kernel/actors/directory.ts';
import { TOTALS, type Statistics, type TotalName, type Totals } from '../coordinator/scheduling/statistics.ts';
import type { Store } from '../coordinator/kernel/storage/store.ts';
import type { TurnOutcome } from '../coordinator/kernel/turn/measured-turns.ts';
import { stopwatch } from '../base/clock.ts';

const TURN_SECS = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3];
const WRITE_SECS = [0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3];
const GROUP_RECORDS = [1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000];
const REQUEST_SECS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30];

interface Observer {
  observe(value: number): void;
}

/** The series of a histogram by two labels: prom-client's own lookup sorts and joins the labels each time. */
class Series<Label extends string | number> {
  readonly #histogram: Histogram;
  readonly #known = new Map<string, Map<Label, Observer>>();

  constructor(histogram: Histogram) {
    this.#histogram = histogram;
  }

  of(operation: string, label: Label): Observer {
    let ofOperation = this.#known.get(operation);
    if (ofOperation === undefined) this.#known.set(operation, (ofOperation = new Map()));
    let known = ofOperation.get(label);
    if (known === undefined) ofOperation.set(label, (known = this.#histogram.labels(operation, String(label))));
    return known;
  }
}

export class Metrics {
  readonly #registry = new Registry();
  readonly #turns = new Series<TurnOutcome>(
    this.#histogram('simbatch_turn_seconds', 'Time a turn took, without its write.', TURN_SECS, [
      'operation',
      'outcome',
    ]),
  );
  readonly #writes = this.#histogram('simbatch_commit_seconds', 'Time a group of changes took to disk.', WRITE_SECS);
  readonly #records = this.#histogram('simbatch_commit_records', 'Records written in one group.', GROUP_RECORDS);
  readonly #requests = new Series<number>(
    this.#histogram(
      'simbatch_http_request_seconds',
      'Time until a request was answered; for a streamed list, until its answer began; for a claim, with its waiting.',
      REQUEST_SECS,
      ['operation', 'status'],
    ),
  );
  readonly #faults = this.#counter('simbatch_faults_total', 'Turns that threw and were rolled back.');
  readonly #failedActors = this.#counter(
    'simbatch_actor_failures_total',
    'Actors that threw and were restarted or forgotten, by kind and measure.',
    ['kind', 'measure'],
  );
  readonly #refusals = this.#counter('simbatch_refused_credentials_total', 'Requests with wrong credentials.');
  /** Counters of events, raised to the coordinator's totals. */
  readonly #totals: Record<TotalName, Counter> = {
    batchesSubmitted: this.#counter('simbatch_batches_submitted_total', 'Studies submitted.'),
    batchesEnded: this.#counter('simbatch_batches_ended_total', 'Studies ended, by status.', ['status']),
    jobsEnded: this.#counter(
      'simbatch_jobs_ended_total',
      'Jobs ended, by status; without runs never assigned that end with their cancelled study.',
      ['status'],
    ),
    jobsRequeued: this.#counter('simbatch_jobs_requeued_total', 'Jobs requeued, by reason.', ['reason']),
    attemptsLost: this.#counter('simbatch_attempts_lost_total', 'Attempts whose runner was lost or forgot them.'),
    notifications: this.#counter(
      'simbatch_notifications_total',
      'Requests to webhooks that were delivered or failed, and notifications given up or dropped, by outcome.',
      ['outcome'],
    ),
    runnersSilent: this.#counter('simbatch_runners_silent_total', 'Times a runner went Offline without signing off.'),
  };
  readonly #counted = new Map<string, number>();
  #leapSecs = 0;

  /** Hooks for the coordinator, passed when it is opened. */
  readonly news: Required<Pick<CoordinatorHooks, 'fault' | 'actorFailed' | 'committed' | 'turn'>> = {
    fault: () => this.#faults.inc(),
    actorFailed: ({ address, measure }) =>
      this.#failedActors.inc({ kind: address.slice(0, address.indexOf('/')), measure }),
    committed: ({ records }) => this.#records.observe(records),
    turn: ({ operation, outcome, secs }) => this.#turns.of(operation, outcome).observe(secs),
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
    this.#requests.of(operation, status).observe(secs);
  }

  refusedCredentials(): void {
    this.#refusals.inc();
  }

  /** Shows by how much the clock is ahead of the store, while nothing is deleted because of it. */
  clockLeapt(leap: ClockLeap | undefined): void {
    this.#leapSecs = leap === undefined ? 0 : (leap.nowMs - leap.knownMs) / 1000;
  }

  /** Adds the gauges that are computed on request: the state of this coordinator. */
  watch(coordinator: Coordinator): void {
    const { parts } = coordinator;
    this.#follow(parts.statistics);
    const open = () => parts.share.paced(parts.scheduler.openBatches());
    this.#gauge('simbatch_jobs', 'Jobs that are not terminal, by status.', ['status'], async (set) => {
      const sum = { Pending: 0, Claimed: 0, Running: 0 };
      for await (const batch of open()) {
        sum.Pending += pendingRuns(batch);
        sum.Claimed += batch.claimed;
        sum.Running += batch.running;
      }
      for (const [status, count] of Object.entries(sum)) set(count, status);
    });
    this.#gauge('simbatch_batches', 'Studies that are not terminal, by status.', ['status'], async (set) => {
      const count = { Pending: 0, Running: 0 };
      for await (const { startedAtMs } of open()) count[startedAtMs === undefined ? 'Pending' : 'Running'] += 1;
      for (const [status, batches] of Object.entries(count)) set(batches, status);
    });
    this.#gauge(
      'simbatch_requirements',
      'Requirements of open studies, by verdict so far.',
      ['verdict'],
      async (set) => {
        const count = new Map<string, number>(VERDICTS.map((verdict) => [verdict, 0]));
        for await (const verdict of parts.share.paced(parts.judgements.openVerdicts()))
          count.set(verdict, (count.get(verdict) ?? 0) + 1);
        for (const [verdict, requirements] of count) set(requirements, verdict);
      },
    );
    this.#gauge('simbatch_runners', 'Runners, by status.', ['status'], async (set) => {
      const count = new Map<string, number>(RUNNER_STATUSES.map((status) => [status, 0]));
      for await (const runner of parts.share.paced(parts.directory.runners.values())) {
        const { value } = stateOf(runner);
        count.set(value, (count.get(value) ?? 0) + 1);
      }
      for (const [status, runners] of count) set(runners, status);
    });
    this.#gauge('simbatch_notifications_waiting', 'Notifications that are not delivered yet.', [], (set) =>
      set(parts.directory.notifications.size),
    );
    this.#gauge(
      'simbatch_clock_leap_seconds',
      'By how much the clock was ahead of the store at the start, while nothing is deleted because of it; else 0.',
      [],
      (set) => set(this.#leapSecs),
    );
    this.#gauge('simbatch_waiting_claims', 'Runners waiting for work.', [], (set) => set(parts.longPolls.size));
    this.#gauge(
      'simbatch_oldest_waiting_batch_seconds',
      'Age of the oldest study that has pending runs and no active one.',
      [],
      async (set) => {
        let oldestMs = Infinity;
        for await (const batch of open()) {
          if (pendingRuns(batch) > 0 && activeRuns(batch) === 0) oldestMs = Math.min(oldestMs, batch.createdAtMs);
        }
        set(oldestMs === Infinity ? 0 : Math.max(0, (parts.clock.now() - oldestMs) / 1000));
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

  /** Raises the counters of events to the coordinator's totals, after each committed group. */
  #follow(statistics: Statistics): void {
    const raise = (totals: Totals): void => {
      for (const [name, counter] of Object.entries(this.#totals) as [TotalName, Counter][]) {
        const label = TOTALS[name];
        for (const [value, count] of Object.entries(totals[name])) {
          const key = `${name} ${value}`;
          const increment = count - (this.#counted.get(key) ?? 0);
          if (increment <= 0) continue;
          this.#counted.set(key, count);
          counter.inc(label === '' ? {} : { [label]: value }, increment);
        }
      }
    };
    raise(statistics.getSnapshot().context.totals);
    statistics.select(({ totals }) => totals).subscribe(raise);
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
    look: (set: (value: number, label?: string) => void) => void | Promise<void>,
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
