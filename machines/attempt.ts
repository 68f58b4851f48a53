/**
 * One attempt on its runner's side, from the claim to the acknowledged outcome. The coordinator's side of it is in `job.ts`.
 * Pure: processes, files and requests are in `src/runner/`, which sends the events.
 */
import { assign, setup, type SnapshotFrom } from 'xstate';

/** Why the runner ends the simulation. An abandoned attempt has no outcome; an interrupted one is handed back. */
export type KillCause =
  | { type: 'abandoned' | 'interrupted'; detail: string }
  | { type: 'timeout' }
  | { type: 'early_termination'; detail: string };

/** How the process of a run ended; `lost`: with its starter or forkserver, whose signal it is. */
export interface ProcessEnd {
  type: string;
  code?: number | string | undefined;
  signal?: string | undefined;
}

/**
 * A cluster that ends an allocation sends SIGTERM to all of its processes, in any order: a run that dies of it so long before its
 * runner is stopped belongs to the same stop. In milliseconds.
 */
export const STOP_WINDOW_MS = 2_000;

/** Exit codes of programs that end because of a signal, as shells and virtual machines do. */
const TERMINATED = 143;
const KILLED = 137;

/**
 * True when an end may be part of the stop of its runner, and so is neither the fault of the run nor of the machine. `isLeaving`: the
 * runner was stopped. Before that, SIGTERM alone may be; afterwards also what the cluster ends by force.
 */
export function mayBeInterrupted({ type, code, signal }: ProcessEnd, isLeaving: boolean): boolean {
  if (signal === 'SIGTERM' || (type === 'exit' && code === TERMINATED)) return true;
  return isLeaving && (type === 'lost' || signal === 'SIGKILL' || (type === 'exit' && code === KILLED));
}

export type AttemptEvent =
  /** The coordinator has acknowledged the start. */
  | { type: 'ACKNOWLEDGED' }
  /** The simulation's process exists. */
  | { type: 'LAUNCHED'; pid: number }
  /** The simulation must end. The first cause counts. */
  | { type: 'KILL'; cause: KillCause }
  /** There is an outcome: the simulation and all its processes have ended, or it could not be started. */
  | { type: 'ENDED'; survivors: number }
  /** An undelivered outcome of a former runner process was found, or files that it has not uploaded. */
  | { type: 'RECOVERED'; upload?: boolean }
  /** The coordinator has acknowledged the outcome; `upload` when files are to be sent to an object store. */
  | { type: 'DELIVERED'; upload?: boolean }
  /** The files of the run are in the object store, or the result says why not. */
  | { type: 'UPLOADED' }
  /** The coordinator refuses the start or the outcome: the attempt is not this runner's any more. */
  | { type: 'REFUSED'; code: string }
  /** The runner ends before the outcome is acknowledged; the next process under its id delivers it. */
  | { type: 'KEPT' };

export interface AttemptContext {
  jobId: string;
  attempt: number;
  /** The leader of the simulation's process group, once there is one. */
  pid: number | undefined;
  killedFor: KillCause | undefined;
  /** Processes that SIGKILL did not end. */
  survivors: number;
  /** How the attempt left this runner. */
  result: 'abandoned' | 'delivered' | 'refused' | 'kept' | undefined;
}

export const attemptMachine = setup({
  types: {
    context: {} as AttemptContext,
    events: {} as AttemptEvent,
    input: {} as { jobId: string; attempt: number },
  },
  guards: {
    isAbandoned: ({ context }) => context.killedFor?.type === 'abandoned',
    abandons: ({ event }) => event.type === 'KILL' && event.cause.type === 'abandoned',
    hasUpload: ({ event }) => (event.type === 'DELIVERED' || event.type === 'RECOVERED') && event.upload === true,
    isFirst: ({ context }) => context.killedFor === undefined,
  },
  actions: {
    noteProcess: assign(({ event }) => (event.type === 'LAUNCHED' ? { pid: event.pid } : {})),
    noteCause: assign(({ event }) => (event.type === 'KILL' ? { killedFor: event.cause } : {})),
    noteSurvivors: assign(({ event }) => (event.type === 'ENDED' ? { survivors: event.survivors } : {})),
    abandon: assign({ result: 'abandoned' }),
    deliver: assign({ result: 'delivered' }),
    refuse: assign({ result: 'refused' }),
    keep: assign({ result: 'kept' }),
  },
}).createMachine({
  id: 'attempt',
  initial: 'Claimed',
  meta: {
    groups: {
      Executing: 'It has a slot of the runner.',
      Ended: 'Its simulation has ended; what is left to deliver is on disk.',
    },
  },
  context: ({ input }) => ({
    ...input,
    pid: undefined,
    killedFor: undefined,
    survivors: 0,
    result: undefined,
  }),
  states: {
    Claimed: {
      description: "Assigned to this runner; waits for a slot and for the coordinator's acknowledgement of the start.",
      on: {
        ACKNOWLEDGED: { target: 'Starting' },
        REFUSED: { target: 'Done', actions: 'refuse' },
        KILL: { guard: 'abandons', target: 'Done', actions: ['noteCause', 'abandon'] },
        RECOVERED: [{ guard: 'hasUpload', target: 'Uploading' }, { target: 'Reporting' }],
      },
    },
    Starting: {
      description:
        'Its directory, logs and telemetry are prepared. A kill takes effect before the process is created, or with it.',
      meta: { within: ['Executing'] },
      on: {
        LAUNCHED: { target: 'Running', actions: 'noteProcess' },
        KILL: { guard: 'isFirst', actions: 'noteCause' },
        ENDED: [
          { guard: 'isAbandoned', target: 'Done', actions: ['noteSurvivors', 'abandon'] },
          { target: 'Reporting', actions: 'noteSurvivors' },
        ],
      },
    },
    Running: {
      description: 'The simulation runs.',
      meta: { within: ['Executing'] },
      on: {
        KILL: { guard: 'isFirst', actions: 'noteCause' },
        ENDED: [
          { guard: 'isAbandoned', target: 'Done', actions: ['noteSurvivors', 'abandon'] },
          { target: 'Reporting', actions: 'noteSurvivors' },
        ],
      },
    },
    Reporting: {
      description:
        'The outcome is kept on disk until the coordinator has acknowledged it; the slot is free for the next attempt.',
      meta: { within: ['Ended'] },
      on: {
        DELIVERED: [
          { guard: 'hasUpload', target: 'Uploading' },
          { target: 'Done', actions: 'deliver' },
        ],
        REFUSED: { target: 'Done', actions: 'refuse' },
        KEPT: { target: 'Done', actions: 'keep' },
      },
    },
    Uploading: {
      description: 'The run has ended; its files are sent to an object store. What is left to send is on disk.',
      meta: { within: ['Ended'] },
      on: {
        UPLOADED: { target: 'Done', actions: 'deliver' },
        REFUSED: { target: 'Done', actions: 'refuse' },
        KEPT: { target: 'Done', actions: 'keep' },
      },
    },
    Done: { type: 'final', description: 'The attempt has left this runner; the result says how.' },
  },
});

export type AttemptSnapshot = SnapshotFrom<typeof attemptMachine>;
export type AttemptState = AttemptSnapshot['value'];
