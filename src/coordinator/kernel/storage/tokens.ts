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
import { chmod, chown, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { TokenFile } from '../../../contract/records/tokens.ts';
import type { TokenRecord, TokenScope } from '../../../contract/types.ts';
import { isValid } from '../../../contract/validation/validate.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import { keys } from './keys.ts';
import type { Store } from './store.ts';
import { isDirectory, makeDirectory } from '../../../base/directories.ts';

export interface TokenRequest {
  name: string;
  scopes: readonly TokenScope[];
  runnerId: string | undefined;
  /** Of the scope `launch`: the ids of its runners begin with it. */
  prefix?: string | undefined;
  /** End of validity, in ms since the epoch. */
  expiresAtMs: number | undefined;
}

const TOKEN = /^sbt_([0-9a-f]{8})_[A-Za-z0-9_-]{43}$/;

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

export const tokensPath = (directory: string): string => join(directory, 'tokens.json');

/** A new token and its record. `random` gives cryptographically random bytes. */
export function newToken(
  request: TokenRequest,
  now: number,
  random: (bytes: number) => Uint8Array,
): { token: string; record: TokenRecord } {
  const id = Buffer.from(random(4)).toString('hex');
  const token = `sbt_${id}_${Buffer.from(random(32)).toString('base64url')}`;
  const record: TokenRecord = {
    id,
    name: request.name,
    scopes: [...request.scopes],
    runner_id: request.runnerId ?? null,
    ...(request.prefix === undefined ? {} : { prefix: request.prefix }),
    hash: hashOf(token).toString('hex'),
    created_at: new Date(now).toISOString(),
    expires_at: request.expiresAtMs === undefined ? null : new Date(request.expiresAtMs).toISOString(),
  };
  return { token, record };
}

/**
 * The tokens of a data directory; undefined when none was ever created. An empty list differs: it refuses every request.
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
    `${path} is not a list of tokens as \`simbatch token\` writes it; restore a copy, or remove it and create the tokens again`,
  );
}

const hasValidExpiry = ({ expires_at }: TokenRecord): boolean =>
  expires_at === null || !Number.isNaN(Date.parse(expires_at));

/**
 * Replaces the tokens of a data directory atomically, in a file that only its owner can read. The new file is created under
 * a fixed name that must not exist, so that the second of two programs at the same time is refused and loses nothing.
 */
export async function changeTokens(
  directory: string,
  change: (tokens: readonly TokenRecord[]) => readonly TokenRecord[],
): Promise<void> {
  if (!isDirectory(directory)) {
    makeDirectory(directory);
    await chmod(directory, 0o700);
  }
  const path = tokensPath(directory);
  const coming = `${path}.new`;
  const file = await open(coming, 'wx', 0o600).catch((cause: unknown) => {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    throw new SimbatchError(
      'store-locked',
      `the tokens in ${directory} are locked: another \`simbatch token\` changes them, or was interrupted; in that case remove ${coming}`,
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

/** A file that root creates for a service that runs as another user must belong to that user. */
async function giveToOwnerOf(directory: string, path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(directory);
  await chown(path, uid, gid);
}

/** Differs for each content of the file; empty without a file. A file without readable status counts as changed. */
function versionOf(path: string): string {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found === undefined ? '' : `${found.ino} ${found.mtimeMs} ${found.size}`;
  } catch (error) {
    return (error as Error).message;
  }
}

const missing = (directory: string): SimbatchError =>
  new SimbatchError(
    'invalid-configuration',
    `${tokensPath(directory)} is missing, and this coordinator has had tokens; restore the file, or create the tokens again`,
  );

const REQUIRED_KEY = keys.meta('tokens');

/**
 * Notes in the store that tokens exist. Without the note, removal of the file and a restart would open a coordinator.
 * @throws SimbatchError `invalid-configuration` when the store has the note and the file is missing
 */
export async function refuseLostTokens(directory: string, store: Store): Promise<void> {
  const isNoted = store.get(REQUIRED_KEY) !== undefined;
  const exist = readTokens(directory) !== undefined;
  if (isNoted && !exist) throw missing(directory);
  if (exist && !isNoted) await store.write([[REQUIRED_KEY, 'required']]);
}

/** The shortest time between two looks at the file. A revoked token is refused after this time at the latest. */
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
   * Reads the file. `onTrouble` is called when it is later missing, which revokes all
   * tokens, or unreadable, which changes none.
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

  /** Whether a token was ever created. Then every request needs one, even after all of them were revoked. */
  get areRequired(): boolean {
    this.#look(this.#onTrouble);
    return this.#known !== undefined;
  }

  /** The record of a token, expired or not; undefined for an unknown one. */
  find(token: string): TokenRecord | undefined {
    this.#look(this.#onTrouble);
    const id = TOKEN.exec(token)?.[1];
    const record = id === undefined ? undefined : this.#known?.get(id);
    // The id is not secret; the comparison of the rest takes the same time whatever differs.
    return record !== undefined && timingSafeEqual(Buffer.from(record.hash, 'hex'), hashOf(token)) ? record : undefined;
  }

  /** The record with this id, of a token that was found before; undefined when it has been revoked. */
  withId(id: string): TokenRecord | undefined {
    this.#look(this.#onTrouble);
    return this.#known?.get(id);
  }

  /** All records, expired or not; empty without a token. */
  all(): readonly TokenRecord[] {
    this.#look(this.#onTrouble);
    return [...(this.#known?.values() ?? [])];
  }

  /** Reads the file at the next request, after a change by this process. */
  readAgain(): void {
    this.#lookedAtMs = -Infinity;
    this.#version = '';
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
      if (tokens === undefined && this.#known !== undefined) {
        // All tokens count as revoked: a missing file must not open a coordinator.
        this.#known = new Map();
        throw missing(this.#directory);
      }
      this.#known = tokens === undefined ? undefined : new Map(tokens.map((it) => [it.id, it]));
    } catch (error) {
      onTrouble(error as SimbatchError);
    }
  }
}
