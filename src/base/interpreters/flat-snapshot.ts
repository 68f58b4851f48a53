/** Snapshots of flat machines: the value and the context are a snapshot's own, its other members are those of its state. */
import type { AnyMachineSnapshot } from 'xstate';

/** A snapshot that XState made of a state, with an empty context. */
type Template = AnyMachineSnapshot;

/**
 * A snapshot with the members that an actor's owner reads. The snapshots of one state differ in their contexts alone, and XState's
 * has 15 members: copies of them all were 2 % of the garbage of a job.
 */
export class FlatSnapshot {
  readonly value: string;
  readonly context: object;
  readonly #template: Template;

  constructor(template: Template, context: object) {
    this.value = template.value as string;
    this.context = context;
    this.#template = template;
  }

  get status(): Template['status'] {
    return this.#template.status;
  }

  get machine(): Template['machine'] {
    return this.#template.machine;
  }

  get children(): Template['children'] {
    return this.#template.children;
  }

  /** Returns true when the machine would take the event. */
  can(event: { type: string }): boolean {
    return this.#template.can.call(this, event);
  }

  matches(value: string): boolean {
    return value === this.value;
  }

  /** The same as a snapshot of XState, for XState's own interpreter. */
  whole(): AnyMachineSnapshot {
    return { ...this.#template, context: this.context };
  }

  toJSON(): object {
    return this.whole().toJSON() as object;
  }
}
