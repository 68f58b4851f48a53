/** The log of problems that last for several rounds: one line when a problem begins, and one when it is over. */
import { formatDuration } from '../domain/durations.ts';
import type { LauncherLog } from './loop/ports.ts';

export class ProblemLog {
  readonly #log: LauncherLog;
  /** Each problem without its reason -> when it began. */
  #lasting: ReadonlyMap<string, number> = new Map();

  constructor(log: LauncherLog) {
    this.#log = log;
  }

  /** The problems of a round, each as `<what fails>: <why>`; the same thing that fails for another reason is the same problem. `now`: ms. */
  note(problems: readonly string[], now: number): void {
    const lasting = new Map<string, number>();
    for (const problem of problems) {
      const what = problem.split(': ', 1)[0] ?? problem;
      if (lasting.has(what)) continue;
      const sinceMs = this.#lasting.get(what);
      lasting.set(what, sinceMs ?? now);
      if (sinceMs === undefined) this.#log('warn', `problem: ${problem}`);
    }
    for (const [what, sinceMs] of this.#lasting) {
      if (!lasting.has(what)) this.#log('info', `no longer a problem, after ${formatDuration(now - sinceMs)}: ${what}`);
    }
    this.#lasting = lasting;
  }
}
