/** The order and the number of requests in which reports are sent. */
import { expect } from 'chai';
import type { Report } from '../../../src/client/client.ts';
import { ReportQueue } from '../../../src/runner/connection/report-queue.ts';
import type { ReportQueueOptions } from '../../../src/runner/connection/report-queue.ts';
import { silentLog } from '../../../src/runner/log.ts';

const start = (id: string): Report => ({ type: 'start', job_id: id, attempt: 1 });
const fail = (id: string): Report => ({ type: 'fail', job_id: id, attempt: 1, reason: 'exit', error_message: 'x' });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('runner/connection/report-queue', () => {
  /** A queue whose requests are answered by hand; `pass` lets the time pass for which outcomes wait. */
  function queue(isStartExpected: boolean) {
    const sent: string[][] = [];
    const answers: (() => void)[] = [];
    let timers: (() => void)[] = [];
    const reports = async (_: string, { reports: bulk }: { reports: readonly Report[] }): Promise<object> => {
      sent.push(bulk.map((it) => `${it.type} ${it.job_id}`));
      await new Promise<void>((resolve) => answers.push(resolve));
      return { outcomes: bulk.map(({ job_id }) => ({ job_id, status: 'Running' })) };
    };
    const connection = { client: { reports }, ask: (exchange: () => Promise<unknown>) => exchange() };
    const clock = {
      after(_: number, action: () => void) {
        timers.push(action);
        return () => (timers = timers.filter((it) => it !== action));
      },
    };
    const given = {
      connection,
      clock,
      log: silentLog,
      config: { id: 'r' },
      instance: 'i',
      isStartExpected: () => isStartExpected,
    };
    const it = new ReportQueue({ ...given, stop: new AbortController().signal } as unknown as ReportQueueOptions);
    const pass = (): void => {
      for (const timer of timers.splice(0)) timer();
    };
    return { report: (report: Report) => it.report(report), sent, answers, pass };
  }

  it('sends an outcome with the next start when one is expected', async () => {
    const { report, sent } = queue(true);
    void report(fail('a'));
    await turn();
    expect(sent).to.deep.equal([]);
    void report(start('b'));
    await turn();
    expect(sent).to.deep.equal([['fail a', 'start b']]);
  });

  it('sends an outcome by itself when no start comes in time', async () => {
    const { report, sent, pass } = queue(true);
    void report(fail('a'));
    await turn();
    pass();
    await turn();
    expect(sent).to.deep.equal([['fail a']]);
  });

  it('sends an outcome at once when no start is expected', async () => {
    const { report, sent } = queue(false);
    void report(fail('a'));
    await turn();
    expect(sent).to.deep.equal([['fail a']]);
  });

  it('sends a start while an earlier request is not answered, and at most two requests at a time', async () => {
    const { report, sent, answers } = queue(false);
    void report(fail('a'));
    await turn();
    void report(fail('b'));
    await turn();
    expect(sent).to.deep.equal([['fail a']]);
    void report(start('c'));
    await turn();
    expect(sent).to.deep.equal([['fail a'], ['fail b', 'start c']]);
    void report(start('d'));
    void report(start('e'));
    await turn();
    expect(sent).to.have.length(2);
    answers[1]?.();
    await turn();
    expect(sent.slice(2)).to.deep.equal([['start d', 'start e']]);
  });

  it('answers each report with its own verdict', async () => {
    const { report, answers } = queue(false);
    const verdicts = Promise.all([report(start('a')), report(start('b'))]);
    await turn();
    for (const answer of answers) answer();
    expect(await verdicts).to.deep.equal([{ status: 'Running' }, { status: 'Running' }]);
  });
});
