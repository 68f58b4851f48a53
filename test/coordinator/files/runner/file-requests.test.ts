import { expect } from 'chai';
import {
  ANSWER_MS,
  CONTACT_MS,
  FileRequests,
  MAX_READINGS,
  NoAnswer,
} from '../../../../src/coordinator/files/runner/file-requests.ts';
import type { FileAnswer, FileQuestion } from '../../../../src/coordinator/files/runner/file-requests.ts';
import { LIMITS } from '../../../../src/contract/limits.ts';
import { SimbatchError } from '../../../../src/domain/errors.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';

const QUESTION: FileQuestion = { type: 'list', job_id: 'j', attempt: 1 };
const ANSWER: FileAnswer = { type: 'refused', fault: 'unreadable', detail: 'x' };
const never = new AbortController().signal;
const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'answered',
    (error: unknown) => error,
  );

describe('coordinator/files/runner: requests to runners', () => {
  let clock: SimulatedClock;
  let requests: FileRequests;
  beforeEach(() => {
    clock = new SimulatedClock();
    requests = new FileRequests(clock);
  });

  it('gets no answer from a runner that does not ask', async () => {
    expect(await failure(requests.ask('r1', QUESTION, never))).to.be.instanceOf(NoAnswer);
    await requests.poll('r1', [], 0, AbortSignal.abort());
    expect(requests.isServing('r1')).to.equal(false);
  });

  it('sends a request once, and again when its reply was lost', async () => {
    const poll = requests.poll('r1', [], 25_000);
    const asked = requests.ask('r1', QUESTION, never);
    const [first] = await poll;
    expect(first).to.include(QUESTION);
    const name = first?.request_id ?? '';
    const held = requests.poll('r1', [name], 25_000);
    const lost = requests.poll('r1', [], 25_000);
    expect(await held).to.deep.equal([]);
    expect((await lost).map((it) => it.request_id)).to.deep.equal([name]);
    expect(requests.answer('r1', name, ANSWER)).to.equal(true);
    expect(await asked).to.equal(ANSWER);
    expect(requests.answer('r1', name, ANSWER)).to.equal(false);
  });

  it('keeps the requests of runners apart', async () => {
    const polls = [requests.poll('r1', [], 1000), requests.poll('r2', [], 1000)];
    const asked = requests.ask('r1', QUESTION, never);
    const [name] = (await polls[0])?.map((it) => it.request_id) ?? [];
    expect(requests.answer('r2', name ?? '', ANSWER)).to.equal(false);
    expect(requests.request('r2', name ?? '')).to.equal(undefined);
    expect(requests.answer('r1', name ?? '', ANSWER)).to.equal(true);
    await asked;
    await clock.advance(1000);
    expect(await polls[1]).to.deep.equal([]);
  });

  it('gives up a request whose runner is silent, and one whose reader leaves', async () => {
    void requests.poll('r1', [], 25_000);
    const late = failure(requests.ask('r1', QUESTION, never));
    const leaving = new AbortController();
    const left = failure(requests.ask('r1', QUESTION, leaving.signal));
    leaving.abort(new Error('gone'));
    expect(String(await left)).to.equal('Error: gone');
    await clock.advance(ANSWER_MS);
    expect(await late).to.be.instanceOf(NoAnswer);
    expect(requests.isServing('r1')).to.equal(false);
    void requests.poll('r1', [], 25_000);
    await clock.advance(25_000);
    expect(requests.isServing('r1')).to.equal(true);
    await clock.advance(CONTACT_MS);
    expect(requests.isServing('r1')).to.equal(false);
  });

  it('answers the readers of a runner whose connection ended two seconds later, unless it asks again', async () => {
    for (const returns of [true, false]) {
      const connection = new AbortController();
      const poll = requests.poll('r1', [], 25_000, connection.signal);
      const asked = failure(requests.ask('r1', QUESTION, never));
      const name = (await poll)[0]?.request_id ?? '';
      void requests.poll('r1', [name], 25_000, connection.signal);
      connection.abort();
      if (returns) void requests.poll('r1', [name], 25_000);
      await clock.advance(2_000);
      expect(requests.isServing('r1')).to.equal(returns);
      expect(requests.answer('r1', name, ANSWER)).to.equal(returns);
      if (returns) expect(await asked).to.equal('answered');
      else expect(await asked).to.be.instanceOf(NoAnswer);
    }
  });

  it('bounds requests and readings', async () => {
    const open = Array.from({ length: LIMITS.fileRequests }, () => new AbortController());
    void requests.poll('r1', [], 25_000);
    const asked = open.map((it) => failure(requests.ask('r1', QUESTION, it.signal)));
    const refused = await failure(requests.ask('r1', QUESTION, never));
    expect(refused).to.be.instanceOf(SimbatchError).and.have.property('code', 'too-many-requests');
    for (const it of open) it.abort();
    await Promise.all(asked);
    const ends = Array.from({ length: MAX_READINGS }, () => requests.beginReading());
    expect(() => requests.beginReading()).to.throw(SimbatchError, 'the limit');
    ends[0]?.();
    ends[0]?.();
    requests.beginReading();
    expect(() => requests.beginReading()).to.throw(SimbatchError, 'the limit');
  });

  it('answers all polls once it is closed', async () => {
    const poll = requests.poll('r1', [], 25_000);
    requests.close();
    expect(await poll).to.deep.equal([]);
    expect(await requests.poll('r1', [], 25_000)).to.deep.equal([]);
    expect(await failure(requests.ask('r1', QUESTION, never))).to.be.instanceOf(NoAnswer);
  });
});
