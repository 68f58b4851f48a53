import { expect } from 'chai';
import fc from 'fast-check';
import { FAIL_REASONS } from '../../src/contract/enums.ts';
import type { JobEvent } from '../../machines/protocol.ts';
import type { JobState } from '../../src/coordinator/kernel/actors/actor-kinds.ts';
import { pastOf } from '../../machines/job-parts/past.ts';
import { ActorPlayer, plain } from '../../machines/actor-player.ts';
import { times } from '../support/properties.ts';

const ID = '01900000-0000-8000-8000-000000000001';
const input = {
  jobId: ID,
  batchId: `${ID.slice(0, 35)}0`,
  runId: 0,
  maxRetries: 150,
  timeLimitMs: 30_000,
  cpuMilli: 0,
  memoryBytes: 0,
};

/** An event of a job, as [kind, delay after the previous event, text]. */
const moves = fc.array(
  fc.tuple(
    fc.constantFrom(
      'CLAIM',
      'START',
      'COMPLETE',
      'FAIL',
      'HAND_BACK',
      'UNCLAIM',
      'INTERRUPT',
      'RUNNER_LOST',
      'CLAIM_EXPIRED',
      'TIME_LIMIT',
      'CANCEL',
      'restart',
    ),
    fc.integer({ min: 0, max: 70_000 }),
    fc.constantFrom(...FAIL_REASONS),
    fc.oneof(fc.string(), fc.constant('x'.repeat(3_000)), fc.constant('runner r1 was restarted')),
  ),
  { maxLength: 40 },
);

function play(player: ActorPlayer, sequence: readonly (readonly [string, number, string, string])[]): void {
  let now = 1_700_000_000_000;
  for (const [type, laterMs, reason, message] of sequence) {
    now += laterMs;
    if (type === 'restart') {
      player.restart(now);
      continue;
    }
    const { runnerId = 'r1', attempt } = player.stored as { runnerId?: string; attempt?: number };
    const why = reason === 'exit' ? 'runner-stopped' : reason === 'timeout' ? 'code-changed' : 'machine-gone';
    const code = message.startsWith('x') ? { kind: 'entrypoint', digest: 'd'.repeat(64) } : undefined;
    player.send({ type, runnerId, attempt, reason, message, why, code, cause: message, now } as unknown as JobEvent);
  }
}

const stateOf = (player: ActorPlayer): JobState => {
  const { value, ...context } = player.stored;
  return { value, context } as unknown as JobState;
};

/** The job that its own history makes. */
function again(state: JobState): ActorPlayer {
  const { start, events } = pastOf(state);
  const player = ActorPlayer.restore('job', plain({ value: 'Pending', ...state.context, ...start }));
  for (const event of events) {
    if (event.type === 'restart') player.restart(event.now);
    else expect(player.send(event), event.type).to.not.equal('refused');
  }
  return player;
}

describe('the past of a job', () => {
  it('reproduces the job after any events', () => {
    fc.assert(
      fc.property(moves, (sequence) => {
        const player = ActorPlayer.begin('job', input);
        play(player, sequence);
        // A restart moves the clock of a job that is held without writing it: what is stored is before that.
        const active = player.state === 'Claimed' || player.state === 'Running';
        const { dueAtMs: _, ...replayed } = again(stateOf(player)).stored;
        const { dueAtMs, ...stored } = player.stored;
        expect(replayed).to.deep.equal(stored);
        if (!active) expect(dueAtMs).to.equal(undefined);
      }),
      { numRuns: times(300) },
    );
  });

  it('contains the kept attempts and counts older ones', () => {
    const player = ActorPlayer.begin('job', input);
    for (let round = 0; round < 130; round += 1) {
      play(player, [
        ['CLAIM', 0, 'exit', ''],
        ['START', 1, 'exit', ''],
        ['FAIL', 1, round % 3 === 0 ? 'signal' : 'exit', 'broke'],
      ]);
    }
    const state = stateOf(player);
    expect(state.context.attemptsOmitted).to.equal(30);
    expect(pastOf(state).start).to.include({ attempt: 30, retries: 30, losses: 0 });
    expect(again(state).stored).to.deep.equal(player.stored);
  });

  it('knows of a restart after the clock was set back', () => {
    const player = ActorPlayer.begin('job', input);
    const claimedAt = 1_700_000_000_000;
    player.send({ type: 'CLAIM', runnerId: 'r1', now: claimedAt });
    player.restart(claimedAt - 3_600_000);
    expect(player.send({ type: 'CLAIM_EXPIRED', now: claimedAt - 3_540_000 })).to.not.equal('refused');
    expect(again(stateOf(player)).stored).to.deep.equal(player.stored);
  });
});
