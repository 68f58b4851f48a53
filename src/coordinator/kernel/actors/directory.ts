/**
 * The directory of active actors. Actors are virtual: an address is permanent, an activation is not. An event activates an
 * actor from its record; an actor without a deadline or a holder is deactivated after its write.
 */
import type { BatchContext, BatchInput } from '../../../../machines/batch.ts';
import type { NotificationInput } from '../../../../machines/notification/context.ts';
import type { Address, AnyEvent } from '../../../../machines/protocol.ts';
import { batchIdOf, isJobId, runIdOf } from '../../../domain/ids.ts';
import type { Uuid } from '../../../contract/types.ts';
import { inShape } from '../../../base/interpreters/context-merge.ts';
import { SUPERVISION } from '../../../../machines/supervisor/policy.ts';
import type { TimedActor } from './deadline-queue.ts';
import { keys } from '../storage/keys.ts';
import type { ActorOf, ActorSystem, LogicOf } from './actor-system.ts';
import {
  decodeBatch,
  decodeJob,
  decodeNotification,
  decodeRunner,
  derivedJob,
  isTerminal,
  ACTOR_KINDS,
  type BatchState,
  type JobState,
  type Kind,
  type NotificationState,
  type RunnerState,
  type SnapshotOf,
  type StateOf,
  type StoredKind,
} from './actor-kinds.ts';

/** The active actors of a kind. An activation refers to its table: a lookup by the name of a kind takes longer than most uses of it. */
interface ActorTable<K extends Kind> {
  readonly stored: Pick<StoredKind<K>, 'key' | 'encode' | 'deadline' | 'mayDeactivate'>;
  readonly logic: LogicOf<K>;
  readonly active: Map<string, Activation<K>>;
  /** Returns the state from its record, or undefined when there is no such actor. */
  readonly read: (id: string) => StateOf[K] | undefined;
}

/** One active actor. */
export interface Activation<K extends Kind = Kind> extends TimedActor {
  readonly kind: K;
  readonly table: ActorTable<K>;
  readonly id: string;
  readonly address: Address;
  /** Replaced when the supervisor restarts it. */
  actor: ActorOf<K>;
  /** The snapshot before the running turn touched it; undefined between turns. */
  before: SnapshotOf[K] | undefined;
  /** True until the turn that created the actor has completed. */
  isNew: boolean;
  /** The commit group that holds its latest change, until that group is on disk. */
  unwritten: object | undefined;
}

/** The inputs of the actors that requests and facts create; jobs are derived from their batch. */
export interface InputOf {
  batch: BatchInput;
  runner: { runnerId: string; now: number };
  notification: NotificationInput;
}

/** Returns the index of a run among the runs of its batch; undefined when the batch does not hold the run. */
export type IndexOfRun = (batch: BatchContext, runId: number) => number | undefined;

/** A source of records: the store, including unwritten changes. */
export interface RecordSource {
  read(key: string): string | undefined;
}

export class Directory {
  readonly #source: RecordSource;
  readonly #indexOfRun: IndexOfRun;
  readonly #system: ActorSystem;
  readonly jobs = new Map<string, Activation<'job'>>();
  readonly batches = new Map<string, Activation<'batch'>>();
  readonly runners = new Map<string, Activation<'runner'>>();
  readonly notifications = new Map<string, Activation<'notification'>>();
  /** Cache of ended batches, for reads of their jobs. Small; cleared when full. */
  readonly #endedBatches = new Map<string, BatchState>();

  readonly #tables: { readonly [K in Kind]: ActorTable<K> };

  constructor(source: RecordSource, indexOfRun: IndexOfRun, system: ActorSystem) {
    this.#source = source;
    this.#indexOfRun = indexOfRun;
    this.#system = system;
    const table = <K extends Kind>(
      kind: K,
      active: Map<string, Activation<K>>,
      read: (id: string) => StateOf[K] | undefined,
    ): ActorTable<K> => {
      const stored: StoredKind<K> = ACTOR_KINDS[kind];
      return { stored, logic: system.logicOf(kind), active, read };
    };
    this.#tables = {
      job: table('job', this.jobs, (id) => this.#readJob(id)),
      batch: table('batch', this.batches, (id) => this.#readBatch(id)),
      runner: table('runner', this.runners, (id) => this.#readRunner(id)),
      notification: table('notification', this.notifications, (id) => this.#readNotification(id)),
    };
  }

  /** Returns the state at an address without activating it, or undefined when there is no such actor. */
  state<K extends Kind>(kind: K, id: string): StateOf[K] | undefined {
    const { active, read }: ActorTable<K> = this.#tables[kind];
    const live = active.get(id);
    return live === undefined ? read(id) : stateOf(live);
  }

  #readRunner(id: string): RunnerState | undefined {
    const record = this.#source.read(keys.runner(id));
    return record === undefined ? undefined : decodeRunner(record);
  }

  #readNotification(id: string): NotificationState | undefined {
    const record = this.#source.read(keys.notification(id));
    return record === undefined ? undefined : decodeNotification(record);
  }

  #readBatch(id: Uuid): BatchState | undefined {
    const known = this.#endedBatches.get(id);
    if (known !== undefined) return known;
    const record = this.#source.read(keys.batch(id));
    if (record === undefined) return undefined;
    const state = decodeBatch(record);
    // Only ended batches are cached: the record of an open batch is out of date after its next change.
    if (!isTerminal(state.value)) return state;
    if (this.#endedBatches.size >= 100) this.#endedBatches.clear();
    this.#endedBatches.set(id, state);
    return state;
  }

  #readJob(id: Uuid): JobState | undefined {
    if (!isJobId(id)) return undefined;
    const batch = this.state('batch', batchIdOf(id));
    const runId = runIdOf(id);
    // Where the submission is damaged, the runs that have a record are known all the same.
    const known = batch?.context.selectsRuns === true ? this.#source.read(keys.job(id)) : undefined;
    if (batch !== undefined && known !== undefined) return decodeJob(id, known, batch.context);
    const index = batch === undefined ? undefined : this.#indexOfRun(batch.context, runId);
    if (batch === undefined || index === undefined) return undefined;
    const record =
      batch.context.selectsRuns === true || isUntouched(batch, index) ? undefined : this.#source.read(keys.job(id));
    return record === undefined ? derivedJob(id, runId, index, batch) : decodeJob(id, record, batch.context);
  }

