/** One forkserver of a warm engine, from its start to its end. Pure: processes and files are in `src/runner/launch/`. */
import { assign, setup } from 'xstate';

export type WarmServerEvent =
  /** The modules are imported; the server can fork. */
  | { type: 'READY' }
  /** The server has forked a process for a run. */
  | { type: 'FORKED' }
  /** A process of a run has ended and its pid is released. */
  | { type: 'REAPED' }
  /** No further run is wanted of it: a file has changed, or the runner ends. */
  | { type: 'RETIRE' }
  /** The server has ended, or was ended because it did not answer; its runs are lost. */
  | { type: 'DIED'; detail: string };

export interface WarmServerContext {
  /** Processes of runs that are not reaped. */
  runs: number;
  /** The end of the server, when it died. */
  detail: string | undefined;
}

export const warmServerMachine = setup({
  types: { context: {} as WarmServerContext, events: {} as WarmServerEvent },
  guards: {
    isIdle: ({ context }) => context.runs === 0,
    isLast: ({ context }) => context.runs <= 1,
  },
  actions: {
    add: assign(({ context }) => ({ runs: context.runs + 1 })),
    remove: assign(({ context }) => ({ runs: context.runs - 1 })),
    loseRuns: assign(({ event }) => (event.type === 'DIED' ? { runs: 0, detail: event.detail } : {})),
  },
}).createMachine({
  id: 'warm-server',
  initial: 'Starting',
  context: { runs: 0, detail: undefined },
  states: {
    Starting: {
      on: {
        READY: { target: 'Ready' },
        RETIRE: { target: 'Ended' },
        DIED: { target: 'Ended', actions: 'loseRuns' },
      },
    },
    Ready: {
      on: {
        FORKED: { actions: 'add' },
        REAPED: { actions: 'remove' },
        RETIRE: [{ guard: 'isIdle', target: 'Ended' }, { target: 'Retiring' }],
        DIED: { target: 'Ended', actions: 'loseRuns' },
      },
    },
    /** Takes no run, and lives until its last one has ended: it is the parent that learns how. */
    Retiring: {
      on: {
        FORKED: { actions: 'add' },
        REAPED: [{ guard: 'isLast', target: 'Ended', actions: 'remove' }, { actions: 'remove' }],
        DIED: { target: 'Ended', actions: 'loseRuns' },
      },
    },
    Ended: { type: 'final' },
  },
});
