/** Who may run what: pure decisions over plain data (specification "Limits", and the matching rules of the design). */
import type { RunnerCapabilities } from '../contract/types.ts';

const BYTES_PER_GB = 1024 ** 3;

/** What one job of a batch needs: thousandths of a core, and bytes. */
export interface Demand {
  cpuMilli: number;
  memoryBytes: number;
}

/** What a runner has left. */
export interface Room {
  slots: number;
  cpuMilli: number;
  memoryBytes: number;
}

/** True when the runner takes this simulation: it lists nothing, `*`, or the name. */
export function supports(capabilities: RunnerCapabilities, simulationName: string): boolean {
  const types = capabilities.supported_simulation_types;
  return types.length === 0 || types.includes('*') || types.includes(simulationName);
}

/** What a runner has left beside what it holds. A capacity of 0 is undeclared: no limit. */
export function freeCapacityOf(capabilities: RunnerCapabilities, held: readonly Demand[]): Room {
  let cpuMilli = capabilities.cpu_cores > 0 ? capabilities.cpu_cores * 1000 : Infinity;
  let memoryBytes = capabilities.memory_gb > 0 ? capabilities.memory_gb * BYTES_PER_GB : Infinity;
  for (const it of held) {
    cpuMilli -= it.cpuMilli;
    memoryBytes -= it.memoryBytes;
  }
  return { slots: capabilities.max_concurrent_jobs - held.length, cpuMilli, memoryBytes };
}

export function fits(demand: Demand, room: Room): boolean {
  return room.slots > 0 && demand.cpuMilli <= room.cpuMilli && demand.memoryBytes <= room.memoryBytes;
}

/** The room left after one more job. */
export function less(room: Room, demand: Demand): Room {
  return {
    slots: room.slots - 1,
    cpuMilli: room.cpuMilli - demand.cpuMilli,
    memoryBytes: room.memoryBytes - demand.memoryBytes,
  };
}
