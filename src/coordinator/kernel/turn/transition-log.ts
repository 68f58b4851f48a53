/**
 * The transitions of actors as XState's inspection API reports them, for watchers: those of a turn are published when they are on disk, those of
 * the supervisor, which is not stored, before them. Nothing is inspected without a watcher.
 */
import type { AnyActorRef, InspectionEvent, Subscription } from 'xstate';
import type { MachineName } from '../../../../machines/kinds.ts';
import type { AnyEvent, Fact } from '../../../../machines/protocol.ts';
import type { Clock } from '../../../base/clock.ts';
import type { ActorSystem } from '../actors/actor-system.ts';
import { ActorJournal } from './actor-journal.ts';
import type { ActorTransition, Commit } from './actor-transition.ts';

/** The state of an actor when it is given an event. */
interface Before {
  snapshot: { value: string };
  emitted: number;
}

export class TransitionLog {
  readonly #system: ActorSystem;
  readonly #clock: Pick<Clock, 'now'>;
  /** Receives the error of a watcher. */
  readonly #failed: (error: unknown) => void;
  readonly #watchers = new Set<(commit: Commit) => void>();
  #subscription: Subscription | undefined;
  /** The actors of the running turn. */
  readonly #taking = new Map<AnyActorRef, Before>();
  #ofTurn: ActorTransition[] = [];
  #ofSupervisor: ActorTransition[] = [];
  /** Kept without a watcher too. */
  readonly journal: ActorJournal;

  constructor(system: ActorSystem, clock: Pick<Clock, 'now'>, failed: (error: unknown) => void) {
    this.#system = system;
    this.#clock = clock;
    this.#failed = failed;
    this.journal = new ActorJournal(clock.now());
  }

  get isWatched(): boolean {
    return this.#subscription !== undefined;
  }

  /** Calls the listener with each commit until the returned function is called. */
  watch(listener: (commit: Commit) => void): () => void {
    this.#watchers.add(listener);
    this.#subscription ??= this.#system.inspect((event) => this.#inspected(event));
    return () => {
      this.#watchers.delete(listener);
      if (this.#watchers.size > 0) return;
      this.#subscription?.unsubscribe();
      this.#subscription = undefined;
      this.takeTurn();
      this.#ofSupervisor = [];
    };
  }

  /** Publishes what is on disk, and the transitions of the supervisor since the last call. */
  publish(facts: readonly Fact[] = [], transitions: readonly ActorTransition[] = []): void {
    const ofSupervisor = this.#ofSupervisor;
    if (facts.length + transitions.length + ofSupervisor.length === 0) return;
    if (ofSupervisor.length > 0) this.#ofSupervisor = [];
    this.journal.committed(facts);
    try {
      for (const watcher of this.#watchers) watcher({ facts, transitions: [...ofSupervisor, ...transitions] });
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Returns the transitions of the turn that ends, and forgets them. */
  takeTurn(): ActorTransition[] {
    const transitions = this.#ofTurn;
    if (transitions.length > 0) this.#ofTurn = [];
    if (this.#taking.size > 0) this.#taking.clear();
    return transitions;
  }

  #inspected(inspected: InspectionEvent): void {
    const { type } = inspected;
    const actorRef = inspected.actorRef as AnyActorRef;
    const { emitted } = this.#system;
    if (type === '@xstate.event') {
      this.#taking.set(actorRef, { snapshot: actorRef.getSnapshot() as Before['snapshot'], emitted });
    }
    if (type !== '@xstate.snapshot') return;
    const before = this.#taking.get(actorRef);
    const { event } = inspected;
    const after = inspected.snapshot as unknown as { value: string; context: object };
    // An event that the supervisor sends itself waits until this one is taken.
    this.#taking.set(actorRef, { snapshot: after, emitted });
    const isCreation = event.type === 'xstate.init' && event.input !== undefined;
    if (event.type.startsWith('xstate.') ? !isCreation : !isTaken(before, after, emitted)) return;
    const address = actorRef.id;
    const slash = address.indexOf('/');
    const isSupervisor = slash === -1;
    const transition: ActorTransition = {
      kind: (isSupervisor ? address : address.slice(0, slash)) as MachineName,
      id: address.slice(slash + 1),
      event: isCreation ? undefined : (event as AnyEvent),
      from: isCreation ? undefined : before?.snapshot.value,
      to: after.value,
      context: after.context,
      now: (event as { now?: number }).now ?? this.#clock.now(),
    };
    (isSupervisor ? this.#ofSupervisor : this.#ofTurn).push(transition);
  }
}

/** An event that an actor takes changes its snapshot or emits a fact; a refused event does neither. */
const isTaken = (before: Before | undefined, after: object, emitted: number): boolean =>
  before !== undefined && (before.snapshot !== after || before.emitted !== emitted);
