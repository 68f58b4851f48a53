/** Which runs fit an allocation of a queue, and why others never do. Pure. */
import { isFunctions } from '../../domain/study/function-code.ts';
import {
  BYTES_PER_GB,
  endsInTime,
  fits,
  type FreeCapacity,
  type ResourceRequest,
  type RunLength,
} from '../../domain/scheduling.ts';
import type { LauncherFinding } from '../../contract/enums.ts';
import type { DemandGroup, RunnerCapabilities } from '../../contract/types.ts';
import { ALLOWED, matchesAny, refusalsOf, type Refusals } from '../../domain/runner-settings.ts';
import type { QueueConfig } from '../settings.ts';
import { engineNamed } from '../engines/table.ts';
import { slotsOf } from '../request.ts';

/** Why runs of a group never execute in a queue. */
export interface Misfit {
  code: LauncherFinding;
  /** The end of a sentence: `a run requests 16 cores, an allocation has 8`. */
  why: string;
}

export const requestedBy = ({ cpu_cores: cores, memory_gb: memoryGb }: DemandGroup): ResourceRequest => ({
  cpuMilli: Math.round(cores * 1_000),
  memoryBytes: Math.round(memoryGb * BYTES_PER_GB),
});

export const lengthOf = ({ timeout_secs: limit, mean_seconds: mean }: DemandGroup): RunLength => ({
  timeLimitMs: limit * 1_000,
  meanMs: (mean ?? 0) * 1_000,
});

/** The capacity of an allocation without a run. Memory that the queue does not state is taken to be enough. */
export const wholeCapacity = (queue: QueueConfig): FreeCapacity => ({
  slots: slotsOf(queue),
  cpuMilli: queue.size.cores * 1_000,
  memoryBytes: queue.size.memoryBytes === 0 ? Infinity : queue.size.memoryBytes,
});

/** The time that an allocation has for runs. */
export const usableMs = ({ lifetimeMs, lifetimeMarginMs }: QueueConfig): number => lifetimeMs - lifetimeMarginMs;

/** Runs with this request that fit at once. */
export function runsThatFit({ cpuMilli, memoryBytes }: ResourceRequest, room: FreeCapacity): number {
  const byCores = cpuMilli > 0 ? Math.floor(room.cpuMilli / cpuMilli) : Infinity;
  const byMemory = memoryBytes > 0 ? Math.floor(room.memoryBytes / memoryBytes) : Infinity;
  return Math.max(0, Math.min(room.slots, byCores, byMemory));
}

/** True when runners with this list execute the simulation; functions only by their name. */
export const serves = (simulations: readonly string[], simulation: string): boolean =>
  simulations.includes(simulation) ||
  ((simulations.length === 0 || simulations.includes('*')) && !isFunctions(simulation));

const gib = (bytes: number): string => String(Number((bytes / BYTES_PER_GB).toPrecision(3)));

/** The variables and the image of the group that a runner with these settings refuses; undefined when it takes all. */
export const refusedBy = (
  settings: RunnerCapabilities,
  { environment = [], image }: DemandGroup,
): Refusals | undefined =>
  refusalsOf(settings, { environment: Object.fromEntries(environment.map((it) => [it, ''])), image });

/** The variables of the group that a runner takes only where its operator allows them. */
export const furtherVariables = ({ environment = [] }: DemandGroup): string[] =>
  environment.filter((it) => !matchesAny(it, ALLOWED));

/** `"WIND" of container.environment and the image "wing:2"`. */
const refusedNames = ({ variables, image }: Refusals): string =>
  [
    ...(variables.length === 0
      ? []
      : [`${variables.map((it) => JSON.stringify(it)).join(', ')} of container.environment`]),
    ...(image === undefined ? [] : [`the image ${JSON.stringify(image)}`]),
  ].join(' and ');

/**
 * Why no run of the group ever fits an allocation of the queue; undefined when one does. `settings`: of the last runner of the queue, where
 * one is known.
 */
export function misfitOf(queue: QueueConfig, group: DemandGroup, settings?: RunnerCapabilities): Misfit | undefined {
  const misfit = (why: string): Misfit => ({ code: 'no-capacity-fits', why });
  if (!serves(queue.serves, group.simulation)) return misfit(`its runners execute ${queue.serves.join(', ')} only`);
  const request = requestedBy(group);
  const whole = wholeCapacity(queue);
  if (request.cpuMilli > whole.cpuMilli) {
    return misfit(`a run requests ${String(group.cpu_cores)} cores, an allocation has ${String(queue.size.cores)}`);
  }
  if (request.memoryBytes > whole.memoryBytes) {
    return misfit(
      `a run requests ${gib(request.memoryBytes)} GiB of memory, an allocation has ${gib(whole.memoryBytes)}`,
    );
  }
  if (!fits(request, whole)) return misfit('an allocation has no slot');
  const length = lengthOf(group);
  if (!endsInTime(length, 0, usableMs(queue))) {
    const usable = `an allocation has ${seconds(usableMs(queue))} s for runs`;
    const takes =
      length.timeLimitMs > 0
        ? `a run may take ${seconds(length.timeLimitMs)} s, its time limit`
        : `a run takes ${seconds(length.meanMs)} s on average`;
    return { code: 'lifetime-too-short', why: `${takes}, and ${usable}` };
  }
  const refused = settings === undefined ? undefined : refusedBy(settings, group);
  if (refused !== undefined) {
    const again = `after a change of their settings: simbatch launcher resume ${queue.name}`;
    return { code: 'settings-refuse', why: `its runners do not allow ${refusedNames(refused)}; ${again}` };
  }
  const mismatch = engineNamed(queue.engine)?.mismatch(queue, group);
  return mismatch === undefined ? undefined : misfit(mismatch);
}

const seconds = (ms: number): string => String(Math.round(ms / 1_000));
