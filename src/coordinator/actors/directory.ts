/**
 * The directory: who is alive. An address lives for ever, its activation does not: an actor is activated from its record
 * when something is said to it, and rests in the store again when it has nothing to wait for.
 */
import { createActor, fromTransition, type Actor, type AnyActorLogic, type AnyStateMachine } from 'xstate';
import type { BatchInput } from '../../../machines/batch.ts';
import type { Address, AnyEvent, Fact } from '../../../machines/protocol.ts';
import { batchIdOf, isJobId, runIdOf } from '../../domain/ids.ts';
import type { Uuid } from '../../contract/types.ts';
import { flatMachine, type TransitionObserver } from './flat-machine.ts';
import { keys } from '../storage/keys.ts';
import {
  decodeBatch,
  decodeJob,
  decodeRunner,
  derivedJob,
  isTerminal,
  ACTOR_KINDS,
  type BatchState,
  type JobState,
  type Kind,
  type RunnerState,
  type SnapshotOf,
  type StateOf,
} from './actor-kinds.ts';

/** One live actor. */
export interface Activation<K extends Kind = Kind> {
  readonly kind: K;
  readonly id: string;
  readonly address: Address;
  actor: Actor<AnyActorLogic>;
  /** The snapshot before the running turn touched it; undefined between turns. */
  before: SnapshotOf[K] | undefined;
  /** True until the turn that activated a new actor has ended well. */
  isNew: boolean;
  /** The group of changes with its latest one, until that is on disk. */
  unwritten: object | undefined;
}

/** What an actor begins with: the snapshot it goes on from, or the input of a new one. */
interface Beginning {
  snapshot?: unknown;
  input?: unknown;
}

/** What the directory reads records from: the store with what is about to be written laid over it. */
export interface RecordSource {
  read(key: string): string | undefined;
}

export class Directory {
  readonly #source: RecordSource;
  readonly #logic: { readonly [K in Kind]: AnyStateMachine };
  /** What a machine threw since it was last asked. */
  #fault: { cause: unknown } | undefined;
  readonly jobs = new Map<string, Activation<'job'>>();
  readonly batches = new Map<string, Activation<'batch'>>();
  readonly runners = new Map<string, Activation<'runner'>>();
  /** Ended batches as last read, for those who ask for their jobs. Small, and emptied when full. */
  readonly #endedBatches = new Map<string, BatchState>();

