/**
 * Tries a bucket of the object store with an object of its own: put, read, delete. A refusal is translated into its cause and the
 * remedy, since stores name a wrong key, a wrong bucket and a skewed clock by codes of their own.
 */
import type { StoreFault } from '../../../contract/types.ts';
import type { StoreAnswer } from './store-answers.ts';

/** The store as far as it is tried. */
export interface ProbedStore {
  /** A request and its answer, also a refusal. @throws ObjectStoreError when the store does not answer in time */
  answerTo(method: string, bucket: string, key: string, body?: string): Promise<StoreAnswer>;
}

/** Signed addresses for readers are valid for five minutes, so that a larger difference makes them useless before stores refuse it. */
const MOST_SKEW_MS = 120_000;

const BAD_KEY = new Set(['InvalidAccessKeyId', 'InvalidToken', 'ExpiredToken', 'TokenRefreshRequired']);
const BAD_SECRET = new Set(['SignatureDoesNotMatch', 'AuthorizationQueryParametersError', 'InvalidSecurity']);
const FULL = new Set(['QuotaExceeded', 'EntityTooLarge', 'InsufficientStorage', 'XMinioStorageFull']);
const ELSEWHERE = new Set([
  'PermanentRedirect',
  'TemporaryRedirect',
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
]);

const STEPS = { PUT: 'write', GET: 'read', DELETE: 'delete' } as const;
type Step = keyof typeof STEPS;

interface Place {
  bucket: string;
  /** Of the object that is written; another one for each coordinator. */
  key: string;
  now: () => number;
}

export interface BucketLook {
  /** Absent when an object could be written, read and deleted. */
  fault?: StoreFault;
  /** By how many seconds the clock of the coordinator is ahead of the store's; negative: late. Absent where the store does not say its time. */
  clockAheadSecs?: number;
}

/** Tries a bucket: returns its fault with the remedy, and how far the clocks differ. Never rejects. */
export async function probeBucket(store: ProbedStore, place: Place): Promise<BucketLook> {
  let clockAheadSecs: number | undefined;
  const fault = await tried(store, place, (aheadMs) => (clockAheadSecs ??= Math.round(aheadMs / 1000)));
  return { ...(fault === undefined ? {} : { fault }), ...(clockAheadSecs === undefined ? {} : { clockAheadSecs }) };
}

async function tried(
  store: ProbedStore,
  place: Place,
  onClock: (aheadMs: number) => void,
): Promise<StoreFault | undefined> {
  const { bucket, key } = place;
  const content = `simbatch wrote this object to try the bucket at ${new Date(place.now()).toISOString()}\n`;
  try {
    let skewed: StoreFault | undefined;
    for (const step of ['PUT', 'GET', 'DELETE'] as const) {
      const answer = await store.answerTo(step, bucket, key, step === 'PUT' ? content : undefined);
      const aheadMs = clockAhead(answer, place);
      if (aheadMs !== undefined) onClock(aheadMs);
      if (!answer.ok) return faultOf(step, answer, place);
      if (step === 'GET' && answer.text !== content) {
        const message = `the bucket ${quoted(bucket)} returns other bytes than were written`;
        return { code: 'not-a-store', message, remedy: 'check that --s3-endpoint is the address of an S3 interface' };
      }
      skewed ??= skewOf(answer, place);
    }
    return skewed;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const remedy =
      'check --s3-endpoint, the network and that the store runs; files wait on their runners until it answers';
    return { code: 'unreachable', message, remedy };
  }
}

const quoted = (name: string): string => JSON.stringify(name);

