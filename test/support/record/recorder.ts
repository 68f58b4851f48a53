/**
 * Records a whole study: a real coordinator on a simulated clock and a store in memory, with every message to an actor and
 * every fact of it, turn by turn.
 */
import type { AnyEvent, Fact } from '../../../machines/protocol.ts';
import { SimbatchError } from '../../../src/domain/errors.ts';
import type { CoordinatorApi } from '../../../src/coordinator/api.ts';
import { openCoordinator, type Coordinator } from '../../../src/coordinator/coordinator.ts';
import type { Kind, StateOf } from '../../../src/coordinator/kernel/actors/actor-kinds.ts';
import type { InputOf } from '../../../src/coordinator/kernel/actors/directory.ts';
import type { Turn } from '../../../src/coordinator/kernel/turn/turn.ts';
import { plain } from '../../../machines/actor-player.ts';
import {
  SNAPSHOT_FORMAT,
  type RecordedMessage,
  type RecordedTurn,
  type SnapshotRecord,
  type Study,
} from '../../../src/coordinator/snapshots/format.ts';
import { MemoryStore } from '../memory-store.ts';
import { settled, SimulatedClock } from '../simulated-clock.ts';

type Operation = {
  [K in keyof CoordinatorApi]: CoordinatorApi[K] extends (...args: never[]) => Promise<unknown> ? K : never;
}[keyof CoordinatorApi];

/** Actions of a study's script. */
export interface Script {
  /** Calls the coordinator and returns its answer; undefined for a refusal. */
  ask<K extends Operation>(
    operation: K,
    ...args: Parameters<CoordinatorApi[K]>
  ): Promise<Awaited<ReturnType<CoordinatorApi[K]>>>;
  /** Calls the coordinator and asserts a refusal with this code. */
  refused<K extends Operation>(code: string, operation: K, ...args: Parameters<CoordinatorApi[K]>): Promise<void>;
  /** Advances the clock. */
  wait(seconds: number): Promise<void>;
  /** Kills the process and starts it again. */
  restart(): Promise<void>;
}

export interface StudyPlan {
  name: string;
  about: string;
  script(script: Script): Promise<void>;
}

/** Facts of actors; deadlines and the state of the system are not recorded. */
const isOfActors = (fact: Fact): boolean => !fact.type.startsWith('system.') && !fact.type.startsWith('deadline.');

/** A request, and its first turn. */
interface Asked {
  operation: string;
  args: unknown[];
  turn?: RecordedTurn;
}

class Recorder implements Script {
  readonly turns: Study['turns'] = [];
  #world = new SimulatedClock({ nowMs: Date.UTC(2026, 0, 1), seed: 7 });
  readonly #disk = new Map<string, string>();
  #store = new MemoryStore(this.#disk);
  #coordinator: Coordinator | undefined;
  /** The current request, recorded with its turn. */
  #request: Asked | undefined;

  async open(): Promise<void> {
    this.#store = new MemoryStore(this.#disk);
    const coordinator = await openCoordinator(this.#store, this.#world);
    this.#listenTo(coordinator);
    this.#coordinator = coordinator;
  }

  /** Intercepts turns and the events and facts of actors. */
  #listenTo({ parts: { turns } }: Coordinator): void {
    let facts: Fact[] = [];
    const observe = turns.onFact.bind(turns);
    turns.onFact = (fact) => {
      facts.push(fact);
      observe(fact);
    };
    const runNow = turns.runNow.bind(turns);
    turns.runNow = <T>(operation: string, body: (turn: Turn) => T) => {
      const messages: RecordedMessage[] = [];
      const now = this.#world.now();
      let turn: Turn | undefined;
      facts = [];
      const done = runNow(operation, (running) => {
        turn = running;
        listenToTurn(running, messages);
        return body(running);
      });
      this.#note(operation, now, messages, facts.filter(isOfActors), turn as Turn);
      return done;
    };
  }

  #note(operation: string, now: number, messages: RecordedMessage[], facts: Fact[], turn: Turn): void {
    if (messages.length === 0) return;
    const states: Record<string, string> = {};
    for (const { to } of messages) {
      const [kind, id] = to.split('/') as ['job', string];
      states[to] = turn.state(kind, id)?.value ?? 'none';
    }
    const recorded: RecordedTurn = {
      at: now,
      operation,
      messages: plain(messages),
      ...(facts.length === 0 ? {} : { facts: plain(facts) }),
      states,
    };
    this.turns.push(recorded);
    if (this.#request !== undefined) this.#request.turn ??= recorded;
  }

