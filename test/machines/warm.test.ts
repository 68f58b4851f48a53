/** The machines of warm engines: transition tables as text, and the states that they reach. */
import { expect } from 'chai';
import { getShortestPaths } from 'xstate/graph';
import { MOST_DEATHS, warmEngineMachine } from '../../machines/warm/engine.ts';
import { warmServerMachine } from '../../machines/warm/server.ts';
import { expectTable } from '../support/transition-table.ts';
import { ENGINE_EVENTS, ENGINE_STATES, SERVER_EVENTS, SERVER_STATES } from './warm.fixture.ts';

const fact = (): string => 'none';

describe('machines/warm-server', () => {
  it('takes exactly these events', () => {
    expectTable(
      { machine: warmServerMachine, fact, fields: ['runs', 'detail'], events: SERVER_EVENTS, states: SERVER_STATES },
      `
      Starting             | READY  | Ready    | - | -
      Starting             | RETIRE | Ended    | - | -
      Starting             | DIED   | Ended    | - | detail set
      Ready idle           | FORKED | Ready    | - | runs+1
      # Every process that is reaped was forked before.
      Ready idle           | REAPED | Ready    | - | runs-1
      Ready idle           | RETIRE | Ended    | - | -
      Ready idle           | DIED   | Ended    | - | detail set
      Ready with 2 runs    | FORKED | Ready    | - | runs+1
      Ready with 2 runs    | REAPED | Ready    | - | runs-1
      Ready with 2 runs    | RETIRE | Retiring | - | -
      Ready with 2 runs    | DIED   | Ended    | - | runs-2, detail set
      # A fork that was ordered before the end was wanted.
      Retiring with 1 run  | FORKED | Retiring | - | runs+1
      Retiring with 1 run  | REAPED | Ended    | - | runs-1
      Retiring with 1 run  | DIED   | Ended    | - | runs-1, detail set
      Retiring with 2 runs | FORKED | Retiring | - | runs+1
      Retiring with 2 runs | REAPED | Retiring | - | runs-1
      Retiring with 2 runs | DIED   | Ended    | - | runs-2, detail set
      # Ended takes nothing.
      `,
    );
  });
});

describe('machines/warm-engine', () => {
  it('takes exactly these events', () => {
    expectTable(
      { machine: warmEngineMachine, fact, fields: ['deaths', 'reason'], events: ENGINE_EVENTS, states: ENGINE_STATES },
      `
      Warm                | SERVED      | Warm | - | -
      Warm                | REFUSED     | Cold | - | reason set
      Warm                | SERVER_DIED | Warm | - | deaths+1
      Warm after 2 deaths | SERVED      | Warm | - | deaths-2
      Warm after 2 deaths | REFUSED     | Cold | - | reason set
      Warm after 2 deaths | SERVER_DIED | Cold | - | deaths+1, reason set
      Cold                | CHANGED     | Warm | - | reason cleared
      Cold after 3 deaths | CHANGED     | Warm | - | deaths-3, reason cleared
      `,
    );
  });

  it('becomes cold after three deaths in a row, and by nothing else than these and a refusal', () => {
    const paths = getShortestPaths(warmEngineMachine, {
      events: Object.values(ENGINE_EVENTS),
      serializeState: ({ value, context }) => JSON.stringify([value, context]),
    });
    const cold = paths.filter(({ state }) => state.value === 'Cold').map(({ state }) => state.context);
    expect(cold.map((it) => it.deaths).toSorted((a, b) => a - b)).to.deep.equal([0, 1, 2, MOST_DEATHS]);
    expect(cold.every((it) => it.reason !== undefined)).to.equal(true);
  });
});
