/** States of an allocation, and one of each of its events, for tests of its machine. */
import { newAllocation, type AllocationContext, type AllocationEvent } from '../../machines/allocation/context.ts';
import { allocationMachine, type AllocationStatus } from '../../machines/allocation/allocation.ts';

const NOW = 1_000_000;
const seen = { handle: '7', place: undefined, reason: undefined, startedAtMs: undefined, endsAtMs: undefined };

export const ALLOCATION_INPUT = {
  id: 'a1b2c3d4e5f6',
  queue: 'main',
  engine: 'slurm',
  cores: 4,
  lifetimeMs: 3_600_000,
  startTimeoutMs: 60_000,
  queueTimeoutMs: undefined,
  settleMs: 90_000,
  isKept: false,
  now: NOW,
};

export const ALLOCATION_EVENTS: Readonly<Record<string, AllocationEvent>> = {
  SUBMIT: { type: 'SUBMIT', now: NOW },
  ABANDON: { type: 'ABANDON', reason: 'restarted', now: NOW },
  ACCEPTED: { type: 'ACCEPTED', handle: '7', place: undefined, now: NOW },
  REFUSE: { type: 'REFUSE', reason: 'invalid partition', now: NOW },
  UNANSWERED: { type: 'UNANSWERED', reason: 'timed out', now: NOW },
  'OBSERVED [queued]': { type: 'OBSERVED', seen: { ...seen, state: 'queued', end: undefined }, now: NOW },
  'OBSERVED [running]': { type: 'OBSERVED', seen: { ...seen, state: 'running', end: undefined }, now: NOW },
  'OBSERVED [stopping]': { type: 'OBSERVED', seen: { ...seen, state: 'stopping', end: undefined }, now: NOW },
  'OBSERVED [failed]': {
    type: 'OBSERVED',
    seen: { ...seen, state: 'ended', end: { kind: 'failed', exitCode: 1 } },
    now: NOW,
  },
  'OBSERVED [preempted]': {
    type: 'OBSERVED',
    seen: { ...seen, state: 'ended', end: { kind: 'preempted' } },
    now: NOW,
  },
  ABSENT: { type: 'ABSENT', now: NOW },
  'ABSENT [later]': { type: 'ABSENT', now: NOW + 90_000 },
  'RUNNER [idle]': { type: 'RUNNER', status: 'idle', runs: 0, now: NOW },
  'RUNNER [busy]': { type: 'RUNNER', status: 'busy', runs: 2, now: NOW },
  'RUNNER [draining]': { type: 'RUNNER', status: 'draining', runs: 1, now: NOW },
  'RUNNER [offline]': { type: 'RUNNER', status: 'offline', runs: 0, now: NOW },
  RUNNER_GONE: { type: 'RUNNER_GONE', now: NOW },
  STOP: { type: 'STOP', reason: 'by an operator', isFailure: false, immediately: false, now: NOW },
};

const planned = newAllocation(ALLOCATION_INPUT);
const submitting: AllocationContext = { ...planned, submittedAtMs: NOW };
const queued: AllocationContext = { ...submitting, handle: '7' };
const starting: AllocationContext = { ...queued, startingAtMs: NOW };
const ready: AllocationContext = { ...starting, readyAtMs: NOW };
const stop = { reason: 'by an operator', isFailure: false, immediately: false, atMs: NOW };

const state = (value: AllocationStatus, context: AllocationContext) =>
  allocationMachine.resolveState({ value, context });

export const ALLOCATION_STATES = {
  Planned: state('Planned', planned),
  Submitting: state('Submitting', submitting),
  'Submitting, to be stopped': state('Submitting', { ...submitting, stop }),
  Queued: state('Queued', queued),
  Starting: state('Starting', starting),
  Idle: state('Idle', ready),
  Busy: state('Busy', { ...ready, runs: 2 }),
  Draining: state('Draining', { ...ready, runs: 1 }),
  Stopping: state('Stopping', { ...ready, stop }),
  'Stopping, never ready': state('Stopping', { ...starting, stop: { ...stop, isFailure: true } }),
  Ended: state('Ended', { ...ready, end: { kind: 'completed' } }),
  Refused: state('Refused', { ...submitting, end: { kind: 'cancelled' } }),
  Lost: state('Lost', { ...ready, end: { kind: 'gone' } }),
};
