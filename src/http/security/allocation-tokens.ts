/** Tokens of runners in allocations: made and revoked on request of a launcher, in the file that lists all tokens. */
import { sleep, type Clock } from '../../base/clock.ts';
import type {
  AllocationTokensRequest,
  AllocationTokensResponse,
  AllocationsEndedResponse,
  TokenRecord,
} from '../../contract/types.ts';
import { changeTokens, newToken, type Tokens } from '../../coordinator/kernel/storage/tokens.ts';
import { SimbatchError } from '../../domain/errors.ts';
import {
  refuseForeignAllocations,
  refuseForeignRunners,
  type LaunchToken,
  type PoolRunner,
} from './allocation-owners.ts';

/** `simbatch token` holds the file for milliseconds. */
const ATTEMPTS = 40;
const PAUSE_MS = 50;

export class AllocationTokens {
  readonly #directory: string;
  readonly #tokens: Tokens;
  readonly #clock: Clock;
  #last: Promise<unknown> = Promise.resolve();

  constructor(directory: string, tokens: Tokens, clock: Clock) {
    this.#directory = directory;
    this.#tokens = tokens;
    this.#clock = clock;
  }

  /**
   * Makes one token for each allocation, valid for its runner alone; a former token of the allocation is revoked. Without
   * tokens the coordinator stays as it is, and the answer has none.
   * @param by the id of the launcher's token
   * @param pool returns the registered runners
   * @throws SimbatchError `forbidden` for an allocation or a runner id that is not the launcher's, and nothing is changed then;
   * `unavailable` when the file stays locked
   */
  async make(
    { allocations }: AllocationTokensRequest,
    by: string | undefined,
    pool: () => Promise<readonly PoolRunner[]>,
  ): Promise<AllocationTokensResponse> {
    if (!this.#tokens.areRequired) {
      return { tokens: allocations.map(({ allocation }) => ({ allocation, token: null })) };
    }
    const launcher = this.#launcher(by);
    const runners = await pool();
    const now = this.#clock.now();
    const names = new Set(allocations.map((it) => it.allocation));
    const owner = { made_by: launcher.id, ...(launcher.prefix === undefined ? {} : { prefix: launcher.prefix }) };
    const made: AllocationTokensResponse['tokens'] = [];
    await this.#change((tokens) => {
      made.length = 0;
      refuseForeignAllocations(tokens, names, launcher);
      refuseForeignRunners(allocations, tokens, runners, launcher);
      const kept = tokens.filter((it) => !isOver(it, now) && !names.has(it.allocation ?? ''));
      const ids = new Set(kept.map((it) => it.id));
      const added = allocations.map(({ allocation, runner_id: runnerId, lifetime_secs: secs }): TokenRecord => {
        const request = { name: allocation, scopes: ['runner'] as const, runnerId, expiresAtMs: now + secs * 1_000 };
        let token;
        do token = newToken(request, now, (bytes) => this.#clock.random(bytes));
        while (ids.has(token.record.id));
        ids.add(token.record.id);
        made.push({ allocation, token: token.token });
        return { ...token.record, ...owner, allocation };
      });
      return [...kept, ...added];
    });
    return { tokens: made };
  }

  /**
   * Revokes the tokens of these allocations; an allocation without one is not an error.
   * @throws SimbatchError `forbidden` when another launch token made one of them, and nothing is changed then
   */
  async revoke(allocations: readonly string[], by: string | undefined): Promise<AllocationsEndedResponse> {
    if (!this.#tokens.areRequired) return { revoked: 0 };
    const names = new Set(allocations);
    let revoked = 0;
    await this.#change((tokens) => {
      refuseForeignAllocations(tokens, names, this.#launcher(by));
      const kept = tokens.filter((it) => it.allocation === undefined || !names.has(it.allocation));
      revoked = tokens.length - kept.length;
      return kept;
    });
    return { revoked };
  }

  /** @throws SimbatchError `forbidden` when another launch token made one of these allocations */
  requireOwn(allocations: readonly string[], by: string | undefined): void {
    refuseForeignAllocations(this.#tokens.all(), allocations, this.#launcher(by));
  }

  /** The name that launch tokens with the same allocations share; undefined where none is needed. */
  ownerOf(by: string | undefined): string | undefined {
    const prefix = by === undefined ? undefined : this.#launcher(by).prefix;
    return prefix === undefined ? by : `prefix ${prefix}`;
  }

  #launcher(by: string | undefined): LaunchToken {
    return { id: by ?? '', prefix: by === undefined ? undefined : this.#tokens.withId(by)?.prefix };
  }

  /** One change at a time, also beside `simbatch token`. */
  #change(change: (tokens: readonly TokenRecord[]) => readonly TokenRecord[]): Promise<void> {
    const next = this.#last.then(() => this.#attempt(change));
    this.#last = next.catch(() => {});
    return next;
  }

  async #attempt(change: (tokens: readonly TokenRecord[]) => readonly TokenRecord[]): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await changeTokens(this.#directory, change);
        this.#tokens.readAgain();
        return;
      } catch (error) {
        if (!(error instanceof SimbatchError) || error.code !== 'store-locked') throw error;
        if (attempt === ATTEMPTS) throw new SimbatchError('unavailable', error.message, { cause: error });
        await sleep(this.#clock, PAUSE_MS);
      }
    }
  }
}

/** Tokens of allocations are deleted when they have expired; those of people stay in the list. */
const isOver = ({ allocation, expires_at: end }: TokenRecord, now: number): boolean =>
  allocation !== undefined && end !== null && Date.parse(end) <= now;
