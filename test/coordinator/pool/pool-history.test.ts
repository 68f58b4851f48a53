/** The use of the pool by minute and the latest attempts of each runner, from facts. */
import { expect } from 'chai';
import type { Fact } from '../../../machines/protocol.ts';
import { PoolHistory } from '../../../src/coordinator/pool/pool-history.ts';

const START = Date.parse('2026-03-01T12:00:00Z');

const job = (jobId: string, now: number, rest: object): Fact =>
  ({ jobId, batchId: 'b', runId: 1, runnerId: 'r-1', attempt: 1, now: START + now, ...rest }) as unknown as Fact;

describe('coordinator/pool/pool-history', () => {
  it('gives the mean of the samples of each minute, at most one sample in five seconds', () => {
    const history = new PoolHistory();
    let asked = 0;
    const use = (slots: number, busy: number) => (): { slots: number; busy: number } => {
      asked += 1;
      return { slots, busy };
    };
    history.sample(START, use(4, 1));
    history.sample(START + 1_000, use(100, 100));
    history.sample(START + 5_000, use(4, 3));
    history.sample(START + 60_000, use(8, 8));
    expect(asked).to.equal(3);
    expect(history.read().minutes).to.deep.equal([
      { at: '2026-03-01T12:00:00.000Z', slots: 4, busy: 2 },
      { at: '2026-03-01T12:01:00.000Z', slots: 8, busy: 8 },
    ]);
  });

  it('keeps twelve hours of minutes and 240 attempts of a runner', () => {
    const history = new PoolHistory();
    for (let minute = 0; minute < 800; minute += 1)
      history.sample(START + minute * 60_000, () => ({ slots: minute, busy: 0 }));
    const { minutes } = history.read();
    expect([minutes.length, minutes[0]!.slots]).to.deep.equal([720, 80]);
    for (let at = 0; at < 250; at += 1) {
      history.committed([job(`j${at}`, at, { type: 'job.started' })]);
      history.committed([job(`j${at}`, at + 5, { type: 'job.ended', to: 'Completed', from: 'Running' })]);
    }
    const { attempts } = history.read(['r-1']);
    expect([attempts.length, attempts[0]!.job_id]).to.deep.equal([240, 'j10']);
  });

  it('lists ended and requeued attempts of the runners asked for, not those that never started', () => {
    const history = new PoolHistory();
    history.committed([
      job('a', 0, { type: 'job.started' }),
      job('b', 0, { type: 'job.started', runnerId: 'r-2' }),
      job('a', 10, { type: 'job.requeued', outcome: 'failed', from: 'Running', why: 'exit' }),
      job('b', 20, { type: 'job.ended', to: 'Timeout', from: 'Running', runnerId: 'r-2' }),
      job('c', 20, { type: 'job.ended', to: 'Cancelled', from: 'Pending', runnerId: undefined }),
    ]);
    expect(history.read().attempts).to.deep.equal([]);
    expect(
      history.read(['r-1', 'r-2', 'r-3']).attempts.map((it) => [it.runner_id, it.job_id, it.outcome]),
    ).to.deep.equal([
      ['r-1', 'a', 'failed'],
      ['r-2', 'b', 'timeout'],
    ]);
    history.committed([{ type: 'runner.forgotten', runnerId: 'r-2' } as unknown as Fact]);
    expect(history.read(['r-2']).attempts).to.deep.equal([]);
  });
});
