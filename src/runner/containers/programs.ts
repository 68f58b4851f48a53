/** Executes the programs of container runtimes with a deadline, and returns what they print. */
import { execFile } from 'node:child_process';

const MAX_OUTPUT_BYTES = 4 << 20;

/**
 * Executes `program` and returns its standard output.
 * @throws Error with the last line of its standard error, or why it could not be executed.
 */
export function output(program: string, args: readonly string[], timeoutMs: number, env: Environment): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { timeout: timeoutMs, maxBuffer: MAX_OUTPUT_BYTES, env }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else if (error.killed === true) reject(new Error(`no answer within ${String(timeoutMs / 1000)} s`));
      else reject(new Error(lastLine(stderr) || error.message.split('\n', 1)[0] || 'it failed'));
    });
  });
}

export type Environment = Readonly<Record<string, string>>;

/** The environment of the runner for a client of a runtime, which may need any of it, without the runner's own variables. */
export function clientEnv(env: Readonly<Record<string, string | undefined>>): Environment {
  const entries = Object.entries(env).filter(([name, value]) => !name.startsWith('SVC_') && value !== undefined);
  return Object.fromEntries(entries) as Environment;
}

export const lastLine = (text: string): string => text.trim().split('\n').at(-1)?.trim() ?? '';