  async #asked(operation: Operation, args: unknown[]): Promise<unknown> {
    const request: Asked = { operation, args };
    this.#request = request;
    const ask = this.#coordinator?.[operation] as (...given: unknown[]) => Promise<unknown>;
    const at = this.#world.now();
    let outcome: { answer: unknown } | { refusal: string };
    let error: unknown;
    try {
      outcome = { answer: plain((await ask(...args)) ?? null) };
    } catch (thrown) {
      if (!(thrown instanceof SimbatchError)) throw thrown;
      error = thrown;
      outcome = { refusal: thrown.code };
    }
    this.#request = undefined;
    await settled();
    const own = request.turn;
    if (own === undefined) this.turns.push({ at, operation, request: plain(args), ...outcome });
    else {
      const { at: turnAt, operation: name, ...rest } = own;
      Object.assign(clear(own), { at: turnAt, operation: name, request: plain(args), ...outcome, ...rest });
    }
    if (error !== undefined) throw error;
    return outcome;
  }

  async ask<K extends Operation>(
    operation: K,
    ...args: Parameters<CoordinatorApi[K]>
  ): Promise<Awaited<ReturnType<CoordinatorApi[K]>>> {
    const outcome = (await this.#asked(operation, args)) as { answer: Awaited<ReturnType<CoordinatorApi[K]>> };
    return outcome.answer;
  }

  async refused<K extends Operation>(
    code: string,
    operation: K,
    ...args: Parameters<CoordinatorApi[K]>
  ): Promise<void> {
    const error = await this.#asked(operation, args).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if ((error as SimbatchError | undefined)?.code !== code) {
      throw new Error(`${operation} was not refused with ${code} but ended with ${String(error)}`);
    }
  }

  async wait(seconds: number): Promise<void> {
    await this.#world.advance(seconds * 1000);
    await settled();
  }

  async restart(): Promise<void> {
    this.#store.crash();
    const nowMs = this.#world.now();
    this.turns.push({ at: nowMs, restart: true });
    // The timers of the dead process die with it.
    this.#world = new SimulatedClock({ nowMs, seed: 8 });
    await this.open();
  }

  /** All records of the store, in the order of an export. */
  async records(): Promise<SnapshotRecord[]> {
    const { records } = await (this.#coordinator as Coordinator).exportSnapshot();
    const all: SnapshotRecord[] = [];
    for await (const chunk of records.chunks) {
      for (const { key, json } of chunk)
        all.push({ key, value: JSON.parse(json) as Record<string, unknown> } as SnapshotRecord);
    }
    return all;
  }
}

function clear<T extends object>(target: T): T {
  for (const name of Object.keys(target)) delete (target as Record<string, unknown>)[name];
  return target;
}

function listenToTurn(turn: Turn, messages: RecordedMessage[]): void {
  // Every event goes through `trySend`: sent by an operation or delivered by the wiring.
  const trySend = turn.trySend.bind(turn);
  const create = turn.create.bind(turn);
  const listening: Pick<Turn, 'trySend' | 'create'> = {
    trySend<K extends Kind>(kind: K, id: string, event: AnyEvent): StateOf[K] | undefined {
      const after = trySend<K>(kind, id, event);
      if (after !== undefined) messages.push({ to: `${kind}/${id}`, event });
      return after;
    },
    create<K extends keyof InputOf>(kind: K, id: string, input: InputOf[K]): StateOf[K] {
      messages.push({ to: `${kind}/${id}`, create: input as unknown as Record<string, unknown> });
      return create<K>(kind, id, input);
    },
  };
  Object.assign(turn, listening);
}

export async function recordStudy(plan: StudyPlan): Promise<Study> {
  const { name, about } = plan;
  const recorder = new Recorder();
  await recorder.open();
  await plan.script(recorder);
  return {
    format: SNAPSHOT_FORMAT,
    kind: 'study',
    name,
    about,
    turns: recorder.turns,
    records: await recorder.records(),
  };
}
