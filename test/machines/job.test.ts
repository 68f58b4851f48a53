/** The job machine: its transition table as text, its graph, its deadlines, and its history. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { getNextSnapshot } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { jobDeadline, reviveJob, INITIAL_HISTORY } from '../../machines/job-context.ts';
import { jobMachine, type JobSnapshot } from '../../machines/job.ts';
import type { JobEvent, JobFact } from '../../machines/protocol.ts';
import { FAIL_REASONS, JOB_STATUSES } from '../../src/contract/enums.ts';
import type { FailReason } from '../../src/contract/types.ts';
import { expectTable, type Exercise } from '../support/transition-table.ts';
import { CLAIMED_AT, JOB_EVENTS, jobIn, NOW, untouchedJob } from './job.fixture.ts';
import { times } from '../support/properties.ts';

function fact(it: JobFact): string {
  switch (it.type) {
    case 'job.claimed':
      return `job.claimed ${it.requeued ? 'again' : 'first'}`;
    case 'job.started':
    case 'job.excused':
      return it.type;
    case 'job.requeued':
      return `job.requeued ${it.from} ${it.outcome} ${it.why}`;
    case 'job.ended':
      return `job.ended ${it.from} ${it.to}${it.touched ? '' : ' untouched'}${it.reused === true ? ' reused' : ''}`;
  }
}

const exercise: Exercise = {
  machine: jobMachine,
  fact,
  fields: [
    'attempt',
    'retries',
    'losses',
    'infrastructureFaults',
    'runnerId',
    'claimedAtMs',
    'startedAtMs',
    'completedAtMs',
    'error',
    'reusedFrom',
  ],
  events: JOB_EVENTS,
  states: {
    Untouched: untouchedJob(),
    ...Object.fromEntries(JOB_STATUSES.map((status) => [status, jobIn(status)])),
  },
};

/** Running jobs that are one step from a bound, and the events that the bound affects. */
const atTheBounds: Exercise = {
  ...exercise,
  events: Object.fromEntries(
    Object.entries(JOB_EVENTS).filter(([, { type }]) =>
      ['FAIL', 'RUNNER_LOST', 'INTERRUPT', 'TIME_LIMIT'].includes(type),
    ),
  ),
  states: {
    'Running, no retry left': jobIn('Running', { retries: 3 }),
    'Running, four losses': jobIn('Running', { losses: 4 }),
    'Running, four faults': jobIn('Running', { infrastructureFaults: 4 }),
    'Running, no limit': jobIn('Running', { dueAtMs: undefined, timeLimitMs: 0 }),
  },
};

