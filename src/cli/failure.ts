/** The error of a command: what its user reads on stderr, and the exit code. `terminal/failure-text.ts` prints it. */
import type { ExitCode } from './exit-codes.ts';

/** The line to show, the exit code, and further lines for several faults. */
export class Failure extends Error {
  readonly exitCode: ExitCode;
  readonly details: readonly string[];

  constructor(exitCode: ExitCode, message: string, details: readonly string[] = []) {
    super(message);
    this.name = 'Failure';
    this.exitCode = exitCode;
    this.details = details;
  }
}
