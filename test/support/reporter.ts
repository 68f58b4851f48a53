/** Mocha's `dot` output with one plain closing line: `N passed, N failed, N skipped`. */
import Mocha from 'mocha';

export default class Closing extends Mocha.reporters.Dot {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const { stats } = this;
    runner.once('end', () => {
      const line = `${stats.passes} passed, ${stats.failures} failed, ${stats.pending} skipped`;
      // Behind what the base reporter prints at the same event.
      setImmediate(() => process.stdout.write(`\n${line}\n`));
    });
  }
}
