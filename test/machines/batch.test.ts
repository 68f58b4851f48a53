/**
 * The batch machine. A batch is written as its runs, a letter each: P Pending and untouched, Q requeued, C Claimed, R Running,
 * D Completed, F Failed, T Timeout, X Cancelled, x Cancelled while untouched; a trailing `!` marks a requested cancellation. The counters are
 * always compared with a recount of the letters.
 */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { createActor, getInitialSnapshot, getNextSnapshot, type SnapshotFrom } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import {
  activeRuns,
  batchMachine,
  hasFailedCanary,
  releasedRuns,
  pendingRuns,
  untouchedRuns,
  type BatchContext,
} from '../../machines/batch.ts';
import { isTerminal } from '../../machines/kinds.ts';
import type { BatchEvent, BatchFact, JobChange } from '../../machines/protocol.ts';
import { jobId } from '../../src/domain/ids.ts';
import { BATCH_STATUSES } from '../../src/contract/enums.ts';
import type { BatchStatus } from '../../src/contract/types.ts';
import { expectTable } from '../support/transition-table.ts';
import { times } from '../support/properties.ts';

const BATCH = '01900000-0000-8000-8000-000000000000';
const CANARY = '01800000-0000-8000-8000-000000000000';
const NOW = 1_000_000;
const input = (totalJobs: number) => ({
  batchId: BATCH,
  name: 'a study',
  configHash: 'h',
  createdAtMs: NOW - 1000,
  simulationName: 'rocket',
  totalJobs,
  maxParallelJobs: 0,
  maxRetries: 3,
  timeLimitMs: 0,
  cpuMilli: 0,
  memoryBytes: 0,
  samplingScheme: 's',
});

/** The counters of the letters. Runs before the cursor were claimed, or cancelled and skipped. */
function recount(text: string) {
  const isCancelRequested = text.endsWith('!');
  const runs = text.replace('!', '').split('');
  const count = (letter: string): number => runs.filter((it) => it === letter).length;
  const lastTouched = runs.findLastIndex((it) => !'Px'.includes(it));
  const next = isCancelRequested ? runs.length : lastTouched + 1;
  return {
    totalJobs: runs.length,
    next,
    cancelledAhead: runs.slice(next).filter((it) => it === 'x').length,
    requeued: count('Q'),
    claimed: count('C'),
    running: count('R'),
    completed: count('D'),
    failed: count('F'),
    timedOut: count('T'),
    cancelled: count('X') + count('x'),
    cancelRequested: isCancelRequested,
  };
}

type BatchSnapshot = SnapshotFrom<typeof batchMachine>;

function batchOf(value: BatchStatus, text: string): BatchSnapshot {
  const counters = recount(text);
  const { context } = getInitialSnapshot(batchMachine, input(counters.totalJobs));
  return batchMachine.resolveState({ value, context: { ...context, ...counters } });
}

const counters = ({ next, cancelledAhead, requeued, claimed, running, ...c }: BatchContext) => {
  const { completed, failed, timedOut, cancelled, cancelRequested, totalJobs } = c;
  const active = { requeued, claimed, running };
  return { totalJobs, next, cancelledAhead, ...active, completed, failed, timedOut, cancelled, cancelRequested };
};

const WORDS = {
  C: 'Claimed',
  R: 'Running',
  D: 'Completed',
  F: 'Failed',
  T: 'Timeout',
  X: 'Cancelled',
  x: 'Cancelled',
} as const;

/** The change that turns a run's letter into another. */
function changeOf(runId: number, from: string, to: string): JobChange {
  const about = { jobId: jobId(BATCH, runId), batchId: BATCH, runId, runnerId: 'r1', attempt: 1, now: NOW };
  if (to === 'C') return { ...about, type: 'job.claimed', requeued: from === 'Q', cpuMilli: 0, memoryBytes: 0 };
  if (to === 'R') return { ...about, type: 'job.started' };
  if (to === 'Q') {
    const was = from === 'C' ? 'Claimed' : 'Running';
    return { ...about, type: 'job.requeued', from: was, outcome: 'lost', why: 'runner-lost' };
  }
  const isPending = from === 'P' || from === 'Q';
  return {
    ...about,
    type: 'job.ended',
    from: isPending ? 'Pending' : WORDS[from as 'C' | 'R'],
    to: WORDS[to as 'D' | 'F' | 'T' | 'X' | 'x'],
    touched: from !== 'P',
    error: undefined,
    startedAtMs: undefined,
  };
}

