/**
 * Who may do what: the one decision for requests and WebSockets alike. It is made at once, without waiting, so that nothing
 * happens between the question and the answer.
 */
import type { IncomingMessage } from 'node:http';
import { SimbatchError } from '../../domain/errors.ts';
import type { TokenRecord, Tokens, TokenScope } from '../../coordinator/storage/tokens.ts';
import { FailedAttempts } from './failed-attempts.ts';
import { TooManyRequests } from '../response/problem.ts';
import type { Scope } from '../route.ts';

/** Whose request it is; both members are undefined when no credentials are needed. */
export interface Principal {
  tokenId: string | undefined;
  /** The only runner this credential may act as. */
  runnerId: string | undefined;
}

export interface AccessOptions {
  tokens: Tokens;
  /** Whether everybody may do everything while no tokens were made: right on loopback, elsewhere only if told so. */
  isOpenWithoutTokens: boolean;
  now: () => number;
  /** Hears of refused credentials: where from, and why. Not called more often than refusals are counted. */
  refused?: (address: string, why: string) => void;
}

/** Whose requests are, where none need credentials. */
export const ANONYMOUS: Principal = { tokenId: undefined, runnerId: undefined };
/** How a page passes its token to a WebSocket, for which browsers set no other header: the second protocol it asks for. */
const PROTOCOL = 'simbatch.bearer.';

/** A credential was brought and is none, or none any more: the kind of refusal that is counted. */
class WrongCredential extends SimbatchError {}

export class Access {
  readonly #options: AccessOptions;
  readonly #failed: FailedAttempts;

  constructor(options: AccessOptions) {
    this.#options = options;
    this.#failed = new FailedAttempts(options.now);
  }

  /**
   * Whose request it is, if it may be done.
   * @throws SimbatchError `unauthenticated`, `forbidden` (naming the missing scope) or `too-many-requests`
   */
  authorize(request: IncomingMessage, scope: Scope): Principal {
    if (scope === 'open') return ANONYMOUS;
    const token = credentialOf(request);
    try {
      return this.#decide(scope, token === undefined ? undefined : () => this.#options.tokens.find(token));
    } catch (error) {
      throw error instanceof WrongCredential ? this.#refusal(request, error.message) : error;
    }
  }

  /**
   * Asks again for a principal that was let in earlier and has stayed, such as the viewer behind a WebSocket. Refusals are not
   * counted as attempts: nobody tried anything.
   * @throws SimbatchError `unauthenticated` or `forbidden`, as `authorize` would by now
   */
  confirm({ tokenId }: Principal, scope: Scope): void {
    if (scope === 'open') return;
    this.#decide(scope, tokenId === undefined ? undefined : () => this.#options.tokens.withId(tokenId));
  }

  /** `find`: looks up the record of the credential; undefined when none was brought. */
  #decide(scope: TokenScope, find: (() => TokenRecord | undefined) | undefined): Principal {
    const { tokens, isOpenWithoutTokens, now } = this.#options;
    if (!tokens.areRequired) {
      if (isOpenWithoutTokens) return ANONYMOUS;
      throw new SimbatchError('unauthenticated', 'This coordinator takes nothing without a token, and has none yet.');
    }
    if (find === undefined) {
      throw new SimbatchError('unauthenticated', 'This needs a token: send it as `Authorization: Bearer <token>`.');
    }
    const record = find();
    if (record === undefined) throw new WrongCredential('unauthenticated', 'The token is unknown or was revoked.');
    if (record.expires_at !== null && now() >= Date.parse(record.expires_at)) {
      throw new WrongCredential('unauthenticated', `The token ${record.id} expired at ${record.expires_at}.`);
    }
    if (!record.scopes.includes(scope)) {
      throw new SimbatchError(
        'forbidden',
        `This needs the scope \`${scope}\`; the token ${record.id} has ${record.scopes.map((it) => `\`${it}\``).join(', ')}.`,
      );
    }
    return { tokenId: record.id, runnerId: record.runner_id ?? undefined };
  }

  /**
   * Valid credentials are never refused for what others at the same address did: a proxy or a laboratory's gateway is one
   * address, and 256 random bits are not found by trying. What is limited is the noise that wrong ones make.
   */
  #refusal(request: IncomingMessage, why: string): SimbatchError {
    const address = request.socket.remoteAddress ?? 'an unknown address';
    const waitMs = this.#failed.count(address);
    if (waitMs > 0) {
      const secs = Math.ceil(waitMs / 1000);
      return new TooManyRequests(`Too many refused credentials from this address; try again in ${secs} s.`, secs);
    }
    this.#options.refused?.(address, why);
    return new SimbatchError('unauthenticated', why);
  }
}

/** A runner's token speaks for that runner alone. `actsAs`: the runner that the request, in its path or body, speaks for. */
export function requireRunner({ tokenId, runnerId }: Principal, actsAs: string | undefined): void {
  if (runnerId === undefined || actsAs === runnerId) return;
  throw new SimbatchError(
    'forbidden',
    `The token ${tokenId} is for the runner ${JSON.stringify(runnerId)} and not for ${JSON.stringify(actsAs?.slice(0, 128))}.`,
  );
}

function credentialOf({ headers }: IncomingMessage): string | undefined {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined || headers.authorization !== undefined) return bearer ?? '';
  const offered = headers['sec-websocket-protocol']?.split(',').map((it) => it.trim()) ?? [];
  return offered.find((it) => it.startsWith(PROTOCOL))?.slice(PROTOCOL.length);
}
