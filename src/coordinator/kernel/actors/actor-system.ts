/**
 * The actor system of a coordinator. The supervisor is its root and starts every other actor, an XState actor each: `job/<id>` and the
 * like are their ids in the system. An actor that throws is reported to the supervisor by XState, and restarted by the policy of
 * `machines/supervisor/policy.ts`. The deadlines of actors are data, so that no actor has a timer.
 */
import {
  createActor,
  type Actor,
  type ActorOptions,
  type AnyActorLogic,
  type AnyActorRef,
  type AnyActorScope,
  type EventObject,
  type InspectionEvent,
  type Snapshot,
  type Subscription,
} from 'xstate';
import { KINDS } from '../../../../machines/kinds.ts';
import type { Address, AnyEvent, Fact, SupervisorEvent } from '../../../../machines/protocol.ts';
import { SUPERVISION } from '../../../../machines/supervisor/policy.ts';
import { supervisorMachine } from '../../../../machines/supervisor/supervisor.ts';
import type { Clock } from '../../../base/clock.ts';
import { logicOf, type Interpreter } from '../../../base/interpreters/interpreters.ts';
import type { SnapshotOf, Kind } from './actor-kinds.ts';

/** XState's report of an actor that threw. */
interface ErrorActorEvent extends EventObject {
  actorId: string;
  error: unknown;
}

/** An active actor of a kind. */
export interface ActorOf<K extends Kind> {
  readonly id: string;
  send(event: AnyEvent): void;
  getSnapshot(): SnapshotOf[K];
  /** Returns the state as it is stored. */
  getPersistedSnapshot(): Snapshot<unknown>;
}

/** The logic of the actors of a kind: a machine, or its compiled form. */
export type LogicOf<K extends Kind> = (typeof KINDS)[K]['machine'];

export interface ActorSystemParts {
  clock: Pick<Clock, 'now'>;
  /** Receives the facts of all actors, in order. */
  onFact(fact: Fact): void;
  /** Returns the active actor at this address, and whether a snapshot of it was committed. */
  find(address: string): { actor: ActorOf<Kind>; isNew: boolean } | undefined;
  /** Called when the supervisor itself threw: nothing supervises it. */
  failed(error: unknown): void;
  interpreter: Interpreter;
}

/**
 * A stopped actor without its parts. XState's table of actors is a Map, which leaves its old table to the garbage collector when it is
 * resized, and a table in the old generation keeps its values reachable until the next full collection.
 */
const EMPTY = {
  mailbox: undefined,
  observers: undefined,
  eventListeners: undefined,
  options: undefined,
  send: undefined,
  _actorScope: undefined,
  _deferred: undefined,
  _doneEvent: undefined,
  _snapshot: undefined,
};

/**
 * The options of an actor with a snapshot. XState copies their own members, each by a call into V8's runtime, and keeps the copies as long
 * as the actor; it reads the snapshot once, which is inherited and so not copied.
 */
class Restored {
  readonly id: Address;
  readonly parent: AnyActorRef;
  readonly #snapshot: object;

  constructor(id: Address, parent: AnyActorRef, snapshot: object) {
    this.id = id;
    this.parent = parent;
    this.#snapshot = snapshot;
  }

  get snapshot(): object {
    return this.#snapshot;
  }
}

export class ActorSystem {
  readonly supervisor: Actor<typeof supervisorMachine>;
  readonly #parts: ActorSystemParts;
  /** The number of facts so far. */
  emitted = 0;
  /** The supervisor's means to stop the actors that it has started. */
  #scope: AnyActorScope | undefined;

  constructor(parts: ActorSystemParts) {
    this.#parts = parts;
    this.supervisor = createActor(this.#supervisorLogic(), {
      id: 'supervisor',
      systemId: 'supervisor',
      input: { now: parts.clock.now() },
    });
    // XState's own table of addresses would be a second one beside the directory, at a fifth of the cost of an activation.
    this.supervisor.system.get = (address) =>
      (address === 'supervisor' ? this.supervisor : parts.find(String(address))?.actor) as never;
    // XState throws an error without an observer from a timer.
    this.supervisor.subscribe({ error: (error) => parts.failed(error) });
    this.supervisor.start();
  }

  /** Returns the logic of a kind of actor. */
  logicOf<K extends Kind>(kind: K): LogicOf<K> {
    return logicOf(KINDS[kind].machine, this.#parts.interpreter, this.#onFact);
  }

  readonly #onFact = (fact: EventObject): void => {
    this.emitted += 1;
    this.#parts.onFact(fact as Fact);
  };

  /** Starts an actor at an address, new with an input, or with a snapshot. A machine that throws leaves an actor with the status `error`. */
  start<K extends Kind>(
    logic: LogicOf<K>,
    address: Address,
    from: { input: object } | { snapshot: object },
  ): ActorOf<K> {
    const options =
      'snapshot' in from
        ? new Restored(address, this.supervisor, from.snapshot)
        : { id: address, parent: this.supervisor, ...from };
    const actor = createActor(logic as AnyActorLogic, options as ActorOptions<AnyActorLogic>);
    actor.start();
    return actor;
  }

  /** Stops an actor for good. */
  stop(actor: ActorOf<Kind>): void {
    this.#scope?.stopChild(actor as unknown as AnyActorRef);
    Object.assign(actor, EMPTY);
  }

  /** Calls the observer with the events of XState's inspection API until it is unsubscribed. Without an observer they cost nothing. */
  inspect(observer: (event: InspectionEvent) => void): Subscription {
    return this.supervisor.system.inspect(observer);
  }

  /** The machine itself. XState reports to it the ends and the failures of the actors that it has started. */
  #supervisorLogic(): typeof supervisorMachine {
    const machine = logicOf(supervisorMachine, 'xstate', this.#onFact);
    const logic: Partial<AnyActorLogic> = {
      getInitialSnapshot: (scope, input) => {
        this.#scope = scope;
        return machine.getInitialSnapshot(scope, input as { now: number });
      },
      transition: (snapshot, event: EventObject, scope) => {
        if (event.type.startsWith('xstate.done.actor.')) return snapshot;
        if (!event.type.startsWith('xstate.error.actor.')) return machine.transition(snapshot, event as never, scope);
        // An event of its own, with the time and the measure, which is inspected like all others.
        scope.self.send(this.#failureOf(event as ErrorActorEvent));
        return snapshot;
      },
    };
    return Object.assign(Object.create(machine) as typeof supervisorMachine, logic);
  }

  #failureOf({ actorId, error }: ErrorActorEvent): SupervisorEvent {
    const address = actorId as Address;
    const kind = address.split('/', 1)[0] as Kind;
    const measure = SUPERVISION[kind][this.#parts.find(address)?.isNew === false ? 'committed' : 'created'];
    const message = error instanceof Error ? error.message : String(error);
    return { type: 'ACTOR_FAILED', now: this.#parts.clock.now(), address, measure, message };
  }
}
