/**
 * The turn: one request, from its validation to its reply. It runs to its end without waiting for anything, so no other
 * request comes between; it changes everything it touches or nothing; and it is answered when the change is on disk.
 */
import type { Address, AnyEvent, Fact, DeletionFact, JobChange } from '../../../machines/protocol.ts';
import { SimbatchError } from '../../domain/errors.ts';
import type { GroupCommit } from './group-commit.ts';
import { accepts, stateOf, type Activation, type Directory, type RecordSource } from '../actors/directory.ts';
import type { Kind, SnapshotOf, StateOf } from '../actors/actor-kinds.ts';
import type { ActorTransition } from './actor-transition.ts';
import { WIRING, type Message, type Registry, type Route } from './wiring.ts';
import type { Clock } from '../../base/clock.ts';

/** What a running turn offers to the operation it runs. */
export interface Turn {
  readonly now: number;
  /** The state at an address as of now, or undefined. */
  state<K extends Kind>(kind: K, id: string): StateOf[K] | undefined;
  /** Would the actor take the event? */
  accepts(kind: Kind, id: string, event: AnyEvent): boolean;
  /**
   * Sends an event and returns the state after it. What follows from it is told to others at the end of the turn, or by
   * `settle`.
   * @throws SimbatchError `illegal-transition`: the actor does not take it; nothing changed
   */
  send<K extends Kind>(kind: K, id: string, event: AnyEvent): StateOf[K];
  /** Like `send`, but gives undefined when the actor does not take the event. */
  trySend<K extends Kind>(kind: K, id: string, event: AnyEvent): StateOf[K] | undefined;
  /** Brings an actor to life that never was. */
  create<K extends 'batch' | 'runner'>(kind: K, id: string, input: Parameters<Directory['create']>[2]): StateOf[K];
  /** Tells of what this turn takes away. What lives tells its facts itself. */
  emit(fact: DeletionFact): void;
  /** Tells the facts so far through the wiring, until none is left. */
  deliverFacts(): void;
  /** A record to be written (null: deleted) together with the actors. */
  put(key: string, value: string | null): void;
  /** What the key holds, counting what this turn and those before it are about to write. */
  read(key: string): string | undefined;
  /** Is there such a record to be written already? */
  isPut(key: string): boolean;
}

/** Who wants to know what a turn did, before the next one begins. */
export interface TurnListener {
  /** The turn is ending: the records that go with its facts may be added. What this throws rolls the turn back. */
  ending(facts: readonly Fact[], turn: Turn): void;
  /** The turn has ended well; these actors were changed, these facts told. Must not throw: there is no way back. */
  concluded(changed: readonly Activation[], facts: readonly Fact[]): void;
  /** The turn threw something that was not a refusal; everything it touched is as before. */
  faulted(operation: string, error: unknown): void;
}

/** No conversation of a turn takes more rounds than this; more would be a loop in the wiring. */
const MAX_ROUNDS = 100;

export class Turns {
  readonly #directory: Directory;
  readonly #commits: GroupCommit;
  readonly #world: Clock;
  readonly #registry: Registry;
  readonly #listener: TurnListener;
  #facts: Fact[] = [];
  #refusal: SimbatchError | undefined;
  /** Whether steps are kept for those who watch: costs nothing while nobody does. */
  isWatched = false;

  constructor(parts: {
    directory: Directory;
    commits: GroupCommit;
    world: Clock;
    registry: Registry;
    listener: TurnListener;
  }) {
    this.#directory = parts.directory;
    this.#commits = parts.commits;
    this.#world = parts.world;
    this.#registry = parts.registry;
    this.#listener = parts.listener;
  }

  /** From now on every turn is refused with this error. */
  refuse(error: SimbatchError): void {
    this.#refusal ??= error;
  }

  /** A fact that an actor told, as the directory heard it. */
  onFact(fact: Fact): void {
    this.#facts.push(fact);
  }

