/** Mocha's `dot` output with one plain closing line: `N passed, N failed, N skipped`. */
import Mocha from 'mocha';

/** Longest time that resources left open by a test keep the process alive. */
const PATIENCE_MS = 20_000;

export default class Closing extends Mocha.reporters.Dot {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const { stats } = this;
    runner.once('end', () => {
      const line = `${stats.passes} passed, ${stats.failures} failed, ${stats.pending} skipped`;
      // After the output of the base reporter at the same event.
      setImmediate(() => process.stdout.write(`\n${line}\n`));
      const leave = (): void => {
        process.stderr.write(`a test left something open: ${process.getActiveResourcesInfo().join(', ')}\n`);
        process.exit(stats.failures > 0 ? 1 : 0);
      };
      // Unreferenced: it fires only when something else keeps the process alive.
      setTimeout(leave, PATIENCE_MS).unref();
    });
  }
}
