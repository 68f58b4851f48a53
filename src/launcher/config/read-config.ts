/** Reads the configuration from the value of launcher.yaml, or its faults. Pure. */
import { endpointFault } from '../../client/transport.ts';
import type { Fault } from '../../contract/types.ts';
import { schemaFaults } from '../../contract/validation/validate.ts';
import { durationMs } from '../../domain/durations.ts';
import { GPU, has } from '../../domain/counted/counts.ts';
import { parseMemory } from '../../domain/quantity.ts';
import { pointerToken } from '../../base/json/json-pointer.ts';
import { engineNamed, ENGINES } from '../engines/table.ts';
import { LauncherFile, type QueueFile } from './schema.ts';
import type { LauncherConfig, QueueConfig } from '../settings.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const DEFAULTS = {
  launcher: 'simbatch',
  pollSecs: 5,
  lifetimeMarginMs: 2 * MINUTE_MS,
  idleTimeoutMs: 5 * MINUTE_MS,
  startTimeoutMs: 10 * MINUTE_MS,
  backoff: { firstMs: 30_000, maxMs: 10 * MINUTE_MS, pauseAfter: 5 },
};
/** The engines count in minutes, and a runner needs some seconds to start. */
const SHORTEST_LIFETIME_MS = MINUTE_MS;
const LONGEST_LIFETIME_MS = 366 * 24 * HOUR_MS;

/** Options of the runner that the launcher itself gives; a second value would contradict it. */
const OWN_OPTIONS = [
  'runner-id',
  'endpoint',
  'token-file',
  'token-fd',
  'allocation',
  'ends-at',
  'max-lifetime',
  'lifetime-margin',
  'idle-exit',
  'ephemeral',
  'max-concurrent-jobs',
  'cpu-cores',
  'memory-gb',
  'gpu-available',
  'resources',
  'only-with',
];

export type ReadLauncherConfig = { config: LauncherConfig; faults: readonly [] } | { faults: readonly Fault[] };

/** `endpoint`: the address of flags and environment, which counts more than that of the file. */
export function readLauncherConfig(value: unknown, endpoint: string | undefined): ReadLauncherConfig {
  const wrong = schemaFaults(LauncherFile, value);
  if (wrong.length > 0) return { faults: wrong };
  const file = value as LauncherFile;
  const reading = new Reading();
  const own = endpoint ?? file.endpoint ?? 'http://127.0.0.1:7070';
  const ofRunners = file.runner_endpoint ?? own;
  for (const [address, pointer] of [
    [own, '/endpoint'],
    [ofRunners, '/runner_endpoint'],
  ] as const) {
    const fault = endpointFault(address);
    if (fault !== undefined) reading.fault(pointer, fault.why);
  }
  const config: LauncherConfig = {
    launcher: file.launcher ?? DEFAULTS.launcher,
    endpoint: own,
    runnerEndpoint: ofRunners,
    pollMs: (file.poll_seconds ?? DEFAULTS.pollSecs) * 1_000,
    limits: {
      maxAllocations: file.limits?.max_allocations,
      maxCoreHours: file.limits?.max_core_hours,
      maxCoreHoursPerDay: file.limits?.max_core_hours_per_day,
    },
    queues: Object.entries(file.queues).map(([name, queue]) => reading.queue(name, queue)),
  };
  return reading.faults.length > 0 ? { faults: reading.faults } : { config, faults: [] };
}

/** Reads the parts and collects their faults. */
class Reading {
  readonly faults: Fault[] = [];

  fault(pointer: string, detail: string): void {
    this.faults.push({ pointer, detail });
  }