  /**
   * Runs an operation as one turn. Its value is the reply.
   * @throws what the operation refused with; SimbatchError `internal` when it threw anything else; `unavailable`
   */
  async run<T>(operation: string, body: (turn: Turn) => T): Promise<T> {
    const { value, written } = this.runNow(operation, body);
    await written;
    return value;
  }

  /** Like `run`, but gives the value at once, together with the promise of its being on disk. */
  runNow<T>(operation: string, body: (turn: Turn) => T): { value: T; written: Promise<void> } {
    const refusal = this.#refusal ?? this.#commits.failure;
    if (refusal !== undefined) throw refusal;
    const running = new RunningTurn(this.#directory, this.#registry, this.#commits, this.#world.now(), this.#facts);
    running.isWatched = this.isWatched;
    let value: T;
    try {
      value = body(running);
      running.deliverFacts();
      this.#listener.ending(running.facts, running);
    } catch (error) {
      throw this.#takenBack(operation, running, error);
    } finally {
      this.#facts.length = 0;
    }
    const changed = this.#changedBy(running);
    try {
      this.#listener.concluded(changed, running.facts);
    } catch (error) {
      throw this.#commits.giveUp('has lost track of its state', error);
    }
    return { value, written: this.#commits.add(changed, running.puts, running.facts, running.transitions) };
  }

  /** Puts everything the turn touched back as it was. Returns what the caller is told. */
  #takenBack(operation: string, { touched }: RunningTurn, error: unknown): SimbatchError {
    for (const activation of touched) {
      this.#directory.rollBack(activation);
      this.#letRest(activation);
    }
    if (error instanceof SimbatchError && error.code !== 'internal') return error;
    this.#listener.faulted(operation, error);
    return new SimbatchError('internal', 'the coordinator met a fault of its own; nothing was changed', {
      cause: error,
    });
  }

  /** The actors that the turn changed; those it only woke to ask may rest again. */
  #changedBy(turn: RunningTurn): Activation[] {
    return turn.touched.filter((activation) => {
      const isChanged = activation.isNew || activation.actor.getSnapshot() !== activation.before;
      activation.before = undefined;
      activation.isNew = false;
      if (!isChanged) this.#letRest(activation);
      return isChanged;
    });
  }

  /** An actor that was only woken to be asked must not stay awake: anybody may ask about any run. */
  #letRest(activation: Activation): void {
    if (!this.#commits.holds(activation)) this.#directory.deactivate(activation);
  }
}

class RunningTurn implements Turn {
  readonly now: number;
  /** Each once: what is touched has a snapshot from before, or is new. */
  readonly touched: Activation[] = [];
  readonly puts = new Map<string, string | null>();
  /** All facts of the turn, in order. */
  readonly facts: Fact[] = [];
  /** What every actor took, in order; empty unless somebody watches. */
  readonly transitions: ActorTransition[] = [];
  isWatched = false;
  readonly #directory: Directory;
  readonly #registry: Registry;
  readonly #source: RecordSource;
  /** Facts heard and not yet told on; filled by the actors while they take an event. */
  readonly #heard: Fact[];

  constructor(directory: Directory, registry: Registry, source: RecordSource, now: number, heard: Fact[]) {
    this.#source = source;
    this.#directory = directory;
    this.#registry = registry;
    this.now = now;
    this.#heard = heard;
  }

  state<K extends Kind>(kind: K, id: string): StateOf[K] | undefined {
    return this.#directory.state(kind, id);
  }

  accepts(kind: Kind, id: string, event: AnyEvent): boolean {
    const activation = this.#directory.activate(kind, id);
    if (activation === undefined) return false;
    // Woken only to be asked: the end of the turn may let it rest again.
    this.#touch(activation);
    return accepts(activation, event);
  }

  send<K extends Kind>(kind: K, id: string, event: AnyEvent): StateOf[K] {
    const after = this.trySend(kind, id, event);
    if (after !== undefined) return after;
    const value = this.state(kind, id)?.value;
    throw new SimbatchError('illegal-transition', `the ${kind} is ${value}, which does not allow ${event.type}`);
  }

