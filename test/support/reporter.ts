/**
 * Mocha's `dot` output, the name of a failed test at once (a run that is cut off has said it), and one plain closing line:
 * `N passed, N failed, N skipped`.
 */
import { appendFileSync } from 'node:fs';
import Mocha from 'mocha';

/** Longest time that resources left open by a test keep the process alive. */
const PATIENCE_MS = 20_000;

export default class Closing extends Mocha.reporters.Dot {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const { stats } = this;
    runner.on('fail', (test: Mocha.Runnable, error: Error) => {
      const [reason = ''] = error.message.split('\n');
      process.stdout.write(`\n  failed: ${test.fullTitle()}: ${reason.slice(0, 300)}\n  `);
    });
    runner.once('end', () => {
      const { passes, failures, pending } = stats;
      const line = `${passes} passed, ${failures} failed, ${pending} skipped`;
      // For the sum of several groups: see bin/test.mjs.
      const tallies = process.env['SIMBATCH_TEST_TALLIES'];
      if (tallies !== undefined) appendFileSync(tallies, `${JSON.stringify({ passes, failures, pending })}\n`);
      // After the output of the base reporter at the same event.
      setImmediate(() => process.stdout.write(`\n${line}\n`));
      const leave = (): void => {
        process.stderr.write(`a test left something open: ${process.getActiveResourcesInfo().join(', ')}\n`);
        process.exit(failures > 0 ? 1 : 0);
      };
      // Unreferenced: it fires only when something else keeps the process alive.
      setTimeout(leave, PATIENCE_MS).unref();
    });
  }
}
