/** Whether the runs of an engine are forks of a warm interpreter or processes started cold. Pure. */
import { assign, setup } from 'xstate';

/** Deaths of the forkserver in a row, without a run between them that ended, after which an engine is cold. */
export const MOST_DEATHS = 3;

export type WarmEngineEvent =
  /** A run that was forked has ended, whatever its exit code. */
  | { type: 'SERVED' }
  /** The simulation cannot be forked, or its interpreter cannot be kept warm. */
  | { type: 'REFUSED'; reason: string }
  /** The forkserver of the engine has ended by itself, or did not answer. */
  | { type: 'SERVER_DIED'; detail: string }
  /** The entrypoint of the engine has changed since the refusal. */
  | { type: 'CHANGED' };

export interface WarmEngineContext {
  /** Deaths of forkservers since the last run that ended. */
  deaths: number;
  /** The reason why the engine is cold. */
  reason: string | undefined;
}

export const warmEngineMachine = setup({
  types: { context: {} as WarmEngineContext, events: {} as WarmEngineEvent },
  guards: { isLastDeath: ({ context }) => context.deaths + 1 >= MOST_DEATHS },
  actions: {
    forget: assign({ deaths: 0, reason: undefined }),
    noteReason: assign(({ event }) => (event.type === 'REFUSED' ? { reason: event.reason } : {})),
    countDeath: assign(({ context }) => ({ deaths: context.deaths + 1 })),
    giveUp: assign(({ event }) =>
      event.type === 'SERVER_DIED'
        ? { reason: `its forkserver ended ${String(MOST_DEATHS)} times in a row, the last time ${event.detail}` }
        : {},
    ),
  },
}).createMachine({
  id: 'warm-engine',
  initial: 'Warm',
  context: { deaths: 0, reason: undefined },
  states: {
    Warm: {
      on: {
        SERVED: { actions: 'forget' },
        REFUSED: { target: 'Cold', actions: 'noteReason' },
        SERVER_DIED: [
          { guard: 'isLastDeath', target: 'Cold', actions: ['countDeath', 'giveUp'] },
          { actions: 'countDeath' },
        ],
      },
    },
    Cold: { on: { CHANGED: { target: 'Warm', actions: 'forget' } } },
  },
});
