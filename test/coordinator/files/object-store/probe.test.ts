/** The probe of a bucket: what a store answers, and what an operator reads. */
import { expect } from 'chai';
import { ObjectStore } from '../../../../src/coordinator/files/object-store/object-store.ts';
import { ObjectStoreError, type StoreAnswer } from '../../../../src/coordinator/files/object-store/store-answers.ts';
import {
  type BucketLook,
  probeBucket,
  type ProbedStore,
} from '../../../../src/coordinator/files/object-store/probe.ts';
import { StoreWatch } from '../../../../src/coordinator/files/object-store/store-watch.ts';
import { systemClock } from '../../../../src/base/clock.ts';
import { FakeS3, KEY } from '../../../support/fake-s3.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

interface Given {
  status: number;
  code?: string;
  region?: string;
  date?: string;
  /** The time that a refusal names in its text. */
  serverTime?: string;
}

const element = (name: string, text?: string): string => (text === undefined ? '' : `<${name}>${text}</${name}>`);

const answer = ({ status, code, region, date, serverTime }: Given, text = ''): StoreAnswer => ({
  ok: status < 300,
  status,
  headers: new Headers(date === undefined ? {} : { date }),
  text:
    code === undefined
      ? text
      : `<Error><Code>${code}</Code>${element('Region', region)}${element('ServerTime', serverTime)}</Error>`,
});

/** A store that answers one of the steps in its own way, and the others well. */
function store(step: string, given: Given | 'silent' | 'other bytes'): ProbedStore & { steps: string[] } {
  let content = '';
  const steps: string[] = [];
  return {
    steps,
    answerTo: async (method, _bucket, _key, body) => {
      steps.push(method);
      if (body !== undefined) content = body;
      if (method === step && given === 'silent')
        throw new ObjectStoreError('the object store cannot be reached: no answer');
      if (method === step && given === 'other bytes') return answer({ status: 200 }, 'something else');
      if (method === step && typeof given === 'object') return answer(given, method === 'GET' ? content : '');
      return answer({ status: method === 'DELETE' ? 204 : 200 }, method === 'GET' ? content : '');
    },
  };
}

const at = (minutes: number): string => new Date(NOW + minutes * 60_000).toUTCString();

const TABLE: readonly [name: string, step: string, given: Given | 'silent' | 'other bytes', expected: string][] = [
  ['works', '', { status: 200 }, 'works'],
  ['works, the clocks differ by two minutes', 'PUT', { status: 200, date: at(2) }, 'works'],
  ['an unknown key', 'PUT', { status: 403, code: 'InvalidAccessKeyId' }, 'wrong-key: does not know the access key'],
  ['an expired session', 'PUT', { status: 400, code: 'ExpiredToken' }, 'wrong-key: does not know the access key'],
  [
    'a wrong secret',
    'PUT',
    { status: 403, code: 'SignatureDoesNotMatch' },
    'wrong-key: the access key or its secret is wrong',
  ],
  [
    'a bucket that is not there',
    'PUT',
    { status: 404, code: 'NoSuchBucket' },
    'wrong-bucket: the store has no bucket "sims"',
  ],
  [
    'a bucket that is not there, without a code',
    'PUT',
    { status: 404 },
    'wrong-bucket: the store has no bucket "sims"',
  ],
  ['another region', 'PUT', { status: 301, code: 'PermanentRedirect' }, 'wrong-region: in another region'],
  [
    'another region that is named',
    'PUT',
    { status: 400, code: 'AuthorizationHeaderMalformed', region: 'eu-west-1' },
    'wrong-region: set --s3-region to "eu-west-1"',
  ],
  [
    'a clock that the store refuses',
    'PUT',
    { status: 403, code: 'RequestTimeTooSkewed' },
    'clock-skew: refuses the time',
  ],
  [
    'a clock that the store refuses, which names its own time',
    'PUT',
    { status: 403, code: 'RequestTimeTooSkewed', serverTime: new Date(NOW + 3_600_000).toISOString() },
    'clock-skew: 3600 s late, compared with that of the store',
  ],
  [
    'a clock that is ahead, refused with another code',
    'PUT',
    { status: 403, code: 'AccessDenied', date: at(-20) },
    'clock-skew: 1200 s ahead, compared with that of the store',
  ],
  [
    'a clock that is late, and accepted',
    'GET',
    { status: 200, date: at(3) },
    'clock-skew: 180 s late, compared with that of the store',
  ],
  [
    'no right to write',
    'PUT',
    { status: 403, code: 'AccessDenied' },
    'no-right: may not write objects in the bucket "sims"',
  ],
  ['no right to read', 'GET', { status: 403, code: 'AccessDenied' }, 'no-right: may not read objects'],
  ['no right to delete', 'DELETE', { status: 403, code: 'AccessDenied' }, 'no-right: may not delete objects'],
  ['a full bucket', 'PUT', { status: 403, code: 'QuotaExceeded' }, 'full: takes no more bytes'],
  ['a store that fails', 'PUT', { status: 503, code: 'SlowDown' }, 'unavailable: fails to write'],
  ['a store that is not there', 'PUT', 'silent', 'unreachable: cannot be reached: no answer'],
  ['a store that falls silent', 'DELETE', 'silent', 'unreachable: cannot be reached: no answer'],
  ['other bytes', 'GET', 'other bytes', 'not-a-store: returns other bytes'],
  ['a web server', 'PUT', { status: 405 }, 'not-a-store: refuses to write'],
];

