/**
 * Those who were let in and stay: whose each connection is, and whether it would be let in again. A token that was revoked or
 * has expired, and tokens that came to be required, end here what they began before. Knows no sockets.
 */
import { SimbatchError } from '../../domain/errors.ts';
import type { Clock } from '../../base/clock.ts';
import type { Access, Principal } from './auth.ts';
import type { Scope } from '../route.ts';

/** How often everybody is asked about: a look-up in memory each, and at most one look at the file of tokens for all. */
const CHECK_MS = 1_000;

interface OpenSession {
  principal: Principal;
  scope: Scope;
  end: (error: SimbatchError) => void;
}

export class SessionRevalidation {
  readonly #access: Pick<Access, 'confirm'>;
  readonly #world: Pick<Clock, 'after'>;
  readonly #held = new Set<OpenSession>();
  #callOff: (() => void) | undefined;

  constructor(access: Pick<Access, 'confirm'>, world: Pick<Clock, 'after'>) {
    this.#access = access;
    this.#world = world;
  }

  /**
   * Calls `end` once, with the refusal, when `principal` may not use `scope` any more. Call what is returned when the
   * connection ends by itself. While nobody is held, nothing is checked.
   */
  hold(principal: Principal, scope: Scope, end: (error: SimbatchError) => void): () => void {
    const held: OpenSession = { principal, scope, end };
    this.#held.add(held);
    this.#callOff ??= this.#world.after(CHECK_MS, () => this.#check());
    return () => {
      this.#held.delete(held);
      if (this.#held.size === 0) this.#rest();
    };
  }

  #rest(): void {
    this.#callOff?.();
    this.#callOff = undefined;
  }

  #check(): void {
    for (const held of this.#held) {
      try {
        this.#access.confirm(held.principal, held.scope);
      } catch (error) {
        this.#held.delete(held);
        held.end(error instanceof SimbatchError ? error : new SimbatchError('internal', 'Access cannot be checked.'));
      }
    }
    this.#callOff = this.#held.size === 0 ? undefined : this.#world.after(CHECK_MS, () => this.#check());
  }
}
