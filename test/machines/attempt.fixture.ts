/** States of an attempt, and one of each of its events, for tests of its machine. */
import { attemptMachine, type AttemptContext, type AttemptEvent } from '../../machines/attempt.ts';

export const ATTEMPT_EVENTS: Readonly<Record<string, AttemptEvent>> = {
  ACKNOWLEDGED: { type: 'ACKNOWLEDGED' },
  LAUNCHED: { type: 'LAUNCHED', pid: 4711 },
  'KILL [abandoned]': { type: 'KILL', cause: { type: 'abandoned', detail: 'cancelled' } },
  'KILL [timeout]': { type: 'KILL', cause: { type: 'timeout' } },
  'KILL [condition]': { type: 'KILL', cause: { type: 'early_termination', detail: 'altitude < 0' } },
  ENDED: { type: 'ENDED', survivors: 0 },
  'ENDED [2 survivors]': { type: 'ENDED', survivors: 2 },
  RECOVERED: { type: 'RECOVERED' },
  'RECOVERED [upload]': { type: 'RECOVERED', upload: true },
  DELIVERED: { type: 'DELIVERED' },
  'DELIVERED [upload]': { type: 'DELIVERED', upload: true },
  UPLOADED: { type: 'UPLOADED' },
  REFUSED: { type: 'REFUSED', code: 'stale-attempt' },
  KEPT: { type: 'KEPT' },
};

const context: AttemptContext = {
  jobId: 'j',
  attempt: 1,
  pid: undefined,
  killedFor: undefined,
  survivors: 0,
  result: undefined,
};
const running = { ...context, pid: 4711 };
const state = (value: 'Claimed' | 'Starting' | 'Running' | 'Reporting' | 'Uploading', it: AttemptContext = context) =>
  attemptMachine.resolveState({ value, context: it });

export const ATTEMPT_STATES = {
  Claimed: state('Claimed'),
  Starting: state('Starting'),
  'Starting abandoned': state('Starting', { ...context, killedFor: { type: 'abandoned', detail: 'lost' } }),
  Running: state('Running', running),
  'Running timed out': state('Running', { ...running, killedFor: { type: 'timeout' } }),
  'Running abandoned': state('Running', { ...running, killedFor: { type: 'abandoned', detail: 'lost' } }),
  Reporting: state('Reporting', running),
  Uploading: state('Uploading', running),
  Done: attemptMachine.resolveState({ value: 'Done', context: { ...running, result: 'delivered' } }),
};
