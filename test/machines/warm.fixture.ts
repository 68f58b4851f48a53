/** States of a warm engine and its forkserver, and one of each of their events, for tests of these machines. */
import { warmEngineMachine, type WarmEngineContext, type WarmEngineEvent } from '../../machines/warm/engine.ts';
import { warmServerMachine, type WarmServerEvent } from '../../machines/warm/server.ts';

export const SERVER_EVENTS: Readonly<Record<string, WarmServerEvent>> = {
  READY: { type: 'READY' },
  FORKED: { type: 'FORKED' },
  REAPED: { type: 'REAPED' },
  RETIRE: { type: 'RETIRE' },
  DIED: { type: 'DIED', detail: 'by signal SIGKILL' },
};

const server = (value: 'Starting' | 'Ready' | 'Retiring' | 'Ended', runs: number) =>
  warmServerMachine.resolveState({ value, context: { runs, detail: undefined } });

export const SERVER_STATES = {
  Starting: server('Starting', 0),
  'Ready idle': server('Ready', 0),
  'Ready with 2 runs': server('Ready', 2),
  'Retiring with 1 run': server('Retiring', 1),
  'Retiring with 2 runs': server('Retiring', 2),
  Ended: server('Ended', 0),
};

export const ENGINE_EVENTS: Readonly<Record<string, WarmEngineEvent>> = {
  SERVED: { type: 'SERVED' },
  REFUSED: { type: 'REFUSED', reason: 'torch starts a thread at its import' },
  SERVER_DIED: { type: 'SERVER_DIED', detail: 'by signal SIGKILL' },
  CHANGED: { type: 'CHANGED' },
};

const engine = (value: 'Warm' | 'Cold', context: Partial<WarmEngineContext> = {}) =>
  warmEngineMachine.resolveState({ value, context: { deaths: 0, reason: undefined, ...context } });

export const ENGINE_STATES = {
  Warm: engine('Warm'),
  'Warm after 2 deaths': engine('Warm', { deaths: 2 }),
  Cold: engine('Cold', { deaths: 0, reason: 'torch starts a thread at its import' }),
  'Cold after 3 deaths': engine('Cold', { deaths: 3, reason: 'its forkserver ended 3 times in a row' }),
};