/** The difference of the clocks that a fault names, as the look has it. */
const secsIn = (expected: string): number | undefined => {
  const [, secs] = /(\d+) s late/.exec(expected) ?? [];
  return secs === undefined ? undefined : -Number(secs);
};

describe('coordinator/files/object-store/probe', () => {
  for (const [name, step, given, expected] of TABLE) {
    it(name, async () => {
      const probed = store(step, given);
      const { fault: found, clockAheadSecs } = await probeBucket(probed, { bucket: 'sims', key: 'k', now: () => NOW });
      const { date } = typeof given === 'object' ? given : {};
      expect(clockAheadSecs).to.equal(date === undefined ? secsIn(expected) : (NOW - Date.parse(date)) / 1000);
      if (expected === 'works') {
        expect(found).to.equal(undefined);
        expect(probed.steps).to.deep.equal(['PUT', 'GET', 'DELETE']);
        return;
      }
      const [code = '', part = ''] = expected.split(': ', 2);
      expect(found?.code).to.equal(code);
      expect(`${found?.message ?? ''}; ${found?.remedy ?? ''}`)
        .to.include(expected.slice(code.length + 2))
        .and.include(part);
      expect(found?.remedy).to.match(/^(check|set|correct|create|give|make|see|synchronize) /);
    });
  }
});

describe('coordinator/files/object-store/store-watch', () => {
  let s3: FakeS3;
  beforeEach(async () => {
    s3 = await FakeS3.start();
  });
  afterEach(() => s3.stop());

  const storeAt = (endpoint: string): ObjectStore =>
    new ObjectStore({ endpoint, credentials: KEY, region: 'us-east-1', buckets: ['sims'], callMs: 2_000 });

  it('leaves no object, and answers from its latest look for five seconds', async () => {
    const clock = new SimulatedClock();
    const watch = new StoreWatch({ clock, objectStore: storeAt(s3.url), isWatching: false, hooks: {} });
    s3.time = new Date(clock.now() - 3_000);
    expect((await watch.state()).buckets).to.deep.equal([
      { bucket: 'sims', tried_at: new Date(clock.now()).toISOString(), clock_ahead_secs: 3 },
    ]);
    expect(s3.requests.map((it) => it.split(' ')[0])).to.deep.equal(['PUT', 'GET', 'DELETE']);
    expect([...s3.objects]).to.deep.equal([]);
    await watch.state();
    expect(s3.requests).to.have.length(3);
    await clock.advance(5_000);
    await Promise.all([watch.state(), watch.state()]);
    expect(s3.requests).to.have.length(6);
  });

  it('tries again half a minute after a fault, and reports only changes', async () => {
    const clock = new SimulatedClock();
    const changes: string[] = [];
    const hooks = {
      bucketChanged: (bucket: string, { fault }: BucketLook) =>
        void changes.push(`${bucket} ${fault?.code ?? 'works'}`),
    };
    const watch = new StoreWatch({ clock, objectStore: storeAt(s3.url), isWatching: true, hooks });
    const look = async (ms: number): Promise<number> => {
      const before = s3.requests.length;
      await clock.advance(ms);
      watch.tick();
      // A look in flight is waited for; without one there is nothing to wait for.
      await watch.idle();
      return s3.requests.length - before;
    };
    s3.fault = () => 503;
    watch.restore();
    await watch.idle();
    expect(watch.faultOf('sims')?.code).to.equal('unavailable');
    expect(await look(29_999)).to.equal(0);
    expect(await look(1)).to.equal(1);
    s3.fault = () => undefined;
    expect(await look(30_000)).to.equal(3);
    expect(watch.faultOf('sims')).to.equal(undefined);
    expect(await look(599_999)).to.equal(0);
    expect(await look(1)).to.equal(3);
    expect(changes).to.deep.equal(['sims unavailable', 'sims works']);
  });

  it('names a store that is not there, and does nothing by itself where it is not asked to', async () => {
    const { url } = s3;
    await s3.stop();
    const watch = new StoreWatch({ clock: systemClock, objectStore: storeAt(url), isWatching: false, hooks: {} });
    watch.restore();
    await watch.idle();
    expect(watch.faultOf('sims')).to.equal(undefined);
    const { buckets } = await watch.state();
    expect(buckets[0]?.fault?.code).to.equal('unreachable');
    s3 = await FakeS3.start();
  });
});
