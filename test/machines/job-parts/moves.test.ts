/** The transitions counted from the records of jobs are those that the machine takes when it plays the same past. */
import { expect } from 'chai';
import { ActorPlayer } from '../../../machines/actor-player.ts';
import { MoveTally, movesOf } from '../../../machines/job-parts/moves.ts';
import { pastOf, type PastJob } from '../../../machines/job-parts/past.ts';
import type { JobEvent } from '../../../machines/protocol.ts';
import type { StoredState } from '../../../machines/actor-player.ts';
import { seededRandom } from '../../support/simulated-clock.ts';

const INPUT = {
  jobId: '00000000-0000-8000-8000-000000000001',
  batchId: '00000000-0000-8000-8000-000000000000',
  runId: 0,
  maxRetries: 3,
  timeLimitMs: 50_000,
  cpuMilli: 1_000,
  memoryBytes: 1,
};

/** A job as its record has it. */
const asStored = ({ value, ...context }: StoredState): PastJob =>
  ({ value, context: { ...INPUT, ...context } }) as unknown as PastJob;

/** Plays random legal events until the job ends or `length` events are taken. Returns its record and the transitions taken. */
function played(random: () => number, length: number): { job: PastJob; taken: string[] } {
  const player = ActorPlayer.begin('job', INPUT);
  const taken: string[] = [];
  let now = 1_000;
  for (let step = 0; step < length; step++) {
    const stored = player.stored as StoredState & { attempt: number; runnerId?: string };
    const by = { runnerId: stored.runnerId ?? 'r1', attempt: stored.attempt };
    now += 1 + Math.floor(random() * 40_000);
    const events: JobEvent[] = [
      { type: 'CLAIM', runnerId: `r${step % 3}`, now },
      { type: 'START', ...by, now },
      { type: 'START', ...by, now },
      { type: 'COMPLETE', ...by, now },
      { type: 'FAIL', ...by, reason: 'exit', message: 'exit code 1', now },
      { type: 'FAIL', ...by, reason: 'infrastructure', message: 'no disk', now },
      { type: 'FAIL', ...by, reason: 'timeout', message: 'too long', now },
      { type: 'HAND_BACK', ...by, now },
      { type: 'UNCLAIM', ...by, now },
      { type: 'RUNNER_LOST', ...by, cause: 'was restarted', now },
      { type: 'CLAIM_EXPIRED', now },
      { type: 'TIME_LIMIT', now },
    ];
    if (random() < 0.05) events.push({ type: 'CANCEL', reason: undefined, now });
    const legal = events.filter((it) => player.accepts(it));
    const event = legal[Math.floor(random() * legal.length)];
    if (event === undefined) break;
    const from = player.state;
    player.send(event);
    taken.push(`${from} ${event.type} ${player.state} ${event.now}`);
  }
  return { job: asStored(player.stored), taken };
}

describe('machines/job-parts/moves', () => {
  it('finds the transitions that the machine took, with their times, for every past', () => {
    const random = seededRandom(7);
    for (let round = 0; round < 400; round++) {
      const { job, taken } = played(random, 1 + Math.floor(random() * 25));
      const found = movesOf(job).map((it) => `${it.from} ${it.event} ${it.to} ${it.now}`);
      expect(found, JSON.stringify(pastOf(job).events)).to.deep.equal(taken);
    }
  });

  it('counts transitions and stays of many jobs', () => {
    const random = seededRandom(11);
    const tally = new MoveTally();
    let moves = 0;
    for (let round = 0; round < 50; round++) {
      const { job, taken } = played(random, 12);
      tally.add(job, 0);
      moves += taken.length;
    }
    tally.addUntouched();
    expect([...tally.counts.values()].reduce((sum, it) => sum + it, 0)).to.equal(moves + 1);
    // Each transition ends one stay; that of an untouched job is not recorded.
    expect([...tally.stays.values()].reduce((sum, it) => sum + it.stays, 0)).to.equal(moves);
    for (const { stays, totalMs, longestMs } of tally.stays.values())
      expect(totalMs / stays).to.be.within(0, longestMs);
  });

  it('measures each stay from the transition before, and none whose beginning is not recorded', () => {
    const attempts = [
      { n: 1, runner: 'a', claimed: 10_000, started: 11_000, ended: 15_000, outcome: 'failed', reason: 'exit' },
      { n: 2, runner: 'b', claimed: 18_000, started: 18_500, ended: 30_500, outcome: 'completed' },
    ] as const;
    const rest = { retries: 1, losses: 0, infrastructureFaults: undefined, error: undefined, timeLimitMs: 0 };
    const job: PastJob = {
      value: 'Completed',
      context: { ...rest, attempts, attemptsOmitted: 0, completedAtMs: 30_500 },
    };
    const whole = new MoveTally();
    whole.add(job, 4_000);
    expect(Object.fromEntries(whole.stays)).to.deep.equal({
      Pending: { stays: 2, totalMs: 6_000 + 3_000, longestMs: 6_000 },
      Claimed: { stays: 2, totalMs: 1_500, longestMs: 1_000 },
      Running: { stays: 2, totalMs: 16_000, longestMs: 12_000 },
    });
    const cut = new MoveTally();
    cut.add({ ...job, context: { ...job.context, attemptsOmitted: 5 } }, 4_000);
    expect([cut.stays.get('Pending'), cut.omittedAttempts]).to.deep.equal([
      { stays: 1, totalMs: 3_000, longestMs: 3_000 },
      5,
    ]);
    // The failed attempt was running for 4 s; the completed one was not repeated.
    expect(whole.repeated).to.deep.equal({ attempts: 1, totalMs: 4_000 });
    expect([whole.firstMs, whole.lastMs]).to.deep.equal([10_000, 30_500]);
  });
});