describe('machines/job', () => {
  it('takes exactly these events', () => {
    expectTable(
      exercise,
      `
      # state   | event                    | target    | facts                                       | changes
      Untouched | CLAIM                    | Claimed   | job.claimed first                           | attempt+1, runnerId set, claimedAtMs set
      Untouched | REUSE                    | Completed | job.ended Pending Completed untouched reused | completedAtMs set, reusedFrom set
      Untouched | REUSE [terminated]       | Failed    | job.ended Pending Failed untouched reused    | completedAtMs set, error set, reusedFrom set
      Untouched | CANCEL                   | Cancelled | job.ended Pending Cancelled untouched       | completedAtMs set
      Pending   | CLAIM                    | Claimed   | job.claimed again                           | attempt+1, runnerId set, claimedAtMs set
      Pending   | REUSE                    | Completed | job.ended Pending Completed reused          | completedAtMs set, reusedFrom set
      Pending   | REUSE [terminated]       | Failed    | job.ended Pending Failed reused             | completedAtMs set, error set, reusedFrom set
      Pending   | CANCEL                   | Cancelled | job.ended Pending Cancelled                 | completedAtMs set
      Claimed   | START                    | Running   | job.started                                 | startedAtMs set
      Claimed   | CANCEL                   | Cancelled | job.ended Claimed Cancelled                 | completedAtMs set
      Claimed   | HAND_BACK                | Pending   | job.requeued Claimed released signed-off    | runnerId cleared, claimedAtMs cleared
      Claimed   | UNCLAIM                  | Pending   | job.requeued Claimed released handed-back   | runnerId cleared, claimedAtMs cleared
      Claimed   | INTERRUPT [stopped]      | Pending   | job.requeued Claimed released runner-stopped | runnerId cleared, claimedAtMs cleared
      Claimed   | INTERRUPT [machine]      | Pending   | job.requeued Claimed released machine-gone   | runnerId cleared, claimedAtMs cleared
      Claimed   | RUNNER_LOST              | Pending   | job.requeued Claimed released runner-lost   | runnerId cleared, claimedAtMs cleared
      Claimed   | CLAIM_EXPIRED [in time]  | Pending   | job.requeued Claimed released claim-expired | runnerId cleared, claimedAtMs cleared
      Running   | COMPLETE                 | Completed | job.ended Running Completed                 | completedAtMs set
      Running   | FAIL [exit]              | Pending   | job.requeued Running failed exit            | retries+1, runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running   | FAIL [signal]            | Pending   | job.requeued Running failed signal          | retries+1, runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running   | FAIL [infrastructure]    | Pending   | job.requeued Running failed infrastructure  | infrastructureFaults set, runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running   | FAIL [early_termination] | Failed    | job.ended Running Failed                    | completedAtMs set, error set
      Running   | FAIL [invalid]           | Failed    | job.ended Running Failed                    | completedAtMs set, error set
      Running   | FAIL [timeout]           | Timeout   | job.ended Running Timeout                   | completedAtMs set, error set
      Running   | DOUBT_CODE               | Running   | -                                           | -
      Running   | CANCEL                   | Cancelled | job.ended Running Cancelled                 | completedAtMs set
      Running   | HAND_BACK                | Pending   | job.requeued Running released signed-off    | runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running   | INTERRUPT [stopped]      | Pending   | job.requeued Running released runner-stopped | runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running   | INTERRUPT [machine]      | Pending   | job.requeued Running released machine-gone   | runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running   | RUNNER_LOST              | Pending   | job.requeued Running lost runner-lost       | losses+1, runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running   | TIME_LIMIT [in time]     | Timeout   | job.ended Running Timeout                   | completedAtMs set, error set
      # Completed, Failed, Timeout and Cancelled take nothing.
      `,
    );
  });

  it('counts the loss of a runner no more when its machine was taken away, and keeps it in the history', () => {
    const loss = {
      n: 1,
      runner: 'r1',
      claimed: 0,
      started: 1,
      ended: 2,
      outcome: 'lost',
      reason: 'runner-lost',
    } as const;
    const second = { n: 2, runner: 'r2', claimed: 3 };
    const event = { type: 'EXCUSE', runnerId: 'r1', attempt: 1, message: 'preempted', now: NOW } as const;
    const before: JobSnapshot[] = [
      jobIn('Pending', { losses: 2, attempts: [loss] }),
      jobIn('Claimed', { losses: 2, attempt: 2, runnerId: 'r2', attempts: [loss, second] }),
      jobIn('Running', { losses: 2, attempt: 2, runnerId: 'r2', attempts: [loss, { ...second, started: 4 }] }),
    ];
    for (const job of before) {
      expect(job.can({ ...event, attempt: 2 }), 'another attempt').to.equal(false);
      expect(job.can({ ...event, runnerId: 'r2' }), 'another runner').to.equal(false);
      const { value, context } = after(job, event);
      const excused = { ...loss, outcome: 'released', reason: 'machine-gone', message: 'preempted' };
      expect([value, context.losses, context.attempts[0]]).to.deep.equal([job.value, 1, excused]);
      expect(context.attempts.slice(1)).to.deep.equal(job.context.attempts.slice(1));
      expect(after(job, event).can(event), 'twice').to.equal(false);
    }
  });

  it('ends at twice as many losses while reports of launchers may excuse them', () => {
    const lose = (losses: number, mayBeExcused?: boolean): unknown =>
      after(jobIn('Running', { losses }), {
        type: 'RUNNER_LOST',
        runnerId: 'r1',
        attempt: 1,
        cause: 'is silent',
        ...(mayBeExcused === undefined ? {} : { mayBeExcused }),
        now: NOW,
      }).value;
    expect([lose(3), lose(4), lose(4, true), lose(8, true), lose(9, true)]).to.deep.equal([
      'Pending',
      'Failed',
      'Pending',
      'Pending',
      'Failed',
    ]);
  });

  it('respects its bounds', () => {
    expectTable(
      atTheBounds,
      `
      Running, no retry left | FAIL [exit]              | Failed  | job.ended Running Failed                   | completedAtMs set, error set
      Running, no retry left | FAIL [signal]            | Failed  | job.ended Running Failed                   | completedAtMs set, error set
      Running, no retry left | FAIL [infrastructure]    | Pending | job.requeued Running failed infrastructure | infrastructureFaults set, runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running, no retry left | FAIL [early_termination] | Failed  | job.ended Running Failed                   | completedAtMs set, error set
      Running, no retry left | FAIL [invalid]           | Failed  | job.ended Running Failed                   | completedAtMs set, error set
      Running, no retry left | FAIL [timeout]           | Timeout | job.ended Running Timeout                  | completedAtMs set, error set
      Running, no retry left | INTERRUPT [stopped]      | Pending | job.requeued Running released runner-stopped   | runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running, no retry left | INTERRUPT [machine]      | Pending | job.requeued Running released machine-gone   | runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running, no retry left | RUNNER_LOST              | Pending | job.requeued Running lost runner-lost      | losses+1, runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running, no retry left | TIME_LIMIT [in time]     | Timeout | job.ended Running Timeout                  | completedAtMs set, error set
      Running, four losses   | FAIL [exit]              | Pending | job.requeued Running failed exit           | retries+1, runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running, four losses   | FAIL [signal]            | Pending | job.requeued Running failed signal         | retries+1, runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running, four losses   | FAIL [infrastructure]    | Pending | job.requeued Running failed infrastructure | infrastructureFaults set, runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running, four losses   | FAIL [early_termination] | Failed  | job.ended Running Failed                   | completedAtMs set, error set
      Running, four losses   | FAIL [invalid]           | Failed  | job.ended Running Failed                   | completedAtMs set, error set
      Running, four losses   | FAIL [timeout]           | Timeout | job.ended Running Timeout                  | completedAtMs set, error set
      Running, four losses   | INTERRUPT [stopped]      | Pending | job.requeued Running released runner-stopped   | runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running, four losses   | INTERRUPT [machine]      | Pending | job.requeued Running released machine-gone   | runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running, four losses   | RUNNER_LOST              | Failed  | job.ended Running Failed                   | losses+1, completedAtMs set, error set
      Running, four losses   | TIME_LIMIT [in time]     | Timeout | job.ended Running Timeout                  | completedAtMs set, error set
      Running, four faults   | FAIL [exit]              | Pending | job.requeued Running failed exit           | retries+1, runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running, four faults   | FAIL [signal]            | Pending | job.requeued Running failed signal         | retries+1, runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running, four faults   | FAIL [infrastructure]    | Failed  | job.ended Running Failed                   | infrastructureFaults+1, completedAtMs set, error set
      Running, four faults   | FAIL [early_termination] | Failed  | job.ended Running Failed                   | completedAtMs set, error set
      Running, four faults   | FAIL [invalid]           | Failed  | job.ended Running Failed                   | completedAtMs set, error set
      Running, four faults   | FAIL [timeout]           | Timeout | job.ended Running Timeout                  | completedAtMs set, error set
      Running, four faults   | INTERRUPT [stopped]      | Pending | job.requeued Running released runner-stopped   | runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running, four faults   | INTERRUPT [machine]      | Pending | job.requeued Running released machine-gone   | runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running, four faults   | RUNNER_LOST              | Pending | job.requeued Running lost runner-lost      | losses+1, runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running, four faults   | TIME_LIMIT [in time]     | Timeout | job.ended Running Timeout                  | completedAtMs set, error set
      Running, no limit      | FAIL [exit]              | Pending | job.requeued Running failed exit           | retries+1, runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running, no limit      | FAIL [signal]            | Pending | job.requeued Running failed signal         | retries+1, runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running, no limit      | FAIL [infrastructure]    | Pending | job.requeued Running failed infrastructure | infrastructureFaults set, runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running, no limit      | FAIL [early_termination] | Failed  | job.ended Running Failed                   | completedAtMs set, error set
      Running, no limit      | FAIL [invalid]           | Failed  | job.ended Running Failed                   | completedAtMs set, error set
      Running, no limit      | FAIL [timeout]           | Timeout | job.ended Running Timeout                  | completedAtMs set, error set
      Running, no limit      | INTERRUPT [stopped]      | Pending | job.requeued Running released runner-stopped   | runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running, no limit      | INTERRUPT [machine]      | Pending | job.requeued Running released machine-gone   | runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      Running, no limit      | RUNNER_LOST              | Pending | job.requeued Running lost runner-lost      | losses+1, runnerId cleared, claimedAtMs cleared, startedAtMs cleared
      `,
    );
  });

  it('reaches every state, and only terminal states take no event', () => {
    const paths = getShortestPaths(jobMachine, {
      input: { ...untouchedJob().context, maxRetries: 1, timeLimitMs: 1000 },
      events: everyEvent,
      // The attempt number and the times grow without bound; the legal events do not depend on them.
      serializeState: ({ value, context: c }) =>
        JSON.stringify([value, c.retries, c.losses, c.infrastructureFaults, c.attempt > 0]),
      limit: 10_000,
    });
    const reached = new Map(paths.map(({ state }) => [state.value, state]));
    expect([...reached.keys()].toSorted()).to.deep.equal([...JOB_STATUSES].toSorted());
    for (const { state } of paths) {
      const isTerminal = ['Completed', 'Failed', 'Timeout', 'Cancelled'].includes(state.value);
      expect(state.status, state.value).to.equal(isTerminal ? 'done' : 'active');
      expect(
        everyEvent(state).some((it) => state.can(it)),
        state.value,
      ).to.equal(!isTerminal);
    }
  });

  const ENDS: [title: string, ends: [reason: FailReason, ownError?: string][], attempts: number][] = [
    ['one error twice', [['exit', 'a'], ['exit', 'a'], ['exit', 'a']], 2],
    ['one error twice, another one between', [['exit', 'a'], ['exit', 'b'], ['exit', 'a'], ['exit', 'c']], 3],
    ['one error by a signal and by an exit', [['signal', 'a'], ['exit', 'a']], 2],
    ['errors that differ, up to the retries', [['exit', 'a'], ['exit', 'b'], ['exit', 'c'], ['exit', 'd']], 4],
    ['ends that are not the error of the simulation', [['signal'], ['signal'], ['exit'], ['exit']], 4],
    ['a machine at fault between', [['exit', 'a'], ['infrastructure'], ['infrastructure'], ['exit', 'a']], 4],
  ]; // prettier-ignore
  for (const [title, ends, attempts] of ENDS) {
    it(`ends Failed after ${attempts} attempts: ${title}`, () => {
      let job = untouchedJob();
      let n = 0;
      while (job.value === 'Pending') {
        const [reason, ownError] = ends[n++]!;
        const by = { runnerId: 'r1', attempt: n, now: NOW };
        job = after(after(job, { type: 'CLAIM', runnerId: 'r1', now: NOW }), { type: 'START', ...by });
        const error = ownError === undefined ? {} : { ownError };
        job = after(job, { type: 'FAIL', ...by, reason, message: `end ${n}`, ...error });
        expect(job.context.attempts.at(-1)?.ownError).to.equal(ownError);
      }
      expect([job.value, n]).to.deep.equal(['Failed', attempts]);
    });
  }

  it('keeps the history of its latest hundred attempts', () => {
    let job = untouchedJob();
    for (let n = 1; n <= 103; n += 1) {
      job = after(job, { type: 'CLAIM', runnerId: `r${n}`, now: n });
      if (n < 103) job = after(job, { type: 'HAND_BACK', runnerId: `r${n}`, attempt: n, now: n });
    }
    const { attempts, attemptsOmitted } = job.context;
    expect(attemptsOmitted).to.equal(3);
    expect(attempts.map((it) => it.n)).to.deep.equal(Array.from({ length: 100 }, (_, at) => at + 4));
    expect(attempts[0]).to.deep.equal({
      n: 4,
      runner: 'r4',
      claimed: 4,
      ended: 4,
      outcome: 'released',
      reason: 'signed-off',
    });
    expect(attempts.at(-1)).to.deep.equal({ n: 103, runner: 'r103', claimed: 103 });
  });

  it('keeps a long message, and truncates it in the history', () => {
    const message = 'x'.repeat(5000);
    const { context } = after(jobIn('Running'), { ...JOB_EVENTS['FAIL [invalid]'], message });
    expect(context.error).to.equal(message);
    expect(context.attempts.at(-1)?.message).to.have.length(2000);
  });

  it('names the last lost runner, or the time limit, in its message', () => {
    const lost = after(jobIn('Running', { losses: 4 }), JOB_EVENTS.RUNNER_LOST).context.error;
    expect(lost).to.equal(
      'runner r1 was restarted while this run was running on it; the run has lost its runner 5 times, which is the limit',
    );
    const late = after(jobIn('Running'), JOB_EVENTS['TIME_LIMIT [in time]']).context.error;
    expect(late).to.equal('the run exceeded its time limit of 30 s');
  });

  it('has one deadline: the claim time, then the time limit', () => {
    const running = after(jobIn('Claimed'), JOB_EVENTS.START);
    const table = [
      ['Untouched', untouchedJob(), undefined],
      ['Claimed', jobIn('Claimed'), { kind: 'claim', atMs: CLAIMED_AT + 60_000 }],
      ['Running', running, { kind: 'time-limit', atMs: NOW + 30_000 }],
      ['Running, no limit', after(jobIn('Claimed', { timeLimitMs: 0 }), JOB_EVENTS.START), undefined],
      ['Requeued', after(running, JOB_EVENTS['FAIL [exit]']), undefined],
      ['Completed', after(running, JOB_EVENTS.COMPLETE), undefined],
    ] as const;
    for (const [name, { value, context }, deadline] of table) {
      expect(jobDeadline(value, context), name).to.deep.equal(deadline);
    }
  });

  it('resets its deadline after a restart', () => {
    const table: [state: string, dueAtMs: number | undefined, revived: number | undefined][] = [
      // The claim time is counted from the restart, even when the clock was set back in between.
      ['Claimed', NOW - 5000, NOW + 60_000],
      ['Claimed', NOW + 59_999, NOW + 60_000],
      ['Claimed', NOW + 3_600_000, NOW + 60_000],
      // A time limit does not expire within a lease of the restart, and otherwise stays.
      ['Running', NOW - 5000, NOW + 60_000],
      ['Running', NOW + 59_999, NOW + 60_000],
      ['Running', NOW + 60_001, NOW + 60_001],
      ['Running', undefined, undefined],
    ];
    for (const [state, dueAtMs, revived] of table) {
      const state1 = reviveJob(state, { ...INITIAL_HISTORY, dueAtMs }, NOW);
      expect(state1, `${state} ${dueAtMs}`).to.deep.equal({ ...INITIAL_HISTORY, dueAtMs: revived });
    }
  });

  it('never throws and stays consistent under any sequence of events', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 60 }), (events) => {
        let job = untouchedJob();
        for (const event of events) {
          const next = after(job, event);
          expectConsistent(next);
          if (job.status === 'done') expect(next).to.equal(job);
          if (!job.can(event)) expect(next.context).to.deep.equal(job.context);
          expect(next.context.attempt).to.be.at.least(job.context.attempt);
          job = next;
        }
      }),
      { numRuns: times(300) },
    );
  });
});

