/** Core time that allocations have used or may still use: the limits of core hours depend on it. */
import { expect } from 'chai';
import { coreMsOf, usageOf } from '../../../src/launcher/decision/usage.ts';
import { allocation, NOW } from './support.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('launcher/decision/usage', () => {
  it('counts live allocations with their whole lifetime, in every state', () => {
    for (const value of [
      'Planned',
      'Submitting',
      'Queued',
      'Starting',
      'Idle',
      'Busy',
      'Draining',
      'Stopping',
    ] as const) {
      const used = usageOf([allocation(value, { startedAtMs: NOW - 1_000 })], 0, NOW);
      expect(used, value).to.deep.equal({ totalCoreMs: 4 * HOUR_MS, dayCoreMs: 4 * HOUR_MS });
    }
  });

  it('counts ended allocations with the time that they had', () => {
    const ended = { startedAtMs: NOW - 1_000_000, endedAtMs: NOW - 400_000 };
    for (const value of ['Ended', 'Lost'] as const)
      expect(usageOf([allocation(value, ended)], 0, NOW)).to.deep.equal({
        totalCoreMs: 2_400_000,
        dayCoreMs: 2_400_000,
      });
    const refused = allocation('Refused', { endedAtMs: NOW });
    expect(usageOf([refused], 0, NOW)).to.deep.equal({ totalCoreMs: 0, dayCoreMs: 0 });
  });

  it('counts for the day the part of an ended allocation that is in the last 24 hours', () => {
    const over = (startedAtMs: number, endedAtMs: number) =>
      usageOf([allocation('Ended', { startedAtMs, endedAtMs })], 0, NOW);
    const began = NOW - DAY_MS - 10 * HOUR_MS;
    expect(over(began, NOW - DAY_MS + HOUR_MS)).to.deep.equal({ totalCoreMs: 44 * HOUR_MS, dayCoreMs: 4 * HOUR_MS });
    expect(over(began, NOW - DAY_MS - HOUR_MS)).to.deep.equal({ totalCoreMs: 36 * HOUR_MS, dayCoreMs: 0 });
  });

  it('counts allocations that are no longer in the list in total, and not for the day', () => {
    expect(usageOf([], 5 * HOUR_MS, NOW)).to.deep.equal({ totalCoreMs: 5 * HOUR_MS, dayCoreMs: 0 });
  });

  it('takes the first time at which an allocation is known to have run for its start', () => {
    const { context } = allocation('Ended', { endedAtMs: NOW });
    expect(coreMsOf(context)).to.equal(0);
    expect(coreMsOf({ ...context, readyAtMs: NOW - 1_000 })).to.equal(4_000);
    expect(coreMsOf({ ...context, readyAtMs: NOW - 1_000, startingAtMs: NOW - 2_000 })).to.equal(8_000);
    expect(coreMsOf({ ...context, startingAtMs: NOW - 2_000, startedAtMs: NOW - 3_000 })).to.equal(12_000);
    expect(coreMsOf({ ...context, startedAtMs: NOW + 1 })).to.equal(0);
  });
});