  /** Returns true when the job was claimed or ended, so that it has a record. */
  isTouched(id: Uuid): boolean {
    const live = this.jobs.get(id);
    if (live === undefined) return this.#source.read(keys.job(id)) !== undefined;
    const { value, context } = stateOf(live);
    return value !== 'Pending' || context.attempt > 0;
  }

  /** Returns the activation at an address, activating it if necessary; undefined when there is no such actor. */
  activate<K extends Kind>(kind: K, id: string): Activation<K> | undefined {
    const { active, read }: ActorTable<K> = this.#tables[kind];
    const live = active.get(id);
    if (live !== undefined) return live;
    const state = read(id);
    // The event may change an ended batch, and the cache has it as it was.
    if (kind === 'batch') this.#endedBatches.delete(id);
    return state === undefined ? undefined : this.restore(kind, id, state);
  }

  /** Activates an actor in a given state. */
  restore<K extends Kind>(kind: K, id: string, state: StateOf[K]): Activation<K> {
    // The context of a job is a literal already.
    const { value, context } = kind === 'job' ? state : { ...state, context: inShape(state.context) };
    return this.#activation(kind, id, { snapshot: this.#snapshot(kind, { value, context }) }, false);
  }

  /** Creates and activates a new actor. The snapshot of one whose machine throws has the status `error`. */
  create<K extends keyof InputOf>(kind: K, id: string, input: InputOf[K]): Activation<K> {
    return this.#activation(kind, id, { input }, true);
  }

  /** Returns the activation at an address, if it is active. */
  find(address: string): Activation | undefined {
    const slash = address.indexOf('/');
    const table: ActorTable<Kind> | undefined = this.#tables[address.slice(0, slash) as Kind];
    return table?.active.get(address.slice(slash + 1));
  }

  #snapshot(kind: Kind, { value, context }: { value: string; context: object }): object {
    const logic: { resolveState(state: object): object } = this.#tables[kind].logic;
    return logic.resolveState({ value, context });
  }

  #activation<K extends Kind>(
    kind: K,
    id: string,
    from: { input: object } | { snapshot: object },
    isNew: boolean,
  ): Activation<K> {
    const table: ActorTable<K> = this.#tables[kind];
    const address: Address = `${kind}/${id}`;
    const activation: Activation<K> = {
      kind,
      table,
      id,
      address,
      actor: this.#system.start(table.logic, address, from),
      before: undefined,
      isNew,
      unwritten: undefined,
      deadline: undefined,
      deadlineEntry: undefined,
    };
    table.active.set(id, activation);
    return activation;
  }

  /**
   * Returns an actor to its last committed snapshot: stops it, and starts another one at its address. The end of an actor that threw, of
   * its neighbours in the turn, and of those that a refused turn has changed.
   */
  rollBack(activation: Activation): void {
    const { kind, table, id, address, actor, before, isNew } = activation;
    activation.before = undefined;
    if (!isNew && actor.getSnapshot() === before) return;
    this.#system.stop(actor);
    if (before === undefined || SUPERVISION[kind][isNew ? 'created' : 'committed'] === 'forget') {
      table.active.delete(id);
      activation.actor = ENDED;
    } else {
      activation.actor = this.#system.start(table.logic, address, { snapshot: this.#snapshot(kind, before) });
    }
  }

  /** Drops a deleted batch from the cache. */
  forgetBatch(id: Uuid): void {
    this.#endedBatches.delete(id);
  }

  /** Ends the activation of a deleted runner. */
  forgetRunner(id: string): void {
    const runner = this.runners.get(id);
    if (runner === undefined) return;
    this.runners.delete(id);
    this.#system.stop(runner.actor);
  }

  /** Ends an activation whose state is on disk, if its kind allows it. */
  deactivate(activation: Activation): void {
    const { id, actor, table } = activation;
    if (actor === ENDED || !table.stored.mayDeactivate(stateOf(activation))) return;
    if (table.active.get(id) !== activation) return;
    table.active.delete(id);
    this.#system.stop(actor);
    // A Map that is resized leaves its old table to the garbage collector, and a table in the old generation keeps its values
    // reachable until the next full collection: this retained a third of all jobs.
    activation.actor = ENDED;
  }
}

/** Replaces the actor of an activation that has ended. */
const ENDED = Object.freeze({}) as never;

/** True for a run that certainly has no record: reading the store costs as much as the rest of the activation. */
const isUntouched = ({ context }: BatchState, index: number): boolean =>
  index >= context.next && context.cancelledAhead === 0;

/** Returns the state of an active actor. */
export function stateOf<K extends Kind>({ actor }: Activation<K>): StateOf[K] {
  return actor.getSnapshot();
}

/** Returns the state of an active actor as it is stored. */
export function persistedState<K extends Kind>({ actor }: Activation<K>): StateOf[K] {
  return actor.getPersistedSnapshot() as unknown as StateOf[K];
}

/** Returns true when the actor would take the event now. */
export function accepts({ actor }: Activation, event: AnyEvent): boolean {
  return (actor.getSnapshot() as { can(event: unknown): boolean }).can(event);
}
