/** Reads and validates the parts of a request that its route declares: identifier, body, page and preferences. */
import type { Context } from '../application.ts';
import { isBatchId, isJobId } from '../../domain/ids.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { decoded, NO_BODY, parseBody, SMALL_BYTES, type BodyReader, type ReadBody, type Room } from './body.ts';
import { faultsInSlices, isLong, parseBodyInSlices } from './sliced-body.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import { readCursor } from './cursor.ts';
import {
  PATH_PARAMETERS,
  pathParameter,
  type Call,
  type PathParameter,
  type Query,
  type Route,
  type RouteBody,
} from '../route.ts';
import { RUNNER_ID_PATTERN } from '../../contract/patterns.ts';
import type { Fault } from '../../contract/types.ts';
import { schemaFaults } from '../../contract/validation/validate.ts';
import { requireRunner, type Principal } from '../security/auth.ts';
import { studyFaults } from './study-faults.ts';

/** Refuses a request of the runner protocol that speaks for another runner than the one of its token. A reading names none. */
export function requireOwnRunner(principal: Principal | undefined, route: Route, id: string, body: unknown): void {
  if (principal?.runnerId === undefined || route.scope !== 'runner' || route.method === 'GET') return;
  requireRunner(principal, actingRunner(route, id, body));
}

/** Returns the runner that a request of the runner protocol speaks for: in its path, or in its body. */
function actingRunner(route: Route, id: string, body: unknown): string | undefined {
  if (pathParameter(route) === 'runner_id') return id;
  const { id: own, runner_id: named } = body as { id?: string; runner_id?: string };
  return route.path === '/runners' ? own : named;
}

/** A malformed identifier is answered like an unknown one. */
export function readId(ctx: Context, parameter: PathParameter | undefined): string {
  if (parameter === undefined) return '';
  const id = (ctx as unknown as { params: Record<string, string> }).params[parameter] ?? '';
  const identifies = IDENTIFIES[parameter];
  if (identifies(id)) return id;
  const normal = parameter === 'runner_id' ? id : id.toLowerCase();
  if (identifies(normal)) return normal;
  const { unknown, noun } = PATH_PARAMETERS[parameter];
  throw new SimbatchError(unknown, `${JSON.stringify(id.slice(0, 100))} is not the id of a ${noun}`);
}

const RUNNER_ID = new RegExp(RUNNER_ID_PATTERN);
const IDENTIFIES: Record<PathParameter, (id: string) => boolean> = {
  job_id: isJobId,
  batch_id: isBatchId,
  runner_id: (id) => RUNNER_ID.test(id),
};

/** The parameters of a route after its identifier, decoded. */
export function readParameters(ctx: Context, { pathParameters }: Route): Readonly<Record<string, string>> {
  if (pathParameters === undefined) return NO_PARAMETERS;
  const { params } = ctx as unknown as { params: Record<string, string> };
  return Object.fromEntries(Object.keys(pathParameters).map((name) => [name, params[name] ?? '']));
}

const NO_PARAMETERS = {};

/** The path of a file at the end of the address, decoded; a malformed one names no file. */
export function readFilePath(ctx: Context): string {
  const raw = /\/files\/(.*)$/.exec(ctx.path)?.[1] ?? '';
  try {
    return decodeURIComponent(raw);
  } catch {
    throw new SimbatchError('unknown-file', `${JSON.stringify(raw.slice(0, 200))} is not correctly percent-encoded`);
  }
}

export interface BodyReading {
  maxRuns: number;
  share: EventLoopShare;
  /** Of the budget of long bodies. */
  room: Room;
}

/**
 * Reads and validates the body of a request; empty for a route without a body.
 * @throws SimbatchError `malformed-body`, `unsupported-media-type`, `body-too-large`, `invalid-request` with all faults; `unavailable` when too many
 * others send long bodies
 */
export async function readBody(
  ctx: Context,
  route: Route,
  reader: BodyReader | undefined,
  reading: BodyReading,
): Promise<ReadBody> {
  const { body } = route;
  if (body === undefined || reader === undefined) return NO_BODY;
  if (!reader.expects(ctx, body.optional ?? false)) return NO_BODY;
  await aMicrotask;
  const text = reader.arrived(ctx);
  const bytes = reader.mostBytes(ctx);
  if (text !== undefined || bytes <= SMALL_BYTES) return valueOf(ctx, body, reader, reading, text);
  const release = await reading.room(bytes);
  try {
    return await valueOf(ctx, body, reader, reading, text);
  } finally {
    // A long list is handled in slices and counts until its answer; other requests may wait for their answers for long.
    if (body.items === undefined) release();
  }
}

async function valueOf(
  ctx: Context,
  body: RouteBody,
  reader: BodyReader,
  { maxRuns, share }: BodyReading,
  arrived: string | undefined,
): Promise<ReadBody> {
  const { optional = false, study = false, schema, items, sliced = false } = body;
  let text = arrived;
  if (text === undefined && (sliced || items !== undefined)) {
    const pieces = await reader.pieces(ctx);
    if (isLong(pieces)) {
      const value = await parseBodyInSlices(pieces, share, sliced);
      refuse(items === undefined ? [] : await faultsInSlices(schema, items, value, share));
      // None of these routes compares the texts of repeats.
      return { text: '', value };
    }
    text = decoded(Buffer.concat(pieces));
  }
  text ??= await reader.rest(ctx);
  if (optional && text.trim() === '') return NO_BODY;
  const value = parseBody(text, study, sliced);
  if (!sliced) refuse(study ? studyFaults(value, maxRuns) : schemaFaults(schema, value));
  return { text, value };
}

function refuse(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalid(faults);
}

const aMicrotask = Promise.resolve();

function invalid(faults: readonly Fault[]): SimbatchError {
  const count = faults.length === 1 ? 'one fault' : `${faults.length} faults`;
  const first = faults[0]!;
  const message = `the request has ${count}; the first: ${first.pointer === '' ? 'the body' : first.pointer} ${first.detail}`;
  return new SimbatchError('invalid-request', message, { faults });
}

export function preferredType<T extends string>(ctx: Context, types: Readonly<Record<T, string>>): T {
  const names = Object.keys(types) as T[];
  const bare = names.map((it) => types[it].split(';')[0]!);
  const chosen = ctx.accepts(bare);
  ctx.vary('Accept');
  return names[bare.indexOf(chosen === false ? '' : chosen)] ?? names[0]!;
}

export function readIdempotencyKey(ctx: Context): string | undefined {
  const key = ctx.get('Idempotency-Key');
  if (key === '') return undefined;
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new SimbatchError(
    'invalid-request',
    `the Idempotency-Key is ${key.length} characters long or contains other than visible ASCII; it must have 1 to 255 visible ASCII characters`,
  );
}

/** Returns the name of the list that a cursor belongs to: path and filters in a canonical order. */
export function listingName(path: string, query: Query): string {
  const filters = Object.entries(query).filter(([name]) => name !== 'limit' && name !== 'cursor');
  return JSON.stringify([path, ...filters.sort(([a], [b]) => (a < b ? -1 : 1))]);
}

export function readPage(listing: string, query: Query): Call['page'] {
  const page: Call['page'] = {};
  const { limit, cursor } = query;
  if (typeof limit === 'number') page.limit = limit;
  if (typeof cursor === 'string') page.after = readCursor(listing, cursor);
  return page;
}
