/**
 * The turn: one operation as an atomic unit. It runs synchronously, so no other operation interleaves; it commits all its
 * changes or none; its reply is sent after the changes are on disk.
 */
import type { Address, AnyEvent, Fact, RecordFact, JobChange } from '../../../../machines/protocol.ts';
import { isDamage, SimbatchError } from '../../../domain/errors.ts';
import type { GroupCommit } from './group-commit.ts';
import { accepts, stateOf, type Activation, type Directory, type InputOf } from '../actors/directory.ts';
import type { Kind, StateOf } from '../actors/actor-kinds.ts';
import type { TransitionLog } from './transition-log.ts';
import { WIRING, type Message, type Registry, type Route } from './wiring.ts';
import type { Clock } from '../../../base/clock.ts';

/** A running turn, as its operation uses it. */
export interface Turn {
  readonly now: number;
  /** The name of the client on whose behalf it runs; undefined where no credential is needed, and for the coordinator itself. */
  readonly actor: string | undefined;
  /** Returns the current state at an address, or undefined. */
  state<K extends Kind>(kind: K, id: string): StateOf[K] | undefined;
  /** Returns true when the actor would take the event. */
  accepts(kind: Kind, id: string, event: AnyEvent): boolean;
  /**
   * Sends an event and returns the state after it. The emitted facts reach other actors at the end of the turn, or by
   * `deliverFacts`.
   * @throws SimbatchError `illegal-transition`: the actor does not take the event; nothing changed
   */
  send<K extends Kind>(kind: K, id: string, event: AnyEvent): StateOf[K];
  /** Like `send`, but returns undefined when the actor does not take the event. */
  trySend<K extends Kind>(kind: K, id: string, event: AnyEvent): StateOf[K] | undefined;
  /** Creates a new actor. */
  create<K extends keyof InputOf>(kind: K, id: string, input: InputOf[K]): StateOf[K];
  /** Emits the fact that this turn deletes an actor or changes a record that belongs to none. All other facts come from actors. */
  emit(fact: RecordFact): void;
  /** Routes the facts so far through the wiring, until none is left. */
  deliverFacts(): void;
  /** Writes a record (null: deletes it) together with the actors. */
  put(key: string, value: string | null): void;
  /** Returns the value of a key, including unwritten changes of this turn and earlier ones. */
  read(key: string): string | undefined;
  /** Returns true when this turn has put the key. */
  isPut(key: string): boolean;
}

/** Receives the results of each turn before the next one starts. */
export interface TurnListener {
  /** Called at the end of a turn: may add the records that its facts imply. An error here rolls the turn back. */
  ending(facts: readonly Fact[], turn: Turn): void;
  /** Called after a turn with the actors it changed and its facts. Must not throw: the turn cannot be rolled back any more. */
  completed(changed: readonly Activation[], facts: readonly Fact[]): void;
  /** Called after a turn threw an error that is not a refusal, and was rolled back. */
  faulted(operation: string, error: unknown): void;
}

/** The limit on rounds of fact delivery in one turn; more indicate a loop in the wiring. */
const MAX_ROUNDS = 100;

interface TurnParts {
  directory: Directory;
  groupCommit: GroupCommit;
  clock: Clock;
  registry: Registry;
  transitionLog: TransitionLog;
  listener: TurnListener;
}

export class Turns {
  readonly #directory: Directory;
  readonly #groupCommit: GroupCommit;
  readonly #clock: Clock;
  readonly #listener: TurnListener;
  readonly #transitionLog: TransitionLog;
  #facts: Fact[] = [];
  #refusal: SimbatchError | undefined;

  /** The parts that it was made of. */
  readonly parts: TurnParts;

  constructor(parts: TurnParts) {
    this.parts = parts;
    this.#directory = parts.directory;
    this.#groupCommit = parts.groupCommit;
    this.#clock = parts.clock;
    this.#transitionLog = parts.transitionLog;
    this.#listener = parts.listener;
  }

  /** The name of the client on whose behalf all of them run. */
  get actor(): string | undefined {
    return undefined;
  }

