/** Assembles a runner from its configuration: opens the spool, prepares the machine, connects. */
import { Client } from '../client/client.ts';
import { Agent } from './agent.ts';
import { inheritedEnvironment } from './launch/environment.ts';
import { peersCanBeChecked } from './processes/peer-process.ts';
import { httpFetch } from '../client/http-fetch.ts';
import { Containers } from './containers/containers.ts';
import type { ContainersOptions } from './containers/containers.ts';
import type { ContainerRuntime } from './containers/runtime.ts';
import { openRuntime } from './containers/open.ts';
import type { Log } from './log.ts';
import { EngineCodes } from './code/engine-codes.ts';
import { Launchers } from './launch/launchers.ts';
import { openProcessTools } from './processes/process-tools.ts';
import type { ProcessTools } from './processes/process-scope.ts';
import type { RunnerConfig } from './config/config.ts';
import { Archiver } from './files/archive/archiver.ts';
import { Expiry } from './files/expiry.ts';
import { Waits } from './waits.ts';
import type { Resolved } from './preflight.ts';
import { Spool } from './spool.ts';
import { randomUuid } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';

/** Each exchange with the coordinator, the waiting of a claim not counted. */
const EXCHANGE_MS = 15_000;

export interface StartedRunner {
  agent: Agent;
  /** Operations that have not returned; while there are any, the process cannot end by itself. */
  waits: Waits;
  close: () => Promise<void>;
}

/** The lock of the spool proves that a former process is dead; only then may its cgroups be ended. */
async function toolsOrClose(spool: Spool, config: RunnerConfig, log: Log): Promise<ProcessTools> {
  try {
    return openProcessTools(config.cgroup, spool.directory, log);
  } catch (error) {
    await spool.close();
    throw error;
  }
}

/** @throws SimbatchError `invalid-configuration` when the container runtime does not answer. */
async function runtimeOf(
  { containers, outputRoot }: RunnerConfig,
  given: Parameters<typeof openRuntime>[2],
): Promise<ContainerRuntime | undefined> {
  return containers.runtime === 'none' ? undefined : await openRuntime(containers.runtime, outputRoot, given);
}

function containersOf(
  { containers: { images, options }, workingDirectory }: RunnerConfig,
  runtime: ContainerRuntime | undefined,
  site: Pick<ContainersOptions, 'env' | 'clock' | 'log'>,
): Containers | undefined {
  if (runtime === undefined) return undefined;
  const { memoryBytes, cpuMilli } = runtime.enforces;
  const limited = [...(memoryBytes ? ['memory'] : []), ...(cpuMilli ? ['CPU'] : [])].join(' and ');
  const limits =
    limited !== ''
      ? `it limits ${limited}`
      : runtime.detached === undefined
        ? 'limits are those of the cgroup of a run'
        : 'it enforces no limits on this machine';
  site.log.info(`runs whose study names an image are executed by ${runtime.name}: ${runtime.version}; ${limits}`);
  return new Containers({ runtime, images, options, workingDirectory, ...site });
}

/** @throws SimbatchError when another process has this runner id, or the container runtime does not answer. */
export async function startRunner(
  { config, token, notes, python }: Resolved,
  given: { clock: Clock; log: Log; env: Readonly<Record<string, string | undefined>>; pid: number },
): Promise<StartedRunner> {
  const { clock, log } = given;
  for (const note of notes) log.warn(note);
  const client = new Client({
    endpoint: config.endpoint,
    timeoutMs: EXCHANGE_MS,
    // Every exchange of a runner may be repeated.
    fetch: httpFetch(() => true),
    ...(token === undefined ? {} : { token }),
  });
  const waits = new Waits(clock);
  const instance = randomUuid(clock);
  const runtime = await runtimeOf(config, given);
  const { endpoint, tokenFile } = config;
  const own = { pid: given.pid, instance, endpoint, ...(tokenFile === undefined ? {} : { tokenFile }) };
  const spool = await Spool.open(config.outputRoot, config.id, own, waits);
  const processes = await toolsOrClose(spool, config, log);
  const env = inheritedEnvironment(given.env, config.environmentInherited);
  const { engines, workingDirectory: cwd } = config;
  const containers = containersOf(config, runtime, { env, clock, log });
  const launchers = new Launchers({
    engines,
    python,
    env,
    cwd,
    clock,
    log,
    slots: config.maxConcurrentJobs,
  });
  const archiver = config.artifacts === 'archive' ? new Archiver({ clock }) : undefined;
  const machine = { python, env, launchers, containers, waits, processes, archiver };
  const codes = new EngineCodes({ config, containers, clock, log, env });
  const agent = new Agent({ config, client, spool, codes, clock, log, instance, ...machine });
  if (!peersCanBeChecked()) {
    log.warn(
      'telemetry without SVC_TELEMETRY_TOKEN is taken from any process of this machine: its sender cannot be checked without /proc',
    );
  }
  const served = engines.map((engine) => `${engine.name}=${engine.entrypoint}`).join(', ');
  log.info(
    `runner ${config.id}: ${String(config.maxConcurrentJobs)} runs at once; ${served}; output in ${config.outputRoot}`,
  );
  await launchers.open(async (engine) => (await codes.of({ engine }))?.identity.digest);
  const expiry =
    config.keepDays === undefined
      ? undefined
      : new Expiry({ ...config, keepDays: config.keepDays, ...own, spool, waits, clock, log });
  void expiry?.run();
  const close = async (): Promise<void> => {
    await expiry?.end();
    launchers.close();
    processes.cgroups?.close();
    await spool.close();
  };
  return { agent, waits, close };
}
