import { expect } from 'chai';
import { logFacts, logTurn, personal } from '../../src/cli/commands/server/log.ts';
import type { Logger } from 'pino';

describe('cli: the log at a terminal', () => {
  for (const [what, entry, line] of [
    [
      'facts after the message',
      { level: 40, msg: 'a runner went silent', runner_id: 'lab-3' },
      'warn  a runner went silent runner_id=lab-3',
    ],
    ['texts with blanks in quotes', { level: 30, msg: 'm', why: 'no such token' }, 'info  m why="no such token"'],
    ['nothing that steers a terminal', { level: 30, msg: 'm', name: '\u001b[2Jx' }, 'info  m name="\\u001b[2Jx"'],
    [
      'the stack of a fault',
      { level: 50, msg: 'fault', err: { stack: 'Error: x\n at y' } },
      'error fault\nError: x\nat y',
    ],
  ] as const) {
    it(`shows ${what}`, () => {
      const shown = personal(JSON.stringify({ time: 0, ...entry }));
      expect(shown.slice(0, 9)).to.match(/^\d\d:\d\d:\d\d $/);
      expect(shown.slice(9)).to.equal(line);
    });
  }

  it('logs a turn at level debug as its operation, outcome, facts by type and changed actors', () => {
    const lines: object[] = [];
    const logAt = (isDebug: boolean) =>
      ({ isLevelEnabled: () => isDebug, debug: (line: object) => lines.push(line) }) as unknown as Logger;
    const started = {
      type: 'job.started',
      jobId: 'j',
      batchId: 'b',
      runId: 0,
      runnerId: 'r',
      attempt: 1,
      now: 0,
    } as const;
    const actors = Array.from({ length: 22 }, (_, at) => ({ address: `job/${at}` as const }));
    const report = {
      operation: 'reports',
      outcome: 'done',
      secs: 0.00123456,
      facts: [started, started],
      actors,
    } as const;
    logTurn(logAt(false), report);
    logTurn(logAt(true), report);
    logTurn(logAt(true), { ...report, outcome: 'refused', facts: [], actors: [], code: 'stale-attempt' });
    expect(lines).to.deep.equal([
      {
        operation: 'reports',
        outcome: 'done',
        ms: 1.235,
        facts: { 'job.started': 2 },
        actors: actors.slice(0, 20).map((it) => it.address),
        more_actors: 2,
      },
      { operation: 'reports', outcome: 'refused', code: 'stale-attempt', ms: 1.235, facts: {}, actors: [] },
    ]);
  });

  it('logs nothing about single jobs', () => {
    const said: string[] = [];
    const say = (_facts: object, message: string) => said.push(message);
    const log = { info: say, warn: say } as unknown as Logger;
    const lost = { type: 'runner.lost', runnerId: 'r', cause: 'was restarted', now: 0 } as const;
    logFacts(log, [
      { type: 'batch.opened', batchId: 'b', totalJobs: 1, now: 0 },
      { type: 'job.started', jobId: 'j', batchId: 'b', runId: 0, runnerId: 'r', attempt: 1, now: 0 },
      { ...lost, held: [] },
      { ...lost, held: [{ job_id: 'j', attempt: 1 }] },
      { type: 'runner.silent', runnerId: 'r', now: 0 },
    ]);
    expect(said).to.deep.equal(['a study was submitted', 'runs were taken from a runner', 'a runner went silent']);
  });
});
