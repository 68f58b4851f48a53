/**
 * The topics of the machine view: the number of actors in each state, transitions taken, latest events; and one actor with
 * every event it takes.
 */
import type { MachineName } from '../../../machines/kinds.ts';
import type { Fact } from '../../../machines/protocol.ts';
import type { SupervisorSnapshot } from '../../../machines/supervisor.ts';
import type { ActorData, ActorSteps, MachineData } from '../../contract/types.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { batchIdOf } from '../../domain/ids.ts';
import type { Commit } from '../coordinator.ts';
import type { Core } from '../core.ts';
import { allOf, keys } from '../storage/keys.ts';
import { jobsByStatus } from '../resources/to-resource.ts';
import { decodeBatch, decodeRunner, type Kind } from '../actors/actor-kinds.ts';
import type { ActorTransition } from '../turn/actor-transition.ts';
import { keepLast, type Topic } from './topic.ts';

/** One event, as a line of a log. */
type EventLine = MachineData['events'][number];

const LINES = 40;

/** One kind of machine: counts by state (complete), transitions since the last delta, and the latest events. */
export class MachineTopic implements Topic<MachineData> {
  readonly everyMs = 200;
  readonly #core: Core;
  readonly #kind: MachineName;
  readonly #supervisor: () => SupervisorSnapshot;
  #counts: Map<string, number> | undefined;
  readonly #flow = new Map<string, number>();
  #events: EventLine[] = [];
  #isStale = false;
  #isChanged = false;

  constructor(core: Core, kind: MachineName, supervisor: () => SupervisorSnapshot) {
    this.#core = core;
    this.#kind = kind;
    this.#supervisor = supervisor;
  }

  async snapshot(): Promise<MachineData> {
    this.#counts = await this.#count();
    this.#isStale = false;
    return { counts: Object.fromEntries(this.#counts), flow: {}, events: this.#events };
  }

  onCommit({ facts, transitions: steps }: Commit): boolean {
    if (this.#kind === 'supervisor') {
      for (const fact of facts) {
        if (fact.type === 'deadline.passed') this.#took(line('supervisor', 'TICK', 'Serving', 'Serving', fact.now));
        if (fact.type === 'system.faulted') this.#took(line('supervisor', 'FAULT', 'Serving', 'Serving', fact.now));
      }
      return this.#isChanged;
    }
    for (const { type } of facts) {
      if (type === (this.#kind === 'runner' ? 'runner.forgotten' : 'batch.deleted')) {
        this.#isStale = true;
        this.#isChanged = true;
      }
    }
    for (const step of steps) {
      if (step.kind === this.#kind) {
        this.#took(line(step.id, step.event?.type ?? '', step.from, step.to, step.now));
        this.#move(step);
      } else if (
        this.#kind === 'job' &&
        step.kind === 'batch' &&
        (step.event === undefined || step.event.type === 'CANCEL')
      ) {
        // Untouched runs are created and cancelled by number, without an event each.
        this.#isStale = true;
        this.#isChanged = true;
      }
    }
    return this.#isChanged;
  }

  #took(it: EventLine): void {
    this.#isChanged = true;
    const transition = `${it.from ?? ''}|${it.event}|${it.to}`;
    this.#flow.set(transition, (this.#flow.get(transition) ?? 0) + 1);
    this.#events.push(it);
    keepLast(this.#events, LINES);
  }

  #move({ from, to }: ActorTransition): void {
    const counts = this.#counts;
    if (counts === undefined || from === to) return;
    if (from !== undefined) counts.set(from, (counts.get(from) ?? 0) - 1);
    counts.set(to, (counts.get(to) ?? 0) + 1);
  }

  async delta(): Promise<MachineData | undefined> {
    if (!this.#isChanged) return undefined;
    this.#isChanged = false;
    if (this.#isStale) {
      this.#isStale = false;
      this.#counts = await this.#count();
    }
    const delta = {
      counts: Object.fromEntries(this.#counts ?? []),
      flow: Object.fromEntries(this.#flow),
      events: this.#events,
    };
    this.#flow.clear();
    this.#events = [];
    return delta;
  }

  async #count(): Promise<Map<string, number>> {
    if (this.#kind === 'supervisor') return new Map([[this.#supervisor().value, 1]]);
    const counts = new Map<string, number>();
    const add = (state: string, count: number): void => void counts.set(state, (counts.get(state) ?? 0) + count);
    const snapshot = this.#core.store.snapshot();
    try {
      for await (const chunk of snapshot.entries(allOf(this.#kind === 'runner' ? 'runner' : 'batch'))) {
        for (const [, record] of chunk) {
          if (this.#kind === 'runner') add(decodeRunner(record).value, 1);
          else if (this.#kind === 'batch') add(decodeBatch(record).value, 1);
          else for (const [state, count] of Object.entries(jobsByStatus(decodeBatch(record)))) add(state, count);
        }
      }
    } finally {
      await snapshot.close();
    }
    return counts;
  }
}

const line = (id: string, event: string, from: string | undefined, to: string, now: number): EventLine => ({
  id,
  event,
  from,
  to,
  now,
});

/** One actor: its state and context, then each event it takes. */
export class ActorTopic implements Topic<ActorData, ActorSteps> {
  readonly everyMs = 100;
  readonly #core: Core;
  readonly #kind: Kind;
  readonly #id: string;
  #steps: ActorSteps['steps'] = [];
  #isGone = false;

  constructor(core: Core, kind: Kind, id: string) {
    this.#core = core;
    this.#kind = kind;
    this.#id = id;
  }

  async snapshot(): Promise<ActorData> {
    const exists = this.#core.store.get(this.#recordKey()) !== undefined;
    const state = exists ? this.#core.directory.state(this.#kind, this.#id) : undefined;
    if (state === undefined) throw this.#unknown();
    const { value, context } = state;
    return { value, context, now: this.#core.clock.now() };
  }

  /** The key that exists as long as the actor does: an untouched job has only its batch's record. */
  #recordKey(): string {
    if (this.#kind === 'job') return keys.batch(batchIdOf(this.#id));
    return keys[this.#kind](this.#id);
  }

  onCommit({ facts, transitions: steps }: Commit): boolean {
    for (const fact of facts) if (this.#isTheEnd(fact)) this.#isGone = true;
    for (const { kind, id, event, from, to, context, now } of steps) {
      if (kind === this.#kind && id === this.#id) this.#steps.push({ event, from, to, context, now });
    }
    keepLast(this.#steps, 200);
    return this.#isGone || this.#steps.length > 0;
  }

  #isTheEnd(fact: Fact): boolean {
    if (fact.type === 'runner.forgotten') return this.#kind === 'runner' && fact.runnerId === this.#id;
    if (fact.type !== 'batch.deleted' || this.#kind === 'runner') return false;
    return fact.batchId === (this.#kind === 'job' ? batchIdOf(this.#id) : this.#id);
  }

  /** The error for an actor that does not exist, or was deleted. */
  #unknown(): SimbatchError {
    return new SimbatchError(UNKNOWN[this.#kind], `there is no ${this.#kind} ${this.#id.slice(0, 100)}`);
  }

  delta(): ActorSteps | undefined {
    if (this.#isGone) {
      this.#isGone = false;
      this.#steps = [];
      if (this.#core.store.get(this.#recordKey()) === undefined) throw this.#unknown();
    }
    if (this.#steps.length === 0) return undefined;
    const steps = this.#steps;
    this.#steps = [];
    return { steps };
  }
}

const UNKNOWN = { job: 'unknown-job', batch: 'unknown-batch', runner: 'unknown-runner' } as const;