const after = (job: JobSnapshot, event: JobEvent): JobSnapshot => getNextSnapshot(jobMachine, job, event);

/** Each event in a form that the job's current state could take. */
function everyEvent({ context: c }: JobSnapshot): JobEvent[] {
  const report = { runnerId: c.runnerId ?? 'none', attempt: c.attempt, now: NOW };
  return [
    { type: 'CLAIM', runnerId: 'r1', now: NOW },
    { ...report, type: 'START' },
    { ...report, type: 'COMPLETE' },
    ...FAIL_REASONS.map((reason): JobEvent => ({ ...report, type: 'FAIL', reason, message: 'broke' })),
    { type: 'CANCEL', reason: undefined, now: NOW },
    { ...report, type: 'HAND_BACK' },
    { ...report, type: 'UNCLAIM' },
    { ...report, type: 'DOUBT_CODE' },
    { ...report, type: 'INTERRUPT', why: 'machine-gone', message: 'preempted' },
    { ...report, type: 'RUNNER_LOST', cause: 'was restarted' },
    {
      ...report,
      type: 'EXCUSE',
      attempt: c.attempt - 1,
      runnerId: c.attempts.at(-2)?.runner ?? 'none',
      message: 'preempted',
    },
    { type: 'CLAIM_EXPIRED', now: NOW + 60_000 },
    { type: 'TIME_LIMIT', now: NOW + 60_000 },
  ];
}

