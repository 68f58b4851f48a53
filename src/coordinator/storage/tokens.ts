/**
 * Access tokens: what one is, and the file in the data directory that lists them. The command line writes the file, the
 * serving process reads it again when it has changed; the store itself is locked by the serving process, and a door that only
 * its own keys could unlock would have no first key.
 *
 * A token is 256 random bits, so the file holds a plain SHA-256 of it: a slow hash protects secrets that can be guessed, and
 * would cost every request.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { statSync, readFileSync } from 'node:fs';
import { chown, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { TokenFile } from '../../contract/records/tokens.ts';
import type { TokenRecord, TokenScope } from '../../contract/types.ts';
import { isValid } from '../../contract/validation/validate.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { makeDirectory } from '../../base/directories.ts';

export interface TokenRequest {
  name: string;
  scopes: readonly TokenScope[];
  runnerId: string | undefined;
  /** ms since the epoch. */
  expiresAtMs: number | undefined;
}

const TOKEN = /^sbt_([0-9a-f]{8})_[A-Za-z0-9_-]{43}$/;

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

export const tokensPath = (directory: string): string => join(directory, 'tokens.json');

/** A new token and its record. `random` gives cryptographically random bytes. */
export function newToken(
  wish: TokenRequest,
  now: number,
  random: (bytes: number) => Uint8Array,
): { token: string; record: TokenRecord } {
  const id = Buffer.from(random(4)).toString('hex');
  const token = `sbt_${id}_${Buffer.from(random(32)).toString('base64url')}`;
  const record: TokenRecord = {
    id,
    name: wish.name,
    scopes: [...wish.scopes],
    runner_id: wish.runnerId ?? null,
    hash: hashOf(token).toString('hex'),
    created_at: new Date(now).toISOString(),
    expires_at: wish.expiresAtMs === undefined ? null : new Date(wish.expiresAtMs).toISOString(),
  };
  return { token, record };
}

/**
 * The tokens of a data directory; undefined when none was ever made. An empty list is not that: it lets nobody in.
 * @throws SimbatchError `invalid-configuration` when the file cannot be read or is not what this program writes
 */
export function readTokens(directory: string): TokenRecord[] | undefined {
  const path = tokensPath(directory);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new SimbatchError('invalid-configuration', `${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
  try {
    const file: unknown = JSON.parse(text);
    if (isValid(TokenFile, file) && file.tokens.every(hasValidExpiry)) return file.tokens;
  } catch {
    // Text that is not JSON gets the error below.
  }
  throw new SimbatchError(
    'invalid-configuration',
    `${path} is not a list of tokens as \`simbatch token\` writes it; put a good copy back, or make the tokens anew`,
  );
}

const hasValidExpiry = ({ expires_at }: TokenRecord): boolean =>
  expires_at === null || !Number.isNaN(Date.parse(expires_at));

/**
 * Replaces the tokens of a data directory, all or none, and makes the file readable by its owner only. The new file is made
 * under one name that must not exist yet, so that of two programs at the same time the second is refused and loses nothing.
 */
export async function changeTokens(
  directory: string,
  change: (tokens: readonly TokenRecord[]) => readonly TokenRecord[],
): Promise<void> {
  makeDirectory(directory);
  const path = tokensPath(directory);
  const coming = `${path}.new`;
  const file = await open(coming, 'wx', 0o600).catch((cause: unknown) => {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    throw new SimbatchError(
      'store-locked',
      `another \`simbatch token\` is at work in ${directory}; if none is, one was interrupted: remove ${coming}`,
      { cause },
    );
  });
  try {
    const tokens = change(readTokens(directory) ?? []);
    await file.writeFile(`${JSON.stringify({ format: 1, tokens }, null, 2)}\n`);
    await file.sync();
    await file.close();
    await giveToOwnerOf(directory, coming);
    await rename(coming, path);
  } catch (error) {
    await file.close().catch(() => {});
    await rm(coming, { force: true });
    throw error;
  }
}

/** Made by root for a service that runs as another user, the file must be that user's. */
async function giveToOwnerOf(directory: string, path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(directory);
  await chown(path, uid, gid);
}

/** Tells one content of the file from the next; empty when there is none. A file that cannot be looked at is read, and told. */
function versionOf(path: string): string {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found === undefined ? '' : `${found.ino} ${found.mtimeMs} ${found.size}`;
  } catch (error) {
    return (error as Error).message;
  }
}

/** How often at most the file is looked at. A revoked token is refused after this time at the latest. */
const LOOK_MS = 1_000;

/** The tokens as a serving process knows them. */
export class Tokens {
  readonly #directory: string;
  readonly #now: () => number;
  readonly #onTrouble: (error: SimbatchError) => void;
  #known: Map<string, TokenRecord> | undefined;
  #lookedAtMs = -Infinity;
  #version = '';

  /**
   * Reads the file. `onTrouble` hears of a file that cannot be read later on; the tokens known before go on to hold.
   * @throws SimbatchError `invalid-configuration` when it cannot be read now
   */
  constructor(directory: string, now: () => number, onTrouble: (error: SimbatchError) => void) {
    this.#directory = directory;
    this.#now = now;
    this.#onTrouble = onTrouble;
    this.#look((error) => {
      throw error;
    });
  }

  /** Were tokens ever made? Then every request needs one, even if all of them have been revoked since. */
  get areRequired(): boolean {
    this.#look(this.#onTrouble);
    return this.#known !== undefined;
  }

  /** The record of a token, expired or not; undefined when it is not one of ours. */
  find(token: string): TokenRecord | undefined {
    this.#look(this.#onTrouble);
    const id = TOKEN.exec(token)?.[1];
    const record = id === undefined ? undefined : this.#known?.get(id);
    // The id is no secret; the rest is compared in a time that does not depend on it.
    return record !== undefined && timingSafeEqual(Buffer.from(record.hash, 'hex'), hashOf(token)) ? record : undefined;
  }

  /** The record with this id, for one whose token was found before; undefined when it was revoked since. */
  withId(id: string): TokenRecord | undefined {
    this.#look(this.#onTrouble);
    return this.#known?.get(id);
  }

  #look(onTrouble: (error: SimbatchError) => void): void {
    const now = this.#now();
    if (Math.abs(now - this.#lookedAtMs) < LOOK_MS) return;
    this.#lookedAtMs = now;
    const version = versionOf(tokensPath(this.#directory));
    if (version === this.#version) return;
    this.#version = version;
    try {
      const tokens = readTokens(this.#directory);
      this.#known = tokens === undefined ? undefined : new Map(tokens.map((it) => [it.id, it]));
    } catch (error) {
      onTrouble(error as SimbatchError);
    }
  }
}
