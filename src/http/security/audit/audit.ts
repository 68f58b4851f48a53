/** Audited actions: a line before the action and one with its outcome, both on disk before the answer; refused requests are counted. */
import type { Clock } from '../../../base/clock.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import { StatusAnswer } from '../../answers.ts';
import type { AuditEntry } from './lines.ts';
import type { AuditLog } from './audit-log.ts';

export interface AuditOptions {
  lines: Pick<AuditLog, 'append' | 'close'>;
  clock: Pick<Clock, 'after'>;
  log: { info(facts: object, message: string): void };
  /** Whether tokens exist; without them no client has a name, and nothing is written. */
  isOn: () => boolean;
}

/** An action: its client, its name, the study, run or runner, the address of the peer. */
export type Action = Pick<AuditEntry, 'request' | 'actor' | 'token' | 'operation' | 'on' | 'from'>;
export type Refusal = Pick<AuditEntry, 'status' | 'operation' | 'from' | 'why'>;

/** The time in which refusals of one kind share a line. */
const COUNTED_MS = 60_000;
/** Kinds of refusals that are told apart in this time; all others are one kind. */
const MOST_KINDS = 1_000;
const OTHERS: Refusal = { why: 'refusals of further kinds' };

export class Audit {
  readonly #options: AuditOptions;
  readonly #refusals = new Map<string, { refusal: Refusal; count: number }>();
  #cancelTimer: (() => void) | undefined;

  constructor(options: AuditOptions) {
    this.#options = options;
  }

  /** @throws SimbatchError `unavailable` when the log cannot be written: then the action is not done; and all that `act` throws */
  async during<T>(action: Action, act: () => T | Promise<T>): Promise<T> {
    const { lines } = this.#options;
    await lines.append({ event: 'begun', ...action });
    const ended = (outcome: string, made?: string): Promise<void> => {
      const { request, actor, operation, on } = action;
      this.#options.log.info({ actor, operation, on, outcome, ...(made !== undefined && { made }) }, 'an action ended');
      return lines.append({ event: 'ended', request, actor, operation, on, outcome, made });
    };
    let answer: T;
    try {
      answer = await act();
    } catch (error) {
      await ended(error instanceof SimbatchError ? error.code : 'internal');
      throw error;
    }
    await ended('done', studyIn(answer));
    return answer;
  }

  /** The first refusal of a kind is written at once, those that follow it within a minute as their number. No answer waits for it. */
  refused(refusal: Refusal): void {
    if (!this.#options.isOn()) return;
    const { status, operation, from, why } = refusal;
    const key = JSON.stringify([status, operation, from, why]);
    const known = this.#refusals.get(key);
    if (known !== undefined) known.count++;
    else if (this.#refusals.size < MOST_KINDS) {
      this.#refusals.set(key, { refusal, count: 0 });
      this.#append(refusal, 1);
    } else this.#count('', OTHERS, 1);
    this.#cancelTimer ??= this.#options.clock.after(COUNTED_MS, () => this.#tell());
  }

  async close(): Promise<void> {
    this.#tell();
    await this.#options.lines.close();
  }

  #tell(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const counted = [...this.#refusals.values()];
    this.#refusals.clear();
    for (const { refusal, count } of counted) if (count > 0) this.#append(refusal, count);
  }

  #append(refusal: Refusal, count: number): void {
    this.#options.lines.append({ event: 'refused', ...refusal, count }).catch(() => {
      // The log says why it cannot be written; the number is kept for the next line.
      this.#count(`again ${JSON.stringify(refusal)}`, refusal, count);
    });
  }

  #count(key: string, refusal: Refusal, more: number): void {
    const known = this.#refusals.get(key);
    if (known !== undefined) known.count += more;
    else if (key !== '' && this.#refusals.size > 2 * MOST_KINDS) this.#count('', OTHERS, more);
    else this.#refusals.set(key, { refusal, count: more });
  }
}

/** The study that an action has made, in its answer. */
function studyIn(answer: unknown): string | undefined {
  const value: unknown = answer instanceof StatusAnswer ? answer.value : answer;
  const id = typeof value === 'object' && value !== null && 'batch_id' in value ? value.batch_id : undefined;
  return typeof id === 'string' ? id : undefined;
}
