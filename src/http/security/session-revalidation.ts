/**
 * Revalidation of open sessions: revoked or expired tokens, and tokens that become required, end connections that began
 * before. Independent of sockets.
 */
import { SimbatchError } from '../../domain/errors.ts';
import type { Clock } from '../../base/clock.ts';
import type { Access, Principal } from './auth.ts';
import type { Scope } from '../route.ts';

/** Interval of revalidation: a lookup in memory for each session, and at most one read of the token file for all. */
const CHECK_MS = 1_000;

interface OpenSession {
  principal: Principal;
  scope: Scope;
  end: (error: SimbatchError) => void;
}

export class SessionRevalidation {
  readonly #access: Pick<Access, 'confirm'>;
  readonly #clock: Pick<Clock, 'after'>;
  readonly #sessions = new Set<OpenSession>();
  #cancelTimer: (() => void) | undefined;

  constructor(access: Pick<Access, 'confirm'>, clock: Pick<Clock, 'after'>) {
    this.#access = access;
    this.#clock = clock;
  }

  /**
   * Calls `end` once, with the refusal, when `principal` may no longer use `scope`. The returned function ends the
   * registration when the connection closes. Without sessions nothing is checked.
   */
  watch(principal: Principal, scope: Scope, end: (error: SimbatchError) => void): () => void {
    const session: OpenSession = { principal, scope, end };
    this.#sessions.add(session);
    this.#cancelTimer ??= this.#clock.after(CHECK_MS, () => this.#check());
    return () => {
      this.#sessions.delete(session);
      if (this.#sessions.size === 0) this.#stopChecks();
    };
  }

  #stopChecks(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #check(): void {
    for (const session of this.#sessions) {
      try {
        this.#access.confirm(session.principal, session.scope);
      } catch (error) {
        this.#sessions.delete(session);
        session.end(error instanceof SimbatchError ? error : new SimbatchError('internal', 'access cannot be checked'));
      }
    }
    this.#cancelTimer = this.#sessions.size === 0 ? undefined : this.#clock.after(CHECK_MS, () => this.#check());
  }
}