/** `0>C 1>C`: the changes by run, in order; `CANCEL`: the event. */
function eventOf(text: string, runs: string): BatchEvent {
  if (text === 'CANCEL') return { type: 'CANCEL', reason: 'enough', now: NOW };
  const letters = runs.split('');
  const changes = text.split(' ').map((word) => {
    const [run = '', to = ''] = word.split('>');
    const change = changeOf(Number(run), letters[Number(run)] ?? '', to);
    letters[Number(run)] = to;
    return change;
  });
  return { type: 'JOBS_CHANGED', changes, now: NOW };
}

function send(from: BatchSnapshot, event: BatchEvent): { after: BatchSnapshot; emitted: BatchFact[] } {
  const actor = createActor(batchMachine, { snapshot: from, input: from.context });
  const emitted: BatchFact[] = [];
  actor.on('*', (it: BatchFact) => emitted.push(it));
  actor.start();
  actor.send(event);
  return { after: actor.getSnapshot(), emitted };
}

function outcome(from: BatchSnapshot, event: BatchEvent): { after: BatchSnapshot; facts: string[] } {
  const { after, emitted } = send(from, event);
  const facts = emitted.map((it) => (it.type === 'batch.ended' ? `ended ${it.status}` : it.type.slice(6)));
  return { after, facts };
}

describe('machines/batch: telemetry of its runs', () => {
  it('counts each ended run once, in the change that ends it', () => {
    const telemetry = { samples: 0, lost: 3, judged: ['a'], wouldTerminate: false };
    const ended = { ...changeOf(0, 'R', 'D'), telemetry } as JobChange;
    const { after } = outcome(batchOf('Running', 'RR'), { type: 'JOBS_CHANGED', changes: [ended], now: NOW });
    expect(after.context.telemetry).to.deep.equal({
      reported: 1,
      silent: 1,
      lossy: 1,
      lost: 3,
      wouldTerminate: 0,
      judged: [{ variable: 'a', runs: 1 }],
    });
    const last = outcome(after, { type: 'JOBS_CHANGED', changes: [changeOf(1, 'R', 'D')], now: NOW }).after;
    expect(last.context.telemetry).to.equal(after.context.telemetry);
  });
});

// Three runs where the cursor matters, two otherwise.
const TABLE = `
  # state   runs | changes     | state     runs | facts
  Pending   PPP  | 0>C         | Running   CPP  |
  Pending   PPP  | 0>C 1>C     | Running   CCP  |
  Pending   PPP  | 0>C 0>R     | Running   RPP  |
  Pending   PPP  | 0>x         | Pending   xPP  |
  Pending   PPP  | 1>x         | Pending   PxP  |
  Pending   xPP  | 1>C         | Running   xCP  |
  Pending   PxP  | 0>C         | Running   CxP  |
  Pending   PxP  | 0>C 2>C     | Running   CxC  |
  Pending   xxP  | 2>C         | Running   xxC  |
  Pending   xxP  | 2>x         | Cancelled xxx  | ended Cancelled
  Pending   PP   | 0>x 1>x     | Cancelled xx   | ended Cancelled
  Pending   PP   | CANCEL      | Cancelled xx!  | cancelling, ended Cancelled
  Pending   xP   | CANCEL      | Cancelled xx!  | cancelling, ended Cancelled
  Pending   PP   | 0>C 0>X     | Running   XP   |
  Running   CP   | 0>R         | Running   RP   |
  Running   CP   | 0>Q         | Running   QP   |
  Running   CP   | 0>X         | Running   XP   |
  Running   CP   | CANCEL      | Running   Cx!  | cancelling
  Running   Cx!  | 0>X         | Cancelled Xx!  | ended Cancelled
  Running   RP   | 0>D         | Running   DP   |
  Running   RP   | 0>F         | Running   FP   |
  Running   RP   | 0>T         | Running   TP   |
  Running   RP   | 0>Q         | Running   QP   |
  Running   RP   | CANCEL      | Running   Rx!  | cancelling
  Running   Rx!  | 0>X         | Cancelled Xx!  | ended Cancelled
  Running   QP   | 0>C         | Running   CP   |
  Running   QP   | 0>X         | Running   XP   |
  Running   QP   | 1>C         | Running   QC   |
  Running   QP   | CANCEL      | Running   Qx!  | cancelling
  Running   Qx!  | 0>X         | Cancelled Xx!  | ended Cancelled
  Running   QR   | 1>D         | Running   QD   |
  Running   DR   | 1>D         | Completed DD   | ended Completed
  Running   DR   | 1>F         | Completed DF   | ended Completed
  Running   DR   | 1>T         | Completed DT   | ended Completed
  Running   DR   | 1>X         | Completed DX   | ended Completed
  Running   DR   | 1>Q         | Running   DQ   |
  Running   FR   | 1>F         | Failed    FF   | ended Failed
  Running   FR   | 1>D         | Completed FD   | ended Completed
  Running   TR   | 1>T         | Failed    TT   | ended Failed
  Running   TR   | 1>F         | Failed    TF   | ended Failed
  Running   FQ   | 1>X         | Failed    FX   | ended Failed
  Running   XR   | 1>F         | Failed    XF   | ended Failed
  Running   XR   | 1>X         | Cancelled XX   | ended Cancelled
  Running   DP   | CANCEL      | Cancelled Dx!  | cancelling, ended Cancelled
  Running   FP   | CANCEL      | Cancelled Fx!  | cancelling, ended Cancelled
  Running   RR   | 0>D 1>D     | Completed DD   | ended Completed
  Running   RR   | 0>Q 0>C 1>D | Running   CD   |
`;