const anyReport = fc.record({
  type: fc.constantFrom(
    'CLAIM',
    'START',
    'COMPLETE',
    'FAIL',
    'CANCEL',
    'HAND_BACK',
    'UNCLAIM',
    'DOUBT_CODE',
    'INTERRUPT',
    'RUNNER_LOST',
    'EXCUSE',
    'CLAIM_EXPIRED',
    'TIME_LIMIT',
  ),
  runnerId: fc.constantFrom('r1', 'r2', '__proto__', ''),
  attempt: fc.oneof(fc.integer({ min: 0, max: 6 }), fc.integer(), fc.constant(NaN)),
  reason: fc.constantFrom(...FAIL_REASONS),
  message: fc.string(),
  why: fc.constantFrom('runner-stopped', 'machine-gone'),
  cause: fc.string(),
  now: fc.integer({ min: 0, max: 200_000 }),
});
const anyEvent = anyReport as fc.Arbitrary<unknown> as fc.Arbitrary<JobEvent>;

function expectConsistent({ value, context: c }: JobSnapshot): void {
  const isHeld = value === 'Claimed' || value === 'Running';
  if (isHeld || value === 'Pending') expect(c.runnerId !== undefined, `${value} has a runner`).to.equal(isHeld);
  if (isHeld) expect(c.attempts.at(-1)).to.include({ n: c.attempt, runner: c.runnerId });
  expect(c.attempts.filter((it) => it.outcome === undefined).length, 'open attempts').to.equal(isHeld ? 1 : 0);
  expect(c.attempts.length + c.attemptsOmitted).to.equal(c.attempt);
  expect(c.retries).to.be.within(0, c.maxRetries);
  expect(c.losses).to.be.within(0, 5);
  const lost = c.attempts.filter((it) => it.outcome === 'lost').length;
  if (c.attemptsOmitted === 0) expect(c.losses, 'losses').to.equal(lost);
  expect(c.completedAtMs !== undefined).to.equal(!isHeld && value !== 'Pending');
  expect(c.error !== undefined).to.equal(value === 'Failed' || value === 'Timeout');
  expect(c.attempts.filter((it) => it.outcome === 'completed').length).to.equal(value === 'Completed' ? 1 : 0);
}
