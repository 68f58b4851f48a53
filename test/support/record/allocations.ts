/** Recordings of allocations: their stored records after each event, as a launcher writes them. */
import type { AllocationEvent, AllocationInput } from '../../../machines/allocation/context.ts';
import { Allocations, type AllocationRecord } from '../../../src/launcher/state/allocations.ts';
import type { AllocationRecording } from '../../../src/replay/allocations.ts';

const START = Date.UTC(2026, 0, 1);

const INPUT: AllocationInput = {
  id: 'a1b2c3d4e5f6',
  queue: 'main',
  engine: 'slurm',
  cores: 4,
  lifetimeMs: 3_600_000,
  startTimeoutMs: 600_000,
  queueTimeoutMs: undefined,
  settleMs: 90_000,
  isKept: false,
  now: START,
};

type Step = AllocationEvent extends infer E ? (E extends { now: number } ? Omit<E, 'now'> : never) : never;

const seen = { handle: '4711', place: undefined, reason: undefined, startedAtMs: undefined, endsAtMs: undefined };
const started = { ...seen, state: 'running', startedAtMs: START, endsAtMs: START + 3_600_000, end: undefined } as const;
const SUBMIT: Step = { type: 'SUBMIT' };
const ACCEPTED: Step = { type: 'ACCEPTED', handle: '4711', place: undefined };
const QUEUED: Step = {
  type: 'OBSERVED',
  seen: { ...seen, state: 'queued', reason: 'PENDING: Resources', end: undefined },
};
const RUNNING: Step = { type: 'OBSERVED', seen: started };
const ended = (kind: 'completed' | 'failed' | 'timeout' | 'preempted'): Step => ({
  type: 'OBSERVED',
  seen: { ...started, state: 'ended', end: { kind } },
});
const runner = (status: 'idle' | 'busy', runs = 0): Step => ({ type: 'RUNNER', status, runs });

/** Records before this member have no deadline in Draining. */
const DRAINING: AllocationInput = { ...INPUT, drain: 'time-limits' };

const SCENARIOS: Readonly<Record<string, readonly Step[]>> = {
  works: [
    SUBMIT,
    ACCEPTED,
    QUEUED,
    RUNNING,
    runner('idle'),
    runner('busy', 3),
    runner('idle'),
    { type: 'RUNNER_GONE' },
    ended('completed'),
  ],
  refused: [SUBMIT, { type: 'REFUSE', reason: 'invalid partition' }],
  abandoned: [{ type: 'ABANDON', reason: 'the launcher was restarted before it was submitted' }],
  'unanswered-and-found': [
    SUBMIT,
    { type: 'UNANSWERED', reason: 'socket timed out' },
    { type: 'ABSENT' },
    RUNNING,
    runner('busy', 4),
    ended('timeout'),
  ],
  'unanswered-and-never-submitted': [
    SUBMIT,
    { type: 'UNANSWERED', reason: 'socket timed out' },
    ...Array.from({ length: 10 }, (): Step => ({ type: 'ABSENT' })),
  ],
  'never-registered': [
    SUBMIT,
    ACCEPTED,
    RUNNING,
    {
      type: 'STOP',
      reason: 'its runner did not register within 600 s of its start',
      isFailure: true,
      immediately: true,
    },
    { type: 'ABSENT' },
  ],
  'stopped-by-an-operator': [
    SUBMIT,
    ACCEPTED,
    { type: 'STOP', reason: 'maintenance', isFailure: false, immediately: false },
    ended('completed'),
  ],
  preempted: [SUBMIT, ACCEPTED, RUNNING, runner('busy', 4), ended('preempted')],
  'drained-too-long': [
    SUBMIT,
    ACCEPTED,
    RUNNING,
    runner('busy', 2),
    { type: 'RUNNER', status: 'draining', runs: 2 },
    { type: 'RUNNER', status: 'draining', runs: 1, timeLimitMs: 900_000 },
    { type: 'RUNNER', status: 'offline', runs: 1 },
    { type: 'RUNNER', status: 'draining', runs: 1 },
    {
      type: 'STOP',
      reason: 'its runner still held runs 1500 s after it was drained',
      isFailure: false,
      immediately: false,
    },
    {
      type: 'STOP',
      reason: 'its runner still held runs 1500 s after it was drained',
      isFailure: false,
      immediately: true,
    },
    ended('completed'),
  ],
  adopted: [RUNNING, runner('idle'), { type: 'ABSENT' }],
};

const SECOND_MS = 10_000;

/** All recordings as text, by the names of their files. */
export function recordAllocations(): Map<string, string> {
  return new Map(
    Object.entries(SCENARIOS).map(([name, events]) => {
      const allocations = new Allocations(() => {});
      const input = name.startsWith('drained-') ? DRAINING : INPUT;
      allocations.plan(input);
      const steps = events.map((it, at) => {
        const event = { ...it, now: START + (at + 1) * SECOND_MS };
        if (!allocations.send(INPUT.id, event) && event.type !== 'ABSENT')
          throw new Error(`${name}: ${event.type} was refused`);
        return { event, record: allocations.get(INPUT.id) as AllocationRecord };
      });
      const recording: AllocationRecording = { format: 1, machine: 'allocation', input, steps };
      return [`allocation-${name}.json`, `${JSON.stringify(recording, null, 2)}\n`];
    }),
  );
}
