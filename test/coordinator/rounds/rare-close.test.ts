/** The end of the coordinator while it computes a round of a study of rare events. */
import { expect } from 'chai';
import { RareEvents } from '../../../src/coordinator/rounds/rare-events.ts';
import { settled } from '../../support/simulated-clock.ts';

describe('coordinator/rounds/rare-events: the close', () => {
  it('waits for a round that is being computed, and appends nothing then', async () => {
    let compute = (_: { kind: 'end'; rounds: number }): void => {};
    let turns = 0;
    const parts = {
      turns: { run: () => Promise.resolve((turns += 1)) },
      directory: { state: () => ({ context: { growing: true, rounds: 0 } }) },
      studyCache: { of: () => ({ submission: { config: { adaptive: { algorithm: 'rare_event' } } } }) },
      roundProgress: { onComplete: () => () => {} },
      answers: { nextRareRound: () => new Promise((resolve) => (compute = resolve)) },
    };
    const events = new RareEvents(parts as never, (error) => expect.fail(String(error)));
    events.committed([{ type: 'batch.opened', batchId: 'b' } as never]);
    let isClosed = false;
    const closing = events.close().then(() => (isClosed = true));
    await settled();
    expect(isClosed).to.equal(false);
    compute({ kind: 'end', rounds: 0 });
    await closing;
    expect(turns).to.equal(0);
  });
});
