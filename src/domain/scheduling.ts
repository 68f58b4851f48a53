/** Matching of runs and runners: pure decisions over plain data (specification, "Limits"). */
import type { RunnerCapabilities } from '../contract/types.ts';
import { amountOf, has, less, type Counts, type FreeCapacity, type ResourceRequest } from './counted/counts.ts';
import { isFunctions } from './study/function-code.ts';

export const BYTES_PER_GB = 1024 ** 3;

export type { FreeCapacity, ResourceRequest };

/**
 * True when the runner takes this simulation: it lists nothing, `*`, or the name. Functions, whose code comes with the study, only
 * by their name: the operator of the runner has to allow them.
 */
export function supports(capabilities: RunnerCapabilities, simulationName: string): boolean {
  const types = capabilities.supported_simulation_types;
  if (types.includes(simulationName)) return true;
  return (types.length === 0 || types.includes('*')) && !isFunctions(simulationName);
}

/** Returns how many jobs a runner executes at once: its slots minus those it reported lost, at least 0. */
export const usableSlots = (capabilities: RunnerCapabilities, slotsLost = 0): number =>
  Math.max(0, capabilities.max_concurrent_jobs - slotsLost);

/**
 * Returns the capacity of a runner minus its lost slots and the requests of the jobs it holds. A capacity of 0 is
 * undeclared: unlimited.
 */
export function freeCapacityOf(
  capabilities: RunnerCapabilities,
  held: readonly ResourceRequest[],
  slotsLost = 0,
): FreeCapacity {
  let cpuMilli = capabilities.cpu_cores > 0 ? capabilities.cpu_cores * 1000 : Infinity;
  let memoryBytes = capabilities.memory_gb > 0 ? capabilities.memory_gb * BYTES_PER_GB : Infinity;
  for (const it of held) {
    cpuMilli -= it.cpuMilli;
    memoryBytes -= it.memoryBytes;
  }
  const slots = usableSlots(capabilities, slotsLost) - held.length;
  if (capabilities.resources === undefined) return { slots, cpuMilli, memoryBytes };
  const resources = held.reduce<Counts | undefined>((left, it) => less(left, it.resources), capabilities.resources);
  return { slots, cpuMilli, memoryBytes, resources };
}

/**
 * Returns the jobs that a runner holds beyond its capacity, in the order in which they were claimed. They wait on it: those
 * before them fill its slots, cores or memory.
 */
export function waitingOf<Held extends ResourceRequest>(
  capabilities: RunnerCapabilities,
  held: readonly Held[],
): readonly Held[] {
  if (held.length === 0) return held;
  let room = freeCapacityOf(capabilities, []);
  let count = 0;
  // The first that does not fit waits, and all after it: none may overtake it.
  for (const it of held) {
    if (!fits(it, room)) break;
    room = minus(room, it);
    count += 1;
  }
  return count === held.length ? [] : held.slice(count);
}

export function fits(demand: ResourceRequest, room: FreeCapacity): boolean {
  return (
    room.slots > 0 &&
    demand.cpuMilli <= room.cpuMilli &&
    demand.memoryBytes <= room.memoryBytes &&
    (demand.resources === undefined || hasLeft(room.resources, demand.resources))
  );
}

const hasLeft = (left: Counts | undefined, wanted: Counts): boolean =>
  Object.entries(wanted).every(([name, amount]) => !has(left, name) || amountOf(left, name) >= amount);

/**
 * True when a runner may take runs that ask for these resources: it states each name, or `isSite` says that the coordinator holds a pool
 * of it; and it is not kept for runs that ask for others.
 */
export function provides(
  { resources, only_with: only }: RunnerCapabilities,
  wanted: Counts | undefined,
  isSite: (name: string) => boolean,
): boolean {
  if (only !== undefined && !only.some((name) => has(wanted, name))) return false;
  return wanted === undefined || Object.keys(wanted).every((name) => has(resources, name) || isSite(name));
}

/** How long one run may take: its time limit, and the mean duration of such runs; 0 where there is none. */
export interface RunLength {
  timeLimitMs: number;
  meanMs: number;
}

/**
 * True when a run that starts now ends before the runner's machine is taken from it: by its time limit, or without one by the
 * mean duration of such runs.
 */
export const endsInTime = ({ timeLimitMs, meanMs }: RunLength, now: number, endsAtMs = Infinity): boolean =>
  now < endsAtMs && now + (timeLimitMs > 0 ? timeLimitMs : meanMs) <= endsAtMs;

/** Returns the capacity left after one more job. */
export function minus(room: FreeCapacity, demand: ResourceRequest): FreeCapacity {
  const slots = room.slots - 1;
  const cpuMilli = room.cpuMilli - demand.cpuMilli;
  const memoryBytes = room.memoryBytes - demand.memoryBytes;
  if (room.resources === undefined) return { slots, cpuMilli, memoryBytes };
  return { slots, cpuMilli, memoryBytes, resources: less(room.resources, demand.resources) };
}
