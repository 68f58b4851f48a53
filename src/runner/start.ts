/** Puts a runner together from its configuration: checks what it is to execute, opens the spool, connects. */
import { mkdirSync, statSync } from 'node:fs';
import { Client } from '../client.ts';
import { SimbatchError } from '../domain/errors.ts';
import { Agent } from './agent.ts';
import type { RunnerConfig } from './config.ts';
import { entrypointFault, findPython } from './engine.ts';
import type { Python } from './engine.ts';
import { inheritedEnvironment } from './execute.ts';
import { leanFetch } from './lean-fetch.ts';
import type { Log } from './log.ts';
import { Spool } from './spool.ts';
import { oneLine } from './system-error.ts';
import type { World } from './world.ts';

/** Each exchange with the coordinator, the waiting of a claim not counted. */
const EXCHANGE_MS = 15_000;

export interface StartedRunner {
  agent: Agent;
  spool: Spool;
}

/** @throws SimbatchError when the machine is not as the configuration says, or another process has this runner id. */
export async function startRunner(
  config: RunnerConfig,
  given: { world: World; log: Log; env: Readonly<Record<string, string | undefined>>; pid: number },
): Promise<StartedRunner> {
  const { world, log } = given;
  const python = await checkEngines(config);
  checkDirectories(config);
  for (const note of config.notes) log.warn(note);
  const token = config.token === undefined ? {} : { token: config.token };
  const client = new Client({ endpoint: config.endpoint, timeoutMs: EXCHANGE_MS, fetch: leanFetch(), ...token });
  const instance = world.uuid();
  const spool = await Spool.open(config.outputRoot, config.id, { pid: given.pid, instance });
  const env = inheritedEnvironment(given.env);
  const agent = new Agent({ config, client, spool, world, log, instance, python, env });
  const engines = config.engines.map((engine) => `${engine.name}=${engine.entrypoint}`).join(', ');
  log.info(
    `runner ${config.id}: ${String(config.maxConcurrentJobs)} jobs at once; ${engines}; output in ${config.outputRoot}`,
  );
  return { agent, spool };
}

/** All entrypoints exist and can be started now, so that a slip is told here and not by failed runs. */
async function checkEngines(config: RunnerConfig): Promise<Python | undefined> {
  const python = await findPython(config.pythonExecutable);
  if (config.pythonExecutable !== undefined && python === undefined) {
    throw configuration(`python_executable ${config.pythonExecutable} is not a Python that can be started`);
  }
  const faults: string[] = [];
  for (const engine of config.engines) {
    const fault = await entrypointFault(engine.entrypoint, python?.executable);
    if (fault !== undefined) faults.push(`engine ${engine.name}: ${fault}`);
  }
  if (faults.length > 0) throw configuration(faults.join('\n'));
  return python;
}

function checkDirectories(config: RunnerConfig): void {
  try {
    if (!statSync(config.workingDirectory).isDirectory()) throw new Error('it is not a directory');
  } catch (error) {
    throw configuration(`working_directory ${config.workingDirectory} cannot be used: ${oneLine(error)}`);
  }
  try {
    mkdirSync(config.outputRoot, { recursive: true });
  } catch (error) {
    throw configuration(`output_root ${config.outputRoot} cannot be made: ${oneLine(error)}`);
  }
}

function configuration(message: string): SimbatchError {
  return new SimbatchError('invalid-configuration', message);
}
