/** Calls the `ssh` program of the system: strict host keys, keys only, nothing forwarded, a deadline for every call. */
import { resolve } from 'node:path';
import { EngineRefused, EngineUnreachable, oneLine, type EngineContext } from '../../engine.ts';
import { ProgramFailed, runProgram, type ProgramResult } from '../../../base/programs.ts';
import { isOwnVariable } from '../../../base/text/variables.ts';
import { answerLines } from './host-list.ts';
import type { SshHost, SshSection } from './section.ts';

const CALL_MS = 20_000;
const CONNECT_SECS = 10;

/** Faults of the set-up, which the same call meets again; each with its remedy. */
const REMEDIES: readonly [RegExp, string][] = [
  [
    /host key verification failed|no .* host key is known|host identification has changed/i,
    'add the host key to known_hosts, after comparing it',
  ],
  [/permission denied/i, 'add the public key to authorized_keys on the host, or name another identity_file'],
  [/could not resolve hostname/i, 'correct the name in the section `ssh` of the queue'],
  [
    /bad owner or permissions|unprotected private key|no such file or directory|bad configuration option/i,
    'correct the files that the section `ssh` of the queue names',
  ],
];

/** How a host is reached. */
export interface SshTarget extends Pick<SshHost, 'host' | 'user' | 'port' | 'place'> {
  section: Pick<SshSection, 'identity_file' | 'known_hosts' | 'config'>;
}

export class SshProgram {
  readonly #context: Pick<EngineContext<SshSection>, 'clock' | 'env' | 'baseDirectory'>;

  constructor(context: Pick<EngineContext<SshSection>, 'clock' | 'env' | 'baseDirectory'>) {
    this.#context = context;
  }

  /** The command line of ssh; `forwarding` replaces the option that forbids it. */
  command(target: SshTarget, remote: string, forwarding?: readonly string[]): [string, ...string[]] {
    const { section, host, user, port } = target;
    const options = {
      BatchMode: 'yes',
      StrictHostKeyChecking: 'yes',
      UpdateHostKeys: 'no',
      PermitLocalCommand: 'no',
      ControlMaster: 'no',
      ControlPath: 'none',
      ConnectTimeout: String(CONNECT_SECS),
      ConnectionAttempts: '1',
      ServerAliveInterval: '5',
      ServerAliveCountMax: '3',
      LogLevel: 'ERROR',
      ...(section.known_hosts === undefined ? {} : { UserKnownHostsFile: this.#path(section.known_hosts) }),
      ...(section.identity_file === undefined ? {} : { IdentitiesOnly: 'yes' }),
    };
    const file =
      section.config === undefined || section.config === 'none' ? section.config : this.#path(section.config);
    return [
      'ssh',
      ...(file === undefined ? [] : ['-F', file]),
      '-T',
      '-a',
      '-x',
      ...Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]),
      ...(forwarding ?? ['-o', 'ClearAllForwardings=yes']),
      ...(section.identity_file === undefined ? [] : ['-i', this.#path(section.identity_file)]),
      ...(user === undefined ? [] : ['-l', user]),
      ...(port === undefined ? [] : ['-p', String(port)]),
      '--',
      host,
      remote,
    ];
  }

  /** Variables of the ssh process: those of the launcher without its own settings and tokens. */
  get environment(): Record<string, string | undefined> {
    return Object.fromEntries(Object.entries(this.#context.env).filter(([name]) => !isOwnVariable(name)));
  }

  /**
   * Executes a script on the host and returns the lines that it printed.
   * @throws EngineRefused for a fault of the set-up, EngineUnreachable without a complete answer
   */
  async script(target: SshTarget, script: string): Promise<string[]> {
    const result = await this.#run(target, 'sh -s', script, CALL_MS);
    const lines = answerLines(result.stdout);
    if (lines === undefined) throw failureOf(target, result);
    return lines;
  }

  /** Executes a command with this input; resolves with what it printed. Throws as `script` does. */
  async send(target: SshTarget, command: string, input: Uint8Array, timeoutMs: number): Promise<ProgramResult> {
    return this.#run(target, command, input, timeoutMs);
  }

  async #run(target: SshTarget, remote: string, input: string | Uint8Array, timeoutMs: number): Promise<ProgramResult> {
    const { clock } = this.#context;
    try {
      const command = this.command(target, remote);
      const result = await runProgram(clock, { command, env: this.environment, input, timeoutMs });
      if (result.code === 255) throw failureOf(target, result);
      return result;
    } catch (error) {
      if (!(error instanceof ProgramFailed)) throw error;
      const isMissing = (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
      if (isMissing) throw new EngineRefused('there is no program ssh; install the OpenSSH client');
      throw new EngineUnreachable(`${target.place}: ${error.message}`, { cause: error });
    }
  }

  /** Relative to launcher.yaml; `~/` is the home directory. */
  #path(path: string): string {
    const { env, baseDirectory } = this.#context;
    return path.startsWith('~/') ? resolve(env['HOME'] ?? '/', path.slice(2)) : resolve(baseDirectory, path);
  }
}

/** The error of a call that was not answered as it should be. */
export function failureOf(
  { place }: Pick<SshTarget, 'place'>,
  result: ProgramResult,
): EngineRefused | EngineUnreachable {
  const { code, stderr } = result;
  const said = oneLine(stderr);
  const why = `${place}: ${said === '' ? `ssh ended with ${code === undefined ? 'a signal' : `exit code ${String(code)}`} and no answer` : said}`;
  const remedy = code === 255 ? REMEDIES.find(([pattern]) => pattern.test(stderr))?.[1] : undefined;
  return remedy === undefined ? new EngineUnreachable(why) : new EngineRefused(`${why}; ${remedy}`);
}