/** Translates a refusal of the store. */
function faultOf(step: Step, answer: StoreAnswer, place: Place): StoreFault {
  const [, code = ''] = /<Code>([^<]*)<\/Code>/.exec(answer.text) ?? [];
  const [, region] = /<Region>([^<]*)<\/Region>/.exec(answer.text) ?? [];
  const { status } = answer;
  const bucket = quoted(place.bucket);
  const said = `(${[code, String(status)].filter((it) => it !== '').join(', ')})`;
  // A wrong clock makes every signature wrong: it is the cause, whatever the store calls it.
  const skew = skewOf(answer, place);
  if (skew !== undefined && (status === 401 || status === 403)) return skew;
  if (code === 'RequestTimeTooSkewed') {
    return { code: 'clock-skew', message: `the store refuses the time of this machine ${said}`, remedy: CLOCK_REMEDY };
  }
  if (BAD_KEY.has(code)) {
    const remedy =
      'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN) to a valid key, or name another --s3-profile';
    return { code: 'wrong-key', message: `the store does not know the access key ${said}`, remedy };
  }
  if (BAD_SECRET.has(code)) {
    const remedy =
      'correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile that --s3-profile names; where they are right, check --s3-region';
    return { code: 'wrong-key', message: `the access key or its secret is wrong ${said}`, remedy };
  }
  if (code === 'NoSuchBucket' || (code === '' && status === 404 && step === 'PUT')) {
    const remedy = 'create the bucket, or correct --s3-bucket';
    return { code: 'wrong-bucket', message: `the store has no bucket ${bucket} ${said}`, remedy };
  }
  if (ELSEWHERE.has(code) || status === 301 || status === 307) {
    const named = region === undefined ? 'the region of the bucket' : quoted(region);
    return {
      code: 'wrong-region',
      message: `the bucket ${bucket} is in another region ${said}`,
      remedy: `set --s3-region to ${named}, and --s3-endpoint to its address`,
    };
  }
  if (FULL.has(code) || status === 507) {
    const remedy = 'make room in the bucket, or raise its quota; files wait on their runners until then';
    return { code: 'full', message: `the bucket ${bucket} takes no more bytes ${said}`, remedy };
  }
  if (status === 401 || status === 403) {
    const remedy = `give the key the right to ${STEPS[step]} objects in the bucket, or correct --s3-bucket`;
    return {
      code: 'no-right',
      message: `the key may not ${STEPS[step]} objects in the bucket ${bucket} ${said}`,
      remedy,
    };
  }
  if (status >= 500 || status === 429 || status === 408) {
    const remedy = 'see the log of the store; files wait on their runners until it answers';
    return {
      code: 'unavailable',
      message: `the store fails to ${STEPS[step]} an object of the bucket ${bucket} ${said}`,
      remedy,
    };
  }
  const remedy = 'check that --s3-endpoint is the address of an S3 interface';
  return {
    code: 'not-a-store',
    message: `the store refuses to ${STEPS[step]} an object of the bucket ${bucket} ${said}`,
    remedy,
  };
}

const CLOCK_REMEDY = 'synchronize the clock of the coordinator (NTP, chrony); signed addresses depend on it';

/** By how much this clock is ahead of the store's, which says its time in a header or in its refusal; undefined where it does not. */
function clockAhead({ headers, text }: StoreAnswer, { now }: Place): number | undefined {
  const [, named = ''] = /<ServerTime>([^<]*)<\/ServerTime>/.exec(text) ?? [];
  const aheadMs = now() - Date.parse(headers.get('date') ?? named);
  return Number.isFinite(aheadMs) ? aheadMs : undefined;
}

/** The clocks of the store and of this machine differ so much that signed addresses are not valid. */
function skewOf(answer: StoreAnswer, place: Place): StoreFault | undefined {
  const aheadMs = clockAhead(answer, place);
  if (aheadMs === undefined || Math.abs(aheadMs) <= MOST_SKEW_MS) return undefined;
  const secs = Math.round(Math.abs(aheadMs) / 1000);
  const difference = `${String(secs)} s ${aheadMs > 0 ? 'ahead' : 'late'}`;
  return {
    code: 'clock-skew',
    message: `the clock of the coordinator is ${difference}, compared with that of the store`,
    remedy: CLOCK_REMEDY,
  };
}
