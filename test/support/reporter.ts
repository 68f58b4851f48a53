/**
 * Mocha's `dot` output, the name of a failed test and that of a slow file at once (a run that is cut off has said it), and one
 * plain closing line: `N passed, N failed, N skipped`.
 */
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import Mocha from 'mocha';

/** Longest time that resources left open by a test keep the process alive. */
const PATIENCE_MS = 20_000;
/** A file whose tests and hooks take longer than this is named. */
const SLOW_FILE_MS = 60_000;

/** Of a file of tests; bin/test.mjs adds them up, and repeats a file of processes that failed. */
interface Tally {
  passes: number;
  failures: number;
  pending: number;
}

export default class Closing extends Mocha.reporters.Dot {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const { stats } = this;
    const files: Record<string, Tally> = {};
    const tally = (it: Mocha.Runnable): Tally =>
      (files[relative(process.cwd(), it.file ?? '')] ??= { passes: 0, failures: 0, pending: 0 });
    // The events of a file come together, when it has ended.
    let file = '';
    let tookMs = 0;
    const sayIfSlow = (): void => {
      if (tookMs < SLOW_FILE_MS) return;
      process.stdout.write(`\n  ${Math.round(tookMs / 1000)} s: ${relative(process.cwd(), file)}\n  `);
    };
    const add = (it: Mocha.Runnable): void => {
      if (it.file !== undefined && it.file !== file) {
        sayIfSlow();
        file = it.file;
        tookMs = 0;
      }
      tookMs += it.duration ?? 0;
    };
    runner.on('test end', add);
    runner.on('hook end', add);
    runner.on('pass', (test: Mocha.Runnable) => void (tally(test).passes += 1));
    runner.on('pending', (test: Mocha.Runnable) => void (tally(test).pending += 1));
    runner.on('fail', (test: Mocha.Runnable, error: Error) => {
      tally(test).failures += 1;
      const [reason = ''] = error.message.split('\n');
      process.stdout.write(`\n  failed: ${test.fullTitle()}: ${reason.slice(0, 300)}\n  `);
    });
    runner.once('end', () => {
      sayIfSlow();
      const { passes, failures, pending } = stats;
      const line = `${passes} passed, ${failures} failed, ${pending} skipped`;
      const tallies = process.env['SIMBATCH_TEST_TALLIES'];
      if (tallies !== undefined) appendFileSync(tallies, `${JSON.stringify(files)}\n`);
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
