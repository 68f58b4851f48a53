/** The program of a container runtime, as the runner calls it for questions and orders. */
import type { Clock } from '../../base/clock.ts';
import { runProgram, type ProgramResult } from '../../base/programs.ts';
import { isOwnVariable } from '../../base/text/variables.ts';

export type Environment = Readonly<Record<string, string>>;

/** How long an answer may take, in milliseconds. */
const ANSWER_MS = 30_000;

export class RuntimeClient {
  /** An absolute path, or a name in PATH. */
  readonly program: string;
  /** The environment of the runner, which a client may need any of, without the runner's own variables. */
  readonly env: Environment;
  readonly #clock: Pick<Clock, 'after'>;

  /** @param env of the runner */
  constructor(program: string, env: Readonly<Record<string, string | undefined>>, clock: Pick<Clock, 'after'>) {
    const entries = Object.entries(env).filter(([name, value]) => !isOwnVariable(name) && value !== undefined);
    this.program = program;
    this.env = Object.fromEntries(entries) as Environment;
    this.#clock = clock;
  }

  /**
   * Executes the program and returns its standard output.
   * @throws Error with the last line of its standard error, or why it could not be executed.
   */
  async output(args: readonly string[], timeoutMs = ANSWER_MS): Promise<string> {
    return (await this.#execute(args, timeoutMs)).stdout;
  }

  /** The answer to `--version`, which some programs write to standard error. @throws Error as `output` does */
  async version(): Promise<string> {
    const { stdout, stderr } = await this.#execute(['--version'], ANSWER_MS);
    return (stdout + stderr).trim();
  }

  /** Returns a client of the same program with one more variable, where the runner has none of this name. */
  with(name: string, value: string): RuntimeClient {
    return new RuntimeClient(this.program, { [name]: value, ...this.env }, this.#clock);
  }

  async #execute(args: readonly string[], timeoutMs: number): Promise<ProgramResult> {
    const command = [this.program, ...args] as const;
    const result = await runProgram(this.#clock, { command, env: this.env, timeoutMs });
    if (result.code === 0) return result;
    throw new Error(lastLine(result.stderr) || `${command.join(' ')} ended with exit code ${String(result.code)}`);
  }
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1)?.trim() ?? '';