  trySend<K extends Kind>(kind: K, id: string, event: AnyEvent): StateOf[K] | undefined {
    const activation = this.#directory.activate(kind, id);
    if (activation === undefined) throw new Error(`there is no ${kind} ${id} to send ${event.type} to`);
    this.#touch(activation);
    const before: unknown = activation.actor.getSnapshot();
    const heard = this.#heard.length;
    const from = this.isWatched ? stateOf(activation).value : '';
    activation.actor.send(event);
    this.#soundOrThrow(activation, event.type);
    const after: unknown = activation.actor.getSnapshot();
    // An event that an actor takes changes its snapshot or tells a fact; one that it does not take leaves both as they were.
    // Asking `accepts` first would judge every event twice. A test holds all machines to this.
    if (after === before && this.#heard.length === heard) return undefined;
    if (this.isWatched) this.#note(activation, event, from);
    return stateOf(activation);
  }

  create<K extends 'batch' | 'runner'>(kind: K, id: string, input: Parameters<Directory['create']>[2]): StateOf[K] {
    const activation: Activation<K> = this.#directory.create(kind, id, input as never);
    this.touched.push(activation);
    this.#soundOrThrow(activation, 'its beginning');
    if (this.isWatched) this.#note(activation, undefined, undefined);
    return stateOf(activation);
  }

  emit(fact: DeletionFact): void {
    this.#heard.push(fact);
  }

  put(key: string, value: string | null): void {
    this.puts.set(key, value);
  }

  read(key: string): string | undefined {
    return this.puts.has(key) ? (this.puts.get(key) ?? undefined) : this.#source.read(key);
  }

  isPut(key: string): boolean {
    return this.puts.has(key);
  }

  deliverFacts(): void {
    for (let round = 0; this.#heard.length > 0; round += 1) {
      if (round === MAX_ROUNDS) throw new Error(`the actors do not come to an end; last fact: ${this.#heard[0]?.type}`);
      const gathered = new Map<Address, JobChange[]>();
      // Direct messages first, with all that follows from them; then what was gathered, once per addressee. What is told while
      // a fact is routed joins the end.
      for (const fact of this.#heard) {
        this.facts.push(fact);
        this.#route(fact, gathered);
      }
      this.#heard.length = 0;
      for (const [to, changes] of gathered) {
        this.#deliver({ to, event: { type: 'JOBS_CHANGED', changes, now: this.now } });
      }
    }
  }

  #route(fact: Fact, gathered: Map<Address, JobChange[]>): void {
    for (const route of WIRING[fact.type] as readonly Route<Fact>[]) {
      if ('send' in route) {
        for (const message of route.send(fact, this.#registry)) this.#deliver(message);
        continue;
      }
      const to = route.gather(fact as JobChange);
      if (to === undefined) continue;
      const changes = gathered.get(to);
      if (changes === undefined) gathered.set(to, [fact as JobChange]);
      else changes.push(fact as JobChange);
    }
  }

  #deliver({ to, event, mayArriveLate: mayBeLate = false }: Message): void {
    const slash = to.indexOf('/');
    const kind = to.slice(0, slash) as Kind;
    const id = to.slice(slash + 1);
    try {
      if (this.trySend(kind, id, event) === undefined && !mayBeLate) this.send(kind, id, event);
    } catch (cause) {
      // Between actors a refusal is no caller's mistake but a fault of the wiring.
      throw new Error(`${to} did not take ${event.type}`, { cause });
    }
  }

  #note(activation: Activation, event: AnyEvent | undefined, from: string | undefined): void {
    const { value, context } = stateOf(activation);
    this.transitions.push({ kind: activation.kind, id: activation.id, event, from, to: value, context, now: this.now });
  }

  #touch(activation: Activation): void {
    if (activation.before !== undefined || activation.isNew) return;
    activation.before = activation.actor.getSnapshot() as SnapshotOf[Kind];
    this.touched.push(activation);
  }

  #soundOrThrow({ kind, id }: Activation, when: string): void {
    const fault = this.#directory.takeFault();
    if (fault !== undefined) throw new Error(`the ${kind} ${id} broke on ${when}`, fault);
  }
}