  readonly #maps: { readonly [K in Kind]: Map<string, Activation<K>> };
  readonly #readers: { readonly [K in Kind]: (id: string) => StateOf[K] | undefined } = {
    job: (id) => this.#readJob(id),
    batch: (id) => this.#readBatch(id),
    runner: (id) => this.#readRunner(id),
  };

  constructor(source: RecordSource, hear: (fact: Fact) => void) {
    this.#maps = { job: this.jobs, batch: this.batches, runner: this.runners };
    this.#source = source;
    const witness: TransitionObserver = {
      tell: (fact) => hear(fact as Fact),
      broke: (cause) => (this.#fault ??= { cause }),
    };
    const logic = (kind: Kind): AnyStateMachine => flatMachine(ACTOR_KINDS[kind].machine, witness);
    this.#logic = { job: logic('job'), batch: logic('batch'), runner: logic('runner') };
  }

  #live<K extends Kind>(kind: K): Map<string, Activation<K>> {
    return this.#maps[kind];
  }

  /** The state at an address without waking anybody, or undefined when there is nothing. */
  state<K extends Kind>(kind: K, id: string): StateOf[K] | undefined {
    const live = this.#live(kind).get(id);
    return live === undefined ? this.#readers[kind](id) : stateOf(live);
  }

  #readRunner(id: string): RunnerState | undefined {
    const record = this.#source.read(keys.runner(id));
    return record === undefined ? undefined : decodeRunner(record);
  }

  #readBatch(id: Uuid): BatchState | undefined {
    const known = this.#endedBatches.get(id);
    if (known !== undefined) return known;
    const record = this.#source.read(keys.batch(id));
    if (record === undefined) return undefined;
    const state = decodeBatch(record);
    // An open batch is alive, or about to be: its record would be out of date with its next change.
    if (!isTerminal(state.value)) return state;
    if (this.#endedBatches.size >= 100) this.#endedBatches.clear();
    this.#endedBatches.set(id, state);
    return state;
  }

  #readJob(id: Uuid): JobState | undefined {
    if (!isJobId(id)) return undefined;
    const batch = this.state('batch', batchIdOf(id));
    const runId = runIdOf(id);
    if (batch === undefined || runId >= batch.context.totalJobs) return undefined;
    const record = isUntouched(batch, runId) ? undefined : this.#source.read(keys.job(id));
    return record === undefined ? derivedJob(id, runId, batch) : decodeJob(id, record, batch.context);
  }

  /** Has anything ever happened to this job? */
  isTouched(id: Uuid): boolean {
    const live = this.jobs.get(id);
    if (live === undefined) return this.#source.read(keys.job(id)) !== undefined;
    const { value, context } = stateOf(live);
    return value !== 'Pending' || context.attempt > 0;
  }

  /** The live actor at an address, woken if need be; undefined when there is nothing to wake. */
  activate<K extends Kind>(kind: K, id: string): Activation<K> | undefined {
    const live = this.#live(kind).get(id);
    if (live !== undefined) return live;
    const state = this.state(kind, id);
    return state === undefined ? undefined : this.restore(kind, id, state);
  }

  /** Brings an actor to life in a given state. */
  restore<K extends Kind>(kind: K, id: string, state: StateOf[K]): Activation<K> {
    const snapshot: unknown = this.#logic[kind].resolveState(state);
    return this.#activation(kind, id, { snapshot }, false);
  }

  /** Brings an actor to life that never was. */
  create<K extends 'batch' | 'runner'>(
    kind: K,
    id: string,
    input: K extends 'batch' ? BatchInput : { runnerId: string; now: number },
  ): Activation<K> {
    return this.#activation(kind, id, { input }, true);
  }

  #activation<K extends Kind>(kind: K, id: string, options: Beginning, isNew: boolean): Activation<K> {
    const actor = this.#start(kind, options);
    const activation: Activation<K> = {
      kind,
      id,
      address: `${kind}/${id}`,
      actor,
      before: undefined,
      isNew,
      unwritten: undefined,
    };
    this.#live(kind).set(id, activation);
    return activation;
  }

  #start(kind: Kind, options: Beginning): Actor<AnyActorLogic> {
    const actor: Actor<AnyActorLogic> = createActor(this.#logic[kind], options as Record<string, never>);
    // Only the making of a first state can still fail here; without a listener that would end the process.
    if ('input' in options) actor.subscribe({ error: (cause) => (this.#fault ??= { cause }) });
    actor.start();
    return actor;
  }

  /** What a machine threw since this was last asked, if one did. Its actor is as it was before. */
  takeFault(): { cause: unknown } | undefined {
    const fault = this.#fault;
    this.#fault = undefined;
    return fault;
  }

  /** Puts an actor back to what it was before the running turn. */
  rollBack(activation: Activation): void {
    activation.actor.stop();
    if (activation.isNew) {
      this.#live(activation.kind).delete(activation.id);
      return;
    }
    activation.actor = this.#start(activation.kind, { snapshot: activation.before });
    activation.before = undefined;
  }

  /** An ended batch that is no more. */
  forgetBatch(id: Uuid): void {
    this.#endedBatches.delete(id);
  }

  /** A runner that is no more. */
  forgetRunner(id: string): void {
    this.runners.get(id)?.actor.stop();
    this.runners.delete(id);
  }

  /** Ends an activation whose state is on disk, if it has nothing to wait for. */
  deactivate(activation: Activation): void {
    const { kind, id } = activation;
    if (!mayDeactivateNow(activation) || this.#live(kind).get(id) !== activation) return;
    activation.actor.stop();
    this.#live(kind).delete(id);
    // A map that grows or shrinks leaves its old table to the collector of garbage, and an old table that has come to be old
    // keeps what it names alive until the next full collection: a third of all jobs were kept so.
    activation.actor = AT_REST;
  }
}

/** Stands for the actor of an activation that has ended. */
const AT_REST = createActor(fromTransition((state: null) => state, null));

/** True for a run that certainly has no record: looking for one costs as much as the rest of waking it. */
const isUntouched = ({ context }: BatchState, runId: number): boolean =>
  runId >= context.next && context.cancelledAhead === 0;

/** Which state, and the data beside it. */
export function stateOf<K extends Kind>(activation: Activation<K>): StateOf[K] {
  return activation.actor.getSnapshot();
}

/** Would the actor take the event now? */
export function accepts(activation: Activation, event: AnyEvent): boolean {
  return (activation.actor.getSnapshot() as { can(event: unknown): boolean }).can(event);
}

function mayDeactivateNow<K extends Kind>(activation: Activation<K>): boolean {
  return ACTOR_KINDS[activation.kind].mayDeactivate(stateOf(activation));
}