describe('machines/batch', () => {
  const rows = TABLE.split('\n').filter((line) => line.includes('|') && !line.includes('#'));
  for (const row of rows) {
    it(row.trim(), () => {
      const [start = '', change = '', end = '', facts = ''] = row.split('|').map((cell) => cell.trim());
      const [state = '', runs = ''] = start.split(/ +/);
      const [target = '', left = ''] = end.split(/ +/);
      const before = batchOf(state as BatchStatus, runs);
      const event = eventOf(change, runs);
      expect(before.can(event)).to.equal(true);
      const { after, facts: emitted } = outcome(before, event);
      expect(after.value).to.equal(target);
      expect(counters(after.context)).to.deep.equal(recount(left));
      expect(emitted.join(', ')).to.equal(facts);
      expect(isTerminal(after.value)).to.equal(!['Pending', 'Running'].includes(target));
    });
  }

  it('takes exactly these events of its flow', () => {
    const flow = {
      Open: {},
      Paused: { pausedAtMs: NOW - 1, pauseReason: 'a look' },
      Blocked: { blockedAtMs: NOW - 1 },
    };
    const canaryBatch = CANARY;
    const canary = {
      'Canary running': { canaryRuns: 2 },
      'Canary released': { canaryRuns: 2, releasedAtMs: NOW - 1 },
      Held: { canaryBatch },
      'Held for good': { canaryBatch, canaryFailedAtMs: NOW - 1 },
      Unheld: { canaryBatch, releasedAtMs: NOW - 1 },
    };
    const states = Object.entries({ ...flow, ...canary }).flatMap(([name, changes]) =>
      (['Pending', 'Running'] as const).map((value) => {
        const { context } = batchOf(value, value === 'Pending' ? 'PPPP' : 'CPPP');
        const snapshot = batchMachine.resolveState({ value, context: { ...context, ...changes } });
        return [`${name}, ${value}`, snapshot] as const;
      }),
    );
    const rowsIn = (state: string): string => `
      Open, ${state}            | PAUSE   | ${state} | batch.paused    | pausedAtMs set, pauseReason set
      Open, ${state}            | BLOCK   | ${state} | batch.blocked   | blockedAtMs set
      Paused, ${state}          | RESUME  | ${state} | batch.resumed   | pausedAtMs cleared, pauseReason cleared
      Paused, ${state}          | BLOCK   | ${state} | batch.blocked   | blockedAtMs set
      Blocked, ${state}         | PAUSE   | ${state} | batch.paused    | pausedAtMs set, pauseReason set
      Blocked, ${state}         | UNBLOCK | ${state} | batch.unblocked | blockedAtMs cleared
      Canary running, ${state}  | PAUSE   | ${state} | batch.paused    | pausedAtMs set, pauseReason set
      Canary running, ${state}  | RELEASE | ${state} | batch.released  | releasedAtMs set
      Canary running, ${state}  | BLOCK   | ${state} | batch.blocked   | blockedAtMs set
      Canary released, ${state} | PAUSE   | ${state} | batch.paused    | pausedAtMs set, pauseReason set
      Canary released, ${state} | BLOCK   | ${state} | batch.blocked   | blockedAtMs set
      Held, ${state}            | PAUSE   | ${state} | batch.paused    | pausedAtMs set, pauseReason set
      Held, ${state}            | RELEASE | ${state} | batch.released  | releasedAtMs set
      Held, ${state}            | BLOCK   | ${state} | batch.blocked   | blockedAtMs set
      Held, ${state}            | PASS    | ${state} | batch.canary-passed | releasedAtMs set
      Held, ${state}            | FAIL    | ${state} | batch.canary-failed | canaryFailedAtMs set
      Held for good, ${state}   | PAUSE   | ${state} | batch.paused    | pausedAtMs set, pauseReason set
      Held for good, ${state}   | RELEASE | ${state} | batch.released  | releasedAtMs set
      Held for good, ${state}   | BLOCK   | ${state} | batch.blocked   | blockedAtMs set
      Held for good, ${state}   | PASS    | ${state} | batch.canary-passed | releasedAtMs set
      Unheld, ${state}          | PAUSE   | ${state} | batch.paused    | pausedAtMs set, pauseReason set
      Unheld, ${state}          | BLOCK   | ${state} | batch.blocked   | blockedAtMs set
    `;
    expectTable(
      {
        machine: batchMachine,
        fact: (it: BatchFact) => it.type,
        fields: ['pausedAtMs', 'pauseReason', 'releasedAtMs', 'canaryFailedAtMs', 'blockedAtMs', 'next', 'cancelled'],
        events: {
          PAUSE: { type: 'PAUSE', reason: 'a look', now: NOW } as BatchEvent,
          RESUME: { type: 'RESUME', now: NOW } as BatchEvent,
          RELEASE: { type: 'RELEASE', now: NOW } as BatchEvent,
          BLOCK: { type: 'BLOCK', finding: { code: 'a', message: 'b', remedy: 'c' }, now: NOW } as BatchEvent,
          UNBLOCK: { type: 'UNBLOCK', now: NOW } as BatchEvent,
          PASS: { type: 'CANARY_ENDED', passed: true, now: NOW } as BatchEvent,
          FAIL: { type: 'CANARY_ENDED', passed: false, now: NOW } as BatchEvent,
        },
        states: Object.fromEntries(states),
      },
      rowsIn('Pending') + rowsIn('Running'),
    );
  });

  it('grows by rounds while it is open for them, and ends only once it is closed', () => {
    const growing = (value: BatchStatus, runs: string, changes: object = {}) => {
      const { context } = batchOf(value, runs);
      const own = { budget: 5, growing: true as const, rounds: 1, ...changes };
      return batchMachine.resolveState({ value, context: { ...context, ...own } });
    };
    const append = (count: number): BatchEvent => ({ type: 'APPEND', count, now: NOW });
    const close: BatchEvent = { type: 'CLOSE', now: NOW };
    const completed: BatchEvent = { type: 'JOBS_CHANGED', changes: [changeOf(1, 'R', 'D')], now: NOW };
    const grown = outcome(growing('Running', 'DR'), append(3));
    expect(grown.facts).to.deep.equal(['appended']);
    expect(grown.after.context).to.include({ totalJobs: 5, rounds: 2 });
    expect(growing('Running', 'DR').can(append(4)), 'over the budget').to.equal(false);
    expect(growing('Running', 'DR').can(append(0)), 'no run').to.equal(false);
    const idle = outcome(growing('Running', 'DR'), completed);
    expect([idle.after.value, idle.facts]).to.deep.equal(['Running', []]);
    expect(idle.after.context).to.include({ waitingSinceMs: NOW }).and.not.have.property('endedAtMs', NOW);
    expect(outcome(idle.after, append(1)).after.context.waitingSinceMs).to.equal(undefined);
    expect(outcome(idle.after, close).facts).to.deep.equal(['closed', 'ended Completed']);
    const closed = outcome(growing('Running', 'DR'), close);
    expect([closed.after.value, closed.after.context.growing]).to.deep.equal(['Running', undefined]);
    expect(closed.after.can(append(1)), 'closed').to.equal(false);
    expect(outcome(closed.after, completed).facts).to.deep.equal(['ended Completed']);
    const cancelled = outcome(growing('Running', 'DP'), { type: 'CANCEL', reason: undefined, now: NOW });
    expect(cancelled.facts).to.deep.equal(['cancelling', 'ended Cancelled']);
    expect(growing('Pending', 'PP', { growing: undefined }).can(close), 'twice').to.equal(false);
    expect(outcome(growing('Running', 'DF'), close).after.value).to.equal('Completed');
    expect(outcome(growing('Running', 'FF'), close).after.value).to.equal('Failed');
  });

  it('takes EXTEND after the end of a study that grew, and none of another one', () => {
    const extend = (runs: number): BatchEvent => ({ type: 'EXTEND', runs, now: NOW });
    const ended = (value: BatchStatus, changes: object = { budget: 5 }) =>
      batchMachine.resolveState({ value, context: { ...batchOf(value, 'DF').context, endedAtMs: NOW, ...changes } });
    const first = outcome(ended('Completed'), extend(3));
    expect([first.after.value, first.facts]).to.deep.equal(['Running', ['extended']]);
    expect(first.after.context).to.deep.include({
      budget: 8,
      extensions: [3],
      growing: true,
      waitingSinceMs: NOW,
      endedAtMs: undefined,
      history: { entries: [{ atMs: NOW, type: 'extended' }], omitted: 0 },
    });
    expect(first.after.can(extend(3)), 'while it is open').to.equal(false);
    const closed = outcome(first.after, { type: 'CLOSE', now: NOW });
    expect(closed.facts).to.deep.equal(['closed', 'ended Completed']);
    expect(outcome(closed.after, extend(2)).after.context).to.deep.include({ budget: 10, extensions: [3, 2] });
    expect(ended('Completed').can(extend(0)), 'no run').to.equal(false);
    expect(ended('Completed', {}).can(extend(3)), 'a number of runs that is fixed').to.equal(false);
    expect([ended('Failed').can(extend(3)), ended('Cancelled').can(extend(3))]).to.deep.equal([false, false]);
  });

  it('takes SETTLE while it runs and stops when settled; the cancelled runs leave it Completed', () => {
    const settle: BatchEvent = { type: 'SETTLE', runId: 0, now: NOW };
    const stopping = (value: BatchStatus, runs: string, changes: object = { stopWhen: 'settled' }) => {
      const { context } = batchOf(value, runs);
      return batchMachine.resolveState({ value, context: { ...context, ...changes } });
    };
    const { after, facts } = outcome(stopping('Running', 'DRPP'), settle);
    expect(facts).to.deep.equal(['cancelling']);
    expect([after.value, counters(after.context)]).to.deep.equal(['Running', recount('DRxx!')]);
    expect(after.context).to.include({ settledAtRunId: 0, cancelReason: 'every requirement was settled at run 0' });
    const last = outcome(after, { type: 'JOBS_CHANGED', changes: [changeOf(1, 'R', 'X')], now: NOW });
    expect([last.after.value, last.facts]).to.deep.equal(['Completed', ['ended Completed']]);
    expect(outcome(stopping('Running', 'DPP'), settle).facts).to.deep.equal(['cancelling', 'ended Completed']);
    expect(outcome(stopping('Running', 'FPP'), settle).facts, 'none Completed').to.deep.equal([
      'cancelling',
      'ended Failed',
    ]);
    expect(stopping('Running', 'DP', {}).can(settle), 'without the rule').to.equal(false);
    expect(stopping('Running', 'Rx!').can(settle), 'cancelled').to.equal(false);
    expect(stopping('Pending', 'PP').can(settle), 'before a run was claimed').to.equal(false);
  });

  it('releases all runs when its canary runs are Completed, two thirds of three or more; a hung run makes them three', () => {
    const table: [canaryRuns: number, runs: string, released: number, hasFailed: boolean][] = [
      [2, 'PPPP', 2, false],
      [2, 'CRPP', 2, false],
      [2, 'DRPP', 2, false],
      [2, 'DQPP', 2, false],
      [2, 'DxPP', 2, true],
      [2, 'DDPP', 4, false],
      [2, 'DDFF', 4, false],
      [2, 'DFPP', 2, true],
      [2, 'DTPP', 3, false],
      [2, 'TRPP', 3, false],
      [2, 'DTRP', 3, false],
      [2, 'DTFP', 3, true],
      [2, 'TTPP', 3, true],
      [2, 'FFPP', 2, true],
      [2, 'DTDP', 4, false],
      [1, 'RPPP', 1, false],
      [1, 'FPPP', 1, true],
      [1, 'TPPP', 3, false],
      [1, 'TDRP', 3, false],
      [1, 'TFRP', 3, true],
      [1, 'TDDP', 4, false],
      [1, 'TT', 2, false],
      [3, 'DRRP', 3, false],
      [3, 'DDRP', 4, false],
      [3, 'DFRP', 3, false],
      [3, 'DFFP', 3, true],
      [6, 'DDDRRRPP', 6, false],
      [6, 'DDDDRRPP', 8, false],
      [6, 'DDDFFRPP', 6, false],
      [6, 'DDFFFRPP', 6, true],
    ];
    for (const [canaryRuns, runs, released, hasFailed] of table) {
      const { context } = batchOf('Running', runs);
      const c = { ...context, canaryRuns };
      expect([releasedRuns(c), hasFailedCanary(c)], `${canaryRuns} ${runs}`).to.deep.equal([released, hasFailed]);
      expect(releasedRuns({ ...c, releasedAtMs: NOW }), runs).to.equal(runs.length);
    }
  });

  it('lets three decide when fewer canary runs have held the others for a minute, and only then', () => {
    const table: [canaryRuns: number | undefined, runs: string, afterMs: number, released: number][] = [
      [1, 'RPPPPP', 59_999, 1],
      [1, 'RPPPPP', 60_000, 3],
      [2, 'RRPPPP', 60_000, 3],
      [2, 'DRPPPP', 60_000, 3],
      [3, 'RRRPPP', 60_000, 3],
      [1, 'RP', 60_000, 2],
      [1, 'DPPPPP', 60_000, 6],
      [1, 'FPPPPP', 60_000, 1],
      [undefined, 'RPPPPP', 60_000, 6],
    ];
    for (const [canaryRuns, runs, afterMs, released] of table) {
      const { context } = batchOf('Running', runs);
      const running = { ...context, canaryRuns, startedAtMs: NOW };
      const before = batchMachine.resolveState({ value: 'Running', context: running });
      const { after, facts } = outcome(before, { type: 'CANARY_LATE', now: NOW + afterMs });
      const name = `${canaryRuns} ${runs} after ${afterMs}`;
      expect(releasedRuns(after.context), name).to.equal(released);
      const isLate = after.context.canaryLateAtMs !== undefined;
      expect(facts, name).to.deep.equal(isLate ? ['canary-late'] : []);
      expect(outcome(after, { type: 'CANARY_LATE', now: NOW + afterMs }).facts, `${name}, again`).to.deep.equal([]);
    }
  });

  it('does not withhold runs again that its canary run has released', () => {
    const { context } = batchOf('Running', 'RPPPPP');
    let state = batchMachine.resolveState({ value: 'Running', context: { ...context, canaryRuns: 1 } });
    for (const [text, runs] of [
      ['0>D', 'RPPPPP'],
      ['1>C', 'DPPPPP'],
      ['1>R', 'DCPPPP'],
      ['1>F', 'DRPPPP'],
    ] as const)
      state = outcome(state, eventOf(text, runs)).after;
    expect([releasedRuns(state.context), hasFailedCanary(state.context)]).to.deep.equal([6, false]);
  });

  it('emits the end of its canary runs once: passed when enough are Completed, failed when they cannot be any more', () => {
    const table: [value: BatchStatus, runs: string, event: string, facts: string[]][] = [
      ['Running', 'DRPP', '1>D', ['canary-passed']],
      ['Running', 'RRPP', '0>D 1>D', ['canary-passed']],
      ['Running', 'RRPP', '0>D', []],
      ['Running', 'RRPP', '0>F', ['canary-failed']],
      ['Running', 'RRPP', '0>T', []],
      ['Running', 'TRPP', '1>F', ['canary-failed']],
      ['Running', 'TDRP', '2>D', ['canary-passed']],
      ['Running', 'TDRP', '2>F', ['canary-failed']],
      ['Running', 'FTRP', '2>F', []],
      ['Running', 'TRPP', '1>D', []],
      ['Running', 'DRPP', '1>Q', []],
      ['Pending', 'xPPP', '1>x', ['canary-failed']],
      ['Running', 'DDRP', '2>F', []],
    ];
    for (const [value, runs, text, facts] of table) {
      const { context } = batchOf(value, runs);
      const before = batchMachine.resolveState({ value, context: { ...context, canaryRuns: 2 } });
      const { after, facts: emitted } = outcome(before, eventOf(text, runs));
      expect(emitted, `${runs} ${text}`).to.deep.equal(facts);
      expect(
        (after.context.history?.entries ?? []).map(({ type }) => type),
        `${runs} ${text}`,
      ).to.deep.equal(facts);
    }
  });

  it('releases no run before its canary study has passed or a client releases it, and reports a failure', () => {
    const { context } = batchOf('Pending', 'PPPP');
    const held = { ...context, canaryBatch: CANARY };
    const table: [changes: Partial<BatchContext>, released: number, hasFailed: boolean][] = [
      [{}, 0, false],
      [{ canaryFailedAtMs: NOW }, 0, true],
      [{ releasedAtMs: NOW }, 4, false],
      [{ canaryFailedAtMs: NOW, releasedAtMs: NOW }, 4, false],
    ];
    for (const [changes, released, hasFailed] of table) {
      const c = { ...held, ...changes };
      expect([releasedRuns(c), hasFailedCanary(c)], JSON.stringify(changes)).to.deep.equal([released, hasFailed]);
    }
  });

  it('says at its end whether a canary study passes: with every run Completed', () => {
    const parent = { batchId: BATCH, relation: 'probe' as const, family: BATCH };
    for (const [runs, event, passed] of [
      ['DDR', '2>D', true],
      ['DDR', '2>F', false],
      ['DDR', '2>T', false],
      ['DDR', '2>X', false],
      ['DDPR', 'CANCEL', undefined],
      ['DPP', 'CANCEL', false],
    ] as const) {
      const { context } = batchOf('Running', runs);
      const state = batchMachine.resolveState({ value: 'Running', context: { ...context, parent } });
      const ends = send(state, eventOf(event, runs))
        .emitted.filter((it) => it.type === 'batch.ended')
        .map((it) => it.canaryOf);
      expect(ends, `${runs} ${event}`).to.deep.equal(passed === undefined ? [] : [{ batchId: BATCH, passed }]);
    }
    const { context } = batchOf('Running', 'DR');
    const rerun = { ...context, parent: { ...parent, relation: 'rerun' as const } };
    const state = batchMachine.resolveState({ value: 'Running', context: rerun });
    expect(send(state, eventOf('1>D', 'DR')).emitted.at(-1)).to.not.have.property('canaryOf');
  });

  it('takes no event once it has ended', () => {
    for (const [state, runs] of [
      ['Completed', 'DD'],
      ['Failed', 'FF'],
      ['Cancelled', 'xx!'],
    ] as const) {
      for (const event of [eventOf('CANCEL', runs), eventOf('0>C', 'PP'), eventOf('0>D', 'RR')]) {
        const before = batchOf(state, runs);
        expect(before.can(event), `${state} ${event.type}`).to.equal(false);
        const { after, facts } = outcome(before, event);
        expect(after.context).to.deep.equal(before.context);
        expect(facts).to.deep.equal([]);
      }
    }
  });

  it('takes an amendment in every state, which changes the judgement and the history alone', () => {
    const [old, changed] = [{ labels: { campaign: 'a' } }, { labels: { campaign: 'b' } }];
    const judgement = { revision: 1, requirements: [], stated: [], outputs: {}, amendedAtMs: NOW };
    const about = { judgement, labels: changed.labels, judged: 2, before: old, after: changed, now: NOW };
    for (const [state, runs] of [
      ['Pending', 'PP'],
      ['Running', 'RP'],
      ['Completed', 'DD'],
      ['Failed', 'FF'],
      ['Cancelled', 'xx!'],
    ] as const) {
      const before = batchOf(state, runs);
      const { after, facts } = outcome(before, { type: 'AMEND', ...about });
      expect(after.value).to.equal(state);
      expect(facts).to.deep.equal(['amended']);
      const { history, ...rest } = after.context;
      expect(history).to.deep.equal({
        entries: [{ atMs: NOW, type: 'amended', before: old, after: changed }],
        omitted: 0,
      });
      const { history: _, ...was } = before.context;
      expect(rest).to.deep.equal({ ...was, judgement, labels: changed.labels, requirements: 2 });
    }
  });

  it('keeps the latest amendments up to 256 KiB, and the latest one in any case', () => {
    const judgement = { revision: 1, requirements: [], stated: [], outputs: {}, amendedAtMs: NOW };
    let batch = batchOf('Completed', 'DD');
    const amend = (chars: number): void => {
      const after = { outputs: { miss: { description: 'x'.repeat(chars) } } };
      const event = {
        type: 'AMEND' as const,
        judgement,
        labels: undefined,
        judged: undefined,
        before: {},
        after,
        now: NOW,
      };
      batch = outcome(batch, event).after;
    };
    for (let time = 0; time < 5; time++) amend(80_000);
    expect(batch.context.history).to.include({ omitted: 2 }).and.to.have.property('entries').with.length(3);
    amend(300_000);
    expect(batch.context.history).to.include({ omitted: 5 }).and.to.have.property('entries').with.length(1);
  });

  it('is Completed at once without runs', () => {
    const actor = createActor(batchMachine, { input: input(0) });
    const facts: string[] = [];
    actor.on('*', (it) => facts.push(it.type));
    actor.start();
    expect(actor.getSnapshot()).to.deep.include({ value: 'Completed' });
    expect(actor.getSnapshot().context.endedAtMs).to.equal(NOW - 1000);
    expect(facts).to.deep.equal(['batch.opened', 'batch.ended']);
  });

  it('reaches every state', () => {
    const paths = getShortestPaths(batchMachine, {
      input: input(2),
      events: ({ context: c }) => [
        ...(untouchedRuns(c) > 0 ? [jobChanged(c.next, 'P', 'C'), jobChanged(c.next, 'P', 'x')] : []),
        ...(c.claimed > 0 ? [jobChanged(0, 'C', 'R'), jobChanged(0, 'C', 'X')] : []),
        ...(c.running > 0 ? [jobChanged(0, 'R', 'D'), jobChanged(0, 'R', 'F'), jobChanged(0, 'R', 'Q')] : []),
        ...(c.requeued > 0 ? [jobChanged(0, 'Q', 'C')] : []),
        eventOf('CANCEL', ''),
      ],
      limit: 10_000,
    });
    expect([...new Set(paths.map(({ state }) => state.value))].toSorted()).to.deep.equal(
      [...BATCH_STATUSES].toSorted(),
    );
    for (const { state } of paths) {
      expect(isTerminal(state.value), state.value).to.equal(!['Pending', 'Running'].includes(state.value));
    }
  });

  it('has counters that equal a recount after any legal changes', () => {
    const NEXT: Record<string, string> = { P: 'Cx', Q: 'CX', C: 'RQX', R: 'DFTQX' };
    const steps = fc.array(fc.record({ run: fc.nat(4), to: fc.nat(4), cancel: fc.nat(40) }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (choices) => {
        let runs = 'PPPPP';
        let batch: BatchSnapshot = getInitialSnapshot(batchMachine, input(5));
        for (const { run, to, cancel } of choices) {
          if (isTerminal(batch.value)) return;
          if (cancel === 0) {
            batch = getNextSnapshot(batchMachine, batch, eventOf('CANCEL', runs));
            runs = `${runs.replace('!', '').replaceAll('P', 'x')}!`;
          } else {
            const from = runs[run] ?? '';
            // Untouched runs are claimed in order.
            const isFirst = from !== 'P' || runs.indexOf('P') === run;
            const choice = (NEXT[from] ?? '').split('').filter((it) => it !== 'C' || (isFirst && !runs.endsWith('!')));
            const letter = choice[to % Math.max(1, choice.length)];
            if (letter === undefined) continue;
            batch = getNextSnapshot(batchMachine, batch, eventOf(`${run}>${letter}`, runs));
            runs = runs.slice(0, run) + letter + runs.slice(run + 1);
          }
          const expected = recount(runs);
          expect(counters(batch.context)).to.deep.equal(expected);
          expect(pendingRuns(batch.context)).to.equal(runs.split('').filter((it) => 'PQ'.includes(it)).length);
          const open = runs.split('').filter((it) => 'PQCR'.includes(it)).length;
          expect(pendingRuns(batch.context) + activeRuns(batch.context)).to.equal(open);
          expect(isTerminal(batch.value)).to.equal(open === 0);
        }
      }),
      { numRuns: times(500) },
    );
  });
});

const jobChanged = (runId: number, from: string, to: string): BatchEvent => ({
  type: 'JOBS_CHANGED',
  changes: [changeOf(runId, from, to)],
  now: NOW,
});