  /** Refuses every later turn with this error. */
  refuse(error: SimbatchError): void {
    this.#refusal ??= error;
  }

  /** Takes a fact that an actor emitted. */
  onFact(fact: Fact): void {
    this.#facts.push(fact);
  }

  /**
   * Runs an operation as one turn and returns its value once its changes are on disk.
   * @throws SimbatchError the operation's refusal; `internal` when it threw any other error; `unavailable`
   */
  async run<T>(operation: string, body: (turn: Turn) => T): Promise<T> {
    const { value, written } = this.runNow(operation, body);
    await written;
    return value;
  }

  /** Like `run`, but returns the value at once, with a promise that resolves when its changes are on disk. */
  runNow<T>(operation: string, body: (turn: Turn) => T, actor?: string): { value: T; written: Promise<void> } {
    const refusal = this.#refusal ?? this.#groupCommit.failure;
    if (refusal !== undefined) throw refusal;
    const running = new RunningTurn(this.parts, this.#clock.now(), this.#facts);
    running.actor = actor;
    let value: T;
    try {
      value = body(running);
      running.deliverFacts();
      this.#listener.ending(running.facts, running);
    } catch (error) {
      throw this.#rollBack(operation, running, error);
    } finally {
      this.#facts.length = 0;
    }
    const changed = this.#changedBy(running);
    try {
      this.#listener.completed(changed, running.facts);
    } catch (error) {
      throw this.#groupCommit.giveUp('has lost track of its state', error);
    }
    const transitions = this.#transitionLog.takeTurn();
    return { value, written: this.#groupCommit.add(changed, running.puts, running.facts, transitions) };
  }

  /** Rolls back every actor that the turn touched. Returns the error for the caller. */
  #rollBack(operation: string, { touched }: RunningTurn, error: unknown): SimbatchError {
    for (const activation of touched) {
      this.#directory.rollBack(activation);
      this.#deactivate(activation);
    }
    this.#transitionLog.takeTurn();
    const isRefusal = error instanceof SimbatchError && error.code !== 'internal';
    if (isRefusal && error.code !== 'store-damaged') return error;
    this.#listener.faulted(operation, error);
    if (isRefusal) return error;
    return new SimbatchError('internal', 'the operation failed: internal error; nothing was changed', {
      cause: error,
    });
  }

  /** Returns the actors that the turn changed, and deactivates those it only read. */
  #changedBy(turn: RunningTurn): Activation[] {
    return turn.touched.filter((activation) => {
      const isChanged = activation.isNew || activation.actor.getSnapshot() !== activation.before;
      activation.before = undefined;
      activation.isNew = false;
      if (!isChanged) this.#deactivate(activation);
      return isChanged;
    });
  }

  /** Deactivates an actor that the turn did not change: queries about any run must not accumulate activations. */
  #deactivate(activation: Activation): void {
    if (!this.#groupCommit.holds(activation)) this.#directory.deactivate(activation);
  }
}

type RunningParts = Pick<TurnParts, 'directory' | 'registry' | 'groupCommit' | 'transitionLog'>;

class RunningTurn implements Turn {
  readonly now: number;
  actor: string | undefined;
  /** The touched actors, each once: a touched actor is new or has its previous snapshot in `before`. */
  readonly touched: Activation[] = [];
  readonly puts = new Map<string, string | null>();
  /** All facts of the turn, in order. */
  readonly facts: Fact[] = [];
  readonly #parts: RunningParts;
  readonly #directory: Directory;
  /** Facts that are not yet routed; actors add to it while they take an event. */
  readonly #pendingFacts: Fact[];

  constructor(parts: RunningParts, now: number, pendingFacts: Fact[]) {
    this.#parts = parts;
    this.#directory = parts.directory;
    this.now = now;
    this.#pendingFacts = pendingFacts;
  }

  state<K extends Kind>(kind: K, id: string): StateOf[K] | undefined {
    return this.#directory.state(kind, id);
  }

  accepts(kind: Kind, id: string, event: AnyEvent): boolean {
    const activation = this.#directory.activate(kind, id);
    if (activation === undefined) return false;
    // Activated only for a query: the end of the turn may deactivate it.
    this.#touch(activation);
    return accepts(activation, event) || this.#refuses(activation, event);
  }

