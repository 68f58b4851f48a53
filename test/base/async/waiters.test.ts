/** Requests that wait for something by its name. */
import { expect } from 'chai';
import { Abandonment } from '../../../src/base/abandonment.ts';
import { Waiters } from '../../../src/base/async/waiters.ts';
import { settled, SimulatedClock } from '../../support/simulated-clock.ts';

describe('base/async/waiters', () => {
  let clock: SimulatedClock;
  let waiters: Waiters;
  let over: string[];
  beforeEach(() => {
    clock = new SimulatedClock();
    waiters = new Waiters(clock);
    over = [];
  });

  const wait = (name: string, ms: number, as: string, abandoned?: Abandonment): void =>
    void waiters.wait(name, ms, abandoned).then(() => over.push(as));

  it('ends the waits for a name, each once, and keeps the others', async () => {
    wait('a', 100, 'a1');
    wait('a', 100, 'a2');
    wait('b', 100, 'b');
    waiters.release('a');
    await settled();
    expect(over).to.deep.equal(['a1', 'a2']);
    expect([waiters.has('a'), waiters.has('b'), waiters.isEmpty]).to.deep.equal([false, true, false]);
    await clock.advance(1_000);
    waiters.release('a');
    await settled();
    expect(over).to.deep.equal(['a1', 'a2', 'b']);
    expect(waiters.isEmpty).to.equal(true);
  });

  it('ends each wait after its time, or with its client', async () => {
    const abandoned = new Abandonment();
    wait('a', 100, 'short');
    wait('a', 200, 'long');
    wait('a', 200, 'left', abandoned);
    await clock.advance(150);
    await settled();
    expect(over).to.deep.equal(['short']);
    abandoned.abort('gone');
    await settled();
    expect(over).to.deep.equal(['short', 'left']);
    await clock.advance(50);
    await settled();
    expect(over).to.deep.equal(['short', 'left', 'long']);
    expect(waiters.isEmpty).to.equal(true);
  });

  it('does not wait without time, nor for a client that has gone', async () => {
    const abandoned = new Abandonment();
    abandoned.abort('gone');
    wait('a', 0, 'no time');
    wait('a', 100, 'gone', abandoned);
    expect(waiters.isEmpty).to.equal(true);
    await settled();
    expect(over).to.deep.equal(['no time', 'gone']);
  });

  it('ends all at its own end', async () => {
    for (const name of ['a', 'b', 'b']) wait(name, 100, name);
    waiters.close();
    await settled();
    expect(over).to.deep.equal(['a', 'b', 'b']);
    expect(waiters.isEmpty).to.equal(true);
  });
});
