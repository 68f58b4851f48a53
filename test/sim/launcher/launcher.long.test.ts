/** The launcher in the seeded simulation. LAUNCHER_SEED=n replays one seed; SIM_SEEDS=10000 plays more. */
import { expect } from 'chai';
import { playLauncher } from './scenario.ts';

const ONE = process.env['LAUNCHER_SEED'];
const first = ONE === undefined ? 1 : Number(ONE);
const count = ONE === undefined ? Number(process.env['SIM_SEEDS'] ?? 100) : 1;

describe('sim/launcher', () => {
  it(`exceeds no limit, submits nothing twice and loses no run, and keeps the hours of owners, in ${count} scenarios with faults`, async function () {
    this.timeout(0);
    const faults: Record<string, number> = {};
    const reasons = new Set<string>();
    const sum = { crashes: 0, rounds: 0, submissions: 0, budgetsUsed: 0 };
    for (let seed = first; seed < first + count; seed += 1) {
      try {
        const tally = await playLauncher(seed);
        for (const name of ['crashes', 'rounds', 'submissions', 'budgetsUsed'] as const) sum[name] += tally[name];
        for (const it of tally.reasons) reasons.add(it);
        for (const [name, times] of Object.entries(tally.faults)) faults[name] = (faults[name] ?? 0) + times;
      } catch (error) {
        const replay = `LAUNCHER_SEED=${seed} npx mocha dist/test/sim/launcher/launcher.long.test.js`;
        throw new Error(`seed ${seed}: ${(error as Error).message}\nreplay: ${replay}`, { cause: error });
      }
    }
    if (count >= 100) {
      expect(sum.crashes).to.be.above(count);
      expect(sum.budgetsUsed).to.be.above(count);
      expect([...reasons]).to.include.members([
        'machine-gone',
        'runner-stopped',
        'runner-lost',
        'signed-off',
        'late report',
      ]);
      const expected = ['silent', 'refused', 'lost', 'late', 'slow', 'unanswered', 'preempted', 'failed', 'hung'];
      expect(faults).to.include.keys(expected);
    }
  });
});
