/** Runs one command line of a program: its exit code, and on failure the lines on stderr. */
import { CommanderError } from 'commander';
import { EXIT, type ExitCode } from './exit-codes.ts';

/** Calls `execute` and returns the exit code; `name` precedes the first line of a failure. */
export async function runCommandLine(name: string, execute: () => Promise<void>): Promise<ExitCode> {
  try {
    await execute();
    return (process.exitCode ?? EXIT.ok) as ExitCode;
  } catch (error) {
    // Commander has printed its message or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const { describeFailure } = await import('./failure.ts');
    const { exitCode, lines } = describeFailure(error, process.env['SVC_DEBUG'] !== undefined);
    const [first = 'failed', ...rest] = lines;
    process.stderr.write(`${[`${name}: ${first}`, ...rest].join('\n')}\n`);
    return exitCode;
  }
}