  queue(name: string, file: QueueFile): QueueConfig {
    const at = `/queues${pointerToken(name)}`;
    const lifetimeMs = this.#duration(`${at}/lifetime`, file.lifetime, HOUR_MS);
    const queue: QueueConfig = {
      name,
      engine: file.engine,
      serves: file.serves ?? ['*'],
      size: {
        cores: file.size.cores,
        memoryBytes: this.#memory(`${at}/size/memory`, file.size.memory),
        gpus: file.size.gpu ?? 0,
        ...(file.size.resources === undefined ? {} : { resources: file.size.resources }),
      },
      lifetimeMs,
      lifetimeMarginMs: this.#duration(`${at}/lifetime_margin`, file.lifetime_margin, DEFAULTS.lifetimeMarginMs),
      min: file.min ?? 0,
      max: file.max,
      maxQueued: file.max_queued ?? Math.max(1, file.max),
      idleTimeoutMs: this.#duration(`${at}/idle_timeout`, file.idle_timeout, DEFAULTS.idleTimeoutMs),
      startTimeoutMs: this.#duration(`${at}/start_timeout`, file.start_timeout, DEFAULTS.startTimeoutMs),
      queueTimeoutMs: this.#optionalDuration(`${at}/queue_timeout`, file.queue_timeout),
      drainTimeoutMs: this.#optionalDuration(`${at}/drain_timeout`, file.drain_timeout),
      scaleUpAfterMs: this.#duration(`${at}/scale_up_after`, file.scale_up_after, 0),
      backoff: {
        firstMs: this.#duration(`${at}/backoff/first`, file.backoff?.first, DEFAULTS.backoff.firstMs),
        maxMs: this.#duration(`${at}/backoff/max`, file.backoff?.max, DEFAULTS.backoff.maxMs),
        pauseAfter: file.backoff?.pause_after ?? DEFAULTS.backoff.pauseAfter,
      },
      runner: {
        program: file.runner?.program?.length === 0 ? undefined : file.runner?.program,
        args: file.runner?.args ?? [],
        environment: file.runner?.environment ?? {},
        slots: file.runner?.slots,
      },
      section: (file as unknown as Record<string, unknown>)[file.engine] ?? {},
    };
    this.#compare(at, queue, file);
    return queue;
  }

  /** Faults between members of a queue. */
  #compare(at: string, queue: QueueConfig, file: QueueFile): void {
    const { lifetimeMs, lifetimeMarginMs, min, max, backoff } = queue;
    if (lifetimeMs < SHORTEST_LIFETIME_MS || lifetimeMs > LONGEST_LIFETIME_MS) {
      this.fault(`${at}/lifetime`, 'must be from 1m to 366d');
    }
    if (lifetimeMarginMs >= lifetimeMs) {
      const why = 'must be shorter than the lifetime; otherwise no run fits';
      this.fault(`${at}/lifetime_margin`, file.lifetime_margin === undefined ? `is 2m and ${why}` : why);
    }
    if (has(queue.size.resources, GPU)) this.fault(`${at}/size/resources/gpu`, 'is stated as size.gpu; move it there');
    if (min > max) this.fault(`${at}/min`, `is ${String(min)} and must not be above max, which is ${String(max)}`);
    if (backoff.firstMs < 1_000) this.fault(`${at}/backoff/first`, 'must be at least 1s');
    if (backoff.maxMs < backoff.firstMs) this.fault(`${at}/backoff/max`, 'must not be shorter than first');
    for (const [index, it] of queue.runner.args.entries()) {
      const option = OWN_OPTIONS.find((own) => it === `--${own}` || it.startsWith(`--${own}=`));
      if (option !== undefined)
        this.fault(`${at}/runner/args/${String(index)}`, `--${option} is given by the launcher`);
    }
    for (const name of Object.keys(queue.runner.environment)) {
      if (!/^(SVC|SIMBATCH)_TOKEN/.test(name)) continue;
      this.fault(`${at}/runner/environment${pointerToken(name)}`, 'is given by the launcher, one token per allocation');
    }
    for (const other of ENGINES) {
      if (other.name === queue.engine || !Object.hasOwn(file, other.name)) continue;
      this.fault(`${at}/${other.name}`, `belongs to the engine ${other.name}, and this queue uses ${queue.engine}`);
    }
    for (const { pointer, detail } of engineNamed(queue.engine)?.faults(queue) ?? []) {
      this.fault(`${at}/${queue.engine}${pointer}`, detail);
    }
  }

  #duration(pointer: string, value: string | number | undefined, fallback: number): number {
    if (value === undefined) return fallback;
    const ms = durationMs(value);
    if (ms === undefined)
      this.fault(pointer, `is ${JSON.stringify(value)} and must be a time such as 90s, 55m or 1h30m`);
    return ms ?? fallback;
  }

  #optionalDuration(pointer: string, value: string | number | undefined): number | undefined {
    return value === undefined ? undefined : this.#duration(pointer, value, 0);
  }

  #memory(pointer: string, value: string | undefined): number {
    const bytes = value === undefined ? 0 : parseMemory(value);
    if (typeof bytes === 'number') return bytes;
    this.fault(pointer, bytes);
    return 0;
  }
}
