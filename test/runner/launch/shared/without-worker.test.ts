/** Runs for which no worker can be started: each has a process of its own. */
import { expect } from 'chai';
import { systemClock } from '../../../../src/base/clock.ts';
import { SharedPython } from '../../../../src/runner/launch/shared/shared-python.ts';
import type { SharedRun, WorkerSource } from '../../../../src/runner/launch/shared/shared-run.ts';

describe('runner/launch/shared: without a worker', () => {
  const place = {
    expect: () => ({ address: { socket: 's', pipe: 'p', token: 't' }, connections: new Promise(() => {}) }),
    forget: () => {},
  };
  const run = (lane: number): SharedRun => ({
    order: { env: {}, seed: 1, config: '', on_demand: false },
    lane,
    scope: { ofWorker: () => ({}) } as never,
    patienceMs: 60_000,
    begun: () => expect.fail('no worker has begun it'),
    output: () => {},
  });

  for (const [title, worker, warnings] of [
    ['the engine is cold', () => Promise.resolve(undefined), 0],
    ['its process cannot be created', () => Promise.reject(new Error('no room')), 1],
  ] as [string, WorkerSource['worker'], number][])
    it(`executes every run alone when ${title}, and warns once`, async () => {
      const said: string[] = [];
      const pool = new SharedPython({
        source: { worker, retire: () => {} },
        rendezvous: () => place as never,
        clock: systemClock,
        log: { warn: (text: string) => said.push(text) } as never,
        name: 'rocket',
        code: undefined,
        memory: null,
      });
      const ended = await Promise.all([1, 1, 2].map((lane) => pool.execute(run(lane))));
      expect(ended.map(({ type }) => type)).to.deep.equal(['alone', 'alone', 'alone']);
      expect(said).to.have.length(warnings);
      if (warnings > 0) expect(said[0]).to.match(/engine rocket: no shared interpreter could be started.*: no room$/);
    });
});
