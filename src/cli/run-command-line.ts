/** Runs one command line of a program: its exit code, and on failure the lines on stderr. */
import { CommanderError } from 'commander';
import { bothNames, useContractNames } from '../base/text/variables.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';

/**
 * Calls `execute` and returns the exit code; `name` precedes the first line of a failure. With `isJson` a failure is a problem in one line
 * of JSON.
 */
export async function runCommandLine(name: string, execute: () => Promise<void>, isJson = false): Promise<ExitCode> {
  try {
    const fault = useContractNames(process.env);
    if (fault !== undefined) throw new (await import('./failure.ts')).Failure(EXIT.usage, fault);
    await execute();
    return (process.exitCode ?? EXIT.ok) as ExitCode;
  } catch (error) {
    // Commander has printed its message or the help.
    if (error instanceof CommanderError && (error.exitCode === 0 || !isJson))
      return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return isJson ? printProblem(error) : printFailure(name, error);
  }
}

async function printProblem(error: unknown): Promise<ExitCode> {
  const { Failure } = await import('./failure.ts');
  const { problemOf } = await import('./terminal/failure-text.ts');
  const isUsage = error instanceof CommanderError;
  const problem = problemOf(
    isUsage ? new Failure(EXIT.usage, bothNames(error.message).replace(/^error: /, '')) : error,
  );
  process.stderr.write(`${JSON.stringify(problem)}\n`);
  return problem.exit_code;
}

async function printFailure(name: string, error: unknown): Promise<ExitCode> {
  const { describeFailure } = await import('./terminal/failure-text.ts');
  const { paint } = await import('./terminal/colour.ts');
  const { note } = await import('./terminal/output.ts');
  const { exitCode, lines } = describeFailure(error, process.env['SVC_DEBUG'] !== undefined);
  const [first = 'failed', ...rest] = lines;
  note([`${paint(`${name}:`, 'bad', process.stderr)} ${first}`, ...rest].join('\n'));
  return exitCode;
}