  send<K extends Kind>(kind: K, id: string, event: AnyEvent): StateOf[K] {
    const after = this.trySend(kind, id, event);
    if (after !== undefined) return after;
    const value = this.state(kind, id)?.value;
    throw new SimbatchError('illegal-transition', `the ${kind} is ${value}, which does not allow ${event.type}`);
  }

  trySend<K extends Kind>(kind: K, id: string, event: AnyEvent): StateOf[K] | undefined {
    const activation = this.#directory.activate(kind, id);
    if (activation === undefined) throw new Error(`cannot send ${event.type}: there is no ${kind} ${id}`);
    this.#touch(activation);
    const { actor } = activation;
    const before = actor.getSnapshot();
    const factsBefore = this.#pendingFacts.length;
    actor.send(event);
    const after = actor.getSnapshot();
    throwIfFailed(activation, event.type);
    // An event that an actor takes changes its snapshot or emits a fact; a refused event does neither (a test checks this for
    // all machines). Calling `accepts` first would evaluate every guard twice.
    const isTaken = after !== before || this.#pendingFacts.length !== factsBefore;
    return isTaken || this.#refuses(activation, event) ? stateOf(activation) : undefined;
  }

  /** Notes a refused event for the inspector. Returns false. */
  #refuses(activation: Activation, event: AnyEvent): false {
    this.#parts.transitionLog.journal.refused(activation.address, event, stateOf(activation), this.now);
    return false;
  }

  create<K extends keyof InputOf>(kind: K, id: string, input: InputOf[K]): StateOf[K] {
    const activation: Activation<K> = this.#directory.create(kind, id, input);
    this.touched.push(activation);
    throwIfFailed(activation, 'creation');
    return stateOf(activation);
  }

  emit(fact: RecordFact): void {
    this.#pendingFacts.push(fact);
  }

  put(key: string, value: string | null): void {
    this.puts.set(key, value);
  }

  read(key: string): string | undefined {
    return this.puts.has(key) ? (this.puts.get(key) ?? undefined) : this.#parts.groupCommit.read(key);
  }

  isPut(key: string): boolean {
    return this.puts.has(key);
  }

  deliverFacts(): void {
    for (let round = 0; this.#pendingFacts.length > 0; round += 1) {
      if (round === MAX_ROUNDS)
        throw new Error(`the facts of a turn loop in the wiring; last fact: ${this.#pendingFacts[0]?.type}`);
      const gathered = new Map<Address, JobChange[]>();
      // Direct messages first, with their own consequences; then one gathered message per addressee. Facts emitted meanwhile
      // are appended to the list.
      for (const fact of this.#pendingFacts) {
        this.facts.push(fact);
        this.#route(fact, gathered);
      }
      this.#pendingFacts.length = 0;
      for (const [to, changes] of gathered) {
        this.#deliver({ to, event: { type: 'JOBS_CHANGED', changes, now: this.now } });
      }
    }
  }

  #route(fact: Fact, gathered: Map<Address, JobChange[]>): void {
    for (const route of WIRING[fact.type] as readonly Route<Fact>[]) {
      if ('send' in route) {
        for (const message of route.send(fact, this.#parts.registry)) this.#deliver(message);
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
      if (isDamage(cause)) throw cause;
      // A refusal between actors is a fault of the wiring, not an error of the caller.
      throw new Error(`${to} did not take ${event.type}`, { cause });
    }
  }

  #touch(activation: Activation): void {
    if (activation.before !== undefined || activation.isNew) return;
    activation.before = activation.actor.getSnapshot();
    this.touched.push(activation);
  }
}

/** Throws when the actor threw: the turn is rolled back, and the supervisor restarts the actor. */
function throwIfFailed({ kind, id, actor }: Activation, when: string): void {
  const { status, error } = actor.getSnapshot() as { status: string; error?: unknown };
  if (status === 'error') throw new Error(`the ${kind} ${id} failed on ${when}`, { cause: error });
}
