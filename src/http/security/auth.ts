/**
 * Authorization: one decision for requests and WebSockets. It is synchronous, so that nothing changes between the check
 * and the answer.
 */
import type { IncomingMessage } from 'node:http';
import { SimbatchError } from '../../domain/errors.ts';
import type { TokenRecord } from '../../contract/types.ts';
import type { Tokens } from '../../coordinator/kernel/storage/tokens.ts';
import { FailedAttempts } from './failed-attempts.ts';
import { TooManyRequests } from '../response/problem.ts';
import type { Scope, StudyChange } from '../route.ts';
import { missingScope, type Client, type Permission } from './permissions.ts';
import { proxyUser, type TrustedProxy } from './proxy-user.ts';

/** The identity of a request; both members are undefined when no credentials are needed. */
export interface Principal {
  tokenId: string | undefined;
  /** The only runner that this credential may act as. */
  runnerId: string | undefined;
  /** The allocation that its runner is in, of a credential that a launcher has got for it. */
  allocation?: string | undefined;
  /** The name of the client and its scopes; absent when no credentials are needed. */
  client?: Client;
}

export interface AccessOptions {
  tokens: Tokens;
  /** Whether requests are allowed while no token exists: right on loopback, elsewhere only on the operator's request. */
  isOpenWithoutTokens: boolean;
  now: () => number;
  /** The proxy whose header names users; absent: none does. */
  proxy?: TrustedProxy;
  /** Called with the address and reason of a refused credential, at most as often as refusals are counted. */
  refused?: (address: string, why: string) => void;
}

/** The principal of requests where no credentials are needed. */
export const ANONYMOUS: Principal = { tokenId: undefined, runnerId: undefined };
/** Prefix of the WebSocket protocol that carries a page's token: browsers set no other header. It is the second one offered. */
const PROTOCOL = 'simbatch.bearer.';

/** A wrong, revoked or expired credential: the kind of refusal that is counted. */
class WrongCredential extends SimbatchError {}

export class Access {
  readonly #options: AccessOptions;
  readonly #failed: FailedAttempts;

  constructor(options: AccessOptions) {
    this.#options = options;
    this.#failed = new FailedAttempts(options.now);
  }

  /**
   * Returns the principal of a request that is allowed; of an action that changes a study, if this is its own (`requireOwn` checks it).
   * @throws SimbatchError `unauthenticated`, `forbidden` (naming the missing scope) or `too-many-requests`
   */
  authorize(request: IncomingMessage, scope: Scope, changes?: StudyChange): Principal {
    if (scope === 'open') return ANONYMOUS;
    const token = credentialOf(request);
    try {
      const find = token === undefined ? undefined : () => this.#options.tokens.find(token);
      const principal = this.#decide({ scope, ...(changes && { changes }) }, find);
      const { proxy } = this.#options;
      const user = proxy === undefined || principal.client === undefined ? undefined : proxyUser(request, proxy);
      return user === undefined ? principal : { ...principal, client: { ...principal.client!, actor: user } };
    } catch (error) {
      throw error instanceof WrongCredential ? this.#refusal(request, error.message) : error;
    }
  }

  /**
   * Checks again a principal that was admitted earlier, such as the viewer of a WebSocket. Refusals are not counted, since no
   * attempt was made.
   * @throws SimbatchError `unauthenticated` or `forbidden`, as `authorize` would
   */
  confirm({ tokenId }: Principal, scope: Scope): void {
    if (scope === 'open') return;
    this.#decide({ scope }, tokenId === undefined ? undefined : () => this.#options.tokens.withId(tokenId));
  }

  /** `find` returns the record of the credential; undefined without a credential. */
  #decide(action: Permission, find: (() => TokenRecord | undefined) | undefined): Principal {
    const { tokens, isOpenWithoutTokens, now } = this.#options;
    if (!tokens.areRequired) {
      if (isOpenWithoutTokens) return ANONYMOUS;
      throw new SimbatchError(
        'unauthenticated',
        'this coordinator requires a token, and none was created yet; create one with `simbatch token create` in its data directory',
      );
    }
    if (find === undefined) {
      throw new SimbatchError(
        'unauthenticated',
        'this needs a token: the request has none; send it as `Authorization: Bearer <token>`',
      );
    }
    const record = find();
    if (record === undefined)
      throw new WrongCredential('unauthenticated', 'the token is unknown or was revoked; use another one');
    if (record.expires_at !== null && now() >= Date.parse(record.expires_at)) {
      throw new WrongCredential(
        'unauthenticated',
        `the token ${record.id} expired at ${record.expires_at}; use another one`,
      );
    }
    const scope = missingScope(action, record.scopes, true);
    if (scope !== undefined) {
      throw new SimbatchError(
        'forbidden',
        `this needs the scope \`${scope}\`: the token ${record.id} has ${record.scopes.map((it) => `\`${it}\``).join(', ')}; use a token with that scope`,
      );
    }
    const { id: tokenId, name, scopes, allocation } = record;
    const client = { actor: name === '' ? `token ${tokenId}` : name, scopes };
    return { tokenId, runnerId: record.runner_id ?? undefined, allocation, client };
  }

  /**
   * Valid credentials are never refused because of other clients at the same address: a proxy or a laboratory's gateway is one
   * address, and guessing 256 random bits is hopeless. The limit only bounds the load of wrong credentials.
   */
  #refusal(request: IncomingMessage, why: string): SimbatchError {
    const address = request.socket.remoteAddress ?? 'an unknown address';
    const waitMs = this.#failed.count(address);
    if (waitMs > 0) {
      const secs = Math.ceil(waitMs / 1000);
      return new TooManyRequests(`too many refused credentials came from this address; try again in ${secs} s`, secs);
    }
    this.#options.refused?.(address, why);
    return new SimbatchError('unauthenticated', why);
  }
}

/** Refuses a runner's token for another runner. `actsAs`: the runner in the path or body of the request. */
export function requireRunner({ tokenId, runnerId }: Principal, actsAs: string | undefined): void {
  if (runnerId === undefined || actsAs === runnerId) return;
  throw new SimbatchError(
    'forbidden',
    `the token ${tokenId} is for the runner ${JSON.stringify(runnerId)} and not for ${JSON.stringify(actsAs?.slice(0, 128))}; use a token of that runner`,
  );
}

function credentialOf({ headers }: IncomingMessage): string | undefined {
  const { authorization, 'sec-websocket-protocol': protocols } = headers;
  if (authorization !== undefined) return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '';
  const offered = protocols?.split(',').map((it) => it.trim()) ?? [];
  return offered.find((it) => it.startsWith(PROTOCOL))?.slice(PROTOCOL.length);
}
