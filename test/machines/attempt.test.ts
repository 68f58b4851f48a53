/** The attempt's machine: its transition table as text, its graph, and how each attempt leaves the runner. */
import { expect } from 'chai';
import { getInitialSnapshot, getNextSnapshot } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { attemptMachine, type AttemptContext } from '../../machines/attempt.ts';
import { ATTEMPT_EVENTS, ATTEMPT_STATES } from './attempt.fixture.ts';
import { expectTable, type Exercise } from '../support/transition-table.ts';

const exercise: Exercise = {
  machine: attemptMachine,
  fact: () => 'none',
  fields: ['pid', 'killedFor', 'survivors', 'result'],
  events: ATTEMPT_EVENTS,
  states: ATTEMPT_STATES,
};

describe('machines/attempt', () => {
  it('takes exactly these events', () => {
    expectTable(
      exercise,
      `
      Claimed            | ACKNOWLEDGED        | Starting  | - | -
      Claimed            | REFUSED             | Done      | - | result set
      Claimed            | KILL [abandoned]    | Done      | - | killedFor set, result set
      Claimed            | RECOVERED           | Reporting | - | -
      Claimed            | RECOVERED [upload]  | Uploading | - | -
      Starting           | LAUNCHED            | Running   | - | pid set
      Starting           | KILL [abandoned]    | Starting  | - | killedFor set
      Starting           | KILL [timeout]      | Starting  | - | killedFor set
      Starting           | KILL [condition]    | Starting  | - | killedFor set
      Starting           | ENDED               | Reporting | - | -
      Starting           | ENDED [2 survivors] | Reporting | - | survivors+2
      # An abandoned attempt has no outcome.
      Starting abandoned | LAUNCHED            | Running   | - | pid set
      Starting abandoned | ENDED               | Done      | - | result set
      Starting abandoned | ENDED [2 survivors] | Done      | - | survivors+2, result set
      Running            | KILL [abandoned]    | Running   | - | killedFor set
      Running            | KILL [timeout]      | Running   | - | killedFor set
      Running            | KILL [condition]    | Running   | - | killedFor set
      Running            | ENDED               | Reporting | - | -
      Running            | ENDED [2 survivors] | Reporting | - | survivors+2
      # The first cause counts: no second KILL is taken.
      Running timed out  | ENDED               | Reporting | - | -
      Running timed out  | ENDED [2 survivors] | Reporting | - | survivors+2
      Running abandoned  | ENDED               | Done      | - | result set
      Running abandoned  | ENDED [2 survivors] | Done      | - | survivors+2, result set
      # An outcome that was reached is reported, whatever is asked for afterwards.
      Reporting          | DELIVERED           | Done      | - | result set
      Reporting          | DELIVERED [upload]  | Uploading | - | -
      Reporting          | REFUSED             | Done      | - | result set
      Reporting          | KEPT                | Done      | - | result set
      Uploading          | UPLOADED            | Done      | - | result set
      Uploading          | REFUSED             | Done      | - | result set
      Uploading          | KEPT                | Done      | - | result set
      # Done takes nothing.
      `,
    );
  });

  it('reaches every state, and ends Done', () => {
    const paths = getShortestPaths(attemptMachine, {
      input: { jobId: 'j', attempt: 1 },
      events: Object.values(ATTEMPT_EVENTS),
      serializeState: ({ value }) => JSON.stringify(value),
    });
    const states = paths.map(({ state: reached }) => reached.value).toSorted();
    expect(states).to.deep.equal(['Claimed', 'Done', 'Reporting', 'Running', 'Starting', 'Uploading']);
    for (const { state: reached } of paths)
      expect(reached.status, reached.value).to.equal(reached.value === 'Done' ? 'done' : 'active');
  });

  const lives: [events: string[], result: AttemptContext['result']][] = [
    [['ACKNOWLEDGED', 'LAUNCHED', 'ENDED', 'DELIVERED'], 'delivered'],
    [['ACKNOWLEDGED', 'LAUNCHED', 'KILL [timeout]', 'KILL [abandoned]', 'ENDED', 'REFUSED'], 'refused'],
    [['ACKNOWLEDGED', 'LAUNCHED', 'KILL [abandoned]', 'ENDED'], 'abandoned'],
    [['KILL [abandoned]'], 'abandoned'],
    [['REFUSED'], 'refused'],
    [['RECOVERED', 'KEPT'], 'kept'],
  ];
  for (const [events, result] of lives) {
    it(`${events.join(', ')} ends as ${String(result)}`, () => {
      let snapshot = getInitialSnapshot(attemptMachine, { jobId: 'j', attempt: 1 });
      for (const name of events) {
        const event = ATTEMPT_EVENTS[name];
        if (event !== undefined) snapshot = getNextSnapshot(attemptMachine, snapshot, event);
      }
      expect([snapshot.value, snapshot.context.result]).to.deep.equal(['Done', result]);
    });
  }
});
