import { expect } from 'chai';
import { addRun, type RunTelemetry } from '../../machines/telemetry-tally.ts';
import type { TelemetryTally } from '../../src/contract/types.ts';

function tallyOf(...runs: Partial<RunTelemetry>[]): TelemetryTally | undefined {
  const usual = { samples: 10, lost: 0, judged: [], wouldTerminate: false };
  return runs.reduce<TelemetryTally | undefined>((tally, run) => addRun(tally, { ...usual, ...run }), undefined);
}

describe('machines/telemetry-tally', () => {
  it('counts runs, silent ones, losses, shadows, and in how many runs each variable was judged', () => {
    const tally = tallyOf(
      { judged: ['a', '__proto__'] },
      { samples: 0 },
      { lost: 5, judged: ['b', 'a'], wouldTerminate: true },
      { lost: 2 },
    );
    expect(tally).to.deep.equal({
      reported: 4,
      silent: 1,
      lossy: 2,
      lost: 7,
      wouldTerminate: 1,
      judged: [
        { variable: 'a', runs: 2 },
        { variable: '__proto__', runs: 1 },
        { variable: 'b', runs: 1 },
      ],
    });
  });

  it('does not change the tally it is given', () => {
    const before = tallyOf({ judged: ['a'] });
    const copy = structuredClone(before);
    addRun(before, { samples: 0, lost: 1, judged: ['a', 'b'], wouldTerminate: true });
    expect(before).to.deep.equal(copy);
  });

  it('does not grow with the number of runs, nor beyond exact integers', () => {
    let tally: TelemetryTally | undefined;
    const run = { samples: 1, lost: Number.MAX_SAFE_INTEGER, judged: ['a'], wouldTerminate: false };
    for (let index = 0; index < 1000; index += 1) tally = addRun(tally, run);
    expect(tally).to.include({ reported: 1000, lossy: 1000, lost: Number.MAX_SAFE_INTEGER });
    expect(tally?.judged).to.deep.equal([{ variable: 'a', runs: 1000 }]);
  });
});
